//! Acting on single elements.

mod check_index;
mod click_index;
mod select_index;
mod type_index;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] =
    &[&click_index::ClickIndex, &type_index::TypeIndex, &select_index::SelectIndex, &check_index::CheckIndex];
