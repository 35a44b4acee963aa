//! The CLI is another one from one moment to the next: named in the settings, or replaced on the disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use browy::agent::{AgentError, BackendStatus, Ending};
use browy::config::Config;
use tokio::sync::Notify;

use crate::support::copilot::*;
use crate::support::model_server::{ModelServer, Step, said};

/// A script that notes its start under a name and becomes the real CLI.
fn script(home: &Home, name: &str) -> String {
    let platform = cli_package().parent().unwrap().join(format!("copilot-{}", platform()));
    format!(
        "echo {name} >> '{}'\nexec '{}' \"$@\"",
        home.path().join("starts").display(),
        platform.join("copilot").display()
    )
}

fn starts(home: &Home) -> String {
    std::fs::read_to_string(home.path().join("starts")).unwrap_or_default().replace('\n', " ")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cli_of_the_settings_is_used_from_the_next_prompt_on_and_a_wrong_one_can_be_mended() {
    let home = Home::full();
    let gate = Arc::new(Notify::new());
    let model = ModelServer::scripted([
        Step::text("first answer, to its end").gated(&gate),
        Step::text("second"),
        Step::text("third"),
    ])
    .await;
    let named = |path: PathBuf| Config { cli_path: Some(path), ..with_model(&model.url) };
    let old = named(home.put_program("old", &script(&home, "old")));
    let backend = home.start_in(home.env().with("COPILOT_CLI_PATH", ""), old);
    let turn = backend.prompt(chat("sp-path", &[]), prompt("first")).await.unwrap();
    model.asked(1).await;
    backend.configure(&named(home.put_program("new", &script(&home, "new")))).unwrap();
    gate.notify_one();
    let outcome = finish(turn).await;
    assert_eq!(
        (outcome.messages, outcome.ending),
        (vec!["first answer, to its end".to_owned()], Ending::Done)
    );
    let outcome = finish(backend.prompt(chat("sp-path", &[]), prompt("second")).await.unwrap()).await;
    assert_eq!(outcome.messages, ["second"]);
    assert_eq!(starts(&home), "old new ");
    assert_eq!(said(&model.last(), "assistant"), ["first answer, to its end"], "the chat was resumed");

    backend.configure(&named(home.path().join("no-such-program"))).unwrap();
    let error = backend.prompt(chat("sp-path", &[]), prompt("lost")).await.err().unwrap();
    for part in ["no-such-program", "cli_path", "Correct it"] {
        assert!(matches!(&error, AgentError::CliMissing(text) if text.contains(part)), "{error}");
    }
    assert!(matches!(&*backend.status().borrow(), BackendStatus::Failed(AgentError::CliMissing(_))));
    backend.configure(&named(home.path().join("old"))).unwrap();
    ready_again(&backend).await;
    let outcome = finish(backend.prompt(chat("sp-path", &[]), prompt("third")).await.unwrap()).await;
    assert_eq!(outcome.messages, ["third"]);
    assert_eq!(starts(&home), "old new old ");
    assert!(!model.last().to_string().contains("lost"));
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cli_that_is_replaced_on_the_disk_ends_no_turn_and_the_next_start_uses_the_new_one() {
    let home = Home::full();
    let gate = Arc::new(Notify::new());
    let model = ModelServer::scripted([
        Step::text("first answer, to its end").gated(&gate),
        Step::text("second"),
        Step::text("third"),
    ])
    .await;
    let (mark, env) = marked(home.env());
    home.put_program("cli", &script(&home, "old"));
    let backend = home.start_in(env, with_model(&model.url));
    let turn = backend.prompt(chat("sp-disk", &[]), prompt("first")).await.unwrap();
    model.asked(1).await;
    // As an update does it: the old one is gone for a moment.
    std::fs::remove_file(home.path().join("cli")).unwrap();
    home.put_program("cli", &script(&home, "new"));
    gate.notify_one();
    assert_eq!(finish(turn).await.messages, ["first answer, to its end"]);
    let outcome = finish(backend.prompt(chat("sp-disk", &[]), prompt("second")).await.unwrap()).await;
    assert_eq!((outcome.messages, starts(&home)), (vec!["second".to_owned()], "old ".to_owned()));
    for pid in marked_processes(&mark) {
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_raw(pid).unwrap(),
            rustix::process::Signal::KILL,
        );
    }
    gone(&mark).await;
    let outcome = finish(backend.prompt(chat("sp-disk", &[]), prompt("third")).await.unwrap()).await;
    assert_eq!((outcome.messages, starts(&home)), (vec!["third".to_owned()], "old new ".to_owned()));
    backend.shutdown(Duration::from_secs(1)).await;
}
