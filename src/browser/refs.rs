//! Element numbers: what `[N]` means, and the resolved element.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::cdp::{CdpError, Target};
use super::extension_context::ExtensionContext;
use super::page::{PAGE_TIMEOUT, PageError, World, WorldId};
use super::seer::FrameWorld;
use crate::page::{self, PageFunction};
use crate::protocol::TabId;

/// Numbers are not used twice in a session before this many were given, so a number that the model
/// remembers from an older document can never mean another element.
const HIGHEST: u32 = 99_999;

/// What an element was when it was listed. Compared before every action.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fingerprint {
    /// Lower-case tag name.
    pub tag: String,
    /// Explicit ARIA role, or empty.
    #[serde(default)]
    pub role: String,
    /// `type` of inputs and buttons, or empty.
    #[serde(default, rename = "type")]
    pub kind: String,
    /// Accessible name, at most 200 characters.
    #[serde(default)]
    pub name: String,
    /// Address of a link as written in the page, or empty.
    #[serde(default)]
    pub href: String,
}

impl Fingerprint {
    /// A few words for messages: `button "Buy now"`. Page text in it is quoted and harmless.
    pub fn describe(&self) -> String {
        let what = if self.role.is_empty() { &self.tag } else { &self.role };
        if self.name.is_empty() {
            super::text::token(what)
        } else {
            format!("{} {}", super::text::token(what), super::text::quoted(&self.name, 60))
        }
    }
}

/// Why a number is no element.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RefError {
    /// The number is of a document that was replaced, or the element is something else now. Class `stale`.
    #[error("{0}")]
    Stale(String),
    /// The element was removed from the page. Class `gone`.
    #[error("[{index}] ({was}) was removed from the page; call inspect_page for the elements there are now")]
    Gone {
        /// The number.
        index: u32,
        /// What it was.
        was: String,
    },
    /// The tab of the element was closed. Class `closed`.
    #[error("[{index}] ({was}) was in a tab that is closed now; call list_tabs for those there are")]
    Closed {
        /// The number.
        index: u32,
        /// What it was.
        was: String,
    },
    /// No view ever listed this number. Class `bad_argument`.
    #[error(
        "there is no element [{index}]; {}",
        .highest.map_or_else(
            || "call inspect_page first".to_owned(),
            |highest| format!("the newest view goes up to [{highest}]; call inspect_page"),
        )
    )]
    Unknown {
        /// The number.
        index: u32,
        /// The highest number given so far.
        highest: Option<u32>,
    },
    /// The page could not be asked.
    #[error(transparent)]
    Page(#[from] PageError),
}

impl RefError {
    /// The word for `class` in results.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Stale(_) => "stale",
            Self::Gone { .. } | Self::Page(PageError::ElementGone) => "gone",
            Self::Closed { .. } => "closed",
            Self::Unknown { .. } => "bad_argument",
            Self::Page(error) => error.class(),
        }
    }
}

impl PageError {
    /// The word for `class` in results.
    pub fn class(&self) -> &'static str {
        match self {
            Self::ElementGone => "gone",
            Self::WorldGone => "navigated",
            Self::Cdp(CdpError::Closed) => "closed",
            Self::Cdp(_) | Self::Thrown(_) | Self::Malformed(_) => "timeout",
        }
    }
}

/// A document inside a tab.
#[derive(Debug, Clone)]
pub struct FrameRef {
    /// The tab.
    pub tab: TabId,
    /// The frame whose isolated world holds the element. Same-origin child frames share it.
    pub frame: Arc<str>,
    /// The frame's origin when it is not the page's.
    pub origin: Option<String>,
}

/// One step from a frame's world outwards: the element that shows the frame, in its parent's world.
#[derive(Debug, Clone)]
pub(super) struct FrameHop {
    pub(super) world: World,
    pub(super) slot: u32,
}

/// A resolved element. Everything done with it is checked again against the page.
#[derive(Clone)]
pub struct Element {
    /// Its number.
    pub index: u32,
    /// Where DevTools commands about it go.
    pub target: Target,
    /// Its frame.
    pub frame: FrameRef,
    /// What it is.
    pub fingerprint: Fingerprint,
    pub(super) context: Arc<ExtensionContext>,
    pub(super) world: World,
    pub(super) slot: u32,
    pub(super) hops: Vec<FrameHop>,
}

