//! A model backend whose turns are played by the test.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use browy::agent::{
    AgentBackend, AgentError, AgentEvent, AgentTurn, AuthState, BackendStatus, ChatSpec, Ending, Entry,
    Model, Prompt, StoredChat, ToolReply, TurnControl,
};
use browy::config::Config;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// The backend. Every prompt arrives at the test as a [`FakeTurn`].
pub struct FakeAgent {
    status: watch::Sender<BackendStatus>,
    prompts: mpsc::UnboundedSender<FakeTurn>,
    /// The next prompt fails with this.
    pub refuse: watch::Sender<Option<AgentError>>,
    pub deleted: mpsc::UnboundedSender<String>,
    /// The chats it has stored.
    pub stored: watch::Sender<Vec<StoredChat>>,
    /// The settings it was told last.
    pub config: watch::Sender<Config>,
}

/// Prompts as they arrive.
pub struct Prompts(mpsc::UnboundedReceiver<FakeTurn>);

/// One turn, seen from the model's side.
pub struct FakeTurn {
    pub chat: ChatSpec,
    pub prompt: Prompt,
    events: mpsc::Sender<AgentEvent>,
    replies: mpsc::UnboundedReceiver<(String, ToolReply)>,
    aborted: CancellationToken,
}

impl FakeAgent {
    pub fn ready() -> (Arc<Self>, Prompts, mpsc::UnboundedReceiver<String>) {
        let (prompts, received) = mpsc::unbounded_channel();
        let (deleted, deletions) = mpsc::unbounded_channel();
        let status =
            BackendStatus::Ready { version: "0.0.0".to_owned(), auth: AuthState::Ready { detail: None } };
        let agent = Self {
            status: watch::Sender::new(status),
            prompts,
            refuse: watch::Sender::new(None),
            deleted,
            stored: watch::Sender::default(),
            config: watch::Sender::default(),
        };
        (Arc::new(agent), Prompts(received), deletions)
    }

    /// It has not started yet; what it is asked waits.
    pub fn is_starting(&self) {
        self.status.send_replace(BackendStatus::Starting);
    }

    /// It has a chat on disk.
    pub fn stores(&self, id: &str, modified_time: u64, surely_ours: bool) {
        let chat = StoredChat {
            id: id.to_owned(),
            summary: Some(format!("words of {id}")),
            start_time: 1,
            modified_time,
            surely_ours,
        };
        self.stored.send_modify(|stored| stored.push(chat));
    }
}

impl Prompts {
    /// The next prompt; fails the test if none comes.
    pub async fn next(&mut self) -> FakeTurn {
        tokio::time::timeout(Duration::from_secs(60), self.0.recv())
            .await
            .expect("a prompt")
            .expect("a living runner")
    }

    /// Whether a prompt has arrived that nobody took.
    pub fn waiting(&mut self) -> bool {
        !self.0.is_empty()
    }
}

impl FakeTurn {
    /// Something happens in the turn.
    pub async fn emit(&self, event: AgentEvent) {
        let _ = self.events.send(event).await;
    }

    /// The model says something.
    pub async fn says(&self, message: &str, text: &str) {
        self.emit(AgentEvent::TextDelta { message_id: message.to_owned(), text: text.to_owned() }).await;
    }

    /// The model calls a tool and reads its answer.
    pub async fn calls(&mut self, tool: &str, args: Value) -> ToolReply {
        let id = format!("call {tool}");
        self.begins_call(&id, tool, args).await;
        let (answered, reply) = self.reply().await;
        assert_eq!(answered, id);
        reply
    }

    /// The model calls a tool and does not wait.
    pub async fn begins_call(&self, id: &str, tool: &str, args: Value) {
        self.emit(AgentEvent::ToolCall { id: id.to_owned(), name: tool.to_owned(), args }).await;
    }

