//! Seeing the page.

mod extract_text;
mod inspect_page;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[&inspect_page::InspectPage, &extract_text::ExtractText];

/// Page text between tags that no page can write: the fence is new in every call.
fn fenced(tag: &str, body: &str) -> String {
    let fence = uuid::Uuid::new_v4().simple();
    format!("<{tag} fence={fence}>\n{}\n</{tag} fence={fence}>", body.trim_end())
}
