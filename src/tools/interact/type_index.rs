//! `type_index`: text into a numbered field.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::browser::{ActError, Element, Kind};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct TypeIndex;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the field in the newest page view.
    index: u32,
    /// What to type. Date, time, month and week fields take ISO values (2031-04-09, 17:45, 2031-04, 2031-W15), colour fields #rrggbb.
    text: String,
    /// true (when absent): instead of what the field holds; false: behind it.
    clear: Option<bool>,
}

impl Tool for TypeIndex {
    const SPEC: ToolSpec = ToolSpec {
        name: "type_index",
        title: "Type",
        description: "Type text into a numbered field or editor and check that it keeps it; `value` is what it holds now. Does not press Enter. Password, card and code fields are refused: use await_user. For several fields use fill_form.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(type_text(cx, args).await)
    }
}

async fn type_text(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let element = cx.browser.element(&cx.cancel, args.index).await?;
    type_into(cx, &element, &args.text, args.clear.unwrap_or(true)).await
}

/// Types into a field, however it was named, and checks what it keeps.
pub(super) async fn type_into(
    cx: &ToolCx,
    element: &Element,
    text: &str,
    clear: bool,
) -> Result<Map<String, Value>, ActError> {
    let (browser, cancel) = (&cx.browser, &cx.cancel);
    let field = browser.field(cancel, element).await?;
    let offers = field.combobox && field.kind == Kind::Text;
    if offers {
        browser.note_lists(cancel, element).await?;
    }
    let expected = browser.enter_text(cancel, element, &field, text, clear).await?;
    let held = browser.keeps(cancel, element, &expected, Instant::now()).await?;
    let mut words = held.words();
    if field.self_drawn {
        // What is around the cursor, and behind what the page draws.
        words.remove("value");
    }
    words.insert("tag".to_owned(), json!(field.tag));
    if let Some(invalid) = &held.invalid {
        words.insert("hint".to_owned(), json!(format!("The browser finds the value wrong: {invalid}")));
    }
    if offers {
        let offered = browser.suggestions(cancel, element).await?;
        if !offered.is_empty() {
            words.insert("suggestions".to_owned(), json!(offered));
            words.insert(
                "hint".to_owned(),
                json!("Suggestions are shown; the form may want one of them (select_index chooses it)."),
            );
        }
    }
    Ok(words)
}
