//! `click_index`: a real mouse click on a numbered element.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::keys::{Key, Modifiers};
use crate::browser::{ActError, Button, Class, Element, Observed, Press, Refusal};
use crate::tools::answer::answer;
use crate::tools::kinds::Offset;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct ClickIndex;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the element in the newest page view.
    index: u32,
    /// Mouse button; left when absent.
    button: Option<Which>,
    /// 2 for a double click; 1 when absent, 3 at most.
    count: Option<u8>,
    /// Keys held meanwhile: Shift, Control, Alt, Meta.
    modifiers: Option<Vec<String>>,
    /// Where exactly, as "x,y" in CSS px from the element's top left, for maps and drawings; anywhere free when absent.
    offset: Option<Offset>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Which {
    Left,
    Right,
    Middle,
}

impl Tool for ClickIndex {
    const SPEC: ToolSpec = ToolSpec {
        name: "click_index",
        title: "Click",
        description: "Click a numbered element with the real mouse: scrolls to it, refuses if it is disabled, hidden or covered (says by what), and tells what the click changed. For lists use select_index, for tick boxes check_index.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(click(cx, args).await)
    }
}

async fn click(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let mut modifiers = Modifiers::default();
    for name in args.modifiers.iter().flatten() {
        let known = Modifiers::named(name).ok_or_else(|| {
            Refusal::new(Class::BadArgument, "`modifiers` are Shift, Control, Alt or Meta.".to_owned())
        })?;
        modifiers = modifiers.and(known);
    }
    let press = Press {
        button: match args.button {
            None | Some(Which::Left) => Button::Left,
            Some(Which::Right) => Button::Right,
            Some(Which::Middle) => Button::Middle,
        },
        count: args.count.unwrap_or(1).clamp(1, 3),
        modifiers,
        offset: args.offset.map(|at| (at.x, at.y)),
        ..Press::default()
    };
    let element = cx.browser.element(&cx.cancel, args.index).await?;
    click_on(cx, &element, &press).await
}

/// Clicks an element, however it was named, and closes the system's own popup of a list.
pub(super) async fn click_on(
    cx: &ToolCx,
    element: &Element,
    press: &Press,
) -> Result<Map<String, Value>, ActError> {
    let observed = cx.browser.press(&cx.cancel, element, press).await?;
    let mut words = observed.words();
    words.insert("tag".to_owned(), json!(element.fingerprint.tag));
    if list_is_open(&observed)
        && let Some(escape) = Key::named("Escape")
    {
        // The system's own popup: neither in the page nor in any view of it.
        cx.browser.press_key(&cx.cancel, element.target.tab, &escape, Modifiers::default()).await?;
        words.insert(
            "hint".to_owned(),
            json!("This is a list: choose with select_index. It was closed again."),
        );
    }
    Ok(words)
}

fn list_is_open(observed: &Observed) -> bool {
    observed.dialog.is_none() && observed.state.get("listOpen") == Some(&Value::Bool(true))
}
