//! What a session is bound to: its protocol, its events, its switches, its arguments.

use browy::protocol::limits::PROTOCOL;
use browy::protocol::{ErrorCode, Outbound};
use serde_json::{Value, json};

use crate::support::fake_panel::CAPABILITIES;
use crate::support::world::World;

#[tokio::test(start_paused = true)]
async fn other_protocol_gets_our_version_a_clear_error_and_no_session() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    for theirs in [PROTOCOL + 1, 0] {
        browser.send(json!({ "type": "hello", "client": "extension", "protocol": theirs, "requestId": theirs.to_string() }));
        let Outbound::HelloAck(ack) = browser.until(|message| matches!(message, Outbound::HelloAck(_))).await
        else {
            unreachable!()
        };
        assert_eq!(ack.protocol, PROTOCOL);
        let Outbound::ChatError(error) =
            browser.until(|message| matches!(message, Outbound::ChatError(_))).await
        else {
            unreachable!()
        };
        let which = if theirs > PROTOCOL { "update the host" } else { "update the extension" };
        assert!(error.code == ErrorCode::Unsupported && error.message.contains(which), "{error:?}");

        browser.send(json!({ "type": "session.start", "sessionId": "sp-1", "capabilities": CAPABILITIES }));
        let answer = browser
            .until(|message| matches!(message, Outbound::ChatError(_) | Outbound::SessionReady(_)))
            .await;
        assert!(matches!(answer, Outbound::ChatError(error) if error.code == ErrorCode::Unsupported));
        browser.prompts("sp-1", "t1", "work");
        assert!(matches!(browser.ending("sp-1").await, Outbound::ChatError(_)));
        assert!(!world.prompts.waiting());
    }
}

#[tokio::test(start_paused = true)]
async fn prompt_for_a_chat_that_is_not_open_is_answered_with_an_error() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    let mut other = world.browser().await;
    other.open_panel("sp-2").await;
    for chat in ["sp-1", "sp-2"] {
        browser.prompts(chat, "t1", "work");
        let ending = browser.ending(chat).await;
        assert!(matches!(ending, Outbound::ChatError(error) if error.code == ErrorCode::NotReady), "{chat}");
    }
    assert!(!world.prompts.waiting());
}

fn dialog_opens(session: &str, tab: i64) -> Value {
    json!({
        "type": "cdp.event", "sessionId": session, "tabId": tab, "method": "Page.javascriptDialogOpening",
        "params": { "type": "confirm", "message": format!("of {session} in {tab}"), "url": "https://one.test/", "hasBrowserHandler": false },
    })
}

#[tokio::test(start_paused = true)]
async fn events_reach_the_session_that_they_name_for_the_tab_that_they_name() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    let mut other = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("sp-2").await;
    // Both work on tab 7; only one hears of it. The others: a tab that is not its own, and a session of another browser.
    browser.send(dialog_opens("sp-1", 7));
    browser.send(dialog_opens("sp-2", 99));
    other.open_panel("sp-3").await;
    other.send(dialog_opens("sp-2", 7));
    other.open_panel("sp-4").await;
    for (session, tells) in [("sp-1", true), ("sp-2", false)] {
        browser.prompts(session, "t1", "work");
        let mut turn = world.prompts.next().await;
        let reply = turn.calls("handle_dialog", json!({ "action": "accept" })).await;
        let told = format!("{} {}", turn.prompt.text, reply.text);
        assert_eq!(told.contains("of sp-1 in 7"), tells, "{session}: {told}");
        assert!(!told.contains("of sp-2"), "{session}: {told}");
        turn.ends().await;
        browser.ending(session).await;
    }
}

#[tokio::test(start_paused = true)]
async fn switches_are_one_panels_own_and_hold_from_the_next_call_on() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("sp-2").await;
    let switch = |session: &str, off: &[&str]| json!({ "type": "session.start", "sessionId": session, "capabilities": CAPABILITIES, "disabledTools": off });
    browser.prompts("sp-1", "t1", "work");
    let mut turn = world.prompts.next().await;
    for (off, of_the_other, works) in
        [(&[][..], &["list_tabs"][..], true), (&["list_tabs"], &[], false), (&[], &["list_tabs"], true)]
    {
        browser.send(switch("sp-1", off));
        browser.send(switch("sp-2", of_the_other));
        // Answered after both were taken.
        browser.send(json!({ "type": "tools.list", "requestId": "then" }));
        browser.until(|message| matches!(message, Outbound::ToolsListResult(_))).await;
        let reply = turn.calls("list_tabs", json!({})).await;
        assert_eq!(reply.ok, works, "{reply:?}");
    }
    turn.ends().await;
    browser.ending("sp-1").await;
    // The other panel's last word holds for it, in what is offered too.
    browser.prompts("sp-2", "t2", "work");
    let turn = world.prompts.next().await;
    assert!(!turn.chat.tools.iter().any(|tool| tool.name == "list_tabs"));
}

#[tokio::test(start_paused = true)]
async fn arguments_that_do_not_fit_are_refused_before_anything_is_done() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    let every: Vec<_> = browy::tools::all().collect();
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "work");
    let mut turn = world.prompts.next().await;
    browser.answers(false);
    let mut refused = 0;
    for tool in every {
        let (name, schema) = (tool.spec().name, tool.parameters());
        let mut wrong = vec![json!("text"), json!([1]), json!({ "noSuchArgument": 1 })];
        for (argument, property) in schema["properties"].as_object().into_iter().flatten() {
            // Numbers and booleans may come as text, so only what is none of them does not fit.
            let misfit = if property["type"] == "array" { json!({ "x": {} }) } else { json!([{ "x": 1 }]) };
            wrong.push(json!({ argument.as_str(): misfit }));
        }
        for args in wrong {
            let reply = turn.calls(name, args.clone()).await;
            assert!(!reply.ok, "{name} took {args}: {}", reply.text);
            assert!(!browser.was_asked(), "{name} asked the browser something for {args}: {}", reply.text);
            refused += 1;
        }
    }
    assert!(refused > 150, "{refused}");
    assert!(!world.home.path().join(".browy/data/notes.json").exists());
}
