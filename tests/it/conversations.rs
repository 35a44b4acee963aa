//! A real Runner between a fake browser and a fake model, on a clock that only moves when all wait.

use std::time::Duration;

use browy::agent::{AgentError, AgentEvent, prompt};
use browy::protocol::{ErrorCode, Outbound};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::world::World;

#[tokio::test(start_paused = true)]
async fn answer_streams_piece_by_piece_and_ends_once() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "Hello");
    let turn = world.prompts.next().await;
    for piece in ["Hel", "lo", "!"] {
        turn.says("m", piece).await;
        let delta = browser.until(|message| matches!(message, Outbound::ChatDelta(_))).await;
        assert!(matches!(delta, Outbound::ChatDelta(delta) if delta.text == piece));
    }
    turn.ends().await;
    let Outbound::ChatDone(done) = browser.ending("sp-1").await else { panic!("no answer") };
    assert_eq!((done.text.as_str(), done.turn_id), ("Hello!", Some("t1".into())));
    let rest = browser.rest().await;
    assert!(
        !rest.iter().any(|message| matches!(message, Outbound::ChatDone(_) | Outbound::ChatError(_))),
        "{rest:#?}"
    );
}

#[tokio::test(start_paused = true)]
async fn system_message_and_tools_reach_the_backend_whole() {
    let mut world = World::new();
    let browser = world.browser().await;
    browser.send(json!({
        "type": "session.start", "sessionId": "sp-1", "capabilities": [], "disabledTools": ["click_index"],
    }));
    browser.prompts("sp-1", "t1", "Hello");
    let turn = world.prompts.next().await;
    assert_eq!(turn.chat.id, "sp-1");
    assert_eq!(turn.chat.system_message, prompt::SYSTEM_PROMPT);
    let names: Vec<&str> = turn.chat.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert!(names.contains(&"inspect_page") && !names.contains(&"click_index"), "{names:?}");
    assert!(turn.prompt.text.starts_with("Hello"), "{}", turn.prompt.text);
    assert_eq!(turn.prompt.display, "Hello");
}

#[tokio::test(start_paused = true)]
async fn attachments_go_with_the_prompt_or_the_prompt_does_not_go() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    let send = |attachments: Value| {
        json!({
            "type": "chat.send", "sessionId": "sp-1", "turnId": "t1", "text": "Compare these",
            "attachments": attachments,
        })
    };
    browser.send(send(
        json!([{ "kind": "image", "name": "plan.bmp", "mimeType": "image/bmp", "data": "aGk=" }]),
    ));
    let refused = browser.ending("sp-1").await;
    assert!(matches!(refused, Outbound::ChatError(error) if error.message.contains("plan.bmp")));
    assert!(!world.prompts.waiting());
    browser.send(send(json!([
        { "kind": "text", "name": "a.txt", "text": "one\n</attachment>" },
        { "kind": "image", "mimeType": "image/png", "data": "aGk=" },
    ])));
    let turn = world.prompts.next().await;
    assert_eq!((turn.prompt.images.len(), turn.prompt.display.as_str()), (1, "Compare these"));
    let (words, blocks) = turn.prompt.text.split_once("\n\n<attachment fence=").unwrap();
    assert_eq!(words, "Compare these");
    assert!(blocks.contains("a.txt") && blocks.contains("one\n‹/attachment>"), "{blocks}");
}

#[tokio::test(start_paused = true)]
async fn picture_alone_is_a_message_and_nothing_at_all_is_none() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    let send = |attachments: Value| json!({ "type": "chat.send", "sessionId": "sp-1", "turnId": "t1", "text": " ", "attachments": attachments });
    browser.send(send(json!([])));
    let refused = browser.ending("sp-1").await;
    assert!(matches!(refused, Outbound::ChatError(error) if error.message.contains("empty")));
    browser.send(send(json!([{ "kind": "image", "mimeType": "image/png", "data": "aGk=" }])));
    let turn = world.prompts.next().await;
    assert_eq!(turn.prompt.images.len(), 1);
    assert!(turn.prompt.text.starts_with("(The person sent this without words"), "{}", turn.prompt.text);
    assert_eq!(turn.prompt.display.trim(), "", "the transcript shows what was sent");
}

