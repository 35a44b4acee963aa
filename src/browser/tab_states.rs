//! What is known of each tab between calls, kept up by the browser's events: whether its page crashed, which
//! requests are open, which downloads it began.

use std::collections::HashMap;

use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use super::dialogs::Dialog;
use super::downloads::{Download, Downloads};
use super::extension_context::BrowserEvent;
use crate::protocol::{CdpEvent, TabEventKind, TabId};

/// How long a server's demand for a password must stand until it is taken for a question that is on the screen:
/// a script's own request is answered at once instead.
pub(super) const PROMPTS: Duration = Duration::from_millis(60);

/// Requests that may stay open for as long as the page lives, and nobody waits for.
const NEVER_ENDS: &[&str] = &["EventSource", "Media", "Ping", "Prefetch"];

#[derive(Debug, Default)]
struct TabState {
    /// Events of its page are reported.
    attended: bool,
    crashed: bool,
    requests: HashMap<String, Request>,
    /// A request for which the browser asks the person for a user name and a password.
    prompt: Option<Prompt>,
    /// When the last one began or ended.
    changed: Option<Instant>,
    downloads: Downloads,
    /// A reload waits for the answer to the page's question.
    reload_waits: bool,
}

/// An open request.
#[derive(Debug)]
struct Request {
    /// The document that sent it.
    loader: String,
    url: String,
}

#[derive(Debug)]
struct Prompt {
    request: String,
    dialog: Dialog,
    since: Instant,
}

/// The states of all tabs of one session.
#[derive(Debug)]
pub(super) struct TabStates {
    states: watch::Sender<HashMap<TabId, TabState>>,
}

impl Default for TabStates {
    fn default() -> Self {
        Self { states: watch::Sender::new(HashMap::new()) }
    }
}

/// Whether the browser itself, not the crashed page, answers this command.
pub(super) fn works_when_crashed(method: &str) -> bool {
    matches!(
        method,
        "Page.navigate"
            | "Page.reload"
            | "Page.close"
            | "Page.getNavigationHistory"
            | "Page.navigateToHistoryEntry"
            | "Inspector.enable"
            | "Fetch.enable"
            | "Fetch.disable"
            | "Fetch.continueRequest"
            | "Fetch.failRequest"
            | "Network.enable"
            | "Page.enable"
    )
}

impl TabStates {
    /// Keeps up with what happens.
    pub(super) fn note(&self, told: &BrowserEvent) {
        match told {
            BrowserEvent::Cdp(event) => {
                let Some(tab) = event.tab_id else { return };
                self.states.send_if_modified(|states| {
                    let state = states.entry(tab).or_default();
                    state.downloads.note(told, tab);
                    state.note(event)
                });
            }
            BrowserEvent::Download(event) => {
                let Some(tab) = event.tab_id else { return };
                self.states.send_if_modified(|states| {
                    states.entry(tab).or_default().downloads.note(told, tab);
                    false
                });
            }
            // What was reported of the tab is reported no more.
            BrowserEvent::Detached(detached) => {
                self.states.send_if_modified(|states| {
                    states.get_mut(&detached.tab_id).is_some_and(|state| {
                        let downloads = std::mem::take(&mut state.downloads);
                        *state = TabState { downloads, ..TabState::default() };
                        true
                    })
                });
            }
            BrowserEvent::Tab(event) if event.event == TabEventKind::Removed => {
                self.states.send_if_modified(|states| states.remove(&event.tab_id).is_some());
            }
            BrowserEvent::Tab(event) => {
                if let Some(old) = event.replaced_tab_id {
                    self.states.send_if_modified(|states| states.remove(&old).is_some());
                }
            }
        }
    }

    fn of<T>(&self, tab: TabId, read: impl FnOnce(&TabState) -> T) -> Option<T> {
        self.states.borrow().get(&tab).map(read)
    }

    /// Whether events of the tab's page are reported already.
    pub(super) fn is_attended(&self, tab: TabId) -> bool {
        self.of(tab, |state| state.attended).unwrap_or(false)
    }

    /// They are from now on.
    pub(super) fn attend(&self, tab: TabId) {
        self.states.send_modify(|states| states.entry(tab).or_default().attended = true);
    }

    /// Whether the tab's page crashed and was not loaded again.
    pub(super) fn is_crashed(&self, tab: TabId) -> bool {
        self.of(tab, |state| state.crashed).unwrap_or(false)
    }

    /// A reload waits, or does not, for the answer to the page's question.
    pub(super) fn set_reload_waits(&self, tab: TabId, waits: bool) {
        self.states.send_if_modified(|states| {
            states.entry(tab).or_default().reload_waits = waits;
            false
        });
    }

    /// Whether a reload waits for the answer to the page's question.
    pub(super) fn reload_waits(&self, tab: TabId) -> bool {
        self.of(tab, |state| state.reload_waits).unwrap_or(false)
    }