    /// The backend asks for a permission; `tool`: for which of its tools, if it says.
    pub async fn asks(&self, id: &str, kind: &str, tool: Option<&str>) {
        let detail = serde_json::json!({ "kind": kind, "fullCommandText": "id" });
        let (id, kind, tool) = (id.to_owned(), kind.to_owned(), tool.map(str::to_owned));
        self.emit(AgentEvent::Permission { id, kind, tool, detail }).await;
    }

    /// The next answer of a tool.
    pub async fn reply(&mut self) -> (String, ToolReply) {
        tokio::time::timeout(Duration::from_secs(900), self.replies.recv())
            .await
            .expect("an answer")
            .expect("a living turn")
    }

    /// Whether an answer that nobody took yet is a yes.
    pub fn was_allowed(&mut self) -> bool {
        std::iter::from_fn(|| self.replies.try_recv().ok()).any(|(_, reply)| reply.ok)
    }

    /// The turn ends by itself.
    pub async fn ends(self) {
        self.emit(AgentEvent::Ended(Ending::Done)).await;
    }

    /// The turn fails.
    pub async fn fails(self, error: AgentError) {
        self.emit(AgentEvent::Ended(Ending::Failed(error))).await;
    }

    /// Waits until the host stops the turn.
    pub async fn aborted(&self) {
        tokio::time::timeout(Duration::from_secs(60), self.aborted.cancelled()).await.expect("an abort");
    }
}

struct Control {
    replies: mpsc::UnboundedSender<(String, ToolReply)>,
    aborted: CancellationToken,
}

#[async_trait]
impl TurnControl for Control {
    async fn answer(&self, call_id: &str, reply: ToolReply) {
        let _ = self.replies.send((call_id.to_owned(), reply));
    }

    async fn permit(&self, request_id: &str, allow: bool, why: &str) {
        let reply = ToolReply { text: why.to_owned(), ok: allow, images: Vec::new() };
        let _ = self.replies.send((request_id.to_owned(), reply));
    }

    fn abort(&self) {
        self.aborted.cancel();
    }
}

#[async_trait]
impl AgentBackend for FakeAgent {
    fn status(&self) -> watch::Receiver<BackendStatus> {
        self.status.subscribe()
    }

    async fn prompt(&self, chat: ChatSpec, prompt: Prompt) -> Result<AgentTurn, AgentError> {
        if let Some(error) = self.refuse.borrow().clone() {
            return Err(error);
        }
        let (events, received) = mpsc::channel(16);
        let (replies, answers) = mpsc::unbounded_channel();
        let aborted = CancellationToken::new();
        let turn = FakeTurn { chat, prompt, events, replies: answers, aborted: aborted.clone() };
        let _ = self.prompts.send(turn);
        Ok(AgentTurn { events: received, control: Arc::new(Control { replies, aborted }) })
    }

    async fn models(&self) -> Result<Vec<Model>, AgentError> {
        Ok(vec![Model { id: "fake-1".to_owned(), name: "Fake One".to_owned(), ..Model::default() }])
    }

    fn current_model(&self) -> String {
        "fake-1".to_owned()
    }

    async fn auth(&self) -> Result<AuthState, AgentError> {
        Ok(AuthState::Ready { detail: None })
    }

    async fn chats(&self) -> Result<Vec<StoredChat>, AgentError> {
        let mut status = self.status.subscribe();
        let _ = status.wait_for(|status| *status != BackendStatus::Starting).await;
        Ok(self.stored.borrow().clone())
    }

    async fn history(&self, _chat_id: &str) -> Result<Vec<Entry>, AgentError> {
        Ok(Vec::new())
    }

    async fn delete(&self, chat_id: &str) -> Result<bool, AgentError> {
        let _ = self.deleted.send(chat_id.to_owned());
        let mut was_there = false;
        self.stored.send_modify(|stored| {
            let before = stored.len();
            stored.retain(|chat| chat.id != chat_id);
            was_there = stored.len() < before;
        });
        Ok(was_there)
    }

    fn configure(&self, config: &Config) -> Result<(), AgentError> {
        self.config.send_replace(config.clone());
        Ok(())
    }

    async fn shutdown(&self, _grace: Duration) {}
}
