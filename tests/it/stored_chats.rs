//! Stored chats: listed at once, named, deleted, cleaned up, and known when their last turn was cut off.

use browy::agent::{AgentError, AgentEvent, UsageReport};
use browy::data::chats::{ChatRecord, Records};
use browy::protocol::{ChatInfo, Outbound};
use serde_json::json;
use tempfile::TempDir;

use crate::support::fake_agent::FakeAgent;
use crate::support::fake_panel::FakeBrowser;
use crate::support::world::World;

const DAY: u64 = 24 * 60 * 60 * 1000;

async fn listed(browser: &mut FakeBrowser) -> Vec<ChatInfo> {
    browser.send(json!({ "type": "chat.list", "requestId": "list" }));
    let answer = browser.until(|message| matches!(message, Outbound::ChatListResult(_))).await;
    let Outbound::ChatListResult(answer) = answer else { unreachable!() };
    assert_eq!(answer.request_id.as_deref(), Some("list"));
    answer.chats
}

fn titles(chats: &[ChatInfo]) -> Vec<(&str, &str)> {
    chats.iter().map(|chat| (chat.id.as_str(), chat.summary.as_deref().unwrap_or_default())).collect()
}

async fn one_turn(world: &mut World, browser: &mut FakeBrowser, session: &str, words: &str) {
    browser.prompts(session, words, words);
    let turn = world.prompts.next().await;
    turn.says("m", "done").await;
    turn.ends().await;
    browser.ending(session).await;
}

fn index(home: &TempDir) -> std::path::PathBuf {
    home.path().join(".browy/data/chats.json")
}

fn write_index(home: &TempDir, records: &Records) {
    std::fs::create_dir_all(index(home).parent().unwrap()).unwrap();
    std::fs::write(index(home), serde_json::to_vec(records).unwrap()).unwrap();
}

#[tokio::test(start_paused = true)]
async fn chats_are_listed_named_and_deleted() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    world.agent.stores("sp-foreign", 5, false);
    assert_eq!(titles(&listed(&mut browser).await), [("sp-foreign", "words of sp-foreign")]);
    browser.open_panel("sp-1").await;
    one_turn(&mut world, &mut browser, "sp-1", "Find  the\npaper").await;
    world.agent.stores("sp-1", 9, true);
    let chats = listed(&mut browser).await;
    assert_eq!(titles(&chats), [("sp-1", "Find the paper"), ("sp-foreign", "words of sp-foreign")]);
    assert!(!chats[0].interrupted);

    for (id, title, ok) in [("sp-1", "My paper", true), ("sp-1", " ", false), ("sp-none", "x", false)] {
        browser.send(json!({ "type": "chat.rename", "id": id, "title": title }));
        let answer = browser.until(|message| matches!(message, Outbound::ChatRenameResult(_))).await;
        assert!(matches!(answer, Outbound::ChatRenameResult(renamed) if renamed.ok == ok), "{id} {title:?}");
    }
    one_turn(&mut world, &mut browser, "sp-1", "and now").await;
    assert_eq!(titles(&listed(&mut browser).await)[0], ("sp-1", "My paper"));

    browser.send(json!({ "type": "chat.delete", "id": "sp-1" }));
    let answer = browser.until(|message| matches!(message, Outbound::ChatDeleteResult(_))).await;
    assert!(matches!(answer, Outbound::ChatDeleteResult(deleted) if deleted.ok));
    assert_eq!(titles(&listed(&mut browser).await), [("sp-foreign", "words of sp-foreign")]);
}

#[tokio::test(start_paused = true)]
async fn known_chats_are_listed_while_the_cli_is_still_starting() {
    let mut world = World::new();
    world.agent.is_starting();
    let records =
        (0..500).map(|n| (format!("sp-{n}"), ChatRecord { modified: n, ..ChatRecord::default() })).collect();
    write_index(&world.home, &records);
    let mut browser = world.browser().await;
    let chats = listed(&mut browser).await;
    assert_eq!((chats.len(), chats[0].id.as_str()), (500, "sp-499"));
}

#[tokio::test(start_paused = true)]
async fn reading_a_chat_does_not_change_its_date() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    for (id, date) in [("sp-old", 5), ("sp-new", 6)] {
        world.agent.stores(id, date, true);
    }
    listed(&mut browser).await;
    // The CLI's own date moves when a transcript is read.
    world.agent.stored.send_modify(|stored| stored[0].modified_time = 7);
    let chats = listed(&mut browser).await;
    assert_eq!((chats[0].id.as_str(), chats[1].modified_time), ("sp-new", 5));
}

