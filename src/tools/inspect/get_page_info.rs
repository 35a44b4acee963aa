//! `get_page_info`: what a page is.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use unicode_segmentation::UnicodeSegmentation;

use super::fenced;
use crate::browser::text::{clean, clean_lines, quoted};
use crate::page::{PageFunction, function};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct GetPageInfo;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {}

/// Characters of the text.
const HEAD: usize = 2_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Facts {
    url: String,
    title: String,
    description: String,
    language: String,
    ready_state: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Read {
    found: bool,
    text: String,
}

impl Tool for GetPageInfo {
    const SPEC: ToolSpec = ToolSpec {
        name: "get_page_info",
        title: "Page facts",
        description: "Address, title, description, language and loading state of the page, and the first 2,000 characters of its text. For its controls use inspect_page, for more text extract_text.",
        category: Category::Inspect,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, _: Args) -> Result<ToolOutput, ToolError> {
        const FACTS: PageFunction = function("pageInfo");
        const READ: PageFunction = function("readText");
        let facts: Facts = cx.browser.call_top(&cx.cancel, FACTS, &[]).await?;
        let answers = cx.browser.call_frames::<Read>(&cx.cancel, READ, &[json!(null)]).await?;
        let mut out = json!({
            "url": facts.url,
            "title": clean(&facts.title, 200),
            "readyState": clean(&facts.ready_state, 20),
        });
        for (name, value, cap) in
            [("description", &facts.description, 500), ("language", &facts.language, 20)]
        {
            if !value.is_empty() {
                out[name] = json!(clean(value, cap));
            }
        }
        let mut text = String::new();
        for (frame, read) in answers.iter().filter(|(_, read)| read.found) {
            let own = clean_lines(&read.text);
            if let Some(origin) = frame.origin.as_deref().filter(|_| !own.is_empty()) {
                text.push_str(&format!("\n<frame origin={}>\n", quoted(origin, 120)));
            }
            text.push_str(&own);
        }
        let head = head(&text);
        let mut text_out = format!("{out}\n");
        if head.is_empty() {
            text_out.push_str(super::pdf_note(cx).await.unwrap_or("There is no visible text."));
        } else {
            text_out.push_str(&fenced("page_text", head));
            if head.len() < text.len() {
                let next = head.chars().count();
                text_out.push_str(&format!("\nThere is more text: extract_text with from={next} goes on."));
            }
        }
        Ok(ToolOutput::text(text_out))
    }
}

/// The first characters, ended between graphemes.
fn head(text: &str) -> &str {
    let mut end = 0;
    let mut count = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        count += grapheme.chars().count();
        if count > HEAD {
            break;
        }
        end = at + grapheme.len();
    }
    text.get(..end).unwrap_or(text)
}
