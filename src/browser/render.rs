//! Entries as lines of text, within a budget of tokens.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::page::WorldId;
use super::text::{clean, quoted, token};
use super::tokens::tokens;
use super::view::{Counts, Entry, LastView, Listing, PageFacts, ViewOptions};

/// Longest text between two tags, longest attribute, longest address: graphemes.
const TEXT: usize = 100;
const LIVE_TEXT: usize = 160;
const ATTRIBUTE: usize = 120;
const ADDRESS: usize = 160;
const TITLE: usize = 100;
const OPTION: usize = 40;

/// What a line costs besides its body: brackets, number, line end.
const LINE_COST: usize = 4;

/// State words that the page script may use; others are dropped.
const WORDS: &[&str] = &[
    "busy",
    "checked",
    "closed-shadow",
    "collapsed",
    "covered",
    "current",
    "disabled",
    "editable",
    "expanded",
    "focused",
    "hidden",
    "inert",
    "invalid",
    "mixed",
    "multiple",
    "pressed",
    "readonly",
    "required",
    "scrollable",
    "secret",
    "selected",
    "unchecked",
];

/// Attributes that the page script may use, in the order they are printed.
const ATTRIBUTES: &[&str] = &["live", "current", "placeholder", "href", "value", "selected", "error"];

/// Stands where only a gap is to be told.
pub(super) static NOTHING: Entry = Entry {
    slot: 0,
    kind: u8::MAX,
    tag: String::new(),
    role: String::new(),
    type_: String::new(),
    name: String::new(),
    href: String::new(),
    text: String::new(),
    name_is_text: false,
    words: Vec::new(),
    attributes: Vec::new(),
    options: Vec::new(),
    more_options: 0,
    marks: 0,
    edges: None,
};

/// One entry in its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'a> {
    pub(super) entry: &'a Entry,
    pub(super) world: WorldId,
    /// The frame's origin when it is not the page's.
    pub(super) origin: Option<&'a str>,
    /// The frame is covered, or inert.
    pub(super) covered: bool,
    pub(super) inert: bool,
    /// Entries before this one that the page script did not send.
    pub(super) hidden_before: usize,
}

impl Line<'_> {
    pub(super) fn is(&self, world: WorldId, slot: u32) -> bool {
        self.world == world && self.entry.slot == slot && self.entry.kind == Entry::ELEMENT
    }

    fn is_entry(&self) -> bool {
        self.entry.kind <= Entry::TEXT
    }

    /// What is printed first when not everything fits: 0 before 1 before 2.
    fn rank(&self) -> u8 {
        let entry = self.entry;
        let urgent = entry.is_on_top() || matches!(entry.role.as_str(), "alert" | "status" | "alertdialog");
        match (urgent, entry.is_off_screen(), entry.is_blocked() || self.covered || self.inert) {
            (true, _, false) => 0,
            (_, false, false) => 1,
            _ => 2,
        }
    }

    /// `<tag …>text</tag>`: nothing of the page in it can end the tag or the line.
    fn body(&self) -> String {
        let entry = self.entry;
        let tag = plain_tag(&entry.tag);
        let mut out = format!("<{tag}");
        let mut put = |name: &str, value: &str| {
            let _ = write!(out, " {name}={value}");
        };
        if !entry.role.is_empty() {
            put("role", &token(&entry.role));
        }
        if !entry.type_.is_empty() && (tag != "input" || entry.type_ != "text") {
            put("type", &token(&entry.type_));
        }
        let blocked = [(self.inert, "inert"), (self.covered && !entry.is_off_screen(), "covered")];
        let own = entry.words.iter().map(String::as_str).filter(|word| WORDS.contains(word));
        let outer =
            blocked.into_iter().filter(|(on, word)| *on && !entry.words.iter().any(|own| own == word));
        for word in own.chain(outer.map(|(_, word)| word)) {
            out.push(' ');
            out.push_str(word);
        }
        let mut put = |name: &str, value: &str| {
            let _ = write!(out, " {name}={value}");
        };
        let attribute =
            |name: &str| entry.attributes.iter().find(|(own, _)| own == name).map(|(_, value)| value);
        let named = !entry.name_is_text && !entry.name.is_empty();
        for name in ATTRIBUTES {
            // The name stands before what may be long.
            if *name == "href" && named {
                put("aria-name", &capped(&entry.name, ATTRIBUTE));
            }
            if let Some(value) = attribute(name) {
                put(name, &capped(value, if *name == "href" { ADDRESS } else { ATTRIBUTE }));
            }
        }
        if !entry.options.is_empty() {
            let list: Vec<String> = entry.options.iter().map(|option| quoted(option, OPTION)).collect();
            let more =
                if entry.more_options > 0 { format!("+{}", entry.more_options) } else { String::new() };
            put("options", &format!("[{}]{more}", list.join(",")));
        }
        if let Some(origin) = self.origin {
            put("frame", &quoted(origin, ATTRIBUTE));
        }
        let text = if entry.name_is_text { &entry.name } else { &entry.text };
        let cap = if entry.kind == Entry::TEXT { LIVE_TEXT } else { TEXT };
        let text = clean(text, cap);
        if text.is_empty() {
            out.push_str("/>");
        } else {
            let _ = write!(out, ">{text}</{tag}>");
        }
        out
    }
}

