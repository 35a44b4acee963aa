//! `hover`: the mouse at rest on what a CSS selector finds.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::browser::ActError;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct Hover;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// CSS selector; of several the only one that is shown.
    selector: String,
}

impl Tool for Hover {
    const SPEC: ToolSpec = ToolSpec {
        name: "hover",
        title: "Point by selector",
        description: "Move the real mouse onto what a CSS selector finds. Else use hover_index; the answer is the same.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let acted = async {
            let element = cx.browser.find_one(&cx.cancel, &args.selector, false, "hover_index").await?;
            let mut words = cx.browser.hover(&cx.cancel, &element).await?;
            words.insert("selector".to_owned(), json!(args.selector));
            Ok::<_, ActError>(words)
        };
        answer(acted.await)
    }
}
