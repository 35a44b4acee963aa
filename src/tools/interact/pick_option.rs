//! `pick_option`: an option of any kind of list.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::select_index::choose;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct PickOption;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the combobox, list or menu button in the newest page view.
    index: u32,
    /// What the option is called.
    option: String,
}

impl Tool for PickOption {
    const SPEC: ToolSpec = ToolSpec {
        name: "pick_option",
        title: "Pick an option",
        description: "Pick an option of a numbered combobox, listbox, select or menu button by its name: opens it, types where it filters, waits for options, scrolls long lists, presses the option and checks that it is shown. For the entries of menus too.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(choose(cx, args.index, std::slice::from_ref(&args.option)).await)
    }
}
