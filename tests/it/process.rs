//! The real program over pipes: limits, junk, the end of input, exit codes, memory.

use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

use browy::chromium::EXTENSION_ID;
use browy::transport::frame::encode;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::support::fake_cli::{FakeCli, LIMIT};
use crate::support::host::{Host, messages};

/// How soon a host and all that it started must be gone. Chrome kills a host after 2 s.
const GONE: Duration = Duration::from_secs(1);

const MIB: u64 = 1024;

fn error_codes(messages: &[Value]) -> Vec<&str> {
    messages.iter().filter(|m| m["type"] == "chat.error").map(|m| m["code"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn hello_is_answered_with_our_version() {
    let mut host = Host::start().await;
    host.send(json!({ "type": "hello", "client": "extension", "protocol": 1, "requestId": "r-1" })).await;
    let ack = host.wait_for("hello.ack").await;
    assert_eq!(
        (&ack["protocol"], &ack["serverVersion"], &ack["requestId"]),
        (&json!(1), &json!(env!("CARGO_PKG_VERSION")), &json!("r-1"))
    );
}

#[tokio::test]
async fn junk_costs_one_message_and_one_short_answer() {
    let mut host = Host::start().await;
    let deep = [b"{\"type\":\"cdp.event\",\"params\":".to_vec(), b"[".repeat(1_000_000)].concat();
    let junk: [&[u8]; 14] = [
        b"null",
        b"42",
        b"-1.5e3",
        b"[]",
        b"\"hello\"",
        b"true",
        b"{}",
        b"",
        b"\0\0\0",
        b"{\"type\":\"hello\"",
        b"{\"type\":\"chat.send\",\"sessionId\":\"\xff\xfe",
        b"1e400",
        b"{\"type\":\"session.start\",\"sessionId\":{}}",
        &deep,
    ];
    for body in junk {
        host.send_body(body).await;
        let before = host.hello().await;
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]);
        assert_eq!(error_codes(&before), ["unsupported"], "{shown}");
        for message in &before {
            let text = message["message"].as_str().unwrap_or_default();
            assert!(text.chars().count() <= 200, "{shown}: {text}");
        }
    }
}

#[tokio::test]
async fn unknown_type_is_answered_once() {
    let mut host = Host::start().await;
    for expected in [1, 0, 0] {
        host.send(json!({ "type": "from.the.future", "sessionId": "s" })).await;
        assert_eq!(error_codes(&host.hello().await).len(), expected);
    }
}

#[tokio::test]
async fn flood_of_junk_is_answered_sparingly() {
    let mut host = Host::start().await;
    let flood = encode(b"null").unwrap().repeat(20_000);
    host.send_bytes(&flood).await;
    let answers = error_codes(&host.hello().await).len();
    assert!((1..200).contains(&answers), "{answers} answers to 20,000 junk frames");
}

#[tokio::test]
async fn half_a_character_does_not_cost_the_message() {
    let mut host = Host::start().await;
    host.send_body(br#"{"type":"hello","client":"\ud83d","protocol":1,"requestId":"a\ude00b"}"#).await;
    assert_eq!(host.wait_for("hello.ack").await["requestId"], "a\u{fffd}b");
}

#[tokio::test]
async fn hopeless_length_is_told_once_and_ends_the_host_without_taking_its_room() {
    for declared in [67_108_865, u32::MAX] {
        let mut host = Host::start().await;
        host.hello().await;
        host.cli.started(1).await;
        let before = host.memory("VmHWM").unwrap();
        let mut peak = before;
        host.send_bytes(&declared.to_le_bytes()).await;
        // The last look before the process is gone.
        while let Some(now) = host.memory("VmHWM") {
            peak = now;
            if matches!(host.child.try_wait(), Ok(Some(_))) {
                break;
            }
            tokio::task::yield_now().await;
        }
        assert!(peak - before < 2 * MIB, "{before} → {peak} KiB for {declared}");
        assert_eq!(host.exit(GONE).await, Some(0));
        let said = messages(&host.rest().await);
        assert_eq!(error_codes(&said), ["unsupported"]);
        host.mark.all_gone(GONE).await.unwrap();
    }
}

#[tokio::test]
async fn announced_body_takes_no_room_before_it_comes() {
    let mut host = Host::start().await;
    host.hello().await;
    host.cli.started(1).await;
    let before = host.memory("VmHWM").unwrap();
    host.send_bytes(&[&67_108_864u32.to_le_bytes()[..], b"{\"type\":"].concat()).await;
    // Work goes on the other way; that it has come shows that the header has been read.
    host.send_bytes(&[b' '; 100_000]).await;
    let after = host.memory("VmHWM").unwrap();
    assert!(after - before < 2 * MIB, "{before} → {after} KiB");
}

#[tokio::test]
async fn largest_frame_is_read_and_the_port_lives_on() {
    let mut host = Host::start().await;
    let (start, end) = (&br#"{"type":"hello","client":""#[..], &br#"","protocol":1,"requestId":"big"}"#[..]);
    let filling = b"x".repeat(67_108_864 - start.len() - end.len());
    host.send_body(&[start, &filling, end].concat()).await;
    assert_eq!(host.wait_for("hello.ack").await["requestId"], "big");
    host.hello().await;
}

/// A cut in the header, after it, and in the body.
#[tokio::test]
async fn frame_that_is_cut_by_the_end_of_input_is_not_acted_upon() {
    let hello = encode(br#"{"type":"hello","client":"extension","protocol":1}"#).unwrap();
    for cut in [1, 3, 4, 5, hello.len() - 1] {
        let mut host = Host::start().await;
        host.send_bytes(&hello[..cut]).await;
        host.close();
        assert_eq!(host.exit(GONE).await, Some(0), "cut at {cut}");
        let said = messages(&host.rest().await);
        assert!(said.iter().all(|message| message["type"] != "hello.ack"), "cut at {cut}: {said:?}");
    }
}

#[tokio::test]
async fn end_of_input_ends_the_host_and_its_children_within_a_second() {
    for stubborn in [false, true] {
        let cli = FakeCli::listen().await;
        cli.with_child();
        if stubborn {
            cli.stubborn();
        }
        let mut host = Host::start_with(cli);
        host.hello().await;
        host.cli.started(1).await;
        assert!(host.mark.living().len() > 1, "there is something to clean up");
        host.close();
        let left = host.mark.all_gone(GONE).await;
        assert!(left.is_ok(), "stubborn: {stubborn}, left: {left:#?}");
        assert_eq!(host.exit(GONE).await, Some(0));
    }
}

#[tokio::test]
async fn end_of_input_in_the_middle_of_a_turn_ends_everything_within_a_second() {
    let mut host = Host::start().await;
    host.hello().await;
    host.send(json!({ "type": "session.start", "sessionId": "sp-1", "capabilities": ["cdp.activeTab"] }))
        .await;
    host.send(json!({ "type": "chat.send", "sessionId": "sp-1", "turnId": "t", "text": "work on" })).await;
    let turn = host.cli.prompt("work on").await.unwrap();
    turn.delta("m", "half an ans");
    host.wait_for("chat.delta").await;
    host.close();
    let left = host.mark.all_gone(GONE).await;
    assert!(left.is_ok(), "{left:#?}");
    assert_eq!(host.exit(GONE).await, Some(0));
}

/// With the port's reading side gone but its writing side open, which no browser does on purpose.
#[tokio::test]
async fn browser_that_reads_no_more_ends_the_host_quietly() {
    let mut host = Host::start().await;
    host.hello().await;
    host.from = None;
    host.send(json!({ "type": "hello", "client": "extension", "protocol": 1 })).await;
    assert_eq!(host.exit(GONE).await, Some(0));
    host.mark.all_gone(GONE).await.unwrap();
}

#[tokio::test]
async fn sigterm_ends_the_host_and_its_children_within_a_second() {
    let mut host = Host::start().await;
    host.hello().await;
    host.cli.started(1).await;
    let pid = rustix::process::Pid::from_raw(host.pid()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let left = host.mark.all_gone(GONE).await;
    assert!(left.is_ok(), "{left:#?}");
    assert_eq!(host.exit(GONE).await, Some(0));
}

/// The log at its most talkative, a turn, junk from the CLI, junk from the browser: only frames come out.
#[tokio::test]
async fn output_carries_only_frames() {
    let mut host = Host::start().await;
    host.hello().await;
    host.send(json!({ "type": "session.start", "sessionId": "sp-1", "capabilities": ["cdp.activeTab"] }))
        .await;
    host.send(json!({ "type": "chat.send", "sessionId": "sp-1", "turnId": "t", "text": "say it" })).await;
    let turn = host.cli.prompt("say it").await.unwrap();
    host.send_body(b"junk\n").await;
    turn.delta("m", "line one\nline two\n");
    turn.end("line one\nline two\n");
    host.wait_for("chat.done").await;
    host.cli.raw("this is no frame\n");
    host.hello().await;
    host.close();
    assert_eq!(host.exit(GONE).await, Some(0));
    messages(&host.rest().await);
}

/// Chrome keeps a port open for as long as anybody holds its output.
#[tokio::test]
async fn nothing_that_the_host_starts_holds_the_port() {
    let cli = FakeCli::listen().await;
    cli.with_child();
    let mut host = Host::start_with(cli);
    host.hello().await;
    host.cli.started(1).await;
    let pipe = |pid: i32, fd: &str| std::fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok();
    let port = [pipe(host.pid(), "0").unwrap(), pipe(host.pid(), "1").unwrap()];
    let others: Vec<_> = host.mark.living().into_iter().filter(|other| other.pid != host.pid()).collect();
    assert!(!others.is_empty());
    for other in others {
        for fd in std::fs::read_dir(format!("/proc/{}/fd", other.pid)).unwrap().flatten() {
            let held = pipe(other.pid, fd.file_name().to_str().unwrap());
            assert!(!held.is_some_and(|held| port.contains(&held)), "{other:?} holds the port");
        }
    }
}

#[test]
fn unknown_extension_is_refused_before_input_is_read() {
    let home = tempfile::tempdir().unwrap();
    for origin in [
        "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/",
        "chrome-extension://",
        "chrome-extension:///",
    ] {
        let (mut kept, mut to) = std::io::pipe().unwrap();
        let hello = encode(br#"{"type":"hello","client":"x","protocol":1}"#).unwrap();
        to.write_all(&hello).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_browy"))
            .arg(origin)
            .env("HOME", home.path())
            .stdin(kept.try_clone().unwrap())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(3), "{origin}");
        assert!(output.stdout.is_empty());
        assert!(String::from_utf8_lossy(&output.stderr).contains("not a trusted extension"));
        drop(to);
        let mut unread = Vec::new();
        kept.read_to_end(&mut unread).unwrap();
        assert_eq!(unread, hello, "the message was left where it was");
    }
    assert_eq!(std::fs::read_dir(home.path()).unwrap().count(), 0, "nothing was written either");
}

#[test]
fn program_without_arguments_shows_help_and_ends_with_two() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_browy")).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("install-host") && said.contains("Usage"), "{said}");
}

/// A person who copies the browser's command line into a terminal.
#[test]
fn host_mode_in_a_terminal_says_what_to_do_and_ends_with_two() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let home = tempfile::tempdir().unwrap();
    let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&controller).unwrap();
    unlockpt(&controller).unwrap();
    let name = ptsname(&controller, Vec::new()).unwrap().into_string().unwrap();
    let terminal = std::fs::OpenOptions::new().read(true).write(true).open(name).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_browy"))
        .arg(format!("chrome-extension://{EXTENSION_ID}/"))
        .env("HOME", home.path())
        .stdin(terminal)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("browy --help"));
}

/// Without a CLI the host still talks: it says what is missing.
#[tokio::test]
async fn host_without_a_cli_answers_and_ends_cleanly() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_browy"));
    command.arg(format!("chrome-extension://{EXTENSION_ID}/"));
    command.env("HOME", home.path()).env("COPILOT_CLI_PATH", "/bin/false").kill_on_drop(true);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut host = Host {
        to: child.stdin.take(),
        from: child.stdout.take(),
        child,
        cli: FakeCli::listen().await,
        mark: crate::support::processes::Mark::new(),
        home: std::sync::Arc::new(home),
    };
    host.hello().await;
    host.close();
    assert_eq!(host.exit(LIMIT).await, Some(0));
    messages(&host.rest().await);
}

