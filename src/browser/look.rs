//! Looking at a page: every frame's world is asked, the answers become one list.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::cdp::CdpError;
use super::extension_context::ExtensionContext;
use super::frames::MAX_DEPTH;
use super::page::{PAGE_TIMEOUT, PageError, World, WorldId};
use super::refs::{Fingerprint, FrameHop, Ref, RefError, RefTable};
use super::render::{self, Line, Page};
use super::seer::Seer;
use super::view::{Entry, FrameView, LastView, Listing, PageView, ViewError, ViewOptions};
use crate::page::{PageFunction, function};
use crate::protocol::TabId;

/// How long one frame may take.
const FRAME_TIMEOUT: Duration = Duration::from_secs(5);

/// Frames of other origins that one view looks into.
const MAX_FRAMES: usize = 60;

/// Nodes with pointer listeners that one view newly learns of; the next view learns of the next ones.
const MAX_LISTENING: usize = 250;

/// Tokens of a short entry.
const FEWEST_TOKENS: usize = 8;

/// Remote objects of one look, released together.
const OBJECTS: &str = "browy-look";

/// One frame to look at.
struct Visit {
    frame: Arc<str>,
    hops: Vec<FrameHop>,
    /// View and slot that show it.
    parent: Option<(usize, u32)>,
    name: String,
    seen: Value,
    covered: bool,
    inert: bool,
}

/// One frame that was looked at.
pub(super) struct Seen {
    pub(super) world: World,
    pub(super) view: FrameView,
    pub(super) origin: Option<String>,
    covered: bool,
    inert: bool,
}

type Looked = Result<(World, FrameView), PageError>;

fn timed_out() -> PageError {
    PageError::Cdp(CdpError::Timeout { method: "snapshot".to_owned(), after: FRAME_TIMEOUT })
}

/// What a view asks of the frames.
#[derive(Default)]
pub(super) struct Wanted {
    /// World and slot of the region; only that frame is looked at, and what is inside it.
    pub(super) region: Option<(WorldId, u32)>,
    pub(super) from: Option<(WorldId, u32)>,
    pub(super) filter: String,
    pub(super) whole: bool,
    /// Entries that one frame may send.
    pub(super) most: usize,
    /// Only a look: the next view tells what is new as if there had been none.
    pub(super) peek: bool,
    /// Only what has to be opened before anything can be found in it.
    pub(super) opens: bool,
}

/// Everything found in one look.
#[derive(Default)]
pub(super) struct Sight {
    pub(super) seen: Vec<Seen>,
    /// View and slot that show a view.
    pub(super) children: HashMap<(usize, u32), usize>,
    notes: Vec<String>,
}

impl Seer {
    /// Looks at the page and writes the view.
    pub(super) async fn look(
        &mut self,
        tab: TabId,
        options: &ViewOptions,
        cancel: &CancellationToken,
    ) -> Result<PageView, ViewError> {
        let place = |index: u32| self.refs.get(index).map(|known| (known.world, known.slot));
        let wanted = Wanted {
            region: options.region.map(place).transpose()?,
            from: options.from.filter(|from| *from > 0).map(place).transpose()?,
            filter: options.filter.as_deref().unwrap_or_default().trim().to_lowercase(),
            whole: options.from.is_some(),
            most: (options.budget / FEWEST_TOKENS).max(20),
            peek: false,
            opens: false,
        };
        let sight = match self.gather(tab, &wanted, cancel).await {
            Err(PageError::WorldGone) => {
                if wanted.region.is_some() {
                    return Err(RefError::Stale(
                        "the region is no longer there; call inspect_page".to_owned(),
                    )
                    .into());
                }
                if let Some(frames) = self.tabs.get_mut(&tab) {
                    frames.forget_root();
                }
                self.gather(tab, &wanted, cancel).await?
            }
            other => other?,
        };
        Ok(self.write(tab, options, &wanted, sight))
    }