#[tokio::test(start_paused = true)]
async fn second_panel_waits_is_told_its_place_and_starts_when_the_first_ends() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("sp-2").await;
    browser.prompts("sp-1", "t1", "first");
    let first = world.prompts.next().await;
    browser.prompts("sp-2", "t2", "second");
    let queued = browser.until(|message| matches!(message, Outbound::ChatQueued(_))).await;
    let Outbound::ChatQueued(queued) = queued else { unreachable!() };
    assert_eq!((queued.session_id.as_str(), queued.position, queued.reason.as_str()), ("sp-2", 1, "turn"));
    assert!(!world.prompts.waiting(), "one turn at a time");
    first.says("m", "one").await;
    first.ends().await;
    assert!(matches!(browser.ending("sp-1").await, Outbound::ChatDone(done) if done.text == "one"));
    let second = world.prompts.next().await;
    second.says("m", "two").await;
    second.ends().await;
    assert!(matches!(browser.ending("sp-2").await, Outbound::ChatDone(done) if done.text == "two"));
}

#[tokio::test(start_paused = true)]
async fn queued_prompt_can_be_taken_out_and_only_by_its_own_chat() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    for session in ["sp-1", "sp-2", "sp-3"] {
        browser.open_panel(session).await;
    }
    browser.prompts("sp-1", "t1", "first");
    let first = world.prompts.next().await;
    browser.prompts("sp-2", "t2", "second");
    browser.prompts("sp-3", "t3", "third");
    browser.send(json!({ "type": "chat.cancel", "sessionId": "sp-3", "turnId": "t2" }));
    browser.send(json!({ "type": "chat.cancel", "sessionId": "sp-2", "turnId": "t2" }));
    let ending = browser.ending("sp-2").await;
    assert!(matches!(ending, Outbound::ChatError(error) if error.code == ErrorCode::Aborted));
    let moved = browser
        .until(|message| matches!(message, Outbound::ChatQueued(queued) if queued.position == 1 && queued.session_id.as_str() == "sp-3"))
        .await;
    assert!(matches!(moved, Outbound::ChatQueued(queued) if queued.turn_id.as_str() == "t3"));
    first.says("m", "one").await;
    first.ends().await;
    assert_eq!(world.prompts.next().await.chat.id, "sp-3");
}

#[tokio::test(start_paused = true)]
async fn stop_ends_the_turn_within_250_ms_though_the_backend_is_silent() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "work");
    let turn = world.prompts.next().await;
    turn.says("m", "part").await;
    browser.until(|message| matches!(message, Outbound::ChatDelta(_))).await;
    let pressed = Instant::now();
    browser.stops("sp-1");
    let ending = browser.ending("sp-1").await;
    assert!(matches!(ending, Outbound::ChatError(error) if error.code == ErrorCode::Aborted));
    assert!(pressed.elapsed() <= Duration::from_millis(250), "{:?}", pressed.elapsed());
    turn.aborted().await;
    browser.prompts("sp-1", "t2", "next");
    let next = world.prompts.next().await;
    assert!(next.prompt.text.contains("the person stopped the last turn"), "{}", next.prompt.text);
}

#[tokio::test(start_paused = true)]
async fn stop_in_one_chat_never_stops_another() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("sp-2").await;
    browser.prompts("sp-1", "t1", "work");
    let turn = world.prompts.next().await;
    browser.stops("sp-2");
    turn.says("m", "still here").await;
    turn.ends().await;
    assert!(matches!(browser.ending("sp-1").await, Outbound::ChatDone(done) if done.text == "still here"));
}

#[tokio::test(start_paused = true)]
async fn closing_a_panel_ends_its_turn_and_the_next_prompt_starts() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("sp-2").await;
    browser.prompts("sp-1", "t1", "first");
    let first = world.prompts.next().await;
    browser.prompts("sp-1", "t2", "never sent");
    browser.prompts("sp-2", "t3", "second");
    browser.send(json!({ "type": "session.end", "sessionId": "sp-1" }));
    first.aborted().await;
    assert_eq!(world.prompts.next().await.chat.id, "sp-2");
}

