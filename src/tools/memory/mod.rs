//! What the agent remembers from one chat to the next.

mod note_delete;
mod note_get;
mod note_list;
mod note_set;

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{ErasedTool, ToolCx, ToolError, ToolOutput};
use crate::data::Opened;
use crate::data::notes::{Note, NoteError, Notes};

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] =
    &[&note_set::NoteSet, &note_get::NoteGet, &note_list::NoteList, &note_delete::NoteDelete];

/// Does something with the notes where a slow disk or a held lock stops nobody else, and answers with `words`.
async fn with_notes<T: Send + 'static, E: Into<NoteError> + Send + 'static>(
    cx: &ToolCx,
    act: impl FnOnce(&Notes) -> Result<Opened<T>, E> + Send + 'static,
    words: impl FnOnce(T) -> Map<String, Value>,
) -> Result<ToolOutput, ToolError> {
    let notes = Notes::below(&cx.paths);
    let done = tokio::task::spawn_blocking(move || act(&notes)).await;
    let opened = done
        .map_err(|error| ToolError::Model(format!("the notes could not be used: {error}")))?
        .map_err(Into::into);
    Ok(match opened {
        Ok(Opened { value, aside }) => {
            let mut words = words(value);
            if let Some(aside) = aside {
                words.insert("hint".to_owned(), json!(damaged(&aside)));
            }
            super::answer::succeeded(words)
        }
        Err(error) => {
            let (class, error) = match error {
                NoteError::File(error) => {
                    (None, format!("{error}. The notes stay as they were; tell the person"))
                }
                error => (Some("bad_argument"), error.to_string()),
            };
            let mut words = json!({ "success": false, "error": format!("{error}.") });
            if let Some(class) = class {
                words["class"] = json!(class);
            }
            ToolOutput::json(&words)
        }
    })
}

fn damaged(aside: &Path) -> String {
    format!(
        "The file of notes was damaged and could not be read. It was kept as {} and a new one begun; tell the person.",
        aside.display()
    )
}

/// What is told of a note beside its value.
fn about(note: &Note) -> Map<String, Value> {
    let mut words = Map::new();
    words.insert("updated".to_owned(), note.updated.clone());
    for (name, value) in [("category", &note.category), ("origin", &note.origin)] {
        if let Some(value) = value {
            words.insert(name.to_owned(), json!(value));
        }
    }
    words
}
