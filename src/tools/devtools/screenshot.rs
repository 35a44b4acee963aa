//! `screenshot`: what the page looks like.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use crate::browser::ActError;
use crate::data::screenshots::Screenshots;
use crate::tools::answer::{refused, succeeded};
use crate::tools::{Category, Effect, Exposure, Picture, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct Screenshot;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {}

impl Tool for Screenshot {
    const SPEC: ToolSpec = ToolSpec {
        name: "screenshot",
        title: "Screenshot",
        description: "See the visible part of the page as a picture. For looks and drawings only: inspect_page and extract_text read text better. `scale` is picture pixels per CSS px.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, _: Args) -> Result<ToolOutput, ToolError> {
        let capture = match cx.browser.capture(&cx.cancel).await {
            Ok(capture) => capture,
            Err(ActError::Refused(refusal)) => return Ok(refused(&refusal)),
            Err(ActError::Cancelled) => return Err(ToolError::Cancelled),
        };
        let folder = Screenshots::below(&cx.paths);
        let bytes = capture.full;
        let size = bytes.len();
        let saved = tokio::task::spawn_blocking(move || folder.keep(&bytes)).await;
        let mut words = Map::new();
        match saved {
            Ok(Ok(path)) => {
                words.insert("saved".to_owned(), json!(path.to_string_lossy()));
                words.insert("sizeKB".to_owned(), json!(size.div_ceil(1024)));
            }
            // The model sees the picture all the same.
            Ok(Err(error)) => {
                words.insert(
                    "hint".to_owned(),
                    json!(format!("The picture could not be kept as a file: {error}")),
                );
            }
            Err(error) => {
                words.insert(
                    "hint".to_owned(),
                    json!(format!("The picture could not be kept as a file: {error}")),
                );
            }
        }
        words.insert("width".to_owned(), json!(capture.width));
        words.insert("height".to_owned(), json!(capture.height));
        words.insert("scale".to_owned(), json!((capture.scale * 1_000.0).round() / 1_000.0));
        let mut output = succeeded(words);
        output.pictures.push(Picture { mime_type: "image/jpeg".to_owned(), base64: capture.small });
        Ok(output)
    }
}
