//! Looking behind and at the page.

mod evaluate_js;
mod mark_screenshot;
mod screenshot;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] =
    &[&screenshot::Screenshot, &mark_screenshot::MarkScreenshot, &evaluate_js::EvaluateJs];
