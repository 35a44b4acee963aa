//! The task that owns a session's frames, worlds and element numbers.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::cdp::CdpError;
use super::extension_context::{BrowserEvent, ExtensionContext};
use super::frames::{MAX_DEPTH, TabFrames};
use super::marks::Mark;
use super::page::{PageError, World, WorldId};
use super::refs::{Element, Fingerprint, FrameHop, FrameRef, Ref, RefError, RefTable};
use super::view::{LastView, Listing, PageView, ViewError, ViewOptions};
use crate::page::{PageFunction, function};
use crate::protocol::{TabEventKind, TabId};

/// A document that one isolated world reaches, with the same-origin frames inside it.
#[derive(Debug, Clone)]
pub struct FrameWorld {
    /// Its world.
    pub world: World,
    /// Its origin when that is not the page's.
    pub origin: Option<String>,
    pub(super) hops: Vec<FrameHop>,
}

/// An element that a page function found.
#[derive(Debug, Clone)]
pub struct Found {
    /// The world that found it.
    pub world: WorldId,
    /// Its slot there.
    pub slot: u32,
    /// What it is.
    pub fingerprint: Fingerprint,
    /// The origin of its frame when that is not the page's.
    pub origin: Option<String>,
}

/// What the task is asked.
pub(super) enum Request {
    Snapshot {
        tab: TabId,
        options: ViewOptions,
        cancel: CancellationToken,
        reply: oneshot::Sender<Result<PageView, ViewError>>,
    },
    Element {
        index: u32,
        cancel: CancellationToken,
        reply: oneshot::Sender<Result<Element, RefError>>,
    },
    Worlds {
        tab: TabId,
        all: bool,
        cancel: CancellationToken,
        reply: oneshot::Sender<Result<Vec<FrameWorld>, ViewError>>,
    },
    Marks {
        tab: TabId,
        numbered: bool,
        cancel: CancellationToken,
        reply: oneshot::Sender<Result<Vec<Mark>, ViewError>>,
    },
    Number {
        tab: TabId,
        found: Vec<Found>,
        reply: oneshot::Sender<Vec<u32>>,
    },
}

/// The state of the task.
pub(super) struct Seer {
    pub(super) context: Arc<ExtensionContext>,
    events: broadcast::Receiver<BrowserEvent>,
    pub(super) tabs: HashMap<TabId, TabFrames>,
    pub(super) refs: RefTable,
    pub(super) last: HashMap<TabId, LastView>,
    /// What was listed last of tabs that were let go of: if all of it is still so when they are taken up again,
    /// the numbers stay.
    pub(super) resting: HashMap<TabId, Listing>,
    pub(super) next_world: u64,
}

impl Seer {
    pub(super) fn new(context: Arc<ExtensionContext>) -> Self {
        let events = context.subscribe();
        Self {
            context,
            events,
            tabs: HashMap::new(),
            refs: RefTable::default(),
            last: HashMap::new(),
            resting: HashMap::new(),
            next_world: 0,
        }
    }

    /// Serves until the browser's handle is dropped.
    pub(super) async fn run(mut self, mut requests: mpsc::Receiver<Request>) {
        loop {
            tokio::select! {
                request = requests.recv() => {
                    let Some(request) = request else { return };
                    self.note_waiting();
                    self.serve(request).await;
                }
                event = self.events.recv() => match event {
                    Ok(event) => self.note(&event),
                    Err(broadcast::error::RecvError::Lagged(_)) => self.start_over(),
                    Err(broadcast::error::RecvError::Closed) => return,
                },
            }
        }
    }

