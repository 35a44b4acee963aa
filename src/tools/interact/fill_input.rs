//! `fill_input`: text into the field that a CSS selector finds.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::type_index::type_into;
use crate::browser::ActError;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct FillInput;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// CSS selector; of several the only one that is shown.
    selector: String,
    /// What to type; empty empties the field.
    value: String,
}

impl Tool for FillInput {
    const SPEC: ToolSpec = ToolSpec {
        name: "fill_input",
        title: "Fill by selector",
        description: "Type a value into the field that a CSS selector finds, instead of what it holds. Else use type_index; the same fields are refused.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let acted = async {
            let element = cx.browser.find_one(&cx.cancel, &args.selector, false, "type_index").await?;
            let mut words = type_into(cx, &element, &args.value, true).await?;
            words.insert("selector".to_owned(), json!(args.selector));
            Ok::<_, ActError>(words)
        };
        answer(acted.await)
    }
}
