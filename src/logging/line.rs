//! One event as one line: time, level, process, module, message, fields.

use std::fmt::{self, Debug, Write};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::FmtContext;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::registry::LookupSpan;

use super::mask::{MASKED, is_secret_name, mask};

/// Longest message, in characters.
const MAX_MESSAGE: usize = 1_000;

/// Longest value of a field, in characters: enough for an error, too little for a page or a chat.
const MAX_VALUE: usize = 300;

/// What is looked at of a value before it is masked and cut, in bytes.
const MAX_LOOKED_AT: usize = 16 * 1024;

/// The log's format.
pub(super) struct OneLine;

impl<S, N> FormatEvent<S, N> for OneLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields::default();
        event.record(&mut fields);
        SystemTime.format_time(&mut out)?;
        let meta = event.metadata();
        writeln!(
            out,
            " {:5} {} {}: {}{}",
            meta.level(),
            std::process::id(),
            meta.target(),
            fields.message,
            fields.rest
        )
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    rest: String,
}

impl Visit for Fields {
    fn record_str(&mut self, field: &Field, value: &str) {
        if field.name() == "message" {
            self.message = readable(value, MAX_MESSAGE);
            return;
        }
        let value = if is_secret_name(field.name()) { MASKED.to_owned() } else { readable(value, MAX_VALUE) };
        let quoted = value.is_empty() || value.contains([' ', '"', '=']);
        let _ = match quoted {
            true => write!(self.rest, " {}=\"{}\"", field.name(), value.replace('"', "\\\"")),
            false => write!(self.rest, " {}={value}", field.name()),
        };
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.record_str(field, &format!("{value:?}"));
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.record_str(field, &value.to_string());
    }
}

/// Masked, cut and on one line. Masked before it is cut: half a secret is still one.
fn readable(text: &str, max: usize) -> String {
    let mut end = text.len().min(MAX_LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let masked = mask(&text[..end]);
    let mut out = String::with_capacity(masked.len().min(max * 2));
    let mut chars = masked.chars();
    for c in chars.by_ref().take(max) {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Line and paragraph separators, and what turns text around or hides it.
            '\u{2028}'
            | '\u{2029}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
            | '\u{feff}' => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", c as u32);
            }
            c => out.push(c),
        }
    }
    let left = chars.count() + text[end..].chars().count();
    if left > 0 {
        let _ = write!(out, "…(+{left})");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_cannot_make_a_second_line() {
        let text = "a\nb\rc\u{1b}[31md\u{2028}e\u{85}f\0g\u{202e}h";
        assert_eq!(readable(text, 100), r"a\nb\rc\u{1b}[31md\u{2028}e\u{85}f\u{0}g\u{202e}h");
    }

    #[test]
    fn long_values_are_cut_by_characters() {
        assert_eq!(readable(&"ä".repeat(12), 10), format!("{}…(+2)", "ä".repeat(10)));
        assert_eq!(readable(&"x".repeat(20_000), 5), "xxxxx…(+19995)");
    }

    #[test]
    fn secret_at_the_cut_leaves_no_half() {
        let token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
        for max in 0..token.len() + 10 {
            let text = readable(&format!("x {token}"), max);
            assert!(!text.contains("ghp_"), "{text}");
        }
    }
}
