//! The CLI's `session.event` notifications, as far as a turn needs them.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// One event of one session.
#[derive(Debug)]
pub struct SessionEvent {
    /// Names this event; a repeated delivery has the same id.
    pub id: Option<u128>,
    /// Milliseconds since 1970.
    pub timestamp: Option<u64>,
    /// What happened.
    pub what: What,
}

/// What happened.
#[derive(Debug, PartialEq)]
pub enum What {
    /// Something that only shows that the CLI is at work.
    Activity,
    /// The prompt is in the transcript.
    UserMessage,
    /// How many bytes of the answer there are, the next piece included.
    Count { bytes: u64 },
    /// A piece of a message.
    Delta { message_id: String, text: String },
    /// A piece of what the model thinks.
    Reasoning { text: String },
    /// A whole message.
    Message { message_id: String, text: String },
    /// The model is asked again; what was streamed since the last whole message is void.
    Retry { reason: String },
    /// One model call is accounted for.
    Usage { input_tokens: u64, output_tokens: u64, cost: Option<f64> },
    /// Old messages are about to be summed up or left out, or were.
    Compaction,
    /// How full the window is.
    Context { used: u64, limit: u64 },
    /// A model call failed before it reached a server.
    Unreachable,
    /// A model call failed at the server.
    Reached,
    /// The turn failed; [`What::Idle`] follows.
    Error(Failure),
    /// The turn is over.
    Idle { aborted: bool },
    /// One of the host's tools is called.
    ToolRequested { request_id: String, tool: String, args: Value },
    /// That call is over, answered or not.
    ToolCompleted { request_id: String },
    /// A call of any tool begins: the host's, or one of the CLI's own.
    ToolStarted { call: String, tool: String },
    /// The CLI asks whether a tool may act. `call`: which one does, where it tells.
    PermissionRequested {
        request_id: String,
        kind: String,
        tool: Option<String>,
        call: Option<String>,
        detail: Value,
    },
    /// That question is over.
    PermissionCompleted { request_id: String },
    /// A question that nobody here can answer, with the call that says so.
    Unanswerable { method: &'static str, params: Value },
}

/// Why a turn failed, in the CLI's words and codes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Failure {
    /// For example `authentication`, `quota`, `rate_limit`, `query`.
    #[serde(default)]
    pub error_type: String,
    /// A finer code of the model service.
    #[serde(default)]
    pub error_code: Option<String>,
    /// For people.
    #[serde(default)]
    pub message: String,
    /// HTTP status of the model service.
    #[serde(default)]
    pub status_code: Option<u16>,
}

/// Whether the body is an event that no turn needs, told from its first bytes: `model.*` events carry
/// the whole conversation, megabytes of it, after every turn.
pub fn is_bulk(body: &[u8]) -> bool {
    const START: &[u8] = b"\"event\":{\"type\":\"model.";
    const KEEP: &[u8] = b"call_failure";
    let head = &body[..body.len().min(512)];
    head.windows(START.len())
        .position(|window| window == START)
        .is_some_and(|at| !head[at + START.len()..].starts_with(KEEP))
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(rename = "sessionId")]
    session_id: String,
    #[serde(borrow)]
    event: &'a RawValue,
}

#[derive(Deserialize)]
struct Head<'a> {
    // No borrowed text: an escaped character would make the whole event unreadable.
    r#type: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    timestamp: Option<String>,
    #[serde(default, rename = "agentId")]
    agent_id: Option<String>,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Data {
    message_id: String,
    delta_content: String,
    total_response_size_bytes: u64,
    parent_tool_call_id: Option<String>,
    content: String,
    reason: Option<String>,
    input_tokens: u64,
    output_tokens: u64,
    cost: Option<f64>,
    current_tokens: u64,
    token_limit: u64,
    failure_kind: Option<String>,
    aborted: bool,
    request_id: String,
    tool_name: String,
    tool_call_id: String,
    arguments: Value,
    permission_request: Value,
    resolved_by_hook: bool,
}

/// Reads the parameters of one `session.event`; gives the session's id and the event.
///
/// # Errors
/// When the event is not shaped as expected.
pub fn parse(params: &RawValue) -> Result<(String, SessionEvent), serde_json::Error> {
    let Params { session_id, event } = serde_json::from_str(params.get())?;
    let head: Head<'_> = serde_json::from_str(event.get())?;
    let what = read(&head, &session_id)?;
    let id = head.id.as_deref().map(event_number);
    Ok((session_id, SessionEvent { id, timestamp: head.timestamp.as_deref().and_then(millis), what }))
}

