//! Waiting for a page: conditions are looked at from here, never by timers of the page, which sleep in tabs
//! that nobody looks at.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CDP_TIMEOUT, CdpError};
use super::condition::Condition;
use super::dialogs::Dialog;
use super::downloads::Download;
use super::observe::tab_info;
use super::page::PageError;
use super::refusal::{ActError, Class, MAY_ASK, Refusal};
use super::view::ViewError;
use crate::page::WAITING;
use crate::protocol::TabId;

/// Between two looks at the page.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long the network must be quiet.
const QUIET: Duration = Duration::from_millis(500);

/// What is waited for.
#[derive(Debug, Clone, PartialEq)]
pub enum Until {
    /// Time.
    Passed(Duration),
    /// Something that a CSS selector finds.
    Selector(String, Presence),
    /// A text that can be seen.
    Text(String, Presence),
    /// A part of the tab's address.
    UrlContains(String),
    /// The document is loaded, and no request of the page was open for half a second. Requests count from the
    /// first thing that was done in the tab; streams and media never do.
    NetworkIdle,
    /// A condition of the page's own world.
    Function(Condition),
    /// A dialog that is open.
    Dialog,
    /// The end of a download that the tab began and nobody was told the end of.
    Download,
}

/// How something is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Drawn.
    Visible,
    /// In the page, drawn or not.
    Attached,
    /// Not drawn, or not in the page.
    Gone,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Present {
    present: bool,
    wrong: bool,
    /// Not looked to the end: `present` says nothing when it is false.
    late: bool,
    complete: bool,
}

/// What came of a wait.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Waited {
    /// How long it took.
    pub took: Duration,
    /// What was waited for: `dialog`, `download` or `value`.
    pub found: Map<String, Value>,
}

