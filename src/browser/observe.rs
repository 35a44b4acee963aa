//! What an act did: seen in the page, in the browser's events and in the list of tabs.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::CdpError;
use super::dialogs::Dialog;
use super::downloads::Download;
use super::extension_context::BrowserEvent;
use super::giving::Chooser;
use super::page::PageError;
use super::refs::Element;
use super::refusal::ActError;
use super::seen::Seen;
pub(super) use super::tabs::tab_info;
use crate::page::{ACT, WATCHING};
use crate::protocol::{TabId, TabInfo};

/// How often the page is asked what changed.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A page that changed has settled once it kept still for this long.
const STILL: Duration = Duration::from_millis(60);

/// How long an act that shows nothing is watched. Pages put off what they do by a third of a second and more, and a
/// busy machine by as much again.
const IDLE: Duration = Duration::from_millis(800);

/// How long an act may go on showing new effects.
const MOST: Duration = Duration::from_secs(1);

/// How long a navigation may take until its document is there.
const NAVIGATION: Duration = Duration::from_secs(6);

/// How long the new document may take to be parsed.
const PARSING: Duration = Duration::from_millis(1_500);

/// How patiently effects are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// Until nothing more happens; 800 ms for an act without any effect.
    Settle,
    /// Until the element's own state changed, 250 ms at most: its value is checked again later.
    Brief,
}

/// What became of an element while it was pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Became {
    /// Something was laid over it.
    Covered,
    /// It is somewhere else.
    Moved,
    /// It is not shown any more.
    Gone,
    /// One that looks the same took its place.
    Replaced,
}

/// The first event of a press that did not reach the element, after others did.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Missed {
    /// What it would have reached.
    pub on: String,
    /// Why.
    pub was: Became,
}

/// What the page function tells.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Reading {
    effects: u64,
    pub(super) landed: Option<bool>,
    pub(super) landed_on: String,
    clicks: u32,
    rounds: u32,
    missed: Option<Missed>,
    pub(super) connected: bool,
    url_changed: bool,
    title_changed: bool,
    modal_appeared: Option<String>,
    modal_closed: bool,
    state_changed: bool,
    /// How often something scrolled because of the act.
    scrolls: u32,
    fields_changed: bool,
    focus_moved: bool,
    in_frame: Option<String>,
    pub(super) state: Map<String, Value>,
}

impl Reading {
    fn shows_anything(&self) -> bool {
        self.effects > 0
            || self.url_changed
            || self.title_changed
            || self.modal_appeared.is_some()
            || self.modal_closed
            || self.state_changed
            || self.scrolls > 0
            || self.fields_changed
            || self.focus_moved
            || !self.connected
    }
}

/// What an act did.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Observed {
    /// The address of the tab changed.
    pub url_changed: bool,
    /// Another document took the page's place (or the same one was loaded again): numbers are void.
    pub new_document: bool,
    /// Its title changed.
    pub title_changed: bool,
    /// The page changed near the element or because of it.
    pub dom_changed: bool,
    /// A dialog box of the page appeared; its description.
    pub modal_appeared: Option<String>,
    /// One went away.
    pub modal_closed: bool,
    /// The element's own state changed.
    pub state_changed: bool,
    /// The page or a panel in it was scrolled.
    pub scrolled: bool,
    /// Other fields hold something else or are ticked otherwise.
    pub fields_changed: bool,
    /// The keyboard goes to a field now, or to something else than what was pressed.
    pub focus_moved: bool,
    /// The element's state now.
    pub state: Map<String, Value>,
    /// The tab now; `None` when it is gone.
    pub tab: Option<TabInfo>,
    /// Tabs that it opened.
    pub new_tabs: Vec<TabInfo>,
    /// A dialog that is open now.
    pub dialog: Option<Dialog>,
    /// Downloads it started.
    pub downloads: Vec<Download>,
    /// The page asked for a file.
    pub chooser: Option<Chooser>,
    /// The page opened the print window, which may be closed again.
    pub printed: bool,
    /// A window that the page wanted to open and the browser did not.
    pub popup_blocked: Option<String>,
    /// The tab was closed.
    pub closed: bool,
    /// Whether the press reached the element; `None`: no press was seen (another document, no press at all).
    pub landed: Option<bool>,
    /// What it reached instead.
    pub landed_on: String,
    /// The frame beside the element that has the keyboard now: a press that was not seen went there.
    pub in_frame: Option<String>,
    /// How many clicks reached the element.
    pub clicks: u32,
    /// How many presses its document heard of.
    pub rounds: u32,
    /// How many clicks were made, when the page went elsewhere before all were.
    pub clicks_made: Option<u8>,
    /// The first part of the press that did not reach it, although its beginning did.
    pub missed: Option<Missed>,
}

