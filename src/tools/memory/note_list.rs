//! `note_list`: which notes there are.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{about, with_notes};
use crate::browser::text::clean;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Characters of a note that the list shows.
const PREVIEW: usize = 100;

/// Notes in one answer.
const PAGE: usize = 100;

/// See [`Tool::SPEC`].
pub struct NoteList;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Only notes of this category.
    category: Option<String>,
    /// How many of the newest to pass over, for the next 100.
    skip: Option<u32>,
}

impl Tool for NoteList {
    const SPEC: ToolSpec = ToolSpec {
        name: "note_list",
        title: "List notes",
        description: "List notes, the newest first: keys and the beginning of each. Read one whole with note_get.",
        category: Category::Memory,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(10),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        with_notes(
            cx,
            |notes| notes.list(),
            |mut notes| {
                notes.retain(|(_, note)| args.category.is_none() || note.category == args.category);
                let skip = usize::try_from(args.skip.unwrap_or(0)).unwrap_or(usize::MAX);
                let shown: Vec<Value> = notes
                    .iter()
                    .skip(skip)
                    .take(PAGE)
                    .map(|(key, note)| {
                        let mut line = about(note);
                        line.insert("key".to_owned(), json!(key));
                        line.insert("preview".to_owned(), json!(clean(&note.value, PREVIEW)));
                        Value::Object(line)
                    })
                    .collect();
                let mut words = Map::new();
                words.insert("count".to_owned(), json!(notes.len()));
                if skip.saturating_add(shown.len()) < notes.len() {
                    words.insert("more".to_owned(), json!(format!("skip={}", skip + shown.len())));
                }
                words.insert("notes".to_owned(), Value::Array(shown));
                words
            },
        )
        .await
    }
}
