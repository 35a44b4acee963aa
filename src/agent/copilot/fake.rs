//! A CLI that does what a test tells it to, in memory.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::sync::{mpsc, watch};

use super::CopilotBackend;
use super::frame::{self, FrameDecoder};
use super::process::{Candidate, LaunchError, Launched, Launcher, Process};
use crate::agent::AgentError;
use crate::config::{Config, Provider};

/// The test's end of one started CLI.
pub struct FakeCli {
    input: DuplexStream,
    output: DuplexStream,
    decoder: FrameDecoder,
    exit: watch::Sender<Option<String>>,
    events: u64,
    /// What the host did to the process: `let go`, `kill`.
    pub signals: mpsc::UnboundedReceiver<&'static str>,
}

/// A request of the host.
#[derive(Debug)]
pub struct Asked {
    pub id: u64,
    pub method: String,
    pub params: Value,
}

impl FakeCli {
    /// The next request; answers to our own requests are passed over.
    pub async fn asked(&mut self) -> Asked {
        loop {
            if let Some(body) = self.decoder.next_body().unwrap() {
                let value: Value = serde_json::from_slice(&body).unwrap();
                let Some(method) = value["method"].as_str() else { continue };
                return Asked {
                    id: value["id"].as_u64().unwrap(),
                    method: method.to_owned(),
                    params: value["params"].clone(),
                };
            }
            let read = self.input.read_buf(self.decoder.buffer()).await.unwrap();
            assert_ne!(read, 0, "the host closed the connection");
        }
    }

    /// The next request of this kind; everything before gets an empty answer.
    pub async fn asked_for(&mut self, method: &str) -> Asked {
        loop {
            let asked = self.asked().await;
            if asked.method == method {
                return asked;
            }
            self.answer(&asked, default_answer(&asked.method)).await;
        }
    }

    /// Answers like the real one until a prompt has been taken; gives the prompt's parameters.
    pub async fn takes_prompt(&mut self) -> Value {
        let send = self.asked_for("session.send").await;
        self.answer(&send, json!({"messageId": "m-1"})).await;
        self.event("user.message", json!({"content": "x"})).await;
        send.params
    }

    /// Answers the question who is signed in, which comes next: nobody.
    pub async fn knows_nobody(&mut self) {
        let asked = self.asked_for("auth.getStatus").await;
        self.answer(&asked, json!({"isAuthenticated": false, "statusMessage": "Not authenticated"})).await;
        let why = self.asked_for("account.getCurrentAuth").await;
        self.answer(&why, json!({})).await;
    }

    pub async fn answer(&mut self, asked: &Asked, result: Value) {
        self.write(&json!({"jsonrpc": "2.0", "id": asked.id, "result": result})).await;
    }

    pub async fn refuse(&mut self, asked: &Asked, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.write(&json!({"jsonrpc": "2.0", "id": asked.id, "error": error})).await;
    }

    /// Sends an event of the chat `sp-1` with a fresh id.
    pub async fn event(&mut self, kind: &str, data: Value) {
        self.events += 1;
        let id = uuid::Uuid::from_u128(u128::from(self.events)).to_string();
        self.event_with(json!({"type": kind, "data": data, "id": id})).await;
    }

    pub async fn event_with(&mut self, event: Value) {
        let params = json!({"sessionId": "sp-1", "event": event});
        self.write(&json!({"jsonrpc": "2.0", "method": "session.event", "params": params})).await;
    }

    pub async fn write(&mut self, message: &Value) {
        let frame = frame::encode(message.to_string().as_bytes());
        // The other side may be gone already.
        let _ = self.output.write_all(&frame).await;
    }

    pub async fn writes_text(&mut self, text: &str) {
        self.output.write_all(text.as_bytes()).await.unwrap();
    }

    /// The process ends.
    pub fn dies(self, how: &str) {
        self.exit.send_replace(Some(how.to_owned()));
    }
}

/// What the real one answers when nothing is special.
pub fn default_answer(method: &str) -> Value {
    match method {
        "connect" => json!({"ok": true, "protocolVersion": 3, "version": "1.0.102"}),
        "auth.getStatus" => json!({"isAuthenticated": true, "login": "someone"}),
        "session.getMetadata" => json!({}),
        "mcp.config.list" => json!({"servers": {"theirs": {}}}),
        "session.create" | "session.resume" => json!({"modelState": {"modelId": "chosen"}}),
        "session.delete" => json!({"success": true}),
        _ => json!({}),
    }
}

/// Hands out CLIs to the supervisor and their other ends to the test.
pub struct FakeLauncher {
    candidates: Arc<Mutex<Vec<Candidate>>>,
    started: mpsc::UnboundedSender<(PathBuf, FakeCli)>,
    /// Starts that the system refuses, by count.
    refusals: Arc<Mutex<VecDeque<()>>>,
}

