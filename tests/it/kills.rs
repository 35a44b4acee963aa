//! Kill −9 of the host, the CLI or the browser at random moments: a second later no process of ours is left.
//! Every process carries a mark in its environment; `BROWY_KILLS` says how many kills (default 60), `BROWY_SEED`
//! repeats a run.

use std::process::Stdio;
use std::time::Duration;

use browy::chromium::{Chromium, EXTENSION_ID};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::support::chromium::{full_stack_options, panel_ready, send_prompt};
use crate::support::dice::{Dice, count, seed};
use crate::support::fake_cli::{FakeCli, LIMIT};
use crate::support::processes::{Mark, kill};

/// How soon everything must be gone.
const GONE: Duration = Duration::from_secs(1);

/// A host over pipes, as a browser starts it.
struct Host {
    child: Child,
    to: ChildStdin,
    from: ChildStdout,
    home: tempfile::TempDir,
}

impl Host {
    fn start(cli_variables: &[(std::ffi::OsString, Option<std::ffi::OsString>)], mark: &Mark) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_browy"));
        command.arg(format!("chrome-extension://{EXTENSION_ID}/"));
        command.env("HOME", home.path()).env(Mark::NAME, mark.value()).kill_on_drop(true);
        for (name, value) in cli_variables {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, to, from, home }
    }

    async fn send(&mut self, message: Value) {
        let body = message.to_string();
        let length = u32::try_from(body.len()).unwrap().to_le_bytes();
        // A host that was just killed does not read any more.
        let _ = self.to.write_all(&[&length, body.as_bytes()].concat()).await;
    }

    /// The next message of this type; `None` when the host is gone.
    async fn wait_for(&mut self, kind: &str) -> Option<Value> {
        loop {
            let length = self.from.read_u32_le().await.ok()?;
            let mut body = vec![0; usize::try_from(length).unwrap()];
            self.from.read_exact(&mut body).await.ok()?;
            let message: Value = serde_json::from_slice(&body).unwrap();
            if message["type"] == kind {
                return Some(message);
            }
            // The browser answers at once; what it says does not matter here.
            if message["callId"].is_string() && message["type"] != "chat.tool_call" {
                let reply = json!({
                    "type": "tool.result", "sessionId": message["sessionId"], "callId": message["callId"],
                    "ok": false, "error": "no browser here",
                });
                self.send(reply).await;
            }
        }
    }

    /// From the handshake to a running turn.
    async fn converse(&mut self, cli: &FakeCli) {
        self.send(
            json!({ "type": "hello", "client": "extension", "protocol": 1, "capabilities": ["queue"] }),
        )
        .await;
        let session =
            json!({ "type": "session.start", "sessionId": "sp-kill", "capabilities": ["cdp.activeTab"] });
        self.send(session).await;
        let prompt =
            json!({ "type": "chat.send", "sessionId": "sp-kill", "turnId": "t-1", "text": "work on" });
        self.send(prompt).await;
        let Ok(turn) = cli.prompt("work on").await else { return };
        turn.start_call("inspect_page", json!({}));
        turn.start_call("note_set", json!({ "key": "k", "value": "v".repeat(4_000) }));
        for piece in 0..200 {
            turn.delta("m", &format!("piece {piece} "));
        }
        while self.wait_for("chat.done").await.is_some() {}
    }
}

fn kills() -> u64 {
    count("BROWY_KILLS", 60)
}

/// Kills the host at a random moment between its start and the middle of a turn.
async fn kill_host(dice: &mut Dice) -> Result<(), String> {
    let (cli, mark) = (FakeCli::listen().await, Mark::new());
    cli.with_child();
    if dice.next(3) == 0 {
        cli.stubborn();
    }
    let mut host = Host::start(&cli.environment(), &mark);
    let pid = i32::try_from(host.child.id().unwrap()).unwrap();
    let moment = Duration::from_micros(dice.next(400_000));
    let _ = tokio::time::timeout(moment, host.converse(&cli)).await;
    kill(pid);
    host.child.wait().await.unwrap();
    gone(&mark, &format!("host killed after {moment:?}")).await?;
    files_are_whole(host.home.path()).map_err(|why| format!("host killed after {moment:?}: {why}"))
}

