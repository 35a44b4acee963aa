//! The whole host — runner, agent, the real CLI — between a panel and a scripted model.

use std::sync::Arc;
use std::time::Duration;

use browy::agent::prompt::SYSTEM_PROMPT;
use browy::agent::{AgentBackend, Entry};
use browy::config::Config;
use browy::paths::Paths;
use browy::protocol::{ChatHistoryResult, ErrorCode, HistoryMessage, Outbound};
use browy::runner::Runner;
use serde_json::{Value, json};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::support::copilot::*;
use crate::support::fake_panel::FakeBrowser;
use crate::support::model_server::{ModelServer, Step, offered, said};

/// A running host.
struct Host {
    backend: Arc<dyn AgentBackend>,
    browser: FakeBrowser,
    tasks: JoinSet<()>,
}

impl Host {
    async fn start(home: &Home, config: Config) -> Self {
        let backend = home.start(config.clone());
        let (runner, handle) = Runner::new(Arc::clone(&backend), Paths::below(home.path()), config);
        let mut tasks = JoinSet::new();
        tasks.spawn(runner.run(CancellationToken::new()));
        let mut browser = FakeBrowser::connect(&handle, &mut tasks).await;
        browser.open_panel("sp-1").await;
        Self { backend, browser, tasks }
    }

    /// A person sends a message; gives the answer.
    async fn says(&mut self, turn: &str, words: &str) -> String {
        self.browser.prompts("sp-1", turn, words);
        match self.browser.ending("sp-1").await {
            Outbound::ChatDone(done) => done.text,
            other => panic!("{other:?}"),
        }
    }

    async fn history(&mut self, before: Option<&str>) -> ChatHistoryResult {
        self.browser.send(json!({ "type": "chat.history", "id": "sp-1", "before": before }));
        let answer = self.browser.until(|message| matches!(message, Outbound::ChatHistoryResult(_))).await;
        let Outbound::ChatHistoryResult(page) = answer else { unreachable!() };
        page
    }

    async fn ends(mut self) {
        self.tasks.shutdown().await;
        self.backend.shutdown(Duration::from_secs(1)).await;
    }
}