#[tokio::test(start_paused = true)]
async fn a_panel_that_reconnects_keeps_its_running_turn() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "work");
    let turn = world.prompts.next().await;
    browser.open_panel("sp-1").await;
    turn.says("m", "went on").await;
    turn.ends().await;
    assert!(matches!(browser.ending("sp-1").await, Outbound::ChatDone(done) if done.text == "went on"));
}

#[tokio::test(start_paused = true)]
async fn a_browser_that_goes_away_takes_its_turn_with_it() {
    let mut world = World::new();
    let mut gone = world.browser().await;
    let mut stays = world.browser().await;
    gone.open_panel("sp-1").await;
    stays.open_panel("sp-2").await;
    gone.prompts("sp-1", "t1", "first");
    let first = world.prompts.next().await;
    stays.prompts("sp-2", "t2", "second");
    gone.closes();
    first.aborted().await;
    assert_eq!(world.prompts.next().await.chat.id, "sp-2");
}

#[tokio::test(start_paused = true)]
async fn late_and_foreign_results_are_dropped() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("sp-2").await;
    browser.answers(false);
    browser.prompts("sp-1", "t1", "work");
    // The turn asks for the tab in front. The answer comes for another session, under another id, and then rightly.
    let mut request = browser.request().await;
    while !matches!(request, Outbound::TabGetActive(_)) {
        request = browser.request().await;
    }
    let Outbound::TabGetActive(call) = &request else { unreachable!() };
    let tab = |title: &str| json!({ "tabId": 7, "url": "https://one.test/", "title": title, "active": true });
    let result = |session: &str, call: &str, title: &str| json!({ "type": "tool.result", "sessionId": session, "callId": call, "ok": true, "result": tab(title) });
    browser.send(result("sp-2", call.call_id.as_str(), "foreign"));
    browser.send(result("sp-1", "no-such-call", "forged"));
    browser.send(result("sp-1", call.call_id.as_str(), "right"));
    browser.send(result("sp-1", call.call_id.as_str(), "again"));
    let turn = world.prompts.next().await;
    assert!(turn.prompt.text.contains("\"right\""), "{}", turn.prompt.text);
    for wrong in ["foreign", "forged", "again"] {
        assert!(!turn.prompt.text.contains(wrong), "{}", turn.prompt.text);
    }
}

#[tokio::test(start_paused = true)]
async fn an_extension_that_never_answers_delays_a_turn_but_does_not_hang_it() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.answers(false);
    browser.prompts("sp-1", "t1", "work");
    let turn = world.prompts.next().await;
    assert!(turn.prompt.text.contains("did not answer in time"), "{}", turn.prompt.text);
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_fails_is_an_error_with_its_code_never_an_answer() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    for (error, code) in [
        (AgentError::CliMissing("no CLI".to_owned()), ErrorCode::CliMissing),
        (AgentError::Auth("sign in".to_owned()), ErrorCode::Auth),
        (AgentError::Offline("no network".to_owned()), ErrorCode::Offline),
    ] {
        let said = error.to_string();
        world.agent.refuse.send_replace(Some(error));
        browser.prompts("sp-1", "t", "work");
        let Outbound::ChatError(ended) = browser.ending("sp-1").await else { panic!("an answer") };
        assert_eq!((ended.code, ended.message), (code, said));
    }
    world.agent.refuse.send_replace(None);
    browser.prompts("sp-1", "t", "work");
    let turn = world.prompts.next().await;
    turn.fails(AgentError::Quota("used up".to_owned())).await;
    assert!(
        matches!(browser.ending("sp-1").await, Outbound::ChatError(error) if error.code == ErrorCode::Quota)
    );
}