impl Observed {
    /// Whether anything at all was seen.
    pub fn anything(&self) -> bool {
        self.url_changed
            || self.title_changed
            || self.dom_changed
            || self.modal_appeared.is_some()
            || self.modal_closed
            || self.state_changed
            || self.new_document
            || self.scrolled
            || self.fields_changed
            || self.focus_moved
            || !self.new_tabs.is_empty()
            || self.dialog.is_some()
            || !self.downloads.is_empty()
            || self.chooser.is_some()
            || self.printed
            || self.popup_blocked.is_some()
            || self.closed
    }

    /// The words of results.
    pub fn words(&self) -> Map<String, Value> {
        let mut words = Map::new();
        let mut put = |name: &str, value: Value| {
            words.insert(name.to_owned(), value);
        };
        put("urlChanged", json!(self.url_changed));
        put("titleChanged", json!(self.title_changed));
        put("domChanged", json!(self.dom_changed));
        for (name, flag) in [
            ("modalAppeared", self.modal_appeared.is_some()),
            ("modalClosed", self.modal_closed),
            ("elementStateChanged", self.state_changed),
            ("newDocument", self.new_document),
            ("scrolled", self.scrolled),
            ("otherFieldsChanged", self.fields_changed),
            ("focusMoved", self.focus_moved),
        ] {
            if flag {
                put(name, json!(true));
            }
        }
        if let Some(Value::Bool(checked)) = self.state.get("checked") {
            put("checked", json!(checked));
        }
        if let Some(value) = self.state.get("value") {
            put("value", value.clone());
        }
        if let Some(chosen) = self.state.get("chosen") {
            put("selected", chosen.clone());
        }
        if let Some(tab) = &self.tab {
            // Always: it says which page this happened on.
            put("url", json!(tab.url));
            if self.url_changed || self.title_changed {
                put("title", json!(tab.title));
            }
        }
        if !self.new_tabs.is_empty() {
            let tabs: Vec<Value> = self
                .new_tabs
                .iter()
                .map(|tab| json!({ "tabId": tab.tab_id, "url": tab.url, "title": tab.title }))
                .collect();
            put("newTabs", json!(tabs));
        }
        if let Some(dialog) = &self.dialog {
            put("dialog", json!(dialog));
        }
        super::downloads::tell(&self.downloads, &mut put);
        if let Some(chooser) = &self.chooser {
            put("chooser", json!({ "multiple": chooser.multiple }));
        }
        if let Some(made) = self.clicks_made {
            put("clicks", json!(made));
        }
        if self.printed {
            put("printed", json!(true));
        }
        if let Some(url) = &self.popup_blocked {
            put("popupBlocked", json!({ "url": url }));
        }
        if self.lost_click() {
            put("clicked", json!(false));
        }
        if let Some(hint) = self.hint() {
            put("hint", json!(hint));
        }
        words
    }

