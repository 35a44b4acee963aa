//! The model side, behind a trait: the runner knows nothing of Copilot.

pub mod copilot;
pub mod prompt;
pub mod recent_actions;
pub mod unusable;

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::{mpsc, watch};

use crate::config::Config;

/// What drives a model and keeps the chats.
#[async_trait]
pub trait AgentBackend: Send + Sync + 'static {
    /// The state now, and every change of it. The first panel finds the backend already starting.
    fn status(&self) -> watch::Receiver<BackendStatus>;

    /// Sends a prompt to the chat, which is created or resumed under `chat.id` when it is not open.
    /// Waits for a backend that is still starting, and restarts one that has died.
    ///
    /// # Errors
    /// When the prompt did not reach the model; nothing of it is in the chat then.
    async fn prompt(&self, chat: ChatSpec, prompt: Prompt) -> Result<AgentTurn, AgentError>;

    /// The models on offer; an own provider offers exactly its own.
    async fn models(&self) -> Result<Vec<Model>, AgentError>;

    /// The model that a new prompt uses when the chat names none.
    fn current_model(&self) -> String;

    /// Who is signed in, asked anew.
    async fn auth(&self) -> Result<AuthState, AgentError>;

    /// Browy's stored chats, newest first.
    async fn chats(&self) -> Result<Vec<StoredChat>, AgentError>;

    /// The transcript of a stored chat, oldest first.
    async fn history(&self, chat_id: &str) -> Result<Vec<Entry>, AgentError>;

    /// Deletes a stored chat. `false`: there was none.
    async fn delete(&self, chat_id: &str) -> Result<bool, AgentError>;

    /// From the next prompt on, these settings hold: another provider, another model.
    ///
    /// # Errors
    /// When the backend cannot work with any settings until it is started anew.
    fn configure(&self, config: &Config) -> Result<(), AgentError>;

    /// Ends the backend and every process it started. Takes at most `grace`.
    async fn shutdown(&self, grace: std::time::Duration);
}

/// Whether prompts can be answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BackendStatus {
    /// Not yet.
    Starting,
    /// Yes.
    Ready {
        /// Version of the CLI.
        version: String,
        /// Who is signed in.
        auth: AuthState,
    },
    /// No; the next prompt tries again.
    Failed(AgentError),
}

/// Who pays for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthState {
    /// Signed in, or an own provider is set.
    Ready {
        /// Account or provider, in words.
        detail: Option<String>,
    },
    /// Nobody is signed in.
    Unauthenticated {
        /// What the CLI said.
        detail: Option<String>,
    },
    /// The backend did not say.
    Unknown,
}

/// How a chat is opened.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatSpec {
    /// The panel's session id.
    pub id: String,
    /// The whole system message; the model sees exactly this.
    pub system_message: String,
    /// The tools that are on. Nothing else is allowed.
    pub tools: Vec<ToolDefinition>,
    /// Tools of the backend's own that the person opted into, by their own names.
    pub builtin_tools: Vec<String>,
    /// The model, if the panel chose one.
    pub model: Option<String>,
    /// How hard it should think, if the panel chose.
    pub reasoning_effort: Option<String>,
}

/// One tool as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// Unique snake_case name.
    pub name: String,
    /// What it does, in a sentence or two.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// What is sent to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// The person's words and the context blocks.
    pub text: String,
    /// What the person typed, for the chat's title and transcript.
    pub display: String,
    /// Pictures.
    pub images: Vec<ImageData>,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageData {
    /// For example `image/png`.
    pub mime_type: String,
    /// Base64 of its bytes.
    pub base64: String,
}

/// One running turn.
pub struct AgentTurn {
    /// What happens, in order; ends with exactly one [`AgentEvent::Ended`].
    pub events: mpsc::Receiver<AgentEvent>,
    /// How the turn is answered and stopped.
    pub control: Arc<dyn TurnControl>,
}

/// The way back into a running turn.
#[async_trait]
pub trait TurnControl: Send + Sync {
    /// Answers one [`AgentEvent::ToolCall`] by its id. Answering twice, or after the end, does nothing.
    async fn answer(&self, call_id: &str, reply: ToolReply);

    /// Answers one [`AgentEvent::Permission`] by its id.
    async fn permit(&self, request_id: &str, allow: bool, why: &str);

