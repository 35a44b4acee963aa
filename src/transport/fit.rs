//! Making messages fit one frame: split, shortened with a visible mark, or refused.

use std::io;

use serde::Serialize;
use serde_json::{Value, json};

use crate::protocol::limits::MAX_OUTBOUND;
use crate::protocol::{AskKind, ChatDelta, ChatHistoryResult, ChatListResult, HistoryMessage, Outbound};

/// A message that is too long and must not be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge {
    /// What it is.
    pub(super) kind: &'static str,
    /// Its length in bytes.
    pub(super) bytes: usize,
}

/// Characters that are kept of each text inside the arguments of a tool call that does not fit.
const KEPT_OF_ARGUMENT: usize = 2_000;

/// The body of `message`, shortened when it does not fit.
pub(super) fn encode(mut message: Outbound) -> Result<Vec<u8>, TooLarge> {
    if let Some(body) = within_limit(&message) {
        return Ok(body);
    }
    let bytes = size(&message);
    let refused = TooLarge { kind: kind(&message), bytes };
    if !shorten(&mut message, bytes - MAX_OUTBOUND) {
        return Err(refused);
    }
    tracing::warn!(kind = refused.kind, bytes, "a message was shortened to fit a frame");
    within_limit(&message).ok_or(refused)
}

/// The texts of the deltas that carry `delta`, each with its length on the wire.
pub(super) fn split(delta: &ChatDelta) -> Result<Vec<(&str, usize)>, TooLarge> {
    let empty = ChatDelta { session_id: delta.session_id.clone(), text: String::new() };
    let frame = size(&Outbound::ChatDelta(empty));
    let room = MAX_OUTBOUND.saturating_sub(frame);
    let mut rest = delta.text.as_str();
    let mut pieces = Vec::new();
    while !rest.is_empty() || pieces.is_empty() {
        let (piece, left, on_wire) = cut(rest, room);
        if piece.is_empty() && !rest.is_empty() {
            return Err(TooLarge { kind: "chat.delta", bytes: frame + escaped_len(&delta.text) });
        }
        pieces.push((piece, on_wire));
        rest = left;
    }
    Ok(pieces)
}