    /// Frame by frame, a level of the tree at a time; frames of one level at once.
    pub(super) async fn gather(
        &mut self,
        tab: TabId,
        wanted: &Wanted,
        cancel: &CancellationToken,
    ) -> Result<Sight, PageError> {
        let context = Arc::clone(&self.context);
        let root = self.frames(tab).root(&context, cancel).await?;
        self.note_waiting();
        let mut level = vec![self.first_visit(tab, root, wanted)?];
        let mut sight = Sight::default();
        for depth in 0..=MAX_DEPTH {
            let results = self.look_at_level(tab, &level, wanted, cancel).await;
            let mut next = Vec::new();
            for (visit, result) in level.into_iter().zip(results) {
                let (world, view) = match result {
                    Ok(found) => found,
                    Err(error @ PageError::Cdp(CdpError::Cancelled)) => return Err(error),
                    Err(error) if depth == 0 => return Err(error),
                    Err(error) => {
                        if let Some(hop) = visit.hops.first() {
                            self.frames(tab).forget_shown(hop.world.id, hop.slot);
                        }
                        sight.note_unread(&visit.name, &error);
                        continue;
                    }
                };
                let at = sight.seen.len();
                if let Some(parent) = visit.parent {
                    sight.children.insert(parent, at);
                }
                let slots: Vec<u32> = view.frames.iter().map(|frame| frame.slot).collect();
                let shown = self.frames(tab).shown_by(&context, cancel, &world, &slots).await;
                for (frame, id) in view.frames.iter().zip(shown) {
                    let Some(id) = id else { continue };
                    let mut hops = vec![FrameHop { world: world.clone(), slot: frame.slot }];
                    hops.extend(visit.hops.iter().cloned());
                    next.push(Visit {
                        frame: id,
                        hops,
                        parent: Some((at, frame.slot)),
                        name: frame.name.clone(),
                        seen: json!(frame.seen),
                        covered: visit.covered || frame.covered,
                        inert: visit.inert || frame.inert,
                    });
                }
                let page_origin = sight.seen.first().map_or(&view.facts.origin, |top| &top.view.facts.origin);
                let origin = (*page_origin != view.facts.origin).then(|| view.facts.origin.clone());
                sight.seen.push(Seen { world, view, origin, covered: visit.covered, inert: visit.inert });
            }
            let room = MAX_FRAMES.saturating_sub(sight.seen.len());
            if next.len() > room {
                sight.notes.push(format!("{} more frames were not looked into", next.len() - room));
                next.truncate(room);
            }
            level = next;
            if level.is_empty() {
                break;
            }
        }
        Ok(sight)
    }

    fn first_visit(&mut self, tab: TabId, root: Arc<str>, wanted: &Wanted) -> Result<Visit, PageError> {
        let mut visit = Visit {
            frame: root,
            hops: Vec::new(),
            parent: None,
            name: String::new(),
            seen: Value::Null,
            covered: false,
            inert: false,
        };
        if let Some((id, _)) = wanted.region {
            let (world, hops) = self.frames(tab).world(id).ok_or(PageError::WorldGone)?;
            visit.frame = Arc::clone(&world.frame);
            visit.hops = hops.to_vec();
        }
        Ok(visit)
    }

    /// A document that was replaced since the last look takes its world along: one more try with a new one.
    async fn look_at_level(
        &mut self,
        tab: TabId,
        level: &[Visit],
        wanted: &Wanted,
        cancel: &CancellationToken,
    ) -> Vec<Looked> {
        let visits: Vec<&Visit> = level.iter().collect();
        let mut results = self.look_once(tab, &visits, wanted, cancel).await;
        let is_gone =
            |(at, result): (usize, &Looked)| matches!(result, Err(PageError::WorldGone)).then_some(at);
        let gone: Vec<usize> = results.iter().enumerate().filter_map(is_gone).collect();
        if gone.is_empty() || wanted.region.is_some() {
            return results;
        }
        let visits: Vec<&Visit> = gone.iter().filter_map(|at| level.get(*at)).collect();
        for visit in &visits {
            self.frames(tab).forget_world(&visit.frame);
        }
        let again = self.look_once(tab, &visits, wanted, cancel).await;
        for (at, result) in gone.into_iter().zip(again) {
            if let Some(old) = results.get_mut(at) {
                *old = result;
            }
        }
        results
    }

