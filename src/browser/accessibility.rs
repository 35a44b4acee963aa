//! The browser's accessibility tree, frame by frame and a level at a time: the whole of a large page is never asked
//! for at once.

mod node;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::finding::Named;
use super::page::{PageError, World};
use super::refusal::{ActError, Class, Refusal};
use super::seer::FrameWorld;
use super::text::{clean, quoted, token};
use super::view::ViewError;
use crate::page::{PageFunction, function};
use node::{AxNode, in_order, text_of};

/// How long the whole reading may take.
const WITHIN: Duration = Duration::from_secs(7);

/// Nodes whose children are asked for at once.
const AT_ONCE: usize = 12;

/// How long one command may take.
const STEP: Duration = Duration::from_secs(8);

/// Nodes that one call into a page is told of.
const PART: usize = 2_000;

/// Longest name and value, graphemes.
const NAME: usize = 100;

/// Remote objects of one reading, released together.
const OBJECTS: &str = "browy-tree";

/// What to read.
#[derive(Debug, Clone, Default)]
pub struct TreeOptions {
    /// Only what the first match of this CSS selector holds.
    pub selector: Option<String>,
    /// Nodes to tell; ignored ones are not counted.
    pub most: usize,
}

/// The tree as text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AccessibleTree {
    /// One node a line, indented. No byte of it that came from the page can end a line.
    pub text: String,
    /// Nodes told.
    pub shown: usize,
    /// There are more than were told.
    pub cut: bool,
    /// Time was over before the end.
    pub late: bool,
}

#[derive(Debug, Deserialize)]
struct Facts {
    facts: Vec<Fact>,
    texts: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fact {
    on: Option<Named>,
    secret: bool,
}

/// One line to be.
struct Shown {
    node: AxNode,
    depth: usize,
    /// Which of the frames, by position.
    frame: usize,
    /// Name, description and value, in this order; without secrets once the page was asked.
    texts: [String; 3],
    secret: bool,
    index: Option<u32>,
}

/// A tree of one frame, as far as it was asked for.
struct Tree<'a> {
    browser: &'a Browser,
    cancel: &'a CancellationToken,
    frames: &'a [FrameWorld],
    until: Instant,
    most: usize,
    /// Targets on which the domain is on.
    enabled: HashSet<Target>,
    shown: Vec<Shown>,
    cut: bool,
    late: bool,
}

/// A node to be told, with what is known of the nodes around it.
struct Next {
    node: AxNode,
    depth: usize,
    frame: usize,
    /// The browser's name of the document it stands in: several share the world of their origin.
    document: Arc<str>,
    /// The name above it, which a text that says the same need not repeat.
    above: String,
}

impl Browser {
    /// Reads the accessibility tree. Takes 7 s at most, and says so when that was not enough.
    ///
    /// # Errors
    /// [`Class::BadArgument`] for a selector that is none or finds nothing; else see [`ActError`].
    pub async fn accessible_tree(
        &self,
        cancel: &CancellationToken,
        options: &TreeOptions,
    ) -> Result<AccessibleTree, ActError> {
        self.open_up(cancel).await?;
        let frames = self.worlds(cancel, true).await?;
        let top = frames.first().ok_or(ViewError::NoTab)?;
        let mut tree = Tree {
            browser: self,
            cancel,
            frames: &frames,
            until: Instant::now() + WITHIN,
            most: options.most,
            enabled: HashSet::new(),
            shown: Vec::new(),
            cut: false,
            late: false,
        };
        let read = match &options.selector {
            None => tree.read_frame(0, &top.world.frame, 0).await,
            Some(selector) => tree.read_part(selector).await,
        };
        let told = match read {
            Ok(()) => tree.tell().await,
            Err(error) => Err(error),
        };
        tree.end().await;
        told
    }
}

