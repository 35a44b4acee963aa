//! Dialogs that are open right now: those of JavaScript and the print window. A page with an open dialog answers
//! nothing, so every command for it ends with the dialog instead of waiting.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::extension_context::BrowserEvent;
use crate::page::TELL;
use crate::protocol::{CdpEvent, TabEventKind, TabId};

/// How long a page that opened the print window may take to answer something, which says that the window did not
/// hold it up: some browsers show none.
const PRINTS: Duration = Duration::from_millis(100);

/// Characters of a dialog's text that are kept.
const MESSAGE_CAP: usize = 1_000;

/// An open `alert`, `confirm`, `prompt`, `beforeunload`, `print` (the print window) or `auth` (the browser's
/// question for a user name and a password).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt`, `beforeunload`, `print` or `auth`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it says (page text), at most 1,000 characters.
    #[serde(default)]
    pub message: String,
    /// What a prompt offers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub default_prompt: String,
}

impl Dialog {
    /// The print window.
    pub(super) fn print() -> Self {
        Self {
            kind: "print".to_owned(),
            message: "The page opened the print window.".to_owned(),
            default_prompt: String::new(),
        }
    }

    /// The browser's question for a user name and a password.
    pub(super) fn auth(url: &str, realm: &str) -> Self {
        let url = url::Url::parse(url).ok();
        let host = url.as_ref().and_then(url::Url::host_str).unwrap_or("The server");
        let named = if realm.is_empty() { String::new() } else { format!(" for {realm:?}") };
        Self {
            kind: "auth".to_owned(),
            message: format!("{host} asks for a user name and a password{named}."),
            default_prompt: String::new(),
        }
    }

    pub(super) fn is_print(&self) -> bool {
        self.kind == "print"
    }

    /// Only the person can answer it, or close it.
    pub(super) fn is_for_the_person(&self) -> bool {
        matches!(self.kind.as_str(), "print" | "auth")
    }

    fn opened(params: &serde_json::Value) -> Option<Self> {
        let mut dialog: Self = serde_json::from_value(params.clone()).ok()?;
        dialog.message = dialog.message.chars().take(MESSAGE_CAP).collect();
        dialog.default_prompt = dialog.default_prompt.chars().take(MESSAGE_CAP).collect();
        Some(dialog)
    }
}

/// What an event tells of a tab's dialog.
pub(super) enum Change {
    Opened(Dialog),
    Closed,
}

/// What an event tells of the dialogs of its tab.
pub(super) fn change(event: &CdpEvent) -> Option<Change> {
    let text = |pointer: &str| event.params.pointer(pointer).and_then(serde_json::Value::as_str);
    match event.method.as_str() {
        "Page.javascriptDialogOpening" => Dialog::opened(&event.params).map(Change::Opened),
        "Page.javascriptDialogClosed" => Some(Change::Closed),
        "Runtime.bindingCalled" if text("/name") == Some(TELL) => match text("/payload")? {
            "print" => Some(Change::Opened(Dialog::print())),
            "printed" => Some(Change::Closed),
            _ => None,
        },
        _ => None,
    }
}

/// The open dialogs of all tabs of one session.
#[derive(Debug)]
pub(super) struct OpenDialogs {
    open: watch::Sender<HashMap<TabId, Dialog>>,
}

impl Default for OpenDialogs {
    fn default() -> Self {
        Self { open: watch::Sender::new(HashMap::new()) }
    }
}

/// Whether the browser itself, not the waiting page, answers this command.
pub(super) fn works_while_open(method: &str) -> bool {
    matches!(
        method,
        "Fetch.continueRequest"
            | "Fetch.disable"
            | "Fetch.enable"
            | "Fetch.failRequest"
            | "Page.handleJavaScriptDialog"
            | "Page.bringToFront"
            | "Page.close"
            | "Page.getNavigationHistory"
            // Printing into a file tells the page what the print window tells it.
            | "Page.printToPDF"
            | "Target.setAutoAttach"
    )
}

impl OpenDialogs {
    /// Keeps up with what happens.
    pub(super) fn note(&self, event: &BrowserEvent) {
        match event {
            BrowserEvent::Cdp(event) => {
                let Some(tab) = event.tab_id else { return };
                match change(event) {
                    Some(Change::Opened(dialog)) => self.open.send_modify(|open| {
                        open.insert(tab, dialog);
                    }),
                    Some(Change::Closed) => self.forget(tab),
                    // A new document in the tab: whatever the old one asked is over.
                    None if event.method == "Page.frameNavigated"
                        && event.params.pointer("/frame/parentId").is_none() =>
                    {
                        self.forget(tab);
                    }
                    // So is what a crashed one asked.
                    None if event.method == "Inspector.targetCrashed" && event.cdp_session_id.is_none() => {
                        self.forget(tab);
                    }
                    None => {}
                }
            }
            BrowserEvent::Detached(detached) => self.forget(detached.tab_id),
            BrowserEvent::Tab(event) if event.event == TabEventKind::Removed => self.forget(event.tab_id),
            BrowserEvent::Tab(_) | BrowserEvent::Download(_) => {}
        }
    }