    /// The page is another one, or was held up.
    pub(super) fn left_the_page(&self) -> bool {
        self.new_document
            || self.dialog.is_some()
            || self.closed
            || self.chooser.is_some()
            || !self.downloads.is_empty()
            || !self.new_tabs.is_empty()
    }

    /// After so many presses were made: those that the element's document did not hear of, although it heard of the
    /// first, went into a frame that came over it.
    pub(super) fn note_strayed(&mut self, made: u8, wanted: u8) {
        let strayed = self.rounds > 0 && self.rounds < u32::from(made);
        if (strayed || made < wanted) && self.missed.is_none() && !self.left_the_page() {
            self.missed = Some(Missed { on: "something that came over it".to_owned(), was: Became::Covered });
        }
    }

    /// Whether the element went away under a press before it was clicked.
    fn lost_click(&self) -> bool {
        let went = |missed: &Missed| matches!(missed.was, Became::Gone | Became::Replaced);
        self.clicks == 0 && self.missed.as_ref().is_some_and(went)
    }

    fn hint(&self) -> Option<String> {
        if let Some(dialog) = self.dialog.as_ref().filter(|dialog| !dialog.is_for_the_person()) {
            return Some(format!(
                "A dialog ({}) is open; it must be answered before anything else can be done on this page.",
                dialog.kind
            ));
        }
        if let Some(dialog) = &self.dialog {
            return Some(format!(
                "The browser waits for the person ({}); call await_user{}.",
                dialog.kind,
                if dialog.kind == "auth" { ", or handle_dialog dismiss" } else { "" }
            ));
        }
        if self.printed {
            return Some("The page asked for the print window; nothing waits for it now.".to_owned());
        }
        if let Some(url) = self.popup_blocked.as_ref().filter(|_| self.new_tabs.is_empty()) {
            return Some(format!(
                "The page wanted to open a window, which the browser blocked: new_tab with {url} opens it."
            ));
        }
        if self.chooser.is_some() {
            return Some(
                "The page asked for a file and waits for none now; upload_index on the same element gives one."
                    .to_owned(),
            );
        }
        if let Some(download) = self.downloads.iter().find(|download| download.state != "complete") {
            return Some(download.hint());
        }
        if self.closed {
            return Some("The tab was closed. Call list_tabs.".to_owned());
        }
        if let [tab, ..] = self.new_tabs.as_slice() {
            return Some(format!("A new tab was opened: switch_tab {} goes there.", tab.tab_id));
        }
        if self.new_document {
            return Some("The page is another one now; call inspect_page before the next act.".to_owned());
        }
        if self.lost_click() {
            return Some(
                "The element went away or was replaced while the button was down, so no click reached it. Call \
                 inspect_page: if it did not do what it should, press it again."
                    .to_owned(),
            );
        }
        if let Some(modal) = &self.modal_appeared {
            return Some(format!("{modal} appeared; call inspect_page to see it."));
        }
        if self.modal_closed {
            return Some("A dialog box of the page was closed.".to_owned());
        }
        if self.url_changed {
            return Some(
                "The address changed within the same page: numbers hold for what is still there. Call inspect_page \
                 to see what is new."
                    .to_owned(),
            );
        }
        (!self.anything()).then(|| {
            "Nothing changed that could be seen. The page may still be working (wait_for), or this element does \
             nothing; look again before you repeat it."
                .to_owned()
        })
    }
}

/// An act being watched.
pub(super) struct Watch<'b> {
    browser: &'b Browser,
    element: Element,
    id: String,
    events: broadcast::Receiver<BrowserEvent>,
    before: Option<TabInfo>,
    seen: Seen,
}

impl<'b> Watch<'b> {
    /// Starts to watch, before the act.
    pub(super) async fn start(
        browser: &'b Browser,
        cancel: &CancellationToken,
        element: &Element,
        option: Option<&str>,
    ) -> Result<Self, ActError> {
        Self::start_press(browser, cancel, element, option, 1).await
    }