impl std::fmt::Debug for Element {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}] {:?}", self.index, self.fingerprint)
    }
}

impl Element {
    /// Calls a page function (one registered with `defineFor`) with the element as its first argument.
    /// Waits 5 s at most.
    ///
    /// # Errors
    /// [`PageError::ElementGone`] when the element left the page, else see [`PageError`].
    pub async fn call<T: DeserializeOwned>(
        &self,
        cancel: &CancellationToken,
        function: PageFunction,
        args: &[Value],
    ) -> Result<T, PageError> {
        self.call_within(cancel, function, args, PAGE_TIMEOUT).await
    }

    /// [`call`](Self::call) with a deadline of its own.
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn call_within<T: DeserializeOwned>(
        &self,
        cancel: &CancellationToken,
        function: PageFunction,
        args: &[Value],
        within: Duration,
    ) -> Result<T, PageError> {
        let mut all = vec![json!(self.slot)];
        all.extend_from_slice(args);
        self.world.call_with(&self.context, cancel, function, &all, &[], within).await
    }

    /// Calls a page function registered with `define` in the element's world, with the element's slot as
    /// its only argument.
    ///
    /// # Errors
    /// See [`PageError`].
    pub async fn call_world<T: DeserializeOwned>(
        &self,
        cancel: &CancellationToken,
        function: PageFunction,
    ) -> Result<T, PageError> {
        self.world.call(&self.context, cancel, function, &[json!(self.slot)]).await
    }

    /// The element's world, for [`Browser::number`](super::Browser::number).
    pub fn frame_world(&self) -> FrameWorld {
        FrameWorld { world: self.world.clone(), origin: self.frame.origin.clone(), hops: self.hops.clone() }
    }

    /// The element as a DevTools object (`objectId`), for commands of the `DOM` domain sent to
    /// [`target`](Self::target).
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn object_id(&self, cancel: &CancellationToken) -> Result<Arc<str>, PageError> {
        self.world.object(&self.context, cancel, self.slot).await
    }

    /// A point of the element's own viewport (what `getBoundingClientRect` measures against) as a point of
    /// the tab's viewport, in CSS px, where mouse events go. Goes through every frame around it, also those
    /// of other processes, with their scale.
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn to_top(&self, cancel: &CancellationToken, x: f64, y: f64) -> Result<(f64, f64), PageError> {
        const TO_OUTER: PageFunction = page::function("toOuter");
        let point: [f64; 2] = self.call(cancel, TO_OUTER, &[json!(x), json!(y)]).await?;
        self.world_to_top(cancel, point[0], point[1]).await
    }

    /// The same for a point of the viewport of the world's own document.
    pub(super) async fn world_to_top(
        &self,
        cancel: &CancellationToken,
        x: f64,
        y: f64,
    ) -> Result<(f64, f64), PageError> {
        let mut point = [x, y];
        for hop in &self.hops {
            point = hop
                .world
                .call(
                    &self.context,
                    cancel,
                    page::function("throughFrame"),
                    &[json!(hop.slot), json!(point[0]), json!(point[1])],
                )
                .await?;
        }
        Ok((point[0], point[1]))
    }

    /// Where the origin of the element's viewport lies in the tab's viewport, in CSS px.
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn frame_offset(&self, cancel: &CancellationToken) -> Result<(f64, f64), PageError> {
        self.to_top(cancel, 0.0, 0.0).await
    }

    /// What a mouse event at this point of the element's own viewport would hit instead of the element: a
    /// short description, or `None` when it reaches the element (or something inside it, or its label).
    /// Also looks at what lies over the frames around it.
    ///
    /// # Errors
    /// See [`call`](Self::call).
    pub async fn covered_by(
        &self,
        cancel: &CancellationToken,
        x: f64,
        y: f64,
    ) -> Result<Option<String>, PageError> {
        let args = [json!(x), json!(y)];
        let mut by: Option<String> = self.call(cancel, page::function("coveredBy"), &args).await?;
        if by.is_some() || self.hops.is_empty() {
            return Ok(by.map(|by| super::text::clean(&by, 120)));
        }
        let mut point: [f64; 2] = self.call(cancel, page::function("toOuter"), &args).await?;
        for hop in &self.hops {
            let args = [json!(hop.slot), json!(point[0]), json!(point[1])];
            point = hop.world.call(&self.context, cancel, page::function("throughFrame"), &args).await?;
            let args = [json!(hop.slot), json!(point[0]), json!(point[1])];
            by = hop.world.call(&self.context, cancel, page::function("coveredAtOuter"), &args).await?;
            if by.is_some() {
                break;
            }
        }
        Ok(by.map(|by| super::text::clean(&by, 120)))
    }
}

