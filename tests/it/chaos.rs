//! Many turns and calls at once, over links and models that misbehave: nothing hangs, nothing reaches the wrong chat.

use std::collections::HashSet;
use std::time::Duration;

use browy::protocol::Outbound;
use browy::runner::cli_tools::{CLI_TOOLS, PERMISSION_KINDS};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::support::dice::{Dice, count, seed};
use crate::support::fake_agent::FakeTurn;
use crate::support::fake_panel::Manner;
use crate::support::world::World;

/// Panels that talk at once.
const PANELS: u64 = 3;

fn panel(number: u64) -> String {
    format!("sp-{number}")
}

fn canary(panel: &str) -> String {
    format!("canary<{panel}>")
}

/// The chat that a message belongs to.
fn chat_of(message: &Outbound) -> Option<String> {
    let message = serde_json::to_value(message).unwrap();
    message["sessionId"].as_str().map(str::to_owned)
}

/// Fails when a text that is meant for `panel` carries what belongs to another.
fn is_its_own(panel: &str, text: &str) {
    for other in (0..PANELS).map(self::panel).filter(|other| other != panel) {
        assert!(!text.contains(&canary(&other)), "{panel} was given what belongs to {other}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_turn_of_three_panels_carries_anything_of_another() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    for number in 0..PANELS {
        browser.open_panel(&panel(number)).await;
    }
    let (turns, mut dice) = (count("BROWY_TURNS", 100), Dice(seed()));
    let (mut sent, mut ended) = (0, 0);
    while ended < turns {
        // One to three prompts wait at a time, of any panels.
        while sent < turns && sent - ended < 1 + dice.next(3) {
            let panel = panel(dice.next(PANELS));
            let words = format!("{} turn {sent}", canary(&panel));
            browser.prompts(&panel, &format!("t{sent}"), &words);
            sent += 1;
        }
        let mut turn = world.prompts.next().await;
        let own = turn.chat.id.clone();
        is_its_own(&own, &turn.prompt.text);
        is_its_own(&own, &turn.chat.system_message);
        let reply = turn.calls("note_get", json!({ "key": canary(&own) })).await;
        is_its_own(&own, &reply.text);
        turn.says("m", &format!("answer for {}", canary(&own))).await;
        if dice.next(10) == 0 {
            // The backend vanishes in the middle.
            drop(turn);
        } else {
            turn.ends().await;
        }
        browser.ending(&own).await;
        ended += 1;
    }
    for message in browser.rest().await {
        let Some(chat) = chat_of(&message) else { continue };
        is_its_own(&chat, &format!("{message:?}"));
    }
}

/// The answers of a turn's calls, in any order.
async fn answers(turn: &mut FakeTurn, calls: u64) -> Vec<String> {
    let mut texts = Vec::new();
    for _ in 0..calls {
        texts.push(turn.reply().await.1.text);
    }
    texts
}

#[tokio::test(start_paused = true)]
async fn answers_that_are_lost_doubled_late_or_misdirected_hang_and_mislead_nobody() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    for number in 0..PANELS {
        browser.open_panel(&panel(number)).await;
    }
    let seed = seed();
    let mut dice = Dice(seed);
    browser.behaves(Manner::Badly(Dice(seed)));
    let calls = count("BROWY_CALLS", 1_000);
    let (mut made, mut told, mut seen) = (0, 0, HashSet::new());
    while made < calls {
        let own = panel(dice.next(PANELS));
        browser.prompts(&own, &format!("t{made}"), "work");
        let mut turn = world.prompts.next().await;
        for _ in 0..4 {
            let at_once = 1 + dice.next(6);
            for number in 0..at_once {
                turn.begins_call(&format!("{made}-{number}"), "list_tabs", json!({})).await;
            }
            made += at_once;
            for text in answers(&mut turn, at_once).await {
                let Ok(listed) = serde_json::from_str::<Value>(&text) else { continue };
                let Some(title) = listed["tabs"][0]["title"].as_str() else { continue };
                assert!(title.starts_with(&format!("{own} ")), "seed {seed}: {own} was told {title}");
                assert!(seen.insert(title.to_owned()), "seed {seed}: {title} answered two calls");
                told += 1;
            }
        }
        turn.says("m", "done").await;
        turn.ends().await;
        browser.ending(&own).await;
    }
    assert!(told > made / 4, "seed {seed}: only {told} of {made} calls were answered");
}

#[tokio::test(start_paused = true)]
async fn lying_backend_gets_nothing_done() {
    let mut world = World::new();
    let browser = world.browser().await;
    let all: Vec<&str> = browy::tools::all().map(|tool| tool.spec().name).collect();
    browser.send(json!({
        "type": "session.start", "sessionId": "sp-0", "capabilities": [], "disabledTools": all,
    }));
    browser.prompts("sp-0", "t", "work");
    let mut turn = world.prompts.next().await;
    browser.answers(false);
    let offered: HashSet<String> = turn.chat.tools.iter().map(|tool| tool.name.clone()).collect();
    let own = CLI_TOOLS.iter().map(|tool| tool.name).chain(["run_script", "", "../x"]);
    for name in all.iter().copied().chain(own.clone()).filter(|name| !offered.contains(*name)) {
        let reply = turn.calls(name, json!({ "index": 1, "url": "https://x.test/", "command": "id" })).await;
        assert!(!reply.ok, "{name}: {reply:?}");
    }
    for kind in PERMISSION_KINDS.iter().copied().chain(["", "brought by a later CLI"]) {
        for tool in own.clone().map(Some).chain([None]) {
            // That a call of our own tool comes to the host is granted; there it is refused, as above.
            if kind == "custom-tool" && tool.is_some_and(|tool| all.contains(&tool)) {
                continue;
            }
            turn.asks("p", kind, tool).await;
            let asked = Instant::now();
            let (id, reply) = turn.reply().await;
            assert!(id == "p" && !reply.ok, "{kind} for {tool:?}: {reply:?}");
            assert_eq!(asked.elapsed(), Duration::ZERO, "{kind} for {tool:?}: somebody was asked");
        }
    }
    assert!(!browser.was_asked());
    assert!(!world.home.path().join(".browy/data/notes.json").exists());
}
