//! What the host sends.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::inbound::wire;
use super::{
    AskId, AskKind, CallId, CdpSessionId, DataDeleted, DataListResult, ErrorCode, SessionId, TabId, TurnId,
};

/// A message to the extension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type")]
#[allow(missing_docs, reason = "each variant is named by its wire type and documented on its payload")]
pub enum Outbound {
    #[serde(rename = "hello.ack")]
    HelloAck(HelloAck),
    #[serde(rename = "session.ready")]
    SessionReady(SessionReady),
    #[serde(rename = "auth.status")]
    AuthStatus(AuthStatus),
    #[serde(rename = "sdk.ready")]
    SdkReady(SdkReady),
    #[serde(rename = "models.current")]
    ModelsCurrent(ModelsCurrent),
    #[serde(rename = "models.list")]
    ModelsList(ModelsList),
    #[serde(rename = "chat.queued")]
    ChatQueued(ChatQueued),
    #[serde(rename = "chat.started")]
    ChatStarted(ChatStarted),
    #[serde(rename = "chat.delta")]
    ChatDelta(ChatDelta),
    #[serde(rename = "chat.tool_call")]
    ChatToolCall(ChatToolCall),
    #[serde(rename = "chat.tool_result")]
    ChatToolResult(ChatToolResult),
    #[serde(rename = "chat.done")]
    ChatDone(ChatDone),
    #[serde(rename = "chat.error")]
    ChatError(ChatError),
    #[serde(rename = "event.activity")]
    EventActivity(EventActivity),
    #[serde(rename = "usage")]
    Usage(Usage),
    #[serde(rename = "cdp.send")]
    CdpSend(CdpSend),
    #[serde(rename = "tab.new")]
    TabNew(TabNew),
    #[serde(rename = "tab.activate")]
    TabActivate(TabCall),
    #[serde(rename = "tab.close")]
    TabClose(TabCall),
    #[serde(rename = "download.start")]
    DownloadStart(DownloadStart),
    #[serde(rename = "tab.list")]
    TabList(BridgeCall),
    #[serde(rename = "tab.getActive")]
    TabGetActive(BridgeCall),
    #[serde(rename = "tab.held")]
    TabHeld(TabHeld),
    #[serde(rename = "user.ask")]
    UserAsk(UserAsk),
    #[serde(rename = "user.ask.closed")]
    UserAskClosed(UserAskClosed),
    #[serde(rename = "chat.list.result")]
    ChatListResult(ChatListResult),
    #[serde(rename = "chat.history.result")]
    ChatHistoryResult(ChatHistoryResult),
    #[serde(rename = "chat.delete.result")]
    ChatDeleteResult(ChatDeleted),
    #[serde(rename = "chat.rename.result")]
    ChatRenameResult(ChatRenamed),
    #[serde(rename = "tools.list.result")]
    ToolsListResult(ToolsListResult),
    #[serde(rename = "provider.get.result")]
    ProviderGetResult(ProviderResult),
    #[serde(rename = "provider.set.result")]
    ProviderSetResult(ProviderResult),
    #[serde(rename = "provider.test.result")]
    ProviderTestResult(ProviderResult),
    #[serde(rename = "diag.result")]
    DiagResult(DiagResult),
    #[serde(rename = "data.list.result")]
    DataListResult(DataListResult),
    #[serde(rename = "data.delete.result")]
    DataDeleteResult(DataDeleted),
}

