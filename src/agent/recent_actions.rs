//! The last tool calls of one chat, which the model is shown so that it can check what it did.
//!
//! Belongs to a chat and to nothing else: a chat never sees another one's calls.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::Value;

/// Calls that are kept.
const KEPT: usize = 5;
/// Characters of one text argument.
const ARG_CHARS: usize = 60;
/// Characters of all arguments together.
const ARGS_CHARS: usize = 120;
/// Characters of the result.
const RESULT_CHARS: usize = 100;

/// The last tool calls, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecentActions {
    calls: VecDeque<Action>,
}

/// One tool call that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Action {
    call: String,
    outcome: Outcome,
    took: Duration,
    result: String,
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It did what it was asked to.
    Ok,
    /// It did not.
    Failed,
    /// Stopped on the way: what it did is not known.
    Unknown,
}

impl RecentActions {
    /// Remembers a call that ended, and forgets the oldest one.
    pub fn record(&mut self, tool: &str, args: &Value, outcome: Outcome, took: Duration, result: &str) {
        if self.calls.len() == KEPT {
            self.calls.pop_front();
        }
        self.calls.push_back(Action {
            call: format!("{tool}({})", short_args(args)),
            outcome,
            took,
            result: cut(&collapse(result), RESULT_CHARS),
        });
    }

    /// One line a call; empty when there was none.
    pub fn lines(&self) -> Vec<String> {
        self.calls
            .iter()
            .map(|action| {
                let outcome = match action.outcome {
                    Outcome::Ok => "ok",
                    Outcome::Failed => "failed",
                    Outcome::Unknown => "outcome unknown",
                };
                format!("{} → {outcome}, {} ms, {}", action.call, action.took.as_millis(), action.result)
            })
            .collect()
    }
}

fn short_args(args: &Value) -> String {
    let Value::Object(args) = args else { return String::new() };
    let parts: Vec<String> = args
        .iter()
        .map(|(name, value)| match value {
            Value::String(text) => format!("{name}: {:?}", cut(&collapse(text), ARG_CHARS)),
            Value::Array(items) => format!("{name}: [{} items]", items.len()),
            Value::Object(_) => format!("{name}: {{…}}"),
            other => format!("{name}: {other}"),
        })
        .collect();
    cut(&parts.join(", "), ARGS_CHARS)
}

fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn five_calls_are_kept_and_the_oldest_goes_first() {
        let mut recent = RecentActions::default();
        for index in 0..7 {
            recent.record(
                "click_index",
                &json!({ "index": index }),
                Outcome::Ok,
                Duration::from_millis(12),
                "done",
            );
        }
        let lines = recent.lines();
        assert_eq!(lines.len(), KEPT);
        assert_eq!(lines[0], "click_index(index: 2) → ok, 12 ms, done");
        assert_eq!(lines[4], "click_index(index: 6) → ok, 12 ms, done");
    }

    #[test]
    fn long_arguments_and_results_are_cut_on_one_line() {
        let mut recent = RecentActions::default();
        let args = json!({ "index": 3, "text": "é".repeat(500), "fields": [1, 2] });
        recent.record("type_index", &args, Outcome::Failed, Duration::ZERO, &"line\nbreak ".repeat(99));
        let lines = recent.lines();
        assert!(lines[0].starts_with("type_index("), "{lines:?}");
        assert!(lines[0].contains("failed"), "{lines:?}");
        assert!(!lines[0].contains('\n') && lines[0].chars().count() < 300, "{lines:?}");
    }
}
