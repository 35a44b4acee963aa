//! The whole backend against a scripted CLI in memory, on a virtual clock.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::CopilotBackend;
use super::fake::{FakeCli, Started, backend, backend_with, candidate, default_answer};
use crate::agent::{
    AgentBackend, AgentError, AgentEvent, AgentTurn, AuthState, BackendStatus, ChatSpec, Ending, ImageData,
    Prompt, ToolDefinition, ToolReply,
};
use crate::config::Config;

pub fn chat() -> ChatSpec {
    ChatSpec {
        id: "sp-1".into(),
        system_message: "system".into(),
        tools: vec![ToolDefinition { name: "look".into(), description: "d".into(), parameters: json!({}) }],
        builtin_tools: Vec::new(),
        model: None,
        reasoning_effort: None,
    }
}

pub fn prompt() -> Prompt {
    Prompt { text: "words and context".into(), display: "words".into(), images: Vec::new() }
}

fn done(text: &str) -> ToolReply {
    ToolReply { text: text.into(), ok: true, images: Vec::new() }
}

/// A running turn and the CLI behind it.
pub async fn running() -> (CopilotBackend, Started, FakeCli, AgentTurn) {
    let (backend, mut started) = backend();
    let mut cli = started.cli().await;
    let (turn, _) = tokio::join!(backend.prompt(chat(), prompt()), cli.takes_prompt());
    (backend, started, cli, turn.unwrap())
}

async fn rest(turn: &mut AgentTurn) -> Vec<AgentEvent> {
    let mut events = Vec::new();
    while let Some(event) = turn.events.recv().await {
        events.push(event);
    }
    events
}

