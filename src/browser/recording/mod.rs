//! What pages wrote to their console and which requests they sent, per tab, from the moment the debugger holds
//! it. Kept across turns, bounded in entries and in bytes. What is told is masked before it is kept; addresses and
//! headers as they were sent are kept in memory only to send a request again, and never told.

mod console;
mod network;
mod ring;

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use time::OffsetDateTime;
use tokio_util::sync::CancellationToken;

pub use console::{ConsoleEntry, ConsoleLevel};
pub use network::{Body, Outcome, RequestRecord, RequestText};

use super::Browser;
use super::cdp::{CdpError, Target};
use super::extension_context::{BrowserEvent, ExtensionContext};
use super::refusal::{ActError, Class, Refusal};
use super::view::ViewError;
use crate::protocol::{CdpEvent, CdpSessionId, TabEventKind, TabId};
use console::Console;
use network::Network;

/// How long a tab may take to begin to report.
const BEGIN: Duration = Duration::from_secs(5);

/// How long the browser may take to hand over a body.
const BODY: Duration = Duration::from_secs(10);

/// One tab's.
#[derive(Debug, Default)]
struct Recording {
    /// Since when without a gap; `None`: not now.
    since: Option<SystemTime>,
    /// There are entries from before a gap.
    resumed: bool,
    console: Console,
    network: Network,
    /// Child targets: frames of other processes, and workers.
    children: Vec<CdpSessionId>,
}

/// Those of all tabs of one session.
#[derive(Debug, Default)]
pub(super) struct Recordings {
    tabs: Mutex<HashMap<TabId, Recording>>,
}

/// Entries that were asked for, oldest first, and how far they can be relied on.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded<T> {
    /// What fits the question, the newest of it.
    pub entries: Vec<T>,
    /// How many fit, those left out included.
    pub fitting: usize,
    /// How many are kept in all.
    pub kept: usize,
    /// How many older ones were dropped for want of room.
    pub dropped: u64,
    /// Since when nothing was missed.
    pub since: Option<SystemTime>,
    /// There are entries from before `since`, with a gap between.
    pub resumed: bool,
}

/// Which entries are asked for.
#[derive(Debug, Clone, Copy)]
pub struct Recent {
    /// The newest so many, at least 1.
    pub limit: usize,
    /// Not older than this.
    pub within: Option<Duration>,
}

