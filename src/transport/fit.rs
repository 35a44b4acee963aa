//! Making messages fit one frame: split, shortened with a visible mark, or refused.

use std::io;

use serde::Serialize;
use serde_json::{Value, json};

use crate::protocol::limits::MAX_OUTBOUND;
use crate::protocol::{
    AskKind, ChatDelta, ChatHistoryResult, ChatListResult, DataListResult, HistoryImage, HistoryMessage,
    Outbound,
};

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
        Outbound::DataListResult(list) => shorten_data(list, over),
        Outbound::DataDeleteResult(result) => shorten_optional(&mut result.error, over),
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
        HistoryMessage::User { text, images, .. } => {
            shorten_text(text, over - saved) || drop_images(images, over - saved)
        }
        HistoryMessage::Assistant { text, .. } => shorten_text(text, over - saved),
        HistoryMessage::Tool { summary, images, .. } => {
            shorten_optional(summary, over - saved) || drop_images(images, over - saved)
        }
    })
}

/// Takes out the content of pictures.
fn drop_images(images: &mut [HistoryImage], over: usize) -> bool {
    let mut saved = 0;
    for image in images {
        saved += image.data.take().map_or(0, |data| data.len());
    }
    saved >= over
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

/// Leaves out the oldest notes, then the last files.
fn shorten_data(list: &mut DataListResult, over: usize) -> bool {
    list.more = true;
    let mut saved = 0;
    while saved < over {
        saved += match (list.notes.pop(), list.files.is_empty()) {
            (Some(note), _) => size(&note) + ",".len(),
            (None, false) => list.files.pop().map_or(0, |file| size(&file) + ",".len()),
            (None, true) => return false,
        };
    }
    true
}

/// The longest start of `text` that takes at most `room` bytes inside a JSON string, the rest, and how
/// many bytes it takes. Never cuts a character.
fn cut(text: &str, room: usize) -> (&str, &str, usize) {
    let mut taken = 0;
    let over = text.bytes().position(|byte| {
        taken += escaped_byte(byte);
        taken > room
    });
    let Some(over) = over else { return (text, "", taken) };
    let at = text.floor_char_boundary(over);
    let (start, rest) = text.split_at(at);
    // Counted so far: the start, and the bytes of the next character up to the one that was too many.
    let beyond: usize = text.as_bytes()[at..=over].iter().copied().map(escaped_byte).sum();
    (start, rest, taken - beyond)
}

/// Bytes that `text` takes inside a JSON string.
fn escaped_len(text: &str) -> usize {
    text.bytes().map(escaped_byte).sum()
}

/// What a byte of UTF-8 text takes inside a JSON string, as serde_json writes it.
fn escaped_byte(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0C => 2,
        0..=0x1F => 6,
        _ => 1,
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
        Outbound::DownloadStart(_) => "download.start",
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
        Outbound::DataListResult(_) => "data.list.result",
        Outbound::DataDeleteResult(_) => "data.delete.result",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::protocol::{
        CallId, CdpSend, ChatDone, ChatError, ChatInfo, ChatToolCall, ChatToolResult, ErrorCode,
        EventActivity, SessionId, StoredFile, StoredNote, TabHeld, TabId, UserAsk,
    };

    fn session() -> SessionId {
        "sp-1".into()
    }

    fn done(text: String) -> Outbound {
        Outbound::ChatDone(ChatDone {
            session_id: session(),
            text,
            tool_calls: Vec::new(),
            turn_id: None,
            duration_ms: None,
            truncated: false,
            usage: None,
        })
    }

    fn ask(kind: AskKind, message: String) -> Outbound {
        Outbound::UserAsk(UserAsk {
            session_id: session(),
            ask_id: "a".into(),
            kind,
            message,
            choices: None,
            allow_text: None,
            tool: None,
            args: None,
            origin: None,
            expires_ms: None,
        })
    }

    fn cdp(params: Value) -> Outbound {
        Outbound::CdpSend(CdpSend {
            session_id: session(),
            call_id: "c".into(),
            tab_id: None,
            cdp_session_id: None,
            method: "Runtime.callFunctionOn".into(),
            params,
        })
    }

    /// Every kind of message that is shortened, with `text` as its long part.
    fn shortened_kinds(text: &str) -> Vec<Outbound> {
        let text = text.to_owned();
        let call_id: CallId = "c".into();
        vec![
            done(text.clone()),
            Outbound::ChatToolCall(ChatToolCall {
                session_id: session(),
                call_id: call_id.clone(),
                tool: "type_index".into(),
                args: json!({ "index": 1, "text": text }),
            }),
            Outbound::ChatToolResult(ChatToolResult {
                session_id: session(),
                call_id,
                ok: true,
                summary: Some(text.clone()),
                duration_ms: Some(1),
            }),
            Outbound::ChatError(ChatError {
                session_id: None,
                message: text.clone(),
                code: ErrorCode::Model,
                turn_id: None,
                duration_ms: None,
                request_id: None,
            }),
            Outbound::EventActivity(EventActivity {
                session_id: session(),
                event: "reasoning".into(),
                tool: None,
                text: Some(text.clone()),
                duration_ms: None,
            }),
            Outbound::TabHeld(TabHeld {
                session_id: session(),
                tab_id: TabId(1),
                url: text.clone(),
                title: "t".into(),
                origin: None,
            }),
            Outbound::ChatHistoryResult(history(vec![text.clone()])),
            ask(AskKind::AwaitUser, text),
        ]
    }

    fn history(texts: Vec<String>) -> ChatHistoryResult {
        ChatHistoryResult {
            id: session(),
            messages: texts
                .into_iter()
                .map(|text| HistoryMessage::Assistant { text, timestamp: Some(1) })
                .collect(),
            cursor: None,
            has_more: None,
            request_id: None,
        }
    }

    fn decoded(body: &[u8]) -> Outbound {
        serde_json::from_slice(body).unwrap()
    }

    #[test]
    fn escapes_are_measured_as_they_are_written() {
        for character in '\0'..=char::MAX {
            let written = serde_json::to_string(character.encode_utf8(&mut [0; 4])).unwrap();
            assert_eq!(escaped_len(&character.to_string()), written.len() - 2, "{character:?}");
        }
    }

    #[test]
    fn nothing_is_changed_up_to_the_last_byte_and_shortened_after_it() {
        for (index, empty) in shortened_kinds("").iter().enumerate() {
            let frame = size(empty);
            for total in [1_048_570, 1_048_575, 1_048_576, 1_048_577, 1_048_580] {
                let message = shortened_kinds(&"x".repeat(total - frame)).swap_remove(index);
                assert_eq!(size(&message), total);
                let body = encode(message.clone()).unwrap();
                assert!(body.len() <= MAX_OUTBOUND, "{} {total}", kind(&message));
                assert_eq!(decoded(&body) == message, total <= MAX_OUTBOUND, "{} {total}", kind(&message));
                let marked = memchr::memmem::find(&body, b"[shortened").is_some();
                assert_eq!(marked, total > MAX_OUTBOUND);
            }
        }
    }

    #[test]
    fn shortened_answer_says_so_and_is_as_long_as_it_may_be() {
        let body = encode(done("é😀\"".repeat(400_000))).unwrap();
        assert!((MAX_OUTBOUND - 8..=MAX_OUTBOUND).contains(&body.len()), "{}", body.len());
        let Outbound::ChatDone(done) = decoded(&body) else { panic!() };
        assert!(done.truncated);
        assert!(done.text.ends_with("… [shortened: 2800000 bytes in all]"));
        assert!(done.text.starts_with("é😀\"é😀\""));
    }

    #[test]
    fn command_to_the_browser_and_approval_are_never_changed() {
        let refused = encode(cdp(json!({ "text": "x".repeat(MAX_OUTBOUND) }))).unwrap_err();
        assert_eq!(refused.kind, "cdp.send");
        assert!(refused.bytes > MAX_OUTBOUND);
        assert!(encode(ask(AskKind::Approval, "x".repeat(MAX_OUTBOUND))).is_err());
        let frame = size(&cdp(json!("")));
        assert_eq!(encode(cdp(json!("x".repeat(MAX_OUTBOUND - frame)))).unwrap().len(), MAX_OUTBOUND);
        assert!(encode(cdp(json!("x".repeat(MAX_OUTBOUND - frame + 1)))).is_err());
    }

    #[test]
    fn arguments_keep_their_shape_while_that_fits() {
        let call = |args| {
            let call = ChatToolCall { session_id: session(), call_id: "c".into(), tool: "t".into(), args };
            let Outbound::ChatToolCall(call) = decoded(&encode(Outbound::ChatToolCall(call)).unwrap()) else {
                panic!()
            };
            call.args
        };
        let args = call(json!({ "index": 7, "text": "é".repeat(1_000_000), "all": [true, "short"] }));
        assert_eq!((&args["index"], &args["all"]), (&json!(7), &json!([true, "short"])));
        assert!(args["text"].as_str().unwrap().ends_with("é… [shortened: 2000000 bytes in all]"));
        let args = call(json!({ "values": vec!["word"; 200_000] }));
        assert_eq!(args, json!({ "shortened": "… [1400012 bytes of arguments, too long to show]" }));
    }

    #[test]
    fn history_loses_its_old_end_and_tells_where_to_go_on() {
        let texts: Vec<String> = (0..30).map(|n| format!("{n} {}", "x".repeat(100_000))).collect();
        let page = |message| {
            let body = encode(message).unwrap();
            assert!(body.len() <= MAX_OUTBOUND);
            let Outbound::ChatHistoryResult(page) = decoded(&body) else { panic!() };
            page
        };
        let newest = page(Outbound::ChatHistoryResult(history(texts.clone())));
        assert_eq!(
            (newest.messages.len(), newest.cursor.as_deref(), newest.has_more),
            (10, Some("20"), Some(true))
        );
        assert_eq!(newest.messages, history(texts[20..].to_vec()).messages);

        let mut later = history(texts[5..30].to_vec());
        (later.cursor, later.has_more) = (Some("5".into()), Some(true));
        assert_eq!(page(Outbound::ChatHistoryResult(later)).cursor.as_deref(), Some("20"));

        let giant = page(Outbound::ChatHistoryResult(history(vec!["old".into(), "x".repeat(3_000_000)])));
        assert_eq!((giant.messages.len(), giant.cursor.as_deref()), (1, Some("1")));
        let HistoryMessage::Assistant { text, .. } = &giant.messages[0] else { panic!() };
        assert!(text.ends_with("[shortened: 3000000 bytes in all]"));
    }

    #[test]
    fn chat_list_loses_its_old_end() {
        let chat = |n: u64| ChatInfo {
            id: session(),
            summary: Some(format!("{n} {}", "x".repeat(1000))),
            start_time: n,
            modified_time: n,
            interrupted: false,
            usage: None,
        };
        let list = ChatListResult { chats: (0..2000).map(chat).collect(), request_id: None };
        let Outbound::ChatListResult(sent) = decoded(&encode(Outbound::ChatListResult(list)).unwrap()) else {
            panic!()
        };
        assert!((900..1000).contains(&sent.chats.len()), "{}", sent.chats.len());
        assert_eq!(sent.chats[..3], [chat(0), chat(1), chat(2)]);
    }

    #[test]
    fn stored_data_loses_its_oldest_notes_and_says_so() {
        let note = |number: usize| StoredNote {
            key: number.to_string(),
            value: "v".repeat(4096),
            updated: None,
            origin: None,
        };
        let list = DataListResult {
            folder: "/data".to_owned(),
            notes: (0..1000).map(note).collect(),
            files: vec![StoredFile { name: "f".to_owned(), bytes: 1, modified: None }],
            more: false,
            error: None,
            request_id: None,
        };
        let body = encode(Outbound::DataListResult(list)).unwrap();
        let list: DataListResult = serde_json::from_slice(&body).unwrap();
        assert!(body.len() <= MAX_OUTBOUND && list.more);
        assert!((200..300).contains(&list.notes.len()), "{}", list.notes.len());
        assert_eq!((list.notes[0].key.as_str(), list.files.len()), ("0", 1));
    }

    #[test]
    fn session_id_that_fills_a_frame_is_refused() {
        let delta = ChatDelta { session_id: SessionId("x".repeat(MAX_OUTBOUND)), text: "hi".into() };
        assert!(split(&delta).is_err());
        assert!(encode(Outbound::ChatDelta(delta)).is_err());
    }

    /// Texts near the limit, of characters that take one to six bytes on the wire.
    fn long_text() -> impl Strategy<Value = String> {
        let unit =
            prop_oneof!["[a-c]", Just("é".to_owned()), Just("😀".to_owned()), Just("\u{1}\"".to_owned())];
        (prop::collection::vec(unit, 1..6), 900_000..1_100_000usize).prop_map(|(units, bytes)| {
            let unit = units.concat();
            unit.repeat(bytes / escaped_len(&unit) + 1)
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

        #[test]
        fn every_body_is_within_the_limit_whatever_the_text(text in long_text()) {
            for message in shortened_kinds(&text) {
                let body = encode(message).unwrap();
                prop_assert!(body.len() <= MAX_OUTBOUND);
                prop_assert!(serde_json::from_slice::<Outbound>(&body).is_ok());
            }
        }

        #[test]
        fn pieces_of_a_delta_are_the_delta(text in long_text(), times in 1..4usize) {
            let delta = ChatDelta { session_id: session(), text: text.repeat(times) };
            let pieces = split(&delta).unwrap();
            let texts: Vec<&str> = pieces.iter().map(|(text, _)| *text).collect();
            prop_assert!(texts.concat() == delta.text);
            for (text, on_wire) in pieces {
                prop_assert_eq!(on_wire, escaped_len(text));
                let piece = ChatDelta { session_id: session(), text: text.to_owned() };
                prop_assert!(size(&Outbound::ChatDelta(piece)) <= MAX_OUTBOUND);
            }
        }
    }
}
