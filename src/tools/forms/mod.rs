//! Whole forms.

mod fill_form;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[&fill_form::FillForm];
