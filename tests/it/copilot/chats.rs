//! Stored chats: created once, resumed, changed, listed, read, deleted.

use std::time::Duration;

use browy::agent::{AgentError, AuthState, Ending, Entry, ImageData, Prompt, ToolReply};
use browy::config::Config;
use serde_json::json;

use crate::support::copilot::*;
use crate::support::model_server::{ModelServer, Step, offered, said};

/// A picture of one pixel.
const PIXEL: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII=";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_goes_on_after_a_restart_with_everything_sent_anew() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::scripted([Step::text("first answer"), Step::text("second answer")]).await;
        let backend = home.start(with_model(&model.url));
        finish(backend.prompt(chat("sp-go", &["look"]), prompt("first")).await.unwrap()).await;
        backend.shutdown(Duration::from_secs(1)).await;

        let backend = home.start(with_model(&model.url));
        let mut other = chat("sp-go", &["touch"]);
        other.system_message = "Another system message.".into();
        finish(backend.prompt(other, prompt("second")).await.unwrap()).await;
        let request = model.last();
        assert_eq!(said(&request, "system"), ["Another system message."]);
        assert_eq!(said(&request, "assistant"), ["first answer"]);
        assert_eq!(said(&request, "user").len(), 2);
        assert_eq!(offered(&request), ["touch"]);
        // A second session.start in the transcript would mean that the chat was created over the old one.
        let transcript = home.path().join("copilot/session-state/sp-go/events.jsonl");
        let transcript = std::fs::read_to_string(transcript).unwrap();
        assert_eq!(transcript.matches(r#""type":"session.start""#).count(), 1);
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_reach_an_open_chat_with_the_next_prompt() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::scripted([]).await;
        let backend = home.start(with_model(&model.url));
        finish(backend.prompt(chat("sp-change", &["look", "touch"]), prompt("first")).await.unwrap()).await;
        assert_eq!(offered(&model.last()), ["look", "touch"]);
        let mut other = chat("sp-change", &["touch", "read_file"]);
        other.system_message = "Changed.".into();
        other.reasoning_effort = Some("high".into());
        model.then([Step::call("look", json!({}))]);
        let outcome = finish(backend.prompt(other.clone(), prompt("second")).await.unwrap()).await;
        assert_eq!(outcome.ending, Ending::Done);
        let request = model.last();
        let mut names = offered(&request);
        names.sort_unstable();
        assert_eq!(names, ["read_file", "touch"]);
        assert_eq!(said(&request, "system"), ["Changed."]);
        assert_eq!(request["reasoning_effort"], "high");
        assert_eq!(said(&request, "user").len(), 2, "the chat goes on");
        assert!(said(&request, "tool")[0].contains("does not exist"), "{request}");
        // The same tool of the new list is called as before.
        model.then([Step::call("read_file", json!({"x": "y"}))]);
        let turn = backend.prompt(other, prompt("third")).await.unwrap();
        finish_with(turn, |name, _| done(format!("ours: {name}"))).await;
        assert_eq!(said(&model.last(), "tool").last().unwrap(), "ours: read_file");
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_provider_gets_the_next_prompt_of_an_open_chat() {
    let home = Home::full();
    let (one, two) = (ModelServer::scripted([]).await, ModelServer::scripted([]).await);
    let backend = home.start(with_model(&one.url));
    finish(backend.prompt(chat("sp-move", &["look"]), prompt("first")).await.unwrap()).await;
    let before = one.requests().len();
    backend.configure(&with_model(&two.url)).unwrap();
    let outcome = finish(backend.prompt(chat("sp-move", &["look"]), prompt("second")).await.unwrap()).await;
    assert_eq!(outcome.ending, Ending::Done);
    assert_eq!(one.requests().len(), before);
    assert_eq!(said(&two.last(), "user").len(), 2, "the chat goes on");
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chats_are_listed_read_and_deleted() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::scripted([Step::text("Calling.").and_call("look", json!({}))]).await;
        let backend = home.start(with_model(&model.url));
        let asked = Prompt {
            text: "Find <page_snapshot> please\n\n<page_snapshot>\n[1]<a>\n</page_snapshot>".into(),
            display: "Find <page_snapshot> please".into(),
            images: Vec::new(),
        };
        finish(backend.prompt(chat("sp-old", &["look"]), asked).await.unwrap()).await;
        finish(backend.prompt(chat("dt-new", &[]), prompt("Newer")).await.unwrap()).await;
        backend.shutdown(Duration::from_secs(1)).await;

        // In a new process no chat is open.
        let backend = home.start(with_model(&model.url));
        let chats = backend.chats().await.unwrap();
        assert!(chats.is_sorted_by_key(|chat| std::cmp::Reverse(chat.modified_time)), "{chats:?}");
        // The CLI touches both as it ends, so either may be the newer one.
        let mut listed: Vec<_> =
            chats.iter().map(|chat| (chat.id.as_str(), chat.summary.as_deref())).collect();
        listed.sort_unstable();
        assert_eq!(listed, [("dt-new", Some("Newer")), ("sp-old", Some("Find <page_snapshot> please"))]);
        assert!(chats.iter().all(|chat| chat.start_time > 0 && chat.modified_time >= chat.start_time));
        let lines: Vec<_> = backend
            .history("sp-old", None, 100)
            .await
            .unwrap()
            .entries
            .into_iter()
            .map(|entry| match entry {
                Entry::User { text, timestamp, .. } | Entry::Assistant { text, timestamp } => {
                    assert!(timestamp.is_some());
                    text
                }
                Entry::Tool { name, ok, result, .. } => {
                    format!("{name} {ok} {}", result.unwrap_or_default())
                }
            })
            .collect();
        assert_eq!(lines, ["Find <page_snapshot> please", "Calling.", "look true done", "ok"]);
        assert!(backend.history("sp-none", None, 100).await.unwrap().entries.is_empty());
        assert_eq!(backend.delete("sp-old").await, Ok(true));
        assert_eq!(backend.delete("sp-old").await, Ok(false));
        assert_eq!(backend.chats().await.unwrap().len(), 1);
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_chat_begins_anew() {
    let home = Home::new().await;
    let model = ModelServer::scripted([]).await;
    let backend = home.start(with_model(&model.url));
    finish(backend.prompt(chat("sp-anew", &[]), prompt("first")).await.unwrap()).await;
    assert_eq!(backend.delete("sp-anew").await, Ok(true));
    finish(backend.prompt(chat("sp-anew", &[]), prompt("second")).await.unwrap()).await;
    assert_eq!(said(&model.last(), "user").len(), 1);
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn own_provider_needs_no_sign_in_and_offers_its_model() {
    let home = Home::new().await;
    let backend = home.start(with_model("http://127.0.0.1:9/v1"));
    assert!(matches!(backend.auth().await, Ok(AuthState::Ready { .. })));
    let models = backend.models().await.unwrap();
    assert_eq!(models.iter().map(|model| model.id.as_str()).collect::<Vec<_>>(), ["mock-1"]);
    assert_eq!(backend.current_model(), "mock-1");
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_sign_in_nothing_is_sent_and_the_person_is_told_how() {
    let home = Home::new().await;
    let backend = home.start(Config::default());
    assert!(matches!(backend.auth().await, Ok(AuthState::Unauthenticated { .. })));
    assert!(matches!(backend.models().await, Err(AgentError::Auth(_))));
    let error = backend.prompt(chat("sp-no", &[]), prompt("Go")).await.err().unwrap();
    assert!(matches!(&error, AgentError::Auth(text) if text.contains("browy login")), "{error}");
    assert_eq!(backend.chats().await, Ok(Vec::new()));
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_of_messages_and_tools_come_back_with_the_transcript() {
    let home = Home::full();
    let model = ModelServer::scripted([Step::call("look", json!({})), Step::text("seen")]).await;
    let backend = home.start(with_model(&model.url));
    let picture = |base64: String| ImageData { mime_type: "image/png".into(), base64 };
    let (small, large) = (picture(PIXEL.to_owned()), picture("A".repeat(2 * 1024 * 1024)));
    let mut sent = prompt("What is this?");
    sent.images = vec![small.clone()];
    let shot = large.clone();
    let turn = backend.prompt(chat("sp-picture", &["look"]), sent).await.unwrap();
    finish_with(turn, move |_, _| ToolReply {
        text: "x".repeat(5_000),
        ok: true,
        images: vec![shot.clone()],
    })
    .await;
    let alone = Prompt {
        text: "the page".into(),
        display: String::new(),
        images: vec![small.clone(), small.clone()],
    };
    finish(backend.prompt(chat("sp-picture", &["look"]), alone).await.unwrap()).await;
    backend.shutdown(Duration::from_secs(1)).await;

    let backend = home.start(with_model(&model.url));
    let lines = backend.history("sp-picture", None, 100).await.unwrap();
    let told: Vec<_> = lines
        .entries
        .iter()
        .map(|entry| match entry {
            Entry::User { text, images, .. } => (text.as_str(), images.clone()),
            Entry::Assistant { text, .. } => (text.as_str(), vec![]),
            Entry::Tool { name, result, images, .. } => {
                assert_eq!(result.as_deref().map(str::len), Some(5_000), "the whole answer");
                (name.as_str(), images.clone())
            }
        })
        .collect();
    let expected = [
        ("What is this?", vec![small.clone()]),
        ("look", vec![large]),
        ("seen", vec![]),
        ("", vec![small.clone(), small]),
        ("ok", vec![]),
    ];
    assert!(
        told == expected,
        "{:?}",
        told.iter().map(|(text, images)| (text, images.len())).collect::<Vec<_>>()
    );
    // A part of it.
    let part = backend.history("sp-picture", Some(3), 2).await.unwrap();
    assert_eq!((part.older, part.entries.as_slice()), (1, &lines.entries[1..3]));
    backend.shutdown(Duration::from_secs(1)).await;
}
