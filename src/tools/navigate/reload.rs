//! `reload`: the same page once more.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::once_more;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct Reload;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {}

impl Tool for Reload {
    const SPEC: ToolSpec = ToolSpec {
        name: "reload",
        title: "Reload the page",
        description: "Load the page of the tab you work on again and wait until it is there; also brings back a page that crashed. What was typed in it is lost. Never sends a form a second time. Tells status, dialog or error.",
        category: Category::Navigate,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesBrowser,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, _: Args) -> Result<ToolOutput, ToolError> {
        answer(once_more(cx).await)
    }
}