/// Fails unless the model got Browy's own system prompt, and nothing beside it, and the tools that it is told of first.
fn has_the_system_prompt(request: &Value) {
    let got = said(request, "system");
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].as_bytes(), SYSTEM_PROMPT.as_bytes());
    let default = browy::tools::policy::ToolPolicy::default();
    let first = |name: &&str| browy::tools::first::is_first(name);
    let mut wanted: Vec<_> = default.allowed().map(|tool| tool.spec().name).filter(first).collect();
    let mut names = offered(request);
    wanted.sort_unstable();
    names.sort_unstable();
    assert_eq!(names, wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn system_prompt_reaches_the_model_in_a_new_chat_and_in_a_resumed_one() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::scripted([Step::text("one"), Step::text("two"), Step::text("three")]).await;
        let mut host = Host::start(&home, with_model(&model.url)).await;
        assert_eq!(host.says("t1", "first").await, "one");
        has_the_system_prompt(&model.last());
        assert_eq!(host.says("t2", "second").await, "two");
        has_the_system_prompt(&model.last());
        host.ends().await;

        let mut host = Host::start(&home, with_model(&model.url)).await;
        assert_eq!(host.says("t3", "third").await, "three");
        has_the_system_prompt(&model.last());
        assert_eq!(said(&model.last(), "assistant"), ["one", "two"], "it is the same chat");
        host.ends().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn message_that_is_too_long_is_told_so_and_the_chat_goes_on() {
    let home = Home::full();
    let model = ModelServer::responding(|_| Step::text("read")).await;
    let mut host = Host::start(&home, with_model(&model.url)).await;
    // What the model's window takes arrives whole.
    let fits = format!("begin {} end", "long words, ".repeat(25_000));
    assert_eq!(host.says("t1", &fits).await, "read");
    assert!(said(&model.last(), "user")[0].contains(&fits), "the model did not get all of it");
    // Four MiB do not; that costs the message and nothing else.
    let words = format!("begin {} end", "long words, ".repeat(350_000));
    host.browser.prompts("sp-1", "t2", &words);
    let ending = host.browser.ending("sp-1").await;
    let Outbound::ChatError(error) = &ending else { panic!("{ending:?}") };
    assert!(error.code == ErrorCode::Model && error.message.contains("Send less of it"), "{error:?}");
    assert_eq!(host.says("t3", "and now?").await, "read");
    // Its line in the transcript says how long it was, and every page fits a frame.
    let (mut before, mut texts) = (None, Vec::new());
    loop {
        let page = host.history(before.as_deref()).await;
        let text = |message: &HistoryMessage| match message {
            HistoryMessage::User { text, .. } | HistoryMessage::Assistant { text, .. } => text.clone(),
            HistoryMessage::Tool { name, .. } => name.clone(),
        };
        texts.splice(0..0, page.messages.iter().map(text));
        before = page.cursor;
        if before.is_none() {
            break;
        }
    }
    let begins: Vec<_> = texts.iter().map(|text| text.get(..5).unwrap_or(text)).collect();
    assert_eq!(begins, ["begin", "read", "begin", "and n", "read"]);
    assert!(texts[0] == fits && texts[2].ends_with(&format!("[shortened: {} bytes in all]", words.len())));
    host.ends().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_that_is_deleted_while_it_answers_is_gone_for_good() {
    let home = Home::full();
    let gate = Arc::new(Notify::new());
    let model = ModelServer::scripted([Step::text("one"), Step::text("half an answer").gated(&gate)]).await;
    let mut host = Host::start(&home, with_model(&model.url)).await;
    host.says("t1", "first").await;
    host.browser.prompts("sp-1", "t2", "second");
    model.asked(2).await;
    host.browser.send(json!({ "type": "chat.delete", "id": "sp-1" }));
    let ending = host.browser.ending("sp-1").await;
    assert!(matches!(ending, Outbound::ChatError(error) if error.code == ErrorCode::Aborted));
    let answer = host.browser.until(|message| matches!(message, Outbound::ChatDeleteResult(_))).await;
    assert!(matches!(answer, Outbound::ChatDeleteResult(deleted) if deleted.ok));
    gate.notify_one();
    host.ends().await;
    assert!(!home.path().join("copilot/session-state/sp-1").exists(), "the CLI wrote it again as it ended");
    let index = std::fs::read_to_string(home.path().join(".browy/data/chats.json")).unwrap();
    assert!(!index.contains("sp-1"), "{index}");

    let mut host = Host::start(&home, with_model(&model.url)).await;
    host.browser.send(json!({ "type": "chat.list" }));
    let listed = host.browser.until(|message| matches!(message, Outbound::ChatListResult(_))).await;
    assert!(matches!(&listed, Outbound::ChatListResult(list) if list.chats.is_empty()), "{listed:?}");
    assert!(host.history(None).await.messages.is_empty());
    host.ends().await;
}

/// Puts `count` more turns into a chat on the disk, as the CLI writes them.
fn lengthen(home: &Home, id: &str, count: usize) {
    let file = home.path().join(format!("copilot/session-state/{id}/events.jsonl"));
    let text = std::fs::read_to_string(&file).unwrap();
    let events: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let like = |kind: &str| events.iter().find(|event| event["type"] == kind).unwrap().clone();
    let (user, assistant) = (like("user.message"), like("assistant.message"));
    let mut parent = events.last().unwrap()["id"].clone();
    let mut longer = text.clone();
    for number in 0..count {
        for (mut event, who) in [(user.clone(), "question"), (assistant.clone(), "answer")] {
            let words = json!(format!("{who} {number}"));
            event["id"] = json!(uuid::Uuid::new_v4().to_string());
            event["parentId"] = std::mem::replace(&mut parent, event["id"].clone());
            event["data"]["content"] = words.clone();
            event["data"]["messageId"] = json!(uuid::Uuid::new_v4().to_string());
            if who == "question" {
                event["data"]["transformedContent"] = words;
            }
            longer.push_str(&event.to_string());
            longer.push('\n');
        }
    }
    std::fs::write(file, longer).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_of_several_thousand_messages_is_read_and_goes_on() {
    const TURNS: usize = 2_500;
    let home = Home::full();
    let model = ModelServer::scripted([Step::text("one"), Step::text("two")]).await;
    let mut host = Host::start(&home, with_model(&model.url)).await;
    host.says("t1", "first").await;
    host.ends().await;
    lengthen(&home, "sp-1", TURNS);

    let mut host = Host::start(&home, with_model(&model.url)).await;
    let newest = host.history(None).await;
    assert_eq!((newest.messages.len(), newest.has_more), (200, Some(true)));
    let oldest = host.backend.history("sp-1", Some(3), 100).await.unwrap();
    let texts: Vec<_> = oldest
        .entries
        .iter()
        .map(|entry| match entry {
            Entry::User { text, .. } | Entry::Assistant { text, .. } => text.as_str(),
            Entry::Tool { name, .. } => name,
        })
        .collect();
    assert_eq!((oldest.older, texts), (0, vec!["first", "one", "question 0"]));
    assert_eq!(host.says("t2", "and now").await, "two");
    let request = model.last();
    assert!(
        said(&request, "assistant").contains(&format!("answer {}", TURNS - 1)),
        "the chat was not resumed"
    );
    let page = host.history(None).await;
    let HistoryMessage::Assistant { text, .. } = &page.messages[199] else { panic!() };
    assert_eq!((text.as_str(), page.cursor), ("two", Some((2 * TURNS + 4 - 200).to_string())));
    host.ends().await;
}
