//! `note_delete`: forget something.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use super::with_notes;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct NoteDelete;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The note's key.
    key: String,
}

impl Tool for NoteDelete {
    const SPEC: ToolSpec = ToolSpec {
        name: "note_delete",
        title: "Delete a note",
        description: "Delete one note by its key, when the person asks to forget it. `deleted` is false when there was none.",
        category: Category::Memory,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReachesComputer,
        timeout: Duration::from_secs(10),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        with_notes(
            cx,
            move |notes| notes.delete(&args.key),
            |deleted| Map::from_iter([("deleted".to_owned(), json!(deleted))]),
        )
        .await
    }
}