    /// Stops the model. Returns at once; [`AgentEvent::Ended`] with [`Ending::Aborted`] follows.
    fn abort(&self);
}

/// What happens in a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// The next piece of a message. Pieces are exact: each once, in order.
    TextDelta {
        /// Groups pieces of one message.
        message_id: String,
        /// The piece.
        text: String,
    },
    /// What was streamed of a message is void; it will be streamed again (the backend retried).
    Discard {
        /// The message.
        message_id: String,
    },
    /// A whole message, the last word on its text.
    Message {
        /// The message.
        message_id: String,
        /// Its text; may be empty when it only calls tools.
        text: String,
    },
    /// What the model says it thinks.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// The model calls one of the [`ChatSpec::tools`]; several may be open at once.
    ToolCall {
        /// Names this call in [`TurnControl::answer`].
        id: String,
        /// The tool.
        name: String,
        /// Its arguments, unchecked.
        args: Value,
    },
    /// The backend no longer wants the answer.
    ToolCallWithdrawn {
        /// The call.
        id: String,
    },
    /// The backend asks whether one of its own tools may act.
    Permission {
        /// Names this request in [`TurnControl::permit`].
        id: String,
        /// The backend's word for what it wants.
        kind: String,
        /// The tool that asks, where the backend tells.
        tool: Option<String>,
        /// Everything it said about it.
        detail: Value,
    },
    /// The backend sums up what is old in the chat: the model may no longer have it word for word.
    Compacted,
    /// The backend tries again after a failure of the model service.
    Retry {
        /// Why.
        reason: String,
    },
    /// Tokens so far.
    Usage(UsageReport),
    /// Last event.
    Ended(Ending),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// The model is done.
    Done,
    /// [`TurnControl::abort`] stopped it.
    Aborted,
    /// It failed.
    Failed(AgentError),
}

/// Tokens, as the backend reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct UsageReport {
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Tokens of the window in use.
    pub context_used: Option<u64>,
    /// Size of the window.
    pub context_limit: Option<u64>,
    /// Premium requests or money, in the backend's unit.
    pub cost: Option<f64>,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolReply {
    /// What the model reads.
    pub text: String,
    /// Whether the call did what it was asked to.
    pub ok: bool,
    /// What the model sees.
    pub images: Vec<ImageData>,
}

/// A model on offer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Model {
    /// Its id.
    pub id: String,
    /// Its name for people.
    pub name: String,
    /// Who makes it.
    pub vendor: Option<String>,
    /// Premium requests that one message costs.
    pub multiplier: Option<f64>,
    /// Size of its window in tokens.
    pub context_window: Option<u64>,
    /// How hard it can be told to think, in its own words; empty when it cannot.
    pub reasoning_efforts: Vec<String>,
}

/// A chat on disk; times in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredChat {
    /// Its id.
    pub id: String,
    /// Its title, cleaned of context blocks.
    pub summary: Option<String>,
    /// When it began.
    pub start_time: u64,
    /// When it was last used.
    pub modified_time: u64,
    /// It has Browy's prefix **and** its working directory: nobody else made it.
    pub surely_ours: bool,
}

/// One line of a transcript; times in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "fields say what they are")]
pub enum Entry {
    User { text: String, timestamp: Option<u64> },
    Assistant { text: String, timestamp: Option<u64> },
    Tool { name: String, ok: bool, summary: Option<String>, timestamp: Option<u64> },
}

/// Why there is no answer. The text says what was tried and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AgentError {
    /// No CLI was found.
    #[error("{0}")]
    CliMissing(String),
    /// The CLI does not start, or died.
    #[error("{0}")]
    CliFailed(String),
    /// Nobody is signed in, or the sign-in is no longer accepted.
    #[error("{0}")]
    Auth(String),
    /// The allowance is used up, or requests come too fast.
    #[error("{0}")]
    Quota(String),
    /// The model service cannot be reached.
    #[error("{0}")]
    Offline(String),
    /// The model service refused or failed.
    #[error("{0}")]
    Model(String),
    /// Something did not answer in time.
    #[error("{0}")]
    Timeout(String),
    /// The CLI went away in the middle of the turn.
    #[error("{0}")]
    Interrupted(String),
    /// The CLI said something that makes no sense.
    #[error("{0}")]
    Protocol(String),
}
