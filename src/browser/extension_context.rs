//! Requests to the extension on behalf of one session: pending calls, the pinned tab, events.

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::address::origin_of;
use super::cdp::{ALLOWED_METHODS, CDP_TIMEOUT, CdpError, TAB_TIMEOUT, Target};
use super::dialogs::{self, Dialog, OpenDialogs};
use crate::protocol::{
    BridgeCall, CallId, CdpEvent, CdpSend, DebuggerDetached, DownloadEvent, Outbound, SessionId, TabCall,
    TabEvent, TabHeld, TabId, TabInfo, TabNew, ToolResult,
};
use crate::rpc::Pending;

/// Events a slow listener may fall behind before it misses some and is told so. Paid for by every session,
/// about 40 bytes each.
const EVENT_BACKLOG: usize = 512;

/// The way to the session's client.
pub trait Wire: Send + Sync + 'static {
    /// Queues a message. Never waits.
    ///
    /// # Errors
    /// [`WireError`]; nothing was sent then.
    fn send(&self, message: Outbound) -> Result<(), WireError>;

    /// Whether the client announced this capability.
    fn has(&self, capability: &str) -> bool;
}

/// Why a message did not go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The client is gone.
    #[error("the client is gone")]
    Closed,
    /// Too long for one frame.
    #[error("the message of {bytes} bytes is too long for the browser")]
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
    },
}

/// Something that happened in the browser.
#[derive(Debug, Clone)]
pub enum BrowserEvent {
    /// A DevTools event of a tab this session uses.
    Cdp(Arc<CdpEvent>),
    /// A tab came, went or changed.
    Tab(Arc<TabEvent>),
    /// A download changed.
    Download(Arc<DownloadEvent>),
    /// The debugger left a tab.
    Detached(Arc<DebuggerDetached>),
}

/// One session's line to the extension.
pub struct ExtensionContext {
    session: SessionId,
    wire: Arc<dyn Wire>,
    pending: Pending<CallId, ToolResult>,
    events: broadcast::Sender<BrowserEvent>,
    pinned: watch::Sender<Option<TabId>>,
    dialogs: OpenDialogs,
    /// Set for a DevTools panel: the tab it inspects, which nothing overrides.
    inspected: Option<TabId>,
}

impl ExtensionContext {
    /// A line for `session`. `inspected` binds it to that tab for good.
    pub fn new(session: SessionId, wire: Arc<dyn Wire>, inspected: Option<TabId>) -> Self {
        Self {
            session,
            wire,
            pending: Pending::default(),
            events: broadcast::Sender::new(EVENT_BACKLOG),
            pinned: watch::Sender::new(inspected),
            dialogs: OpenDialogs::default(),
            inspected,
        }
    }

    /// The session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The inspected tab of a DevTools panel.
    pub fn inspected(&self) -> Option<TabId> {
        self.inspected
    }

    /// Whether the client announced this capability.
    pub fn has(&self, capability: &str) -> bool {
        self.wire.has(capability)
    }

    /// Ends every open call with [`CdpError::Closed`] and refuses new ones.
    pub fn close(&self) {
        self.pending.close();
    }

    /// Calls that wait for an answer.
    pub fn open_calls(&self) -> usize {
        self.pending.len()
    }

    /// Hands an answer to its call. `false`: nobody waits for it (late, repeated, or forged).
    pub fn resolve(&self, result: ToolResult) -> bool {
        let id = result.call_id.clone();
        self.pending.answer(&id, result).is_ok()
    }

    /// Tells listeners what happened.
    pub fn publish(&self, event: BrowserEvent) {
        self.dialogs.note(&event);
        // No listener is the normal case between tool calls.
        let _ = self.events.send(event);
    }

