//! What the browser's events tell of a navigation, and what that means.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::dialogs::{self, Change, Dialog};
use super::downloads::Downloads;
use super::extension_context::BrowserEvent;
use super::navigation::{Arrival, LIMIT};
use super::refusal::{Class, Refusal};
use super::tab_states::{PROMPTS, password_realm};
use crate::protocol::{CdpEvent, TabEventKind, TabId, TabInfo};

/// How long pictures and frames of a page that can be read already are waited for.
const REST: Duration = Duration::from_secs(5);

/// How long after loading a page may begin to go on to another one by itself.
const FORWARDS: Duration = Duration::from_millis(150);

/// The browser's word for a navigation that was given up: a download, an empty answer, another navigation.
const ABORTED: &str = "net::ERR_ABORTED";

/// How long after a navigation that came to nothing its download may be announced.
const DOWNLOAD: Duration = Duration::from_millis(500);

/// The type of documents that the browser shows in a viewer of its own.
pub(super) const PDF: &str = "application/pdf";

/// What the events told so far.
#[derive(Debug, Default)]
pub(super) struct Landing {
    /// The tab's own frame; `None`: not known, the page cannot be asked.
    pub(super) top: Option<String>,
    /// The request that brings the document.
    loader: Option<String>,
    asked: String,
    status: Option<u16>,
    /// The server wants a password: since when, and the question.
    wants_password: Option<(Instant, Dialog)>,
    /// Its answer to the document's request is there.
    answered: bool,
    /// A navigation of this frame is under way.
    pub(super) under_way: Option<String>,
    pub(super) committed: bool,
    parsed_at: Option<Instant>,
    loaded_at: Option<Instant>,
    within: bool,
    /// The document is a PDF in the browser's own viewer.
    pub(super) pdf: bool,
    aborted_at: Option<Instant>,
    failed: Option<String>,
    /// What the browser says is wrong with the document, before the page that says so is there.
    failing: Option<String>,
    /// The page was kept alive and is shown again.
    restored: bool,
    crashed: bool,
    /// The page that is left answers nothing.
    pub(super) hangs: bool,
    pub(super) dialog: Option<Dialog>,
    pub(super) downloads: Downloads,
    pub(super) closed: bool,
    pub(super) late: bool,
}

impl Landing {
    /// Of the tab whose own frame is `top`.
    pub(super) fn of(top: Option<String>) -> Self {
        Self { top, ..Self::default() }
    }

    /// Takes note of an event.
    pub(super) fn note(&mut self, event: &BrowserEvent, tab: TabId) {
        self.downloads.note(event, tab);
        match event {
            BrowserEvent::Cdp(event) if event.tab_id == Some(tab) => {
                self.note_network(event);
                self.note_page(event);
            }
            BrowserEvent::Tab(event) if event.event == TabEventKind::Removed && event.tab_id == tab => {
                self.closed = true;
            }
            _ => {}
        }
    }