    async fn look_once(
        &mut self,
        tab: TabId,
        visits: &[&Visit],
        wanted: &Wanted,
        cancel: &CancellationToken,
    ) -> Vec<Looked> {
        let context = Arc::clone(&self.context);
        let frames: Vec<_> =
            visits.iter().map(|visit| (Arc::clone(&visit.frame), visit.hops.clone())).collect();
        let mut next_world = self.next_world;
        let worlds = self.frames(tab).worlds_for(&context, cancel, &frames, &mut next_world).await;
        self.next_world = next_world;
        self.note_waiting();
        let tab_frames = self.frames(tab);
        let looks = visits.iter().zip(worlds).map(|(visit, world)| {
            let known = world.as_ref().ok().and_then(|world| tab_frames.listening.get(&world.id));
            let context = &context;
            async move {
                let world = world?;
                let look = Look { context, cancel, world: &world, visit, wanted };
                let (view, learnt) = tokio::time::timeout(FRAME_TIMEOUT, look.take(known))
                    .await
                    .unwrap_or_else(|_| Err(timed_out()))?;
                Ok((world, view, learnt))
            }
        });
        let mut results = Vec::new();
        for result in join_all(looks).await {
            results.push(result.map(|(world, view, learnt): (World, FrameView, Vec<i64>)| {
                self.frames(tab).listening.entry(world.id).or_default().extend(learnt);
                (world, view)
            }));
        }
        results
    }

    /// Numbers what is shown and writes the text.
    fn write(&mut self, tab: TabId, options: &ViewOptions, wanted: &Wanted, sight: Sight) -> PageView {
        let mut lines = Vec::new();
        sight.flatten(0, &mut lines);
        if let Some((world, slot)) = wanted.from
            && let Some(at) = lines.iter().position(|line| line.is(world, slot))
        {
            lines.drain(..=at);
        }
        let top = sight.seen.first();
        let facts = top.map(|top| top.view.facts.clone()).unwrap_or_default();
        let total = sight.seen.iter().map(|seen| seen.view.total).sum();
        let mut counts = top.map(|top| top.view.counts).unwrap_or_default();
        for other in sight.seen.iter().skip(1).map(|seen| seen.view.counts) {
            counts.acted += other.acted;
            counts.links += other.links;
            counts.buttons += other.buttons;
            counts.fields += other.fields;
            counts.frames += other.frames;
            counts.elements += other.elements;
            counts.text += other.text;
        }
        let mut gone: Vec<u32> = Vec::new();
        for seen in &sight.seen {
            gone.extend(seen.view.gone.iter().filter_map(|slot| self.refs.known(seen.world.id, *slot)));
        }
        gone.sort_unstable();
        let page = Page { facts: &facts, counts, notes: &sight.notes, gone: &gone };
        let world = top.map(|top| top.world.id);
        let last = self.last.entry(tab).or_default();
        let comparable = last.world == world && world.is_some();
        let refs = &mut self.refs;
        if let Some(listing) = self.resting.remove(&tab)
            && !comparable
            && *options == ViewOptions::default()
        {
            keep_numbers(&page, &lines, options, listing, refs, tab);
        }
        let number = |line: &Line<'_>| {
            let entry = line.entry;
            refs.number(reference(tab, line.world, entry, line.origin))
        };
        let old = (options.delta && comparable).then_some(&*last);
        let written = render::write(&page, &lines, options, old, number);
        if wanted.region.is_none() {
            let kept = if comparable { std::mem::take(last) } else { LastView::default() };
            let whole = *options == ViewOptions::default();
            let listing = if whole { written.listing } else { kept.listing };
            *last = LastView { world, lines: kept.lines, texts: written.texts, listing };
            last.lines.retain(|index, _| gone.binary_search(index).is_err());
            last.lines.extend(written.lines);
        }
        PageView { tab, text: written.text, shown: written.shown, total, facts, digest: written.digest }
    }
}

