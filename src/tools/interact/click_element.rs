//! `click_element`: a real click on what a CSS selector finds.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::click_index::click_on;
use crate::browser::{ActError, Press};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct ClickElement;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// CSS selector; of several the only one that is shown.
    selector: String,
}

impl Tool for ClickElement {
    const SPEC: ToolSpec = ToolSpec {
        name: "click_element",
        title: "Click by selector",
        description: "Click what a CSS selector finds, for elements that inspect_page does not list. Else use click_index; the same checks are made.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let acted = async {
            let element = cx.browser.find_one(&cx.cancel, &args.selector, false, "click_index").await?;
            let mut words = click_on(cx, &element, &Press::default()).await?;
            words.insert("selector".to_owned(), json!(args.selector));
            Ok::<_, ActError>(words)
        };
        answer(acted.await)
    }
}
