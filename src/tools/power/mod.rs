//! Programs that the model writes.

mod confined;
mod run_script;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[&run_script::RunScript];