/// Gives the elements of a page that is taken up again the numbers they had, if the page lists exactly what it did
/// when it was let go of; else none of them.
fn keep_numbers(
    page: &Page<'_>,
    lines: &[Line<'_>],
    options: &ViewOptions,
    listing: Listing,
    refs: &mut RefTable,
    tab: TabId,
) {
    let mut numbers = listing.iter().map(|(index, _)| *index).filter(|index| *index > 0);
    let mut elements = Vec::new();
    let number = |line: &Line<'_>| {
        let index = numbers.next().unwrap_or(0);
        elements.push((index, reference(tab, line.world, line.entry, line.origin)));
        index
    };
    let written = render::write(page, lines, options, None, number);
    let same = written.listing == listing
        && elements.iter().all(|(index, element)| refs.takes_over(*index, element));
    if same {
        for (index, element) in elements {
            refs.rebind(index, element);
        }
    }
}

/// What an entry's number stands for.
pub(super) fn reference(tab: TabId, world: WorldId, entry: &Entry, origin: Option<&str>) -> Ref {
    Ref {
        tab,
        world,
        slot: entry.slot,
        fingerprint: Fingerprint {
            tag: entry.tag.clone(),
            role: entry.role.clone(),
            kind: entry.type_.clone(),
            name: entry.name.clone(),
            href: entry.href.clone(),
        },
        origin: origin.map(str::to_owned),
    }
}

impl Sight {
    fn note_unread(&mut self, name: &str, error: &PageError) {
        let name =
            if name.is_empty() { String::new() } else { format!(" {}", super::text::quoted(name, 60)) };
        let why = match error {
            PageError::WorldGone => "it was just replaced or removed".to_owned(),
            PageError::Cdp(CdpError::Timeout { .. }) => "it did not answer in time".to_owned(),
            other => super::text::clean(&other.to_string(), 120),
        };
        self.notes.push(format!("a frame{name} could not be read: {why}"));
    }

    /// The lines of one world with those of its frames in their places.
    fn flatten<'a>(&'a self, at: usize, lines: &mut Vec<Line<'a>>) {
        let Some(seen) = self.seen.get(at) else { return };
        let line = |entry: &'a Entry| Line {
            entry,
            world: seen.world.id,
            origin: seen.origin.as_deref(),
            covered: seen.covered,
            inert: seen.inert,
            hidden_before: 0,
        };
        let mut hidden = seen.view.before;
        for entry in &seen.view.entries {
            if entry.kind == Entry::FRAME {
                if let Some(child) = self.children.get(&(at, entry.slot)) {
                    self.flatten(*child, lines);
                }
                continue;
            }
            lines.push(Line { hidden_before: std::mem::take(&mut hidden), ..line(entry) });
        }
        hidden += seen.view.after;
        if hidden > 0 {
            lines.push(Line { hidden_before: hidden, ..line(&render::NOTHING) });
        }
    }
}

/// One frame being looked at.
struct Look<'a> {
    context: &'a ExtensionContext,
    cancel: &'a CancellationToken,
    world: &'a World,
    visit: &'a Visit,
    wanted: &'a Wanted,
}

