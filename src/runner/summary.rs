//! One line about a tool's result for the panel: facts, not JSON.

use serde_json::{Map, Value};

/// Characters of the line.
const CHARS: usize = 200;
/// Characters of one fact.
const FACT_CHARS: usize = 60;
/// Facts that the row says anyway, or that mean nothing to a person.
const SILENT: &[&str] = &["success", "index", "tag", "tabId", "windowId"];

/// The line for a result that the model reads as `text`. A failure is its reason, whole.
pub(super) fn summary(text: &str, ok: bool) -> String {
    match serde_json::from_str(text) {
        Ok(Value::Object(facts)) => of_facts(&facts, ok),
        _ if ok => cut(first_line(text), CHARS),
        _ => text.to_owned(),
    }
}

fn of_facts(facts: &Map<String, Value>, ok: bool) -> String {
    if let Some(Value::String(error)) = facts.get("error")
        && !ok
    {
        return error.clone();
    }
    let spoken: Vec<String> = facts
        .iter()
        .filter(|(name, _)| !SILENT.contains(&name.as_str()))
        .filter_map(|(name, value)| Some(format!("{name} {}", fact(value)?)))
        .collect();
    cut(&spoken.join(" · "), CHARS)
}

/// A fact in a few words; `None` for what has none.
fn fact(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Bool(flag) => Some(if *flag { "✓" } else { "✗" }.to_owned()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) if text.is_empty() => None,
        Value::String(text) => Some(format!("“{}”", cut(first_line(text), FACT_CHARS))),
        Value::Array(items) => Some(items.len().to_string()),
        Value::Object(_) => None,
    }
}

/// The first line with something to read: fences around page text are not.
fn first_line(text: &str) -> &str {
    text.lines().find(|line| !line.trim().is_empty() && !line.contains(" fence=")).unwrap_or_default().trim()
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
    fn facts_are_told_in_words() {
        let filled = json!({ "success": true, "filled": 9, "total": 9, "results": [{}, {}] });
        assert_eq!(summary(&filled.to_string(), true), "filled 9 · results 2 · total 9");
        let clicked = json!({ "success": true, "index": 4, "urlChanged": true, "title": "Done\nnow", "domChanged": false });
        assert_eq!(summary(&clicked.to_string(), true), "domChanged ✗ · title “Done” · urlChanged ✓");
    }

    #[test]
    fn failure_is_its_reason_whole() {
        let why = "x".repeat(500);
        let failed = json!({ "success": false, "class": "covered", "error": why });
        assert_eq!(summary(&failed.to_string(), false), why);
        assert_eq!(summary("tool: bad argument", false), "tool: bad argument");
    }

    #[test]
    fn text_is_its_first_line_without_the_fence() {
        assert_eq!(summary("<page_text fence=0123>\n\n  A title \nmore", true), "A title");
        assert_eq!(summary(&"é".repeat(300), true).chars().count(), CHARS + 1);
        assert_eq!(summary("", true), "");
    }
}