impl Recordings {
    fn lock(&self) -> MutexGuard<'_, HashMap<TabId, Recording>> {
        self.tabs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, tab: TabId, change: impl FnOnce(&mut Recording) -> T) -> Option<T> {
        self.lock().get_mut(&tab).map(change)
    }

    /// The tab's page reports from now on.
    pub(super) fn begin(&self, tab: TabId) {
        let mut tabs = self.lock();
        let recording = tabs.entry(tab).or_default();
        if recording.since.is_none() {
            recording.resumed = recording.console.len() + recording.network.len() > 0;
            recording.since = Some(SystemTime::now());
        }
    }

    /// The tab's page does not report, or no longer.
    pub(super) fn halt(&self, tab: TabId) {
        if let Some(recording) = self.lock().get_mut(&tab) {
            recording.since = None;
            recording.children.clear();
            recording.console.pause();
            recording.network.pause();
        }
    }

    /// Keeps up with what happens. `true`: nobody else has use for the event.
    pub(super) fn note(&self, told: &BrowserEvent) -> bool {
        match told {
            BrowserEvent::Cdp(event) => return self.note_cdp(event),
            BrowserEvent::Detached(detached) => self.halt(detached.tab_id),
            BrowserEvent::Tab(event) if event.event == TabEventKind::Removed => {
                self.lock().remove(&event.tab_id);
            }
            BrowserEvent::Tab(event) => {
                if let Some(old) = event.replaced_tab_id {
                    let mut tabs = self.lock();
                    if let Some(recording) = tabs.remove(&old) {
                        tabs.insert(event.tab_id, recording);
                    }
                }
            }
            BrowserEvent::Download(_) => {}
        }
        false
    }

    fn note_cdp(&self, event: &CdpEvent) -> bool {
        let Some(tab) = event.tab_id else { return false };
        match event.method.as_str() {
            // Listeners follow the page itself: a console that floods must not make them miss what they wait for,
            // and a request of another process's frame would never end for them when that frame goes.
            "Runtime.consoleAPICalled"
            | "Runtime.exceptionThrown"
            | "Log.entryAdded"
            | "Console.messageAdded" => {
                self.with(tab, |own| own.console.note(event));
                true
            }
            method if method.starts_with("Network.") => {
                self.with(tab, |own| own.network.note(event));
                event.cdp_session_id.is_some()
            }
            _ => {
                self.note_left(tab, event);
                false
            }
        }
    }

    /// A page or a child target went, and takes along what the browser kept of it.
    fn note_left(&self, tab: TabId, event: &CdpEvent) {
        let text = |pointer: &str| event.params.pointer(pointer).and_then(Value::as_str);
        match event.method.as_str() {
            "Page.frameNavigated" if event.cdp_session_id.is_none() && text("/frame/parentId").is_none() => {
                self.with(tab, |own| own.console.left(None));
            }
            "Target.detachedFromTarget" => {
                let Some(session) = text("/sessionId").map(CdpSessionId::from) else { return };
                self.with(tab, |own| {
                    own.console.left(Some(&session));
                    own.children.retain(|child| *child != session);
                });
            }
            _ => {}
        }
    }

    /// A child target of the tab reports from now on.
    fn add_child(&self, tab: TabId, session: &CdpSessionId) {
        self.with(tab, |own| own.children.push(session.clone()));
    }

    /// Whether the tab's console was read, so that all of it is reported.
    fn is_whole(&self, tab: TabId) -> bool {
        self.lock().get(&tab).is_some_and(|recording| recording.console.is_whole())
    }

    /// From now on it is. The targets that must be told so; none when it was before.
    fn make_whole(&self, tab: TabId) -> Vec<Target> {
        let mut tabs = self.lock();
        let Some(recording) = tabs.get_mut(&tab).filter(|recording| !recording.console.is_whole()) else {
            return Vec::new();
        };
        recording.console.set_whole();
        let children = recording.children.iter().map(|child| Target { tab, session: Some(child.clone()) });
        std::iter::once(Target::tab(tab)).chain(children).collect()
    }

    fn is_recording(&self, tab: TabId) -> bool {
        self.lock().get(&tab).is_some_and(|recording| recording.since.is_some())
    }

    fn read<T>(
        &self,
        tab: TabId,
        pick: impl FnOnce(&Recording) -> (Vec<T>, usize, u64),
        recent: Recent,
    ) -> Recorded<T> {
        let tabs = self.lock();
        let Some(recording) = tabs.get(&tab) else {
            return Recorded {
                entries: Vec::new(),
                fitting: 0,
                kept: 0,
                dropped: 0,
                since: None,
                resumed: false,
            };
        };
        let (mut entries, kept, dropped) = pick(recording);
        let fitting = entries.len();
        entries.drain(..fitting.saturating_sub(recent.limit));
        Recorded { entries, fitting, kept, dropped, since: recording.since, resumed: recording.resumed }
    }
}

impl ExtensionContext {
    /// Asks a target to report its console and, for a child target, its requests. Nobody waits for the answer: a
    /// page that hangs reports once it goes on.
    pub(super) fn record(&self, target: &Target) {
        let console =
            if self.recordings().is_whole(target.tab) { "Runtime.enable" } else { "Console.enable" };
        self.tell(target, console, json!({}));
        self.tell(target, "Log.enable", json!({}));
        if let Some(session) = &target.session {
            self.recordings().add_child(target.tab, session);
            self.tell(target, "Network.enable", super::extension_context::network_buffers());
        }
    }

