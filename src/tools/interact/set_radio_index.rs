//! `set_radio_index`: a numbered radio button.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::check_index::check;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct SetRadioIndex;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the radio button in the newest page view.
    index: u32,
}

impl Tool for SetRadioIndex {
    const SPEC: ToolSpec = ToolSpec {
        name: "set_radio_index",
        title: "Choose radio",
        description: "Choose a numbered radio button; the same as check_index with checked true.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(check(cx, args.index, Some(true)).await)
    }
}
