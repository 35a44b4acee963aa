//! The task that owns a session's frames, worlds and element numbers.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::extension_context::{BrowserEvent, ExtensionContext};
use super::frames::TabFrames;
use super::page::{PageError, World, WorldId};
use super::refs::{Element, Fingerprint, FrameHop, Ref, RefError, RefTable};
use super::view::{PageView, ViewError, ViewOptions};
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
    Number {
        found: Vec<Found>,
        reply: oneshot::Sender<Vec<u32>>,
    },
}

pub(super) struct Seer {
    pub(super) context: Arc<ExtensionContext>,
    events: broadcast::Receiver<BrowserEvent>,
    pub(super) tabs: HashMap<TabId, TabFrames>,
    pub(super) refs: RefTable,
    pub(super) next_world: u64,
}