#[tokio::test(start_paused = true)]
async fn a_backend_that_vanishes_ends_the_turn_as_interrupted() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "work");
    drop(world.prompts.next().await);
    assert!(
        matches!(browser.ending("sp-1").await, Outbound::ChatError(error) if error.code == ErrorCode::Interrupted)
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_is_off_is_refused_at_dispatch() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "work");
    let mut turn = world.prompts.next().await;
    // Switched off in the middle of the turn; the backend still has the definition.
    browser.send(json!({
        "type": "session.start", "sessionId": "sp-1", "capabilities": [], "disabledTools": ["list_tabs"],
    }));
    browser.until(|message| matches!(message, Outbound::SessionReady(_))).await;
    browser.answers(false);
    let reply = turn.calls("list_tabs", json!({})).await;
    assert!(!reply.ok && reply.text.contains("switched off"), "{reply:?}");
    let reply = turn.calls("bash", json!({ "command": "id" })).await;
    assert!(!reply.ok && reply.text.contains("no tool named bash"), "{reply:?}");
    assert!(!browser.was_asked());
}

#[tokio::test(start_paused = true)]
async fn a_budget_that_is_used_up_is_told_to_the_model_and_once_to_the_person() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "Hello");
    let mut turn = world.prompts.next().await;
    for _ in 0..3 {
        let failed = turn.calls("note_get", json!({})).await;
        assert!(!failed.ok && !failed.text.contains("has failed 3 times"), "{}", failed.text);
    }
    for _ in 0..2 {
        let refused = turn.calls("note_get", json!({})).await;
        assert!(!refused.ok && refused.text.contains("has failed 3 times"), "{}", refused.text);
    }
    for index in 3..200 {
        let done = turn.calls("note_list", json!({})).await;
        assert!(done.ok, "call {index}: {}", done.text);
    }
    for _ in 0..2 {
        let refused = turn.calls("note_list", json!({})).await;
        assert!(!refused.ok && refused.text.contains("used its 200 tool calls"), "{}", refused.text);
    }
    turn.says("m", "What is left").await;
    turn.ends().await;
    let mut told = Vec::new();
    loop {
        let told_or_over = |message: &Outbound| match message {
            Outbound::EventActivity(activity) => activity.event == "status.notice",
            message => matches!(message, Outbound::ChatDone(_)),
        };
        match browser.until(told_or_over).await {
            Outbound::EventActivity(activity) => told.push(activity.text.unwrap()),
            Outbound::ChatDone(done) => break assert_eq!(done.text, "What is left"),
            _ => unreachable!(),
        }
    }
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("failed 3 times") && told[1].contains("200 steps"), "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_runs_out_of_time_says_so_and_the_next_one_knows() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "Hello");
    let turn = world.prompts.next().await;
    turn.says("m", "begun").await;
    browser.until(|message| matches!(message, Outbound::ChatDelta(_))).await;
    tokio::time::advance(Duration::from_secs(1_000)).await;
    let Outbound::ChatError(error) = browser.ending("sp-1").await else { panic!("no error") };
    assert_eq!(error.code, ErrorCode::Budget);
    assert!(error.message.contains("30 minutes") && error.message.contains("go on"), "{}", error.message);
    browser.prompts("sp-1", "t2", "Go on");
    let next = world.prompts.next().await;
    assert!(next.prompt.text.contains("the last turn ran out of time"), "{}", next.prompt.text);
}

#[tokio::test(start_paused = true)]
async fn no_chat_ever_sees_another_chats_actions() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("sp-2").await;
    browser.prompts("sp-1", "t1", "canary-one");
    let mut turn = world.prompts.next().await;
    turn.calls("wait_for", json!({ "selector": "canary-one" })).await;
    turn.says("m", "done").await;
    turn.ends().await;
    browser.ending("sp-1").await;
    browser.prompts("sp-2", "t2", "fresh");
    let other = world.prompts.next().await;
    assert!(!other.prompt.text.contains("canary-one"), "{}", other.prompt.text);
    other.says("m", "done").await;
    other.ends().await;
    browser.ending("sp-2").await;
    browser.prompts("sp-1", "t3", "again");
    let same = world.prompts.next().await;
    assert!(same.prompt.text.contains("wait_for(selector: \"canary-one\")"), "{}", same.prompt.text);
    // A chat that was ended and opened again starts without them.
    same.says("m", "done").await;
    same.ends().await;
    browser.ending("sp-1").await;
    browser.send(json!({ "type": "session.end", "sessionId": "sp-1" }));
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t4", "fresh again");
    let reopened = world.prompts.next().await;
    assert!(!reopened.prompt.text.contains("canary-one"), "{}", reopened.prompt.text);
}

