//! A stand-in for the Copilot CLI: speaks its JSON-RPC on stdin and stdout, and does what a test tells it
//! over a loopback connection (`COPILOT_FAKE_CLI=127.0.0.1:port`, one JSON text per line both ways; the host hands
//! no other variables of ours to a CLI than `COPILOT_…`). Without that variable it answers every prompt with one
//! sentence. What can be told is listed in `control.rs`.

#[path = "fake_copilot/control.rs"]
mod control;
#[path = "fake_copilot/session.rs"]
mod session;
#[path = "fake_copilot/wire.rs"]
mod wire;

use std::collections::HashMap;
use std::io::BufReader;
use std::net::TcpStream;
use std::process::ExitCode;
use std::sync::mpsc;

use serde_json::{Value, json};

use control::Controller;
use session::Session;
use wire::Peer;

/// What reaches the one thread that decides.
pub enum Input {
    /// A frame of the host.
    Frame(Value),
    /// The host closed our stdin.
    Eof,
    /// A line of the test.
    Command(Value),
    /// The test went away.
    ControllerGone,
}

/// What is answered instead of the usual.
enum Override {
    Result(Value),
    Error(Value),
    Silence,
}

struct Fake {
    peer: Peer,
    controller: Controller,
    sessions: HashMap<String, Session>,
    overrides: HashMap<String, Override>,
    /// Nothing is answered any more.
    hung: bool,
    /// The end of stdin does not end us.
    stubborn: bool,
    children: Vec<std::process::Child>,
}

/// Whether the process goes on.
type Next = Option<ExitCode>;

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == "--version") {
        wire::print_version();
        return ExitCode::SUCCESS;
    }
    let (inputs, inbox) = mpsc::channel();
    let controller = match std::env::var("COPILOT_FAKE_CLI") {
        Ok(address) => match TcpStream::connect(&address) {
            Ok(stream) => Controller::attach(stream, inputs.clone()),
            Err(_) => return ExitCode::from(7),
        },
        Err(_) => Controller::none(),
    };
    let mut fake = Fake {
        peer: Peer,
        controller,
        sessions: HashMap::new(),
        overrides: HashMap::new(),
        hung: false,
        stubborn: false,
        children: Vec::new(),
    };
    // The settings of the test come before the first word of the host.
    if fake.controller.is_attached() {
        fake.controller.tell(json!({
            "event": "hello",
            "pid": std::process::id(),
            "argv": std::env::args().collect::<Vec<_>>(),
            "cwd": std::env::current_dir().unwrap_or_default().to_string_lossy(),
            "env": std::env::vars_os()
                .map(|(name, value)| (wire::lossy(&name), wire::lossy(&value)))
                .collect::<HashMap<_, _>>(),
        }));
        loop {
            match inbox.recv() {
                Ok(Input::Command(command)) if command["cmd"] == "go" => break,
                Ok(Input::Command(command)) => {
                    if let Some(code) = fake.obey(&command) {
                        return code;
                    }
                }
                _ => return ExitCode::from(8),
            }
        }
    }
    std::thread::spawn(move || wire::read_frames(BufReader::new(std::io::stdin()), &inputs));
    let code = fake.run(&inbox);
    for child in &mut fake.children {
        let _ = child.kill();
        let _ = child.wait();
    }
    code
}

impl Fake {
    fn run(&mut self, inbox: &mpsc::Receiver<Input>) -> ExitCode {
        while let Ok(input) = inbox.recv() {
            let next = match input {
                Input::Frame(frame) => {
                    self.controller.tell(json!({ "event": "frame", "frame": frame }));
                    if self.hung { None } else { self.host_says(&frame) }
                }
                Input::Eof => {
                    self.controller.tell(json!({ "event": "eof" }));
                    if self.stubborn { None } else { Some(ExitCode::SUCCESS) }
                }
                Input::Command(command) => self.obey(&command),
                Input::ControllerGone => {
                    self.controller = Controller::none();
                    if self.stubborn { Some(ExitCode::SUCCESS) } else { None }
                }
            };
            if let Some(code) = next {
                return code;
            }
        }
        ExitCode::SUCCESS
    }

    fn host_says(&mut self, frame: &Value) -> Next {
        let (Some(method), Some(id)) = (frame["method"].as_str(), frame.get("id")) else { return None };
        match self.overrides.get(method) {
            Some(Override::Silence) => return None,
            Some(Override::Result(result)) => {
                let result = result.clone();
                self.peer.answer(id, result);
                return None;
            }
            Some(Override::Error(error)) => {
                let error = error.clone();
                self.peer.refuse(id, error);
                return None;
            }
            None => {}
        }
        let params = &frame["params"];
        if method == "runtime.shutdown" {
            self.peer.answer(id, Value::Null);
            return Some(ExitCode::SUCCESS);
        }
        match self.reply(method, params) {
            Ok(result) => self.peer.answer(id, result),
            Err(error) => self.peer.refuse(id, error),
        }
        self.after(method, params);
        None
    }