/// A host whose CLI is the fake one, or a shell script instead; `prepare` sees its home before it starts.
async fn host_in(script: Option<&str>, prepare: impl FnOnce(&std::path::Path)) -> Host {
    let (cli, home) = (FakeCli::listen().await, tempfile::tempdir().unwrap());
    prepare(home.path());
    std::fs::create_dir(home.path().join("tmp")).unwrap();
    let mut variables = cli.environment();
    if let Some(script) = script {
        let program = home.path().join("cli");
        crate::support::copilot::put_program(&program, script);
        variables.push(("COPILOT_CLI_PATH".into(), Some(program.into())));
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_browy"));
    command.env("TMPDIR", home.path().join("tmp"));
    let path = std::env::var("PATH").unwrap_or_default();
    command.env("PATH", format!("{}:{path}", home.path().join("bin").display()));
    Host::start_by(command, &variables, std::sync::Arc::new(home), cli)
}

/// What stands on the screen of somebody who signs in: a terminal that runs its arguments, and a CLI that takes until
/// the person is done.
const SIGNS_IN: &str = "if [ \"$1\" = login ]; then cat \"$HOME/person\"; exit 0; fi; exec \"$FAKE\" \"$@\"";

#[tokio::test]
async fn sign_in_opens_one_terminal_and_shows_by_itself_when_it_is_done() {
    let script = SIGNS_IN.replace("$FAKE", env!("CARGO_BIN_EXE_fake-copilot"));
    let mut host = host_in(Some(&script), |home| {
        let terminal = home.join("bin/x-terminal-emulator");
        crate::support::copilot::put_program(
            &terminal,
            "echo \"$@\" >> \"$HOME/windows\"; shift; exec \"$@\"",
        );
        let fifo = home.join("person");
        assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
    })
    .await;
    let nobody = json!({ "isAuthenticated": false, "statusMessage": "Not authenticated" });
    host.cli.answer("auth.getStatus", nobody);
    host.hello().await;
    host.send(json!({ "type": "auth.signin", "open": false, "requestId": "asked" })).await;
    while host.wait_for("auth.status").await["requestId"] != "asked" {}
    assert!(!host.home.path().join("windows").exists(), "only asked");

    // As the published extension sends it; twice, as impatient people do.
    for id in ["first", "second"] {
        host.send(json!({ "type": "auth.signin", "requestId": id })).await;
    }
    for _ in 0..2 {
        let told = loop {
            let status = host.wait_for("auth.status").await;
            if status["requestId"].is_string() {
                break status;
            }
        };
        assert_eq!(told["state"], "unauth", "{told}");
        assert!(told["detail"].as_str().unwrap().contains("terminal window is open"), "{told}");
    }
    let windows = std::fs::read_to_string(host.home.path().join("windows")).unwrap();
    let program = env!("CARGO_BIN_EXE_browy");
    assert_eq!(windows, format!("-e {program} login --pause\n"));

    host.cli.answer("auth.getStatus", json!({ "isAuthenticated": true, "login": "octo" }));
    tokio::fs::write(host.home.path().join("person"), "done").await.unwrap();
    while host.wait_for("auth.status").await["state"] != "ready" {}
    host.close();
    assert_eq!(host.exit(LIMIT).await, Some(0));
    host.mark.all_gone(LIMIT).await.unwrap();
}

#[tokio::test]
async fn without_a_terminal_the_person_is_told_what_to_run() {
    let mut host = host_in(None, |home| {
        // None of these can open a window here.
        for name in [
            "x-terminal-emulator",
            "gnome-terminal",
            "ptyxis",
            "kgx",
            "konsole",
            "xfce4-terminal",
            "mate-terminal",
            "kitty",
            "alacritty",
            "foot",
            "wezterm",
            "xterm",
        ] {
            crate::support::copilot::put_program(&home.join("bin").join(name), "exit 1");
        }
    })
    .await;
    host.cli.answer("auth.getStatus", json!({ "isAuthenticated": false }));
    host.hello().await;
    host.send(json!({ "type": "auth.signin", "open": true, "requestId": "r" })).await;
    let told = loop {
        let status = host.wait_for("auth.status").await;
        if status["requestId"] == "r" {
            break status;
        }
    };
    let detail = told["detail"].as_str().unwrap();
    assert!(detail.contains("no terminal program") && detail.ends_with("/browy login"), "{told}");
    host.close();
    assert_eq!(host.exit(LIMIT).await, Some(0));
}

/// Everything that needs the CLI is asked at once: all answers come from one start.
#[tokio::test]
async fn cli_that_does_not_start_or_hangs_is_told_once_for_all_who_wait() {
    for (script, limit) in [("exit 1", 10), ("exec sleep 1000", 35)] {
        let counted = format!("echo start >> \"$HOME/starts\"; {script}");
        let mut host = host_in(Some(&counted), |_| ()).await;
        host.hello().await;
        host.send(json!({ "type": "session.start", "sessionId": "sp-1", "capabilities": [] })).await;
        host.send(json!({ "type": "models.list", "requestId": "models" })).await;
        host.send(json!({ "type": "chat.list", "requestId": "chats" })).await;
        host.send(json!({ "type": "auth.signin", "requestId": "auth" })).await;
        host.send(json!({ "type": "chat.send", "sessionId": "sp-1", "turnId": "t", "text": "hi" })).await;
        let (mut told, mut ended, mut open) = (false, false, vec!["models", "chats", "auth"]);
        let all = async {
            while !(told && ended && open.is_empty()) {
                let message = host.recv().await.expect("the host lives");
                told |= message["type"] == "sdk.ready" && message["ok"] == false;
                ended |= message["type"] == "chat.error" && message["turnId"] == "t";
                // The list of chats has no form for a failure but this one.
                let no_list = message["type"] == "chat.error" && message.get("turnId").is_none();
                open.retain(|id| message["requestId"] != *id && !(no_list && *id == "chats"));
            }
        };
        let all = tokio::time::timeout(Duration::from_secs(limit), all).await;
        assert!(all.is_ok(), "{script}: told: {told}, ended: {ended}, open: {open:?}");
        let starts = std::fs::read_to_string(host.home.path().join("starts")).unwrap();
        // What is asked after the first has failed may start the second.
        assert!(starts.lines().count() <= 2, "{script}: {starts}");
        host.close();
        assert_eq!(host.exit(LIMIT).await, Some(0));
        host.mark.all_gone(LIMIT).await.unwrap();
    }
}

/// The folder's place is taken by a file: nothing can be made there, whoever runs the test.
#[tokio::test]
async fn chat_works_without_the_working_folder_and_leaves_nothing_behind() {
    use std::os::unix::fs::PermissionsExt;
    let mut host = host_in(None, |home| std::fs::write(home.join(".browseragent"), "taken").unwrap()).await;
    host.hello().await;
    host.send(json!({ "type": "session.start", "sessionId": "sp-1", "capabilities": [] })).await;
    host.send(json!({ "type": "chat.send", "sessionId": "sp-1", "turnId": "t", "text": "hi" })).await;
    let turn = host.cli.prompt("hi").await.unwrap();
    let temporary = host.home.path().join("tmp");
    let made: Vec<_> = std::fs::read_dir(&temporary).unwrap().flatten().collect();
    assert_eq!(made.len(), 1, "{made:?}");
    assert_eq!(made[0].metadata().unwrap().permissions().mode() & 0o777, 0o700);
    turn.end("hello");
    host.wait_for("chat.done").await;
    host.close();
    assert_eq!(host.exit(LIMIT).await, Some(0));
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "removed at the end");
}