/// What one number stands for.
#[derive(Debug, Clone)]
pub(super) struct Ref {
    pub(super) tab: TabId,
    pub(super) world: WorldId,
    pub(super) slot: u32,
    pub(super) fingerprint: Fingerprint,
    pub(super) origin: Option<String>,
}

/// All numbers of one session.
#[derive(Debug, Default)]
pub(super) struct RefTable {
    by_index: HashMap<u32, Ref>,
    by_slot: HashMap<(WorldId, u32), u32>,
    last: u32,
}

impl RefTable {
    /// The number of an element: the one it has, or the next free one. The fingerprint is renewed.
    pub(super) fn number(&mut self, element: Ref) -> u32 {
        let key = (element.world, element.slot);
        if let Some(index) = self.by_slot.get(&key) {
            self.by_index.insert(*index, element);
            return *index;
        }
        if self.last >= HIGHEST {
            self.by_index.clear();
            self.by_slot.clear();
            self.last = 0;
        }
        self.last += 1;
        self.by_slot.insert(key, self.last);
        self.by_index.insert(self.last, element);
        self.last
    }

    /// Lets a number stand for an element of another world that looks the same in the same place. `false`: the
    /// number stands for something else, or the element has a number.
    pub(super) fn takes_over(&self, index: u32, element: &Ref) -> bool {
        !self.by_slot.contains_key(&(element.world, element.slot))
            && self.by_index.get(&index).is_some_and(|old| {
                old.tab == element.tab
                    && old.origin == element.origin
                    && old.fingerprint == element.fingerprint
            })
    }

    /// Binds a number to an element. Only for one that [`takes_over`](Self::takes_over).
    pub(super) fn rebind(&mut self, index: u32, element: Ref) {
        self.by_slot.insert((element.world, element.slot), index);
        if let Some(old) = self.by_index.insert(index, element) {
            self.by_slot.remove(&(old.world, old.slot));
        }
    }

    /// The number of an element that has one.
    pub(super) fn known(&self, world: WorldId, slot: u32) -> Option<u32> {
        self.by_slot.get(&(world, slot)).copied()
    }

    pub(super) fn get(&self, index: u32) -> Result<&Ref, RefError> {
        self.by_index
            .get(&index)
            .ok_or(RefError::Unknown { index, highest: (self.last > 0).then_some(self.last) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn button(world: u64, slot: u32, name: &str) -> Ref {
        Ref {
            tab: TabId(1),
            world: WorldId(world),
            slot,
            fingerprint: Fingerprint {
                tag: "button".to_owned(),
                name: name.to_owned(),
                ..Fingerprint::default()
            },
            origin: None,
        }
    }

    #[test]
    fn element_keeps_its_number_and_gets_its_new_fingerprint() {
        let mut table = RefTable::default();
        assert_eq!(table.number(button(1, 7, "Save")), 1);
        assert_eq!(table.number(button(1, 8, "Cancel")), 2);
        assert_eq!(table.number(button(1, 7, "Saved")), 1);
        assert_eq!(table.get(1).unwrap().fingerprint.name, "Saved");
    }

    #[test]
    fn next_document_never_reuses_a_number() {
        let mut table = RefTable::default();
        assert_eq!(table.number(button(1, 1, "Pay")), 1);
        assert_eq!(table.number(button(2, 1, "Delete")), 2);
        assert_eq!(table.get(1).unwrap().world, WorldId(1));
    }

    #[test]
    fn unknown_number_says_what_there_is() {
        let mut table = RefTable::default();
        assert!(table.get(3).unwrap_err().to_string().contains("inspect_page first"));
        table.number(button(1, 1, "Pay"));
        assert!(table.get(3).unwrap_err().to_string().contains("up to [1]"));
    }
}