    /// A frame of another process, or a worker, came under the debugger.
    pub(super) fn record_child(&self, event: &CdpEvent) {
        let text = |pointer: &str| event.params.pointer(pointer).and_then(Value::as_str);
        let (Some(tab), Some(session), Some("iframe" | "worker")) =
            (event.tab_id, text("/sessionId"), text("/targetInfo/type"))
        else {
            return;
        };
        self.record(&Target { tab, session: Some(session.into()) });
    }

    /// Has all of the tab's console told, what the browser kept of it first.
    async fn record_whole(&self, cancel: &CancellationToken, tab: TabId) -> Result<(), CdpError> {
        let targets = self.recordings().make_whole(tab);
        let begin = targets.iter().map(|target| async move {
            self.tell(target, "Console.disable", json!({}));
            self.cdp_within(cancel, target, "Runtime.enable", json!({}), BEGIN).await
        });
        for told in futures::future::join_all(begin).await {
            match told {
                // What was recorded can be read while the page says nothing, and a child may have gone.
                Ok(_)
                | Err(
                    CdpError::Dialog(_) | CdpError::Crashed | CdpError::Timeout { .. } | CdpError::Refused(_),
                ) => {}
                Err(error) => return Err(error),
            }
        }
        self.open_objects(cancel, tab).await
    }

    /// Looks into objects of the console that are told without their inside.
    async fn open_objects(&self, cancel: &CancellationToken, tab: TabId) -> Result<(), CdpError> {
        let closed = self.recordings().with(tab, |own| own.console.take_closed()).unwrap_or_default();
        let open = closed.into_iter().map(|mut closed| async move {
            let target = Target { tab, session: closed.session.clone() };
            for (at, id) in closed.objects() {
                let params = json!({ "objectId": id, "ownProperties": true });
                let told = self.cdp_within(cancel, &target, "Runtime.getProperties", params, BEGIN).await;
                match told {
                    Ok(told) => closed.open(at, &told),
                    Err(CdpError::Cancelled) => return Err(CdpError::Cancelled),
                    // The object is gone, or its page says nothing: its kind is known.
                    Err(_) => break,
                }
            }
            Ok(closed)
        });
        for closed in futures::future::join_all(open).await {
            let closed = closed?;
            self.recordings().with(tab, |own| own.console.opened(&closed));
        }
        Ok(())
    }
}

impl Browser {
    /// Console entries of the held tab that `fits` takes.
    ///
    /// # Errors
    /// See [`ActError`]. A tab that is not held yet is from now on.
    pub async fn console(
        &self,
        cancel: &CancellationToken,
        recent: Recent,
        fits: impl Fn(&ConsoleEntry) -> bool,
    ) -> Result<Recorded<ConsoleEntry>, ActError> {
        let tab = self.recorded_tab(cancel).await?;
        self.context.record_whole(cancel, tab).await?;
        let after = recent.within.and_then(|within| SystemTime::now().checked_sub(within));
        let fits = |entry: &&ConsoleEntry| after.is_none_or(|after| entry.at >= after) && fits(entry);
        let pick = |recording: &Recording| recording.console.pick(fits);
        Ok(self.context.recordings().read(tab, pick, recent))
    }

    /// Requests of the held tab that `fits` takes.
    ///
    /// # Errors
    /// See [`ActError`]. A tab that is not held yet is from now on.
    pub async fn requests(
        &self,
        cancel: &CancellationToken,
        recent: Recent,
        fits: impl Fn(&RequestRecord) -> bool,
    ) -> Result<Recorded<RequestRecord>, ActError> {
        let tab = self.recorded_tab(cancel).await?;
        let after = recent.within.and_then(|within| SystemTime::now().checked_sub(within));
        let fits = |record: &&RequestRecord| after.is_none_or(|after| record.at >= after) && fits(record);
        let pick = |recording: &Recording| recording.network.pick(fits);
        Ok(self.context.recordings().read(tab, pick, recent))
    }

