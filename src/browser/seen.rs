//! What the browser's events tell of an act.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::dialogs::{self, Change, Dialog};
use super::downloads::Downloads;
use super::extension_context::BrowserEvent;
use super::giving::Chooser;
use super::landing::PDF;
use crate::protocol::{CdpEvent, TabEventKind, TabId, TabInfo};

/// How long a window that the page wants may take to be there. One that the browser blocks never comes, and nothing
/// tells so.
const WINDOW: Duration = Duration::from_secs(1);

/// What the browser's events told so far.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) dialog: Option<Dialog>,
    pub(super) navigating: bool,
    pub(super) committed: bool,
    /// The address of the document that was committed.
    pub(super) went_to: Option<String>,
    pub(super) parsed: bool,
    pub(super) moved_within: bool,
    /// A link or a form sent a frame of the page elsewhere.
    pub(super) frame_moved: bool,
    pub(super) opened: Vec<TabInfo>,
    /// Windows that the page opens, as it says before the browser decides.
    pub(super) windows: Vec<String>,
    /// When it last said so.
    pub(super) asked_for_window: Option<Instant>,
    pub(super) printed: bool,
    pub(super) downloads: Downloads,
    pub(super) chooser: Option<Chooser>,
    pub(super) closed: bool,
}

impl Seen {
    /// A window that the page wants is neither there nor so late that the browser must have blocked it.
    pub(super) fn window_is_due(&self) -> bool {
        self.windows.len() > self.opened.len()
            && self.asked_for_window.is_some_and(|asked| asked.elapsed() < WINDOW)
    }

    /// Whether an event told of an effect of the act.
    pub(super) fn tells(&self) -> bool {
        self.moved_within
            || self.frame_moved
            || !self.opened.is_empty()
            || !self.windows.is_empty()
            || self.printed
            || self.downloads.any()
            || self.chooser.is_some()
    }

    /// `true`: it tells of the act.
    pub(super) fn note(&mut self, event: &BrowserEvent, tab: TabId, top_frame: &str) -> bool {
        if self.downloads.note(event, tab) {
            return true;
        }
        match event {
            BrowserEvent::Cdp(event) if event.tab_id == Some(tab) => self.note_cdp(event, tab, top_frame),
            BrowserEvent::Tab(event) if event.event == TabEventKind::Created => {
                if event.opener_tab_id != Some(tab) {
                    return false;
                }
                self.opened.push(TabInfo {
                    tab_id: event.tab_id,
                    url: event.url.clone().unwrap_or_default(),
                    title: event.title.clone().unwrap_or_default(),
                    active: false,
                    window_id: event.window_id,
                });
                true
            }
            BrowserEvent::Tab(event) if event.event == TabEventKind::Removed && event.tab_id == tab => {
                self.closed = true;
                true
            }
            _ => false,
        }
    }

    fn note_cdp(&mut self, event: &CdpEvent, tab: TabId, top_frame: &str) -> bool {
        let frame = |pointer: &str| event.params.pointer(pointer).and_then(Value::as_str);
        let of_top = frame("/frameId") == Some(top_frame);
        match dialogs::change(event) {
            Some(Change::Opened(dialog)) if dialog.is_print() => {
                // Whether it holds up the page is seen by asking the page.
                self.printed = true;
                return true;
            }
            Some(Change::Opened(dialog)) => {
                self.dialog = Some(dialog);
                return true;
            }
            Some(Change::Closed) => {
                self.dialog = None;
                return true;
            }
            None => {}
        }
        match event.method.as_str() {
            "Page.windowOpen" => {
                self.windows.push(super::text::clean(frame("/url").unwrap_or_default(), 300));
                self.asked_for_window = Some(Instant::now());
                true
            }
            "Page.fileChooserOpened" => {
                self.chooser = Some(Chooser::asked(event, tab));
                true
            }
            // Frames of advertisements go elsewhere by themselves: `scriptInitiated` and the like.
            "Page.frameRequestedNavigation"
                if !of_top
                    && frame("/reason")
                        .is_some_and(|why| why == "anchorClick" || why.starts_with("formSubmission")) =>
            {
                self.frame_moved = true;
                true
            }
            "Page.frameRequestedNavigation" | "Page.frameStartedNavigating" | "Page.frameStartedLoading"
                if of_top =>
            {
                self.navigating = true;
                true
            }
            "Page.frameNavigated" if frame("/frame/id") == Some(top_frame) => {
                // The viewer of a PDF never says that it is through.
                let pdf = frame("/frame/mimeType") == Some(PDF);
                (self.committed, self.navigating) = (true, !pdf);
                // A page that was kept alive is there as it was.
                self.parsed = pdf || frame("/type") == Some("BackForwardCacheRestore");
                let part = |pointer: &str| frame(pointer).unwrap_or_default();
                self.went_to = Some(format!("{}{}", part("/frame/url"), part("/frame/urlFragment")));
                true
            }
            "Page.navigatedWithinDocument" if of_top => {
                self.moved_within = true;
                self.navigating = false;
                true
            }
            "Page.domContentEventFired" | "Page.loadEventFired" if self.committed => {
                self.parsed = true;
                true
            }
            "Page.frameStoppedLoading" if of_top => {
                // Without a commit it was no document: a download, an empty answer.
                self.parsed = true;
                self.navigating = self.committed;
                true
            }
            _ => false,
        }
    }
}
