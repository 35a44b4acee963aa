//! Looking behind and at the page.

mod evaluate_js;
mod screenshot;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[&screenshot::Screenshot, &evaluate_js::EvaluateJs];