fn capped(value: &str, cap: usize) -> String {
    if value.len() <= 40 { token(value) } else { quoted(value, cap) }
}

/// Parsers accept nearly anything as a tag name; the model gets plain ones.
fn plain_tag(tag: &str) -> &str {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_' || byte == b'.';
    if !tag.is_empty() && tag.len() <= 40 && tag.bytes().all(plain) { tag } else { "element" }
}

/// What is said of the page besides its entries.
pub(super) struct Page<'a> {
    pub(super) facts: &'a PageFacts,
    pub(super) counts: Counts,
    pub(super) notes: &'a [String],
    /// Numbers of earlier views that are listed no more, in order.
    pub(super) gone: &'a [u32],
}

/// The text and what it holds.
pub(super) struct Written {
    pub(super) text: String,
    pub(super) shown: usize,
    pub(super) lines: HashMap<u32, String>,
    pub(super) texts: HashSet<String>,
    pub(super) listing: Listing,
    /// Of the text without `*`.
    pub(super) digest: u64,
}

/// Writes what fits the budget; with `old`, only what differs from it.
pub(super) fn write<'a>(
    page: &Page<'_>,
    lines: &[Line<'a>],
    options: &ViewOptions,
    old: Option<&LastView>,
    mut number: impl FnMut(&Line<'a>) -> u32,
) -> Written {
    let bodies: Vec<String> =
        lines.iter().map(|line| if line.is_entry() { line.body() } else { String::new() }).collect();
    let chosen = choose(lines, &bodies, options);
    let mut written = Written {
        text: head(page, old.is_some()),
        shown: 0,
        lines: HashMap::new(),
        texts: HashSet::new(),
        listing: Vec::new(),
        digest: 0,
    };
    let mut marks = Vec::new();
    let mut hidden = 0;
    let mut last_number = 0;
    let mut changed = false;
    for ((line, body), chosen) in lines.iter().zip(&bodies).zip(chosen) {
        hidden += line.hidden_before;
        if !line.is_entry() {
            continue;
        }
        if !chosen {
            hidden += 1;
            continue;
        }
        // A view that was asked to continue begins after what was shown before.
        if hidden > 0 && old.is_none() && (options.from.is_none() || written.shown > 0) {
            gap(&mut written.text, hidden, last_number);
        }
        hidden = 0;
        written.shown += 1;
        if line.entry.kind == Entry::TEXT {
            if old.is_none_or(|old| !old.texts.contains(body)) {
                changed = true;
                let _ = writeln!(written.text, "{body}");
            }
            written.texts.insert(body.clone());
            written.listing.push((0, body.clone()));
            continue;
        }
        let index = number(line);
        last_number = index;
        let new = if line.entry.is_new() { "*" } else { "" };
        let off = if line.entry.is_off_screen() { "~" } else { "" };
        let rest = format!("{off}{index}]{body}");
        if old.is_none_or(|old| old.lines.get(&index) != Some(&rest)) {
            changed = true;
            if !new.is_empty() {
                marks.push(written.text.len() + 1);
            }
            let _ = writeln!(written.text, "[{new}{rest}");
        }
        written.listing.push((index, rest.clone()));
        written.lines.insert(index, rest);
    }
    match old {
        None if hidden > 0 => gap(&mut written.text, hidden, last_number),
        None if written.shown == 0 && options.filter.is_some() => {
            written.text.push_str("nothing on the page matches the filter\n");
        }
        None => {}
        Some(_) => gone(&mut written.text, page.gone, changed),
    }
    written.digest = digest(&written.text, &marks);
    written
}

/// Of the text without the bytes at `marks`.
fn digest(text: &str, marks: &[usize]) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    let mut from = 0;
    for mark in marks {
        hasher.write(text.get(from..*mark).unwrap_or_default().as_bytes());
        from = mark + 1;
    }
    hasher.write(text.get(from..).unwrap_or_default().as_bytes());
    hasher.finish()
}