    /// Waits until the tab's page has crashed. Never ends otherwise.
    pub(super) async fn crashed(&self, tab: TabId) {
        let mut states = self.states.subscribe();
        if states.wait_for(|states| states.get(&tab).is_some_and(|state| state.crashed)).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Open requests of the tab's page, and since when none began or ended. `None`: nothing was heard of any.
    pub(super) fn traffic(&self, tab: TabId) -> (usize, Option<Instant>) {
        self.of(tab, |state| (state.requests.len(), state.changed)).unwrap_or_default()
    }

    /// Addresses of some open requests.
    pub(super) fn open_requests(&self, tab: TabId) -> Vec<String> {
        let addresses = |state: &TabState| {
            let shown = state.requests.values().take(3);
            shown.map(|request| super::text::clean(&request.url, 120)).collect()
        };
        self.of(tab, addresses).unwrap_or_default()
    }

    /// The question for a user name and a password that lies over the tab (`auth`).
    pub(super) fn auth_prompt(&self, tab: TabId) -> Option<Dialog> {
        let shown = |state: &TabState| {
            let prompt = state.prompt.as_ref().filter(|prompt| prompt.since.elapsed() >= PROMPTS)?;
            Some(prompt.dialog.clone())
        };
        self.of(tab, shown).flatten()
    }

    /// The oldest download of the tab that nobody was told the end of. One that is over counts as told then.
    pub(super) fn next_download(&self, tab: TabId) -> Option<Download> {
        let mut next = None;
        self.states.send_if_modified(|states| {
            next = states.get_mut(&tab).and_then(|state| state.downloads.next_untold());
            false
        });
        next
    }
}

impl TabState {
    /// `true`: somebody may wait for this.
    fn note(&mut self, event: &CdpEvent) -> bool {
        let text = |pointer: &str| event.params.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        // A frame of another process that crashes leaves the rest of the page alive.
        let of_page = event.cdp_session_id.is_none();
        match event.method.as_str() {
            "Inspector.targetCrashed" if of_page => {
                self.requests.clear();
                return !std::mem::replace(&mut self.crashed, true);
            }
            "Inspector.targetReloadedAfterCrash" if of_page => {
                return std::mem::take(&mut self.crashed);
            }
            "Page.frameNavigated" if of_page && event.params.pointer("/frame/parentId").is_none() => {
                let loader = text("/frame/loaderId");
                // The old page's requests ended with it, whether or not that was told.
                self.requests.retain(|_, request| request.loader == loader);
                self.prompt = None;
                self.changed = Some(Instant::now());
                return std::mem::take(&mut self.crashed);
            }
            "Network.requestWillBeSent" if !NEVER_ENDS.contains(&text("/type")) => {
                let request =
                    Request { loader: text("/loaderId").to_owned(), url: text("/request/url").to_owned() };
                self.requests.insert(text("/requestId").to_owned(), request);
                self.changed = Some(Instant::now());
            }
            "Network.responseReceivedExtraInfo" => {
                if let (Some(realm), Some(request)) =
                    (password_realm(&event.params), self.requests.get(text("/requestId")))
                {
                    let request_id = text("/requestId").to_owned();
                    let dialog = Dialog::auth(&request.url, &realm);
                    self.prompt = Some(Prompt { request: request_id, dialog, since: Instant::now() });
                }
            }
            "Network.responseReceived" => self.answered(text("/requestId")),
            "Network.loadingFinished" | "Network.loadingFailed"
                if self.requests.remove(text("/requestId")).is_some() =>
            {
                self.answered(text("/requestId"));
                self.changed = Some(Instant::now());
            }
            _ => {}
        }
        false
    }

    /// Whatever the request was asked is answered.
    fn answered(&mut self, request: &str) {
        if self.prompt.as_ref().is_some_and(|prompt| prompt.request == request) {
            self.prompt = None;
        }
    }
}

/// What a server calls what it guards, when it answers with a demand for a password that browsers ask the person
/// for: of `Network.responseReceivedExtraInfo`.
pub(super) fn password_realm(params: &Value) -> Option<String> {
    let status = params.get("statusCode").and_then(Value::as_u64)?;
    let header = match status {
        401 => "www-authenticate",
        407 => "proxy-authenticate",
        _ => return None,
    };
    let headers = params.get("headers").and_then(Value::as_object)?;
    let (_, challenge) = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(header))?;
    let challenge = challenge.as_str()?;
    let asked = ["basic", "digest", "ntlm", "negotiate"];
    let scheme = challenge.trim_start().to_ascii_lowercase();
    if !asked.iter().any(|known| scheme.starts_with(known)) {
        return None;
    }
    let realm = challenge.split_once("realm=").map(|(_, rest)| rest.trim_start_matches('"'));
    let realm = realm.and_then(|rest| rest.split(['"', '\n']).next()).unwrap_or_default();
    Some(super::text::clean(realm, 80))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::protocol::{DebuggerDetached, SessionId};

