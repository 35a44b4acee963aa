//! `focus_index`: the keyboard to an element.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::{ActError, Class, Kind, Press, Refusal};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct FocusIndex;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the element in the newest page view.
    index: u32,
}

impl Tool for FocusIndex {
    const SPEC: ToolSpec = ToolSpec {
        name: "focus_index",
        title: "Focus",
        description: "Put the keyboard on a numbered element: text fields with a real click (which also offers saved values), anything else without pressing it. Then press_key or press_keys.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(focus(cx, args).await)
    }
}

async fn focus(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let (browser, cancel) = (&cx.browser, &cx.cancel);
    let element = browser.element(cancel, args.index).await?;
    let field = browser.field(cancel, &element).await?;
    let mut words = Map::new();
    let mut focused = false;
    if matches!(field.kind, Kind::Text | Kind::Editable) {
        let observed = browser.press(cancel, &element, &Press::default()).await?;
        words = observed.words();
        words.remove("hint");
        if observed.dialog.is_some() || observed.new_document || observed.closed {
            return Ok(observed.words());
        }
        // A press may land on a part of the field whose focus the page passes on.
        focused = browser.has_focus(cancel, &element).await?;
    }
    if !focused {
        // A press on anything else would do what it does.
        focused = browser.give_focus(cancel, &element).await?;
    }
    if !focused {
        return Err(Refusal::new(
            Class::NotEditable,
            "The element does not take the keyboard. Take the number of a field, link or button in it.",
        )
        .into());
    }
    words.insert("focused".to_owned(), json!(true));
    words.insert("tag".to_owned(), json!(field.tag));
    if field.secret {
        words.insert(
            "hint".to_owned(),
            json!("This field is for a secret, which only the person enters: call await_user."),
        );
    }
    Ok(words)
}
