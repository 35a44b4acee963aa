//! What the extension sends.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AskId, CallId, CdpSessionId, DataDelete, ProtocolError, SessionId, TabId, TurnId, text};

/// A message from the extension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(tag = "type")]
#[allow(missing_docs, reason = "each variant is named by its wire type and documented on its payload")]
pub enum Inbound {
    #[serde(rename = "hello")]
    Hello(Hello),
    #[serde(rename = "session.start")]
    SessionStart(SessionStart),
    #[serde(rename = "session.end")]
    SessionEnd(SessionRef),
    #[serde(rename = "chat.send")]
    ChatSend(ChatSend),
    #[serde(rename = "chat.run")]
    ChatRun(ChatRun),
    #[serde(rename = "chat.cancel")]
    ChatCancel(ChatCancel),
    #[serde(rename = "history.clear")]
    HistoryClear(SessionRef),
    #[serde(rename = "tool.result")]
    ToolResult(ToolResult),
    #[serde(rename = "cdp.event")]
    CdpEvent(CdpEvent),
    #[serde(rename = "auth.signin")]
    AuthSignin(AuthSignin),
    #[serde(rename = "models.list")]
    ModelsList(Request),
    #[serde(rename = "models.set")]
    ModelsSet(ModelsSet),
    #[serde(rename = "chat.list")]
    ChatList(Request),
    #[serde(rename = "chat.history")]
    ChatHistory(ChatHistory),
    #[serde(rename = "chat.delete")]
    ChatDelete(ChatRef),
    #[serde(rename = "chat.rename")]
    ChatRename(ChatRename),
    #[serde(rename = "user.answer")]
    UserAnswer(UserAnswer),
    #[serde(rename = "tab.event")]
    TabEvent(TabEvent),
    #[serde(rename = "download.event")]
    DownloadEvent(DownloadEvent),
    #[serde(rename = "debugger.detached")]
    DebuggerDetached(DebuggerDetached),
    #[serde(rename = "tools.list")]
    ToolsList(ToolsListRequest),
    #[serde(rename = "provider.get")]
    ProviderGet(Request),
    #[serde(rename = "provider.set")]
    ProviderSet(ProviderSet),
    #[serde(rename = "provider.test")]
    ProviderTest(Request),
    #[serde(rename = "diag.run")]
    DiagRun(Request),
    #[serde(rename = "data.list")]
    DataList(Request),
    #[serde(rename = "data.delete")]
    DataDelete(DataDelete),
}

/// The types of [`Inbound`], in the order of the enum.
pub const INBOUND_TYPES: &[&str] = &[
    "hello",
    "session.start",
    "session.end",
    "chat.send",
    "chat.run",
    "chat.cancel",
    "history.clear",
    "tool.result",
    "cdp.event",
    "auth.signin",
    "models.list",
    "models.set",
    "chat.list",
    "chat.history",
    "chat.delete",
    "chat.rename",
    "user.answer",
    "tab.event",
    "download.event",
    "debugger.detached",
    "tools.list",
    "provider.get",
    "provider.set",
    "provider.test",
    "diag.run",
    "data.list",
    "data.delete",
];

impl Inbound {
    /// Reads one frame body. Half characters and bytes that are no UTF-8 become U+FFFD.
    ///
    /// # Errors
    /// [`ProtocolError`] says what is wrong; the caller drops this one message and goes on.
    pub fn decode(body: &[u8]) -> Result<Self, ProtocolError> {
        let body = text::repair_json_text(body);
        let value: Value = match serde_json::from_slice(&body) {
            Ok(value) => value,
            Err(error) => return Err(unreadable(&body, &error)),
        };
        let Value::Object(object) = &value else { return Err(ProtocolError::NoType) };
        let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
        let Some(kind) = text("type") else { return Err(ProtocolError::NoType) };
        let known = known_type(kind)?;
        let (session_id, call_id) = (text("sessionId").map(SessionId), text("callId").map(CallId));
        serde_json::from_value(value).map_err(|error| bad_field(known, &error, session_id, call_id))
    }
}

/// The part of a message that says whom an error concerns.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    r#type: String,
    #[serde(default)]
    session_id: Option<SessionId>,
    #[serde(default)]
    call_id: Option<CallId>,
}

/// Why `body` is no value. What this program cannot hold may still be JSON (nested deeper than 128,
/// numbers like `1e400`): then the call that it answers can be told.
fn unreadable(body: &[u8], error: &serde_json::Error) -> ProtocolError {
    // Fields that are not asked for are skipped without recursion and without reading numbers.
    let Ok(envelope) = serde_json::from_slice::<Envelope>(body) else {
        return ProtocolError::NotJson(error.to_string());
    };
    match known_type(envelope.r#type) {
        Ok(kind) => bad_field(kind, error, envelope.session_id, envelope.call_id),
        Err(unknown) => unknown,
    }
}

fn known_type(kind: String) -> Result<String, ProtocolError> {
    if INBOUND_TYPES.contains(&kind.as_str()) {
        Ok(kind)
    } else {
        Err(ProtocolError::UnknownType(kind.chars().take(64).collect()))
    }
}

fn bad_field(
    kind: String,
    error: &serde_json::Error,
    session_id: Option<SessionId>,
    call_id: Option<CallId>,
) -> ProtocolError {
    ProtocolError::BadField { kind, detail: without_value(&error.to_string()), session_id, call_id }
}

/// The parser's words without the offending value, which they quote: it may be megabytes, and it may be a page's or a
/// person's, who want it neither in the log nor in another panel.
fn without_value(words: &str) -> String {
    const EXPECTED: &str = ", expected ";
    let found = words.split(['"', '`']).next().unwrap_or_default().trim_end();
    match words.rfind(EXPECTED) {
        Some(at) => format!("{found}{}", &words[at.max(found.len())..]),
        None => words.to_owned(),
    }
    .chars()
    .take(256)
    .collect()
}

