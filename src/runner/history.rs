//! Transcripts for a panel, page by page.

use super::summary::summary;
use crate::agent::{Entry, ImageData, Transcript};
use crate::protocol::{ChatHistory, ChatHistoryResult, HistoryImage, HistoryMessage};

/// Lines of one page.
const PAGE: usize = 200;

/// Characters of one tool's answer.
const RESULT: usize = 2_000;

/// Base64 of the pictures of one page, which must fit a frame with its texts. One picture of this size fits alone:
/// whoever asks for its line only gets it.
const PICTURES: usize = 640 * 1024;

/// Pictures that a panel may show.
const SHOWN: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Which lines are asked for: before which one, and how many.
pub(super) fn wanted(request: &ChatHistory) -> (Option<usize>, usize) {
    let before = request.before.as_deref().and_then(|cursor| cursor.parse().ok());
    (before, request.limit.map_or(PAGE, |limit| limit as usize).clamp(1, PAGE))
}

/// The page. Its cursor is the number of lines before it. The newest pictures are in it, as far as there is room.
pub(super) fn page(lines: Transcript, request: ChatHistory) -> ChatHistoryResult {
    let mut room = PICTURES;
    let mut messages: Vec<_> =
        lines.entries.into_iter().rev().map(|entry| message(entry, &mut room)).collect();
    messages.reverse();
    ChatHistoryResult {
        id: request.id,
        messages,
        cursor: (lines.older > 0).then(|| lines.older.to_string()),
        has_more: Some(lines.older > 0),
        request_id: request.request_id,
    }
}

fn message(entry: Entry, room: &mut usize) -> HistoryMessage {
    let mut pictures =
        |images: Vec<ImageData>| images.into_iter().map(|image| picture(image, room)).collect::<Vec<_>>();
    match entry {
        Entry::User { text, images, timestamp } => {
            HistoryMessage::User { text, images: pictures(images), timestamp }
        }
        Entry::Assistant { text, timestamp } => HistoryMessage::Assistant { text, timestamp },
        Entry::Tool { name, ok, result, images, timestamp } => HistoryMessage::Tool {
            name,
            ok,
            summary: result.map(|text| told(&text, ok)),
            images: pictures(images),
            timestamp,
        },
    }
}

/// The line that the panel showed when the tool ended, and below it what the line does not say.
fn told(text: &str, ok: bool) -> String {
    let line = summary(text, ok);
    let kept = match text.char_indices().nth(RESULT) {
        Some((end, _)) => format!("{}… [shortened: {} bytes in all]", &text[..end], text.len()),
        None => text.to_owned(),
    };
    if line.is_empty() || kept.starts_with(&line) { kept } else { format!("{line}\n\n{kept}") }
}

fn picture(image: ImageData, room: &mut usize) -> HistoryImage {
    let ImageData { mime_type, base64 } = image;
    let bytes = base64.trim_end_matches('=').len() as u64 * 3 / 4;
    let fits = !base64.is_empty() && base64.len() <= *room && SHOWN.contains(&mime_type.as_str());
    if fits {
        *room -= base64.len();
    }
    HistoryImage { mime_type, data: fits.then_some(base64), bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(before: Option<&str>, limit: Option<u32>) -> ChatHistory {
        ChatHistory { id: "sp-1".into(), before: before.map(str::to_owned), limit, request_id: None }
    }

    fn shot(mime_type: &str, kilobytes: usize) -> Entry {
        Entry::Tool {
            name: "screenshot".to_owned(),
            ok: true,
            result: Some("taken".to_owned()),
            images: vec![ImageData { mime_type: mime_type.to_owned(), base64: "A".repeat(kilobytes * 1024) }],
            timestamp: Some(1),
        }
    }

    fn pictures(page: &ChatHistoryResult) -> Vec<bool> {
        let of = |message: &HistoryMessage| match message {
            HistoryMessage::User { images, .. } | HistoryMessage::Tool { images, .. } => images.clone(),
            HistoryMessage::Assistant { .. } => Vec::new(),
        };
        page.messages.iter().flat_map(of).map(|image| image.data.is_some()).collect()
    }

    #[test]
    fn asked_for_is_a_page_of_a_bounded_size() {
        assert_eq!(wanted(&request(None, None)), (None, PAGE));
        assert_eq!(wanted(&request(Some("7"), Some(3))), (Some(7), 3));
        assert_eq!(wanted(&request(Some("x"), Some(0))), (None, 1));
        assert_eq!(wanted(&request(None, Some(9_999))), (None, PAGE));
    }

    #[test]
    fn newest_pictures_are_shown_and_the_others_named_with_their_size() {
        let entries = vec![
            shot("image/png", 300),
            shot("image/jpeg", 300),
            shot("image/svg+xml", 1),
            shot("image/webp", 300),
            shot("image/png", 0),
        ];
        let page = page(Transcript { entries, older: 3 }, request(None, None));
        assert_eq!(pictures(&page), [false, true, false, true, false]);
        assert_eq!((page.cursor.as_deref(), page.has_more), (Some("3"), Some(true)));
        let HistoryMessage::Tool { images, .. } = &page.messages[0] else { panic!() };
        assert_eq!(images[0].bytes, 300 * 1024 * 3 / 4);
    }

    #[test]
    fn one_picture_alone_has_the_room_of_all() {
        let alone = |kilobytes: usize| {
            let lines = Transcript { entries: vec![shot("image/png", kilobytes)], older: 0 };
            pictures(&page(lines, request(Some("1"), Some(1))))
        };
        assert_eq!((alone(640), alone(641)), (vec![true], vec![false]));
    }

    #[test]
    fn answer_of_a_tool_is_a_line_for_people_and_the_whole_below() {
        assert_eq!(told("Opened “A”.", true), "Opened “A”.");
        let facts = r#"{"success":true,"url":"https://one.test/"}"#;
        assert_eq!(told(facts, true), format!("url “https://one.test/”\n\n{facts}"));
        let long = told(&"é".repeat(5_000), true);
        assert!(long.ends_with("… [shortened: 10000 bytes in all]"), "{long}");
        assert!(long.chars().count() < RESULT + 300);
    }
}
