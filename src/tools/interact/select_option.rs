//! `select_option`: an option of the list that a CSS selector finds.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::select_index::choose_in;
use crate::browser::ActError;
use crate::tools::answer::{answer, bad_argument};
use crate::tools::kinds::OneOrMany;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct SelectOption;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// CSS selector; of several the only one that is shown.
    selector: String,
    /// Value or label of the option; a JSON array for several.
    value: Option<OneOrMany>,
    /// Its label, instead of value.
    label: Option<OneOrMany>,
}

impl Tool for SelectOption {
    const SPEC: ToolSpec = ToolSpec {
        name: "select_option",
        title: "Choose by selector",
        description: "Choose an option, by value or label, in the list that a CSS selector finds. Else use select_index.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let Some(wanted) = args.value.or(args.label) else {
            return Err(bad_argument("Give `value` or `label`."));
        };
        let acted = async {
            let element = cx.browser.find_one(&cx.cancel, &args.selector, false, "select_index").await?;
            let mut words = choose_in(cx, &element, &wanted.0).await?;
            words.insert("selector".to_owned(), json!(args.selector));
            Ok::<_, ActError>(words)
        };
        answer(acted.await)
    }
}