impl Tree<'_> {
    async fn send(&self, target: &Target, method: &'static str, params: Value) -> Result<Value, CdpError> {
        self.browser.context.cdp_within(self.cancel, target, method, params, STEP).await
    }

    async fn enable(&mut self, target: &Target) -> Result<(), CdpError> {
        if self.enabled.insert(target.clone()) {
            self.send(target, "Accessibility.enable", json!({})).await?;
        }
        Ok(())
    }

    /// Also after Stop: a page keeps its tree up to date for as long as somebody listens.
    async fn end(&self) {
        let always = CancellationToken::new();
        for target in &self.enabled {
            for (method, params) in [
                ("Accessibility.disable", json!({})),
                ("Runtime.releaseObjectGroup", json!({ "objectGroup": OBJECTS })),
            ] {
                let done = self.browser.context.cdp_within(&always, target, method, params, STEP).await;
                if let Err(error) = done {
                    tracing::debug!(%error, method, "not undone");
                }
            }
        }
    }

    fn world(&self, frame: usize) -> Result<&World, ActError> {
        Ok(&self.frames.get(frame).ok_or(ViewError::NoTab)?.world)
    }

    async fn read_frame(&mut self, frame: usize, id: &str, depth: usize) -> Result<(), ActError> {
        let target = self.world(frame)?.target.clone();
        self.enable(&target).await?;
        let answer = self.send(&target, "Accessibility.getRootAXNode", json!({ "frameId": id })).await?;
        let Some(node) = answer.get("node").and_then(|node| AxNode::deserialize(node).ok()) else {
            return Ok(());
        };
        Box::pin(self.read(Next { node, depth, frame, document: id.into(), above: String::new() })).await
    }

    async fn read_part(&mut self, selector: &str) -> Result<(), ActError> {
        const FIND: PageFunction = function("slotOf");
        #[derive(Deserialize)]
        struct At {
            #[serde(default)]
            wrong: bool,
            slot: Option<u32>,
        }
        for at in 0..self.frames.len() {
            let world = self.world(at)?.clone();
            let found: Result<At, PageError> =
                world.call(&self.browser.context, self.cancel, FIND, &[json!(selector)]).await;
            let found = match found {
                Ok(found) => found,
                Err(error) if at == 0 => return Err(error.into()),
                Err(_) => continue,
            };
            if found.wrong {
                return Err(Refusal::new(Class::BadArgument, super::finding::wrong_selector(selector)).into());
            }
            let Some(slot) = found.slot else { continue };
            let object = world.object(&self.browser.context, self.cancel, slot).await?;
            self.enable(&world.target).await?;
            let params = json!({ "objectId": &*object, "fetchRelatives": false });
            let answer = self.send(&world.target, "Accessibility.getPartialAXTree", params).await?;
            let node = answer.pointer("/nodes/0").and_then(|node| AxNode::deserialize(node).ok());
            if let Some(node) = node {
                let document = self.document_of(&world, slot).await?;
                self.read(Next { node, depth: 0, frame: at, document, above: String::new() }).await?;
            }
            return Ok(());
        }
        let wanted = quoted(selector, 200);
        Err(Refusal::new(
            Class::BadArgument,
            format!("Nothing on the page matches the selector {wanted}. Leave it out for the whole page."),
        )
        .into())
    }

    /// The browser's name of the document that an element stands in.
    async fn document_of(&self, world: &World, slot: u32) -> Result<Arc<str>, ActError> {
        const FRAME: PageFunction = function("frameOf");
        let context = &self.browser.context;
        let frame: Option<u32> = world.call(context, self.cancel, FRAME, &[json!(slot)]).await?;
        let Some(frame) = frame else { return Ok(Arc::clone(&world.frame)) };
        let object = world.object(context, self.cancel, frame).await?;
        let params = json!({ "objectId": &*object, "depth": 0 });
        let node = self.send(&world.target, "DOM.describeNode", params).await?;
        let id = node.pointer("/node/frameId").and_then(Value::as_str);
        Ok(id.map_or_else(|| Arc::clone(&world.frame), Arc::from))
    }

    /// Reads a node and what is below it, in order, until enough was read.
    async fn read(&mut self, first: Next) -> Result<(), ActError> {
        let mut fetched: HashMap<String, Vec<AxNode>> = HashMap::new();
        let mut stack = VecDeque::from([first]);
        while let Some(next) = stack.pop_front() {
            if self.shown.len() >= self.most {
                self.cut = true;
                return Ok(());
            }
            let Next { node, mut depth, frame, document, mut above } = next;
            let role = node.role();
            if role == "InlineTextBox" || role == "LineBreak" {
                continue;
            }
            let id = node.node_id.clone();
            let (leaf, holds_frame) = (role == "StaticText", role == "Iframe");
            let backend = node.backend;
            let wanted = !node.child_ids.is_empty();
            let ignored = node.ignored || matches!(role.as_str(), "none" | "generic" | "");
            let name = text_of(node.name.as_ref());
            let repeats = leaf && (name.trim().is_empty() || above.contains(name.trim()));
            if !(ignored && name.is_empty() || node.ignored || repeats) {
                let value = text_of(node.value.as_ref());
                above = format!("{name}\n{value}");
                let texts = [name, text_of(node.description.as_ref()), value];
                self.shown.push(Shown { node, depth, frame, texts, secret: false, index: None });
                depth += 1;
            }
            if holds_frame && Instant::now() < self.until {
                self.read_inner(frame, backend, depth).await?;
                continue;
            }
            if leaf || !wanted {
                continue;
            }
            if !fetched.contains_key(&id) && Instant::now() >= self.until {
                // What came already is told all the same.
                (self.late, self.cut) = (true, true);
                continue;
            }
            if !fetched.contains_key(&id) {
                let more = stack
                    .iter()
                    .filter(|next| *next.document == *document && !next.node.child_ids.is_empty());
                let more = more.map(|next| next.node.node_id.clone()).filter(|id| !fetched.contains_key(id));
                let ids: Vec<String> = std::iter::once(id.clone()).chain(more).take(AT_ONCE).collect();
                self.fetch(frame, &document, ids, &mut fetched).await?;
            }
            for child in fetched.remove(&id).unwrap_or_default().into_iter().rev() {
                let (document, above) = (Arc::clone(&document), above.clone());
                stack.push_front(Next { node: child, depth, frame, document, above });
            }
        }
        Ok(())
    }

    /// The children of these nodes; those of ignored children come along and take their places.
    async fn fetch(
        &mut self,
        frame: usize,
        document: &str,
        ids: Vec<String>,
        fetched: &mut HashMap<String, Vec<AxNode>>,
    ) -> Result<(), ActError> {
        let target = self.world(frame)?.target.clone();
        let asked = join_all(ids.iter().map(|id| {
            self.send(&target, "Accessibility.getChildAXNodes", json!({ "id": id, "frameId": document }))
        }))
        .await;
        for (id, answer) in ids.into_iter().zip(asked) {
            let answer = match answer {
                // The node went away meanwhile.
                Err(CdpError::Refused(_)) => Value::Null,
                Err(CdpError::Timeout { .. }) => {
                    (self.late, self.cut) = (true, true);
                    Value::Null
                }
                other => other?,
            };
            let nodes = answer.get("nodes").cloned().unwrap_or_default();
            let nodes = Vec::<AxNode>::deserialize(nodes).unwrap_or_default();
            fetched.insert(id, in_order(nodes));
        }
        Ok(())
    }

    /// The tree of the frame that an element shows.
    async fn read_inner(&mut self, frame: usize, backend: Option<i64>, depth: usize) -> Result<(), ActError> {
        let Some(backend) = backend else { return Ok(()) };
        let target = self.world(frame)?.target.clone();
        let params = json!({ "backendNodeId": backend, "depth": 0 });
        let Ok(node) = self.send(&target, "DOM.describeNode", params).await else { return Ok(()) };
        let Some(id) = node.pointer("/node/frameId").and_then(Value::as_str) else { return Ok(()) };
        // A frame of the same origin has no world of its own.
        let inner = self.frames.iter().position(|known| *known.world.frame == *id).unwrap_or(frame);
        match Box::pin(self.read_frame(inner, id, depth)).await {
            Err(ActError::Cancelled) => Err(ActError::Cancelled),
            // A frame that vanishes or hangs costs only itself.
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Asks the pages which nodes have numbers and which hold secrets, and writes the lines.
    async fn tell(&mut self) -> Result<AccessibleTree, ActError> {
        for frame in 0..self.frames.len() {
            let of_frame: Vec<usize> = (0..self.shown.len())
                .filter(|at| self.shown.get(*at).is_some_and(|one| one.frame == frame))
                .collect();
            for part in of_frame.chunks(PART) {
                self.ask(frame, part).await?;
            }
        }
        let mut out = AccessibleTree { cut: self.cut, late: self.late, ..AccessibleTree::default() };
        let mut under_secret: Option<usize> = None;
        for one in &self.shown {
            if under_secret.is_some_and(|depth| one.depth > depth) {
                continue;
            }
            under_secret = one.secret.then_some(one.depth);
            out.text.push_str(&line(one));
            out.shown += 1;
        }
        Ok(out)
    }

    async fn ask(&mut self, frame: usize, part: &[usize]) -> Result<(), ActError> {
        const FACTS: PageFunction = function("nodeFacts");
        let known = self.frames.get(frame).ok_or(ViewError::NoTab)?;
        let world = &known.world;
        let resolved = join_all(part.iter().map(|at| async {
            let params = json!({
                "backendNodeId": self.shown.get(*at)?.node.backend?,
                "executionContextId": world.context_id,
                "objectGroup": OBJECTS,
            });
            let answer = self.send(&world.target, "DOM.resolveNode", params).await.ok()?;
            let object = answer.pointer("/object").filter(|object| object["subtype"] == "node")?;
            object["objectId"].as_str().map(|id| (*at, Arc::<str>::from(id)))
        }))
        .await;
        let (places, objects): (Vec<usize>, Vec<_>) = resolved.into_iter().flatten().unzip();
        let texts: Vec<&String> =
            part.iter().filter_map(|at| self.shown.get(*at)).flat_map(|one| &one.texts).collect();
        let args = [json!(texts)];
        let context = &self.browser.context;
        let facts: Facts = world.call_with(context, self.cancel, FACTS, &args, &objects, STEP).await?;
        let mut numbered = Vec::new();
        let mut named = Vec::new();
        for (at, fact) in places.into_iter().zip(facts.facts) {
            let Some(one) = self.shown.get_mut(at) else { continue };
            one.secret = fact.secret;
            if let Some(on) = fact.on {
                numbered.push(at);
                named.push(on);
            }
        }
        for (at, texts) in part.iter().zip(facts.texts.chunks_exact(3)) {
            if let (Some(one), [name, description, value]) = (self.shown.get_mut(*at), texts) {
                one.texts = [name.clone(), description.clone(), value.clone()];
            }
        }
        let numbers = self.browser.numbers_of(self.cancel, known, named).await?;
        for (at, number) in numbered.into_iter().zip(numbers) {
            if let Some(one) = self.shown.get_mut(at) {
                one.index = Some(number);
            }
        }
        Ok(())
    }
}

/// States as words, in the order they are printed.
const STATES: &[&str] =
    &["focused", "disabled", "readonly", "required", "modal", "multiselectable", "selected", "busy"];

fn line(one: &Shown) -> String {
    let [name, description, value] = &one.texts;
    let mut out = "  ".repeat(one.depth.min(60));
    if one.depth > 60 {
        out.push_str(&format!("({} levels down) ", one.depth));
    }
    if let Some(index) = one.index {
        out.push_str(&format!("[{index}] "));
    }
    out.push_str(&token(&one.node.role()));
    let is_field = matches!(one.node.role().as_str(), "textbox" | "searchbox" | "combobox" | "spinbutton");
    if !name.is_empty() && (is_field || !one.secret) {
        out.push(' ');
        out.push_str(&quoted(name, NAME));
    }
    if one.secret {
        out.push_str(" secret");
    } else if !value.is_empty() && value != name {
        out.push_str(&format!(" value={}", quoted(value, NAME)));
    }
    for state in STATES {
        if one.node.property(state) == Some(&Value::Bool(true)) {
            out.push(' ');
            out.push_str(state);
        }
    }
    for (property, on, off) in [
        ("checked", "checked", "unchecked"),
        ("pressed", "pressed", ""),
        ("expanded", "expanded", "collapsed"),
    ] {
        let word = match one.node.property(property) {
            Some(Value::Bool(true)) => on,
            Some(Value::Bool(false)) => off,
            Some(Value::String(text)) if text == "true" => on,
            Some(Value::String(text)) if text == "mixed" => "mixed",
            Some(Value::String(text)) if text == "false" => off,
            _ => "",
        };
        if !word.is_empty() {
            out.push(' ');
            out.push_str(word);
        }
    }
    if one.node.property("invalid").is_some_and(|value| value != "false" && value != false) {
        out.push_str(" invalid");
    }
    if let Some(level) = one.node.property("level").and_then(Value::as_i64) {
        out.push_str(&format!(" level={level}"));
    }
    if !description.is_empty() && !one.secret {
        out.push_str(&format!(" — {}", clean(description, NAME)));
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::node::AxValue;
    use super::*;

    #[test]
    fn line_of_a_secret_tells_no_value() {
        let mut one = Shown {
            node: AxNode { role: Some(AxValue { value: json!("textbox") }), ..AxNode::default() },
            depth: 1,
            frame: 0,
            texts: ["Word".to_owned(), "hunter2".to_owned(), "hunter2".to_owned()],
            secret: true,
            index: Some(4),
        };
        assert_eq!(line(&one), "  [4] textbox \"Word\" secret\n");
        one.secret = false;
        assert_eq!(line(&one), "  [4] textbox \"Word\" value=\"hunter2\" — hunter2\n");
    }

    #[test]
    fn no_page_text_ends_a_line() {
        let one = Shown {
            node: AxNode { role: Some(AxValue { value: json!("a\nb") }), ..AxNode::default() },
            depth: 0,
            frame: 0,
            texts: ["x\n[9] button".to_owned(), "<b>\r\n".to_owned(), "v\u{2028}".to_owned()],
            secret: false,
            index: None,
        };
        let line = line(&one);
        assert_eq!(line.matches(['\n', '\r', '\u{2028}', '<', '>']).count(), 1, "{line:?}");
    }
}
