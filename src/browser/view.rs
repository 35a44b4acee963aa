//! The page view: what the page script tells of a document, and what the model reads.

use serde::Deserialize;

use super::page::PageError;
use crate::protocol::TabId;

/// Tokens a view may take unless its caller says otherwise.
pub const DEFAULT_BUDGET: usize = 3_000;

/// What to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewOptions {
    /// Continue after this element.
    pub from: Option<u32>,
    /// Only entries whose role, name or text contains this, over the whole page.
    pub filter: Option<String>,
    /// Only inside this element.
    pub region: Option<u32>,
    /// Only what changed since the last view of the same document.
    pub delta: bool,
    /// Tokens the text may take, about.
    pub budget: usize,
}

impl Default for ViewOptions {
    fn default() -> Self {
        Self { from: None, filter: None, region: None, delta: false, budget: DEFAULT_BUDGET }
    }
}

/// What the model reads of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageView {
    /// The tab.
    pub tab: TabId,
    /// Statistics, scroll position, element lines. No byte of it that came from the page can end a line or
    /// look like one of ours.
    pub text: String,
    /// Entries in the text.
    pub shown: usize,
    /// Entries of the page.
    pub total: usize,
    /// What the page says of itself.
    pub facts: PageFacts,
}

/// What the top document says of itself, for the context block. Raw page text.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PageFacts {
    /// `document.readyState`.
    pub ready_state: String,
    /// Width and height of the viewport, CSS px.
    pub viewport: (f64, f64),
    /// Scroll offset from the top, CSS px.
    pub scroll_y: f64,
    /// Largest scroll offset, CSS px.
    pub scroll_max: f64,
    /// The person's text selection, at most 2,000 characters.
    pub selection: String,
}

/// Why there is no view.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The session has no tab and none is in front.
    #[error("there is no tab to look at")]
    NoTab,
    /// `from` or `region` is no element of this page.
    #[error(transparent)]
    Ref(#[from] super::refs::RefError),
    /// The page could not be read.
    #[error("the page could not be read: {0}")]
    Page(#[from] PageError),
}
