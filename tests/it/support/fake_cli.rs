//! The test's end of the fake Copilot CLI (`tests/fakes/fake_copilot.rs`): listens for it, hands it tool calls,
//! sees what the host answers.

use std::ffi::OsString;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How long what must come may take; generous, because the machine may be busy.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Listens for every fake CLI that a host starts with [`FakeCli::environment`]. Clones share it.
#[derive(Clone)]
pub struct FakeCli {
    address: String,
    shared: Arc<Shared>,
    _tasks: Arc<JoinSet<()>>,
}

struct Shared {
    state: Mutex<State>,
    /// Counts what happened.
    count: watch::Sender<usize>,
    calls: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Everything the CLIs told, oldest first.
    events: Vec<Value>,
    /// The way to the newest CLI.
    link: Option<mpsc::UnboundedSender<String>>,
    /// Told to every CLI before it hears the host.
    settings: Vec<Value>,
}

/// What the model would have read.
#[derive(Debug, Clone)]
pub struct ToolAnswer {
    pub text: String,
    /// `success`, `failure`, or `missing` when the tool is not on the list that the host allowed.
    pub kind: String,
    /// `{data, mimeType, …}` each.
    pub images: Vec<Value>,
    pub took: Duration,
}

/// A prompt that reached the CLI, and the turn it began.
#[derive(Clone)]
pub struct Turn {
    cli: FakeCli,
    pub session_id: String,
    /// How much had been told when the turn began.
    since: usize,
    /// What the model would have read.
    pub text: String,
}

