//! What a person attaches to a message: a tab, an element they picked, a text file, a picture.

use base64::Engine;

use crate::agent::ImageData;
use crate::agent::prompt::quoted;
use crate::protocol::Attachment;

/// Attachments of one message.
const MOST: usize = 16;

/// Bytes of one text, whole. Longer ones are cut with a mark.
const TEXT: usize = 48 * 1024;

/// Bytes of an element's HTML; its text comes first.
const HTML: usize = 8 * 1024;

/// Bytes of one picture as a file.
const PICTURE: usize = 5 * 1024 * 1024;

/// Pictures that models take.
const PICTURES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Longest name, title or selector, in characters.
const NAME: usize = 300;

/// Attachments as the model gets them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attached {
    /// Each becomes a block of the prompt.
    pub texts: Vec<String>,
    /// Seen with the prompt.
    pub images: Vec<ImageData>,
}

impl Attached {
    /// Checks what a panel sent.
    ///
    /// # Errors
    /// In words for the person; the message must not be sent without what belongs to it.
    pub fn read(attachments: Vec<Attachment>) -> Result<Self, String> {
        if attachments.len() > MOST {
            return Err(format!("A message takes {MOST} attachments; this one has {}.", attachments.len()));
        }
        let mut attached = Self::default();
        for attachment in attachments {
            match attachment.kind.as_str() {
                "tab" => attached.texts.push(tab(&attachment)),
                "element" => attached.texts.push(element(&attachment)),
                "text" => attached.texts.push(text(&attachment)),
                "image" => {
                    let name = attachment.name.clone().unwrap_or_else(|| "The picture".to_owned());
                    attached.images.push(image(attachment).map_err(|why| format!("{name} {why}"))?);
                }
                other => {
                    return Err(format!(
                        "Attachments of the kind {other:?} are not known here; update the host."
                    ));
                }
            }
        }
        Ok(attached)
    }

    /// Whether nothing is attached.
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty() && self.images.is_empty()
    }

    /// What it takes up while it waits.
    pub fn bytes(&self) -> usize {
        self.texts.iter().map(String::len).sum::<usize>()
            + self.images.iter().map(|image| image.base64.len()).sum::<usize>()
    }
}

fn tab(attachment: &Attachment) -> String {
    let mut lines = "The person means this tab:".to_owned();
    facts(&mut lines, attachment);
    if let Some(tab) = attachment.tab_id {
        lines.push_str(&format!("\nswitch_tab(index: {}) goes there.", tab.0));
    }
    lines
}

fn element(attachment: &Attachment) -> String {
    let mut lines = "The person picked this element of a page:".to_owned();
    facts(&mut lines, attachment);
    if let Some(text) = attachment.text.as_deref().filter(|text| !text.trim().is_empty()) {
        lines.push_str(&format!("\nText: {}", cut(text, TEXT)));
    }
    if let Some(html) = attachment.html.as_deref().filter(|html| !html.trim().is_empty()) {
        lines.push_str(&format!("\nHTML: {}", cut(html, HTML)));
    }
    lines
}

fn text(attachment: &Attachment) -> String {
    let mut lines = "The person attached this text:".to_owned();
    facts(&mut lines, attachment);
    lines.push('\n');
    lines.push_str(&cut(attachment.text.as_deref().unwrap_or_default(), TEXT));
    lines
}

fn facts(lines: &mut String, attachment: &Attachment) {
    for (what, value) in [
        ("Name", &attachment.name),
        ("Title", &attachment.title),
        ("URL", &attachment.url),
        ("Selector", &attachment.selector),
    ] {
        if let Some(value) = value {
            lines.push_str(&format!("\n{what}: {}", quoted(value, NAME)));
        }
    }
}

fn cut(text: &str, bytes: usize) -> String {
    if text.len() <= bytes {
        return text.to_owned();
    }
    let kept = &text[..text.floor_char_boundary(bytes)];
    format!("{kept}\n(cut here: {} bytes of {} are shown)", kept.len(), text.len())
}

fn image(attachment: Attachment) -> Result<ImageData, String> {
    let mime_type = attachment.mime_type.unwrap_or_default();
    if !PICTURES.contains(&mime_type.as_str()) {
        return Err(format!("is {mime_type:?}; PNG, JPEG, GIF and WebP pictures can be attached."));
    }
    let base64 = attachment.data.unwrap_or_default();
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(&base64)
        .map_err(|_| "did not arrive whole; attach it again.".to_owned())?;
    if bytes.is_empty() {
        return Err("is empty.".to_owned());
    }
    if bytes.len() > PICTURE {
        return Err(format!(
            "has {} MiB; a picture may have {}.",
            bytes.len().div_ceil(1024 * 1024),
            PICTURE / 1024 / 1024
        ));
    }
    Ok(ImageData { mime_type, base64 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(attachments: Value) -> Result<Attached, String> {
        Attached::read(serde_json::from_value(attachments).unwrap())
    }

    #[test]
    fn each_kind_is_put_into_words() {
        let attached = read(json!([
            { "kind": "tab", "tabId": 7, "title": "A \"title\"\nURL: x", "url": "https://a.example/" },
            { "kind": "element", "selector": "#buy", "text": "Buy", "html": "<b>Buy</b>" },
            { "kind": "text", "name": "list.txt", "text": "eggs\nmilk" },
            { "kind": "image", "mimeType": "image/png", "data": "aGk=" },
        ]))
        .unwrap();
        assert_eq!(
            attached.texts,
            [
                "The person means this tab:\nTitle: \"A \\\"title\\\" URL: x\"\nURL: \"https://a.example/\"\nswitch_tab(index: 7) goes there.",
                "The person picked this element of a page:\nSelector: \"#buy\"\nText: Buy\nHTML: <b>Buy</b>",
                "The person attached this text:\nName: \"list.txt\"\neggs\nmilk",
            ]
        );
        assert_eq!(attached.images.len(), 1);
    }

    #[test]
    fn what_cannot_be_attached_is_refused_with_a_reason() {
        let many: Vec<Value> = (0..=MOST).map(|_| json!({ "kind": "text", "text": "x" })).collect();
        for (attachments, says) in [
            (json!(many), "16 attachments"),
            (json!([{ "kind": "video" }]), "not known"),
            (
                json!([{ "kind": "image", "name": "a.svg", "mimeType": "image/svg+xml", "data": "aGk=" }]),
                "a.svg is",
            ),
            (json!([{ "kind": "image", "mimeType": "image/png", "data": "hi!" }]), "whole"),
            (json!([{ "kind": "image", "mimeType": "image/png" }]), "empty"),
            (
                json!([{ "kind": "image", "mimeType": "image/png", "data": "AAAA".repeat(PICTURE / 3 + 1) }]),
                "may have 5",
            ),
        ] {
            let why = read(attachments).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn long_text_is_cut_between_characters_with_a_mark() {
        let attached = read(json!([{ "kind": "text", "text": "é".repeat(TEXT) }])).unwrap();
        assert!(attached.texts[0].len() < TEXT + 200 && attached.texts[0].contains("(cut here"));
    }
}