    async fn serve(&mut self, request: Request) {
        // A caller that no longer waits has dropped its half; its answer goes nowhere.
        match request {
            Request::Snapshot { tab, options, cancel, reply } => {
                let view = self.look(tab, &options, &cancel).await;
                let _ = reply.send(view);
            }
            Request::Element { index, cancel, reply } => {
                let element = self.element(index, &cancel).await;
                let _ = reply.send(element);
            }
            Request::Worlds { tab, all, cancel, reply } => {
                let worlds = self.worlds(tab, all, &cancel).await;
                let _ = reply.send(worlds.map_err(ViewError::from));
            }
            Request::Marks { tab, numbered, cancel, reply } => {
                let marks = self.marks(tab, numbered, &cancel).await;
                let _ = reply.send(marks);
            }
            Request::Number { tab, found, reply } => {
                let numbers = found
                    .into_iter()
                    .map(|Found { world, slot, fingerprint, origin }| {
                        self.refs.number(Ref { tab, world, slot, fingerprint, origin })
                    })
                    .collect();
                let _ = reply.send(numbers);
            }
        }
    }

    /// Events that came while a request was served.
    pub(super) fn note_waiting(&mut self) {
        loop {
            match self.events.try_recv() {
                Ok(event) => self.note(&event),
                Err(broadcast::error::TryRecvError::Lagged(_)) => self.start_over(),
                Err(_) => return,
            }
        }
    }

    fn note(&mut self, event: &BrowserEvent) {
        match event {
            BrowserEvent::Cdp(event) => {
                if let Some(frames) = event.tab_id.and_then(|tab| self.tabs.get_mut(&tab)) {
                    frames.note(event);
                }
            }
            BrowserEvent::Tab(event) if event.event == TabEventKind::Removed => self.forget(event.tab_id),
            BrowserEvent::Detached(detached) => {
                let listing =
                    self.last.get_mut(&detached.tab_id).map(|last| std::mem::take(&mut last.listing));
                self.forget(detached.tab_id);
                if let Some(listing) = listing.filter(|listing| !listing.is_empty()) {
                    self.resting.insert(detached.tab_id, listing);
                }
            }
            BrowserEvent::Tab(event) => {
                if let Some(old) = event.replaced_tab_id {
                    self.forget(old);
                }
            }
            BrowserEvent::Download(_) => {}
        }
    }

    /// Worlds end with the debugger's attachment, so numbers of the tab become stale.
    fn forget(&mut self, tab: TabId) {
        self.tabs.remove(&tab);
        self.last.remove(&tab);
        self.resting.remove(&tab);
    }

    /// After missed events nothing known of child targets can be trusted.
    fn start_over(&mut self) {
        tracing::warn!("browser events were missed; frames are found again");
        for frames in self.tabs.values_mut() {
            frames.distrust();
        }
    }

    async fn element(&mut self, index: u32, cancel: &CancellationToken) -> Result<Element, RefError> {
        const IDENTIFY: PageFunction = function("identify");
        let known = self.refs.get(index)?.clone();
        let was = known.fingerprint.describe();
        let replaced = || {
            RefError::Stale(format!(
                "[{index}] ({was}) belongs to a page or frame that is no longer there; call inspect_page for the elements of the page that is there now"
            ))
        };
        // One that was put away since has another id, and another page.
        if self.context.pinned().is_some_and(|pinned| pinned != self.context.current(known.tab)) {
            return Err(RefError::Stale(format!(
                "[{index}] ({was}) is in another tab than the one worked on now; call inspect_page, or switch_tab back first"
            )));
        }
        if !self.tabs.contains_key(&known.tab) && !self.is_there(known.tab, cancel).await? {
            return Err(RefError::Closed { index, was });
        }
        let frames = self.tabs.get_mut(&known.tab).ok_or_else(replaced)?;
        let (world, hops) = frames.world(known.world).ok_or_else(replaced)?;
        let element = Element {
            index,
            target: world.target.clone(),
            frame: FrameRef { tab: known.tab, frame: Arc::clone(&world.frame), origin: known.origin.clone() },
            fingerprint: known.fingerprint.clone(),
            context: Arc::clone(&self.context),
            world: world.clone(),
            slot: known.slot,
            hops: hops.to_vec(),
        };
        let now: Fingerprint = match element.call(cancel, IDENTIFY, &[]).await {
            Ok(now) => now,
            Err(PageError::ElementGone) => return Err(RefError::Gone { index, was }),
            Err(PageError::WorldGone) => {
                let frame = Arc::clone(&element.frame.frame);
                frames.forget_world(&frame);
                return Err(replaced());
            }
            Err(PageError::Cdp(CdpError::Refused(words)))
                if words.contains("No tab with") && self.context.is_replaced_soon(known.tab).await =>
            {
                self.note_waiting();
                return Err(replaced());
            }
            Err(other) => return Err(other.into()),
        };
        if now != known.fingerprint {
            return Err(RefError::Stale(format!(
                "[{index}] was {was} and is {} now; call inspect_page and choose again",
                now.describe()
            )));
        }
        Ok(element)
    }