fn read(head: &Head<'_>, session_id: &str) -> Result<What, serde_json::Error> {
    let kind = head.r#type.as_str();
    if !is_read(kind) {
        return Ok(What::Activity);
    }
    let raw = head.data.map_or("{}", RawValue::get);
    if kind == "session.error" {
        return serde_json::from_str(raw).map(What::Error);
    }
    let data: Data = serde_json::from_str(raw)?;
    // What sub-agents say among themselves is no part of the answer.
    let inner = head.agent_id.is_some() || data.parent_tool_call_id.is_some();
    Ok(match kind {
        "user.message" if !inner => What::UserMessage,
        "assistant.message_delta" if !inner => {
            What::Delta { message_id: data.message_id, text: data.delta_content }
        }
        "assistant.streaming_delta" if !inner => What::Count { bytes: data.total_response_size_bytes },
        "assistant.reasoning_delta" if !inner => What::Reasoning { text: data.delta_content },
        "assistant.message" if !inner => What::Message { message_id: data.message_id, text: data.content },
        "assistant.turn_retry" if !inner => {
            What::Retry { reason: data.reason.unwrap_or_else(|| "the model service failed".to_owned()) }
        }
        "assistant.usage" => What::Usage {
            input_tokens: data.input_tokens,
            output_tokens: data.output_tokens,
            cost: data.cost,
        },
        "session.usage_info" if !inner => {
            What::Context { used: data.current_tokens, limit: data.token_limit }
        }
        "session.compaction_start" | "session.compaction_complete" | "session.truncation" if !inner => {
            What::Compaction
        }
        "model.call_failure" if data.failure_kind.as_deref() == Some("transport") => What::Unreachable,
        "model.call_failure" => What::Reached,
        "session.idle" => What::Idle { aborted: data.aborted },
        "external_tool.requested" => {
            What::ToolRequested { request_id: data.request_id, tool: data.tool_name, args: data.arguments }
        }
        "tool.execution_start" => What::ToolStarted { call: data.tool_call_id, tool: data.tool_name },
        "external_tool.completed" => What::ToolCompleted { request_id: data.request_id },
        "permission.requested" if !data.resolved_by_hook => permission(data),
        "permission.completed" => What::PermissionCompleted { request_id: data.request_id },
        _ => unanswerable(kind, session_id, &data.request_id).unwrap_or(What::Activity),
    })
}

fn is_read(kind: &str) -> bool {
    matches!(
        kind,
        "user.message"
            | "assistant.message_delta"
            | "assistant.streaming_delta"
            | "assistant.reasoning_delta"
            | "assistant.message"
            | "assistant.turn_retry"
            | "assistant.usage"
            | "session.usage_info"
            | "session.compaction_start"
            | "session.compaction_complete"
            | "session.truncation"
            | "model.call_failure"
            | "session.error"
            | "session.idle"
            | "tool.execution_start"
            | "external_tool.requested"
            | "external_tool.completed"
            | "permission.requested"
            | "permission.completed"
    ) || unanswerable(kind, "", "").is_some()
}

fn permission(data: Data) -> What {
    let word = |name: &str| data.permission_request.get(name).and_then(Value::as_str).map(str::to_owned);
    What::PermissionRequested {
        request_id: data.request_id,
        kind: word("kind").unwrap_or_else(|| "unknown".to_owned()),
        tool: word("toolName"),
        call: word("toolCallId"),
        detail: data.permission_request,
    }
}

/// The refusal of a question that is not asked of this host's person. It is given at once, because an
/// unanswered question holds the turn for ever.
fn unanswerable(kind: &str, session_id: &str, request_id: &str) -> Option<What> {
    let (method, name, answer) = match kind {
        "elicitation.requested" => {
            ("session.ui.handlePendingElicitation", "result", json!({"action": "decline"}))
        }
        "user_input.requested" => (
            "session.ui.handlePendingUserInput",
            "response",
            json!({"answer": NOBODY_ANSWERS, "wasFreeform": true}),
        ),
        "exit_plan_mode.requested" => {
            ("session.ui.handlePendingExitPlanMode", "response", json!({"approved": false}))
        }
        "auto_mode_switch.requested" => ("session.ui.handlePendingAutoModeSwitch", "response", json!("no")),
        "session_limits_exhausted.requested" => {
            ("session.ui.handlePendingSessionLimitsExhausted", "response", json!({"action": "cancel"}))
        }
        "sampling.requested" => ("session.ui.handlePendingSampling", "", Value::Null),
        _ => return None,
    };
    let mut params = json!({"sessionId": session_id, "requestId": request_id});
    if !name.is_empty() {
        params[name] = answer;
    }
    Some(What::Unanswerable { method, params })
}

