//! Stored chats and their transcripts.

use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use super::client::{CallError, Client};
use super::event::millis;
use super::{errors, wire};
use crate::agent::{AgentError, Entry, ImageData, StoredChat, Transcript};

const LIMIT: Duration = Duration::from_secs(30);

/// Events asked for at once.
const PAGE: u32 = 1000;

/// Pages of one transcript that are read at most: a million events.
const PAGES: usize = 1000;

/// Beginnings of the ids that Browy's panels give their chats.
const PREFIXES: [&str; 2] = ["sp-", "dt-"];

/// Blocks that hosts append after the person's words, in their order.
const BLOCKS: [&str; 3] = ["browser_context", "page_snapshot", "recent_actions"];

/// Browy's chats, newest first. `folder`: the working directory that marks them.
///
/// # Errors
/// When the CLI does not list them.
pub async fn list(client: &Client, folder: &Path) -> Result<Vec<StoredChat>, AgentError> {
    let listed: wire::SessionList = client
        .call("session.list", &json!({}), LIMIT)
        .await
        .map_err(|error| errors::of_call(&error, "Listing the chats"))?;
    let mut chats: Vec<_> =
        listed.sessions.into_iter().filter_map(|session| stored(session, folder)).collect();
    chats.sort_by_key(|chat| std::cmp::Reverse(chat.modified_time));
    Ok(chats)
}

/// What is told of a chat, if it is one of Browy's: by its id, by its working directory, or by what it begins with.
fn stored(session: wire::StoredSession, folder: &Path) -> Option<StoredChat> {
    let has_prefix = PREFIXES.iter().any(|prefix| session.session_id.starts_with(prefix));
    let folder = folder.to_str();
    let is_in_folder =
        folder.is_some() && session.context.as_ref().and_then(|context| context.cwd.as_deref()) == folder;
    let has_block = session.summary.as_deref().is_some_and(|summary| summary.contains("<browser_context"));
    if !has_prefix && !is_in_folder && !has_block {
        return None;
    }
    let time = |text: Option<String>| text.as_deref().and_then(millis).unwrap_or_default();
    let start_time = time(session.start_time);
    Some(StoredChat {
        surely_ours: has_prefix && is_in_folder,
        id: session.session_id,
        summary: session
            .summary
            .or(session.name)
            .map(|text| own_words(&text).trim().to_owned())
            .filter(|text| !text.is_empty()),
        start_time,
        modified_time: time(session.modified_time).max(start_time),
    })
}

/// The newest `limit` lines before line `before` of the transcript. The chat need not be open.
///
/// # Errors
/// When there is no such chat, or the CLI does not give it.
pub async fn read(
    client: &Client,
    id: &str,
    before: Option<usize>,
    limit: usize,
) -> Result<Transcript, AgentError> {
    let failed = |error: CallError| errors::of_call(&error, "Reading the chat");
    // No more is kept than is asked for: a chat of pictures has hundreds of megabytes.
    let mut lines = Window { lines: VecDeque::new(), older: 0, end: before.unwrap_or(usize::MAX), limit };
    let mut tools = HashMap::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let asked = wire::ReadEvents { session_id: id, cursor: cursor.as_deref(), max: PAGE };
        let page = client.call::<wire::EventPage>("sessions.readPersistedEvents", &asked, LIMIT).await;
        let page = match page {
            // Older CLIs tell only of open chats.
            Err(error) if error.is_unknown_method() => client
                .call("session.getMessages", &wire::OfSession { session_id: id }, LIMIT)
                .await
                .map_err(failed)?,
            // A chat that was opened and never used has nothing on disk.
            Err(error) if error.says("journal is unavailable") => break,
            page => page.map_err(failed)?,
        };
        for line in page.events.iter().filter_map(|event| entry(event, &mut tools)) {
            lines.push(line);
        }
        if lines.is_full() || !page.has_more || page.cursor.is_none() || page.cursor == cursor {
            break;
        }
        cursor = page.cursor;
    }
    Ok(Transcript { entries: lines.lines.into(), older: lines.older })
}

/// The last lines before one.
struct Window {
    lines: VecDeque<Entry>,
    /// Lines that came before these.
    older: usize,
    /// The line that they end before.
    end: usize,
    /// How many there may be.
    limit: usize,
}

