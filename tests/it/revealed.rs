//! Tools that the model gets when it asks for them.

use browy::protocol::Outbound;
use serde_json::json;

use crate::support::world::World;

#[tokio::test(start_paused = true)]
async fn more_tools_reveals_a_group_for_the_chat_and_nothing_that_is_off() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.send(json!({
        "type": "session.start", "sessionId": "sp-1", "capabilities": [], "disabledTools": ["get_cookies"],
    }));
    browser.until(|message| matches!(message, Outbound::SessionReady(_))).await;
    browser.prompts("sp-1", "t1", "work");
    let mut turn = world.prompts.next().await;
    browser.answers(false);
    let told: Vec<String> = turn.chat.tools.iter().map(|tool| tool.name.clone()).collect();
    assert!(told.contains(&"more_tools".to_owned()) && told.contains(&"click_index".to_owned()), "{told:?}");
    assert!(!told.contains(&"get_console_logs".to_owned()), "{told:?}");

    turn.begins_call("c1", "more_tools", json!({ "group": "devtools" })).await;
    let (id, offered) = turn.reply().await;
    assert_eq!(id, "offer", "before the answer: {offered:?}");
    let offered: Vec<&str> = offered.text.split(' ').collect();
    assert!(offered.contains(&"get_console_logs") && offered.contains(&"click_index"), "{offered:?}");
    assert!(!offered.contains(&"get_cookies") && !offered.contains(&"note_set"), "{offered:?}");
    let (id, reply) = turn.reply().await;
    assert!(id == "c1" && reply.ok && !reply.text.contains("get_cookies"), "{reply:?}");

    // What is there already costs nothing more, and what is off is not revealed by its name either.
    assert!(turn.calls("more_tools", json!({ "group": "devtools" })).await.ok);
    for group in ["get_cookies", "bash", "nothing"] {
        let refused = turn.calls("more_tools", json!({ "group": group })).await;
        assert!(!refused.ok && refused.text.contains("Groups: inspect"), "{refused:?}");
    }
    turn.ends().await;
    browser.ending("sp-1").await;

    browser.prompts("sp-1", "t2", "more");
    let next = world.prompts.next().await;
    assert!(next.chat.tools.iter().any(|tool| tool.name == "get_console_logs"), "it stays in the chat");
    browser.open_panel("sp-2").await;
    next.ends().await;
    browser.ending("sp-1").await;
    browser.prompts("sp-2", "t3", "work");
    let other = world.prompts.next().await;
    assert!(!other.chat.tools.iter().any(|tool| tool.name == "get_console_logs"), "and in no other one");
}
