//! Hundreds of turns of one host: memory, open files and threads stay as they were at turn 10.

use std::time::Duration;

use serde_json::{Value, json};

use crate::support::dice::count;
use crate::support::fake_cli::LIMIT;
use crate::support::host::Host;

/// Resident memory that a host may have after any number of turns, KiB.
const MOST: u64 = 30 * 1024;

/// The part of it that is not the program's own code, KiB: that of a debug build is some four times a release build's.
const MOST_HELD: u64 = 12 * 1024;

/// Turns after which everything is warm.
const WARM: u64 = 10;

/// Growth that is no leak: the allocator's own, KiB.
const SLACK: u64 = 2 * 1024;

#[derive(Debug, PartialEq)]
struct Held {
    files: usize,
    threads: u64,
}

fn held(host: &Host) -> Held {
    let pid = host.pid();
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let threads = status.lines().find_map(|line| line.strip_prefix("Threads:")).unwrap();
    Held {
        files: std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count(),
        threads: threads.trim().parse().unwrap(),
    }
}

/// Reads until the turn is over, and answers what the host asks of the browser.
async fn until_done(host: &mut Host) {
    loop {
        let message = host.recv().await.expect("a living host");
        match message["type"].as_str().unwrap_or_default() {
            "chat.done" => return,
            "chat.error" => panic!("{message}"),
            "cdp.send" | "tab.list" | "tab.getActive" => host.send(answer(&message)).await,
            _ => {}
        }
    }
}

fn answer(request: &Value) -> Value {
    let tab =
        json!({ "tabId": 7, "url": "https://one.test/", "title": "One", "active": true, "windowId": 1 });
    let (ok, key, value) = match request["type"].as_str() {
        Some("tab.list") => (true, "result", json!([tab])),
        Some("tab.getActive") => (true, "result", tab),
        _ => (false, "error", json!("no such page")),
    };
    json!({
        "type": "tool.result", "sessionId": request["sessionId"], "callId": request["callId"], "ok": ok, key: value,
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_turns_cost_no_memory_no_files_and_no_threads() {
    let turns = count("BROWY_TURNS", 200).max(2 * WARM);
    let mut host = Host::start().await;
    host.hello().await;
    host.send(json!({ "type": "session.start", "sessionId": "sp-1", "capabilities": ["cdp.activeTab"] }))
        .await;
    let (mut warm, mut most, mut whole) = (None, 0, 0);
    for number in 0..turns {
        let words = format!("turn {number};");
        host.send(json!({ "type": "chat.send", "sessionId": "sp-1", "turnId": words, "text": words })).await;
        let cli = host.cli.clone();
        let model = async {
            let turn = cli.prompt(&words).await.unwrap();
            turn.call("list_tabs", json!({}), LIMIT).await.unwrap();
            turn.delta("m", &"word ".repeat(200));
            turn.end("");
            cli.forget();
        };
        tokio::join!(model, until_done(&mut host));
        let now = (held(&host), host.memory("RssAnon").unwrap());
        most = most.max(now.1);
        whole = whole.max(host.memory("VmRSS").unwrap());
        if number + 1 == WARM {
            warm = Some(now);
        }
    }
    let (held_then, memory_then) = warm.unwrap();
    let (held_now, memory_now) = settled(&host, &held_then).await;
    println!(
        "{turns} turns: {memory_then} KiB after {WARM}, {memory_now} at the end, {most} at most, {whole} with the program; {held_now:?}"
    );
    assert!(most <= MOST_HELD, "{most} KiB within {turns} turns");
    assert!(cfg!(debug_assertions) || whole <= MOST, "{whole} KiB within {turns} turns, with the program");
    assert!(
        memory_now <= memory_then + SLACK,
        "{memory_then} KiB after {WARM} turns, {memory_now} after {turns}"
    );
    assert_eq!(held_now.files, held_then.files, "open files after {WARM} turns, and after {turns}");
    // The pool of blocking threads comes and goes; what counts is that it does not grow.
    assert!(held_now.threads <= held_then.threads, "{held_then:?}, then {held_now:?}");
}

/// What is held once the last turn has come to rest: its pipes close, idle threads of the pool end after 10 s.
async fn settled(host: &Host, then: &Held) -> (Held, u64) {
    let end = tokio::time::Instant::now() + LIMIT;
    loop {
        let now = held(host);
        let done = now.files == then.files && now.threads <= then.threads;
        if done || tokio::time::Instant::now() > end {
            return (now, host.memory("RssAnon").unwrap());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
