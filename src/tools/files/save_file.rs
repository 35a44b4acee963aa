//! `save_file`: write a file into the agent's folder.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use super::{Encoding, refusal};
use crate::browser::{Class, Refusal};
use crate::data::files::Files;
use crate::tools::answer::{refused, succeeded};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct SaveFile;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Name of the file, with `/` between folders.
    filename: String,
    /// What it shall hold.
    content: String,
    /// How `content` is written: utf8 (when absent) or base64.
    encoding: Option<Encoding>,
}

impl Tool for SaveFile {
    const SPEC: ToolSpec = ToolSpec {
        name: "save_file",
        title: "Save a file",
        description: "Write a file into Browy's own folder on the person's computer, for results they want to keep or for an upload (upload_index takes the `path` of the answer). A file of that name is replaced. 32 MiB at most.",
        category: Category::Files,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReachesComputer,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let content = match args.encoding {
            Some(Encoding::Base64) => match decode(&args.content) {
                Some(bytes) => bytes,
                None => {
                    let error = "`content` is not base64; write it as text without `encoding`.";
                    return Ok(refused(&Refusal::new(Class::BadArgument, error)));
                }
            },
            _ => args.content.into_bytes(),
        };
        let files = Files::below(&cx.paths);
        let root = files.root().to_string_lossy().into_owned();
        let name = args.filename;
        let stop = cx.cancel.clone();
        let saved = tokio::task::spawn_blocking(move || {
            // The call may be over before a thread takes this up.
            if stop.is_cancelled() { None } else { Some(files.save(&name, &content)) }
        })
        .await;
        match saved {
            Ok(None) => Err(ToolError::Cancelled),
            Ok(Some(Ok(saved))) => {
                let mut words = Map::new();
                words.insert("path".to_owned(), json!(saved.path.to_string_lossy()));
                words.insert("bytes".to_owned(), json!(saved.bytes));
                words.insert("root".to_owned(), json!(root));
                Ok(succeeded(words))
            }
            Ok(Some(Err(error))) => Ok(refusal(&error, "The file was not written")),
            Err(error) => Err(ToolError::Model(format!("The file could not be written: {error}"))),
        }
    }
}

/// Base64 as models write it: with line ends, and with the beginning of a `data:` address.
fn decode(content: &str) -> Option<Vec<u8>> {
    let bare = match content.split_once(";base64,") {
        Some((start, rest)) if start.starts_with("data:") => rest,
        _ => content,
    };
    let bare: String = bare.split_ascii_whitespace().collect();
    STANDARD.decode(bare).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_in_every_form_that_models_write() {
        for text in ["aGk=", "aG\nk=", " aGk= ", "data:text/plain;base64,aGk="] {
            assert_eq!(decode(text).as_deref(), Some(&b"hi"[..]), "{text:?}");
        }
        assert_eq!(decode("hi there"), None);
    }
}
