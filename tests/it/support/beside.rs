//! A browser beside a host process that may die at any moment: answers what it is asked, keeps what it is told.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender, WeakUnboundedSender};
use tokio::task::JoinSet;

use super::fake_cli::LIMIT;
use super::host::Host;

/// The browser's end of one host's pipes.
pub struct Beside {
    to: Option<UnboundedSender<Value>>,
    from: UnboundedReceiver<Value>,
    /// Everything that came, oldest first.
    pub told: Vec<Value>,
    _tasks: JoinSet<()>,
}

impl Beside {
    /// Takes the pipes of the host.
    pub fn of(host: &mut Host) -> Self {
        let (to, orders) = mpsc::unbounded_channel();
        let (heard, from) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(hear(host.from.take().unwrap(), heard, to.downgrade()));
        tasks.spawn(speak(host.to.take().unwrap(), orders));
        Self { to: Some(to), from, told: Vec::new(), _tasks: tasks }
    }

    pub fn send(&self, message: Value) {
        if let Some(to) = &self.to {
            let _ = to.send(message);
        }
    }

    /// From the handshake to an open chat.
    pub fn opens(&self, chat: &str) {
        self.send(
            json!({ "type": "hello", "client": "extension", "protocol": 1, "capabilities": ["queue"] }),
        );
        self.starts(chat);
    }

    pub fn starts(&self, chat: &str) {
        self.send(json!({ "type": "session.start", "sessionId": chat, "capabilities": ["cdp.activeTab"] }));
    }

    pub fn prompts(&self, chat: &str, turn: &str, words: &str) {
        self.send(json!({ "type": "chat.send", "sessionId": chat, "turnId": turn, "text": words }));
    }

    /// The stored chats.
    pub async fn lists(&mut self, request: &str) -> Result<Vec<Value>, String> {
        self.send(json!({ "type": "chat.list", "requestId": request }));
        let answer = self.until("the list of chats", |message| message["requestId"] == request).await?;
        answer["chats"].as_array().cloned().ok_or(format!("no list of chats: {answer}"))
    }

    /// The ending of a turn.
    pub async fn ending(&mut self, turn: &str) -> Result<Value, String> {
        self.until(&format!("the ending of {turn}"), |message| is_ending(message, turn)).await
    }

    /// Waits for a message; what came before counts.
    pub async fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Result<Value, String> {
        if let Some(message) = self.told.iter().find(|message| fits(message)) {
            return Ok(message.clone());
        }
        loop {
            let message = tokio::time::timeout(LIMIT, self.from.recv())
                .await
                .map_err(|_| format!("{what} did not come within {LIMIT:?}"))?
                .ok_or(format!("the host ended before {what} came"))?;
            self.told.push(message.clone());
            if fits(&message) {
                return Ok(message);
            }
        }
    }

    /// Everything that a host which is dead had still written.
    pub async fn rest(&mut self) {
        while let Some(message) = self.from.recv().await {
            self.told.push(message);
        }
    }

    /// Whether the turn was told to have begun.
    pub fn has_begun(&self, turn: &str) -> bool {
        self.told.iter().any(|message| message["type"] == "chat.started" && message["turnId"] == turn)
    }

    /// Whether the turn was told to have ended.
    pub fn has_ended(&self, turn: &str) -> bool {
        self.told.iter().any(|message| is_ending(message, turn))
    }

    /// Closes the host's input, as a browser does that is closed or killed.
    pub fn closes(&mut self) {
        self.to = None;
    }
}

fn is_ending(message: &Value, turn: &str) -> bool {
    matches!(message["type"].as_str(), Some("chat.done" | "chat.error")) && message["turnId"] == turn
}

async fn speak(mut to: ChildStdin, mut orders: UnboundedReceiver<Value>) {
    while let Some(message) = orders.recv().await {
        let body = message.to_string();
        let length = u32::try_from(body.len()).unwrap().to_le_bytes();
        // A host that was just killed does not read any more.
        if to.write_all(&[&length, body.as_bytes()].concat()).await.is_err() {
            return;
        }
    }
}

async fn hear(mut from: ChildStdout, heard: UnboundedSender<Value>, to: WeakUnboundedSender<Value>) {
    loop {
        // A dead host may leave half a frame.
        let Ok(length) = from.read_u32_le().await else { return };
        let mut body = vec![0; usize::try_from(length).unwrap()];
        if from.read_exact(&mut body).await.is_err() {
            return;
        }
        let message: Value = serde_json::from_slice(&body).unwrap();
        let is_request = message["callId"].is_string() && message["type"] != "chat.tool_call";
        if is_request && let Some(to) = to.upgrade() {
            let _ = to.send(json!({
                "type": "tool.result", "sessionId": message["sessionId"], "callId": message["callId"],
                "ok": false, "error": "no browser here",
            }));
        }
        let _ = heard.send(message);
    }
}