    fn note_network(&mut self, event: &CdpEvent) {
        let text = |pointer: &str| event.params.pointer(pointer).and_then(Value::as_str);
        let number = |pointer: &str| {
            event.params.pointer(pointer).and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok())
        };
        let of_loader = self.loader.is_some() && text("/requestId") == self.loader.as_deref();
        match event.method.as_str() {
            "Network.requestWillBeSent"
                if text("/type") == Some("Document") && self.is_top(text("/frameId")) =>
            {
                self.loader = text("/requestId").map(str::to_owned);
                text("/request/url").unwrap_or_default().clone_into(&mut self.asked);
                (self.status, self.aborted_at, self.answered) = (None, None, false);
            }
            "Network.responseReceived" if of_loader => {
                self.status = number("/response/status");
                self.answered = true;
            }
            // Comes although the document waits for the person's password, or is none at all.
            "Network.responseReceivedExtraInfo" if of_loader => {
                self.status = number("/statusCode");
                if let Some(realm) = password_realm(&event.params) {
                    self.wants_password = Some((Instant::now(), Dialog::auth(&self.asked, &realm)));
                }
            }
            "Network.loadingFailed" if of_loader && !self.committed => {
                self.answered = true;
                self.aborted_at.get_or_insert_with(Instant::now);
                self.failing = text("/errorText").filter(|error| *error != ABORTED).map(str::to_owned);
            }
            _ => {}
        }
    }

    fn note_page(&mut self, event: &CdpEvent) {
        match dialogs::change(event) {
            Some(Change::Opened(dialog)) if !dialog.is_print() => self.dialog = Some(dialog),
            Some(Change::Opened(_)) => {}
            Some(Change::Closed) => self.dialog = None,
            None => {}
        }
        let text = |pointer: &str| event.params.pointer(pointer).and_then(Value::as_str);
        match event.method.as_str() {
            "Inspector.targetCrashed" if event.cdp_session_id.is_none() => self.crashed = true,
            "Page.frameStartedNavigating" | "Page.frameRequestedNavigation" | "Page.frameStartedLoading"
                if self.is_top(text("/frameId")) =>
            {
                self.under_way = text("/frameId").map(str::to_owned);
                (self.parsed_at, self.loaded_at) = (None, None);
            }
            "Page.frameNavigated" if text("/frame/parentId").is_none() => {
                self.top = text("/frame/id").map(str::to_owned);
                self.committed = true;
                (self.parsed_at, self.loaded_at, self.aborted_at) = (None, None, None);
                self.pdf = text("/frame/mimeType") == Some(PDF);
                if self.pdf {
                    // Its viewer never says that it is through.
                    (self.under_way, self.loaded_at) = (None, Some(Instant::now()));
                }
                self.restored = text("/type") == Some("BackForwardCacheRestore");
                if self.restored {
                    // It is as it was left: nothing is loaded, and nothing of that is told.
                    (self.under_way, self.loaded_at) = (None, Some(Instant::now()));
                }
                if text("/frame/unreachableUrl").is_some() {
                    let failing = self.failing.take().unwrap_or_else(|| "net::ERR_FAILED".to_owned());
                    self.failed.get_or_insert(failing);
                }
            }
            "Page.navigatedWithinDocument" if self.is_top(text("/frameId")) => {
                self.within = true;
                self.under_way = None;
            }
            "Page.domContentEventFired" if self.committed => self.parsed_at = Some(Instant::now()),
            "Page.loadEventFired" if self.committed => self.loaded_at = Some(Instant::now()),
            "Page.frameStoppedLoading" if self.under_way.as_deref() == text("/frameId") => {
                self.under_way = None;
                if self.committed {
                    self.loaded_at.get_or_insert_with(Instant::now);
                }
            }
            _ => {}
        }
    }

    fn is_top(&self, frame: Option<&str>) -> bool {
        frame.is_some() && (self.top.is_none() || self.top.as_deref() == frame)
    }

    /// The browser's answer to `Page.navigate`; it comes when the document does, or not at all.
    pub(super) fn note_answer(&mut self, answer: &Value) {
        let text = |name: &str| answer.get(name).and_then(Value::as_str);
        match text("errorText") {
            // A download, an empty answer, or another navigation that took its place.
            Some(ABORTED) => {
                self.aborted_at.get_or_insert_with(Instant::now);
            }
            Some(error) if self.committed => self.failed = Some(error.to_owned()),
            // The page that says so comes next; most often, that is.
            Some(error) => {
                self.failing = Some(error.to_owned());
                self.aborted_at.get_or_insert_with(Instant::now);
            }
            None if text("loaderId").is_none() => self.within = true,
            None => {}
        }
    }

    /// What the server answered, as far as that was heard.
    pub(super) fn status(&self) -> Option<u16> {
        self.status
    }

    pub(super) fn is_over(&self) -> bool {
        let passed =
            |since: Option<Instant>, time| since.is_some_and(|since: Instant| since.elapsed() >= time);
        self.dialog.is_some()
            || self.closed
            || self.crashed
            || self.password_question().is_some()
            || self.failed.is_some()
            || (self.downloads.any() && !self.downloads.are_under_way())
            || (self.within && self.under_way.is_none())
            || passed(self.loaded_at, FORWARDS)
            || passed(self.parsed_at, REST)
            || (passed(self.aborted_at, DOWNLOAD) && !self.downloads.any())
    }
}