#[tokio::test(start_paused = true)]
async fn turn_that_was_cut_off_is_shown_and_the_next_one_is_told() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t1", "work");
    world.prompts.next().await.fails(AgentError::Interrupted("gone".to_owned())).await;
    browser.ending("sp-1").await;
    world.agent.stores("sp-1", 9, true);
    assert!(listed(&mut browser).await[0].interrupted);

    browser.prompts("sp-1", "t2", "go on");
    let turn = world.prompts.next().await;
    assert!(turn.prompt.text.contains("interrupted"), "{}", turn.prompt.text);
    turn.says("m", "half").await;
    browser.until(|message| matches!(message, Outbound::ChatDelta(_))).await;
    let home = world.killed().await;
    // The process that ran the turn is gone.
    let text = std::fs::read_to_string(index(&home)).unwrap();
    let dead = text.replace(&format!("\"running\": {}", std::process::id()), "\"running\": 2147483647");
    assert_ne!(dead, text);
    std::fs::write(index(&home), dead).unwrap();

    let mut world = World::in_home(home, FakeAgent::ready());
    world.agent.stores("sp-1", 9, true);
    let mut browser = world.browser().await;
    assert!(listed(&mut browser).await[0].interrupted);
    browser.open_panel("sp-1").await;
    browser.prompts("sp-1", "t3", "go on");
    let turn = world.prompts.next().await;
    assert!(turn.prompt.text.contains("outcome of its last action is unknown"), "{}", turn.prompt.text);
    turn.says("m", "done").await;
    turn.ends().await;
    browser.ending("sp-1").await;
    assert!(!listed(&mut browser).await[0].interrupted);
    browser.prompts("sp-1", "t4", "go on");
    let turn = world.prompts.next().await;
    assert!(!turn.prompt.text.contains("unknown"), "{}", turn.prompt.text);
}

#[tokio::test(start_paused = true)]
async fn turn_that_lost_its_panel_or_its_browser_is_shown_and_the_next_one_is_told() {
    let mut world = World::new();
    let mut stays = world.browser().await;
    for browser_ends in [false, true] {
        let chat = format!("sp-{browser_ends}");
        let mut browser = world.browser().await;
        browser.open_panel(&chat).await;
        browser.prompts(&chat, "t1", "work");
        let turn = world.prompts.next().await;
        if browser_ends {
            browser.closes();
        } else {
            browser.send(json!({ "type": "session.end", "sessionId": chat }));
        }
        turn.aborted().await;
        drop(turn);
        world.agent.stores(&chat, 9, true);
        stays.open_panel(&chat).await;
        // The next prompt starts when the turn before is over, so the list comes after it too.
        stays.prompts(&chat, "t2", "go on");
        let turn = world.prompts.next().await;
        assert!(turn.prompt.text.contains("outcome of its last action is unknown"), "{}", turn.prompt.text);
        drop(turn);
        stays.ending(&chat).await;
        assert!(listed(&mut stays).await.iter().any(|row| row.id.as_str() == chat && row.interrupted));
    }
}

#[tokio::test(start_paused = true)]
async fn damaged_list_is_kept_aside_and_made_anew() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    one_turn(&mut world, &mut browser, "sp-1", "Find the paper").await;
    world.agent.stores("sp-1", 9, true);
    let damaged = &std::fs::read(index(&world.home)).unwrap()[..30];
    std::fs::write(index(&world.home), damaged).unwrap();
    assert_eq!(titles(&listed(&mut browser).await), [("sp-1", "words of sp-1")]);
    let folder = index(&world.home).parent().unwrap().to_owned();
    let mut aside = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let aside = aside.find(|path| path.to_string_lossy().contains("chats.json.corrupt-")).unwrap();
    assert_eq!(std::fs::read(aside).unwrap(), damaged);
}

#[tokio::test(start_paused = true)]
async fn costs_are_told_per_turn_and_added_up_per_chat() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    for number in 1..=2 {
        browser.prompts("sp-1", "t", "work");
        let turn = world.prompts.next().await;
        let usage = UsageReport {
            input_tokens: 100,
            output_tokens: 7,
            cost: Some(0.25),
            context_used: Some(90),
            context_limit: Some(1_000),
        };
        turn.emit(AgentEvent::Usage(usage)).await;
        turn.says("m", "done").await;
        turn.ends().await;
        let Outbound::ChatDone(done) = browser.ending("sp-1").await else { panic!("no answer") };
        let spent = done.usage.unwrap();
        assert_eq!((spent.input_tokens, spent.output_tokens, spent.context_used), (100, 7, Some(90)));
        world.agent.stored.send_modify(Vec::clear);
        world.agent.stores("sp-1", 9, true);
        let total = listed(&mut browser).await.remove(0).usage.unwrap();
        assert_eq!((total.input_tokens, total.output_tokens), (100 * number, 7 * number));
    }
}

#[tokio::test(start_paused = true)]
async fn only_old_chats_that_are_surely_browys_are_cleaned_up() {
    let home = tempfile::tempdir().unwrap();
    let now = browy::data::now();
    let record =
        |age: u64, ours: bool| ChatRecord { modified: now - age * DAY, ours, ..ChatRecord::default() };
    let mut records: Records = (0..100).map(|n| (format!("sp-new-{n}"), record(1, true))).collect();
    let old = [("sp-old", true, true), ("sp-quoted", true, false), ("sp-foreign", false, true)];
    for (id, ours, _) in old {
        records.insert(id.to_owned(), record(40, ours));
    }
    write_index(&home, &records);
    let (agent, prompts, deletions) = FakeAgent::ready();
    for id in records.keys().filter(|id| id.starts_with("sp-new")) {
        agent.stores(id, now, true);
    }
    for (id, _, surely) in old {
        agent.stores(id, now - 40 * DAY, surely);
    }
    // A chat of the person's own, of which the index knows nothing.
    agent.stores("my-own", 5, false);
    let mut world = World::in_home(home, (agent, prompts, deletions));
    let mut browser = world.browser().await;
    assert_eq!(world.deletions.recv().await.as_deref(), Some("sp-old"));
    let chats = listed(&mut browser).await;
    assert_eq!(chats.len(), 103);
    assert!(world.deletions.is_empty());
}
