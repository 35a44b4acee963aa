//! Many turns and calls at once, over links and models that misbehave: nothing hangs, nothing reaches the wrong chat.

use std::collections::HashSet;
use std::path::Path;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use browy::agent::{AgentError, AgentEvent};
use browy::logging::{RotatingFile, non_blocking, subscriber};
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

/// No character that anything escapes.
fn canary(panel: &str) -> String {
    format!("canary-of-{panel}-")
}

/// Fails when a text that is meant for `panel` carries what belongs to another.
fn is_its_own(panel: &str, text: &str) {
    for other in (0..PANELS).map(self::panel).filter(|other| other != panel) {
        assert!(!text.contains(&canary(&other)), "{panel} was given what belongs to {other}: {text}");
    }
}

/// Fails when a text carries what belongs to any chat.
fn is_nobodys(what: &str, text: &str) {
    for own in (0..PANELS).map(panel) {
        assert!(!text.contains(&canary(&own)), "{what} carries what belongs to {own}: {text}");
    }
}

/// What a picture holds, in words: what follows its head, if it has one.
fn seen_in(base64: &str) -> String {
    let text = String::from_utf8_lossy(&STANDARD.decode(base64).unwrap()).into_owned();
    text.rsplit(|sign: char| !sign.is_ascii_graphic()).next().unwrap_or_default().to_owned()
}

/// Plays the model's part: every carrier that there is takes the chat's canary along.
async fn play(turn: &mut FakeTurn, dice: &mut Dice) {
    let own = turn.chat.id.clone();
    is_its_own(&own, &turn.prompt.text);
    is_nobodys("the system message", &turn.chat.system_message);
    for image in &turn.prompt.images {
        is_its_own(&own, &seen_in(&image.base64));
    }
    turn.emit(AgentEvent::Reasoning { text: canary(&own) }).await;
    let (mut pictures, said) = (Vec::new(), canary(&own));
    let calls = [
        ("screenshot", json!({})),
        ("note_set", json!({ "key": said, "value": said })),
        ("list_tabs", json!({})),
        ("note_get", json!({ "key": said })),
        ("navigate", json!({ "url": said })),
        ("no_such_tool", json!({ "x": said })),
    ];
    for (tool, args) in calls {
        let reply = turn.calls(tool, args).await;
        is_its_own(&own, &reply.text);
        for image in &reply.images {
            is_its_own(&own, &seen_in(&image.base64));
            pictures.push(seen_in(&image.base64));
        }
    }
    assert_eq!(pictures, [canary(&own)], "the model sees its own picture");
    if dice.next(4) == 0 {
        let file = json!({ "name": format!("{own}.txt"), "content": canary(&own) });
        is_its_own(&own, &turn.calls("save_file", file).await.text);
    }
    turn.says("m", &format!("answer for {}", canary(&own))).await;
}

/// Fails when a file of a chat holds what belongs to another, or the log what belongs to anybody.
fn files_are_their_own(home: &Path) {
    let data = home.join(".browy/data");
    let json = |name: &str| -> serde_json::Map<String, Value> {
        serde_json::from_slice(&std::fs::read(data.join(name)).unwrap()).unwrap()
    };
    for (chat, record) in json("chats.json") {
        is_its_own(&chat, &record.to_string());
    }
    let notes = json("notes.json");
    assert!(!notes.is_empty());
    for (key, note) in notes {
        is_its_own(note["chat"].as_str().unwrap(), &format!("{key} {note}"));
    }
    let (mut files, mut folders) = (0, vec![home.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let text = String::from_utf8_lossy(&std::fs::read(&entry).unwrap()).into_owned();
            match entry.file_name().unwrap().to_str().unwrap() {
                "chats.json" | "notes.json" => {}
                name if name.starts_with("sp-") => is_its_own(name.trim_end_matches(".txt"), &text),
                // A picture is of one chat, whichever.
                name if name.ends_with(".jpg") => assert_eq!(text.matches("canary-of-").count(), 1, "{text}"),
                name => is_nobodys(name, &text),
            }
            files += 1;
        }
    }
    assert!(files > 5, "{files} files were looked at");
}

#[tokio::test(start_paused = true)]
async fn no_turn_of_three_panels_carries_anything_of_another() {
    let mut world = World::new();
    let log = world.home.path().join("host.log");
    let (writer, worker) = non_blocking(RotatingFile::new(&log, 1 << 30));
    let logging = tracing::subscriber::set_default(subscriber(writer, ""));
    let mut browser = world.browser().await;
    browser.hears_all();
    browser.behaves(Manner::Apart("canary-of-{}-"));
    for number in 0..PANELS {
        browser.open_panel(&panel(number)).await;
    }
    let (turns, seed) = (count("BROWY_TURNS", 100).min(2_000), seed());
    let mut dice = Dice(seed);
    let (mut sent, mut ended) = (0, 0);
    while ended < turns {
        // One to three prompts wait at a time, of any panels.
        while sent < turns && sent - ended < 1 + dice.next(3) {
            let panel = panel(dice.next(PANELS));
            let picture =
                json!({ "kind": "image", "mimeType": "image/png", "data": STANDARD.encode(canary(&panel)) });
            let text = json!({ "kind": "text", "name": canary(&panel), "text": canary(&panel) });
            browser.send(json!({
                "type": "chat.send", "sessionId": panel, "turnId": format!("t{sent}"),
                "text": format!("{} turn {sent}", canary(&panel)), "attachments": [picture, text],
            }));
            // What is no good in a message of one chat is no business of the others.
            let junk = [json!(canary(&panel)), json!({ canary(&panel): 1 }), json!([canary(&panel)])];
            let junk = &junk[usize::try_from(dice.next(3)).unwrap()];
            browser.send(json!({ "type": "cdp.event", "sessionId": panel, "tabId": junk, "method": junk }));
            sent += 1;
        }
        let mut turn = world.prompts.next().await;
        let own = turn.chat.id.clone();
        play(&mut turn, &mut dice).await;
        match dice.next(20) {
            // The backend vanishes in the middle, or quotes what it was told.
            0 => drop(turn),
            1 => turn.fails(AgentError::Model(format!("cannot do {}", canary(&own)))).await,
            _ => turn.ends().await,
        }
        browser.ending(&own).await;
        ended += 1;
    }
    browser.rest().await;
    for message in browser.heard() {
        let message = serde_json::to_value(&message).unwrap();
        match message["sessionId"].as_str() {
            Some(chat) => is_its_own(chat, &message.to_string()),
            None => is_nobodys("a message of no chat", &message.to_string()),
        }
    }
    drop(logging);
    drop(worker);
    let logged = std::fs::read_to_string(&log).unwrap();
    assert!(logged.contains("a message was dropped"), "the log was listened to: {logged}");
    files_are_their_own(world.home.path());
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