    async fn is_there(&self, tab: TabId, cancel: &CancellationToken) -> Result<bool, PageError> {
        let tabs = self.context.tabs(cancel).await?;
        let now = self.context.current(tab);
        Ok(tabs.iter().any(|known| known.tab_id == now))
    }

    async fn worlds(
        &mut self,
        tab: TabId,
        all: bool,
        cancel: &CancellationToken,
    ) -> Result<Vec<FrameWorld>, PageError> {
        match self.find_worlds(tab, all, cancel).await {
            Err(PageError::WorldGone) => {
                if let Some(frames) = self.tabs.get_mut(&tab) {
                    frames.forget_root();
                }
                self.find_worlds(tab, all, cancel).await
            }
            other => other,
        }
    }

    async fn find_worlds(
        &mut self,
        tab: TabId,
        all: bool,
        cancel: &CancellationToken,
    ) -> Result<Vec<FrameWorld>, PageError> {
        #[derive(serde::Deserialize)]
        struct Inside {
            origin: String,
            frames: Vec<u32>,
        }
        let context = Arc::clone(&self.context);
        let root = self.frames(tab).root(&context, cancel).await?;
        self.note_waiting();
        let mut page_origin = None;
        let mut worlds = Vec::new();
        let mut level: Vec<(Arc<str>, Vec<FrameHop>)> = vec![(root, Vec::new())];
        for depth in 0..=MAX_DEPTH {
            let mut next_world = self.next_world;
            let made = self.frames(tab).worlds_for(&context, cancel, &level, &mut next_world).await;
            self.next_world = next_world;
            self.note_waiting();
            let asked = made.into_iter().map(|world| async {
                let world = world?;
                let inside: Inside = world.call(&context, cancel, function("foreignFrames"), &[]).await?;
                Ok::<_, PageError>((world, inside))
            });
            let asked = futures::future::join_all(asked).await;
            let mut next = Vec::new();
            for ((_, hops), result) in level.into_iter().zip(asked) {
                let (world, inside) = match result {
                    Ok(found) => found,
                    Err(error) if depth == 0 => return Err(error),
                    Err(_) => continue,
                };
                let page = page_origin.get_or_insert_with(|| inside.origin.clone());
                let origin = (*page != inside.origin).then_some(inside.origin);
                if all {
                    let shown = self.frames(tab).shown_by(&context, cancel, &world, &inside.frames).await;
                    for (slot, frame) in inside.frames.iter().zip(shown) {
                        let Some(frame) = frame else { continue };
                        let mut around = vec![FrameHop { world: world.clone(), slot: *slot }];
                        around.extend(hops.iter().cloned());
                        next.push((frame, around));
                    }
                }
                worlds.push(FrameWorld { world, origin, hops });
            }
            level = next;
            if level.is_empty() {
                break;
            }
        }
        Ok(worlds)
    }

    pub(super) fn frames(&mut self, tab: TabId) -> &mut TabFrames {
        self.tabs.entry(tab).or_insert_with(|| TabFrames::new(tab))
    }
}