pub async fn ending(turn: &mut AgentTurn) -> Ending {
    match rest(turn).await.pop() {
        Some(AgentEvent::Ended(ending)) => ending,
        other => panic!("no ending: {other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn chat_that_is_on_disk_is_resumed_and_never_created() {
    let (backend, mut started) = backend();
    let mut cli = started.cli().await;
    let host = backend.prompt(chat(), prompt());
    let peer = async {
        let metadata = cli.asked_for("session.getMetadata").await;
        cli.answer(&metadata, json!({"session": {"sessionId": "sp-1"}})).await;
        let resume = cli.asked_for("session.resume").await;
        assert_eq!(resume.params["systemMessage"]["content"], "system");
        assert_eq!(resume.params["disabledMcpServers"], json!(["github-mcp-server", "theirs"]));
        cli.refuse(&resume, -32603, "disk on fire").await;
    };
    let (turn, ()) = tokio::join!(host, peer);
    assert!(matches!(turn.err(), Some(AgentError::CliFailed(text)) if text.contains("disk on fire")));
    // Nothing else was asked: in particular no session.create.
    let next = tokio::time::timeout(Duration::from_secs(60), cli.asked()).await;
    assert!(next.is_err(), "{next:?}");
}

#[tokio::test(start_paused = true)]
async fn changed_specification_is_applied_before_the_next_prompt_and_an_equal_one_is_not() {
    let (backend, _started, mut cli, mut turn) = running().await;
    cli.event("session.idle", json!({})).await;
    assert_eq!(ending(&mut turn).await, Ending::Done);
    let (again, send) = tokio::join!(backend.prompt(chat(), prompt()), cli.asked());
    assert_eq!(send.method, "session.send", "an equal chat needs no other call");
    drop(again);
}

#[tokio::test(start_paused = true)]
async fn changed_tools_resume_the_open_chat() {
    let (backend, _started, mut cli, mut turn) = running().await;
    cli.event("session.idle", json!({})).await;
    assert_eq!(ending(&mut turn).await, Ending::Done);
    let mut other = chat();
    other.tools.clear();
    other.system_message = "other".into();
    let host = backend.prompt(other, prompt());
    let peer = async {
        let resume = cli.asked().await;
        assert_eq!(resume.method, "session.resume");
        assert_eq!(resume.params["availableTools"], json!([]));
        assert_eq!(resume.params["systemMessage"]["content"], "other");
        cli.answer(&resume, json!({})).await;
        cli.takes_prompt().await
    };
    let (turn, _) = tokio::join!(host, peer);
    assert!(turn.is_ok());
}

#[tokio::test(start_paused = true)]
async fn display_text_and_pictures_travel_with_the_prompt() {
    let (backend, mut started) = backend();
    let mut cli = started.cli().await;
    let mut with_picture = prompt();
    with_picture.images.push(ImageData { mime_type: "image/png".into(), base64: "AAAA".into() });
    let (_turn, sent) = tokio::join!(backend.prompt(chat(), with_picture), cli.takes_prompt());
    assert_eq!(sent["prompt"], "words and context");
    assert_eq!(sent["displayPrompt"], "words");
    let attachment = &sent["attachments"][0];
    assert_eq!((&attachment["type"], &attachment["data"]), (&json!("blob"), &json!("AAAA")));
}

#[tokio::test(start_paused = true)]
async fn tools_are_answered_by_request_and_only_once() {
    let (_backend, _started, mut cli, mut turn) = running().await;
    for id in ["r-1", "r-2"] {
        let call = json!({"requestId": id, "toolCallId": "c", "toolName": "look", "arguments": {"id": id}});
        cli.event("external_tool.requested", call).await;
    }
    for id in ["r-1", "r-2"] {
        let event = turn.events.recv().await.unwrap();
        let args = json!({"id": id});
        assert_eq!(event, AgentEvent::ToolCall { id: id.into(), name: "look".into(), args });
    }
    let mut picture = done("second");
    picture.ok = false;
    picture.images.push(ImageData { mime_type: "image/png".into(), base64: "AAAA".into() });
    turn.control.answer("r-2", picture).await;
    turn.control.answer("r-2", done("again")).await;
    turn.control.answer("r-1", done("first")).await;
    let second = cli.asked().await;
    assert_eq!(second.params["requestId"], "r-2");
    assert_eq!(second.params["result"]["resultType"], "failure");
    assert_eq!(second.params["result"]["binaryResultsForLlm"][0]["mimeType"], "image/png");
    let first = cli.asked().await;
    assert_eq!(
        (&first.params["requestId"], &first.params["result"]["textResultForLlm"]),
        (&json!("r-1"), &json!("first"))
    );
}

#[tokio::test(start_paused = true)]
async fn questions_of_the_cli_are_declined_at_once() {
    let (_backend, _started, mut cli, mut turn) = running().await;
    cli.event("elicitation.requested", json!({"requestId": "e"})).await;
    let decline = cli.asked().await;
    assert_eq!(decline.method, "session.ui.handlePendingElicitation");
    assert_eq!(decline.params["result"]["action"], "decline");
    cli.write(&json!({"jsonrpc": "2.0", "id": 77, "method": "exitPlanMode.request", "params": {}})).await;
    cli.write(&json!({"jsonrpc": "2.0", "id": 78, "method": "canvas.open", "params": {}})).await;
    let detail = json!({"kind": "shell", "toolCallId": "c"});
    cli.event("tool.execution_start", json!({"toolCallId": "c", "toolName": "bash"})).await;
    cli.event("permission.requested", json!({"requestId": "p", "permissionRequest": detail})).await;
    let event = turn.events.recv().await.unwrap();
    let tool = Some("bash".to_owned());
    assert_eq!(event, AgentEvent::Permission { id: "p".into(), kind: "shell".into(), tool, detail });
    turn.control.permit("p", false, "not allowed").await;
    let denied = cli.asked().await;
    assert_eq!(denied.method, "session.permissions.handlePendingPermissionRequest");
    assert_eq!(denied.params["result"], json!({"kind": "reject", "feedback": "not allowed"}));
}

#[tokio::test(start_paused = true)]
async fn what_nobody_listens_to_is_refused() {
    let (_backend, _started, mut cli, mut turn) = running().await;
    cli.event("session.idle", json!({})).await;
    assert_eq!(ending(&mut turn).await, Ending::Done);
    cli.event("external_tool.requested", json!({"requestId": "late", "toolName": "look"})).await;
    let refusal = cli.asked().await;
    assert_eq!(refusal.method, "session.tools.handlePendingToolCall");
    assert!(refusal.params["error"].is_string());
}

#[tokio::test(start_paused = true)]
async fn stop_ends_the_turn_when_the_cli_confirms() {
    let (_backend, _started, mut cli, mut turn) = running().await;
    turn.control.abort();
    let abort = cli.asked().await;
    assert_eq!(abort.method, "session.abort");
    cli.answer(&abort, json!({"success": true})).await;
    cli.event("session.idle", json!({"aborted": true})).await;
    assert_eq!(ending(&mut turn).await, Ending::Aborted);
}

#[tokio::test(start_paused = true)]
async fn stop_ends_the_turn_after_half_a_second_without_an_answer() {
    let (_backend, _started, mut cli, mut turn) = running().await;
    let call = json!({"requestId": "r", "toolName": "look", "arguments": {}});
    cli.event("external_tool.requested", call).await;
    assert!(matches!(turn.events.recv().await, Some(AgentEvent::ToolCall { .. })));
    let begin = Instant::now();
    turn.control.abort();
    let events = rest(&mut turn).await;
    assert_eq!(begin.elapsed(), super::turn::ABORT_GRACE);
    assert_eq!(
        events[events.len() - 2..],
        [AgentEvent::ToolCallWithdrawn { id: "r".into() }, AgentEvent::Ended(Ending::Aborted)]
    );
    // The silent CLI is asked, does not answer, and is replaced.
    assert_eq!(cli.signals.recv().await, Some("let go"));
}

#[tokio::test(start_paused = true)]
async fn turn_that_nobody_reads_is_stopped() {
    let (_backend, _started, mut cli, turn) = running().await;
    drop(turn);
    assert_eq!(cli.asked().await.method, "session.abort");
}

#[tokio::test(start_paused = true)]
async fn silent_model_is_ended_after_300_seconds() {
    let (_backend, _started, mut cli, mut turn) = running().await;
    let begin = Instant::now();
    let peer = async {
        loop {
            let asked = cli.asked().await;
            cli.answer(&asked, json!({"message": "pong"})).await;
            if asked.method == "session.abort" {
                return;
            }
            assert_eq!(asked.method, "ping", "a silent CLI is asked whether it lives");
        }
    };
    let (end, ()) = tokio::join!(ending(&mut turn), peer);
    assert!(matches!(end, Ending::Failed(AgentError::Timeout(_))), "{end:?}");
    assert_eq!(begin.elapsed(), super::turn::SILENCE);
}

#[tokio::test(start_paused = true)]
async fn answer_without_end_is_ended() {
    let (_backend, _started, mut cli, mut turn) = running().await;
    let piece = "x".repeat(super::turn::MAX_TEXT / 8);
    let flood = async {
        for _ in 0..9 {
            cli.event("assistant.message_delta", json!({"messageId": "m", "deltaContent": piece})).await;
        }
    };
    let (end, ()) = tokio::join!(ending(&mut turn), flood);
    assert!(matches!(&end, Ending::Failed(AgentError::Model(text)) if text.contains("4 MiB")), "{end:?}");
}

#[tokio::test(start_paused = true)]
async fn tool_that_waits_for_a_person_is_not_silence() {
    let (_backend, _started, mut cli, mut turn) = running().await;
    let call = json!({"requestId": "r", "toolName": "look", "arguments": {}});
    cli.event("external_tool.requested", call).await;
    assert!(matches!(turn.events.recv().await, Some(AgentEvent::ToolCall { .. })));
    let until = Instant::now() + 3 * super::turn::SILENCE;
    while Instant::now() < until {
        let asked = cli.asked().await;
        assert_eq!(asked.method, "ping");
        cli.answer(&asked, json!({})).await;
    }
    turn.control.answer("r", done("at last")).await;
    let mut answered = cli.asked().await;
    if answered.method == "ping" {
        cli.answer(&answered, json!({})).await;
        answered = cli.asked().await;
    }
    assert_eq!(answered.params["result"]["textResultForLlm"], "at last");
    cli.event("session.idle", json!({})).await;
    assert_eq!(ending(&mut turn).await, Ending::Done);
}

#[tokio::test(start_paused = true)]
async fn cli_that_hangs_in_a_turn_is_replaced_and_the_turn_told() {
    let (backend, mut started, mut cli, mut turn) = running().await;
    let begin = Instant::now();
    let end = ending(&mut turn).await;
    assert!(
        matches!(&end, Ending::Failed(AgentError::Interrupted(text)) if text.contains("stopped answering")),
        "{end:?}"
    );
    assert!(begin.elapsed() <= Duration::from_secs(21), "{:?}", begin.elapsed());
    assert_eq!(cli.signals.recv().await, Some("let go"));
    let peer = async {
        let mut cli = started.cli().await;
        cli.takes_prompt().await;
        cli
    };
    let (turn, _cli) = tokio::join!(backend.prompt(chat(), prompt()), peer);
    assert!(turn.is_ok());
}

#[tokio::test(start_paused = true)]
async fn death_in_a_turn_interrupts_it_within_a_second_and_the_next_prompt_restarts() {
    let (backend, mut started, mut cli, mut turn) = running().await;
    cli.event("assistant.message_delta", json!({"messageId": "m", "deltaContent": "half"})).await;
    assert!(matches!(turn.events.recv().await, Some(AgentEvent::TextDelta { .. })));
    let begin = Instant::now();
    cli.dies("it was killed (signal 9)");
    let end = ending(&mut turn).await;
    assert!(begin.elapsed() < Duration::from_secs(1));
    let Ending::Failed(AgentError::Interrupted(text)) = end else { panic!("{end:?}") };
    assert!(text.contains("signal 9") && text.contains("last words"), "{text}");
    assert!(matches!(*backend.status().borrow(), BackendStatus::Failed(_)));
    let begin = Instant::now();
    let (turn, sent) = tokio::join!(backend.prompt(chat(), prompt()), async {
        let mut cli = started.cli().await;
        assert_eq!(begin.elapsed(), Duration::from_millis(200), "a restart waits a moment");
        cli.takes_prompt().await;
        cli
    });
    drop((turn.unwrap(), sent));
}

#[tokio::test(start_paused = true)]
async fn prompt_that_dies_with_the_cli_is_sent_again_only_if_it_was_not_written_down() {
    for written_down in [false, true] {
        let (backend, mut started) = backend();
        let mut cli = started.cli().await;
        let peer = async {
            cli.asked_for("session.send").await;
            if written_down {
                cli.event("user.message", json!({"content": "x"})).await;
            }
            cli.dies("it was killed (signal 9)");
            let again = async {
                let mut cli = started.cli().await;
                cli.takes_prompt().await;
                cli
            };
            tokio::time::timeout(Duration::from_secs(60), again).await
        };
        let (turn, again) = tokio::join!(backend.prompt(chat(), prompt()), peer);
        assert_eq!((turn.is_ok(), again.is_ok()), (!written_down, !written_down));
        assert!(turn.is_ok() || matches!(turn.err(), Some(AgentError::Interrupted(_))));
    }
}

#[tokio::test(start_paused = true)]
async fn failed_start_is_told_at_once_and_every_prompt_tries_again_after_a_growing_wait() {
    let (backend, mut started) = backend();
    started.cli().await.dies("crash");
    let mut status = backend.status();
    status.wait_for(|status| matches!(status, BackendStatus::Failed(_))).await.unwrap();
    for wait in [200, 1000, 1500, 1500] {
        started.refuse(1);
        let begin = Instant::now();
        let error = backend.prompt(chat(), prompt()).await.err().unwrap();
        assert!(matches!(&error, AgentError::CliFailed(text) if text.contains("no such program")), "{error}");
        assert_eq!(begin.elapsed(), Duration::from_millis(wait));
        assert_eq!(*status.borrow_and_update(), BackendStatus::Failed(error));
    }
    let (turn, _cli) = tokio::join!(backend.prompt(chat(), prompt()), async {
        let mut cli = started.cli().await;
        cli.takes_prompt().await;
        cli
    });
    assert!(turn.is_ok());
}

#[tokio::test(start_paused = true)]
async fn all_who_wait_for_a_start_that_fails_share_its_outcome() {
    for hangs in [false, true] {
        let (backend, mut started) = backend_with(Config::default(), vec![candidate("full", None, false)]);
        let begin = Instant::now();
        let cli = async {
            let mut cli = started.raw().await;
            cli.asked_for("connect").await;
            if hangs {
                return Some(cli);
            }
            cli.dies("it ended with exit code 1");
            None
        };
        let (models, auth, chats, history, turn, _cli) = tokio::join!(
            backend.models(),
            backend.auth(),
            backend.chats(),
            backend.history("sp-1", None, 10),
            backend.prompt(chat(), prompt()),
            cli
        );
        let errors = [models.err(), auth.err(), chats.err(), history.err(), turn.err()];
        let limit = Duration::from_secs(if hangs { 20 } else { 1 });
        assert!(begin.elapsed() <= limit, "{:?}", begin.elapsed());
        assert!(errors.iter().all(|error| matches!(error, Some(AgentError::CliFailed(_)))), "{errors:?}");
        // It stays told, and nothing is started until somebody asks.
        let next = tokio::time::timeout(Duration::from_secs(60), started.raw()).await;
        assert!(next.is_err(), "one start for all");
        assert_eq!(*backend.status().borrow(), BackendStatus::Failed(errors[0].clone().unwrap()));
    }
}

#[tokio::test(start_paused = true)]
async fn light_runtime_that_hangs_lies_or_chatters_gives_way_to_the_full_cli() {
    for fault in ["hangs", "lies", "chatters", "dies"] {
        let candidates = vec![candidate("light", Some("1.0.102"), true), candidate("full", None, false)];
        let (backend, mut started) = backend_with(Config::default(), candidates);
        let (name, mut light) = started.named().await;
        assert_eq!(name.to_str(), Some("light"));
        let asked = light.asked().await;
        let kept = match fault {
            "lies" => {
                let other = json!({"ok": true, "protocolVersion": 3, "version": "1.0.7"});
                light.answer(&asked, other).await;
                Some(light)
            }
            "chatters" => {
                light.writes_text(&"usage: nothing\n".repeat(6000)).await;
                Some(light)
            }
            "dies" => {
                light.dies("exit code 1");
                None
            }
            _ => Some(light),
        };
        let (name, mut full) = started.named().await;
        assert_eq!(name.to_str(), Some("full"), "{fault}");
        if let Some(mut light) = kept {
            assert_eq!(light.signals.recv().await, Some("let go"), "{fault}");
        }
        let connect = full.asked_for("connect").await;
        full.answer(&connect, default_answer("connect")).await;
        let mut status = backend.status();
        status.wait_for(|status| matches!(status, BackendStatus::Ready { .. })).await.unwrap();
        // The failure is remembered: a restart does not try it again.
        full.dies("crash");
        status.wait_for(|status| matches!(status, BackendStatus::Failed(_))).await.unwrap();
        let (_, (name, _cli)) = tokio::join!(backend.models(), async {
            let (name, mut cli) = started.named().await;
            let connect = cli.asked_for("connect").await;
            cli.answer(&connect, default_answer("connect")).await;
            let models = cli.asked_for("models.list").await;
            cli.answer(&models, json!({"models": []})).await;
            (name, cli)
        });
        assert_eq!(name.to_str(), Some("full"), "{fault}");
    }
}

#[tokio::test(start_paused = true)]
async fn other_protocol_is_refused_with_a_clear_text() {
    let (backend, mut started) = backend();
    let mut cli = started.raw().await;
    let connect = cli.asked_for("connect").await;
    cli.answer(&connect, json!({"protocolVersion": 4, "version": "2.0.0"})).await;
    let mut status = backend.status();
    let failed = status.wait_for(|status| matches!(status, BackendStatus::Failed(_))).await.unwrap().clone();
    let BackendStatus::Failed(error) = failed else { panic!() };
    assert!(error.to_string().contains("protocol 4"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn nobody_signed_in_is_told_before_the_prompt_is_sent() {
    let (backend, mut started) = backend_with(Config::default(), vec![candidate("full", None, false)]);
    let mut cli = started.cli().await;
    cli.knows_nobody().await;
    let mut status = backend.status();
    let seen = |status: &BackendStatus| {
        matches!(status, BackendStatus::Ready { auth: AuthState::Unauthenticated { .. }, .. })
    };
    status.wait_for(seen).await.unwrap();
    let (turn, _fresh) = tokio::join!(backend.prompt(chat(), prompt()), async {
        // The person may have signed in since.
        cli.knows_nobody().await;
        // This one cannot know. The next one is asked as it starts, and for the prompt.
        let mut fresh = started.cli().await;
        for method in ["auth.getStatus", "auth.getStatus", "account.getCurrentAuth", "account.getCurrentAuth"]
        {
            let last = fresh.asked().await;
            assert_eq!(last.method, method);
            let nobody = json!({"isAuthenticated": false, "statusMessage": "Not authenticated"});
            fresh.answer(&last, if method == "auth.getStatus" { nobody } else { json!({}) }).await;
        }
        fresh
    });
    let error = turn.err();
    assert!(matches!(&error, Some(AgentError::Auth(text)) if text.contains("browy login")), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn sign_in_after_the_start_shows_in_the_status() {
    let (backend, mut started) = backend_with(Config::default(), vec![candidate("full", None, false)]);
    let mut cli = started.cli().await;
    cli.knows_nobody().await;
    let mut status = backend.status();
    let signed_in = |yes: bool| {
        move |status: &BackendStatus| match status {
            BackendStatus::Ready { auth: AuthState::Ready { .. }, .. } => yes,
            BackendStatus::Ready { auth: AuthState::Unauthenticated { .. }, .. } => !yes,
            _ => false,
        }
    };
    status.wait_for(signed_in(false)).await.unwrap();
    let (auth, ()) = tokio::join!(backend.auth(), async {
        let again = cli.asked_for("auth.getStatus").await;
        cli.answer(&again, default_answer("auth.getStatus")).await;
    });
    assert_eq!(auth, Ok(AuthState::Ready { detail: Some("someone".into()) }));
    status.wait_for(signed_in(true)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn slow_reader_loses_nothing() {
    let (_backend, _started, mut cli, mut turn) = running().await;
    let mut wanted = String::new();
    for number in 0..20_000u32 {
        let piece = char::from(b'a' + u8::try_from(number % 26).unwrap());
        wanted.push(piece);
        let piece = json!({"messageId": "m", "deltaContent": piece.to_string()});
        cli.event("assistant.message_delta", piece).await;
        if number % 7 == 0 {
            // Delivered again, with the id of an earlier event.
            let id = uuid::Uuid::from_u128(u128::from(number / 2 + 2)).to_string();
            let again = json!({"messageId": "m", "deltaContent": "AGAIN"});
            cli.event_with(json!({"type": "assistant.message_delta", "data": again, "id": id})).await;
        }
    }
    cli.event("session.idle", json!({})).await;
    // Only now does anybody read.
    let mut text = String::new();
    for event in rest(&mut turn).await {
        if let AgentEvent::TextDelta { text: piece, .. } = event {
            text.push_str(&piece);
        }
    }
    assert!(text == wanted, "{} of {} characters", text.len(), wanted.len());
}

#[tokio::test(start_paused = true)]
async fn chat_that_the_cli_closed_is_opened_again_once() {
    let (backend, _started, mut cli, mut turn) = running().await;
    cli.event("session.idle", json!({})).await;
    assert_eq!(ending(&mut turn).await, Ending::Done);
    let (turn, ()) = tokio::join!(backend.prompt(chat(), prompt()), async {
        let send = cli.asked_for("session.send").await;
        cli.refuse(&send, -32603, "Session not found").await;
        let metadata = cli.asked_for("session.getMetadata").await;
        cli.answer(&metadata, json!({"session": {"sessionId": "sp-1"}})).await;
        let resume = cli.asked_for("session.resume").await;
        cli.answer(&resume, json!({})).await;
        cli.takes_prompt().await;
    });
    assert!(turn.is_ok());
}

#[tokio::test(start_paused = true)]
async fn shutdown_is_orderly_and_never_longer_than_its_grace() {
    let (backend, mut started) = backend();
    let mut cli = started.cli().await;
    let mut status = backend.status();
    status.wait_for(|status| matches!(status, BackendStatus::Ready { .. })).await.unwrap();
    let begin = Instant::now();
    backend.shutdown(Duration::from_secs(1)).await;
    assert!(begin.elapsed() <= Duration::from_secs(1));
    assert_eq!(cli.signals.recv().await, Some("let go"));
    assert_eq!(cli.signals.recv().await, Some("kill"));
    assert!(backend.prompt(chat(), prompt()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn shutdown_cuts_a_start_short() {
    let (backend, mut started) = backend();
    let _silent = started.raw().await;
    let begin = Instant::now();
    backend.shutdown(Duration::from_secs(1)).await;
    assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
}

#[tokio::test(start_paused = true)]
async fn failed_deletion_is_no_success() {
    let (backend, mut started) = backend();
    let mut cli = started.cli().await;
    let (deleted, ()) = tokio::join!(backend.delete("sp-1"), async {
        let metadata = cli.asked_for("session.getMetadata").await;
        cli.answer(&metadata, json!({"session": {"sessionId": "sp-1"}})).await;
        let delete = cli.asked_for("session.delete").await;
        cli.answer(&delete, json!({"success": false, "error": "busy"})).await;
    });
    assert!(matches!(deleted, Err(AgentError::CliFailed(text)) if text.contains("busy")));
    let (deleted, ()) = tokio::join!(backend.delete("sp-2"), async {
        let metadata = cli.asked_for("session.getMetadata").await;
        cli.answer(&metadata, Value::Object(serde_json::Map::new())).await;
    });
    assert_eq!(deleted, Ok(false));
}
