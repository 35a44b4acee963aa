//! Closing tabs.

use std::time::Duration;

use serde_json::json;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::extension_context::BrowserEvent;
use super::refusal::{ActError, Class, Refusal};
use crate::protocol::{TabEventKind, TabId, TabInfo};

/// How long a tab may take to go.
const GOES: Duration = Duration::from_secs(5);

/// How long a page may take to be ready to say that it asks something.
const READY: Duration = Duration::from_secs(1);

const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Browser {
    /// Closes a tab and waits until it is gone.
    ///
    /// # Errors
    /// [`Class::BlockedByDialog`] when its page asks whether it may be left; else see [`ActError`].
    pub async fn close_tab(&self, cancel: &CancellationToken, tab: TabId) -> Result<(), ActError> {
        let target = Target::tab(tab);
        // Only so that the page's question is heard of. Pages that cannot be debugged can be closed all the same.
        match self.context.attend(cancel, tab, READY).await {
            Err(CdpError::Cancelled) => return Err(ActError::Cancelled),
            Err(CdpError::Closed) => return Err(CdpError::Closed.into()),
            // Closing is no way around a question that is open already.
            Err(error @ CdpError::Dialog(_)) => return Err(error.into()),
            Ok(()) | Err(_) => {}
        }
        let mut events = self.context.subscribe();
        let asked = async {
            if self.context.has("tabs.close") {
                self.context.close_tab(cancel, tab).await
            } else {
                self.context.cdp(cancel, &target, "Page.close", json!({})).await.map(drop)
            }
        };
        let deadline = sleep(GOES);
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
                        Ok(()) => {}
                        Err(error) if self.is_gone(cancel, tab).await? => {
                            tracing::debug!(%error, "the tab was gone before the answer came");
                            return Ok(());
                        }
                        Err(error) => return Err(error.into()),
                    }
                }
                event = events.recv() => match event {
                    Ok(BrowserEvent::Tab(event))
                        if event.event == TabEventKind::Removed && event.tab_id == tab =>
                    {
                        return Ok(());
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Err(CdpError::Closed.into()),
                },
                dialog = self.context.dialog_opened(tab) => {
                    return Err(Refusal::new(
                        Class::BlockedByDialog,
                        "The page asks whether it may be left. switch_tab there and answer with handle_dialog: \
                         accept closes it.",
                    )
                    .with("dialog", json!(dialog))
                    .into());
                }
                // Tabs that nothing was done with are not reported.
                _ = tick.tick(), if answered => {
                    if self.is_gone(cancel, tab).await? {
                        return Ok(());
                    }
                }
                () = &mut deadline => {
                    return Err(Refusal::new(
                        Class::Timeout,
                        "The tab is still there. Its page may ask something; switch_tab there and look.",
                    )
                    .into());
                }
            }
        }
    }

    async fn is_gone(&self, cancel: &CancellationToken, tab: TabId) -> Result<bool, CdpError> {
        Ok(!self.context.tabs(cancel).await?.iter().any(|known| known.tab_id == tab))
    }
}

/// What the browser says about a tab; `None` when it does not know it.
pub(super) async fn tab_info(
    browser: &Browser,
    cancel: &CancellationToken,
    tab: TabId,
) -> Result<Option<TabInfo>, CdpError> {
    Ok(browser.context.tabs(cancel).await?.into_iter().find(|info| info.tab_id == tab))
}
