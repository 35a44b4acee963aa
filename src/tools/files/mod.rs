//! The agent's own files, and files that are read.

mod delete_file;
mod download_file;
mod list_files;
mod pdf_export;
mod read_file;
mod save_file;
mod upload_file;

use schemars::JsonSchema;
use serde::Deserialize;

use super::answer::refused;
use super::{ErasedTool, ToolOutput};
use crate::browser::{Class, Refusal};
use crate::data::files::FilesError;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[
    &save_file::SaveFile,
    &read_file::ReadFile,
    &list_files::ListFiles,
    &delete_file::DeleteFile,
    &pdf_export::PdfExport,
    &download_file::DownloadFile,
    &upload_file::UploadFile,
];

/// How the content of a file is written in arguments and answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    #[serde(alias = "utf-8", alias = "text")]
    Utf8,
    Base64,
}

/// What the folder answered, for the model; `what` begins the sentence.
fn refusal(error: &FilesError, what: &str) -> ToolOutput {
    let class = match error {
        FilesError::Name(_) | FilesError::TooLarge(_) | FilesError::Missing(_) | FilesError::Taken(_) => {
            Class::BadArgument
        }
        FilesError::NotAFile { .. } | FilesError::Linked(_) | FilesError::Full(_) => Class::NotAllowed,
        FilesError::Busy | FilesError::Io { .. } => Class::Timeout,
    };
    let words = match error {
        FilesError::Name(_) => format!("`filename`: {error}. Give a plain name like notes/march.txt."),
        FilesError::Missing(_) => format!("{what}: {error}. list_files tells which there are."),
        other => format!("{what}: {other}."),
    };
    refused(&Refusal::new(class, words))
}
