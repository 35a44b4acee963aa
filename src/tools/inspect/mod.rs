//! Seeing the page.

mod accessibility_snapshot;
mod extract_text;
mod find_text;
mod find_visible_text;
mod get_event_listeners;
mod get_page_html;
mod get_page_info;
mod inspect_page;
mod more_tools;
mod query_dom;
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
    &find_text::FindText,
    &find_visible_text::FindVisibleText,
    &query_dom::QueryDom,
    &get_page_html::GetPageHtml,
    &accessibility_snapshot::AccessibilitySnapshot,
    &get_event_listeners::GetEventListeners,
    &more_tools::MoreTools,
];