impl Landing {
    /// The question for a password that lies over the tab: whoever did not see it would have got the page that
    /// the server sends along by now.
    fn password_question(&self) -> Option<&Dialog> {
        let (since, dialog) = self.wants_password.as_ref()?;
        (!self.answered && since.elapsed() >= PROMPTS).then_some(dialog)
    }

    pub(super) fn outcome(
        &self,
        url: &str,
        before: Option<TabInfo>,
        tab: Option<TabInfo>,
    ) -> Result<Arrival, Refusal> {
        let refusal = |class, error: String, browser: Option<&str>| {
            let mut navigation = json!({ "url": url });
            if let Some(status) = self.status {
                navigation["status"] = json!(status);
            }
            if let Some(browser) = browser {
                navigation["error"] = json!(browser);
            }
            Refusal::new(class, error).with("navigation", navigation)
        };
        if self.closed || tab.is_none() {
            return Err(refusal(Class::Closed, "The tab was closed. Call list_tabs.".to_owned(), None));
        }
        if let Some(dialog) =
            self.dialog.as_ref().filter(|dialog| !self.committed || dialog.kind == "beforeunload")
        {
            let error = if dialog.kind == "beforeunload" {
                "The page asks whether it may be left. Answer with handle_dialog: accept leaves it."
            } else {
                "A dialog of the page that is open now came first. Answer it with handle_dialog, then navigate again."
            };
            let refusal = refusal(Class::BlockedByDialog, error.to_owned(), None);
            return Err(refusal.with("dialog", json!(dialog)));
        }
        if self.crashed {
            let error = "The page crashed while it loaded. Call reload to try once more, or go elsewhere.";
            return Err(refusal(Class::Crashed, error.to_owned(), None));
        }
        if let Some(question) = self.password_question() {
            let error = "The browser asks for a user name and a password, which only the person enters. Call \
                         await_user, or handle_dialog dismiss.";
            let refusal = refusal(Class::BlockedByDialog, error.to_owned(), None);
            return Err(refusal.with("dialog", json!(question)));
        }
        if self.wants_password.is_some() && matches!(self.status, Some(401 | 407)) {
            let error = "The address asks for a user name and a password (HTTP authentication), and got none: \
                         only the person enters them. Call await_user, or go elsewhere.";
            return Err(refusal(Class::NotAllowed, error.to_owned(), self.failed.as_deref()));
        }
        if let Some(error) = self.failed.as_ref().or(self.failing.as_ref()) {
            return Err(refusal(class_of(error), in_words(error), Some(error)));
        }
        let empty = matches!(self.status, Some(204 | 205));
        if self.aborted_at.is_some() && !self.committed && !self.downloads.any() && !empty {
            let error = "The navigation was given up: the page or another navigation took its place. Look with \
                         inspect_page.";
            return Err(refusal(Class::Navigated, error.to_owned(), Some(ABORTED)));
        }
        if self.late && !self.committed && self.hangs {
            let error = "The page is busy with a script that does not end, so it cannot be left. Open the address with \
                         new_tab and close this tab.";
            return Err(refusal(Class::Timeout, error.to_owned(), None));
        }
        if self.late && !self.committed {
            let error = format!(
                "The server did not answer within {} s; the page may still come (wait_for url_contains).",
                LIMIT.as_secs()
            );
            return Err(refusal(Class::Timeout, error, None));
        }
        let address = |tab: &Option<TabInfo>| tab.as_ref().map(|tab| tab.url.clone());
        Ok(Arrival {
            url_changed: address(&tab) != address(&before),
            status: self.status,
            restored: self.restored,
            dialog: self.dialog.clone(),
            download: self.downloads.first(),
            hint: self.hint(empty),
            tab,
        })
    }

