//! Whole forms.

mod extract_form;
mod fill_form;
mod submit_form;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] =
    &[&extract_form::ExtractForm, &fill_form::FillForm, &submit_form::SubmitForm];
