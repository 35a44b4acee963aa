//! Where a page goes, and waiting for it.

mod wait_for;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[&wait_for::WaitFor];
