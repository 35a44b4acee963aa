//! `go_forward`: the page that was gone back from.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::step;
use crate::browser::Step;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct GoForward;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {}

impl Tool for GoForward {
    const SPEC: ToolSpec = ToolSpec {
        name: "go_forward",
        title: "Go forward",
        description: "Go forward to the page that go_back left, as the browser's Forward button does, and wait until it is there. `restored` means that it is as it was left.",
        category: Category::Navigate,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesBrowser,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, _: Args) -> Result<ToolOutput, ToolError> {
        answer(step(cx, Step::Forward).await)
    }
}