fn gone(text: &mut String, gone: &[u32], changed: bool) {
    if !gone.is_empty() {
        let list: Vec<String> = gone.iter().take(60).map(|index| format!("[{index}]")).collect();
        let more = if gone.len() > 60 { " and more" } else { "" };
        let _ = writeln!(text, "no longer listed: {}{more}", list.join(" "));
    } else if !changed {
        text.push_str("no change since the last view\n");
    }
}

fn gap(text: &mut String, hidden: usize, after: u32) {
    let _ = writeln!(text, "… {hidden} more entries here: inspect_page from={after}");
}

/// Which lines are printed: dialogs and alerts, what is in view, what follows it, what comes before; as much
/// as the budget allows.
fn choose(lines: &[Line<'_>], bodies: &[String], options: &ViewOptions) -> Vec<bool> {
    let mut chosen = vec![false; lines.len()];
    let first_seen = lines.iter().position(|line| line.is_entry() && line.rank() <= 1).unwrap_or(0);
    let paged = options.from.is_some();
    let mut order: Vec<usize> = (0..lines.len()).collect();
    if !paged {
        order.sort_by_key(|at| {
            let rank = lines.get(*at).map_or(3, Line::rank);
            let (before, distance) =
                if *at >= first_seen { (false, at - first_seen) } else { (true, first_seen - at) };
            (rank, before, distance)
        });
    }
    let mut left = options.budget;
    for at in order {
        let (Some(line), Some(body)) = (lines.get(at), bodies.get(at)) else { continue };
        if !line.is_entry() {
            continue;
        }
        let cost = tokens(body) + LINE_COST;
        if cost > left {
            break;
        }
        left -= cost;
        if let Some(slot) = chosen.get_mut(at) {
            *slot = true;
        }
    }
    chosen
}

fn head(page: &Page<'_>, known: bool) -> String {
    let Counts { acted, links, buttons, fields, frames, elements, text } = page.counts;
    let mut out = String::new();
    if !known && !page.facts.url.is_empty() {
        let _ =
            writeln!(out, "page: {} {}", quoted(&page.facts.title, TITLE), clean(&page.facts.url, ADDRESS));
    }
    let _ = writeln!(
        out,
        "page_stats: interactive={acted} links={links} buttons={buttons} fields={fields} frames={frames} elements={elements}"
    );
    let (_, height) = page.facts.viewport;
    if height > 0.0 {
        let above = page.facts.scroll_y / height;
        let below = (page.facts.scroll_max - page.facts.scroll_y).max(0.0) / height;
        let _ = write!(out, "page_info: {above:.1} pages above, {below:.1} below");
        out.push_str(match (above > 0.2, below > 0.2) {
            (_, true) => "; ~ marks what needs scrolling\n",
            (true, false) => "; at the end\n",
            (false, false) => "\n",
        });
    }
    if page.facts.hidden {
        out.push_str("hint: this tab is in the background; pages that draw only in front need switch_tab\n");
    }
    if page.facts.kind == "application/pdf" {
        out.push_str(
            "hint: this is a PDF in the browser's own viewer; its text is not listed here: read_pdf\n",
        );
    } else if page.facts.ready_state == "loading" {
        out.push_str("hint: the page is still loading\n");
    } else if elements < 10 && acted == 0 && text == 0 {
        out.push_str("hint: the page is empty\n");
    } else if elements > 30 && acted == 0 && text < elements {
        out.push_str("hint: little is there yet; the page may still be filling itself in\n");
    }
    for title in page.facts.aside.iter().take(3) {
        let named = if title.is_empty() { String::new() } else { format!(" {}", quoted(title, TITLE)) };
        let _ = writeln!(out, "note: a frame{named} of another extension is set aside while you work here");
    }
    for note in page.notes {
        let _ = writeln!(out, "note: {note}");
    }
    out
}

#[cfg(test)]
mod tests;