    fn hint(&self, empty: bool) -> Option<String> {
        if let Some(dialog) = &self.dialog {
            return Some(format!(
                "The page opened a dialog ({}); answer it with handle_dialog.",
                dialog.kind
            ));
        }
        if self.downloads.any() {
            return Some(
                "The address is a file, which is being downloaded; the tab stays where it was.".to_owned(),
            );
        }
        if empty {
            return Some("The server answered with nothing to show; the tab stays where it was.".to_owned());
        }
        if self.status.is_some_and(|status| status >= 400) {
            return Some("The server answered with an error; read what its page says.".to_owned());
        }
        let loaded = self.loaded_at.is_some() || self.within;
        (!loaded).then(|| "The page can be used, but parts of it are still loading.".to_owned())
    }
}

fn class_of(error: &str) -> Class {
    match error {
        "net::ERR_NAME_NOT_RESOLVED" | "net::ERR_INVALID_URL" | "net::ERR_UNKNOWN_URL_SCHEME" => {
            Class::BadArgument
        }
        "net::ERR_CACHE_MISS" | "net::ERR_INVALID_AUTH_CREDENTIALS" => Class::NotAllowed,
        _ if error.starts_with("net::ERR_BLOCKED") || error.starts_with("net::ERR_CERT") => Class::NotAllowed,
        _ => Class::Timeout,
    }
}

