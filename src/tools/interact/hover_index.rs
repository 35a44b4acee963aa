//! `hover_index`: the mouse at rest on a numbered element.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::browser::ActError;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct HoverIndex;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the element in the newest page view.
    index: u32,
}

impl Tool for HoverIndex {
    const SPEC: ToolSpec = ToolSpec {
        name: "hover_index",
        title: "Point at",
        description: "Move the real mouse onto a numbered element and leave it there. Tells what appears because of it: `tooltip`, and menus as `appeared` with the numbers of the elements in them.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(hover(cx, args).await)
    }
}

async fn hover(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let element = cx.browser.element(&cx.cancel, args.index).await?;
    cx.browser.hover(&cx.cancel, &element).await
}
