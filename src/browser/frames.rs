//! Frames of one tab: their isolated worlds, and the child targets that hold frames of other processes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::cdp::Target;
use super::extension_context::ExtensionContext;
use super::page::{PageError, World, WorldId};
use super::refs::FrameHop;
use crate::protocol::{CdpEvent, CdpSessionId, TabId};

/// How long one small command may take while frames are found.
const STEP: Duration = Duration::from_secs(5);

/// Frames inside frames that are followed.
pub(super) const MAX_DEPTH: usize = 8;

/// What is known of one tab.
#[derive(Debug)]
pub(super) struct TabFrames {
    pub(super) tab: TabId,
    root: Option<Arc<str>>,
    /// Child targets must be announced anew.
    reattach: bool,
    /// Targets (`None` = the tab) whose children are attached by themselves.
    attaching: HashSet<Option<CdpSessionId>>,
    /// Frames that live in a child target.
    children: HashMap<Arc<str>, CdpSessionId>,
    worlds: HashMap<Arc<str>, World>,
    hops: HashMap<WorldId, Vec<FrameHop>>,
    /// Which frame an element of a world shows.
    shown: HashMap<(WorldId, u32), Arc<str>>,
    /// Nodes with pointer listeners that a world already knows.
    pub(super) listening: HashMap<WorldId, HashSet<i64>>,
}

impl TabFrames {
    pub(super) fn new(tab: TabId) -> Self {
        Self {
            tab,
            root: None,
            reattach: false,
            attaching: HashSet::new(),
            children: HashMap::new(),
            worlds: HashMap::new(),
            hops: HashMap::new(),
            shown: HashMap::new(),
            listening: HashMap::new(),
        }
    }

    /// Takes note of child targets that came or went.
    pub(super) fn note(&mut self, event: &CdpEvent) {
        let session = event.params.get("sessionId").and_then(Value::as_str);
        match (event.method.as_str(), session) {
            ("Target.attachedToTarget", Some(session)) => {
                let info =
                    |key: &str| event.params.pointer(&format!("/targetInfo/{key}")).and_then(Value::as_str);
                if info("type") == Some("iframe")
                    && let Some(frame) = info("targetId")
                {
                    self.forget_world(frame);
                    self.children.insert(frame.into(), session.into());
                }
            }
            ("Target.detachedFromTarget", Some(session)) => {
                let gone: Vec<Arc<str>> = self
                    .children
                    .iter()
                    .filter(|(_, known)| known.as_str() == session)
                    .map(|(frame, _)| Arc::clone(frame))
                    .collect();
                for frame in gone {
                    self.children.remove(&frame);
                    self.forget_world(&frame);
                }
                self.attaching.remove(&Some(session.into()));
            }
            _ => {}
        }
    }

    pub(super) fn forget_world(&mut self, frame: &str) {
        if let Some(world) = self.worlds.remove(frame) {
            self.hops.remove(&world.id);
            self.listening.remove(&world.id);
            self.shown.retain(|(id, _), _| *id != world.id);
        }
    }

    /// The living world of that id, and the frames around it.
    pub(super) fn world(&self, id: WorldId) -> Option<(&World, &[FrameHop])> {
        let world = self.worlds.values().find(|world| world.id == id)?;
        Some((world, self.hops.get(&id).map_or(&[], Vec::as_slice)))
    }

