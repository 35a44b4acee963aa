//! The CLI's own tools: the switches of the person hold for a turn that runs, too.

use std::time::Duration;

use browy::protocol::{AskKind, Outbound, UserAsk};
use serde_json::json;
use tokio::time::Instant;

use crate::support::fake_agent::FakeTurn;
use crate::support::fake_panel::{CAPABILITIES, FakeBrowser};
use crate::support::world::World;

/// A person sets the switches of a chat.
fn switches(browser: &FakeBrowser, on: &[&str]) {
    browser.send(json!({
        "type": "session.start", "sessionId": "sp-1", "capabilities": CAPABILITIES, "enabledHostTools": on,
    }));
}

/// The next card that asks for a yes.
async fn approval(browser: &mut FakeBrowser) -> UserAsk {
    let asks =
        |message: &Outbound| matches!(message, Outbound::UserAsk(ask) if ask.kind == AskKind::Approval);
    let Outbound::UserAsk(ask) = browser.until(asks).await else { unreachable!() };
    ask
}

/// A turn with these switches on.
async fn turn_with(world: &mut World, on: &[&str]) -> (FakeBrowser, FakeTurn) {
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    switches(&browser, on);
    browser.prompts("sp-1", "t1", "work");
    let turn = world.prompts.next().await;
    (browser, turn)
}

/// Waits until the host has taken in what was sent before.
async fn taken_in(browser: &mut FakeBrowser) {
    browser.send(json!({ "type": "provider.get", "requestId": "after" }));
    browser
        .until(|message| matches!(message, Outbound::ProviderGetResult(result) if result.request_id.as_deref() == Some("after")))
        .await;
}

#[tokio::test(start_paused = true)]
async fn tool_switched_off_in_the_midst_of_a_turn_is_refused_without_a_card() {
    let mut world = World::new();
    let (mut browser, mut turn) = turn_with(&mut world, &["bash", "grep"]).await;
    turn.asks("p1", "shell", Some("bash")).await;
    let card = approval(&mut browser).await;
    assert_eq!(card.tool.as_deref(), Some("bash"));
    browser
        .send(json!({ "type": "user.answer", "sessionId": "sp-1", "askId": card.ask_id, "answer": "allow" }));
    assert!(turn.reply().await.1.ok);
    switches(&browser, &["grep"]);
    taken_in(&mut browser).await;
    // What another tool may still ask for, this one may not: both read.
    for (id, kind) in [("p2", "shell"), ("p3", "read")] {
        turn.asks(id, kind, Some("bash")).await;
        let asked = Instant::now();
        let (answered, reply) = turn.reply().await;
        assert!(answered == id && !reply.ok && reply.text.contains("bash is switched off"), "{reply:?}");
        assert_eq!(asked.elapsed(), Duration::ZERO);
    }
    turn.asks("p4", "read", Some("grep")).await;
    let card = approval(&mut browser).await;
    assert_eq!(card.tool.as_deref(), Some("grep"));
    browser
        .send(json!({ "type": "user.answer", "sessionId": "sp-1", "askId": card.ask_id, "answer": "deny" }));
    assert!(!turn.reply().await.1.ok);
    // Switched on again, it may ask again.
    switches(&browser, &["bash"]);
    taken_in(&mut browser).await;
    turn.asks("p5", "shell", Some("bash")).await;
    assert_eq!(approval(&mut browser).await.tool.as_deref(), Some("bash"));
}

#[tokio::test(start_paused = true)]
async fn open_card_of_a_tool_that_is_switched_off_closes_as_refused() {
    let mut world = World::new();
    let (mut browser, mut turn) = turn_with(&mut world, &["bash", "grep"]).await;
    turn.asks("p1", "shell", Some("bash")).await;
    let card = approval(&mut browser).await;
    turn.asks("p2", "read", Some("grep")).await;
    let other = approval(&mut browser).await;
    let asked = Instant::now();
    switches(&browser, &["grep"]);
    let closed = browser.until(|message| matches!(message, Outbound::UserAskClosed(_))).await;
    let Outbound::UserAskClosed(closed) = closed else { unreachable!() };
    assert_eq!((closed.ask_id.clone(), closed.reason.as_str()), (card.ask_id.clone(), "refused"));
    let (id, reply) = turn.reply().await;
    assert!(id == "p1" && !reply.ok && reply.text.contains("bash is switched off"), "{reply:?}");
    assert_eq!(asked.elapsed(), Duration::ZERO);
    // A yes that comes after it opens nothing, and the other tool's card is still there.
    for ask in [card, other] {
        browser.send(
            json!({ "type": "user.answer", "sessionId": "sp-1", "askId": ask.ask_id, "answer": "allow" }),
        );
    }
    let (id, reply) = turn.reply().await;
    assert!(id == "p2" && reply.ok, "{reply:?}");
}
