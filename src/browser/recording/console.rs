//! The console: what pages wrote, what they threw, what the browser held against them.
//!
//! To hear of it while it happens with all that belongs to it, exceptions and what objects hold, takes `Runtime.enable`,
//! and a page can tell: `Error.prepareStackTrace` and accessors named `stack` run for every error that it logs. So a
//! tab that nobody asks about reports only the words it writes (`Console.enable`, which no page can tell), and these
//! are kept for when it is left. The browser itself keeps the rest as long as the page lives, from before it was held
//! too, and hands it over when the console is first read; from then on everything of the tab is recorded.

use std::collections::VecDeque;
use std::time::SystemTime;

use serde_json::{Value, json};

use super::from_ms;
use super::ring::{Ring, Weigh};
use crate::logging::mask;
use crate::protocol::{CdpEvent, CdpSessionId};

/// Entries of one tab.
const ENTRIES: usize = 500;

/// Bytes of one tab.
const BYTES: usize = 256 * 1024;

/// Characters of one entry.
const LONGEST: usize = 1_000;

/// Entries of before, the newest, whose objects are looked into.
const CLOSED: usize = 40;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in the console")]
pub enum ConsoleLevel {
    Debug,
    Info,
    Log,
    Warning,
    Error,
}

impl ConsoleLevel {
    /// The level of that name, in every spelling.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "debug" | "verbose" => Self::Debug,
            "info" => Self::Info,
            "log" => Self::Log,
            "warn" | "warning" => Self::Warning,
            "error" | "exception" => Self::Error,
            _ => return None,
        })
    }

    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Debug => "debug",
            Self::Info => "info",
            Self::Log => "log",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One entry.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsoleEntry {
    /// When.
    pub at: SystemTime,
    /// How bad.
    pub level: ConsoleLevel,
    /// The text, secrets masked. The page's own words.
    pub text: String,
    /// `address:line:column`, counted from 1.
    pub place: Option<String>,
}

impl Weigh for ConsoleEntry {
    fn weight(&self) -> usize {
        size_of::<Self>() + self.text.len() + self.place.as_ref().map_or(0, String::len)
    }
}

/// Words of a page that lives, which the browser would tell again with all that belongs to them.
#[derive(Debug)]
struct Words {
    session: Option<CdpSessionId>,
    entry: ConsoleEntry,
}

impl Weigh for Words {
    fn weight(&self) -> usize {
        self.entry.weight()
    }
}

/// An entry with objects of which the browser did not tell what they hold: it does so only for what is written
/// while all is reported.
#[derive(Debug)]
pub(super) struct Closed {
    number: u64,
    pub(super) session: Option<CdpSessionId>,
    args: Vec<Value>,
}

impl Closed {
    /// The objects, by the browser's id.
    pub(super) fn objects(&self) -> Vec<(usize, String)> {
        let ids = self.args.iter().enumerate().filter(|(_, arg)| is_closed(arg));
        ids.filter_map(|(at, arg)| Some((at, arg.get("objectId")?.as_str()?.to_owned()))).take(3).collect()
    }

    /// What `Runtime.getProperties` tells of one.
    pub(super) fn open(&mut self, at: usize, answer: &Value) {
        let Some(arg) = self.args.get_mut(at) else { return };
        let text = |value: &Value, name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
        let (kind, subtype) = (text(arg, "description"), text(arg, "subtype"));
        let most = if subtype.is_some() { 20 } else { 5 };
        let all = answer.get("result").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let own = all.iter().filter(|own| own.get("enumerable").and_then(Value::as_bool) == Some(true));
        let shown = own.clone().take(most).map(|own| {
            let value = own.get("value");
            let told = value.map_or_else(String::new, shown);
            let kind = value.and_then(|value| text(value, "type")).unwrap_or_else(|| "accessor".to_owned());
            json!({ "name": own.get("name"), "type": kind, "value": told })
        });
        let properties: Vec<Value> = shown.collect();
        let overflow = own.count() > most;
        arg["preview"] = json!({
            "description": kind, "subtype": subtype, "properties": properties, "overflow": overflow,
        });
    }
}

