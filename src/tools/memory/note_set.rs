//! `note_set`: remember something.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::with_notes;
use crate::browser::origin_of;
use crate::data::notes::Note;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct NoteSet;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Name to find it by, up to 128 characters; an existing note of this key is replaced.
    key: String,
    /// What to remember, up to 4,096 bytes. Never a password or a code.
    value: String,
    /// A word to group notes by.
    category: Option<String>,
}

impl Tool for NoteSet {
    const SPEC: ToolSpec = ToolSpec {
        name: "note_set",
        title: "Write a note",
        description: "Remember a fact or preference beyond this chat, because the person asked or agreed. Notes are kept on this computer and shared by all chats.",
        category: Category::Memory,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReachesComputer,
        timeout: Duration::from_secs(10),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let Args { key, value, category } = args;
        let bytes = value.len();
        let note = Note {
            value,
            updated: Value::Null,
            category: category.filter(|category| !category.trim().is_empty()),
            chat: Some(cx.browser.context.session().0.clone()),
            origin: origin(cx).await,
            rest: Map::new(),
        };
        let words = Map::from_iter([("key".to_owned(), json!(key)), ("bytes".to_owned(), json!(bytes))]);
        with_notes(cx, move |notes| notes.set(&key, note), |()| words).await
    }
}

/// Where the agent worked when it wrote the note.
async fn origin(cx: &ToolCx) -> Option<String> {
    let held = cx.browser.context.pinned()?;
    let tabs = cx.browser.context.tabs(&cx.cancel).await.ok()?;
    tabs.into_iter().find(|tab| tab.tab_id == held).and_then(|tab| origin_of(&tab.url))
}