    /// Everything that happens from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<BrowserEvent> {
        self.events.subscribe()
    }

    /// The dialog that is open in a tab. Known once the `Page` domain is enabled there.
    pub fn dialog(&self, tab: TabId) -> Option<Dialog> {
        self.dialogs.of(tab)
    }

    /// Waits until a dialog is open in the tab; it may be open already. Never ends otherwise.
    pub async fn dialog_opened(&self, tab: TabId) -> Dialog {
        self.dialogs.opened(tab).await
    }

    /// The tab the session works on.
    pub fn pinned(&self) -> Option<TabId> {
        *self.pinned.borrow()
    }

    /// Makes `tab` the one the session works on and tells the panel. A bound session stays where it is.
    pub fn pin(&self, tab: &TabInfo) {
        if self.inspected.is_some_and(|inspected| inspected != tab.tab_id) {
            return;
        }
        self.pinned.send_replace(Some(tab.tab_id));
        if self.wire.has("tabs.held") {
            let held = TabHeld {
                session_id: self.session.clone(),
                tab_id: tab.tab_id,
                url: tab.url.clone(),
                title: tab.title.clone(),
                origin: origin_of(&tab.url),
            };
            let _ = self.wire.send(Outbound::TabHeld(held));
        }
    }

    /// Sends one DevTools command and waits for its result.
    ///
    /// # Errors
    /// See [`CdpError`]. Waits 30 s at most; ends at once with [`CdpError::Dialog`] when a dialog is open in
    /// the tab or opens meanwhile (the command may have been carried out then).
    ///
    /// # Cancel safety
    /// Dropping the future forgets the call; a late answer is dropped.
    pub async fn cdp(
        &self,
        cancel: &CancellationToken,
        target: &Target,
        method: &'static str,
        params: Value,
    ) -> Result<Value, CdpError> {
        self.cdp_within(cancel, target, method, params, CDP_TIMEOUT).await
    }

    /// [`cdp`](Self::cdp) with a deadline of its own.
    ///
    /// # Errors
    /// See [`CdpError`].
    pub async fn cdp_within(
        &self,
        cancel: &CancellationToken,
        target: &Target,
        method: &'static str,
        params: Value,
        within: Duration,
    ) -> Result<Value, CdpError> {
        if !ALLOWED_METHODS.contains(&method) {
            return Err(CdpError::NotAllowed(method.to_owned()));
        }
        let request = self.request(cancel, method, within, |session_id, call_id| {
            Outbound::CdpSend(CdpSend {
                session_id,
                call_id,
                tab_id: Some(target.tab),
                cdp_session_id: target.session.clone(),
                method: method.to_owned(),
                params,
            })
        });
        // A page with an open dialog answers nothing until somebody answers the dialog.
        let mut result = tokio::select! {
            biased;
            dialog = self.dialogs.opened(target.tab), if !dialogs::works_while_open(method) => {
                return Err(CdpError::Dialog(dialog));
            }
            result = request => result?,
        };
        match result.get_mut("result") {
            Some(inner) => Ok(inner.take()),
            None => Err(CdpError::Malformed { method: method.to_owned(), detail: "no `result`".to_owned() }),
        }
    }

    /// All tabs of all windows.
    ///
    /// # Errors
    /// See [`CdpError`]. Waits 15 s at most.
    pub async fn tabs(&self, cancel: &CancellationToken) -> Result<Vec<TabInfo>, CdpError> {
        self.tab_request(cancel, "tab.list", |session_id, call_id| {
            Outbound::TabList(BridgeCall { session_id, call_id })
        })
        .await
    }

    /// The tab in front of the panel's window, or the inspected one.
    ///
    /// # Errors
    /// See [`CdpError`]. Waits 15 s at most.
    pub async fn active_tab(&self, cancel: &CancellationToken) -> Result<Option<TabInfo>, CdpError> {
        self.tab_request(cancel, "tab.getActive", |session_id, call_id| {
            Outbound::TabGetActive(BridgeCall { session_id, call_id })
        })
        .await
    }

    /// Opens a tab.
    ///
    /// # Errors
    /// See [`CdpError`]. Waits 15 s at most.
    pub async fn new_tab(
        &self,
        cancel: &CancellationToken,
        url: Option<String>,
        active: bool,
    ) -> Result<TabInfo, CdpError> {
        self.tab_request(cancel, "tab.new", |session_id, call_id| {
            Outbound::TabNew(TabNew { session_id, call_id, url, active: Some(active) })
        })
        .await
    }

    /// Brings a tab to the front.
    ///
    /// # Errors
    /// See [`CdpError`]. Waits 15 s at most.
    pub async fn activate_tab(&self, cancel: &CancellationToken, tab_id: TabId) -> Result<TabInfo, CdpError> {
        self.tab_request(cancel, "tab.activate", |session_id, call_id| {
            Outbound::TabActivate(TabCall { session_id, call_id, tab_id })
        })
        .await
    }

    /// Closes a tab. The client must have announced `tabs.close`.
    ///
    /// # Errors
    /// See [`CdpError`]. Waits 15 s at most.
    pub async fn close_tab(&self, cancel: &CancellationToken, tab_id: TabId) -> Result<(), CdpError> {
        self.tab_request::<Value>(cancel, "tab.close", |session_id, call_id| {
            Outbound::TabClose(TabCall { session_id, call_id, tab_id })
        })
        .await
        .map(drop)
    }

    async fn tab_request<T: DeserializeOwned>(
        &self,
        cancel: &CancellationToken,
        what: &'static str,
        message: impl FnOnce(SessionId, CallId) -> Outbound,
    ) -> Result<T, CdpError> {
        let result = self.request(cancel, what, TAB_TIMEOUT, message).await?;
        serde_json::from_value(result)
            .map_err(|error| CdpError::Malformed { method: what.to_owned(), detail: error.to_string() })
    }

    async fn request(
        &self,
        cancel: &CancellationToken,
        what: &'static str,
        within: Duration,
        message: impl FnOnce(SessionId, CallId) -> Outbound,
    ) -> Result<Value, CdpError> {
        let call_id = CallId::random();
        let mut waiting = self.pending.open(call_id.clone());
        self.wire.send(message(self.session.clone(), call_id)).map_err(|error| match error {
            WireError::Closed => CdpError::Closed,
            WireError::TooLarge { .. } => CdpError::Refused(error.to_string()),
        })?;
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(CdpError::Cancelled),
            answer = tokio::time::timeout(within, waiting.answer()) => answer,
        };
        match answer {
            Err(_) => Err(CdpError::Timeout { method: what.to_owned(), after: within }),
            Ok(None) => Err(CdpError::Closed),
            Ok(Some(ToolResult { ok: true, result, .. })) => Ok(result),
            Ok(Some(ToolResult { error, .. })) => {
                Err(CdpError::Refused(error.unwrap_or_else(|| format!("{what} failed without saying why"))))
            }
        }
    }
}
