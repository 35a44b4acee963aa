//! `find_text`: where a text stands, and what can be acted on there.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::browser::text::clean;
use crate::browser::{ActError, FrameWorld, Place};
use crate::tools::answer::bad_argument;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Places that are told.
const MOST: usize = 12;

/// Graphemes on either side of a place.
const AROUND: usize = 60;

/// See [`Tool::SPEC`].
pub struct FindText;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// What to look for; capitals and white space do not count.
    text: String,
}

impl Tool for FindText {
    const SPEC: ToolSpec = ToolSpec {
        name: "find_text",
        title: "Find text",
        description: "Find every place of a text on the whole page, also in fields, frames and shadow roots, with the words around it, whether it needs scrolling (`off`), and the number of the element it is part of (`index`) or of those beside it (`near`).",
        category: Category::Inspect,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let text = wanted(&args.text)?;
        let found = cx.browser.find_text(&cx.cancel, text, None, MOST, false).await?;
        let count: usize = found.iter().map(|(_, places)| places.count).sum();
        let unseen: usize = found.iter().map(|(_, places)| places.unseen).sum();
        let more = found.iter().any(|(_, places)| places.more);
        let mut matches = Vec::new();
        for (frame, places) in found {
            for place in places.matches {
                if matches.len() < MOST {
                    matches.push(told(cx, &frame, place).await?);
                }
            }
        }
        let mut out = json!({ "count": count, "matches": matches });
        if more {
            out["more"] = json!(true);
        }
        let hint = match (count, unseen) {
            (0, 0) => {
                "The text is nowhere on the page now. It may be loaded later, or written differently: try a shorter part."
            }
            (0, _) => {
                "The text is in the page but cannot be seen now: open the part that holds it (a menu, tab, section), then look again."
            }
            (1..=MOST, _) => "",
            _ => "Only the first ones are listed; look for a longer text.",
        };
        if unseen > 0 {
            out["unseen"] = json!(unseen);
        }
        if !hint.is_empty() {
            out["hint"] = json!(hint);
        }
        Ok(ToolOutput::json(&out))
    }
}

/// The text to look for.
pub(super) fn wanted(text: &str) -> Result<&str, ToolError> {
    match text.trim() {
        "" => Err(bad_argument("`text` is empty.")),
        long if long.chars().count() > 500 => {
            Err(bad_argument("`text` is too long; 500 characters at most."))
        }
        text => Ok(text),
    }
}

async fn told(cx: &ToolCx, frame: &FrameWorld, mut place: Place) -> Result<Value, ActError> {
    let mut out = json!({ "text": place.line(AROUND) });
    if place.within != "text" {
        out["in"] = json!(clean(&place.within, 20));
    }
    out["tag"] = json!(clean(&place.tag, 40));
    let on = cx.browser.numbers_of(&cx.cancel, frame, place.on.take().into_iter().collect()).await?;
    if let Some(index) = on.first() {
        out["index"] = json!(index);
    }
    let near = cx.browser.named(&cx.cancel, frame, std::mem::take(&mut place.near)).await?;
    if !near.is_empty() {
        out["near"] = json!(near);
    }
    if place.off {
        out["off"] = json!(true);
    }
    if let Some(origin) = &frame.origin {
        out["frame"] = json!(clean(origin, 120));
    }
    Ok(out)
}
