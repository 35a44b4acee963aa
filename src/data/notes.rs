//! `~/.browy/data/notes.json`: what the agent was asked to remember, shared by every browser of this person.
//!
//! The file has the shape that Browy gave it: a key's value, when it was written, and a category.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::now;
use super::shared_file::{Opened, SharedFile, SharedFileError};
use crate::paths::Paths;

/// Longest key, in characters.
pub const MAX_KEY: usize = 128;
/// Longest value, in bytes.
pub const MAX_VALUE: usize = 4 * 1024;
/// Most notes.
pub const MAX_NOTES: usize = 1_000;

/// One note.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// The text.
    pub value: String,
    /// When it was written: milliseconds since 1970, or the text that an older program wrote.
    #[serde(default)]
    pub updated: Value,
    /// A word to group by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The chat that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chat: Option<String>,
    /// The origin of the page that the agent worked on then: where the text may come from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// What other versions wrote beside it.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A note is refused.
#[derive(Debug, thiserror::Error)]
pub enum NoteError {
    /// No key, or a key that is too long.
    #[error("a key has 1 to {MAX_KEY} characters")]
    Key,
    /// Too much text.
    #[error("the value has {0} bytes; a note holds {MAX_VALUE}. Shorten it, or save it as a file")]
    Value(usize),
    /// No room for a new key.
    #[error("there are {MAX_NOTES} notes already; delete some first (note_list, note_delete)")]
    Full,
    /// Whoever wanted the change does not any more; nothing was changed.
    #[error("stopped")]
    Stopped,
    /// See [`SharedFileError`].
    #[error(transparent)]
    File(#[from] SharedFileError),
}

/// The person's notes. Calls block: for 2 s behind a host that hangs, for 8 s behind many that work.
#[derive(Debug, Clone)]
pub struct Notes {
    file: SharedFile<BTreeMap<String, Note>>,
    stop: CancellationToken,
}

impl Notes {
    /// The notes of this home.
    pub fn below(paths: &Paths) -> Self {
        Self { file: SharedFile::at(paths.data().join("notes.json")), stop: CancellationToken::new() }
    }

    /// Changes nothing once `stop` is cancelled. A call that waits for the lock may outlive the turn that wanted it,
    /// and would undo what a later one wrote.
    pub fn until(self, stop: CancellationToken) -> Self {
        Self { stop, ..self }
    }

    /// Writes or replaces a note, stamped with the time now.
    ///
    /// # Errors
    /// [`NoteError`]; nothing is written then.
    pub fn set(&self, key: &str, mut note: Note) -> Result<Opened<()>, NoteError> {
        if key.trim().is_empty() || key.chars().count() > MAX_KEY {
            return Err(NoteError::Key);
        }
        if note.value.len() > MAX_VALUE {
            return Err(NoteError::Value(note.value.len()));
        }
        note.updated = now().into();
        let opened = self.file.update(|notes| {
            if self.stop.is_cancelled() {
                return (Err(NoteError::Stopped), false);
            }
            if notes.len() >= MAX_NOTES && !notes.contains_key(key) {
                return (Err(NoteError::Full), false);
            }
            notes.insert(key.to_owned(), note);
            (Ok(()), true)
        })?;
        opened.value.map(|()| Opened { value: (), aside: opened.aside })
    }

    /// The note of this key.
    ///
    /// # Errors
    /// [`SharedFileError`].
    pub fn get(&self, key: &str) -> Result<Opened<Option<Note>>, SharedFileError> {
        self.file.read().map(|mut opened| Opened { value: opened.value.remove(key), aside: opened.aside })
    }

    /// All notes, the newest first; those with a date in words last.
    ///
    /// # Errors
    /// [`SharedFileError`].
    pub fn list(&self) -> Result<Opened<Vec<(String, Note)>>, SharedFileError> {
        let opened = self.file.read()?;
        let mut notes: Vec<_> = opened.value.into_iter().collect();
        notes.sort_by_key(|(_, note)| std::cmp::Reverse(note.updated.as_u64()));
        Ok(Opened { value: notes, aside: opened.aside })
    }

