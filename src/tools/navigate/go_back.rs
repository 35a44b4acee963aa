//! `go_back`: the page before.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::step;
use crate::browser::Step;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct GoBack;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {}

impl Tool for GoBack {
    const SPEC: ToolSpec = ToolSpec {
        name: "go_back",
        title: "Go back",
        description: "Go back to the page before in the tab you work on, as the browser's Back button does, and wait until it is there. `restored` means that it is as it was left, with what was typed in it. Numbers of the page that was left are void.",
        category: Category::Navigate,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesBrowser,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, _: Args) -> Result<ToolOutput, ToolError> {
        answer(step(cx, Step::Back).await)
    }
}