impl FakeCli {
    pub async fn listen() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Arc::new(Shared {
            state: Mutex::default(),
            count: watch::Sender::new(0),
            calls: AtomicU64::new(0),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&shared)));
        Self { address, shared, _tasks: Arc::new(tasks) }
    }

    /// Variables that make a host start the fake, and keep a real sign-in out of the tests.
    pub fn environment(&self) -> Vec<(OsString, Option<OsString>)> {
        let set = |name: &str, value: &str| (OsString::from(name), Some(OsString::from(value)));
        let mut variables = vec![
            set("COPILOT_CLI_PATH", env!("CARGO_BIN_EXE_fake-copilot")),
            set("COPILOT_FAKE_CLI", &self.address),
        ];
        for name in ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_HOME", "COPILOT_CACHE_HOME"]
        {
            variables.push((OsString::from(name), None));
        }
        variables
    }

    /// From now on `method` is answered with `result`; also by CLIs that start later.
    pub fn answer(&self, method: &str, result: Value) {
        self.set(json!({ "cmd": "answer", "method": method, "result": result }));
    }

    /// From now on `method` fails.
    pub fn refuse(&self, method: &str, error: Value) {
        self.set(json!({ "cmd": "answer", "method": method, "error": error }));
    }

    /// From now on `method` is never answered.
    pub fn silence(&self, method: &str) {
        self.set(json!({ "cmd": "answer", "method": method, "silence": true }));
    }

    /// Every CLI ignores the end of its input and SIGTERM.
    pub fn stubborn(&self) {
        self.set(json!({ "cmd": "stubborn" }));
    }

    /// Every CLI starts a process of its own that nothing but a signal ends.
    pub fn with_child(&self) {
        self.set(json!({ "cmd": "spawn" }));
    }

    fn set(&self, command: Value) {
        let mut state = self.shared.state.lock().unwrap();
        if let Some(link) = &state.link {
            let _ = link.send(command.to_string());
        }
        state.settings.push(command);
    }

    /// Tells the newest CLI something.
    pub fn tell(&self, command: &Value) {
        let state = self.shared.state.lock().unwrap();
        if let Some(link) = &state.link {
            let _ = link.send(command.to_string());
        }
    }

    /// The CLI ends.
    pub fn exit(&self, code: u8) {
        self.tell(&json!({ "cmd": "exit", "code": code }));
    }

    /// The CLI answers nothing any more.
    pub fn hang(&self) {
        self.tell(&json!({ "cmd": "hang" }));
    }

    /// Bytes go to the host as they are.
    pub fn raw(&self, bytes: &str) {
        self.tell(&json!({ "cmd": "raw", "bytes": bytes }));
    }

    /// Everything the CLIs told so far.
    pub fn events(&self) -> Vec<Value> {
        self.shared.state.lock().unwrap().events.clone()
    }

    /// The parameters of every request of this method that a host sent, oldest first.
    pub fn requests(&self, method: &str) -> Vec<Value> {
        let events = self.events();
        let frames = events.iter().filter(|event| event["event"] == "frame").map(|event| &event["frame"]);
        frames.filter(|frame| frame["method"] == method).map(|frame| frame["params"].clone()).collect()
    }

    /// Process ids of every CLI that started, oldest first.
    pub fn pids(&self) -> Vec<u64> {
        self.events().iter().filter(|e| e["event"] == "hello").filter_map(|e| e["pid"].as_u64()).collect()
    }

    /// Waits for something a CLI tells; what it told before counts.
    pub async fn wait_for(
        &self,
        what: &str,
        limit: Duration,
        fits: impl Fn(&Value) -> bool,
    ) -> Result<Value, String> {
        self.wait_since(0, what, limit, fits).await.map(|(_, event)| event)
    }

    async fn wait_since(
        &self,
        since: usize,
        what: &str,
        limit: Duration,
        fits: impl Fn(&Value) -> bool,
    ) -> Result<(usize, Value), String> {
        let mut changes = self.shared.count.subscribe();
        let end = Instant::now() + limit;
        let mut seen = since;
        loop {
            {
                changes.borrow_and_update();
                let state = self.shared.state.lock().unwrap();
                if let Some(index) = state.events[seen..].iter().position(&fits) {
                    return Ok((seen + index, state.events[seen + index].clone()));
                }
                seen = state.events.len();
            }
            if tokio::time::timeout_at(end, changes.changed()).await.is_err() {
                return Err(format!("the CLI did not tell within {limit:?}: {what}"));
            }
        }
    }

    /// Waits until `count` CLIs have started in all.
    pub async fn started(&self, count: usize) {
        let mut changes = self.shared.count.subscribe();
        let done = changes.wait_for(|_| self.pids().len() >= count);
        tokio::time::timeout(LIMIT, done).await.unwrap().unwrap();
    }

    /// Forgets what was told so far, so that a test of many turns does not search it all each time.
    pub fn forget(&self) {
        self.shared.state.lock().unwrap().events.clear();
    }

    /// The turn of the prompt that contains `text`.
    pub async fn prompt(&self, text: &str) -> Result<Turn, String> {
        let fits =
            |e: &Value| e["event"] == "prompt" && e["text"].as_str().unwrap_or_default().contains(text);
        let (since, event) = self.wait_since(0, &format!("a prompt with “{text}”"), LIMIT, fits).await?;
        Ok(Turn {
            cli: self.clone(),
            since,
            session_id: event["sessionId"].as_str().unwrap_or_default().to_owned(),
            text: event["text"].as_str().unwrap_or_default().to_owned(),
        })
    }

    /// Whether a prompt that contains `text` has arrived.
    pub fn has_prompt(&self, text: &str) -> bool {
        let events = self.events();
        events.iter().any(|e| e["event"] == "prompt" && e["text"].as_str().unwrap_or_default().contains(text))
    }
}

impl Turn {
    /// Calls a tool and waits for its answer.
    pub async fn call(&self, tool: &str, args: Value, limit: Duration) -> Result<ToolAnswer, String> {
        let id = self.start_call(tool, args);
        self.answer_of(&id, limit).await
    }

    /// Calls a tool; gives the call's id. One that `more_tools` would reveal is called as if it had been.
    pub fn start_call(&self, tool: &str, args: Value) -> String {
        let hidden = browy::tools::by_name(tool).is_some() && !browy::tools::first::is_first(tool);
        self.start(tool, args, hidden)
    }

    /// Calls a tool although the host did not allow it.
    pub fn force_call(&self, tool: &str, args: Value) -> String {
        self.start(tool, args, true)
    }

    fn start(&self, tool: &str, args: Value, force: bool) -> String {
        let id = format!("call-{}", self.cli.shared.calls.fetch_add(1, Ordering::Relaxed));
        self.tell(json!({ "cmd": "toolCall", "callId": id, "tool": tool, "args": args, "force": force }));
        id
    }