    /// What the real CLI 1.0.102 answers, as far as Browy looks at it.
    fn reply(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let session_id = params["sessionId"].as_str().unwrap_or_default().to_owned();
        match method {
            "connect" => Ok(json!({
                "ok": true, "protocolVersion": 3, "version": wire::VERSION, "taskKinds": ["agent", "shell"],
            })),
            "ping" => {
                let message = params["message"].as_str().unwrap_or_default();
                Ok(
                    json!({ "message": format!("pong: {message}"), "timestamp": session::now(), "protocolVersion": 3 }),
                )
            }
            "status.get" => Ok(json!({ "version": wire::VERSION, "protocolVersion": 3 })),
            "auth.getStatus" => Ok(json!({
                "isAuthenticated": true, "authType": "env", "host": "https://github.com", "login": "fake",
                "statusMessage": "Authenticated as fake",
            })),
            "models.list" => Ok(json!({ "models": [
                { "id": "fake-one", "name": "Fake One", "vendor": "Fake", "capabilities": { "supports": { "vision": true }, "limits": { "max_context_window_tokens": 128_000 } } },
                { "id": "fake-two", "name": "Fake Two", "vendor": "Fake", "capabilities": { "supports": { "vision": true }, "limits": { "max_context_window_tokens": 128_000 } } },
            ] })),
            "session.list" => Ok(json!({ "sessions": session::all_stored() })),
            "session.getMetadata" => Ok(match session::stored(&session_id) {
                Some(metadata) => json!({ "session": metadata }),
                None => json!({}),
            }),
            "session.delete" => {
                self.sessions.remove(&session_id);
                Ok(if session::delete(&session_id) {
                    json!({ "success": true })
                } else {
                    json!({ "success": false, "error": format!("Session file not found for {session_id}") })
                })
            }
            "session.create" => {
                let model = params["model"].as_str().unwrap_or("fake-one").to_owned();
                let session = Session::new(params);
                let answer = session.created(&model);
                self.sessions.insert(session_id, session);
                Ok(answer)
            }
            "session.resume" if session::stored(&session_id).is_none() => Err(failed(
                method,
                &format!("Failed to load session events: Session not found: {session_id}"),
            )),
            "session.resume" => {
                let model = params["model"].as_str().unwrap_or("fake-one").to_owned();
                let session = Session::new(params);
                let answer = session.created(&model);
                self.sessions.insert(session_id, session);
                Ok(answer)
            }
            _ => self.reply_of_session(method, &session_id, params),
        }
    }

    fn reply_of_session(&mut self, method: &str, id: &str, params: &Value) -> Result<Value, Value> {
        const OF_SESSION: &[&str] = &[
            "session.send",
            "session.abort",
            "session.detach",
            "session.getMessages",
            "session.options.update",
            "session.model.switchTo",
            "session.mcp.list",
            "session.mcp.disable",
            "session.name.set",
            "session.tools.set",
            "session.tools.handlePendingToolCall",
            "session.permissions.handlePendingPermissionRequest",
            "session.metadata.contextInfo",
        ];
        if !OF_SESSION.contains(&method) {
            return Err(json!({ "code": -32601, "message": format!("Unhandled method {method}") }));
        }
        let Some(session) = self.sessions.get_mut(id) else {
            return Err(failed(method, &format!("Session not found for sessionId: {id}")));
        };
        Ok(match method {
            "session.send" => json!({ "messageId": session::fresh() }),
            "session.getMessages" => json!({ "events": session::events(id) }),
            "session.mcp.list" => json!({ "servers": [], "host": {} }),
            "session.metadata.contextInfo" => {
                json!({ "contextInfo": { "tokenLimit": 128_000, "totalTokens": 1000 } })
            }
            "session.tools.handlePendingToolCall" => json!({ "success": session.answers(params) }),
            _ => json!({ "success": true }),
        })
    }

    /// What follows an answer: events, and word to the test.
    fn after(&mut self, method: &str, params: &Value) {
        let id = params["sessionId"].as_str().unwrap_or_default();
        let Some(session) = self.sessions.get_mut(id) else { return };
        match method {
            "session.send" => {
                session.begin(&mut self.peer, params);
                if self.controller.is_attached() {
                    self.controller.tell(json!({
                        "event": "prompt", "sessionId": id, "text": params["prompt"], "params": params,
                    }));
                } else {
                    session.end(&mut self.peer, "This is the fake model. It read what you wrote.");
                }
            }
            "session.abort" => {
                self.controller.tell(json!({ "event": "abort", "sessionId": id }));
                session.abort(&mut self.peer);
            }
            "session.tools.handlePendingToolCall" => {
                let told = session.completed(&mut self.peer, params);
                self.controller.tell(told);
            }
            "session.permissions.handlePendingPermissionRequest" => self.controller.tell(json!({
                "event": "permission", "sessionId": id, "requestId": params["requestId"], "result": params["result"],
            })),
            "session.detach" => drop(self.sessions.remove(id)),
            _ => {}
        }
    }
}

fn failed(method: &str, why: &str) -> Value {
    json!({ "code": -32603, "message": format!("Request {method} failed with message: {why}") })
}
