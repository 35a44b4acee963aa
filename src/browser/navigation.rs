//! Sending a tab somewhere, and what comes of it. Everything is told by events, which are listened to before
//! the browser is asked.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::dialogs::Dialog;
use super::extension_context::BrowserEvent;
use super::landing::Landing;
use super::observe::tab_info;
use super::refusal::{ActError, Class, Refusal};
use crate::page::{PageFunction, function};
use crate::protocol::{TabId, TabInfo};

/// How long a page may take to load.
pub(super) const LIMIT: Duration = Duration::from_secs(15);

/// How long a loaded page may take to draw something.
const DRAWS: Duration = Duration::from_millis(2_500);

/// How long an answered dialog may take to show what comes of it.
const AFTER_DIALOG: Duration = Duration::from_millis(350);

/// How long the page that an answered dialog leads to may take.
const AFTER_DIALOG_PAGE: Duration = Duration::from_secs(6);

const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What came of a navigation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arrival {
    /// The tab now.
    pub tab: Option<TabInfo>,
    /// Its address is another one than before.
    pub url_changed: bool,
    /// What the server answered.
    pub status: Option<u16>,
    /// A dialog that is open now.
    pub dialog: Option<Dialog>,
    /// It was a download: `name`, `state`.
    pub download: Option<Value>,
    /// What else there is to say.
    pub hint: Option<String>,
}

impl Arrival {
    /// The words of results.
    pub fn words(&self) -> Map<String, Value> {
        let mut words = Map::new();
        words.insert("urlChanged".to_owned(), json!(self.url_changed));
        if let Some(tab) = &self.tab {
            words.insert("tabId".to_owned(), json!(tab.tab_id));
            words.insert("url".to_owned(), json!(tab.url));
            words.insert("title".to_owned(), json!(super::text::clean(&tab.title, 200)));
        }
        let mut navigation = Map::new();
        navigation.insert("url".to_owned(), json!(self.tab.as_ref().map(|tab| &tab.url)));
        if let Some(status) = self.status {
            navigation.insert("status".to_owned(), json!(status));
        }
        words.insert("navigation".to_owned(), Value::Object(navigation));
        if let Some(dialog) = &self.dialog {
            words.insert("dialog".to_owned(), json!(dialog));
        }
        if let Some(download) = &self.download {
            words.insert("download".to_owned(), download.clone());
        }
        if let Some(hint) = &self.hint {
            words.insert("hint".to_owned(), json!(hint));
        }
        words
    }
}

/// An answered dialog and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The dialog that was answered.
    pub dialog: Dialog,
    /// What came of it; `dialog` is the next one.
    pub after: Arrival,
}

impl Browser {
    /// Sends a tab to an address (one that [`address`](super::address()) allowed) and waits until its page is
    /// there: 15 s at most.
    ///
    /// # Errors
    /// See [`ActError`]; `navigation` in the refusal tells address, status and the browser's error.
    pub async fn go(&self, cancel: &CancellationToken, tab: TabId, url: &str) -> Result<Arrival, ActError> {
        self.prepare(cancel, tab).await?;
        let target = Target::tab(tab);
        let before = tab_info(self, cancel, tab).await?;
        let tree = self.context.cdp(cancel, &target, "Page.getFrameTree", json!({})).await?;
        self.context.cdp(cancel, &target, "Network.enable", json!({})).await?;
        let events = self.context.subscribe();
        let top = tree.pointer("/frameTree/frame/id").and_then(Value::as_str).map(str::to_owned);
        let mut landing = Landing::of(top);
        let followed = self.follow(cancel, tab, url, &mut landing, events).await;
        if landing.wants_password {
            // Its question would lie over the tab for good.
            let _ = self.context.cdp(cancel, &target, "Page.stopLoading", json!({})).await;
        }
        if landing.dialog.is_none() && !landing.closed {
            let _ = self.context.cdp(&CancellationToken::new(), &target, "Network.disable", json!({})).await;
        }
        self.context.claim_downloads(&landing.downloads.ids());
        followed?;
        let tab = tab_info(self, cancel, tab).await?;
        let mut arrival = landing.outcome(url, before, tab)?;
        let readable = arrival.dialog.is_none() && arrival.download.is_none() && landing.committed;
        if landing.pdf {
            arrival.hint = Some("This is a PDF; read its text with read_pdf.".to_owned());
        } else if readable && !self.draws(cancel, &arrival).await? {
            arrival.hint = Some("The page is empty so far; it may still be working (wait_for).".to_owned());
        }
        Ok(arrival)
    }

