//! `delete_file`: removes a file of the agent's folder.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use super::refusal;
use crate::data::files::Files;
use crate::tools::answer::succeeded;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct DeleteFile;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Name of the file or empty folder, as list_files tells it.
    filename: String,
}

impl Tool for DeleteFile {
    const SPEC: ToolSpec = ToolSpec {
        name: "delete_file",
        title: "Delete a file",
        description: "Delete a file or an empty folder of Browy's own folder, for good. Nothing else of the computer can be deleted.",
        category: Category::Files,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReachesComputer,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let files = Files::below(&cx.paths);
        let name = args.filename.clone();
        let deleted = tokio::task::spawn_blocking(move || files.delete(&name)).await;
        match deleted {
            Ok(Ok(())) => {
                let mut words = Map::new();
                words.insert("deleted".to_owned(), json!(args.filename));
                Ok(succeeded(words))
            }
            Ok(Err(error)) => Ok(refusal(&error, "It was not deleted")),
            Err(error) => Err(ToolError::Model(format!("It could not be deleted: {error}"))),
        }
    }
}
