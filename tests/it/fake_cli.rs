//! The fake CLI itself, over pipes: what it says must be what the real one says.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::support::fake_cli::{FakeCli, LIMIT};

struct Host {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    _home: tempfile::TempDir,
}

impl Host {
    fn start(cli: &FakeCli) -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-copilot"));
        command.args(["--server", "--stdio"]).env("HOME", home.path()).kill_on_drop(true);
        for (name, value) in cli.environment() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, to, from, _home: home }
    }

    async fn send(&mut self, id: u64, method: &str, params: Value) {
        let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string();
        let frame = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.to.write_all(frame.as_bytes()).await.unwrap();
    }

    async fn next(&mut self) -> Value {
        let mut line = String::new();
        self.from.read_line(&mut line).await.unwrap();
        let length: usize = line.trim().strip_prefix("Content-Length: ").unwrap().parse().unwrap();
        self.from.read_line(&mut String::new()).await.unwrap();
        let mut body = vec![0; length];
        self.from.read_exact(&mut body).await.unwrap();
        serde_json::from_slice(&body).unwrap()
    }

    async fn call(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(id, method, params).await;
        loop {
            let message = self.next().await;
            if message["id"] == id {
                return message;
            }
        }
    }

    async fn event(&mut self, kind: &str) -> Value {
        loop {
            let message = self.next().await;
            let event = &message["params"]["event"];
            if message["method"] == "session.event" && event["type"] == kind {
                return event["data"].clone();
            }
        }
    }
}

fn chat() -> Value {
    json!({
        "sessionId": "sp-1", "tools": [{ "name": "look" }, { "name": "hidden" }], "availableTools": ["custom:look"],
    })
}

#[tokio::test]
async fn tool_call_goes_to_the_host_and_its_answer_to_the_test() {
    let cli = FakeCli::listen().await;
    let mut host = Host::start(&cli);
    let hello = host.call(1, "connect", json!({})).await;
    assert_eq!(hello["result"]["protocolVersion"], 3);
    host.call(2, "session.create", chat()).await;
    host.call(3, "session.send", json!({ "sessionId": "sp-1", "prompt": "please look" })).await;
    let turn = cli.prompt("please look").await.unwrap();
    let id = turn.start_call("look", json!({ "far": true }));
    let asked = host.event("external_tool.requested").await;
    assert_eq!((&asked["toolName"], &asked["arguments"]), (&json!("look"), &json!({ "far": true })));
    let reply = json!({
        "sessionId": "sp-1", "requestId": asked["requestId"],
        "result": { "textResultForLlm": "a tree", "resultType": "success", "binaryResultsForLlm": [{ "data": "AA==" }] },
    });
    host.send(4, "session.tools.handlePendingToolCall", reply).await;
    let answer = turn.answer_of(&id, LIMIT).await.unwrap();
    assert_eq!((answer.text.as_str(), answer.kind.as_str(), answer.images.len()), ("a tree", "success", 1));
    turn.end("done");
    assert_eq!(host.event("assistant.message_delta").await["deltaContent"], "done");
    assert_eq!(host.event("session.idle").await, json!({ "mode": "interactive" }));
    assert_eq!(cli.requests("session.create")[0]["availableTools"], json!(["custom:look"]));
}

#[tokio::test]
async fn tool_that_is_not_allowed_never_reaches_the_host() {
    let cli = FakeCli::listen().await;
    let mut host = Host::start(&cli);
    host.call(1, "session.create", chat()).await;
    host.call(2, "session.send", json!({ "sessionId": "sp-1", "prompt": "go" })).await;
    let turn = cli.prompt("go").await.unwrap();
    let answer = turn.call("hidden", json!({}), LIMIT).await.unwrap();
    assert_eq!(answer.kind, "missing");
}

#[tokio::test]
async fn stop_aborts_the_turn_and_late_answers_are_known_as_late() {
    let cli = FakeCli::listen().await;
    let mut host = Host::start(&cli);
    host.call(1, "session.create", chat()).await;
    host.call(2, "session.send", json!({ "sessionId": "sp-1", "prompt": "go" })).await;
    let turn = cli.prompt("go").await.unwrap();
    turn.start_call("look", json!({}));
    let asked = host.event("external_tool.requested").await;
    host.send(3, "session.abort", json!({ "sessionId": "sp-1" })).await;
    assert_eq!(host.event("session.idle").await["aborted"], true);
    turn.aborted(LIMIT).await.unwrap();
    let reply = json!({ "sessionId": "sp-1", "requestId": asked["requestId"], "result": "late" });
    let late = host.call(4, "session.tools.handlePendingToolCall", reply).await;
    assert_eq!(late["result"]["success"], false);
}

#[tokio::test]
async fn chat_is_resumed_only_when_it_was_stored() {
    let cli = FakeCli::listen().await;
    let mut host = Host::start(&cli);
    let unknown = host.call(1, "session.resume", chat()).await;
    assert_eq!(unknown["error"]["code"], -32603);
    assert_eq!(host.call(2, "session.getMetadata", chat()).await["result"], json!({}));
    host.call(3, "session.create", chat()).await;
    host.call(4, "session.send", json!({ "sessionId": "sp-1", "prompt": "hi" })).await;
    let known = host.call(5, "session.getMetadata", chat()).await;
    assert_eq!(known["result"]["session"]["summary"], "hi");
    assert!(host.call(6, "session.resume", chat()).await["result"]["sessionId"].is_string());
    let strange = host.call(7, "no.such", json!({})).await;
    assert_eq!(strange["error"]["code"], -32601);
}

#[tokio::test]
async fn cli_misbehaves_on_command() {
    let cli = FakeCli::listen().await;
    cli.refuse("models.list", json!({ "code": -32603, "message": "no" }));
    let mut host = Host::start(&cli);
    assert_eq!(host.call(1, "models.list", json!({})).await["error"]["message"], "no");
    cli.raw("Content-Length: 2\r\n\r\n{}");
    assert_eq!(host.next().await, json!({}));
    cli.exit(9);
    assert_eq!(host.child.wait().await.unwrap().code(), Some(9));
}
