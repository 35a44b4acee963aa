//! `mark_screenshot`: what the page looks like, with the numbers of its elements.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use crate::browser::ActError;
use crate::tools::answer::{refused, succeeded};
use crate::tools::{Category, Effect, Exposure, Picture, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct MarkScreenshot;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {}

impl Tool for MarkScreenshot {
    const SPEC: ToolSpec = ToolSpec {
        name: "mark_screenshot",
        title: "Numbered screenshot",
        description: "See the visible part of the page as a picture in which every element that can be acted on is framed and has its number, the one of inspect_page. Secret fields are painted over. For layouts that words do not tell. `scale` is picture pixels per CSS px.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, _: Args) -> Result<ToolOutput, ToolError> {
        let marked = match cx.browser.capture_marked(&cx.cancel).await {
            Ok(marked) => marked,
            Err(ActError::Refused(refusal)) => return Ok(refused(&refusal)),
            Err(ActError::Cancelled) => return Err(ToolError::Cancelled),
        };
        let capture = marked.capture;
        let mut words = Map::new();
        words.insert("marks".to_owned(), json!(marked.numbers));
        words.insert("width".to_owned(), json!(capture.width));
        words.insert("height".to_owned(), json!(capture.height));
        words.insert("scale".to_owned(), json!((capture.scale * 1_000.0).round() / 1_000.0));
        if !marked.unmoved {
            let hint = "Something moved while the picture was taken; a number may stand beside its element.";
            words.insert("hint".to_owned(), json!(hint));
        }
        let mut output = succeeded(words);
        output.pictures.push(Picture { mime_type: "image/jpeg".to_owned(), base64: capture.small });
        Ok(output)
    }
}
