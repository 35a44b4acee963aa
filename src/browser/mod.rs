//! What the host knows of the browser: one [`Browser`] per panel session.
//!
//! Element numbers, frames and worlds belong to one task ([`seer`]); [`Browser`] is the handle to it.

mod accessibility;
mod address;
mod agreement;
mod answering;
mod capture;
pub mod cdp;
mod choose;
mod condition;
mod dialogs;
mod downloads;
mod drag;
mod draw;
mod evaluate;
mod extension_context;
mod field;
mod finding;
mod focus;
mod frames;
mod giving;
mod hidden;
mod history;
mod hover;
mod input;
pub mod keys;
mod landing;
mod look;
mod marks;
mod navigation;
mod observe;
mod page;
mod pdf;
mod press;
mod print;
mod recording;
mod refs;
mod refusal;
mod render;
mod replay;
mod scroll;
mod seen;
mod seer;
mod selecting;
mod site;
mod strokes;
mod submit;
mod tab_states;
mod tabs;
pub mod text;
mod tokens;
mod view;
mod wait;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

pub use accessibility::{AccessibleTree, TreeOptions};
pub use address::{address, origin_of};
pub use answering::Answered;
pub use capture::{Capture, Marked, Shot};
pub use cdp::{CdpError, Target};
pub use choose::Picked;
pub use condition::Condition;
pub use dialogs::Dialog;
pub use downloads::{Download, FileId, safe_download_name};
pub use drag::DragTo;
pub use evaluate::Script;
pub use extension_context::{BrowserEvent, ExtensionContext, Wire, WireError};
pub use field::{Expected, Field, Held, Kind};
pub use finding::{Named, Place, Places, wrong_selector};
pub use focus::Focus;
pub use giving::{Chooser, Gift, Given, HeldFile};
pub use history::Step;
pub use input::Button;
pub use marks::Mark;
pub use navigation::Arrival;
pub use observe::{Observed, Patience};
pub use page::{PAGE_TIMEOUT, PageError, World, WorldId};
pub use pdf::ShownPdf;
pub use press::Press;
pub use print::{Paper, Printed};
pub use recording::{
    Body, ConsoleEntry, ConsoleLevel, Outcome, Recent, Recorded, RequestRecord, RequestText, moment,
    moment_in,
};
pub use refs::{Element, Fingerprint, FrameRef, RefError};
pub use refusal::{ActError, Class, Refusal};
pub use replay::{Replay, Replayed};
pub use scroll::{Direction, Scroll, ScrollPlace, Scrolled};
pub use site::{Cookie, Listener, NewCookie, Stored, Viewport};
pub use strokes::{Stroke, strokes};
pub use submit::Submitted;
pub use view::{DEFAULT_BUDGET, PageFacts, PageView, ViewError, ViewOptions};
pub use wait::{Presence, Until, Waited};

use crate::page::PageFunction;
pub use crate::protocol::DownloadEvent;
use crate::protocol::TabId;
pub use seer::{Found, FrameWorld};
use seer::{Request, Seer};

/// Requests that may wait for the task that sees pages; one session rarely has more than two.
const WAITING: usize = 16;

/// The browser as one session sees it. Tools get this and nothing else of the browser.
pub struct Browser {
    /// Requests to the extension, the pinned tab, and events.
    pub context: Arc<ExtensionContext>,
    seer: mpsc::Sender<Request>,
    /// Dropped with the browser, which ends the task.
    _tasks: JoinSet<()>,
}

impl Browser {
    /// The browser behind `context`. Needs a running tokio runtime.
    pub fn new(context: Arc<ExtensionContext>) -> Self {
        let (seer, requests) = mpsc::channel(WAITING);
        let mut tasks = JoinSet::new();
        tasks.spawn(Seer::new(Arc::clone(&context)).run(requests));
        Self { context, seer, _tasks: tasks }
    }

