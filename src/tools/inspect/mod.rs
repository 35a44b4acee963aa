//! Seeing the page.

mod extract_text;
mod get_page_info;
mod inspect_page;
mod read_pdf;

use super::ErasedTool;
use super::answer::fenced;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[
    &inspect_page::InspectPage,
    &get_page_info::GetPageInfo,
    &extract_text::ExtractText,
    &read_pdf::ReadPdf,
];