/// What a killed host leaves of notes and chats can be read, and was not put aside as damaged.
fn files_are_whole(home: &std::path::Path) -> Result<(), String> {
    let Ok(files) = std::fs::read_dir(home.join(".browy/data")) else { return Ok(()) };
    for file in files {
        let path = file.map_err(|error| error.to_string())?.path();
        let name = path.to_string_lossy().into_owned();
        if name.contains("corrupt") {
            return Err(format!("{name} was put aside"));
        }
        if name.ends_with(".json") {
            let bytes = std::fs::read(&path).map_err(|error| error.to_string())?;
            serde_json::from_slice::<Value>(&bytes).map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(())
}

/// Kills the CLI at a random moment; the host lives, tells the panel, and ends with its browser.
async fn kill_cli(dice: &mut Dice) -> Result<(), String> {
    let (cli, mark) = (FakeCli::listen().await, Mark::new());
    cli.with_child();
    let mut host = Host::start(&cli.environment(), &mark);
    cli.started(1).await;
    let moment = Duration::from_micros(dice.next(200_000));
    let _ = tokio::time::timeout(moment, host.converse(&cli)).await;
    let pid = i32::try_from(cli.pids()[0]).unwrap();
    kill(pid);
    let end = tokio::time::Instant::now() + GONE;
    // Its child must go too, though the host lives.
    while mark.living().iter().any(|left| left.pid == pid || left.command.contains("sleep 600")) {
        if tokio::time::Instant::now() > end && cli.pids().len() == 1 {
            return Err(format!("CLI killed after {moment:?}: left {:#?}", mark.living()));
        }
        if cli.pids().len() > 1 {
            // Started again already: the new one has a child of its own.
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    if !matches!(host.child.try_wait(), Ok(None)) {
        return Err(format!("CLI killed after {moment:?}: the host ended too"));
    }
    drop(host.to);
    let ended = tokio::time::timeout(GONE, host.child.wait()).await;
    ended
        .map_err(|_| format!("CLI killed after {moment:?}: the host goes on after the end of its input"))?
        .unwrap();
    gone(&mark, &format!("CLI killed after {moment:?}, then end of input")).await
}

async fn gone(mark: &Mark, what: &str) -> Result<(), String> {
    let gone = mark.all_gone(GONE).await;
    gone.map_err(|left| {
        left.iter().for_each(|marked| kill(marked.pid));
        format!("{what}: left {left:#?}")
    })
}

/// Without this the others would pass on processes they do not see.
#[tokio::test]
async fn mark_reaches_the_host_the_cli_and_what_the_cli_starts() {
    let (cli, mark) = (FakeCli::listen().await, Mark::new());
    cli.with_child();
    let mut host = Host::start(&cli.environment(), &mark);
    cli.wait_for("its child", LIMIT, |event| event["event"] == "spawned").await.unwrap();
    for program in ["browy", "fake-copilot", "sleep"] {
        assert_eq!(mark.running(program).len(), 1, "{program}: {:#?}", mark.living());
    }
    drop(host.to);
    host.child.wait().await.unwrap();
    gone(&mark, "end of input").await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_after_kills_of_host_and_cli() {
    let seed = seed();
    let mut dice = Dice(seed);
    let mut failures = Vec::new();
    for _ in 0..kills() {
        let outcome = if dice.next(2) == 0 { kill_host(&mut dice).await } else { kill_cli(&mut dice).await };
        failures.extend(outcome.err());
    }
    assert!(
        failures.is_empty(),
        "BROWY_SEED={seed}: {} of {} left something: {failures:#?}",
        failures.len(),
        kills()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_after_a_killed_browser() {
    let seed = seed();
    let mut dice = Dice(seed);
    let mut failures = Vec::new();
    // A browser takes ten times as long as a host: one kill of twenty.
    let rounds = (kills() / 20).max(1);
    for _ in 0..rounds {
        let (cli, mark) = (FakeCli::listen().await, Mark::new());
        cli.with_child();
        let mut options = full_stack_options(&cli, &[]).unwrap();
        options.env.push((Mark::NAME.into(), Some(mark.value().into())));
        let chromium = Chromium::launch(options).await.unwrap();
        let beside = chromium.browser().open_window("about:blank").await.unwrap();
        let panel = chromium.browser().open_side_panel(&beside).await.unwrap();
        panel_ready(&panel).await.unwrap();
        send_prompt(&panel, "work on").await.unwrap();
        let moment = Duration::from_micros(dice.next(300_000));
        if let Ok(Ok(turn)) =
            tokio::time::timeout(moment.max(Duration::from_millis(1)), cli.prompt("work on")).await
        {
            turn.start_call("inspect_page", json!({}));
        }
        kill(i32::try_from(chromium.pid().unwrap()).unwrap());
        // Chromium's own helpers are not ours to judge; ours are the host, its guard, the CLI and its child.
        let ours =
            |command: &str| ["browy ", "fake-copilot", "sleep 600"].iter().any(|name| command.contains(name));
        let end = tokio::time::Instant::now() + GONE;
        loop {
            let left: Vec<_> = mark.living().into_iter().filter(|marked| ours(&marked.command)).collect();
            if left.is_empty() {
                break;
            }
            if tokio::time::Instant::now() > end {
                failures.push(format!("browser killed after {moment:?}: left {left:#?}"));
                left.iter().for_each(|marked| kill(marked.pid));
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop(chromium);
    }
    assert!(failures.is_empty(), "BROWY_SEED={seed}: {failures:#?}");
}

/// The real CLI, when the run has one (`COPILOT_CLI_PATH`, which `tests/run` sets).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_the_real_cli_after_a_killed_host() {
    let path =
        std::env::var_os("COPILOT_CLI_PATH").expect("COPILOT_CLI_PATH names the real CLI; tests/run sets it");
    let mut dice = Dice(seed());
    for _ in 0..(kills() / 20).max(1) {
        let mark = Mark::new();
        let variables = [
            ("COPILOT_CLI_PATH".into(), Some(path.clone())),
            ("COPILOT_GITHUB_TOKEN".into(), None),
            ("GH_TOKEN".into(), None),
            ("GITHUB_TOKEN".into(), None),
        ];
        let mut host = Host::start(&variables, &mark);
        host.send(json!({ "type": "hello", "client": "extension", "protocol": 1 })).await;
        host.wait_for("hello.ack").await.unwrap();
        host.send(json!({ "type": "session.start", "sessionId": "sp-kill", "capabilities": [] })).await;
        let ready = tokio::time::timeout(LIMIT, host.wait_for("sdk.ready"));
        if dice.next(2) == 0 {
            ready.await.expect("the real CLI starts");
        } else {
            let moment = Duration::from_millis(dice.next(1500));
            let _ = tokio::time::timeout(moment, ready).await;
        }
        kill(i32::try_from(host.child.id().unwrap()).unwrap());
        host.child.wait().await.unwrap();
        gone(&mark, "real CLI, host killed").await.unwrap();
    }
}
