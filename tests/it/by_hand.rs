//! A tool that the person calls themselves: one turn without a model, under the same rules.

use browy::protocol::{ErrorCode, Outbound};
use serde_json::{Value, json};

use crate::support::fake_panel::FakeBrowser;
use crate::support::world::World;

fn runs(browser: &FakeBrowser, session: &str, turn: &str, tool: &str, args: Value) {
    browser.send(
        json!({ "type": "chat.run", "sessionId": session, "turnId": turn, "tool": tool, "args": args }),
    );
}

fn text(ending: Outbound) -> String {
    let Outbound::ChatDone(done) = ending else { panic!("{ending:?}") };
    done.text
}

#[tokio::test(start_paused = true)]
async fn tool_called_by_hand_answers_without_a_model_and_leaves_no_chat() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("dt-1").await;
    browser.hears_all();
    runs(&browser, "dt-1", "t1", "list_tabs", json!({}));
    assert!(text(browser.ending("dt-1").await).contains("https://one.test/"));
    let told: Vec<String> = browser
        .heard()
        .iter()
        .map(|message| serde_json::to_value(message).unwrap()["type"].as_str().unwrap().to_owned())
        .filter(|kind| kind.starts_with("chat."))
        .collect();
    assert_eq!(told, ["chat.started", "chat.tool_call", "chat.tool_result", "chat.delta", "chat.done"]);
    assert!(!world.prompts.waiting(), "no model was asked");
    assert!(!world.home.path().join(".browy/data/chats.json").exists(), "no chat was begun");
    runs(&browser, "dt-1", "t2", "no_such_tool", json!({}));
    assert!(text(browser.ending("dt-1").await).contains("no tool named no_such_tool"));
    runs(&browser, "dt-9", "t3", "list_tabs", json!({}));
    let refused = browser.ending("dt-9").await;
    assert!(matches!(refused, Outbound::ChatError(error) if error.code == ErrorCode::NotReady));
}

#[tokio::test(start_paused = true)]
async fn switches_hold_for_the_person_too_and_the_next_prompt_tells_what_was_done() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.send(json!({
        "type": "session.start", "sessionId": "dt-1", "capabilities": [], "disabledTools": ["note_set"],
    }));
    runs(&browser, "dt-1", "t1", "note_set", json!({ "key": "a", "value": "b" }));
    assert!(text(browser.ending("dt-1").await).contains("switched off"));
    runs(&browser, "dt-1", "t2", "list_tabs", json!({}));
    browser.ending("dt-1").await;
    browser.prompts("dt-1", "t3", "work");
    let turn = world.prompts.next().await;
    assert!(turn.prompt.text.contains("list_tabs"), "{}", turn.prompt.text);
    turn.says("m", "ok").await;
    turn.ends().await;
    browser.ending("dt-1").await;
}

#[tokio::test(start_paused = true)]
async fn call_by_hand_waits_its_turn_and_stop_takes_it_out() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.open_panel("dt-1").await;
    browser.prompts("sp-1", "t1", "work");
    let turn = world.prompts.next().await;
    runs(&browser, "dt-1", "t2", "list_tabs", json!({}));
    runs(&browser, "dt-1", "t3", "list_tabs", json!({}));
    browser.until(|message| matches!(message, Outbound::ChatQueued(queued) if queued.position == 2)).await;
    browser.send(json!({ "type": "chat.cancel", "sessionId": "dt-1", "turnId": "t3" }));
    let stopped = browser.ending("dt-1").await;
    assert!(matches!(stopped, Outbound::ChatError(error) if error.code == ErrorCode::Aborted));
    turn.says("m", "ok").await;
    turn.ends().await;
    assert!(text(browser.ending("dt-1").await).contains("one.test"));

    // One that hangs ends with Stop.
    browser.answers(false);
    runs(&browser, "dt-1", "t4", "list_tabs", json!({}));
    browser.request().await;
    browser.stops("dt-1");
    let stopped = browser.ending("dt-1").await;
    assert!(matches!(stopped, Outbound::ChatError(error) if error.code == ErrorCode::Aborted));
}