    /// One request of the held tab, with the bodies that the browser still holds.
    ///
    /// # Errors
    /// [`Class::BadArgument`] when there is no such request; else see [`ActError`].
    pub async fn request(&self, cancel: &CancellationToken, id: u64) -> Result<RequestText, ActError> {
        let record = self.recorded(cancel, id).await?;
        let tab = self.tab(cancel).await?.ok_or(ViewError::NoTab)?;
        let target = Target { tab, session: record.session.clone() };
        let params = json!({ "requestId": record.request });
        let ask = |method| self.context.cdp_within(cancel, &target, method, params.clone(), BODY);
        // After a redirect the browser knows only the last request by this id.
        let last = record.outcome != Outcome::Redirected;
        let sent = match record.has_sent_body && last {
            true => Body::sent(&heard(ask("Network.getRequestPostData").await)?),
            false if record.has_sent_body => Body::Unknown,
            false => Body::None,
        };
        let received = match record.outcome {
            Outcome::Finished => Body::received(&heard(ask("Network.getResponseBody").await)?, &record.mime),
            Outcome::Redirected | Outcome::Failed(_) => Body::None,
            Outcome::Open | Outcome::Lost => Body::Unknown,
        };
        Ok(RequestText { record, sent, received })
    }

    /// A record of the held tab.
    pub(super) async fn recorded(
        &self,
        cancel: &CancellationToken,
        id: u64,
    ) -> Result<RequestRecord, ActError> {
        let tab = self.recorded_tab(cancel).await?;
        let found = self.context.recordings().lock().get(&tab).and_then(|own| own.network.get(id).cloned());
        found.ok_or_else(|| {
            let error = format!("No request #{id} is recorded in this tab. Call get_network_requests.");
            Refusal::new(Class::BadArgument, error).into()
        })
    }

    /// The body that a request was sent with; `None`: the browser no longer holds it.
    pub(super) async fn posted(
        &self,
        cancel: &CancellationToken,
        record: &RequestRecord,
    ) -> Result<Option<String>, ActError> {
        if record.outcome == Outcome::Redirected {
            return Ok(None);
        }
        let tab = self.tab(cancel).await?.ok_or(ViewError::NoTab)?;
        let target = Target { tab, session: record.session.clone() };
        let params = json!({ "requestId": record.request });
        let told = self.context.cdp_within(cancel, &target, "Network.getRequestPostData", params, BODY).await;
        Ok(heard(told)?.get("postData").and_then(Value::as_str).map(str::to_owned))
    }

    async fn recorded_tab(&self, cancel: &CancellationToken) -> Result<TabId, ActError> {
        let tab = self.tab(cancel).await?.ok_or(ViewError::NoTab)?;
        if !self.context.recordings().is_recording(tab) {
            match self.context.attend(cancel, tab, BEGIN).await {
                // What was recorded can be read while the page says nothing.
                Ok(()) | Err(CdpError::Dialog(_) | CdpError::Crashed | CdpError::Timeout { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(tab)
    }
}

/// The browser's "I no longer have it" is an answer too.
fn heard(answer: Result<Value, CdpError>) -> Result<Value, ActError> {
    match answer {
        Ok(value) => Ok(value),
        Err(CdpError::Refused(_)) => Ok(Value::Null),
        Err(error) => Err(error.into()),
    }
}

/// `2031-04-09T12:03:04.123Z`.
pub fn moment(at: SystemTime) -> String {
    let at = OffsetDateTime::from(at);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        at.year(),
        u8::from(at.month()),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
        at.millisecond()
    )
}

/// A time in s since 1970, as [`moment`] writes it; `None` for one that is none.
pub fn moment_in(seconds: f64) -> Option<String> {
    let since = Duration::try_from_secs_f64(seconds).ok().filter(|since| !since.is_zero())?;
    SystemTime::UNIX_EPOCH.checked_add(since).map(moment)
}

/// A time of the browser, in ms since 1970; now when it makes no sense.
fn from_ms(ms: Option<f64>) -> SystemTime {
    ms.and_then(|ms| Duration::try_from_secs_f64(ms / 1_000.0).ok())
        .and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since))
        .unwrap_or_else(SystemTime::now)
}

#[cfg(test)]
mod tests;
