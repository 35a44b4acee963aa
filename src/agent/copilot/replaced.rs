//! Another CLI in the settings takes over between turns.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::CopilotBackend;
use super::fake::Started;
use super::tests::{chat, ending, prompt, running};
use crate::agent::{AgentBackend, AgentError, BackendStatus, Ending};

/// The person names another CLI, which is there or not.
fn names(backend: &CopilotBackend, started: &Started, path: &str, is_there: bool) {
    started.finds(is_there.then_some(path));
    let mut config = backend.config.borrow().clone();
    config.cli_path = Some(PathBuf::from(path));
    backend.configure(&config).unwrap();
}

#[tokio::test(start_paused = true)]
async fn named_cli_takes_over_after_the_turn_and_never_in_it() {
    let (backend, mut started, mut cli, mut turn) = running().await;
    names(&backend, &started, "new", true);
    let during_the_turn = tokio::time::timeout(Duration::from_secs(5), started.named()).await;
    assert!(during_the_turn.is_err());
    cli.event("session.idle", json!({})).await;
    assert_eq!(ending(&mut turn).await, Ending::Done);
    // Its chats are closed first, so that none counts as used now.
    let detach = cli.asked_for("session.detach").await;
    cli.answer(&detach, json!({})).await;
    let (program, mut new) = started.named().await;
    assert_eq!(program, Path::new("new"));
    let connect = new.asked_for("connect").await;
    new.answer(&connect, super::fake::default_answer("connect")).await;
    let (turn, sent) = tokio::join!(backend.prompt(chat(), prompt()), new.takes_prompt());
    assert_eq!((turn.is_ok(), &sent["sessionId"]), (true, &json!("sp-1")));
}

#[tokio::test(start_paused = true)]
async fn named_cli_that_is_not_there_is_told_and_one_that_is_works_again() {
    let (backend, mut started, mut cli, mut turn) = running().await;
    cli.event("session.idle", json!({})).await;
    assert_eq!(ending(&mut turn).await, Ending::Done);
    names(&backend, &started, "nothing", false);
    let detach = cli.asked_for("session.detach").await;
    cli.answer(&detach, json!({})).await;
    let mut status = backend.status();
    let failed = |status: &BackendStatus| matches!(status, BackendStatus::Failed(AgentError::CliMissing(_)));
    status.wait_for(failed).await.unwrap();
    assert!(matches!(backend.prompt(chat(), prompt()).await.err(), Some(AgentError::CliMissing(_))));
    // Mended: it works before anybody asks.
    names(&backend, &started, "mended", true);
    let (program, mut new) = started.named().await;
    assert_eq!(program, Path::new("mended"));
    let connect = new.asked_for("connect").await;
    new.answer(&connect, super::fake::default_answer("connect")).await;
    status.wait_for(|status| matches!(status, BackendStatus::Ready { .. })).await.unwrap();
    let (turn, _) = tokio::join!(backend.prompt(chat(), prompt()), new.takes_prompt());
    assert!(turn.is_ok());
}

#[tokio::test(start_paused = true)]
async fn settings_that_name_the_same_cli_leave_it_running() {
    let (backend, mut started, mut cli, mut turn) = running().await;
    cli.event("session.idle", json!({})).await;
    assert_eq!(ending(&mut turn).await, Ending::Done);
    // An environment variable goes before the setting: what would be started is what runs.
    let mut config = backend.config.borrow().clone();
    config.cli_path = Some(PathBuf::from("other"));
    config.model = Some("other".into());
    backend.configure(&config).unwrap();
    let (turn, _) = tokio::join!(backend.prompt(chat(), prompt()), cli.takes_prompt());
    assert!(turn.is_ok());
    let another = tokio::time::timeout(Duration::from_secs(60), started.named()).await;
    assert!(another.is_err());
}