wire! {
    /// Answer to `hello`.
    pub struct HelloAck {
        pub protocol: u32,
        /// The package's version.
        pub server_version: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub min_extension_version: Option<String>,
        #[serde(default)]
        pub capabilities: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Answer to `session.start`.
    pub struct SessionReady {
        pub session_id: SessionId,
        pub model: String,
        pub capabilities: Vec<String>,
    }

    /// Whether the model can be reached as somebody: `ready`, `unauth` or `unknown`.
    pub struct AuthStatus {
        #[cfg_attr(test, ts(type = "'ready' | 'unauth' | 'unknown'"))]
        pub state: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub detail: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// The Copilot CLI is up, or failed to come up.
    pub struct SdkReady {
        pub ok: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub detail: Option<String>,
    }

    /// The model in use.
    pub struct ModelsCurrent {
        pub id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// The models on offer.
    pub struct ModelsList {
        pub models: Vec<ModelInfo>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// One model.
    pub struct ModelInfo {
        pub id: String,
        pub name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub vendor: Option<String>,
        /// Premium requests that one message costs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub multiplier: Option<f64>,
        /// Size of its window in tokens.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub context_window: Option<u64>,
        /// Words for `session.start`'s `reasoningEffort`; empty when it has no such choice.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<String>>"))]
        pub reasoning_efforts: Vec<String>,
    }

    /// A prompt waits; told again whenever its place changes.
    pub struct ChatQueued {
        pub session_id: SessionId,
        pub turn_id: TurnId,
        /// 1 = next.
        pub position: u32,
        /// `turn`: another turn runs. `person`: that turn waits for a person.
        #[cfg_attr(test, ts(type = "'turn' | 'person'"))]
        pub reason: String,
    }

    /// A turn begins.
    pub struct ChatStarted {
        pub session_id: SessionId,
        pub turn_id: TurnId,
    }

    /// A piece of the answer.
    pub struct ChatDelta {
        pub session_id: SessionId,
        pub text: String,
    }

    /// A tool call begins.
    pub struct ChatToolCall {
        pub session_id: SessionId,
        pub call_id: CallId,
        pub tool: String,
        #[cfg_attr(test, ts(type = "unknown"))]
        pub args: Value,
    }

    /// A tool call ended.
    pub struct ChatToolResult {
        pub session_id: SessionId,
        pub call_id: CallId,
        pub ok: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub summary: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub duration_ms: Option<u64>,
    }

    /// The turn ended with an answer.
    pub struct ChatDone {
        pub session_id: SessionId,
        pub text: String,
        /// Always empty; Browy's clients expect the field.
        #[cfg_attr(test, ts(type = "unknown[]"))]
        pub tool_calls: Vec<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub turn_id: Option<TurnId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub duration_ms: Option<u64>,
        /// The text was too long for one frame; the whole is in the streamed deltas.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
        pub truncated: bool,
        /// What the turn cost.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub usage: Option<Spent>,
    }

    /// The turn ended without an answer, or a message was refused.
    pub struct ChatError {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub session_id: Option<SessionId>,
        pub message: String,
        pub code: ErrorCode,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub turn_id: Option<TurnId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub duration_ms: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Progress that is no text: `status.thinking`, `status.idle`, `status.error`, `llm_call_start`,
    /// `llm_call_end`, `tool_start`, `tool_end`, `reasoning`, `status.retry` (the model is asked again), and with a
    /// text for the person `status.model` (another model answers) and `status.notice` (what could not be written down, what
    /// the turn used up).
    pub struct EventActivity {
        pub session_id: SessionId,
        pub event: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub tool: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub text: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub duration_ms: Option<u64>,
    }

    /// Tokens, as the CLI reports them.
    pub struct Usage {
        pub session_id: SessionId,
        #[serde(flatten)]
        pub spent: Spent,
    }

    /// Tokens and cost, as the CLI reports them.
    pub struct Spent {
        #[cfg_attr(test, ts(type = "number"))]
        pub input_tokens: u64,
        #[cfg_attr(test, ts(type = "number"))]
        pub output_tokens: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub context_used: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub context_limit: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub cost: Option<f64>,
    }

    /// One DevTools command; answered by `tool.result` with `{tabId, result}`.
    pub struct CdpSend {
        pub session_id: SessionId,
        pub call_id: CallId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub tab_id: Option<TabId>,
        /// Sends to this child target of the tab instead of the tab itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub cdp_session_id: Option<CdpSessionId>,
        pub method: String,
        #[cfg_attr(test, ts(type = "object"))]
        pub params: Value,
    }

    /// Opens a tab; answered with its [`TabInfo`].
    pub struct TabNew {
        pub session_id: SessionId,
        pub call_id: CallId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub url: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub active: Option<bool>,
    }

    /// Downloads a file as the browser does, with the person's session; answered as `download.event` tells it when it
    /// is over, after 60 s at the latest. Needs the capability `downloads`.
    pub struct DownloadStart {
        pub session_id: SessionId,
        pub call_id: CallId,
        /// The tab it belongs to.
        pub tab_id: TabId,
        pub url: String,
        /// A plain name without folders; the browser's own choice when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub filename: Option<String>,
        /// A longer file is not downloaded.
        #[cfg_attr(test, ts(type = "number"))]
        pub max_bytes: u64,
    }

    /// A request about one tab.
    pub struct TabCall {
        pub session_id: SessionId,
        pub call_id: CallId,
        pub tab_id: TabId,
    }

    /// A request without parameters.
    pub struct BridgeCall {
        pub session_id: SessionId,
        pub call_id: CallId,
    }

    /// One tab, as the extension describes it.
    pub struct TabInfo {
        pub tab_id: TabId,
        pub url: String,
        pub title: String,
        pub active: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub window_id: Option<i64>,
    }

    /// The tab that the agent holds now.
    pub struct TabHeld {
        pub session_id: SessionId,
        pub tab_id: TabId,
        pub url: String,
        pub title: String,
        pub origin: Option<String>,
    }

    /// A question to the person.
    pub struct UserAsk {
        pub session_id: SessionId,
        pub ask_id: AskId,
        pub kind: AskKind,
        pub message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub choices: Option<Vec<String>>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub allow_text: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub tool: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "unknown"))]
        pub args: Option<Value>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub origin: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub expires_ms: Option<u64>,
    }

    /// The question is no longer open.
    pub struct UserAskClosed {
        pub session_id: SessionId,
        pub ask_id: AskId,
        /// `answered`, `expired` or `turn_over`.
        pub reason: String,
    }

    /// The stored chats, newest first.
    pub struct ChatListResult {
        pub chats: Vec<ChatInfo>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// One stored chat; times in milliseconds since 1970.
    pub struct ChatInfo {
        pub id: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub summary: Option<String>,
        #[cfg_attr(test, ts(type = "number"))]
        pub start_time: u64,
        #[cfg_attr(test, ts(type = "number"))]
        pub modified_time: u64,
        /// What its turns cost together, as far as they were had with this host.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub usage: Option<Spent>,
        /// Its last turn was cut off.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
        pub interrupted: bool,
    }

    /// A transcript, or a page of one.
    pub struct ChatHistoryResult {
        pub id: SessionId,
        pub messages: Vec<HistoryMessage>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub cursor: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub has_more: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Outcome of `chat.delete`.
    pub struct ChatDeleted {
        pub id: SessionId,
        pub ok: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Outcome of `chat.rename`.
    pub struct ChatRenamed {
        pub id: SessionId,
        pub title: String,
        pub ok: bool,
        /// Why it could not be done, when something stood in the way.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub error: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Every tool the host has.
    pub struct ToolsListResult {
        pub tools: Vec<ToolInfo>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// One tool, as options page and REPL show it.
    pub struct ToolInfo {
        pub name: String,
        pub title: String,
        pub description: String,
        pub category: String,
        pub exposure: String,
        pub effect: String,
        pub enabled: bool,
    }

    /// The model provider in use; never its key.
    pub struct ProviderResult {
        pub kind: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub base_url: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub model: Option<String>,
        pub has_key: bool,
        pub ok: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub error: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// The doctor's checks.
    pub struct DiagResult {
        pub checks: Vec<DiagCheck>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// One check.
    pub struct DiagCheck {
        pub id: String,
        pub ok: bool,
        pub text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub fix: Option<String>,
    }
}

/// One line of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "role", rename_all = "camelCase")]
#[allow(missing_docs, reason = "fields carry their wire names; docs/protocol.md explains them")]
pub enum HistoryMessage {
    User {
        text: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<HistoryImage>>"))]
        images: Vec<HistoryImage>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        timestamp: Option<u64>,
    },
    Assistant {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        timestamp: Option<u64>,
    },
    Tool {
        name: String,
        ok: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        summary: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(test, ts(optional, as = "Option<Vec<HistoryImage>>"))]
        images: Vec<HistoryImage>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        timestamp: Option<u64>,
    },
}

/// A picture of a transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct HistoryImage {
    /// For example `image/png`.
    pub mime_type: String,
    /// Base64 of its bytes; absent where there is no room for it, or nobody kept it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional))]
    pub data: Option<String>,
    /// Its size; 0 when nobody knows.
    #[cfg_attr(test, ts(type = "number"))]
    pub bytes: u64,
}