    const TAB: TabId = TabId(3);

    fn cdp(method: &str, params: Value, session: Option<&str>) -> BrowserEvent {
        BrowserEvent::Cdp(Arc::new(CdpEvent {
            session_id: SessionId::from("sp-1"),
            tab_id: Some(TAB),
            cdp_session_id: session.map(Into::into),
            method: method.to_owned(),
            params,
        }))
    }

    #[test]
    fn crash_lasts_until_a_page_is_there_again() {
        let states = TabStates::default();
        states.note(&cdp("Inspector.targetCrashed", json!({}), Some("child")));
        assert!(!states.is_crashed(TAB), "a frame is not the page");
        states.note(&cdp("Inspector.targetCrashed", json!({}), None));
        assert!(states.is_crashed(TAB));
        states.note(&cdp("Page.frameNavigated", json!({ "frame": { "id": "B", "parentId": "A" } }), None));
        assert!(states.is_crashed(TAB));
        states.note(&cdp("Page.frameNavigated", json!({ "frame": { "id": "A" } }), None));
        assert!(!states.is_crashed(TAB));
    }

    #[test]
    fn request_is_open_until_it_ends_or_its_page_goes() {
        let states = TabStates::default();
        let sent = |id: &str, loader: &str, kind: &str| {
            let params = json!({ "requestId": id, "loaderId": loader, "type": kind });
            states.note(&cdp("Network.requestWillBeSent", params, None));
        };
        sent("1", "L1", "Fetch");
        sent("2", "L1", "XHR");
        sent("3", "L1", "EventSource");
        assert_eq!(states.traffic(TAB).0, 2);
        states.note(&cdp("Network.loadingFinished", json!({ "requestId": "1" }), None));
        assert_eq!(states.traffic(TAB).0, 1);
        sent("L2", "L2", "Document");
        states.note(&cdp("Page.frameNavigated", json!({ "frame": { "id": "A", "loaderId": "L2" } }), None));
        assert_eq!(states.traffic(TAB).0, 1, "only the new document's own");
        let detached = DebuggerDetached { tab_id: TAB, reason: "released".to_owned() };
        states.note(&BrowserEvent::Detached(Arc::new(detached)));
        assert_eq!(states.traffic(TAB), (0, None));
    }

    #[test]
    fn end_of_a_download_is_told_once() {
        let states = TabStates::default();
        assert_eq!(states.next_download(TAB), None);
        let begins = json!({ "guid": "g", "suggestedFilename": "bill.pdf", "url": "http://a/" });
        states.note(&cdp("Page.downloadWillBegin", begins, None));
        let state = || states.next_download(TAB).map(|download| (download.name, download.state));
        assert_eq!(state(), Some(("bill.pdf".to_owned(), "in_progress".to_owned())));
        assert!(state().is_some(), "it is not over");
        states.note(&cdp("Page.downloadProgress", json!({ "guid": "g", "state": "completed" }), None));
        assert_eq!(state(), Some(("bill.pdf".to_owned(), "complete".to_owned())));
        assert_eq!(state(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn demand_for_a_password_is_a_question_as_long_as_it_stands() {
        let states = TabStates::default();
        let sent = json!({
            "requestId": "1", "loaderId": "1", "type": "Document", "request": { "url": "http://a.test/x" },
        });
        let demand = json!({
            "requestId": "1", "statusCode": 401, "headers": { "WWW-Authenticate": "Basic realm=\"Vault\"" },
        });
        states.note(&cdp("Network.requestWillBeSent", sent, None));
        states.note(&cdp("Network.responseReceivedExtraInfo", demand, None));
        assert_eq!(states.auth_prompt(TAB), None, "a script's request is answered in a moment");
        tokio::time::advance(PROMPTS).await;
        let dialog = states.auth_prompt(TAB).unwrap();
        assert_eq!(dialog.kind, "auth");
        assert!(dialog.message.contains("a.test") && dialog.message.contains("Vault"), "{dialog:?}");
        states.note(&cdp("Network.responseReceived", json!({ "requestId": "1" }), None));
        assert_eq!(states.auth_prompt(TAB), None);
    }

    #[test]
    fn only_what_browsers_ask_the_person_for_is_a_demand() {
        let realm = |header: &str, words: &str, status: u16| {
            password_realm(&json!({ "statusCode": status, "headers": { header: words } }))
        };
        assert_eq!(realm("www-authenticate", "Basic realm=\"A b\", charset=x", 401).as_deref(), Some("A b"));
        assert_eq!(realm("Proxy-Authenticate", "Digest qop=auth", 407).as_deref(), Some(""));
        assert_eq!(realm("www-authenticate", "Bearer realm=\"api\"", 401), None);
        assert_eq!(realm("www-authenticate", "Basic", 403), None);
    }
}