    /// Starts to watch, before a press of so many clicks.
    pub(super) async fn start_press(
        browser: &'b Browser,
        cancel: &CancellationToken,
        element: &Element,
        option: Option<&str>,
        clicks: u8,
    ) -> Result<Self, ActError> {
        let events = browser.context.subscribe();
        let id = uuid::Uuid::new_v4().to_string();
        let args = json!({ "id": id, "option": option, "clicks": clicks });
        let _: Value = element.call(cancel, ACT, &[json!("watch"), args]).await?;
        let before = tab_info(browser, cancel, element.target.tab).await?;
        Ok(Self { browser, element: element.clone(), id, events, before, seen: Seen::default() })
    }

    /// Right before the act: whatever changes from now on is its doing. `guard` stops presses elsewhere.
    pub(super) async fn arm(&mut self, cancel: &CancellationToken, guard: bool) -> Result<(), ActError> {
        self.ask(cancel, json!({ "id": self.id, "op": "arm", "guard": guard })).await?;
        Ok(())
    }

    /// Between two clicks of several: whether the next one still reaches the element, as far as its document and
    /// the browser's events tell.
    pub(super) async fn may_go_on(&mut self, cancel: &CancellationToken) -> bool {
        let top = self.top_frame();
        let tab = self.element.target.tab;
        let looked = self.ask(cancel, json!({ "id": self.id, "op": "look" })).await;
        // What happened before the page answered was told before.
        while let Ok(event) = self.events.try_recv() {
            self.seen.note(&event, tab, &top);
        }
        let left = self.seen.navigating || self.seen.dialog.is_some() || self.seen.closed;
        !left && matches!(looked, Ok(Some(reading)) if reading.missed.is_none() && reading.connected)
    }

    fn top_frame(&self) -> String {
        let element = &self.element;
        let top = element.hops.last().map_or(&element.world, |hop| &hop.world);
        top.frame.to_string()
    }

    /// What the page tells of the act so far; `None` when its document is another one.
    pub(super) async fn reading(&self, cancel: &CancellationToken) -> Result<Option<Reading>, PageError> {
        self.ask(cancel, json!({ "id": self.id, "op": "read" })).await
    }

    async fn ask(&self, cancel: &CancellationToken, args: Value) -> Result<Option<Reading>, PageError> {
        self.element.world.call(&self.browser.context, cancel, WATCHING, &[args]).await
    }

    /// Waits until the effects are there.
    pub(super) async fn settle(
        mut self,
        cancel: &CancellationToken,
        patience: Patience,
    ) -> Result<Observed, ActError> {
        let tab = self.element.target.tab;
        let top = self.top_frame();
        let started = Instant::now();
        let mut changed_at = started;
        let mut last = Reading::default();
        let mut left_at: Option<Instant> = None;
        let mut tick = interval(LOOK_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            // Not biased: a flood of events must not keep the clock from being looked at.
            let look = tokio::select! {
                () = cancel.cancelled() => return Err(ActError::Cancelled),
                event = self.events.recv() => match event {
                    Ok(event) => {
                        if self.seen.note(&event, tab, &top) {
                            changed_at = Instant::now();
                        }
                        false
                    }
                    Err(RecvError::Lagged(_)) => false,
                    Err(RecvError::Closed) => break,
                },
                _ = tick.tick() => true,
            };
            if look && self.seen.dialog.is_none() {
                self.seen.dialog = self.browser.context.dialog(tab).filter(|dialog| !dialog.is_print());
            }
            if self.seen.dialog.is_some() || self.seen.closed {
                break;
            }
            if look && left_at.is_none() {
                match self.reading(cancel).await {
                    Ok(Some(reading)) => {
                        if reading != last {
                            changed_at = Instant::now();
                        }
                        last = reading;
                    }
                    Ok(None) | Err(PageError::WorldGone) => left_at = Some(Instant::now()),
                    Err(PageError::Cdp(error @ (CdpError::Cancelled | CdpError::Crashed))) => {
                        return Err(error.into());
                    }
                    Err(PageError::Cdp(CdpError::Dialog(dialog))) => {
                        self.seen.dialog = Some(dialog);
                        break;
                    }
                    Err(_) => left_at = Some(Instant::now()),
                }
            }
            if self.is_over(patience, started, changed_at, left_at, &last) {
                break;
            }
        }
        self.finish(cancel, last, left_at.is_some()).await
    }

