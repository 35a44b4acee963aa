//! `press_key`: one key, or a chord, wherever the keyboard is.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::{ActError, Observed, Stroke};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct PressKey;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The key by its name (Enter, Tab, ArrowDown, F2, a), held keys before it with + (Control+Shift+Home).
    key: String,
}

impl Tool for PressKey {
    const SPEC: ToolSpec = ToolSpec {
        name: "press_key",
        title: "Press a key",
        description: "Press a key or chord (Enter, Escape, Control+a) where the keyboard is, and tell what it changed and what has the focus now. Put it there with focus_index or type_index first; Enter in a field sends its form. Shortcuts of the browser itself (F5, Control+T) do nothing.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(press(cx, args).await)
    }
}

async fn press(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let stroke = Stroke::named(&args.key)?;
    let (observed, _) = cx.browser.strike(&cx.cancel, &[stroke]).await?;
    let mut words = observed.words();
    words.insert("key".to_owned(), json!(args.key.trim()));
    tell_focus(cx, &observed, &mut words).await?;
    Ok(words)
}

/// What has the keyboard now, when the page can still be asked.
pub(super) async fn tell_focus(
    cx: &ToolCx,
    observed: &Observed,
    words: &mut Map<String, Value>,
) -> Result<(), ActError> {
    if observed.dialog.is_some() || observed.new_document || observed.closed {
        return Ok(());
    }
    match cx.browser.focus(&cx.cancel).await {
        Ok(focus) if focus.nothing => {}
        Ok(focus) => {
            words.insert(
                "focus".to_owned(),
                json!({ "index": focus.element.index, "element": focus.element.fingerprint.describe() }),
            );
        }
        Err(ActError::Cancelled) => return Err(ActError::Cancelled),
        // It is there to help; the keys were pressed all the same.
        Err(ActError::Refused(_)) => {}
    }
    Ok(())
}