/// A plain object or a list, without its inside. To look into a proxy would run the page's code.
fn is_closed(arg: &Value) -> bool {
    let text = |name: &str| arg.get(name).and_then(Value::as_str);
    text("type") == Some("object")
        && matches!(text("subtype"), None | Some("array" | "typedarray"))
        && arg.get("preview").is_none()
}

/// The entries of one tab.
#[derive(Debug)]
pub(super) struct Console {
    entries: Ring<ConsoleEntry>,
    words: Ring<Words>,
    closed: VecDeque<Closed>,
    /// Somebody read it: all is reported from then on.
    whole: bool,
    /// The browser begins to tell the words of its pages again.
    again: bool,
    newest: f64,
    /// Up to here (ms since 1970) all is known already: the browser tells it again when recording goes on.
    known_until: f64,
}

impl Default for Console {
    fn default() -> Self {
        Self {
            entries: Ring::new(ENTRIES, BYTES),
            words: Ring::new(ENTRIES, BYTES),
            closed: VecDeque::new(),
            whole: false,
            again: false,
            newest: 0.0,
            known_until: 0.0,
        }
    }
}

impl Console {
    pub(super) fn len(&self) -> usize {
        self.entries.len() + self.words.len()
    }

    pub(super) fn pause(&mut self) {
        self.known_until = self.newest;
        self.again = true;
    }

    pub(super) fn is_whole(&self) -> bool {
        self.whole
    }

    pub(super) fn set_whole(&mut self) {
        self.whole = true;
    }

    /// Entries that should be opened, each once.
    pub(super) fn take_closed(&mut self) -> Vec<Closed> {
        std::mem::take(&mut self.closed).into()
    }

    /// An entry is open.
    pub(super) fn opened(&mut self, closed: &Closed) {
        let text = readable(&written(&closed.args));
        self.entries.change(closed.number, |entry| entry.text = text);
    }

    /// The page, or a child target of it, is gone, and what the browser kept of it.
    pub(super) fn left(&mut self, session: Option<&CdpSessionId>) {
        // A child's are of the page; when that goes, so does the child.
        let words = self.words.take(|words| session.is_none() || words.session.as_ref() == session);
        words.into_iter().for_each(|words| self.entries.push(words.entry));
        self.again = false;
    }

    pub(super) fn pick(&self, fits: impl Fn(&&ConsoleEntry) -> bool) -> (Vec<ConsoleEntry>, usize, u64) {
        let words = self.words.iter().map(|words| &words.entry);
        let mut picked: Vec<_> = self.entries.iter().chain(words).filter(fits).cloned().collect();
        picked.sort_by_key(|entry| entry.at);
        (picked, self.len(), self.entries.dropped() + self.words.dropped())
    }

    pub(super) fn note(&mut self, event: &CdpEvent) {
        let session = event.cdp_session_id.as_ref();
        match event.method.as_str() {
            "Console.messageAdded" => self.wrote(session, event.params.get("message")),
            "Runtime.consoleAPICalled" | "Runtime.exceptionThrown" => {
                self.words.take(|words| words.session.as_ref() == session);
                self.told(event);
            }
            _ => self.told(event),
        }
    }

    fn wrote(&mut self, session: Option<&CdpSessionId>, message: Option<&Value>) {
        let Some(message) = message.filter(|_| !self.whole) else { return };
        if std::mem::take(&mut self.again) {
            self.words.take(|_| true);
        }
        let text = |name: &str| message.get(name).and_then(Value::as_str);
        let level = text("level").and_then(ConsoleLevel::named).unwrap_or(ConsoleLevel::Log);
        let url = text("url").filter(|url| !url.is_empty());
        // These are counted from 1, unlike all others.
        let at = |name: &str| message.get(name).and_then(Value::as_u64).map(|at| at.saturating_sub(1));
        let place = url.map(|url| place(url, at("line"), at("column")));
        let entry = entry(None, level, text("text").unwrap_or_default(), place);
        self.words.push(Words { session: session.cloned(), entry });
    }

