//! Requests to the extension on behalf of one session: pending calls, the pinned tab, events.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use super::address::origin_of;
use super::cdp::{ALLOWED_METHODS, CDP_TIMEOUT, CdpError, TAB_TIMEOUT, Target};
use super::dialogs::{self, Dialog, OpenDialogs};
use super::downloads::{Download, Downloaded, FileId};
use super::recording::Recordings;
use super::tab_states::{TabStates, works_when_crashed};
use crate::protocol::{
    BridgeCall, CallId, CdpEvent, CdpSend, DebuggerDetached, DownloadEvent, DownloadStart, Outbound,
    SessionId, TabCall, TabEvent, TabHeld, TabId, TabInfo, TabNew, ToolResult,
};
use crate::rpc::Pending;

/// Events a slow listener may fall behind before it misses some and is told so. Paid for by every session,
/// about 40 bytes each.
const EVENT_BACKLOG: usize = 512;

/// How long the extension may take for a download, which it ends itself after 60 s.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(75);

/// How much later than its going the browser may tell that a tab has another id.
const REPLACED: Duration = Duration::from_millis(200);

/// How many bytes of answers the browser holds for each page, for those who ask for a body afterwards.
pub(super) fn network_buffers() -> Value {
    json!({ "maxTotalBufferSize": 10 << 20, "maxResourceBufferSize": 5 << 20 })
}

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
    /// Ids that tabs had before, and the ones they have now.
    replaced: watch::Sender<HashMap<TabId, TabId>>,
    dialogs: OpenDialogs,
    downloaded: Downloaded,
    states: TabStates,
    recordings: Recordings,
    /// Tabs whose page has a window of another size for this turn.
    pub(super) viewports: watch::Sender<BTreeMap<TabId, Value>>,
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
            replaced: watch::Sender::new(HashMap::new()),
            dialogs: OpenDialogs::default(),
            downloaded: Downloaded::default(),
            states: TabStates::default(),
            recordings: Recordings::default(),
            viewports: watch::Sender::new(BTreeMap::new()),
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
        if let BrowserEvent::Cdp(event) = &event
            && event.method == "Target.attachedToTarget"
        {
            self.record_child(event);
        }
        if self.recordings.note(&event) {
            return;
        }
        self.dialogs.note(&event);
        self.downloaded.note(&event);
        self.states.note(&event);
        if let BrowserEvent::Tab(event) = &event
            && let Some(old) = event.replaced_tab_id
        {
            self.note_replaced(old, event.tab_id);
        }
        // No listener is the normal case between tool calls.
        let _ = self.events.send(event);
    }

    /// The browser gave a tab another id, as it does when it puts one away: the old one goes on meaning it.
    fn note_replaced(&self, old: TabId, new: TabId) {
        self.replaced.send_modify(|replaced| {
            for known in replaced.values_mut().filter(|known| **known == old) {
                *known = new;
            }
            replaced.insert(old, new);
        });
        self.pinned.send_if_modified(|pinned| {
            let held = *pinned == Some(old);
            if held {
                *pinned = Some(new);
            }
            held
        });
    }

    /// The id that a tab has now: what was told of it may be an older one.
    pub fn current(&self, tab: TabId) -> TabId {
        self.replaced.borrow().get(&tab).copied().unwrap_or(tab)
    }

    /// Whether a tab that is said to be gone has another id now, which may be told a moment later.
    pub(super) async fn is_replaced_soon(&self, tab: TabId) -> bool {
        let mut replaced = self.replaced.subscribe();
        let told = replaced.wait_for(|replaced| replaced.contains_key(&tab));
        matches!(tokio::time::timeout(REPLACED, told).await, Ok(Ok(_)))
    }

    /// Everything that happens from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<BrowserEvent> {
        self.events.subscribe()
    }

    /// The dialog that is open in a tab, or the question for a password that lies over it. Known once the tab is
    /// [attended](Self::attend).
    pub fn dialog(&self, tab: TabId) -> Option<Dialog> {
        self.dialogs.of(tab).or_else(|| self.states.auth_prompt(tab))
    }

    /// Waits until a dialog that holds up the page is open in the tab; it may be open already. Never ends
    /// otherwise.
    pub async fn dialog_opened(&self, tab: TabId) -> Dialog {
        self.dialogs.opened(tab).await
    }

    /// An act started these downloads (the browser's ids): their files are the session's own.
    pub fn claim_downloads(&self, ids: &[i64]) {
        self.downloaded.claim(ids);
    }

    /// Whether an act of this session downloaded this very file, and nobody changed it since.
    pub fn downloaded(&self, file: &FileId) -> bool {
        self.downloaded.holds(file)
    }

    /// Makes the tab's page report what happens to it: dialogs, navigations, requests, a crash. Once per
    /// attachment of the debugger; free afterwards.
    ///
    /// # Errors
    /// See [`CdpError`]; ends at once when a dialog is open already, or the page crashed. Waits for `within`.
    pub async fn attend(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        within: Duration,
    ) -> Result<(), CdpError> {
        if self.states.is_attended(tab) {
            return Ok(());
        }
        let target = Target::tab(tab);
        let send = |method, params| self.cdp_within(cancel, &target, method, params, within);
        self.recordings.begin(tab);
        let (page, crash, network) = futures::future::join3(
            send("Page.enable", json!({})),
            send("Inspector.enable", json!({})),
            send("Network.enable", network_buffers()),
        )
        .await;
        if let Some(error) = [page, crash, network].into_iter().find_map(Result::err) {
            self.recordings.halt(tab);
            return Err(error);
        }
        self.states.attend(tab);
        self.record(&target);
        Ok(())
    }

    /// What was recorded of each tab.
    pub(super) fn recordings(&self) -> &Recordings {
        &self.recordings
    }

    /// Sends a command whose answer nobody waits for.
    pub(super) fn tell(&self, target: &Target, method: &'static str, params: Value) {
        if !ALLOWED_METHODS.contains(&method) {
            return;
        }
        // A client that is gone needs nothing told.
        let _ = self.wire.send(Outbound::CdpSend(CdpSend {
            session_id: self.session.clone(),
            call_id: CallId::random(),
            tab_id: Some(target.tab),
            cdp_session_id: target.session.clone(),
            method: method.to_owned(),
            params,
        }));
    }

    /// Whether the tab's page crashed and was not loaded again.
    pub fn is_crashed(&self, tab: TabId) -> bool {
        self.states.is_crashed(tab)
    }

    /// A reload waits, or does not, for the answer to the page's question.
    pub(super) fn note_reload_waits(&self, tab: TabId, waits: bool) {
        self.states.set_reload_waits(tab, waits);
    }

    /// Whether a reload waits for the answer to the page's question. Asked once.
    pub(super) fn take_reload_waits(&self, tab: TabId) -> bool {
        let waits = self.states.reload_waits(tab);
        self.states.set_reload_waits(tab, false);
        waits
    }

    /// Open requests of the tab's page, and since when none began or ended; known once it is
    /// [attended](Self::attend).
    pub(super) fn traffic(&self, tab: TabId) -> (usize, Option<tokio::time::Instant>) {
        self.states.traffic(tab)
    }

    /// Addresses of some of the tab's open requests, for people to read.
    pub(super) fn open_requests(&self, tab: TabId) -> Vec<String> {
        self.states.open_requests(tab)
    }

    /// Waits until the tab's page has crashed. Never ends otherwise.
    pub(super) async fn crashed(&self, tab: TabId) {
        self.states.crashed(tab).await;
    }

    /// The oldest download of the tab that nobody was told the end of.
    pub(super) fn next_download(&self, tab: TabId) -> Option<Download> {
        self.states.next_download(tab)
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
            () = self.states.crashed(target.tab), if !works_when_crashed(method) => {
                return Err(CdpError::Crashed);
            }
            result = request => result?,
        };
        self.dialogs.page_answered(target.tab, method);
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

    /// Downloads a file as the browser does, for the tab. The client must have announced `downloads`.
    ///
    /// # Errors
    /// See [`CdpError`]. Waits 75 s at most; the browser ends it after 60 s.
    pub async fn download(
        &self,
        cancel: &CancellationToken,
        tab_id: TabId,
        url: String,
        filename: Option<String>,
        max_bytes: u64,
    ) -> Result<DownloadEvent, CdpError> {
        const METHOD: &str = "download.start";
        let result = self
            .request(cancel, METHOD, DOWNLOAD_TIMEOUT, |session_id, call_id| {
                Outbound::DownloadStart(DownloadStart {
                    session_id,
                    call_id,
                    tab_id,
                    url,
                    filename,
                    max_bytes,
                })
            })
            .await?;
        let finished: DownloadEvent = serde_json::from_value(result)
            .map_err(|error| CdpError::Malformed { method: METHOD.to_owned(), detail: error.to_string() })?;
        self.claim_downloads(&[finished.download_id]);
        Ok(finished)
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