impl Window {
    fn is_full(&self) -> bool {
        self.older + self.lines.len() >= self.end
    }

    fn push(&mut self, line: Entry) {
        if self.is_full() {
            return;
        }
        self.lines.push_back(line);
        if self.lines.len() > self.limit {
            self.lines.pop_front();
            self.older += 1;
        }
    }
}

/// One line of the transcript, if the event is one. `tools`: names of the calls begun so far.
fn entry(event: &Value, tools: &mut HashMap<String, String>) -> Option<Entry> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if event["ephemeral"].as_bool() == Some(true) || event["agentId"].is_string() {
        return None;
    }
    let data = &event["data"];
    let timestamp = event["timestamp"].as_str().and_then(millis);
    match event["type"].as_str()? {
        "user.message" => {
            let content = data["content"].as_str()?;
            let shown = data["transformedContent"].as_str().unwrap_or(content);
            // Sent with a text to display, the words are alone. Otherwise the context follows them.
            let words = if shown.ends_with(content) { own_words(content) } else { content };
            let images = images(&data["attachments"]);
            let is_shown = !words.trim().is_empty() || !images.is_empty();
            is_shown.then(|| Entry::User { text: words.to_owned(), images, timestamp })
        }
        "assistant.message" => {
            let content = text(&data["content"]).filter(|content| !content.trim().is_empty())?;
            Some(Entry::Assistant { text: content, timestamp })
        }
        "tool.execution_start" => {
            tools.insert(text(&data["toolCallId"])?, text(&data["toolName"])?);
            None
        }
        "tool.execution_complete" => Some(Entry::Tool {
            name: data["toolCallId"]
                .as_str()
                .and_then(|call| tools.remove(call))
                .or_else(|| text(&data["toolName"]))
                .unwrap_or_else(|| "tool".to_owned()),
            ok: data["success"].as_bool().unwrap_or(true),
            result: [&data["result"]["content"], &data["error"]["message"]].into_iter().find_map(text),
            images: images(&data["result"]["binaryResultsForLlm"]),
            timestamp,
        }),
        _ => None,
    }
}

/// The pictures among attachments, or among what a tool answered. Of one that the CLI did not keep there is no content.
fn images(parts: &Value) -> Vec<ImageData> {
    let is_image = |part: &&Value| part["mimeType"].as_str().is_some_and(|kind| kind.starts_with("image/"));
    let image = |part: &Value| ImageData {
        mime_type: part["mimeType"].as_str().unwrap_or_default().to_owned(),
        base64: part["data"].as_str().unwrap_or_default().to_owned(),
    };
    parts.as_array().into_iter().flatten().filter(is_image).map(image).collect()
}

