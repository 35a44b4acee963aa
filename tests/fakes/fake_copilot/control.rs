//! The line to the test.
//!
//! Commands: `toolCall` `delta` `message` `end` `fail` `event` `permission` (all of a `sessionId`), `answer` (what a
//! method is answered from now on), `raw` (bytes to the host), `exit`, `hang`, `stubborn`, `spawn` (a child).

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc;

use serde_json::{Value, json};

use crate::{Fake, Input, Next, Override};

/// Where the test listens, if there is one.
pub struct Controller {
    stream: Option<TcpStream>,
}

impl Controller {
    pub fn none() -> Self {
        Self { stream: None }
    }

    pub fn attach(stream: TcpStream, inputs: mpsc::Sender<Input>) -> Self {
        let _ = stream.set_nodelay(true);
        let Ok(from) = stream.try_clone() else { return Self::none() };
        std::thread::spawn(move || {
            for line in BufReader::new(from).lines() {
                let Ok(line) = line else { break };
                if let Ok(command) = serde_json::from_str(&line)
                    && inputs.send(Input::Command(command)).is_err()
                {
                    return;
                }
            }
            let _ = inputs.send(Input::ControllerGone);
        });
        Self { stream: Some(stream) }
    }

    pub fn is_attached(&self) -> bool {
        self.stream.is_some()
    }

    pub fn tell(&mut self, event: Value) {
        if let Some(stream) = &mut self.stream {
            let _ = stream.write_all(format!("{event}\n").as_bytes());
        }
    }
}

impl Fake {
    /// Does what the test says.
    pub fn obey(&mut self, command: &Value) -> Next {
        match command["cmd"].as_str().unwrap_or_default() {
            "answer" => self.change_answer(command),
            "raw" => self.peer.raw(command["bytes"].as_str().unwrap_or_default().as_bytes()),
            "exit" => {
                return Some(ExitCode::from(
                    command["code"].as_u64().and_then(|c| u8::try_from(c).ok()).unwrap_or(0),
                ));
            }
            "hang" => self.hung = true,
            "stubborn" => {
                self.stubborn = true;
                ignore_sigterm();
            }
            "spawn" => self.spawn_child(),
            _ => self.obey_in_session(command),
        }
        None
    }

    fn obey_in_session(&mut self, command: &Value) {
        let id = command["sessionId"].as_str().unwrap_or_default();
        let Some(session) = self.sessions.get_mut(id) else {
            self.controller.tell(json!({ "event": "noSession", "command": command }));
            return;
        };
        let text = command["text"].as_str().unwrap_or_default();
        let message_id = command["messageId"].as_str().unwrap_or("m1");
        match command["cmd"].as_str().unwrap_or_default() {
            "toolCall" => {
                if let Some(told) = session.call(&mut self.peer, command) {
                    self.controller.tell(told);
                }
            }
            "delta" => session.delta(&mut self.peer, message_id, text, &command["more"]),
            "message" => session.message(&mut self.peer, message_id, text),
            "end" => session.end(&mut self.peer, text),
            "fail" => session.fail(&mut self.peer, command),
            "event" => {
                let kind = command["type"].as_str().unwrap_or_default();
                session.emit(&mut self.peer, kind, command["data"].clone(), &command["more"]);
            }
            "permission" => session.emit(
                &mut self.peer,
                "permission.requested",
                json!({ "requestId": command["requestId"], "permissionRequest": command["request"] }),
                &Value::Null,
            ),
            other => self.controller.tell(json!({ "event": "unknownCommand", "cmd": other })),
        }
    }

    fn change_answer(&mut self, command: &Value) {
        let method = command["method"].as_str().unwrap_or_default().to_owned();
        let change = if let Some(result) = command.get("result") {
            Override::Result(result.clone())
        } else if let Some(error) = command.get("error") {
            Override::Error(error.clone())
        } else if command["silence"] == true {
            Override::Silence
        } else {
            self.overrides.remove(&method);
            return;
        };
        self.overrides.insert(method, change);
    }

    /// A process that outlives us unless somebody kills it.
    fn spawn_child(&mut self) {
        let mut child = Command::new("sleep");
        child.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match child.spawn() {
            Ok(child) => {
                self.controller.tell(json!({ "event": "spawned", "pid": child.id() }));
                self.children.push(child);
            }
            Err(error) => self.controller.tell(json!({ "event": "spawnFailed", "error": error.to_string() })),
        }
    }
}

/// Takes the signal and does nothing with it.
fn ignore_sigterm() {
    std::thread::spawn(|| {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            let kind = tokio::signal::unix::SignalKind::terminate();
            let Ok(mut signals) = tokio::signal::unix::signal(kind) else { return };
            while signals.recv().await.is_some() {}
        });
    });
}