/// The test's side of a [`FakeLauncher`].
pub struct Started {
    receiver: mpsc::UnboundedReceiver<(PathBuf, FakeCli)>,
    refusals: Arc<Mutex<VecDeque<()>>>,
    candidates: Arc<Mutex<Vec<Candidate>>>,
}

impl Started {
    /// From now on this program is found, or with `None` no program.
    pub fn finds(&self, program: Option<&str>) {
        let found = program.map(|name| candidate(name, None, false));
        *self.candidates.lock().unwrap() = found.into_iter().collect();
    }

    /// The next CLI that the host starts, before it said anything.
    pub async fn raw(&mut self) -> FakeCli {
        self.receiver.recv().await.expect("the host starts a CLI").1
    }

    /// The program and the next CLI.
    pub async fn named(&mut self) -> (PathBuf, FakeCli) {
        self.receiver.recv().await.expect("the host starts a CLI")
    }

    /// The next CLI, connected.
    pub async fn cli(&mut self) -> FakeCli {
        let mut cli = self.raw().await;
        let connect = cli.asked_for("connect").await;
        cli.answer(&connect, default_answer("connect")).await;
        cli
    }

    /// The system refuses the next `count` starts.
    pub fn refuse(&self, count: usize) {
        self.refusals.lock().unwrap().extend(std::iter::repeat_n((), count));
    }
}

/// A way to start a CLI.
pub fn candidate(name: &str, version: Option<&str>, optional: bool) -> Candidate {
    Candidate {
        program: PathBuf::from(name),
        args: Vec::new(),
        version: version.map(str::to_owned),
        limit: Duration::from_secs(if optional { 3 } else { 20 }),
        optional,
    }
}

/// A backend with an own provider, so that no sign-in is needed.
pub fn backend() -> (CopilotBackend, Started) {
    let provider = Provider {
        base_url: "http://127.0.0.1:1/v1".into(),
        model: "m".into(),
        api_key: None,
        ..Provider::default()
    };
    let config = Config { provider: Some(provider), ..Config::default() };
    backend_with(config, vec![candidate("full", None, false)])
}

pub fn backend_with(config: Config, candidates: Vec<Candidate>) -> (CopilotBackend, Started) {
    let (started, receiver) = mpsc::unbounded_channel();
    let refusals = Arc::new(Mutex::new(VecDeque::new()));
    let candidates = Arc::new(Mutex::new(candidates));
    let launcher =
        FakeLauncher { candidates: Arc::clone(&candidates), started, refusals: Arc::clone(&refusals) };
    let config = watch::Sender::new(config);
    let backend = CopilotBackend::with_launcher(launcher, config, PathBuf::from("/home/x/sessions"));
    (backend, Started { receiver, refusals, candidates })
}

impl Launcher for FakeLauncher {
    fn candidates(&self) -> Result<Vec<Candidate>, AgentError> {
        let candidates = self.candidates.lock().unwrap().clone();
        if candidates.is_empty() {
            return Err(AgentError::CliMissing("no program there".to_owned()));
        }
        Ok(candidates)
    }

    fn launch(&self, candidate: &Candidate) -> Result<Launched, LaunchError> {
        if self.refusals.lock().unwrap().pop_front().is_some() {
            return Err(std::io::Error::other("no such program").into());
        }
        let (host_reads, output) = tokio::io::duplex(1 << 20);
        let (input, host_writes) = tokio::io::duplex(1 << 20);
        let (exit, exited) = watch::channel(None);
        let (signal, signals) = mpsc::unbounded_channel();
        let cli = FakeCli { input, output, decoder: FrameDecoder::default(), exit, events: 0, signals };
        let _ = self.started.send((candidate.program.clone(), cli));
        let process = FakeProcess { exited, signal };
        Ok(Launched {
            reader: Box::new(host_reads),
            writer: Box::new(host_writes),
            process: Box::new(process),
        })
    }
}

struct FakeProcess {
    exited: watch::Receiver<Option<String>>,
    signal: mpsc::UnboundedSender<&'static str>,
}

#[async_trait]
impl Process for FakeProcess {
    async fn exited(&mut self) -> String {
        match self.exited.wait_for(Option::is_some).await {
            Ok(how) => how.clone().unwrap_or_default(),
            Err(_) => "it is gone".to_owned(),
        }
    }

    fn let_go(&mut self) {
        let _ = self.signal.send("let go");
    }

    fn kill(&mut self) {
        let _ = self.signal.send("kill");
    }

    fn last_words(&self) -> String {
        "last words".to_owned()
    }
}
