//! JavaScript dialogs that are open right now. A page with an open dialog answers nothing, so every command
//! for it ends with the dialog instead of waiting.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::extension_context::BrowserEvent;
use crate::protocol::{TabEventKind, TabId};

/// Characters of a dialog's text that are kept.
const MESSAGE_CAP: usize = 1_000;

/// An open `alert`, `confirm`, `prompt` or `beforeunload`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dialog {
    /// `alert`, `confirm`, `prompt` or `beforeunload`.
    #[serde(rename = "type")]
    pub kind: String,
    /// What it says (page text), at most 1,000 characters.
    #[serde(default)]
    pub message: String,
    /// What a prompt offers.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub default_prompt: String,
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
        "Page.handleJavaScriptDialog" | "Page.bringToFront" | "Page.close" | "Target.setAutoAttach"
    )
}

impl OpenDialogs {
    /// Keeps up with what happens.
    pub(super) fn note(&self, event: &BrowserEvent) {
        match event {
            BrowserEvent::Cdp(event) => {
                let Some(tab) = event.tab_id else { return };
                match event.method.as_str() {
                    "Page.javascriptDialogOpening" => {
                        if let Ok(mut dialog) = serde_json::from_value::<Dialog>(event.params.clone()) {
                            dialog.message = dialog.message.chars().take(MESSAGE_CAP).collect();
                            dialog.default_prompt = dialog.default_prompt.chars().take(MESSAGE_CAP).collect();
                            self.open.send_modify(|open| {
                                open.insert(tab, dialog);
                            });
                        }
                    }
                    "Page.javascriptDialogClosed" => self.forget(tab),
                    // A new document in the tab: whatever the old one asked is over.
                    "Page.frameNavigated" if event.params.pointer("/frame/parentId").is_none() => {
                        self.forget(tab)
                    }
                    _ => {}
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

    /// Waits until a dialog is open in the tab. Never ends otherwise.
    pub(super) async fn opened(&self, tab: TabId) -> Dialog {
        let mut open = self.open.subscribe();
        loop {
            if let Some(dialog) = open.borrow_and_update().get(&tab) {
                return dialog.clone();
            }
            if open.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::protocol::{CdpEvent, SessionId};

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
}