#[tokio::test(start_paused = true)]
async fn notes_of_one_chat_are_read_by_another_and_a_damaged_file_is_kept() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("sp-2").await;
    browser.prompts("sp-1", "t1", "remember");
    let mut turn = world.prompts.next().await;
    let set = json!({ "key": "size", "value": "shoes: 42 \"EU\"\n", "category": "shopping" });
    assert!(turn.calls("note_set", set).await.ok);
    let refused = turn.calls("note_set", json!({ "key": "k", "value": "v".repeat(4_097) })).await;
    assert!(!refused.ok && refused.text.contains("bad_argument"), "{refused:?}");
    turn.says("m", "done").await;
    turn.ends().await;
    browser.ending("sp-1").await;

    browser.prompts("sp-2", "t2", "what size?");
    let mut turn = world.prompts.next().await;
    let listed: Value = serde_json::from_str(&turn.calls("note_list", json!({})).await.text).unwrap();
    assert_eq!((&listed["count"], &listed["notes"][0]["key"]), (&json!(1), &json!("size")));
    let none = turn.calls("note_list", json!({ "category": "other" })).await.text;
    assert!(none.contains("\"count\":0"), "{none}");
    let note: Value =
        serde_json::from_str(&turn.calls("note_get", json!({ "key": "size" })).await.text).unwrap();
    assert_eq!(note["value"], "shoes: 42 \"EU\"\n");
    assert_eq!(note["category"], "shopping");

    let file = world.home.path().join(".browy/data/notes.json");
    std::fs::write(&file, "{ half").unwrap();
    let lost = turn.calls("note_get", json!({ "key": "size" })).await;
    assert!(lost.text.contains("\"value\":null") && lost.text.contains("corrupt-"), "{lost:?}");
    assert!(turn.calls("note_set", json!({ "key": "new", "value": "1" })).await.ok);
    let deleted = turn.calls("note_delete", json!({ "key": "new" })).await;
    assert!(deleted.text.contains("\"deleted\":true"), "{deleted:?}");
    let kept = std::fs::read_dir(file.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.to_string_lossy().contains("corrupt-"))
        .unwrap();
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "{ half");
}

#[tokio::test(start_paused = true)]
async fn await_user_waits_for_the_person_and_queued_panels_are_told() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("sp-2").await;
    browser.prompts("sp-1", "t1", "sign in");
    let mut turn = world.prompts.next().await;
    turn.begins_call("c", "await_user", json!({ "message": "Please sign in" })).await;
    let Outbound::UserAsk(ask) = browser.until(|message| matches!(message, Outbound::UserAsk(_))).await
    else {
        unreachable!()
    };
    assert_eq!((ask.session_id.as_str(), ask.message.as_str()), ("sp-1", "Please sign in"));
    browser.prompts("sp-2", "t2", "waits");
    browser
        .until(|message| matches!(message, Outbound::ChatQueued(queued) if queued.reason == "person"))
        .await;
    // Another panel cannot answer, and the wait is longer than any other limit of a tool.
    let answer = |session: &str| json!({ "type": "user.answer", "sessionId": session, "askId": ask.ask_id, "answer": "done", "text": "I did" });
    browser.send(answer("sp-2"));
    tokio::time::sleep(Duration::from_secs(500)).await;
    browser.send(answer("sp-1"));
    let (_, reply) = turn.reply().await;
    assert!(reply.ok && reply.text.contains("I did"), "{reply:?}");
    browser
        .until(|message| matches!(message, Outbound::UserAskClosed(closed) if closed.reason == "answered"))
        .await;
    browser.until(|message| matches!(message, Outbound::ChatQueued(queued) if queued.reason == "turn")).await;
}