    /// Deletes the note of this key. `false`: there was none.
    ///
    /// # Errors
    /// [`NoteError`].
    pub fn delete(&self, key: &str) -> Result<Opened<bool>, NoteError> {
        let opened = self.file.update(|notes| {
            if self.stop.is_cancelled() {
                return (Err(NoteError::Stopped), false);
            }
            let was_there = notes.remove(key).is_some();
            (Ok(was_there), was_there)
        })?;
        opened.value.map(|was_there| Opened { value: was_there, aside: opened.aside })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(value: &str) -> Note {
        Note {
            value: value.to_owned(),
            updated: Value::Null,
            category: None,
            chat: None,
            origin: None,
            rest: Map::new(),
        }
    }

    fn notes() -> (tempfile::TempDir, Notes) {
        let home = tempfile::tempdir().unwrap();
        let notes = Notes::below(&Paths::below(home.path()));
        (home, notes)
    }

    #[test]
    fn notes_are_written_read_listed_and_deleted() {
        let (_home, notes) = notes();
        for key in ["a", "__proto__", "größe 価格", "x/../y"] {
            notes.set(key, note(key)).unwrap();
            assert_eq!(notes.get(key).unwrap().value.unwrap().value, key);
        }
        assert_eq!(notes.list().unwrap().value.len(), 4);
        assert!(notes.delete("__proto__").unwrap().value);
        assert!(!notes.delete("__proto__").unwrap().value);
        assert_eq!(notes.list().unwrap().value.len(), 3);
    }

    #[test]
    fn change_that_nobody_wants_any_more_is_not_made() {
        let (_home, notes) = notes();
        notes.set("a", note("1")).unwrap();
        let stop = CancellationToken::new();
        let stopped = notes.clone().until(stop.clone());
        stopped.set("a", note("2")).unwrap();
        stop.cancel();
        assert!(matches!(stopped.set("a", note("3")), Err(NoteError::Stopped)));
        assert!(matches!(stopped.delete("a"), Err(NoteError::Stopped)));
        assert_eq!(notes.get("a").unwrap().value.unwrap().value, "2");
    }

    #[test]
    fn limits_are_exact() {
        let (_home, notes) = notes();
        notes.set(&"k".repeat(MAX_KEY), note(&"v".repeat(MAX_VALUE))).unwrap();
        assert!(matches!(notes.set(&"k".repeat(MAX_KEY + 1), note("v")), Err(NoteError::Key)));
        assert!(matches!(notes.set(" ", note("v")), Err(NoteError::Key)));
        let long = note(&"v".repeat(MAX_VALUE + 1));
        assert!(matches!(notes.set("k", long), Err(NoteError::Value(_))));
        let path = _home.path().join(".browy/data/notes.json");
        let full: BTreeMap<_, _> = (0..MAX_NOTES).map(|number| (format!("k{number}"), note("v"))).collect();
        std::fs::write(&path, serde_json::to_vec(&full).unwrap()).unwrap();
        assert!(matches!(notes.set("one more", note("v")), Err(NoteError::Full)));
        notes.set("k0", note("changed")).unwrap();
        assert_eq!(notes.get("k0").unwrap().value.unwrap().value, "changed");
    }

    #[test]
    fn what_older_programs_wrote_is_kept() {
        let (home, notes) = notes();
        let path = home.path().join(".browy/data/notes.json");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let old = r#"{"a": {"value": "1", "updated": "2025-01-01T00:00:00Z", "category": "x", "extra": [1]},
                      "b": {"value": "2", "updated": 5}}"#;
        std::fs::write(&path, old).unwrap();
        notes.set("c", note("3")).unwrap();
        let listed = notes.list().unwrap();
        assert_eq!(listed.aside, None);
        let keys: Vec<_> = listed.value.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["c", "b", "a"]);
        let written: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!(written["a"]["extra"], serde_json::json!([1]));
        assert_eq!(written["a"]["updated"], "2025-01-01T00:00:00Z");
    }
}
