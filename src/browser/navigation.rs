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
use super::page::PageError;
use super::refusal::ActError;
use crate::page::{PageFunction, function};
use crate::protocol::{TabId, TabInfo};

/// How long a page may take to load.
pub(super) const LIMIT: Duration = Duration::from_secs(15);

/// How long a loaded page may take to draw something.
const DRAWS: Duration = Duration::from_millis(2_500);

/// How long a page that may hang is asked to be ready to report, before it is left anyway.
const READY: Duration = Duration::from_secs(3);

pub(super) const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What came of a navigation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arrival {
    /// The tab now.
    pub tab: Option<TabInfo>,
    /// Its address is another one than before.
    pub url_changed: bool,
    /// What the server answered.
    pub status: Option<u16>,
    /// The page was kept alive when it was left, and is as it was.
    pub restored: bool,
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
        if self.restored {
            words.insert("restored".to_owned(), json!(true));
        }
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

/// How a tab is sent somewhere.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Going {
    pub(super) method: &'static str,
    pub(super) params: Value,
    /// Where that leads, as far as is known.
    pub(super) url: String,
}

impl Browser {
    /// Sends a tab to an address (one that [`address`](super::address()) allowed) and waits until its page is
    /// there: 15 s at most.
    ///
    /// # Errors
    /// See [`ActError`]; `navigation` in the refusal tells address, status and the browser's error.
    pub async fn go(&self, cancel: &CancellationToken, tab: TabId, url: &str) -> Result<Arrival, ActError> {
        let going = Going { method: "Page.navigate", params: json!({ "url": url }), url: url.to_owned() };
        self.send_to(cancel, tab, &going).await
    }

    /// [`go`](Self::go) by whatever way.
    pub(super) async fn send_to(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        going: &Going,
    ) -> Result<Arrival, ActError> {
        let top = self.ready_to_leave(cancel, tab).await?;
        let hangs = top.is_none() && !self.context.is_crashed(tab);
        let before = tab_info(self, cancel, tab).await?;
        let events = self.context.subscribe();
        let mut landing = Landing::of(top);
        landing.hangs = hangs;
        let followed = self.follow(cancel, tab, going, &mut landing, events).await;
        self.context.claim_downloads(&landing.downloads.ids());
        followed?;
        let tab = tab_info(self, cancel, tab).await?;
        let mut arrival = landing.outcome(&going.url, before, tab)?;
        let readable = arrival.dialog.is_none() && arrival.download.is_none() && landing.committed;
        if landing.pdf {
            arrival.hint = Some("This is a PDF; read its text with read_pdf.".to_owned());
        } else if readable && !self.draws(cancel, &arrival).await? {
            arrival.hint = Some("The page is empty so far; it may still be working (wait_for).".to_owned());
        }
        Ok(arrival)
    }

    /// The tab's own frame, once it reports what happens. `None`: its page answers nothing, and can be left for
    /// all that.
    pub(super) async fn ready_to_leave(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
    ) -> Result<Option<String>, ActError> {
        let ready = async {
            self.context.attend(cancel, tab, READY).await?;
            self.context.cdp_within(cancel, &Target::tab(tab), "Page.getFrameTree", json!({}), READY).await
        };
        match ready.await {
            Ok(tree) => Ok(tree.pointer("/frameTree/frame/id").and_then(Value::as_str).map(str::to_owned)),
            Err(CdpError::Crashed | CdpError::Timeout { .. }) => Ok(None),
            Err(other) => match PageError::from(other) {
                // It is on its way to another page just now.
                PageError::WorldGone => Ok(None),
                other => Err(other.into()),
            },
        }
    }

    async fn follow(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        going: &Going,
        landing: &mut Landing,
        mut events: broadcast::Receiver<BrowserEvent>,
    ) -> Result<(), ActError> {
        let target = Target::tab(tab);
        let asked = self.context.cdp_within(cancel, &target, going.method, going.params.clone(), LIMIT * 2);
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
                        Ok(answer) if going.method == "Page.navigate" => landing.note_answer(&answer),
                        // The others only say that they were heard.
                        Ok(_) => {}
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
}