    async fn follow(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        url: &str,
        landing: &mut Landing,
        mut events: broadcast::Receiver<BrowserEvent>,
    ) -> Result<(), ActError> {
        let target = Target::tab(tab);
        let params = json!({ "url": url });
        let asked = self.context.cdp_within(cancel, &target, "Page.navigate", params, LIMIT * 2);
        let deadline = sleep(LIMIT);
        tokio::pin!(asked, deadline);
        let mut answered = false;
        let mut tick = interval(LOOK_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = cancel.cancelled() => return Err(ActError::Cancelled),
                answer = &mut asked, if !answered => {
                    answered = true;
                    match answer {
                        Ok(answer) => landing.note_answer(&answer),
                        Err(CdpError::Dialog(dialog)) => landing.dialog = Some(dialog),
                        Err(error) => return Err(error.into()),
                    }
                }
                event = events.recv() => match event {
                    Ok(event) => landing.note(&event, tab),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Err(CdpError::Closed.into()),
                },
                _ = tick.tick() => {}
                () = &mut deadline => {
                    landing.late = true;
                    return Ok(());
                }
            }
            if landing.is_over() {
                return Ok(());
            }
        }
    }

    /// Waits until the page that arrived shows something. `false`: it does not.
    async fn draws(&self, cancel: &CancellationToken, arrival: &Arrival) -> Result<bool, ActError> {
        const DRAWN: PageFunction = function("drawn");
        // Only the held tab can be asked; the others are looked at once they are held.
        if arrival.tab.as_ref().map(|tab| tab.tab_id) != self.context.pinned()
            || arrival.tab.as_ref().is_some_and(|tab| tab.url == "about:blank")
        {
            return Ok(true);
        }
        let started = Instant::now();
        loop {
            match self.call_top::<bool>(cancel, DRAWN, &[]).await.map_err(ActError::from) {
                Ok(true) => return Ok(true),
                Err(ActError::Cancelled) => return Err(ActError::Cancelled),
                Ok(false) | Err(ActError::Refused(_)) if started.elapsed() >= DRAWS => return Ok(false),
                Ok(false) => {}
                // It goes on to another page, or asks something: nothing of this one's emptiness.
                Err(ActError::Refused(_)) => return Ok(true),
            }
            tokio::select! {
                () = cancel.cancelled() => return Err(ActError::Cancelled),
                () = sleep(LOOK_EVERY * 2) => {}
            }
        }
    }

    /// Answers the open dialog of the held tab, and waits a moment for what comes of it.
    ///
    /// # Errors
    /// [`Class::BadArgument`] when none is open; else see [`ActError`].
    pub async fn answer_dialog(
        &self,
        cancel: &CancellationToken,
        accept: bool,
        text: Option<&str>,
    ) -> Result<Answered, ActError> {
        let tab = self.tab(cancel).await?.ok_or(super::view::ViewError::NoTab)?;
        let target = Target::tab(tab);
        if self.context.dialog(tab).is_none() {
            // One that was open before anything was done here is announced now.
            match self.context.cdp_within(cancel, &target, "Page.enable", json!({}), AFTER_DIALOG).await {
                Ok(_) | Err(CdpError::Dialog(_) | CdpError::Timeout { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let dialog = self.context.dialog(tab).ok_or_else(|| {
            Refusal::new(Class::BadArgument, "No dialog is open in this tab. Look with inspect_page.")
        })?;
        if text.is_some() && dialog.kind != "prompt" {
            let error =
                format!("`text` is for a prompt; the open dialog ({}) takes accept or dismiss.", dialog.kind);
            return Err(Refusal::new(Class::BadArgument, error).with("dialog", json!(dialog)).into());
        }
        let before = tab_info(self, cancel, tab).await?;
        let events = self.context.subscribe();
        let mut params = json!({ "accept": accept });
        if accept && dialog.kind == "prompt" {
            params["promptText"] = json!(text.unwrap_or(&dialog.default_prompt));
        }
        self.context.cdp(cancel, &target, "Page.handleJavaScriptDialog", params).await?;
        let mut landing = Landing::default();
        self.follow_dialog(cancel, tab, &mut landing, events).await?;
        self.context.claim_downloads(&landing.downloads.ids());
        let tab = tab_info(self, cancel, tab).await?;
        let url = |tab: &Option<TabInfo>| tab.as_ref().map(|tab| tab.url.clone());
        let after = Arrival {
            url_changed: landing.committed || (tab.is_some() && url(&tab) != url(&before)),
            dialog: landing.dialog,
            download: landing.downloads.first(),
            hint: tab.is_none().then(|| "The tab was closed. Call list_tabs.".to_owned()),
            status: None,
            tab,
        };
        Ok(Answered { dialog, after })
    }

    async fn follow_dialog(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        landing: &mut Landing,
        mut events: broadcast::Receiver<BrowserEvent>,
    ) -> Result<(), ActError> {
        let started = Instant::now();
        let mut tick = interval(LOOK_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = cancel.cancelled() => return Err(ActError::Cancelled),
                event = events.recv() => match event {
                    Ok(event) => landing.note(&event, tab),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Err(CdpError::Closed.into()),
                },
                _ = tick.tick() => {}
            }
            let quiet = landing.under_way.is_none() && !landing.committed;
            let limit = if quiet { AFTER_DIALOG } else { AFTER_DIALOG_PAGE };
            if started.elapsed() >= limit || (!quiet && landing.is_over()) {
                return Ok(());
            }
            if landing.dialog.is_some() || landing.closed {
                return Ok(());
            }
        }
    }
}
