//! `pdf_export`: the page as a PDF in the agent's folder.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use super::refusal;
use crate::browser::{ActError, Paper};
use crate::data::files::{Files, plain_name};
use crate::tools::answer::{refused, succeeded};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct PdfExport;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Name of the file; the page's title when absent.
    filename: Option<String>,
    /// true: wide pages; false (when absent): high ones.
    landscape: Option<bool>,
}

impl Tool for PdfExport {
    const SPEC: ToolSpec = ToolSpec {
        name: "pdf_export",
        title: "Save as PDF",
        description: "Print the page into a PDF file in Browy's own folder, with backgrounds; no file is replaced. `path` says where it lies. 32 MiB at most. Refused while a secret field of the page is filled in.",
        category: Category::Files,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReachesComputer,
        timeout: Duration::from_secs(90),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let paper = Paper { landscape: args.landscape.unwrap_or(false) };
        let printed = match cx.browser.print(&cx.cancel, paper).await {
            Ok(printed) => printed,
            Err(ActError::Refused(refusal)) => return Ok(refused(&refusal)),
            Err(ActError::Cancelled) => return Err(ToolError::Cancelled),
        };
        let files = Files::below(&cx.paths);
        let name = match args.filename.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
            Some(name) if name.to_lowercase().ends_with(".pdf") => name.to_owned(),
            Some(name) => format!("{name}.pdf"),
            None => format!("{}.pdf", plain_name(&printed.title, "page")),
        };
        let saved = tokio::task::spawn_blocking(move || files.save_beside(&name, &printed.content)).await;
        match saved {
            Ok(Ok(saved)) => {
                let mut words = Map::new();
                words.insert("path".to_owned(), json!(saved.path.to_string_lossy()));
                words.insert("size".to_owned(), json!(saved.bytes));
                Ok(succeeded(words))
            }
            Ok(Err(error)) => Ok(refusal(&error, "The PDF was not kept")),
            Err(error) => Err(ToolError::Model(format!("The PDF could not be kept: {error}"))),
        }
    }
}
