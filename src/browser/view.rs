//! The page view: what the page script tells of a document, and what the model reads.

use std::collections::{HashMap, HashSet};

use serde::Deserialize;

use super::page::{PageError, WorldId};
use crate::protocol::TabId;

/// Tokens a view may take unless its caller says otherwise.
pub const DEFAULT_BUDGET: usize = 3_000;

/// What to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ViewOptions {
    /// Continue after this element; 0 = from the start of the page.
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
#[derive(Debug, Clone, PartialEq)]
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
    /// Of the text without its marks for what is new: the same for two views that say the same.
    pub digest: u64,
}

/// What the top document says of itself, for the context block. Raw page text.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PageFacts {
    /// Where the document is from, as `location.origin` says.
    pub origin: String,
    /// Its address and title.
    pub url: String,
    /// See [`url`](Self::url).
    pub title: String,
    /// The tab lies behind another one.
    pub hidden: bool,
    /// Titles of frames that belong to other extensions.
    pub aside: Vec<String>,
    /// `document.contentType`.
    pub kind: String,
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

/// What the page script tells of one world: a document and the same-origin frames inside it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct FrameView {
    pub(super) entries: Vec<Entry>,
    /// Entries of the world.
    pub(super) total: usize,
    /// Entries that were not sent, before and after the ones that were.
    pub(super) before: usize,
    pub(super) after: usize,
    pub(super) counts: Counts,
    pub(super) frames: Vec<ForeignFrame>,
    pub(super) facts: PageFacts,
    /// Slots that were listed in an earlier view and are no more.
    pub(super) gone: Vec<u32>,
    /// Elements that may hold a closed shadow root; nothing else is told then.
    pub(super) closed: Vec<u32>,
}

/// Counts over one world.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    pub(super) acted: usize,
    pub(super) links: usize,
    pub(super) buttons: usize,
    pub(super) fields: usize,
    pub(super) frames: usize,
    pub(super) elements: usize,
    pub(super) text: usize,
}

/// A frame that a world cannot look into.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ForeignFrame {
    pub(super) slot: u32,
    pub(super) name: String,
    /// What of the frame's own viewport can be seen: left, top, right, bottom.
    pub(super) seen: [f64; 4],
    pub(super) covered: bool,
    pub(super) inert: bool,
    /// Where its viewport begins in that of the world's own document, and how large it is drawn.
    pub(super) at: [f64; 3],
}

/// One entry as the page script tells it; see `src/page/types.d.ts`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(super) struct Entry {
    #[serde(rename = "s")]
    pub(super) slot: u32,
    #[serde(rename = "k")]
    pub(super) kind: u8,
    #[serde(rename = "t")]
    pub(super) tag: String,
    #[serde(rename = "r")]
    pub(super) role: String,
    #[serde(rename = "y")]
    pub(super) type_: String,
    #[serde(rename = "n")]
    pub(super) name: String,
    #[serde(rename = "h")]
    pub(super) href: String,
    #[serde(rename = "x")]
    pub(super) text: String,
    #[serde(rename = "c")]
    pub(super) name_is_text: bool,
    #[serde(rename = "w")]
    pub(super) words: Vec<String>,
    #[serde(rename = "a")]
    pub(super) attributes: Vec<(String, String)>,
    #[serde(rename = "p")]
    pub(super) options: Vec<String>,
    #[serde(rename = "q")]
    pub(super) more_options: usize,
    #[serde(rename = "m")]
    pub(super) marks: u8,
    /// What of it can be seen, when that was asked for: left, top, right, bottom.
    #[serde(rename = "b")]
    pub(super) edges: Option<[f64; 4]>,
}

impl Entry {
    pub(super) const ELEMENT: u8 = 0;
    pub(super) const TEXT: u8 = 1;
    pub(super) const FRAME: u8 = 2;

    pub(super) fn is_new(&self) -> bool {
        self.marks & 1 != 0
    }
    pub(super) fn is_off_screen(&self) -> bool {
        self.marks & 2 != 0
    }
    /// In a dialog or popover.
    pub(super) fn is_on_top(&self) -> bool {
        self.marks & 4 != 0
    }
    /// Inert or covered.
    pub(super) fn is_blocked(&self) -> bool {
        self.marks & 8 != 0
    }
}

/// The lines of the last view of a document, for the next view's delta.
#[derive(Debug, Default)]
pub(super) struct LastView {
    pub(super) world: Option<WorldId>,
    pub(super) lines: HashMap<u32, String>,
    pub(super) texts: HashSet<String>,
    pub(super) listing: Listing,
}

/// The lines of a view in their order, each with its number; text has 0.
pub(super) type Listing = Vec<(u32, String)>;