    fn is_over(
        &self,
        patience: Patience,
        started: Instant,
        changed_at: Instant,
        left_at: Option<Instant>,
        last: &Reading,
    ) -> bool {
        let elapsed = started.elapsed();
        if let Some(left_at) = left_at {
            return self.seen.parsed || left_at.elapsed() >= PARSING;
        }
        if self.seen.navigating {
            return elapsed >= NAVIGATION;
        }
        if self.seen.downloads.are_under_way() || self.seen.window_is_due() {
            return false;
        }
        let anything = last.shows_anything() || self.seen.tells();
        match patience {
            Patience::Brief => last.state_changed || elapsed >= Duration::from_millis(250),
            Patience::Settle if anything => changed_at.elapsed() >= STILL || elapsed >= MOST,
            Patience::Settle => elapsed >= IDLE,
        }
    }

    async fn finish(
        self,
        cancel: &CancellationToken,
        last: Reading,
        left: bool,
    ) -> Result<Observed, ActError> {
        if !left && self.seen.dialog.is_none() && !self.seen.closed {
            // Its page may go at this very moment; nothing is lost with it then.
            let _ = self.ask(cancel, json!({ "id": self.id, "op": "stop" })).await;
        }
        self.browser.context.claim_downloads(&self.seen.downloads.ids());
        let tabs = self.browser.context.tabs(cancel).await.unwrap_or_default();
        let find = |id: TabId| tabs.iter().find(|tab| tab.tab_id == id).cloned();
        let now = find(self.element.target.tab);
        let url_of = |tab: &Option<TabInfo>| tab.as_ref().map(|tab| tab.url.clone());
        let title_of = |tab: &Option<TabInfo>| tab.as_ref().map(|tab| tab.title.clone());
        let in_top = self.element.hops.is_empty();
        let new_document = self.seen.committed || (left && in_top);
        let went_elsewhere = |to: &String| self.before.as_ref().is_some_and(|before| *to != before.url);
        Ok(Observed {
            url_changed: (now.is_some() && url_of(&now) != url_of(&self.before))
                || (in_top && last.url_changed)
                || self.seen.went_to.as_ref().is_some_and(went_elsewhere),
            new_document,
            title_changed: (now.is_some() && title_of(&now) != title_of(&self.before))
                || (in_top && last.title_changed),
            dom_changed: last.effects > 0
                || !last.connected && last != Reading::default()
                || left
                || self.seen.committed
                || self.seen.frame_moved,
            modal_appeared: last.modal_appeared,
            modal_closed: last.modal_closed,
            state_changed: last.state_changed,
            scrolled: last.scrolls > 0,
            fields_changed: last.fields_changed,
            focus_moved: last.focus_moved,
            state: last.state,
            printed: self.seen.printed,
            popup_blocked: self.seen.windows.into_iter().nth(self.seen.opened.len()),
            new_tabs: self.seen.opened.into_iter().map(|tab| find(tab.tab_id).unwrap_or(tab)).collect(),
            tab: now,
            dialog: self.seen.dialog,
            downloads: self.seen.downloads.into_list(),
            chooser: self.seen.chooser,
            closed: self.seen.closed,
            landed: last.landed,
            landed_on: last.landed_on,
            in_frame: last.in_frame,
            clicks: last.clicks,
            rounds: last.rounds,
            clicks_made: None,
            missed: last.missed,
        })
    }
}
