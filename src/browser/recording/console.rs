//! The console: what pages wrote, what they threw, what the browser held against them.

use std::time::SystemTime;

use serde_json::Value;

use super::from_ms;
use super::ring::{Ring, Weigh};
use crate::logging::mask;
use crate::protocol::CdpEvent;

/// Entries of one tab.
const ENTRIES: usize = 500;

/// Bytes of one tab.
const BYTES: usize = 256 * 1024;

/// Characters of one entry.
const LONGEST: usize = 1_000;

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

/// The entries of one tab.
#[derive(Debug)]
pub(super) struct Console {
    entries: Ring<ConsoleEntry>,
    newest: f64,
    /// Up to here (ms since 1970) all is known already: the browser tells it again when recording goes on.
    known_until: f64,
}

impl Default for Console {
    fn default() -> Self {
        Self { entries: Ring::new(ENTRIES, BYTES), newest: 0.0, known_until: 0.0 }
    }
}

impl Console {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn pause(&mut self) {
        self.known_until = self.newest;
    }

    pub(super) fn pick(&self, fits: impl Fn(&&ConsoleEntry) -> bool) -> (Vec<ConsoleEntry>, usize, u64) {
        (self.entries.iter().filter(fits).cloned().collect(), self.entries.len(), self.entries.dropped())
    }

    pub(super) fn note(&mut self, event: &CdpEvent) {
        let params = &event.params;
        let (time, level, text, place) = match event.method.as_str() {
            "Runtime.consoleAPICalled" => {
                let level = match params.get("type").and_then(Value::as_str).unwrap_or_default() {
                    "assert" => ConsoleLevel::Error,
                    "clear" => return,
                    other => ConsoleLevel::named(other).unwrap_or(ConsoleLevel::Log),
                };
                let args = params.get("args").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
                (params.get("timestamp"), level, written(args), top_frame(params.get("stackTrace")))
            }
            "Runtime.exceptionThrown" => {
                let Some(details) = params.get("exceptionDetails") else { return };
                (params.get("timestamp"), ConsoleLevel::Error, thrown(details), place_thrown(details))
            }
            "Log.entryAdded" => {
                let Some(entry) = params.get("entry") else { return };
                let level = entry.get("level").and_then(Value::as_str).and_then(ConsoleLevel::named);
                let text = entry.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
                let place = top_frame(entry.get("stackTrace")).or_else(|| {
                    let url = entry.get("url").and_then(Value::as_str)?;
                    Some(place(url, entry.get("lineNumber"), None))
                });
                (entry.get("timestamp"), level.unwrap_or(ConsoleLevel::Info), text, place)
            }
            _ => return,
        };
        let ms = time.and_then(Value::as_f64);
        if ms.is_some_and(|ms| ms <= self.known_until) {
            return;
        }
        self.newest = self.newest.max(ms.unwrap_or_default());
        self.entries.push(ConsoleEntry {
            at: from_ms(ms),
            level,
            text: mask(&cut(&text, LONGEST)).into_owned(),
            place: place.map(|place| mask(&place).into_owned()),
        });
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
    top_frame(details.get("stackTrace")).or_else(|| {
        let url = details.get("url").and_then(Value::as_str)?;
        Some(place(url, details.get("lineNumber"), details.get("columnNumber")))
    })
}

fn top_frame(stack: Option<&Value>) -> Option<String> {
    let frame = stack?.pointer("/callFrames/0")?;
    let url = frame.get("url").and_then(Value::as_str)?;
    Some(place(url, frame.get("lineNumber"), frame.get("columnNumber")))
}

fn place(url: &str, line: Option<&Value>, column: Option<&Value>) -> String {
    let mut out = cut(url, 200);
    for number in [line, column].into_iter().flatten().filter_map(Value::as_u64) {
        out.push_str(&format!(":{}", number + 1));
    }
    out
}
