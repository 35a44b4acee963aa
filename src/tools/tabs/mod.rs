//! Tabs of the browser.

mod close_tab;
mod list_tabs;
mod new_tab;
mod switch_tab;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] =
    &[&list_tabs::ListTabs, &switch_tab::SwitchTab, &new_tab::NewTab, &close_tab::CloseTab];