impl Look<'_> {
    /// The view, and the nodes with pointer listeners that the world was told of.
    async fn take(
        &self,
        known: Option<&std::collections::HashSet<i64>>,
    ) -> Result<(FrameView, Vec<i64>), PageError> {
        const SNAPSHOT: PageFunction = function("snapshot");
        let (learnt, mut objects) = self.listening(known).await?;
        let slot_in_this_world = |place: Option<(WorldId, u32)>| {
            place.filter(|(world, _)| *world == self.world.id).map_or(0, |(_, slot)| slot)
        };
        for round in 0..4 {
            let options = json!({
                "seen": self.visit.seen,
                "from": slot_in_this_world(self.wanted.from),
                "region": slot_in_this_world(self.wanted.region),
                "filter": self.wanted.filter,
                "whole": self.wanted.whole,
                "peek": self.wanted.peek,
                "opens": self.wanted.opens,
                "most": self.wanted.most,
                // Roots inside roots are found round by round; the last round takes what there is.
                "probe": round < 3,
            });
            let view: FrameView = self
                .world
                .call_with(self.context, self.cancel, SNAPSHOT, &[options], &objects, PAGE_TIMEOUT)
                .await?;
            if !objects.is_empty() {
                self.release().await;
                objects.clear();
            }
            if view.closed.is_empty() {
                return Ok((view, learnt));
            }
            self.open_roots(&view.closed).await?;
        }
        Err(PageError::Malformed("the page script keeps asking".to_owned()))
    }

    async fn send(&self, method: &'static str, params: Value) -> Result<Value, PageError> {
        let within = PAGE_TIMEOUT;
        Ok(self.context.cdp_within(self.cancel, &self.world.target, method, params, within).await?)
    }

    async fn release(&self) {
        let _ = self.send("Runtime.releaseObjectGroup", json!({ "objectGroup": OBJECTS })).await;
    }

    /// Nodes that listen for the pointer and that this world does not know yet, as objects of this world.
    async fn listening(
        &self,
        known: Option<&std::collections::HashSet<i64>>,
    ) -> Result<(Vec<i64>, Vec<Arc<str>>), PageError> {
        let document = self.world.main_document(self.context, self.cancel).await?;
        let found = self
            .send(
                "DOMDebugger.getEventListeners",
                json!({ "objectId": &*document, "depth": -1, "pierce": true }),
            )
            .await?;
        let mut nodes: Vec<i64> = found
            .get("listeners")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter(|listener| listener.get("type").and_then(Value::as_str).is_some_and(is_pointer_event))
            .filter_map(|listener| listener.get("backendNodeId").and_then(Value::as_i64))
            .filter(|node| known.is_none_or(|known| !known.contains(node)))
            .collect();
        nodes.dedup();
        nodes.truncate(MAX_LISTENING);
        let objects = join_all(nodes.iter().map(|node| self.resolve(*node))).await;
        Ok((nodes, objects.into_iter().flatten().collect()))
    }

    /// A node as an object of this world; `None` for nodes of documents that this world may not touch.
    async fn resolve(&self, node: i64) -> Option<Arc<str>> {
        let params = json!({
            "backendNodeId": node,
            "executionContextId": self.world.context_id,
            "objectGroup": OBJECTS,
        });
        let answer = self.send("DOM.resolveNode", params).await.ok()?;
        if answer.pointer("/object/subtype").and_then(Value::as_str) != Some("node") {
            return None;
        }
        answer.pointer("/object/objectId").and_then(Value::as_str).map(Arc::from)
    }

    /// Finds closed shadow roots behind these elements and hands them to the world.
    async fn open_roots(&self, slots: &[u32]) -> Result<(), PageError> {
        let roots = join_all(slots.iter().map(|slot| async {
            let host = self.world.object(self.context, self.cancel, *slot).await.ok()?;
            let node = self.send("DOM.describeNode", json!({ "objectId": &*host, "depth": 0 })).await.ok()?;
            let root = node
                .pointer("/node/shadowRoots")
                .and_then(Value::as_array)?
                .iter()
                .find(|root| root.get("shadowRootType").and_then(Value::as_str) == Some("closed"))?;
            let root = self.resolve(root.get("backendNodeId").and_then(Value::as_i64)?).await?;
            Some((*slot, root))
        }))
        .await;
        let (hosts, roots): (Vec<u32>, Vec<Arc<str>>) = roots.into_iter().flatten().unzip();
        let args = [json!(slots), json!(hosts)];
        let adopt = function("adoptRoots");
        let _: Value =
            self.world.call_with(self.context, self.cancel, adopt, &args, &roots, PAGE_TIMEOUT).await?;
        if !roots.is_empty() {
            self.release().await;
        }
        Ok(())
    }
}

fn is_pointer_event(kind: &str) -> bool {
    matches!(
        kind,
        "click"
            | "dblclick"
            | "mousedown"
            | "mouseup"
            | "pointerdown"
            | "pointerup"
            | "touchstart"
            | "touchend"
    )
}
