//! `cdp.send` round trips: from an answer of the browser to the next command of the same tool call, seen from the
//! browser's end of the pipes; against a host that only forwards a frame.

use std::time::Instant;

use browy::transport::frame::encode;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::native::{Native, browy};
use crate::pairs::Pairs;
use crate::support::fake_cli::{FakeCli, LIMIT};
use crate::table::{Row, Table};

/// Tool calls; a turn may have 200.
const CALLS: usize = 150;

/// An answered command and the next one, where our host only carries on: nothing else is under way.
const STEPS: [(&str, &str); 2] = [
    ("Emulation.setFocusEmulationEnabled", "Runtime.evaluate"),
    ("Runtime.evaluate", "Runtime.releaseObjectGroup"),
];

/// Our host adds at most this to what forwarding takes, in milliseconds.
const ADDS_MS: f64 = 0.15;

pub fn measure(table: &mut Table) {
    let runtime = Runtime::new().unwrap();
    let cli = runtime.block_on(FakeCli::listen());
    let (mut host, mut forwarding) = (host(&cli), Native::forwarding());
    host.hello();
    send(
        &mut host,
        &json!({ "type": "session.start", "sessionId": "sp-bench", "capabilities": ["cdp.activeTab"] }),
    );
    send(
        &mut host,
        &json!({ "type": "chat.send", "sessionId": "sp-bench", "turnId": "t-1", "text": "Measure" }),
    );
    let model = std::thread::spawn(move || {
        runtime.block_on(async {
            let turn = cli.prompt("Measure").await.unwrap();
            for _ in 0..CALLS {
                let answer = turn.call("evaluate_js", json!({ "code": "1 + 1" }), LIMIT).await.unwrap();
                assert!(answer.text.contains('2'), "{}", answer.text);
            }
            turn.end("Measured.");
        });
        // The host's CLI needs its other end until the host is gone.
        (runtime, cli)
    });
    let pairs = play(&mut host, &mut forwarding);
    let _cli = model.join().unwrap();
    assert_eq!(pairs.len(), CALLS * STEPS.len(), "steps of the tool");
    drop(host);
    let row = Row::of("`tool.result` to the next `cdp.send`", &pairs, "forwarding Rust host");
    let added = pairs.added_ms();
    table.push(
        Row { ratio: format!("{} (adds {added:.3} ms)", row.ratio), ..row }
            .target("adds ≤ 0.15 ms", added <= ADDS_MS),
    );
}

fn host(cli: &FakeCli) -> Native {
    let home = tempfile::tempdir().unwrap();
    let mut command = browy();
    command.env("HOME", home.path());
    for (name, value) in cli.environment() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    Native::start(command, Some(home))
}

fn send(host: &mut Native, message: &Value) {
    host.send(&encode(message.to_string().as_bytes()).unwrap());
}

/// Plays the browser until the turn is over. After every measured step the forwarding host gets the same frame.
fn play(host: &mut Native, forwarding: &mut Native) -> Pairs {
    let mut pairs = Pairs::default();
    let mut answered: Option<(String, Instant)> = None;
    loop {
        let body = host.recv();
        let now = Instant::now();
        let message: Value = serde_json::from_slice(&body).unwrap();
        let method = message["method"].as_str().unwrap_or_default();
        if let Some((before, start)) = answered.take()
            && STEPS.contains(&(before.as_str(), method))
        {
            pairs.push(now - start, forwarding.exchange(&encode(&body).unwrap()));
        }
        match message["type"].as_str().unwrap() {
            "chat.done" => return pairs,
            "chat.error" => panic!("{message}"),
            _ => {}
        }
        if let Some(result) = result_of(&message) {
            let frame = json!({
                "type": "tool.result", "sessionId": message["sessionId"], "callId": message["callId"], "ok": true,
                "result": result,
            });
            let frame = encode(frame.to_string().as_bytes()).unwrap();
            answered = Some((method.to_owned(), Instant::now()));
            host.send(&frame);
        }
    }
}

/// What a browser with one tab answers; `None`: it was no question.
fn result_of(message: &Value) -> Option<Value> {
    let tab = json!({
        "tabId": 1, "url": "http://127.0.0.1/", "title": "Page", "active": true, "windowId": 1,
    });
    let number = json!({ "result": { "type": "number", "value": 2, "description": "2" } });
    match (message["type"].as_str()?, message["method"].as_str()) {
        ("tab.getActive", _) => Some(tab),
        ("tab.list", _) => Some(json!([tab])),
        ("cdp.send", Some("Runtime.evaluate")) => Some(json!({ "tabId": 1, "result": number })),
        ("cdp.send", _) => Some(json!({ "tabId": 1, "result": {} })),
        _ => None,
    }
}