    fn forget(&self, tab: TabId) {
        self.open.send_if_modified(|open| open.remove(&tab).is_some());
    }

    /// The open dialog of a tab.
    pub(super) fn of(&self, tab: TabId) -> Option<Dialog> {
        self.open.borrow().get(&tab).cloned()
    }

    /// The page answered something, so no print window holds it up.
    pub(super) fn page_answered(&self, tab: TabId, method: &str) {
        let by_page = ["Runtime.", "DOM.", "Input.", "Page.getFrameTree", "Page.printToPDF"];
        if by_page.iter().any(|known| method.starts_with(known)) {
            self.open.send_if_modified(|open| {
                let prints = open.get(&tab).is_some_and(Dialog::is_print);
                prints && open.remove(&tab).is_some()
            });
        }
    }

    /// Waits until a dialog holds up the page of the tab. Never ends otherwise.
    pub(super) async fn opened(&self, tab: TabId) -> Dialog {
        let mut open = self.open.subscribe();
        loop {
            let known = open.borrow_and_update().get(&tab).cloned();
            match known {
                Some(dialog) if !dialog.is_print() => return dialog,
                Some(dialog) => {
                    if tokio::time::timeout(PRINTS, open.changed()).await.is_err() {
                        return dialog;
                    }
                }
                None => {
                    if open.changed().await.is_err() {
                        std::future::pending::<()>().await;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::protocol::SessionId;

    fn event(tab: i64, method: &str, params: serde_json::Value) -> BrowserEvent {
        BrowserEvent::Cdp(Arc::new(CdpEvent {
            session_id: SessionId::from("sp-1"),
            tab_id: Some(TabId(tab)),
            cdp_session_id: None,
            method: method.to_owned(),
            params,
        }))
    }

    #[test]
    fn dialog_is_open_until_the_page_says_closed() {
        let dialogs = OpenDialogs::default();
        dialogs.note(&event(
            1,
            "Page.javascriptDialogOpening",
            json!({ "type": "confirm", "message": "Sure?", "url": "http://a/", "hasBrowserHandler": false }),
        ));
        assert_eq!(dialogs.of(TabId(1)).map(|dialog| dialog.message), Some("Sure?".to_owned()));
        assert_eq!(dialogs.of(TabId(2)), None);
        dialogs.note(&event(1, "Page.javascriptDialogClosed", json!({ "result": true })));
        assert_eq!(dialogs.of(TabId(1)), None);
    }

    #[test]
    fn a_new_document_ends_the_dialog_and_a_new_frame_does_not() {
        let dialogs = OpenDialogs::default();
        let opening = event(1, "Page.javascriptDialogOpening", json!({ "type": "alert", "message": "Hi" }));
        dialogs.note(&opening);
        dialogs.note(&event(1, "Page.frameNavigated", json!({ "frame": { "id": "B", "parentId": "A" } })));
        assert!(dialogs.of(TabId(1)).is_some());
        dialogs.note(&event(1, "Page.frameNavigated", json!({ "frame": { "id": "A" } })));
        assert_eq!(dialogs.of(TabId(1)), None);
    }

    #[test]
    fn print_window_is_a_dialog_until_it_is_closed() {
        let dialogs = OpenDialogs::default();
        let told = |name: &str, payload: &str| {
            let params = json!({ "name": name, "payload": payload, "executionContextId": 4 });
            dialogs.note(&event(1, "Runtime.bindingCalled", params));
        };
        told("somebody else's", "print");
        assert_eq!(dialogs.of(TabId(1)), None);
        told(TELL, "print");
        assert_eq!(dialogs.of(TabId(1)).map(|dialog| dialog.kind), Some("print".to_owned()));
        told(TELL, "printed");
        assert_eq!(dialogs.of(TabId(1)), None);
    }

    #[tokio::test(start_paused = true)]
    async fn print_window_that_nobody_sees_holds_up_nothing() {
        let dialogs = OpenDialogs::default();
        let params = json!({ "name": TELL, "payload": "print" });
        dialogs.note(&event(1, "Runtime.bindingCalled", params));
        let started = tokio::time::Instant::now();
        let dialog = dialogs.opened(TabId(1)).await;
        assert_eq!((dialog.kind.as_str(), started.elapsed()), ("print", PRINTS));
        dialogs.page_answered(TabId(1), "Network.enable");
        assert!(dialogs.of(TabId(1)).is_some(), "the browser answered, not the page");
        dialogs.page_answered(TabId(1), "Runtime.callFunctionOn");
        assert_eq!(dialogs.of(TabId(1)), None);
    }
}
