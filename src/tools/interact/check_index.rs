//! `check_index`: a numbered tick box, switch or radio button.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::browser::{ActError, Class, Patience};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct CheckIndex;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the box in the newest page view.
    index: u32,
    /// true: ticked; false: not ticked; absent: the other of the two.
    checked: Option<bool>,
}

impl Tool for CheckIndex {
    const SPEC: ToolSpec = ToolSpec {
        name: "check_index",
        title: "Tick",
        description: "Tick or untick a numbered checkbox, switch or radio button with a real click, also when only its label is drawn, and check that the page keeps it.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(check(cx, args.index, args.checked).await)
    }
}

/// Ticks or unticks, and checks what the page keeps.
pub(super) async fn check(
    cx: &ToolCx,
    index: u32,
    checked: Option<bool>,
) -> Result<Map<String, Value>, ActError> {
    let (browser, cancel) = (&cx.browser, &cx.cancel);
    let element = browser.element(cancel, index).await?;
    let field = browser.field(cancel, &element).await?;
    let (expected, observed) = browser.check(cancel, &element, &field, checked, Patience::Settle).await?;
    let Some(observed) = observed else {
        let mut words = browser.read(cancel, &element).await?.words();
        words.insert("noop".to_owned(), json!(true));
        return Ok(words);
    };
    let held = match browser.keeps_long(cancel, &element, &expected, Instant::now()).await {
        // The box cannot be asked any more: what was seen is what there is to tell.
        Err(ActError::Refused(refusal))
            if matches!(refusal.class, Class::BlockedByDialog | Class::Navigated | Class::Closed) =>
        {
            return Ok(observed.words());
        }
        other => other?,
    };
    let mut words = observed.words();
    words.extend(held.words());
    if let Some(kind) = &field.input_type {
        words.insert("type".to_owned(), json!(kind));
    }
    Ok(words)
}
