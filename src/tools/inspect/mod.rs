//! Seeing the page.

mod extract_text;
mod get_page_info;
mod inspect_page;
mod read_pdf;

use super::answer::fenced;
use super::{ErasedTool, ToolCx};

/// What to say of a tab that shows nothing but a PDF.
async fn pdf_note(cx: &ToolCx) -> Option<&'static str> {
    let pdf = cx.browser.shown_pdf(&cx.cancel).await.ok().flatten()?;
    pdf.whole.then_some("This tab shows a PDF; read its text with read_pdf.")
}

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[
    &inspect_page::InspectPage,
    &get_page_info::GetPageInfo,
    &extract_text::ExtractText,
    &read_pdf::ReadPdf,
];