/// The text without the blocks at its end. A block in the middle is the person's own: whoever writes
/// about `<page_snapshot>` keeps every word, also an unclosed one.
pub fn own_words(text: &str) -> &str {
    // Ours carry a fence; Browy's older ones do not.
    let mut words = crate::agent::prompt::words_of(text);
    for name in BLOCKS.iter().rev() {
        let end = words.trim_end();
        let Some(body) = end.strip_suffix(&format!("</{name}>")) else { continue };
        let Some(start) = body.rfind(&format!("<{name}")) else { continue };
        words = body[..start].trim_end();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn appended_blocks_go_and_the_persons_words_stay() {
        let blocks =
            "<browser_context>\nURL: x\n</browser_context>\n\n<page_snapshot>\n[1]\n</page_snapshot>";
        assert_eq!(own_words(&format!("Do it\n\n{blocks}")), "Do it");
        assert_eq!(own_words(blocks), "");
        let fence = "0123456789abcdef0123456789abcdef";
        let fenced = format!("Do it\n\n<page_view fence={fence}>\n[1]\n</page_view fence={fence}>");
        assert_eq!(own_words(&fenced), "Do it");
        assert_eq!(own_words("What is <page_snapshot>?"), "What is <page_snapshot>?");
        let quoted = "Explain <browser_context>a</browser_context> to me";
        assert_eq!(own_words(quoted), quoted);
        assert_eq!(own_words(&format!("{quoted}\n\n{blocks}")), quoted);
    }

    fn line(event: &Value) -> Option<Entry> {
        entry(event, &mut HashMap::new())
    }

    #[test]
    fn events_become_lines() {
        let event = |kind: &str, data: Value| line(&json!({"type": kind, "data": data}));
        let user = |text: &str| Some(Entry::User { text: text.into(), images: vec![], timestamp: None });
        let shown = json!({"content": "hi", "transformedContent": "<d/>\n\nhi <page_snapshot>"});
        assert_eq!(event("user.message", shown), user("hi"));
        assert_eq!(event("assistant.message", json!({"content": " "})), None);
        assert_eq!(line(&json!({"type": "user.message", "agentId": "a", "data": {"content": "x"}})), None);
        assert_eq!(line(&json!({"type": "session.idle"})), None);
    }

    #[test]
    fn blocks_are_stripped_only_where_no_display_text_was_sent() {
        let event = |data: Value| line(&json!({"type": "user.message", "data": data}));
        let user = |text: &str| Some(Entry::User { text: text.into(), images: vec![], timestamp: None });
        let old = "hi\n\n<recent_actions>\na\n</recent_actions>";
        let sent = format!("<current_datetime/>\n\n{old}");
        assert_eq!(event(json!({"content": old, "transformedContent": sent})), user("hi"));
        let typed = "keep <recent_actions>a</recent_actions>";
        assert_eq!(event(json!({"content": typed, "transformedContent": "other"})), user(typed));
    }

    #[test]
    fn a_tool_is_named_by_the_event_that_began_it() {
        let mut tools = HashMap::new();
        let start = json!({"type": "tool.execution_start", "data": {"toolCallId": "c", "toolName": "t"}});
        assert_eq!(entry(&start, &mut tools), None);
        let end = json!({"type": "tool.execution_complete",
            "data": {"toolCallId": "c", "success": false, "error": {"message": "no"}}});
        assert_eq!(
            entry(&end, &mut tools),
            Some(Entry::Tool {
                name: "t".into(),
                ok: false,
                result: Some("no".into()),
                images: vec![],
                timestamp: None
            })
        );
    }

    #[test]
    fn pictures_come_back_and_a_message_of_nothing_else_is_a_line() {
        let png =
            json!({"type": "blob", "mimeType": "image/png", "data": "AAAA", "displayName": "picture 1"});
        let image = |base64: &str| ImageData { mime_type: "image/png".into(), base64: base64.into() };
        let file = json!({"type": "file", "path": "/x.png", "displayName": "x.png"});
        let sent = json!({"content": "", "attachments": [png, file]});
        assert_eq!(
            line(&json!({"type": "user.message", "data": sent})),
            Some(Entry::User { text: String::new(), images: vec![image("AAAA")], timestamp: None })
        );
        let omitted = json!({"type": "image", "mimeType": "image/png", "omittedReason": "too_large"});
        let done = json!({"type": "tool.execution_complete", "data": {"toolName": "t", "success": true,
            "result": {"content": "x", "binaryResultsForLlm": [png, omitted]}}});
        let Some(Entry::Tool { images, .. }) = line(&done) else { panic!() };
        assert_eq!(images, [image("AAAA"), image("")]);
    }

    #[test]
    fn only_the_lines_that_are_asked_for_are_kept() {
        let window = |before: usize, limit: usize| {
            let mut window = Window { lines: VecDeque::new(), older: 0, end: before, limit };
            for n in 0..10_000 {
                window.push(Entry::Assistant { text: n.to_string(), timestamp: None });
                assert!(window.lines.len() <= limit);
            }
            let text = |entry: &Entry| match entry {
                Entry::Assistant { text, .. } => text.clone(),
                _ => unreachable!(),
            };
            (window.older, window.lines.iter().map(text).collect::<Vec<_>>())
        };
        assert_eq!(window(usize::MAX, 2), (9_998, vec!["9998".to_owned(), "9999".to_owned()]));
        assert_eq!(window(5, 3), (2, vec!["2".to_owned(), "3".to_owned(), "4".to_owned()]));
        assert_eq!(window(1, 3), (0, vec!["0".to_owned()]));
        assert_eq!(window(0, 3), (0, vec![]));
    }
}