fn in_words(error: &str) -> String {
    let why = match error {
        "net::ERR_NAME_NOT_RESOLVED" => "there is no such host",
        "net::ERR_CACHE_MISS" => {
            "it is the answer to a form that was sent, and the browser does not send it again by itself"
        }
        "net::ERR_INVALID_AUTH_CREDENTIALS" => {
            "it asks for a user name and a password, which only the person enters"
        }
        "net::ERR_CONNECTION_REFUSED" => "nothing answers at that address",
        "net::ERR_INTERNET_DISCONNECTED" => "this computer is offline",
        "net::ERR_TOO_MANY_REDIRECTS" => "it is sent round in circles",
        "net::ERR_CONNECTION_TIMED_OUT" | "net::ERR_TIMED_OUT" => "the server did not answer",
        _ if error.starts_with("net::ERR_CERT") => {
            "its certificate is not valid, which only the person may overrule"
        }
        _ if error.starts_with("net::ERR_BLOCKED") => "the browser or an extension blocks it",
        _ => "the browser gave it up",
    };
    format!(
        "The page did not load: {why} ({}). Check the address, or go elsewhere.",
        super::text::clean(error, 80)
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::SessionId;

    const TAB: TabId = TabId(7);

    fn cdp(method: &str, params: Value) -> BrowserEvent {
        BrowserEvent::Cdp(Arc::new(CdpEvent {
            session_id: SessionId::from("sp-1"),
            tab_id: Some(TAB),
            cdp_session_id: None,
            method: method.to_owned(),
            params,
        }))
    }

    fn landing(events: &[(&str, Value)]) -> Landing {
        let mut landing = Landing { top: Some("A".to_owned()), ..Landing::default() };
        for (method, params) in events {
            landing.note(&cdp(method, params.clone()), TAB);
        }
        landing
    }

    fn tab() -> Option<TabInfo> {
        Some(TabInfo {
            tab_id: TAB,
            url: "http://a/".to_owned(),
            title: String::new(),
            active: true,
            window_id: None,
        })
    }

    #[test]
    fn frames_of_the_page_are_not_taken_for_it() {
        let landing = landing(&[
            ("Network.requestWillBeSent", json!({ "type": "Document", "frameId": "B", "requestId": "2" })),
            ("Network.responseReceived", json!({ "requestId": "2", "response": { "status": 200 } })),
            ("Page.frameNavigated", json!({ "frame": { "id": "B", "parentId": "A" } })),
            ("Page.loadEventFired", json!({})),
            ("Page.frameStoppedLoading", json!({ "frameId": "B" })),
        ]);
        assert!(!landing.is_over() && landing.status.is_none() && !landing.committed);
    }

    #[tokio::test(start_paused = true)]
    async fn page_is_there_when_loaded_and_it_does_not_go_on() {
        let mut landing = landing(&[
            ("Page.frameNavigated", json!({ "frame": { "id": "A" } })),
            ("Page.loadEventFired", json!({})),
        ]);
        assert!(!landing.is_over());
        landing.note(&cdp("Page.frameStartedNavigating", json!({ "frameId": "A" })), TAB);
        tokio::time::advance(FORWARDS).await;
        assert!(!landing.is_over(), "it goes on to another page");
        landing.note(&cdp("Page.frameNavigated", json!({ "frame": { "id": "A" } })), TAB);
        landing.note(&cdp("Page.loadEventFired", json!({})), TAB);
        tokio::time::advance(FORWARDS).await;
        assert!(landing.is_over());
    }

    fn demand(more: &[(&str, Value)]) -> Landing {
        let mut events = vec![
            (
                "Network.requestWillBeSent",
                json!({
                    "type": "Document", "frameId": "A", "requestId": "1", "request": { "url": "http://a/" },
                }),
            ),
            (
                "Network.responseReceivedExtraInfo",
                json!({
                    "requestId": "1", "statusCode": 401, "headers": { "WWW-Authenticate": "Basic realm=x" },
                }),
            ),
        ];
        events.extend_from_slice(more);
        landing(&events)
    }

    #[tokio::test(start_paused = true)]
    async fn password_question_is_told_without_a_document() {
        let landing = demand(&[]);
        assert!(!landing.is_over(), "the answer may be there in a moment");
        tokio::time::advance(PROMPTS).await;
        assert!(landing.is_over());
        let refusal = landing.outcome("http://a/", None, tab()).unwrap_err();
        assert_eq!(refusal.class, Class::BlockedByDialog);
        assert_eq!(refusal.details["dialog"]["type"], "auth");
        assert_eq!(refusal.details["navigation"]["status"], 401);
    }

    #[tokio::test(start_paused = true)]
    async fn browser_that_asks_nobody_for_the_password_says_so() {
        let answer = json!({ "requestId": "1", "response": { "status": 401 } });
        let page = json!({ "frame": { "id": "A", "unreachableUrl": "http://a/" } });
        let landing = demand(&[
            ("Network.responseReceived", answer),
            (
                "Network.loadingFailed",
                json!({ "requestId": "1", "errorText": "net::ERR_INVALID_AUTH_CREDENTIALS" }),
            ),
            ("Page.frameNavigated", page),
        ]);
        assert!(landing.is_over());
        let refusal = landing.outcome("http://a/", None, tab()).unwrap_err();
        assert_eq!(
            (refusal.class, &refusal.details["navigation"]["status"]),
            (Class::NotAllowed, &json!(401))
        );
    }

    #[tokio::test(start_paused = true)]
    async fn page_that_was_kept_alive_is_there_without_loading() {
        let back = json!({ "frame": { "id": "A" }, "type": "BackForwardCacheRestore" });
        let landing = landing(&[
            ("Page.frameStartedNavigating", json!({ "frameId": "A" })),
            ("Page.frameNavigated", back),
        ]);
        tokio::time::advance(FORWARDS).await;
        assert!(landing.is_over());
        assert!(landing.outcome("http://a/", None, tab()).unwrap().restored);
    }

    #[test]
    fn page_that_crashes_while_it_loads_is_no_success() {
        let landing = landing(&[("Inspector.targetCrashed", json!({}))]);
        assert!(landing.is_over());
        assert_eq!(landing.outcome("http://a/", None, tab()).unwrap_err().class, Class::Crashed);
    }

    #[tokio::test(start_paused = true)]
    async fn error_of_the_browser_is_no_success() {
        let mut landing = landing(&[]);
        landing.note_answer(
            &json!({ "frameId": "A", "loaderId": "1", "errorText": "net::ERR_CONNECTION_REFUSED" }),
        );
        assert!(!landing.is_over(), "the page that says so comes next");
        tokio::time::advance(DOWNLOAD).await;
        assert!(landing.is_over());
        let refusal = landing.outcome("http://a/", None, tab()).unwrap_err();
        assert_eq!(refusal.details["navigation"]["error"], "net::ERR_CONNECTION_REFUSED");
    }
}
