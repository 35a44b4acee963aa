//! Back, forward, and the same page once more.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::address::address;
use super::cdp::{CdpError, Target};
use super::extension_context::BrowserEvent;
use super::navigation::{Arrival, Going};
use super::refusal::{ActError, Class, Refusal};
use crate::protocol::{CdpEvent, TabId};

/// How long a small command of the browser itself may take.
const SMALL: Duration = Duration::from_secs(5);

/// A step in the tab's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// To the page before.
    Back,
    /// To the page that was gone back from.
    Forward,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct History {
    current_index: usize,
    entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
struct Entry {
    id: i64,
    url: String,
}

impl Browser {
    /// Goes a step in the tab's history and waits until the page is there, as [`go`](Self::go) does. A page that
    /// the browser kept alive is as it was left ([`Arrival::restored`]).
    ///
    /// # Errors
    /// [`Class::BadArgument`] when there is nothing in that direction, [`Class::NotAllowed`] when it is a page
    /// that Browy does not open; else see [`go`](Self::go).
    pub async fn step(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        step: Step,
    ) -> Result<Arrival, ActError> {
        let target = Target::tab(tab);
        let history =
            self.context.cdp_within(cancel, &target, "Page.getNavigationHistory", json!({}), SMALL).await?;
        let history: History = serde_json::from_value(history).map_err(|error| CdpError::Malformed {
            method: "Page.getNavigationHistory".to_owned(),
            detail: error.to_string(),
        })?;
        let entry = history.beside(step)?;
        let params = json!({ "entryId": entry.id });
        let going = Going { method: "Page.navigateToHistoryEntry", params, url: entry.url.clone() };
        self.send_to(cancel, tab, &going).await
    }

    /// Loads the tab's page again and waits until it is there, as [`go`](Self::go) does.
    ///
    /// # Errors
    /// [`Class::NotAllowed`] when the page is the answer to a form: nothing is sent a second time. Else see
    /// [`go`](Self::go).
    pub async fn reload(&self, cancel: &CancellationToken, tab: TabId) -> Result<Arrival, ActError> {
        let info = super::observe::tab_info(self, cancel, tab).await?;
        let url = info.map(|info| info.url).unwrap_or_default();
        let going = Going { method: "Page.reload", params: json!({}), url };
        let outcome = self.without_resending(cancel, tab, self.send_to(cancel, tab, &going)).await;
        if let Err(ActError::Refused(refusal)) = &outcome {
            // The person's answer lets it go on.
            self.context.note_reload_waits(tab, refusal.class == Class::BlockedByDialog);
        }
        outcome
    }

    /// Does something that loads the tab's page again, and lets no form be sent a second time by that: a browser
    /// that reloads for DevTools does not ask.
    pub(super) async fn without_resending<T>(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        loads: impl Future<Output = Result<T, ActError>>,
    ) -> Result<T, ActError> {
        let target = Target::tab(tab);
        let mut events = self.context.subscribe();
        let patterns = json!({ "patterns": [{ "resourceType": "Document", "requestStage": "Request" }] });
        self.context.cdp_within(cancel, &target, "Fetch.enable", patterns, SMALL).await?;
        let watching = async {
            loop {
                match events.recv().await {
                    Ok(BrowserEvent::Cdp(event)) if event.tab_id == Some(tab) => {
                        if self.stops_resending(cancel, &target, &event).await {
                            return;
                        }
                    }
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        };
        let outcome = tokio::select! {
            outcome = loads => outcome,
            () = watching => Err(Refusal::new(
                Class::NotAllowed,
                "This page is the answer to a form; loading it again would send the form again, which was stopped. \
                 Use go_back, or navigate to an address.",
            )
            .into()),
        };
        // Also after Stop: the person's own navigations must not wait for us.
        let always = CancellationToken::new();
        let off = self.context.cdp_within(&always, &target, "Fetch.disable", json!({}), SMALL).await;
        if let Err(error) = off {
            tracing::debug!(%error, "requests of the tab are held up until the debugger leaves it");
        }
        outcome
    }

    /// Lets a held request through, unless it sends a form. `true`: it was the page's own, and is stopped.
    async fn stops_resending(&self, cancel: &CancellationToken, target: &Target, event: &CdpEvent) -> bool {
        if event.method != "Fetch.requestPaused" {
            return false;
        }
        let text = |pointer: &str| event.params.pointer(pointer).and_then(Value::as_str);
        let Some(id) = text("/requestId") else { return false };
        let again = text("/request/method") == Some("POST");
        let (method, params) = if again {
            ("Fetch.failRequest", json!({ "requestId": id, "errorReason": "Aborted" }))
        } else {
            ("Fetch.continueRequest", json!({ "requestId": id }))
        };
        if let Err(error) = self.context.cdp_within(cancel, target, method, params, SMALL).await {
            tracing::debug!(%error, "a held request was not answered");
        }
        again
    }
}

impl History {
    fn beside(&self, step: Step) -> Result<&Entry, Refusal> {
        let (at, none, before) = match step {
            Step::Back => (self.current_index.checked_sub(1), "There is no page to go back to", "before"),
            Step::Forward => {
                (self.current_index.checked_add(1), "There is no page to go forward to", "after")
            }
        };
        let entry = at.and_then(|at| self.entries.get(at)).ok_or_else(|| {
            Refusal::new(Class::BadArgument, format!("{none} in this tab. Use navigate, or another tab."))
        })?;
        address(&entry.url, None).map_err(|_| {
            let scheme = entry.url.split(':').next().unwrap_or_default();
            Refusal::new(
                Class::NotAllowed,
                format!(
                    "The page {before} this one is one that Browy does not open ({}:). Use navigate.",
                    super::text::clean(scheme, 40)
                ),
            )
        })?;
        Ok(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(current_index: usize, urls: &[&str]) -> History {
        let entries = (1..).zip(urls).map(|(id, url)| Entry { id, url: (*url).to_owned() }).collect();
        History { current_index, entries }
    }

    #[test]
    fn step_goes_to_the_neighbour_or_says_why_not() {
        let pages = history(1, &["chrome://newtab/", "http://a/", "http://b/"]);
        assert_eq!(pages.beside(Step::Forward).map(|entry| entry.id), Ok(3));
        assert_eq!(pages.beside(Step::Back).unwrap_err().class, Class::NotAllowed);
        let alone = history(0, &["http://a/"]);
        for step in [Step::Back, Step::Forward] {
            assert_eq!(alone.beside(step).unwrap_err().class, Class::BadArgument);
        }
    }
}