    /// The answer of a call that was started.
    pub async fn answer_of(&self, id: &str, limit: Duration) -> Result<ToolAnswer, String> {
        let began = Instant::now();
        let fits = |e: &Value| match e["event"].as_str() {
            Some("toolResult") => e["callId"] == *id,
            Some("abort") => e["sessionId"] == *self.session_id,
            Some("gone") => true,
            _ => false,
        };
        let (_, event) = self.cli.wait_since(self.since, &format!("the result of {id}"), limit, fits).await?;
        if event["event"] != "toolResult" {
            return Err(format!("the turn ended before the call was answered ({})", event["event"]));
        }
        Ok(ToolAnswer {
            text: event["text"].as_str().unwrap_or_default().to_owned(),
            kind: event["resultType"].as_str().unwrap_or_default().to_owned(),
            images: event["images"].as_array().cloned().unwrap_or_default(),
            took: began.elapsed(),
        })
    }

    /// A piece of text of the message `message_id`.
    pub fn delta(&self, message_id: &str, text: &str) {
        self.tell(json!({ "cmd": "delta", "messageId": message_id, "text": text }));
    }

    /// A piece with an event id of the test's own, to send it twice.
    pub fn delta_with_id(&self, message_id: &str, text: &str, event_id: &str) {
        self.tell(json!({
            "cmd": "delta", "messageId": message_id, "text": text, "more": { "id": event_id },
        }));
    }

    /// A whole message.
    pub fn message(&self, message_id: &str, text: &str) {
        self.tell(json!({ "cmd": "message", "messageId": message_id, "text": text }));
    }

    /// Any event.
    pub fn event(&self, kind: &str, data: Value) {
        self.tell(json!({ "cmd": "event", "type": kind, "data": data }));
    }

    /// One of the CLI's own tools asks for permission.
    pub fn ask_permission(&self, request_id: &str, request: Value) {
        self.tell(json!({ "cmd": "permission", "requestId": request_id, "request": request }));
    }

    /// The model says `text` (nothing when empty) and is done.
    pub fn end(&self, text: &str) {
        self.tell(json!({ "cmd": "end", "text": text }));
    }

    /// The model service fails.
    pub fn fail(&self, kind: &str, message: &str, status: Option<u16>) {
        self.tell(json!({ "cmd": "fail", "errorType": kind, "message": message, "statusCode": status }));
    }

    /// Waits until the host has stopped this chat.
    pub async fn aborted(&self, limit: Duration) -> Result<(), String> {
        let fits = |e: &Value| e["event"] == "abort" && e["sessionId"] == *self.session_id;
        self.cli.wait_for("an abort", limit, fits).await.map(drop)
    }

    fn tell(&self, mut command: Value) {
        command["sessionId"] = json!(self.session_id);
        self.cli.tell(&command);
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut links = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        let _ = stream.set_nodelay(true);
        let (link, lines) = mpsc::unbounded_channel();
        {
            let mut state = shared.state.lock().unwrap();
            for command in &state.settings {
                let _ = link.send(command.to_string());
            }
            let _ = link.send(json!({ "cmd": "go" }).to_string());
            state.link = Some(link);
        }
        links.spawn(serve(stream, lines, Arc::clone(&shared)));
    }
}

async fn serve(stream: TcpStream, mut lines: mpsc::UnboundedReceiver<String>, shared: Arc<Shared>) {
    let (from, mut to) = stream.into_split();
    let mut from = BufReader::new(from).lines();
    loop {
        tokio::select! {
            line = lines.recv() => {
                let Some(line) = line else { return };
                if to.write_all(format!("{line}\n").as_bytes()).await.is_err() {
                    return;
                }
            }
            line = from.next_line() => {
                let event = match line {
                    Ok(Some(line)) => serde_json::from_str(&line).unwrap_or(Value::Null),
                    _ => json!({ "event": "gone" }),
                };
                let over = event["event"] == "gone";
                shared.state.lock().unwrap().events.push(event);
                shared.count.send_modify(|count| *count += 1);
                if over {
                    return;
                }
            }
        }
    }
}
