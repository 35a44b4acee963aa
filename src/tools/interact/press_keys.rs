//! `press_keys`: a text key by key, or several named keys.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::press_key::tell_focus;
use crate::browser::{ActError, strokes};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct PressKeys;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// A text, or names of keys and chords (Control+a Delete); 300 keys at most.
    keys: String,
}

impl Tool for PressKeys {
    const SPEC: ToolSpec = ToolSpec {
        name: "press_keys",
        title: "Press keys",
        description: "Type a text key by key where the keyboard is, or press several named keys with spaces between (Tab Tab Enter). For pages that listen to single keys; fields are filled better by type_index. Never into password, card and code fields.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(60),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(press(cx, args).await)
    }
}

async fn press(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let all = strokes(&args.keys)?;
    let (observed, pressed) = cx.browser.strike(&cx.cancel, &all).await?;
    let mut words = observed.words();
    words.insert("keys".to_owned(), json!(args.keys));
    if pressed < all.len() {
        words.insert("pressed".to_owned(), json!(pressed));
        words.insert("of".to_owned(), json!(all.len()));
    }
    tell_focus(cx, &observed, &mut words).await?;
    Ok(words)
}
