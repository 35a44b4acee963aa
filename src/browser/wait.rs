//! Waiting for a page: conditions are looked at from here, never by timers of the page, which sleep in tabs
//! that nobody looks at.

use std::collections::HashSet;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout_at};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::extension_context::BrowserEvent;
use super::observe::tab_info;
use super::page::PageError;
use super::refusal::{ActError, Class, Refusal};
use super::view::ViewError;
use crate::page::WAITING;
use crate::protocol::TabId;

/// Between two looks at the page.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long the network must be quiet.
const QUIET: Duration = Duration::from_millis(500);

/// What is waited for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// Time.
    Passed(Duration),
    /// Something that a CSS selector finds.
    Selector(String, Presence),
    /// A text that can be seen.
    Text(String, Presence),
    /// A part of the tab's address.
    UrlContains(String),
    /// The document is loaded, and no request that started meanwhile was open for half a second.
    NetworkIdle,
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

impl Browser {
    /// Waits until the condition holds. Returns how long that took.
    ///
    /// # Errors
    /// [`Class::Timeout`] after `within`; [`Class::BlockedByDialog`] at once when a dialog opens; else see
    /// [`ActError`].
    pub async fn wait_until(
        &self,
        cancel: &CancellationToken,
        until: &Until,
        within: Duration,
    ) -> Result<Duration, ActError> {
        let started = Instant::now();
        let tab = self.tab(cancel).await?.ok_or(ViewError::NoTab)?;
        let target = Target::tab(tab);
        let waiting = async {
            // A page that hangs answers late: this too counts against the deadline.
            let enable = self.context.cdp(cancel, &target, "Page.enable", json!({}));
            let enabled = match until {
                Until::Passed(time) => timeout_at(started + *time, enable).await.unwrap_or(Ok(Value::Null)),
                _ => enable.await,
            };
            // Pages that cannot be debugged can still be waited for by time and address.
            if let Err(error @ (CdpError::Dialog(_) | CdpError::Cancelled)) = enabled {
                return Err(error.into());
            }
            match until {
                Until::Passed(time) => {
                    sleep_until(started + *time).await;
                    Ok(())
                }
                Until::Selector(selector, presence) => {
                    let args = json!({ "selector": selector, "attached": *presence == Presence::Attached });
                    self.until_present(cancel, args, *presence != Presence::Gone).await
                }
                Until::Text(text, presence) => {
                    self.until_present(cancel, json!({ "text": text }), *presence != Presence::Gone).await
                }
                Until::UrlContains(part) => self.until_address(cancel, tab, part).await,
                Until::NetworkIdle => self.until_quiet(cancel, tab).await,
            }
        };
        let limit = match until {
            // The page's own deadline does not cut a plain wait short.
            Until::Passed(time) => *time + Duration::from_secs(1),
            _ => within,
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ActError::Cancelled),
            dialog = self.context.dialog_opened(tab) => Err(CdpError::Dialog(dialog).into()),
            done = waiting => done.map(|()| started.elapsed()),
            () = sleep_until(started + limit) => Err(Refusal::new(
                Class::Timeout,
                format!(
                    "It did not happen within {} ms. Look at the page with inspect_page to see how far it is.",
                    within.as_millis()
                ),
            )
            .with("timeout_ms", u64::try_from(within.as_millis()).unwrap_or(u64::MAX))
            .into()),
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
        let mut events = self.context.subscribe();
        let target = Target::tab(tab);
        self.context.cdp(cancel, &target, "Network.enable", json!({})).await?;
        let mut open: HashSet<String> = HashSet::new();
        let mut quiet_since = Instant::now();
        let mut tick = interval(LOOK_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                event = events.recv() => match event {
                    Ok(BrowserEvent::Cdp(event)) if event.tab_id == Some(tab) => {
                        let Some(id) = event.params.get("requestId").and_then(Value::as_str) else { continue };
                        match event.method.as_str() {
                            // These stay open for as long as the page lives.
                            "Network.requestWillBeSent"
                                if event.params.get("type").and_then(Value::as_str) != Some("EventSource") =>
                            {
                                open.insert(id.to_owned());
                                quiet_since = Instant::now();
                            }
                            "Network.loadingFinished" | "Network.loadingFailed" => {
                                open.remove(id);
                                quiet_since = Instant::now();
                            }
                            _ => {}
                        }
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Err(CdpError::Closed.into()),
                },
                _ = tick.tick() => {
                    if open.is_empty() && quiet_since.elapsed() >= QUIET && self.is_complete(cancel).await? {
                        break;
                    }
                }
            }
        }
        self.context.cdp(cancel, &target, "Network.disable", json!({})).await?;
        Ok(())
    }

    async fn is_complete(&self, cancel: &CancellationToken) -> Result<bool, ActError> {
        match self.call_top::<Present>(cancel, WAITING, &[json!({})]).await {
            Ok(answer) => Ok(answer.complete),
            Err(ViewError::Page(PageError::WorldGone | PageError::ElementGone)) => Ok(false),
            Err(other) => Err(other.into()),
        }
    }
}