/// 3 MiB of answer for a browser that does not read: delivered whole, later. What goes to the browser stops at
/// 4 MiB; the model side keeps the rest, because the CLI's pipe must flow.
#[tokio::test]
async fn browser_that_does_not_read_gets_everything_later() {
    const PIECES: usize = 768;
    let piece = "0123456789abcdef".repeat(256);
    let mut host = Host::start().await;
    host.hello().await;
    host.send(json!({ "type": "session.start", "sessionId": "sp-1", "capabilities": [] })).await;
    host.send(json!({ "type": "chat.send", "sessionId": "sp-1", "turnId": "t", "text": "at length" })).await;
    let turn = host.cli.prompt("at length").await.unwrap();
    let before = host.memory("VmHWM").unwrap();
    for _ in 0..PIECES {
        turn.delta("m", &piece);
    }
    turn.end("");
    // At rest when it has taken what it takes: nothing is read meanwhile.
    let (mut last, mut same) = (0, 0);
    while same < 10 {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = host.memory("VmRSS").unwrap();
        same = if now == last && now > before { same + 1 } else { 0 };
        last = now;
    }
    let peak = host.memory("VmHWM").unwrap();
    assert!(peak - before < 32 * MIB, "{before} → {peak} KiB");
    let mut streamed = String::new();
    loop {
        let message = host.recv().await.unwrap();
        match message["type"].as_str().unwrap() {
            "chat.delta" => {
                streamed.push_str(message["text"].as_str().unwrap());
            }
            "chat.done" => {
                assert_eq!(message["truncated"], true);
                break;
            }
            _ => {}
        }
    }
    assert!(streamed == piece.repeat(PIECES), "{} bytes", streamed.len());
}