/// Takes at least `over` bytes off the wire length of `message`; `false` when that is not allowed.
fn shorten(message: &mut Outbound, over: usize) -> bool {
    match message {
        Outbound::ChatDone(done) => {
            let flag = if done.truncated { 0 } else { r#","truncated":true"#.len() };
            done.truncated = true;
            shorten_text(&mut done.text, over + flag)
        }
        Outbound::ChatToolCall(call) => {
            call.args = shortened_args(&call.args);
            true
        }
        Outbound::ChatToolResult(result) => shorten_optional(&mut result.summary, over),
        Outbound::ChatError(error) => shorten_text(&mut error.message, over),
        Outbound::EventActivity(activity) => shorten_optional(&mut activity.text, over),
        Outbound::AuthStatus(status) => shorten_optional(&mut status.detail, over),
        Outbound::SdkReady(ready) => shorten_optional(&mut ready.detail, over),
        Outbound::TabHeld(held) => shorten_text(&mut held.title, over) || shorten_text(&mut held.url, over),
        Outbound::ChatHistoryResult(page) => shorten_history(page, over),
        Outbound::ChatListResult(list) => shorten_list(list, over),
        Outbound::ProviderGetResult(result)
        | Outbound::ProviderSetResult(result)
        | Outbound::ProviderTestResult(result) => shorten_optional(&mut result.error, over),
        // A person must see all of what an approval is for.
        Outbound::UserAsk(ask) if ask.kind != AskKind::Approval => shorten_text(&mut ask.message, over),
        _ => false,
    }
}

fn shorten_optional(text: &mut Option<String>, over: usize) -> bool {
    text.as_mut().is_some_and(|text| shorten_text(text, over))
}

/// Cuts `text` so that it and the mark take `over` bytes less on the wire than before.
fn shorten_text(text: &mut String, over: usize) -> bool {
    let mark = mark(text.len());
    let Some(room) = escaped_len(text).checked_sub(over + mark.len()) else { return false };
    let (kept, _, _) = cut(text, room);
    let kept = kept.len();
    text.truncate(kept);
    text.push_str(&mark);
    true
}

fn mark(bytes: usize) -> String {
    format!("… [shortened: {bytes} bytes in all]")
}

/// The arguments with every long text shortened; when that is not enough, only their length.
fn shortened_args(args: &Value) -> Value {
    let mut shortened = args.clone();
    shorten_strings(&mut shortened);
    if size(&shortened) <= MAX_OUTBOUND / 2 {
        return shortened;
    }
    json!({ "shortened": format!("… [{} bytes of arguments, too long to show]", size(args)) })
}

fn shorten_strings(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((kept, _)) = text.char_indices().nth(KEPT_OF_ARGUMENT) {
                let mark = mark(text.len());
                text.truncate(kept);
                text.push_str(&mark);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shorten_strings),
        Value::Object(fields) => fields.values_mut().for_each(shorten_strings),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Drops messages from the old end; a last one that is too long by itself is shortened.
///
/// The cursor of a page is the place of its first message in the transcript.
fn shorten_history(page: &mut ChatHistoryResult, over: usize) -> bool {
    let first: usize = page.cursor.as_deref().and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
    // Room for the fields that tell of the rest, whose digits are not known yet.
    let over = over + r#","cursor":"","hasMore":true"#.len() + 20;
    let (mut dropped, mut saved) = (0, 0);
    while saved < over && dropped + 1 < page.messages.len() {
        saved += size(&page.messages[dropped]) + ",".len();
        dropped += 1;
    }
    page.messages.drain(..dropped);
    if dropped > 0 {
        page.has_more = Some(true);
        page.cursor = Some((first + dropped).to_string());
    }
    if saved >= over {
        return true;
    }
    page.messages.first_mut().is_some_and(|last| match last {
        HistoryMessage::User { text, .. } | HistoryMessage::Assistant { text, .. } => {
            shorten_text(text, over - saved)
        }
        HistoryMessage::Tool { summary, .. } => shorten_optional(summary, over - saved),
    })
}

/// Drops the oldest chats.
fn shorten_list(list: &mut ChatListResult, over: usize) -> bool {
    let mut saved = 0;
    while saved < over {
        let Some(chat) = list.chats.pop() else { return false };
        saved += size(&chat) + ",".len();
    }
    true
}

/// The longest start of `text` that takes at most `room` bytes inside a JSON string, the rest, and how
/// many bytes it takes. Never cuts a character.
fn cut(text: &str, room: usize) -> (&str, &str, usize) {
    let mut taken = 0;
    for (at, character) in text.char_indices() {
        let length = escaped_char(character);
        if taken + length > room {
            return (&text[..at], &text[at..], taken);
        }
        taken += length;
    }
    (text, "", taken)
}

/// Bytes that `text` takes inside a JSON string.
fn escaped_len(text: &str) -> usize {
    text.chars().map(escaped_char).sum()
}

/// As serde_json writes it.
fn escaped_char(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    }
}

/// The body, unless it is over the limit; no more than the limit is ever kept in memory.
fn within_limit(message: &Outbound) -> Option<Vec<u8>> {
    let mut body = Limited(Vec::with_capacity(256));
    serde_json::to_writer(&mut body, message).ok()?;
    Some(body.0)
}

struct Limited(Vec<u8>);

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_OUTBOUND {
            return Err(io::ErrorKind::WriteZero.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bytes of `value` as JSON.
fn size(value: &impl Serialize) -> usize {
    let mut count = Count(0);
    // Counting cannot fail, and neither can serialising these types.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The wire type, for logs.
fn kind(message: &Outbound) -> &'static str {
    match message {
        Outbound::HelloAck(_) => "hello.ack",
        Outbound::SessionReady(_) => "session.ready",
        Outbound::AuthStatus(_) => "auth.status",
        Outbound::SdkReady(_) => "sdk.ready",
        Outbound::ModelsCurrent(_) => "models.current",
        Outbound::ModelsList(_) => "models.list",
        Outbound::ChatQueued(_) => "chat.queued",
        Outbound::ChatStarted(_) => "chat.started",
        Outbound::ChatDelta(_) => "chat.delta",
        Outbound::ChatToolCall(_) => "chat.tool_call",
        Outbound::ChatToolResult(_) => "chat.tool_result",
        Outbound::ChatDone(_) => "chat.done",
        Outbound::ChatError(_) => "chat.error",
        Outbound::EventActivity(_) => "event.activity",
        Outbound::Usage(_) => "usage",
        Outbound::CdpSend(_) => "cdp.send",
        Outbound::TabNew(_) => "tab.new",
        Outbound::TabActivate(_) => "tab.activate",
        Outbound::TabClose(_) => "tab.close",
        Outbound::TabList(_) => "tab.list",
        Outbound::TabGetActive(_) => "tab.getActive",
        Outbound::TabHeld(_) => "tab.held",
        Outbound::UserAsk(_) => "user.ask",
        Outbound::UserAskClosed(_) => "user.ask.closed",
        Outbound::ChatListResult(_) => "chat.list.result",
        Outbound::ChatHistoryResult(_) => "chat.history.result",
        Outbound::ChatDeleteResult(_) => "chat.delete.result",
        Outbound::ChatRenameResult(_) => "chat.rename.result",
        Outbound::ToolsListResult(_) => "tools.list.result",
        Outbound::ProviderGetResult(_) => "provider.get.result",
        Outbound::ProviderSetResult(_) => "provider.set.result",
        Outbound::ProviderTestResult(_) => "provider.test.result",
        Outbound::DiagResult(_) => "diag.result",
    }
}
