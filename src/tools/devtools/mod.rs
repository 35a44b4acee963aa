//! Looking behind and at the page.

mod screenshot;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[&screenshot::Screenshot];