    /// The tab the session works on: the pinned one, else the one in front, which is pinned then.
    ///
    /// # Errors
    /// [`CdpError`]; `Ok(None)` when no tab is in front.
    pub async fn tab(&self, cancel: &CancellationToken) -> Result<Option<TabId>, CdpError> {
        if let Some(tab) = self.context.pinned() {
            return Ok(Some(tab));
        }
        let Some(active) = self.context.active_tab(cancel).await? else { return Ok(None) };
        self.context.pin(&active);
        Ok(Some(active.tab_id))
    }

    /// Looks at the page: a new epoch of element numbers.
    ///
    /// # Errors
    /// See [`ViewError`]. Waits 5 s per frame at most; a frame that vanishes or hangs is a note in the text.
    pub async fn snapshot(
        &self,
        cancel: &CancellationToken,
        options: &ViewOptions,
    ) -> Result<PageView, ViewError> {
        let tab = self.tab(cancel).await.map_err(PageError::from)?.ok_or(ViewError::NoTab)?;
        let (reply, answer) = oneshot::channel();
        let request = Request::Snapshot { tab, options: options.clone(), cancel: cancel.clone(), reply };
        self.ask(cancel, request, answer).await?
    }

    /// The element of that number, if it is still what the view said.
    ///
    /// # Errors
    /// See [`RefError`].
    pub async fn element(&self, cancel: &CancellationToken, index: u32) -> Result<Element, RefError> {
        let (reply, answer) = oneshot::channel();
        self.ask(cancel, Request::Element { index, cancel: cancel.clone(), reply }, answer).await?
    }

    /// Calls a page function (one registered with `define`) in the top document.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn call_top<T: DeserializeOwned>(
        &self,
        cancel: &CancellationToken,
        function: PageFunction,
        args: &[Value],
    ) -> Result<T, ViewError> {
        let worlds = self.worlds(cancel, false).await?;
        let top = worlds.first().ok_or(ViewError::NoTab)?;
        Ok(top.world.call(&self.context, cancel, function, args).await?)
    }

    /// Calls a page function in the top document and in every frame that a page script of the top document
    /// cannot reach (other origins), all at once. Frames that vanish or hang are left out. A function walks
    /// the same-origin frames inside its document itself.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn call_frames<T: DeserializeOwned>(
        &self,
        cancel: &CancellationToken,
        function: PageFunction,
        args: &[Value],
    ) -> Result<Vec<(FrameWorld, T)>, ViewError> {
        let worlds = self.worlds(cancel, true).await?;
        let calls = worlds.into_iter().map(|frame| async move {
            let result = frame.world.call(&self.context, cancel, function, args).await;
            (frame, result)
        });
        let mut answers = Vec::new();
        for (position, (frame, result)) in futures::future::join_all(calls).await.into_iter().enumerate() {
            match result {
                Ok(value) => answers.push((frame, value)),
                Err(error) if position == 0 => return Err(error.into()),
                Err(error) => tracing::debug!(%error, "a frame did not answer"),
            }
        }
        Ok(answers)
    }

    /// Numbers for elements that a page function found (by slot), so that later calls can name them.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn number(&self, cancel: &CancellationToken, found: Vec<Found>) -> Result<Vec<u32>, ViewError> {
        let tab = self.tab(cancel).await.map_err(PageError::from)?.ok_or(ViewError::NoTab)?;
        let (reply, answer) = oneshot::channel();
        Ok(self.ask(cancel, Request::Number { tab, found, reply }, answer).await?)
    }

    async fn worlds(&self, cancel: &CancellationToken, all: bool) -> Result<Vec<FrameWorld>, ViewError> {
        let tab = self.tab(cancel).await.map_err(PageError::from)?.ok_or(ViewError::NoTab)?;
        let (reply, answer) = oneshot::channel();
        self.ask(cancel, Request::Worlds { tab, all, cancel: cancel.clone(), reply }, answer).await?
    }

    async fn ask<T>(
        &self,
        cancel: &CancellationToken,
        request: Request,
        answer: oneshot::Receiver<T>,
    ) -> Result<T, PageError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(PageError::Cdp(CdpError::Cancelled)),
            answer = async {
                self.seer.send(request).await.ok()?;
                answer.await.ok()
            } => answer.ok_or(PageError::Cdp(CdpError::Closed)),
        }
    }
}
