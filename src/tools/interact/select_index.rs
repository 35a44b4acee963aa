//! `select_index`: an option of a numbered list.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::browser::{ActError, Element};
use crate::tools::answer::answer;
use crate::tools::kinds::OneOrMany;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct SelectIndex;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the list in the newest page view.
    index: u32,
    /// Label or value of the option; for a list with several choices a JSON array of all that shall be chosen.
    value: OneOrMany,
}

impl Tool for SelectIndex {
    const SPEC: ToolSpec = ToolSpec {
        name: "select_index",
        title: "Choose",
        description: "Choose an option of a numbered list (select, combobox or listbox) by its label or value. Says which options there are when none fits, and checks that the page keeps the choice.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(choose(cx, args.index, &args.value.0).await)
    }
}

/// Chooses and checks, whatever kind of list it is.
pub(super) async fn choose(
    cx: &ToolCx,
    index: u32,
    values: &[String],
) -> Result<Map<String, Value>, ActError> {
    let element = cx.browser.element(&cx.cancel, index).await?;
    choose_in(cx, &element, values).await
}

/// The same in a list that was named in another way.
pub(super) async fn choose_in(
    cx: &ToolCx,
    element: &Element,
    values: &[String],
) -> Result<Map<String, Value>, ActError> {
    let (browser, cancel) = (&cx.browser, &cx.cancel);
    let field = browser.field(cancel, element).await?;
    let picked = browser.choose(cancel, element, &field, values).await?;
    if let Some(observed) = picked.menu {
        return Ok(observed.words());
    }
    let held = browser.keeps_long(cancel, element, &picked.expected, Instant::now()).await?;
    let mut words = held.words();
    if let (Some([label]), None) = (held.selected.as_deref(), words.get("label")) {
        words.insert("label".to_owned(), json!(label));
    }
    Ok(words)
}