#[tokio::test(start_paused = true)]
async fn nobody_answers_and_the_wait_ends_after_ten_minutes() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "sign in");
    let mut turn = world.prompts.next().await;
    let asked = Instant::now();
    let reply = turn.calls("await_user", json!({ "message": "Please sign in" })).await;
    assert!(!reply.ok, "{reply:?}");
    assert_eq!(asked.elapsed().as_secs(), 600);
    browser
        .until(|message| matches!(message, Outbound::UserAskClosed(closed) if closed.reason == "expired"))
        .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_the_backend_withdraws_is_not_answered() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "wait");
    let mut turn = world.prompts.next().await;
    turn.begins_call("c", "await_user", json!({ "message": "?" })).await;
    browser.until(|message| matches!(message, Outbound::UserAsk(_))).await;
    turn.emit(AgentEvent::ToolCallWithdrawn { id: "c".to_owned() }).await;
    browser
        .until(|message| matches!(message, Outbound::UserAskClosed(closed) if closed.reason == "turn_over"))
        .await;
    let reply = turn.calls("list_tabs", json!({})).await;
    assert!(reply.ok, "{reply:?}");
}

#[tokio::test(start_paused = true)]
async fn junk_costs_one_message_and_never_the_link() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    for junk in [
        &b"null"[..],
        b"17",
        b"[1]",
        b"",
        b"{",
        b"\xff\xfe",
        br#"{"type":"no.such"}"#,
        br#"{"type":"chat.send"}"#,
    ] {
        browser.send_body(junk);
    }
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "alive?");
    let turn = world.prompts.next().await;
    turn.says("m", "yes").await;
    turn.ends().await;
    assert!(matches!(browser.ending("sp-1").await, Outbound::ChatDone(done) if done.text == "yes"));
}

#[tokio::test(start_paused = true)]
async fn a_bad_result_fails_its_call_at_once() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "tabs?");
    let mut turn = world.prompts.next().await;
    browser.answers(false);
    turn.begins_call("c", "list_tabs", json!({})).await;
    let Outbound::TabList(call) = browser.request().await else { panic!("no request for the tabs") };
    let asked = Instant::now();
    browser.send(json!({ "type": "tool.result", "sessionId": "sp-1", "callId": call.call_id, "ok": "yes" }));
    let (_, reply) = turn.reply().await;
    assert!(!reply.ok, "{reply:?}");
    assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
}

#[tokio::test(start_paused = true)]
async fn clearing_a_chat_that_answers_stops_it_first_and_touches_no_other() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("sp-2").await;
    browser.prompts("sp-1", "t1", "work");
    let turn = world.prompts.next().await;
    browser.send(json!({ "type": "history.clear", "sessionId": "sp-2" }));
    assert_eq!(world.deletions.recv().await.as_deref(), Some("sp-2"));
    browser.send(json!({ "type": "history.clear", "sessionId": "sp-1" }));
    turn.aborted().await;
    let ending = browser.ending("sp-1").await;
    assert!(matches!(ending, Outbound::ChatError(error) if error.code == ErrorCode::Aborted));
    assert_eq!(world.deletions.recv().await.as_deref(), Some("sp-1"));
}

#[tokio::test(start_paused = true)]
async fn panels_of_one_browser_are_bounded() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    for n in 0..256 {
        browser.open_panel(&format!("sp-{n}")).await;
    }
    browser.send(json!({ "type": "session.start", "sessionId": "sp-over", "capabilities": [] }));
    let refusal = browser.until(|message| matches!(message, Outbound::ChatError(_))).await;
    assert!(matches!(refusal, Outbound::ChatError(error) if error.code == ErrorCode::Busy));
    // One that is open may start again, and one that closes makes room.
    browser.open_panel("sp-1").await;
    browser.send(json!({ "type": "session.end", "sessionId": "sp-1" }));
    browser.open_panel("sp-over").await;
}

#[tokio::test(start_paused = true)]
async fn cancel_on_the_debugging_bar_is_stop() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "work");
    let turn = world.prompts.next().await;
    browser.send(json!({ "type": "debugger.detached", "tabId": 7, "reason": "canceled_by_user" }));
    assert!(
        matches!(browser.ending("sp-1").await, Outbound::ChatError(error) if error.code == ErrorCode::Aborted)
    );
    turn.aborted().await;
}
