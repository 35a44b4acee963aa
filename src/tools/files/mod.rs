//! The agent's own files, and files that are read.

mod save_file;
mod upload_file;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[&save_file::SaveFile, &upload_file::UploadFile];