    fn note_closed(&mut self, event: &CdpEvent, args: &[Value]) {
        if !args.iter().any(is_closed) {
            return;
        }
        if self.closed.len() >= CLOSED {
            self.closed.pop_front();
        }
        let (number, session) = (self.entries.next_number(), event.cdp_session_id.clone());
        self.closed.push_back(Closed { number, session, args: args.iter().take(20).cloned().collect() });
    }

    fn told(&mut self, event: &CdpEvent) {
        let params = &event.params;
        let time = params.get("timestamp").or_else(|| params.pointer("/entry/timestamp"));
        let ms = time.and_then(Value::as_f64);
        if ms.is_some_and(|ms| ms <= self.known_until) {
            return;
        }
        let (level, text, place) = match event.method.as_str() {
            "Runtime.consoleAPICalled" => {
                let level = match params.get("type").and_then(Value::as_str).unwrap_or_default() {
                    "assert" => ConsoleLevel::Error,
                    "clear" => return,
                    other => ConsoleLevel::named(other).unwrap_or(ConsoleLevel::Log),
                };
                let args = params.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                self.note_closed(event, args);
                (level, written(args), top_frame(params.get("stackTrace")))
            }
            "Runtime.exceptionThrown" => {
                let Some(details) = params.get("exceptionDetails") else { return };
                (ConsoleLevel::Error, thrown(details), place_thrown(details))
            }
            "Log.entryAdded" => {
                let Some(entry) = params.get("entry") else { return };
                let level = entry.get("level").and_then(Value::as_str).and_then(ConsoleLevel::named);
                let text = entry.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
                let place = top_frame(entry.get("stackTrace")).or_else(|| place_of(entry));
                (level.unwrap_or(ConsoleLevel::Info), text, place)
            }
            _ => return,
        };
        self.newest = self.newest.max(ms.unwrap_or_default());
        self.entries.push(entry(ms, level, &text, place));
    }
}

fn readable(text: &str) -> String {
    mask(&cut(text, LONGEST)).into_owned()
}

fn entry(ms: Option<f64>, level: ConsoleLevel, text: &str, place: Option<String>) -> ConsoleEntry {
    ConsoleEntry {
        at: from_ms(ms),
        level,
        text: readable(text),
        place: place.map(|place| mask(&place).into_owned()),
    }
}

/// The head of a text, with how much there is in all.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        // Masked before it is cut, else half a secret would stand at its end.
        Some(_) => {
            let masked = mask(text);
            let head: String = masked.chars().take(most).collect();
            format!("{head}… ({} characters)", text.chars().count())
        }
        None => text.to_owned(),
    }
}

/// Values as the console shows them, `%s` and the like filled in.
fn written(args: &[Value]) -> String {
    let mut rest = args.iter();
    let mut out = String::new();
    if let Some(format) = args.first().and_then(|first| first.get("value")).and_then(Value::as_str) {
        rest.next();
        let mut chars = format.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, chars.peek()) {
                ('%', Some('%')) => {
                    chars.next();
                    out.push('%');
                }
                // A style is no text.
                ('%', Some('c')) if rest.len() > 0 => {
                    chars.next();
                    rest.next();
                }
                ('%', Some('s' | 'd' | 'i' | 'f' | 'o' | 'O')) if rest.len() > 0 => {
                    chars.next();
                    out.push_str(&rest.next().map(shown).unwrap_or_default());
                }
                _ => out.push(c),
            }
        }
    }
    for value in rest {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(&shown(value));
    }
    out
}