impl Browser {
    /// Waits until the condition holds.
    ///
    /// # Errors
    /// [`Class::Timeout`] after `within`; [`Class::BlockedByDialog`] at once when a dialog opens, unless it is what
    /// is waited for; else see [`ActError`].
    pub async fn wait_until(
        &self,
        cancel: &CancellationToken,
        until: &Until,
        within: Duration,
    ) -> Result<Waited, ActError> {
        let started = Instant::now();
        let tab = self.tab(cancel).await?.ok_or(ViewError::NoTab)?;
        let limit = match until {
            // The page's own deadline does not cut a plain wait short.
            Until::Passed(time) => *time + Duration::from_secs(1),
            _ => within,
        };
        let for_dialog = *until == Until::Dialog;
        let found = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(ActError::Cancelled),
            dialog = self.until_dialog(tab), if !for_dialog => return Err(CdpError::Dialog(dialog).into()),
            () = self.context.crashed(tab) => return Err(CdpError::Crashed.into()),
            found = self.until_met(cancel, tab, until, started) => found?,
            () = sleep_until(started + limit) => return Err(self.too_late(tab, until, within).into()),
        };
        Ok(Waited { took: started.elapsed(), found })
    }

    async fn until_met(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        until: &Until,
        started: Instant,
    ) -> Result<Map<String, Value>, ActError> {
        // A page that hangs answers late: this too counts against the deadline.
        let enable = self.context.attend(cancel, tab, CDP_TIMEOUT);
        let enabled = match until {
            Until::Passed(time) => timeout_at(started + *time, enable).await.unwrap_or(Ok(())),
            _ => enable.await,
        };
        let mut found = Map::new();
        match enabled {
            Err(CdpError::Dialog(_)) if *until == Until::Dialog => {}
            // Pages that cannot be debugged can still be waited for by time and address.
            Err(error @ (CdpError::Dialog(_) | CdpError::Cancelled | CdpError::Crashed)) => {
                return Err(error.into());
            }
            Ok(()) | Err(_) => {}
        }
        match until {
            Until::Passed(time) => sleep_until(started + *time).await,
            Until::Selector(selector, presence) => {
                let args = json!({ "selector": selector, "attached": *presence == Presence::Attached });
                self.until_present(cancel, args, *presence != Presence::Gone).await?;
            }
            Until::Text(text, presence) => {
                self.until_present(cancel, json!({ "text": text }), *presence != Presence::Gone).await?;
            }
            Until::UrlContains(part) => self.until_address(cancel, tab, part).await?,
            Until::NetworkIdle => self.until_quiet(cancel, tab).await?,
            Until::Function(condition) => {
                found.insert("value".to_owned(), json!(self.until_true(cancel, tab, condition).await?));
            }
            Until::Dialog => {
                found.insert("dialog".to_owned(), json!(self.until_dialog(tab).await));
            }
            Until::Download => {
                found.insert("download".to_owned(), self.until_downloaded(tab).await?.words());
            }
        }
        Ok(found)
    }

    fn too_late(&self, tab: TabId, until: &Until, within: Duration) -> Refusal {
        let error = format!(
            "It did not happen within {} ms. Look at the page with inspect_page to see how far it is.",
            within.as_millis()
        );
        let refusal = Refusal::new(Class::Timeout, error)
            .with("timeout_ms", u64::try_from(within.as_millis()).unwrap_or(u64::MAX))
            .with("hint", MAY_ASK);
        match until {
            Until::NetworkIdle => refusal.with("pending", self.context.open_requests(tab)),
            _ => refusal,
        }
    }

    async fn until_present(
        &self,
        cancel: &CancellationToken,
        args: Value,
        wanted: bool,
    ) -> Result<(), ActError> {
        loop {
            // Frames answer on their own; while the page changes, some or all of them cannot.
            match self.call_frames::<Present>(cancel, WAITING, std::slice::from_ref(&args)).await {
                Ok(answers) if answers.iter().any(|(_, answer)| answer.wrong) => {
                    return Err(
                        Refusal::new(Class::BadArgument, "`selector` is not a valid CSS selector.").into()
                    );
                }
                Ok(answers) if answers.iter().any(|(_, answer)| answer.present) => {
                    if wanted {
                        return Ok(());
                    }
                }
                Ok(answers) if !wanted && !answers.iter().any(|(_, answer)| answer.late) => return Ok(()),
                Ok(_) | Err(ViewError::Page(PageError::WorldGone | PageError::ElementGone)) => {}
                Err(ViewError::Page(PageError::Cdp(CdpError::Timeout { .. }))) => {}
                Err(other) => return Err(other.into()),
            }
            sleep(LOOK_EVERY).await;
        }
    }

    async fn until_address(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        part: &str,
    ) -> Result<(), ActError> {
        loop {
            match tab_info(self, cancel, tab).await? {
                Some(info) if info.url.contains(part) => return Ok(()),
                Some(_) => sleep(LOOK_EVERY).await,
                None => return Err(Refusal::new(Class::Closed, "The tab was closed. Call list_tabs.").into()),
            }
        }
    }

    async fn until_quiet(&self, cancel: &CancellationToken, tab: TabId) -> Result<(), ActError> {
        let started = Instant::now();
        loop {
            let (open, changed) = self.context.traffic(tab);
            // At least this long from now on too: pages often send a moment after the act that made them.
            let since = changed.map_or(started, |changed| changed.max(started));
            if open == 0 && since.elapsed() >= QUIET && self.is_complete(cancel).await? {
                return Ok(());
            }
            sleep(LOOK_EVERY).await;
        }
    }

    async fn until_dialog(&self, tab: TabId) -> Dialog {
        loop {
            if let Some(dialog) = self.context.dialog(tab) {
                return dialog;
            }
            // The browser's own question for a password is told by nothing but time.
            tokio::select! {
                dialog = self.context.dialog_opened(tab) => return dialog,
                () = sleep(LOOK_EVERY) => {}
            }
        }
    }

    async fn until_downloaded(&self, tab: TabId) -> Result<Download, ActError> {
        loop {
            match self.context.next_download(tab) {
                Some(download) if download.state == "complete" => return Ok(download),
                Some(download) if download.has_ended() => {
                    let error = "The download was broken off. Look whether it can be begun again.";
                    return Err(Refusal::new(Class::Rejected, error)
                        .with("download", download.words())
                        .into());
                }
                _ => sleep(LOOK_EVERY).await,
            }
        }
    }

    async fn is_complete(&self, cancel: &CancellationToken) -> Result<bool, ActError> {
        match self.call_top::<Present>(cancel, WAITING, &[json!({})]).await {
            Ok(answer) => Ok(answer.complete),
            Err(ViewError::Page(PageError::WorldGone | PageError::ElementGone)) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }
}
