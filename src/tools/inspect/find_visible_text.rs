//! `find_visible_text`: the same for prompts that were written for Browy.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::find_text::wanted;
use crate::browser::text::clean;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Places that are told.
const MOST: usize = 10;

/// Graphemes of the text of an element.
const LONGEST: usize = 100;

/// See [`Tool::SPEC`].
pub struct FindVisibleText;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// What to look for; capitals and white space do not count.
    text: String,
    /// Only in elements of this tag, for example button.
    tag: Option<String>,
}

impl Tool for FindVisibleText {
    const SPEC: ToolSpec = ToolSpec {
        name: "find_visible_text",
        title: "Find visible text",
        description: "Like find_text, for elements by their text: tag, text, a CSS selector that finds the element alone, and the middle of it in CSS px of the window; `index` when it can be acted on.",
        category: Category::Inspect,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let text = wanted(&args.text)?;
        let tag = args.tag.as_deref().map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_lowercase);
        let (browser, cancel) = (&cx.browser, &cx.cancel);
        let found = browser.find_text(cancel, text, tag.as_deref(), MOST, true).await?;
        let count: usize = found.iter().map(|(_, places)| places.count).sum();
        let mut matches = Vec::new();
        for (frame, places) in found {
            for mut place in places.matches {
                if matches.len() >= MOST {
                    break;
                }
                let (x, y) = browser.point_of(cancel, &frame, &place).await?;
                let line = if place.words.is_empty() { place.line(LONGEST / 2) } else { place.words.clone() };
                let mut told = json!({
                    "tag": clean(&place.tag, 40),
                    "text": clean(&line, LONGEST),
                    "x": x.round(),
                    "y": y.round(),
                });
                if !place.path.is_empty() {
                    told["selector"] = json!(place.path);
                }
                let on = place.on.take().into_iter().collect();
                if let Some(index) = browser.numbers_of(cancel, &frame, on).await?.first() {
                    told["index"] = json!(index);
                }
                if let Some(origin) = &frame.origin {
                    told["frame"] = json!(clean(origin, 120));
                }
                matches.push(told);
            }
        }
        Ok(ToolOutput::json(&json!({ "count": count, "matches": matches })))
    }
}