    /// The root frame and, from then on, child targets of the tab.
    pub(super) async fn root(
        &mut self,
        context: &ExtensionContext,
        cancel: &CancellationToken,
    ) -> Result<Arc<str>, PageError> {
        let target = Target::tab(self.tab);
        // A dialog that is open already, or a crash, is told now, not after a wait for a page that says nothing.
        context.attend(cancel, self.tab, STEP).await?;
        if std::mem::take(&mut self.reattach) {
            let params = json!({ "autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true });
            context.cdp_within(cancel, &target, "Target.setAutoAttach", params, STEP).await?;
            let gone: Vec<Arc<str>> = self.children.drain().map(|(frame, _)| frame).collect();
            for frame in gone {
                self.forget_world(&frame);
            }
            self.attaching.clear();
        }
        if let Err(error) = self.attach_children(context, cancel, &target).await {
            match error {
                // Without child targets the page itself can still be seen.
                PageError::Cdp(super::CdpError::Refused(why)) => tracing::debug!(%why, "no child targets"),
                other => return Err(other),
            }
        }
        if let Some(root) = &self.root {
            return Ok(Arc::clone(root));
        }
        let tree = context.cdp_within(cancel, &target, "Page.getFrameTree", json!({}), STEP).await?;
        let root: Arc<str> = tree
            .pointer("/frameTree/frame/id")
            .and_then(Value::as_str)
            .ok_or_else(|| PageError::Malformed("getFrameTree names no frame".to_owned()))?
            .into();
        self.root = Some(Arc::clone(&root));
        Ok(root)
    }

    /// After events were missed: children are announced again.
    pub(super) fn distrust(&mut self) {
        self.reattach = true;
    }

    /// After the root frame turned out to be another one (prerendered pages).
    pub(super) fn forget_root(&mut self) {
        if let Some(root) = self.root.take() {
            self.forget_world(&root);
        }
    }

    async fn attach_children(
        &mut self,
        context: &ExtensionContext,
        cancel: &CancellationToken,
        target: &Target,
    ) -> Result<(), PageError> {
        if self.attaching.contains(&target.session) {
            return Ok(());
        }
        let params = json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
        context.cdp_within(cancel, target, "Target.setAutoAttach", params, STEP).await?;
        self.attaching.insert(target.session.clone());
        Ok(())
    }

    /// Where a frame's commands go: its own target if it has one, else its parent's.
    fn target_of(&self, frame: &str, parent: Option<&World>) -> Target {
        match self.children.get(frame) {
            Some(session) => Target { tab: self.tab, session: Some(session.clone()) },
            None => parent.map_or_else(|| Target::tab(self.tab), |parent| parent.target.clone()),
        }
    }

    /// Worlds for these frames, made where they are missing. A frame whose world cannot be made gives its
    /// error; the others are not held up.
    pub(super) async fn worlds_for(
        &mut self,
        context: &ExtensionContext,
        cancel: &CancellationToken,
        frames: &[(Arc<str>, Vec<FrameHop>)],
        next: &mut u64,
    ) -> Vec<Result<World, PageError>> {
        let mut wanted = Vec::new();
        for (frame, hops) in frames {
            let target = self.target_of(frame, hops.first().map(|hop| &hop.world));
            if target.session.is_some() {
                // Failing to see frames inside this one is no reason not to see this one.
                let _ = self.attach_children(context, cancel, &target).await;
            }
            let known = self.worlds.get(frame).filter(|world| world.target == target).cloned();
            *next += 1;
            let id = WorldId(*next);
            wanted.push(async move {
                match known {
                    Some(world) => Ok(world),
                    None => World::create(context, cancel, &target, frame, id).await,
                }
            });
        }
        let made = join_all(wanted).await;
        for ((frame, hops), world) in frames.iter().zip(&made) {
            if let Ok(world) = world {
                if self.worlds.get(frame).is_some_and(|old| old.id != world.id) {
                    self.forget_world(frame);
                }
                self.worlds.insert(Arc::clone(frame), world.clone());
                self.hops.insert(world.id, hops.clone());
            }
        }
        made
    }

    /// After the frame of an element could not be found where it was: the element may show another one now.
    pub(super) fn forget_shown(&mut self, world: WorldId, slot: u32) {
        self.shown.remove(&(world, slot));
    }

    /// Which frames these elements of a world show. `None`: it could not be found out (it just vanished).
    pub(super) async fn shown_by(
        &mut self,
        context: &ExtensionContext,
        cancel: &CancellationToken,
        world: &World,
        slots: &[u32],
    ) -> Vec<Option<Arc<str>>> {
        let asks = slots.iter().map(|slot| {
            let known = self.shown.get(&(world.id, *slot)).cloned();
            async move {
                if known.is_some() {
                    return known;
                }
                let object = world.object(context, cancel, *slot).await.ok()?;
                let params = json!({ "objectId": &*object, "depth": 0 });
                let node =
                    context.cdp_within(cancel, &world.target, "DOM.describeNode", params, STEP).await.ok()?;
                node.pointer("/node/frameId").and_then(Value::as_str).map(Arc::from)
            }
        });
        let frames: Vec<Option<Arc<str>>> = join_all(asks).await;
        for (slot, frame) in slots.iter().zip(&frames) {
            if let Some(frame) = frame {
                self.shown.insert((world.id, *slot), Arc::clone(frame));
            }
        }
        frames
    }
}
