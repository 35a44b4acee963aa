//! The CLI dies, hangs, or is not there.

#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::time::Duration;

use browy::agent::{AgentBackend, AgentError, AgentEvent, BackendStatus, Ending};
use browy::config::Config;
use rustix::process::{Pid, Signal};
use serde_json::json;

use crate::support::copilot::*;
use crate::support::model_server::{ModelServer, Step, said};

/// The CLI itself: the marked process that the guard started.
fn cli_of(mark: &str) -> Pid {
    let pids = marked_processes(mark);
    let parent = |pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let fields = stat.rsplit_once(')').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        fields.split_whitespace().nth(1).and_then(|ppid| ppid.parse::<i32>().ok())
    };
    let guard = pids.iter().copied().find(|pid| parent(*pid).is_none_or(|parent| !pids.contains(&parent)));
    let cli = pids.iter().copied().find(|pid| parent(*pid) == guard).expect("the guard has a child");
    Pid::from_raw(cli).unwrap()
}

async fn failed(backend: &Arc<dyn AgentBackend>) -> AgentError {
    let mut status = backend.status();
    let wait = status.wait_for(|status| matches!(status, BackendStatus::Failed(_)));
    match tokio::time::timeout(Duration::from_secs(60), wait).await.unwrap().unwrap().clone() {
        BackendStatus::Failed(error) => error,
        _ => unreachable!(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_cli_interrupts_the_turn_and_the_chat_goes_on() {
    let home = Home::new().await;
    let (mark, env) = marked(home.env());
    let model = ModelServer::scripted([
        Step::text("first answer"),
        Step::text("partial ").hang(),
        Step::text("third answer"),
    ])
    .await;
    let backend = home.start_in(env, with_model(&model.url));
    finish(backend.prompt(chat("sp-kill", &[]), prompt("first")).await.unwrap()).await;
    let mut turn = backend.prompt(chat("sp-kill", &[]), prompt("second")).await.unwrap();
    until(&mut turn, |event| matches!(event, AgentEvent::TextDelta { .. }).then_some(())).await;
    rustix::process::kill_process(cli_of(&mark), Signal::KILL).unwrap();
    let ending = finish(turn).await.ending;
    let Ending::Failed(AgentError::Interrupted(text)) = ending else { panic!("{ending:?}") };
    assert!(text.contains("signal 9"), "{text}");
    let outcome = finish(backend.prompt(chat("sp-kill", &[]), prompt("third")).await.unwrap()).await;
    assert_eq!(outcome.messages, ["third answer"]);
    assert_eq!(said(&model.last(), "assistant")[0], "first answer", "the chat was resumed");
    backend.shutdown(Duration::from_secs(1)).await;
    assert_eq!(marked_processes(&mark), [0; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cli_killed_during_a_tool_call_leaves_a_valid_chat() {
    let home = Home::new().await;
    let (mark, env) = marked(home.env());
    let model = ModelServer::scripted([Step::call("look", json!({})), Step::text("second answer")]).await;
    let backend = home.start_in(env, with_model(&model.url));
    let mut turn = backend.prompt(chat("sp-kill2", &["look"]), prompt("first")).await.unwrap();
    let (id, ..) = tool_call(&mut turn).await;
    rustix::process::kill_process(cli_of(&mark), Signal::KILL).unwrap();
    let outcome = finish(turn).await;
    assert!(matches!(outcome.ending, Ending::Failed(AgentError::Interrupted(_))), "{outcome:?}");
    assert!(outcome.events.contains(&AgentEvent::ToolCallWithdrawn { id }));
    let outcome = finish(backend.prompt(chat("sp-kill2", &["look"]), prompt("second")).await.unwrap()).await;
    assert_eq!(outcome.messages, ["second answer"]);
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_guard_takes_the_cli_along_and_both_are_replaced() {
    let home = Home::new().await;
    let (mark, env) = marked(home.env());
    let model = ModelServer::scripted([Step::text("partial ").hang(), Step::text("again")]).await;
    let backend = home.start_in(env, with_model(&model.url));
    let mut turn = backend.prompt(chat("sp-guard", &[]), prompt("first")).await.unwrap();
    until(&mut turn, |event| matches!(event, AgentEvent::TextDelta { .. }).then_some(())).await;
    let cli = cli_of(&mark);
    let guard = marked_processes(&mark).into_iter().min().and_then(Pid::from_raw).unwrap();
    assert_ne!(cli, guard);
    rustix::process::kill_process(guard, Signal::KILL).unwrap();
    let ending = finish(turn).await.ending;
    assert!(matches!(ending, Ending::Failed(AgentError::Interrupted(_))), "{ending:?}");
    let outcome = finish(backend.prompt(chat("sp-guard", &[]), prompt("second")).await.unwrap()).await;
    assert_eq!(outcome.messages, ["again"]);
    backend.shutdown(Duration::from_secs(1)).await;
    assert_eq!(marked_processes(&mark), [0; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopped_cli_cannot_hold_up_stop_and_is_replaced() {
    let home = Home::new().await;
    let (mark, env) = marked(home.env());
    let model = ModelServer::scripted([Step::text("partial ").hang(), Step::text("again")]).await;
    let backend = home.start_in(env, with_model(&model.url));
    let mut turn = backend.prompt(chat("sp-sleep", &[]), prompt("first")).await.unwrap();
    until(&mut turn, |event| matches!(event, AgentEvent::TextDelta { .. }).then_some(())).await;
    let cli = cli_of(&mark);
    rustix::process::kill_process(cli, Signal::STOP).unwrap();
    turn.control.abort();
    assert_eq!(finish(turn).await.ending, Ending::Aborted);
    failed(&backend).await;
    let outcome = finish(backend.prompt(chat("sp-sleep", &[]), prompt("second")).await.unwrap()).await;
    assert_eq!(outcome.messages, ["again"]);
    // It is ended beside the start of the next one.
    let ended = async {
        while marked_processes(&mark).contains(&cli.as_raw_nonzero().get()) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), ended).await.expect("the stopped CLI is ended");
    backend.shutdown(Duration::from_secs(1)).await;
    assert_eq!(marked_processes(&mark), [0; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_backend_leaves_nothing_behind() {
    let home = Home::new().await;
    let (mark, env) = marked(home.env());
    let backend = home.start_in(env, Config::default());
    ready(&backend).await;
    assert!(marked_processes(&mark).len() >= 2);
    drop(backend);
    gone(&mark).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn program_that_is_no_cli_is_named_with_its_last_words() {
    let home = Home::scripted("echo something is missing >&2; exit 3");
    let error = failed(&home.start(Config::default())).await;
    assert!(matches!(error, AgentError::CliFailed(_)));
    let text = error.to_string();
    for part in ["/cli", "exit code 3", "something is missing", "native-host.log"] {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_cli_is_told_with_what_to_run() {
    let home = Home::scripted("exit 0");
    let env = home.env().with("COPILOT_CLI_PATH", "").with("PATH", home.path());
    let error = failed(&home.start_in(env, Config::default())).await;
    assert!(matches!(&error, AgentError::CliMissing(text) if text.contains("npm install")), "{error}");
}