/// One value: text as it is, an object by what the browser tells of its inside.
fn shown(object: &Value) -> String {
    let text = |name: &str| object.get(name).and_then(Value::as_str);
    if let Some(preview) = object.get("preview").filter(|_| text("subtype") != Some("error")) {
        return previewed(preview);
    }
    match object.get("value") {
        Some(Value::String(value)) => value.clone(),
        Some(value) => value.to_string(),
        None => text("unserializableValue")
            .or_else(|| text("description"))
            .or_else(|| text("type"))
            .unwrap_or_default()
            .to_owned(),
    }
}

fn previewed(preview: &Value) -> String {
    let subtype = preview.get("subtype").and_then(Value::as_str).unwrap_or_default();
    let kind = preview.get("description").and_then(Value::as_str).unwrap_or_default();
    if matches!(subtype, "node" | "date" | "regexp" | "error") {
        return kind.to_owned();
    }
    let list = matches!(subtype, "array" | "typedarray");
    let mut parts = Vec::new();
    for entry in preview.get("entries").and_then(Value::as_array).into_iter().flatten() {
        let side = |name: &str| entry.get(name).map(previewed_or_plain);
        parts.push(match (side("key"), side("value").unwrap_or_default()) {
            (Some(key), value) => format!("{key} => {value}"),
            (None, value) => value,
        });
    }
    for property in preview.get("properties").and_then(Value::as_array).into_iter().flatten() {
        let name = property.get("name").and_then(Value::as_str).unwrap_or_default();
        let value = match property.get("valuePreview") {
            Some(inner) => previewed(inner),
            None => quoted_property(property),
        };
        parts.push(if list { value } else { format!("{name}: {value}") });
    }
    if preview.get("overflow").and_then(Value::as_bool) == Some(true) {
        parts.push("…".to_owned());
    }
    let (open, close) = if list { ('[', ']') } else { ('{', '}') };
    let name = if list || kind == "Object" { String::new() } else { format!("{kind} ") };
    format!("{name}{open}{}{close}", parts.join(", "))
}

fn previewed_or_plain(value: &Value) -> String {
    let plain = value.get("properties").and_then(Value::as_array).is_none_or(Vec::is_empty);
    let described = value.get("description").and_then(Value::as_str).unwrap_or_default();
    match value.get("type").and_then(Value::as_str) {
        Some("string") => format!("{described:?}"),
        _ if plain => described.to_owned(),
        _ => previewed(value),
    }
}

fn quoted_property(property: &Value) -> String {
    let value = property.get("value").and_then(Value::as_str).unwrap_or_default();
    match property.get("type").and_then(Value::as_str) {
        Some("string") => format!("{value:?}"),
        Some("accessor") => "(…)".to_owned(),
        _ => value.to_owned(),
    }
}

fn thrown(details: &Value) -> String {
    let text = details.get("text").and_then(Value::as_str).unwrap_or("Uncaught");
    let what = details.get("exception").map(shown).unwrap_or_default();
    // The frames of the stack tell files and lines; three are enough to find the place.
    let what: Vec<&str> = what.lines().take(4).map(str::trim).collect();
    format!("{text} {}", what.join(" ")).trim().to_owned()
}

fn place_thrown(details: &Value) -> Option<String> {
    top_frame(details.get("stackTrace")).or_else(|| place_of(details))
}

fn top_frame(stack: Option<&Value>) -> Option<String> {
    place_of(stack?.pointer("/callFrames/0")?)
}

/// Of anything that has `url`, `lineNumber` and `columnNumber`. Code that was handed to the browser as text has no
/// file, and lines of no file say nothing.
fn place_of(told: &Value) -> Option<String> {
    let url = told.get("url").and_then(Value::as_str).filter(|url| !url.is_empty())?;
    let number = |name: &str| told.get(name).and_then(Value::as_u64);
    Some(place(url, number("lineNumber"), number("columnNumber")))
}

fn place(url: &str, line: Option<u64>, column: Option<u64>) -> String {
    let mut out = cut(url, 200);
    for number in [line, column].into_iter().flatten() {
        out.push_str(&format!(":{}", number + 1));
    }
    out
}