macro_rules! wire {
    ($($(#[$doc:meta])* pub struct $name:ident { $($body:tt)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
            #[cfg_attr(test, derive(ts_rs::TS))]
            #[serde(rename_all = "camelCase")]
            #[allow(missing_docs, reason = "fields carry their wire names; docs/protocol.md explains them")]
            pub struct $name { $($body)* }
        )*
    };
}
pub(super) use wire;

wire! {
    /// First message of a connection.
    pub struct Hello {
        pub client: String,
        pub protocol: u32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub extension_version: Option<String>,
        #[serde(default)]
        pub capabilities: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// A panel announces its chat, or announces it again after a reconnect.
    pub struct SessionStart {
        pub session_id: SessionId,
        #[serde(default)]
        pub capabilities: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub model: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub reasoning_effort: Option<String>,
        /// Binds the session to this tab for good (DevTools panel).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub inspected_tab_id: Option<TabId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub window_id: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub locale: Option<String>,
        #[serde(default)]
        pub disabled_tools: Vec<String>,
        #[serde(default)]
        pub enabled_host_tools: Vec<String>,
    }

    /// Any message that names just a session.
    pub struct SessionRef {
        pub session_id: SessionId,
    }

    /// A prompt.
    pub struct ChatSend {
        pub session_id: SessionId,
        pub text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub turn_id: Option<TurnId>,
        #[serde(default)]
        pub attachments: Vec<Attachment>,
    }

    /// Something the person attached to a prompt.
    pub struct Attachment {
        /// `tab`, `element`, `image` or `text`.
        pub kind: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub tab_id: Option<TabId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub url: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub title: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub name: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub selector: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub text: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub html: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub mime_type: Option<String>,
        /// Base64 of an image.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub data: Option<String>,
    }

    /// One tool, called by the person; it takes its turn in the queue and ends as a prompt does.
    pub struct ChatRun {
        pub session_id: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub turn_id: Option<TurnId>,
        pub tool: String,
        #[serde(default)]
        #[cfg_attr(test, ts(type = "object"))]
        pub args: Value,
    }

    /// Stop: the running turn, or one queued prompt when `turnId` names it.
    pub struct ChatCancel {
        pub session_id: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub turn_id: Option<TurnId>,
    }

    /// Answer to `cdp.send` and the `tab.*` requests.
    pub struct ToolResult {
        pub session_id: SessionId,
        pub call_id: CallId,
        pub ok: bool,
        #[serde(default)]
        #[cfg_attr(test, ts(type = "unknown"))]
        pub result: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub error: Option<String>,
    }

    /// A DevTools event of a watched tab.
    pub struct CdpEvent {
        pub session_id: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub tab_id: Option<TabId>,
        /// The child target's flat session, when the event is not the tab's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub cdp_session_id: Option<CdpSessionId>,
        pub method: String,
        #[serde(default)]
        #[cfg_attr(test, ts(type = "unknown"))]
        pub params: Value,
    }

    /// A request with nothing but its optional id.
    pub struct Request {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Asks anew who is signed in. When nobody is, a terminal is opened for the sign-in.
    pub struct AuthSignin {
        /// `false`: only asks.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub open: Option<bool>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Asks for the tools, with a session's switches applied when it names one.
    pub struct ToolsListRequest {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub session_id: Option<SessionId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Chooses the model for new prompts.
    pub struct ModelsSet {
        pub id: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Asks for a transcript, newest page first when `before` is absent.
    pub struct ChatHistory {
        pub id: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub before: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub limit: Option<u32>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Any message that names just a stored chat.
    pub struct ChatRef {
        pub id: SessionId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Gives a stored chat a title.
    pub struct ChatRename {
        pub id: SessionId,
        pub title: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// The person's answer to a `user.ask` card. Single use.
    pub struct UserAnswer {
        pub session_id: SessionId,
        pub ask_id: AskId,
        pub answer: Answer,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub text: Option<String>,
    }

    /// A fact about tabs that is no DevTools event.
    pub struct TabEvent {
        pub event: TabEventKind,
        pub tab_id: TabId,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub opener_tab_id: Option<TabId>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub window_id: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub url: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub title: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub status: Option<String>,
        /// The tab that this one replaces (`replaced` only).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub replaced_tab_id: Option<TabId>,
    }

    /// A download that the agent's tab started.
    pub struct DownloadEvent {
        #[cfg_attr(test, ts(type = "number"))]
        pub download_id: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub tab_id: Option<TabId>,
        pub state: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub filename: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub url: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub bytes: Option<i64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub error: Option<String>,
        /// The id that `Page.downloadWillBegin` gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub guid: Option<String>,
        /// What the browser holds against it; it may wait for the person's word.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub danger: Option<String>,
    }

    /// The debugger left a tab; `canceled_by_user` is Stop.
    pub struct DebuggerDetached {
        pub tab_id: TabId,
        pub reason: String,
    }

    /// An own model provider. `apiKey` absent keeps the stored key; empty removes it.
    pub struct ProviderSet {
        pub kind: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub base_url: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub model: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub api_key: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }
}

/// What a person answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named by their wire words")]
pub enum Answer {
    Done,
    Skip,
    Allow,
    AllowAlways,
    Deny,
    Choice,
}

/// What happened to a tab.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named by their wire words")]
pub enum TabEventKind {
    Created,
    Removed,
    Updated,
    Replaced,
    Activated,
}
