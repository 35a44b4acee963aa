//! Cards that ask the person before something reaches the computer: bound to one call, and no without a yes.

use std::time::Duration;

use browy::agent::AgentEvent;
use browy::protocol::{AskKind, Outbound, UserAsk};
use serde_json::json;
use tokio::time::Instant;

use crate::support::fake_agent::FakeTurn;
use crate::support::fake_panel::{CAPABILITIES, FakeBrowser};
use crate::support::world::World;

/// Opens a panel whose person has switched on that the CLI may run commands.
fn opens(browser: &FakeBrowser, session: &str) {
    browser.send(json!({
        "type": "session.start", "sessionId": session, "capabilities": CAPABILITIES, "enabledHostTools": ["bash"],
    }));
}

async fn turn(world: &mut World, browser: &FakeBrowser, session: &str) -> FakeTurn {
    opens(browser, session);
    browser.prompts(session, "t", "work");
    world.prompts.next().await
}

/// The CLI wants to run a command.
async fn wants(turn: &FakeTurn, id: &str, command: &str) {
    let detail = json!({ "kind": "shell", "fullCommandText": command });
    let (id, kind, tool) = (id.to_owned(), "shell".to_owned(), Some("bash".to_owned()));
    turn.emit(AgentEvent::Permission { id, kind, tool, detail }).await;
}

async fn card(browser: &mut FakeBrowser) -> UserAsk {
    let Outbound::UserAsk(ask) = browser.until(|message| matches!(message, Outbound::UserAsk(_))).await
    else {
        unreachable!()
    };
    assert_eq!(ask.kind, AskKind::Approval);
    ask
}

fn answers(browser: &FakeBrowser, ask: &UserAsk, answer: &str) {
    browser.send(json!({
        "type": "user.answer", "sessionId": ask.session_id, "askId": ask.ask_id, "answer": answer,
    }));
}

#[tokio::test(start_paused = true)]
async fn two_at_once_are_both_asked_and_each_gets_its_own_answer() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    let mut turn = turn(&mut world, &browser, "sp-1").await;
    wants(&turn, "one", "first --command").await;
    wants(&turn, "two", "second --command").await;
    let cards = [card(&mut browser).await, card(&mut browser).await];
    let of = |command: &str| {
        let says = |ask: &&UserAsk| serde_json::to_string(ask).unwrap().contains(command);
        cards.iter().find(says).unwrap_or_else(|| panic!("no card for {command}: {cards:?}"))
    };
    // The later one first; and a second answer to the same card is none to the other.
    answers(&browser, of("second --command"), "allow");
    answers(&browser, of("second --command"), "allow");
    let (id, reply) = turn.reply().await;
    assert_eq!((id.as_str(), reply.ok), ("two", true));
    answers(&browser, of("first --command"), "deny");
    let (id, reply) = turn.reply().await;
    assert_eq!((id.as_str(), reply.ok), ("one", false));
}

#[tokio::test(start_paused = true)]
async fn without_an_answer_it_is_no_after_two_minutes_and_that_is_said() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    let mut turn = turn(&mut world, &browser, "sp-1").await;
    let asked = Instant::now();
    wants(&turn, "one", "id").await;
    let ask = card(&mut browser).await;
    let (id, reply) = turn.reply().await;
    assert_eq!((id.as_str(), reply.ok, asked.elapsed().as_secs()), ("one", false, 120));
    assert!(!reply.text.is_empty(), "the model is told why");
    let closed = browser.until(|message| matches!(message, Outbound::UserAskClosed(_))).await;
    assert!(
        matches!(closed, Outbound::UserAskClosed(closed) if closed.ask_id == ask.ask_id && closed.reason == "expired")
    );
    // A yes that comes later is a yes to nothing.
    answers(&browser, &ask, "allow");
    wants(&turn, "two", "id").await;
    assert_ne!(card(&mut browser).await.ask_id, ask.ask_id);
    let (id, reply) = turn.reply().await;
    assert_eq!((id.as_str(), reply.ok), ("two", false));
}

