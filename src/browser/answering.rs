//! The answer to an open dialog, and what comes of it.

use std::time::Duration;

use serde_json::json;
use tokio::sync::broadcast::{self, error::RecvError};
use tokio::time::{Instant, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::dialogs::Dialog;
use super::extension_context::BrowserEvent;
use super::landing::Landing;
use super::navigation::{Arrival, LIMIT, LOOK_EVERY};
use super::observe::tab_info;
use super::refusal::{ActError, Class, Refusal};
use crate::protocol::{TabId, TabInfo};

/// How long an answered dialog may take to show what comes of it.
const AFTER: Duration = Duration::from_millis(350);

/// How long the page that an answered dialog of a script leads to may take.
const AFTER_PAGE: Duration = Duration::from_secs(6);

/// An answered dialog and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// The dialog that was answered.
    pub dialog: Dialog,
    /// What came of it; `dialog` is the next one.
    pub after: Arrival,
}

impl Browser {
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
            match self.context.attend(cancel, tab, AFTER).await {
                Ok(()) | Err(CdpError::Dialog(_) | CdpError::Timeout { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if self.context.dialog(tab).is_some_and(|dialog| dialog.is_print()) {
            // It may be closed, or never have been there: the page says so by answering.
            match self.context.cdp_within(cancel, &target, "Page.getFrameTree", json!({}), AFTER).await {
                Ok(_) | Err(CdpError::Dialog(_) | CdpError::Timeout { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let dialog = self.context.dialog(tab).ok_or_else(|| {
            Refusal::new(Class::BadArgument, "No dialog is open in this tab. Look with inspect_page.")
        })?;
        if let Some(refusal) = only_the_person(&dialog, accept) {
            return Err(refusal.with("dialog", json!(dialog)).into());
        }
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
        let (method, params) = match dialog.kind.as_str() {
            // The page that asks for a password goes when its loading is given up.
            "auth" => ("Page.stopLoading", json!({})),
            _ => ("Page.handleJavaScriptDialog", params),
        };
        let leaves = accept && dialog.kind == "beforeunload";
        let reloads = self.context.take_reload_waits(tab) && leaves;
        let mut landing = Landing::default();
        let answering = async {
            self.context.cdp(cancel, &target, method, params).await?;
            self.follow_dialog(cancel, tab, leaves, &mut landing, events).await
        };
        if reloads {
            self.without_resending(cancel, tab, answering).await?;
        } else {
            answering.await?;
        }
        self.context.claim_downloads(&landing.downloads.ids());
        let tab = tab_info(self, cancel, tab).await?;
        let url = |tab: &Option<TabInfo>| tab.as_ref().map(|tab| tab.url.clone());
        let after = Arrival {
            url_changed: landing.committed || (tab.is_some() && url(&tab) != url(&before)),
            status: landing.status(),
            dialog: landing.dialog,
            download: landing.downloads.first(),
            hint: tab.is_none().then(|| "The tab was closed. Call list_tabs.".to_owned()),
            restored: false,
            tab,
        };
        Ok(Answered { dialog, after })
    }

    async fn follow_dialog(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        leaves: bool,
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
            let limit = match (quiet, leaves) {
                // Whoever may leave was on the way to somewhere.
                (_, true) => LIMIT,
                (true, false) => AFTER,
                (false, false) => AFTER_PAGE,
            };
            if started.elapsed() >= limit || (!quiet && landing.is_over()) {
                return Ok(());
            }
            if landing.dialog.is_some() || landing.closed {
                return Ok(());
            }
        }
    }
}

/// What no program answers for a person.
fn only_the_person(dialog: &Dialog, accept: bool) -> Option<Refusal> {
    let error = match dialog.kind.as_str() {
        "auth" if accept => {
            "Only the person enters a user name and a password. Call await_user, or dismiss the question."
        }
        "print" => "Only the person can close the print window. Call await_user.",
        _ => return None,
    };
    Some(Refusal::new(Class::NotAllowed, error))
}