/// What the CLI reads when it asks a person something outside of Browy's own tools.
pub const NOBODY_ANSWERS: &str = "Nobody can answer this here. Go on without an answer.";

/// The answer to a request of the CLI itself.
///
/// # Errors
/// `None` for a method that this host does not serve.
pub fn answer_request(method: &str) -> Option<Value> {
    match method {
        "userInput.request" => Some(json!({"answer": NOBODY_ANSWERS, "wasFreeform": true})),
        "exitPlanMode.request" => Some(json!({"approved": false})),
        "autoModeSwitch.request" => Some(json!({"response": "no"})),
        "hooks.invoke" => Some(json!({})),
        _ => None,
    }
}

/// UUIDs as numbers: a turn of 20,000 pieces remembers 20,000 ids.
fn event_number(id: &str) -> u128 {
    uuid::Uuid::parse_str(id).map_or_else(
        |_| {
            use std::hash::{DefaultHasher, Hash, Hasher};
            let mut hasher = DefaultHasher::new();
            id.hash(&mut hasher);
            u128::from(hasher.finish())
        },
        |uuid| uuid.as_u128(),
    )
}

/// Milliseconds since 1970 of an RFC 3339 time.
pub fn millis(text: &str) -> Option<u64> {
    use time::OffsetDateTime;
    use time::format_description::well_known::Rfc3339;
    let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
    u64::try_from(time.unix_timestamp_nanos() / 1_000_000).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: &str, data: &Value) -> SessionEvent {
        let params = json!({"sessionId": "sp-1", "event": {
            "type": kind, "data": data, "timestamp": "2026-11-30T18:40:34.443Z",
            "id": "ddea7aaf-b162-4299-983a-ba0dc8e25d0b"}});
        parse(&serde_json::value::to_raw_value(&params).unwrap()).unwrap().1
    }

    #[test]
    fn bulk_is_told_from_the_first_bytes() {
        let body = |kind: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"session.event","params":{{"sessionId":"sp-1","event":{{"type":"{kind}","data":{{}}}}}}}}"#
            )
        };
        assert!(is_bulk(body("model.messages_snapshot").as_bytes()));
        assert!(is_bulk(body("model.response").as_bytes()));
        assert!(!is_bulk(body("model.call_failure").as_bytes()));
        assert!(!is_bulk(body("assistant.message").as_bytes()));
        assert!(!is_bulk(b"{}"));
    }

    #[test]
    fn escaped_text_is_read() {
        let read = event("assistant.message_delta", &json!({"messageId": "m", "deltaContent": "a\"\n\u{1}"}));
        assert_eq!(read.what, What::Delta { message_id: "m".into(), text: "a\"\n\u{1}".into() });
        assert_eq!(read.timestamp, Some(1_796_064_034_443));
        assert!(read.id.is_some());
    }

    #[test]
    fn words_of_sub_agents_are_not_the_answer() {
        let params = json!({"sessionId": "s", "event": {"type": "assistant.message_delta", "agentId": "a",
            "data": {"messageId": "m", "deltaContent": "x"}}});
        let raw = serde_json::value::to_raw_value(&params).unwrap();
        assert_eq!(parse(&raw).unwrap().1.what, What::Activity);
        let read =
            event("assistant.message", &json!({"messageId": "m", "content": "x", "parentToolCallId": "t"}));
        assert_eq!(read.what, What::Activity);
    }

    #[test]
    fn every_question_is_declined_at_once() {
        for kind in [
            "elicitation.requested",
            "user_input.requested",
            "exit_plan_mode.requested",
            "auto_mode_switch.requested",
            "session_limits_exhausted.requested",
            "sampling.requested",
        ] {
            let What::Unanswerable { params, .. } = event(kind, &json!({"requestId": "r"})).what else {
                panic!("{kind} is not declined");
            };
            assert_eq!(params["requestId"], "r");
            assert_eq!(params["sessionId"], "sp-1");
        }
    }

    #[test]
    fn unknown_events_and_missing_data_are_activity() {
        assert_eq!(event("session.something_new", &json!({"x": [1]})).what, What::Activity);
        let params = r#"{"sessionId":"s","event":{"type":"session.idle"}}"#;
        let raw = RawValue::from_string(params.to_owned()).unwrap();
        assert_eq!(parse(&raw).unwrap().1.what, What::Idle { aborted: false });
    }

    #[test]
    fn transport_failures_are_told_apart_from_refusals() {
        assert_eq!(event("model.call_failure", &json!({"failureKind": "transport"})).what, What::Unreachable);
        assert_eq!(event("model.call_failure", &json!({"failureKind": "api"})).what, What::Reached);
    }
}