#[tokio::test(start_paused = true)]
async fn closed_panel_allows_nothing_and_an_old_card_is_good_for_nothing() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    let mut first = turn(&mut world, &browser, "sp-1").await;
    wants(&first, "one", "id").await;
    let old = card(&mut browser).await;
    browser.send(json!({ "type": "session.end", "sessionId": "sp-1" }));
    first.aborted().await;
    assert!(!first.was_allowed(), "nobody said yes");
    drop(first);
    let mut second = turn(&mut world, &browser, "sp-1").await;
    wants(&second, "one", "id").await;
    let new = card(&mut browser).await;
    assert_ne!(new.ask_id, old.ask_id);
    answers(&browser, &old, "allow");
    answers(&browser, &new, "deny");
    let (id, reply) = second.reply().await;
    assert_eq!((id.as_str(), reply.ok), ("one", false));
}

#[tokio::test(start_paused = true)]
async fn panel_that_comes_back_is_asked_again_for_the_time_that_is_left() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    let mut turn = turn(&mut world, &browser, "sp-1").await;
    wants(&turn, "one", "id").await;
    let before = card(&mut browser).await;
    assert_eq!(before.expires_ms, Some(120_000));
    tokio::time::sleep(Duration::from_secs(50)).await;
    opens(&browser, "sp-1");
    let again = card(&mut browser).await;
    assert_eq!((&again.ask_id, again.expires_ms), (&before.ask_id, Some(70_000)));
    answers(&browser, &again, "allow");
    let (id, reply) = turn.reply().await;
    assert_eq!((id.as_str(), reply.ok), ("one", true));
    // What is answered is not asked again.
    opens(&browser, "sp-1");
    turn.ends().await;
    browser.ending("sp-1").await;
    assert!(!browser.rest().await.iter().any(|message| matches!(message, Outbound::UserAsk(_))));
}

#[tokio::test(start_paused = true)]
async fn a_permission_of_the_backend_is_denied_unless_its_tools_were_switched_on() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "work");
    let mut turn = world.prompts.next().await;
    for kind in ["shell", "write", "read", "url", "mcp", "memory", "something-new"] {
        turn.asks(kind, kind, None).await;
        let (id, reply) = turn.reply().await;
        assert_eq!((id.as_str(), reply.ok), (kind, false));
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_of_the_backend_that_is_on_opens_no_door_to_the_others() {
    const KINDS: [&str; 8] = ["shell", "write", "read", "url", "mcp", "memory", "hook", "something-new"];
    let switches: [(&str, &[&str]); 7] = [
        ("grep", &["read"]),
        ("glob", &["read"]),
        ("view", &["read"]),
        ("web_fetch", &["url"]),
        ("write_file", &["write", "read"]),
        ("bash", &["shell", "write", "read", "url"]),
        ("no_such_tool", &[]),
    ];
    let mut world = World::new();
    let mut browser = world.browser().await;
    for (at, (switch, asks)) in switches.into_iter().enumerate() {
        let session = format!("sp-{at}");
        browser.open_panel(&session).await;
        browser.send(json!({
            "type": "session.start", "sessionId": session, "capabilities": CAPABILITIES, "enabledHostTools": [switch],
        }));
        browser.prompts(&session, &format!("t{at}"), "work");
        let mut turn = world.prompts.next().await;
        for kind in KINDS {
            turn.asks(kind, kind, None).await;
            if !asks.contains(&kind) {
                // Refused at once: a card would wait two minutes for its answer.
                let asked = Instant::now();
                let (id, reply) = turn.reply().await;
                assert_eq!((id.as_str(), reply.ok), (kind, false), "{switch}");
                assert_eq!(asked.elapsed(), Duration::ZERO, "{switch} {kind}");
                continue;
            }
            let ask = card(&mut browser).await;
            browser.send(json!({
                "type": "user.answer", "sessionId": session, "askId": ask.ask_id, "answer": "allow",
            }));
            let (id, reply) = turn.reply().await;
            assert_eq!((id.as_str(), reply.ok), (kind, true), "{switch}");
            // A yes is for one call: the next one asks anew, and without an answer it is refused.
            turn.asks(kind, kind, None).await;
            assert_ne!(card(&mut browser).await.ask_id, ask.ask_id);
            let (id, reply) = turn.reply().await;
            assert_eq!((id.as_str(), reply.ok), (kind, false), "{switch}");
        }
        turn.ends().await;
        browser.ending(&session).await;
    }
}
