//! `screenshot`: what the page looks like.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use crate::browser::{ActError, Class, Refusal, Shot};
use crate::data::screenshots::Screenshots;
use crate::tools::answer::{refused, succeeded};
use crate::tools::{Category, Effect, Exposure, Picture, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct Screenshot;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Only this element.
    index: Option<u32>,
    /// Only what this CSS selector finds first.
    selector: Option<String>,
    /// The page from top to end.
    full_page: Option<bool>,
}

impl Tool for Screenshot {
    const SPEC: ToolSpec = ToolSpec {
        name: "screenshot",
        title: "Screenshot",
        description: "A picture of what is in view, one element or the full page, secrets painted over. For looks only; inspect_page and extract_text read text better. `scale`: pixels per CSS px.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let taken = async {
            let shot = shot(cx, &args).await?;
            cx.browser.capture(&cx.cancel, shot).await
        };
        let capture = match taken.await {
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
        if capture.hidden > 0 {
            words.insert("painted_over".to_owned(), json!(capture.hidden));
        }
        if capture.cut {
            words.insert("cut".to_owned(), json!(true));
        }
        let mut output = succeeded(words);
        output.pictures.push(Picture { mime_type: "image/jpeg".to_owned(), base64: capture.small });
        Ok(output)
    }
}

async fn shot(cx: &ToolCx, args: &Args) -> Result<Shot, ActError> {
    let selector = args.selector.as_deref().filter(|selector| !selector.trim().is_empty());
    match (args.index, selector, args.full_page.unwrap_or(false)) {
        (None, None, false) => Ok(Shot::Viewport),
        (None, None, true) => Ok(Shot::FullPage),
        (Some(index), None, false) => {
            Ok(Shot::Element(Box::new(cx.browser.element(&cx.cancel, index).await?)))
        }
        (None, Some(selector), false) => {
            Ok(Shot::Element(Box::new(cx.browser.find_first(&cx.cancel, selector).await?)))
        }
        _ => {
            let error = "Give one of `index`, `selector` and `full_page`, or none of them.";
            Err(Refusal::new(Class::BadArgument, error).into())
        }
    }
}
