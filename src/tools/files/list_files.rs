//! `list_files`: what the agent's folder holds.

use std::time::{Duration, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::refusal;
use crate::browser::text::clean;
use crate::data::files::{Entry, EntryKind, Files};
use crate::tools::answer::succeeded;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Entries of one answer.
const MOST: usize = 200;

/// See [`Tool::SPEC`].
pub struct ListFiles;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Only what is in this folder; everything when absent.
    prefix: Option<String>,
}

impl Tool for ListFiles {
    const SPEC: ToolSpec = ToolSpec {
        name: "list_files",
        title: "List files",
        description: "List the files of Browy's own folder: name, size in bytes, and when it was written (ms since 1970). 200 entries at most.",
        category: Category::Files,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let files = Files::below(&cx.paths);
        let root = files.root().to_string_lossy().into_owned();
        let prefix = args.prefix.unwrap_or_default().trim().to_owned();
        let listed = tokio::task::spawn_blocking(move || files.list(&prefix)).await;
        let listing = match listed {
            Ok(Ok(listing)) => listing,
            Ok(Err(error)) => return Ok(refusal(&error, "The folder was not listed")),
            Err(error) => return Err(ToolError::Model(format!("The folder could not be listed: {error}"))),
        };
        let mut words = Map::new();
        words.insert("root".to_owned(), json!(root));
        words.insert("count".to_owned(), json!(listing.entries.len()));
        let entries: Vec<Value> = listing.entries.iter().take(MOST).map(words_of).collect();
        words.insert("entries".to_owned(), json!(entries));
        if listing.more || listing.entries.len() > MOST {
            words.insert("hint".to_owned(), json!("There are more; list one folder with `prefix`."));
        }
        Ok(succeeded(words))
    }
}

fn words_of(entry: &Entry) -> Value {
    let mut words = json!({ "name": clean(&entry.name, 1_000) });
    match entry.kind {
        EntryKind::File => words["size"] = json!(entry.bytes),
        EntryKind::Folder => words["kind"] = json!("folder"),
        EntryKind::Link => words["kind"] = json!("link, not followed"),
        EntryKind::Other => words["kind"] = json!("no file"),
    }
    let since = entry.modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    if let Some(ms) = since.and_then(|since| u64::try_from(since.as_millis()).ok()) {
        words["modified"] = json!(ms);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_entry_says_what_it_is() {
        let entry =
            |name: &str, kind| Entry { name: name.to_owned(), kind, bytes: 3, modified: Some(UNIX_EPOCH) };
        assert_eq!(
            words_of(&entry("a.txt", EntryKind::File)),
            json!({ "name": "a.txt", "size": 3, "modified": 0 })
        );
        let link = words_of(&entry("door\u{202e}", EntryKind::Link));
        assert_eq!(link["kind"], "link, not followed");
        assert!(!link["name"].as_str().unwrap().contains('\u{202e}'));
    }
}