/// 100 MiB of answer, and nobody reads: the turn is ended, and memory stays within bounds.
#[tokio::test]
async fn answer_without_end_costs_little_memory() {
    let piece = "0123456789abcdef".repeat(4096);
    let mut host = Host::start().await;
    host.hello().await;
    host.send(json!({ "type": "session.start", "sessionId": "sp-1", "capabilities": [] })).await;
    host.send(json!({ "type": "chat.send", "sessionId": "sp-1", "turnId": "t", "text": "at length" })).await;
    let turn = host.cli.prompt("at length").await.unwrap();
    let before = host.memory("VmHWM").unwrap();
    for _ in 0..1600 {
        turn.delta("m", &piece);
    }
    let mut last = json!({});
    while last["type"] != "chat.error" {
        last = host.recv().await.unwrap();
        assert_ne!(last["type"], "chat.done");
    }
    assert_eq!(last["code"], "model");
    let peak = host.memory("VmHWM").unwrap();
    assert!(peak - before < 32 * MIB, "{before} → {peak} KiB");
}

/// A bound for a debug build; the release build's 12 MiB are measured by the benchmark.
#[tokio::test]
async fn idle_host_is_small() {
    let mut host = Host::start().await;
    host.hello().await;
    host.cli.started(1).await;
    let resident = host.memory("VmRSS").unwrap();
    assert!(resident < 48 * MIB, "{resident} KiB");
}
