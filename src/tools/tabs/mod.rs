//! Tabs of the browser.

mod list_tabs;
mod switch_tab;

use super::ErasedTool;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[&list_tabs::ListTabs, &switch_tab::SwitchTab];
