//! `clear_index`: an empty field.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::browser::ActError;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct ClearIndex;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the field in the newest page view.
    index: u32,
}

impl Tool for ClearIndex {
    const SPEC: ToolSpec = ToolSpec {
        name: "clear_index",
        title: "Clear",
        description: "Empty a numbered text field, editor or date field as the Backspace key does, and check that it stays empty. Password, card and code fields are refused.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(clear(cx, args).await)
    }
}

async fn clear(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let (browser, cancel) = (&cx.browser, &cx.cancel);
    let element = browser.element(cancel, args.index).await?;
    let field = browser.field(cancel, &element).await?;
    let expected = browser.enter_text(cancel, &element, &field, "", true).await?;
    let held = browser.keeps(cancel, &element, &expected, Instant::now()).await?;
    let mut words = held.words();
    words.insert("tag".to_owned(), json!(field.tag));
    Ok(words)
}
