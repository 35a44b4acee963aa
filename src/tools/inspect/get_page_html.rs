//! `get_page_html`: the markup of a part of the page.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::fenced;
use crate::browser::text::{clean, markup, quoted};
use crate::browser::wrong_selector;
use crate::page::{PageFunction, function};
use crate::tools::answer::bad_argument;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Characters of one answer unless the caller says otherwise, and the most and fewest that it may say.
const PAGE: u32 = 8_000;
const LEAST: u32 = 500;
const MOST: u32 = 40_000;

/// See [`Tool::SPEC`].
pub struct GetPageHtml;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// CSS selector of the part to read; the whole body when absent.
    selector: Option<String>,
    /// Characters the answer may have; 8,000 when absent, 40,000 at most.
    max_chars: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Read {
    wrong: bool,
    found: bool,
    html: String,
    cut: bool,
    late: bool,
    left: usize,
    skipped: BTreeMap<String, usize>,
}

impl Tool for GetPageHtml {
    const SPEC: ToolSpec = ToolSpec {
        name: "get_page_html",
        title: "Read the markup",
        description: "Read the HTML of the body, or of the first element that a CSS selector finds, shadow roots and frames of the same origin included. Scripts, styles, drawings and secret values are left out, and what was cut is told. For text use extract_text, for controls inspect_page.",
        category: Category::Inspect,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        const READ: PageFunction = function("readMarkup");
        let selector = args.selector.as_deref().map(str::trim).filter(|selector| !selector.is_empty());
        let room = args.max_chars.unwrap_or(PAGE).clamp(LEAST, MOST);
        let asked = [json!(selector), json!(room)];
        let answers = cx.browser.call_opened::<Read>(&cx.cancel, READ, &asked).await?;
        if let Some(selector) = selector
            && answers.iter().any(|(_, read)| read.wrong)
        {
            return Err(bad_argument(&wrong_selector(selector)));
        }
        let Some((frame, read)) = answers.into_iter().find(|(_, read)| read.found) else {
            return Err(bad_argument(&match selector {
                Some(selector) => format!(
                    "Nothing on the page matches the selector {}. Leave it out to read the whole body.",
                    quoted(selector, 200)
                ),
                None => "The page has no body yet.".to_owned(),
            }));
        };
        let mut out = fenced("page_html", &markup(&read.html));
        if let Some(origin) = &frame.origin {
            out.push_str(&format!("\nThis is in a frame of {}.", quoted(origin, 120)));
        }
        if !read.skipped.is_empty() {
            let list: Vec<String> =
                read.skipped.iter().map(|(tag, count)| format!("{count} {}", clean(tag, 20))).collect();
            out.push_str(&format!("\nLeft out: what is inside {}.", list.join(", ")));
        }
        if read.cut {
            let why = if read.late { "time was over" } else { "the room was used up" };
            let ways = if room < MOST { "a selector, or max_chars" } else { "a selector" };
            out.push_str(&format!("\nCut because {why}: {} more elements. Ask with {ways}.", read.left));
        }
        Ok(ToolOutput::text(out))
    }
}
