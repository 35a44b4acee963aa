//! Names that a case gives to what it saw.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::expect::{Answer, regex};

/// Names bound so far, and the page view they are looked up in.
#[derive(Debug, Clone, Default)]
pub struct Bindings {
    names: BTreeMap<String, String>,
    newest_view: String,
}

impl Bindings {
    /// Keeps the answer when it is a page view.
    pub fn saw(&mut self, answer: &Answer<'_>) {
        if answer.json().is_none() && lines(answer.text).next().is_some() {
            answer.text.clone_into(&mut self.newest_view);
        }
    }

    /// Binds `name` to what `pattern` finds: the number of the one line of the newest page view that matches, or
    /// the first group on any other answer.
    ///
    /// # Errors
    /// When nothing matches, or more than one line does.
    pub fn bind(&mut self, name: &str, pattern: &str, answer: &Answer<'_>) -> Result<(), String> {
        let expression = regex(pattern)?;
        let is_view = answer.json().is_none() && lines(answer.text).next().is_some();
        let value = if !is_view && expression.captures_len() > 1 {
            let found = expression.captures(answer.text).and_then(|groups| groups.get(1));
            found
                .map(|group| group.as_str().to_owned())
                .ok_or(format!("{name}: nothing matches /{pattern}/"))?
        } else {
            let found: Vec<(u64, &str)> =
                lines(&self.newest_view).filter(|(_, line)| expression.is_match(line)).collect();
            match found.as_slice() {
                [(number, _)] => number.to_string(),
                [] => return Err(format!("{name}: no line matches /{pattern}/")),
                many => {
                    let many: Vec<&str> = many.iter().map(|(_, line)| *line).collect();
                    return Err(format!(
                        "{name}: {} lines match /{pattern}/: {}",
                        many.len(),
                        many.join(" | ")
                    ));
                }
            }
        };
        self.names.insert(name.to_owned(), value);
        Ok(())
    }

    /// Puts the bound values in for `$name`, in nested values and inside strings too.
    pub fn fill_in(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => self.fill_in_text(text),
            Value::Array(items) => Value::Array(items.iter().map(|item| self.fill_in(item)).collect()),
            Value::Object(object) => {
                Value::Object(object.iter().map(|(key, value)| (key.clone(), self.fill_in(value))).collect())
            }
            other => other.clone(),
        }
    }

    fn fill_in_text(&self, text: &str) -> Value {
        if let Some(value) = text.strip_prefix('$').and_then(|name| self.names.get(name)) {
            return value.parse::<i64>().map_or_else(|_| Value::from(value.as_str()), Value::from);
        }
        let mut filled = text.to_owned();
        // Backwards: `$planNow` before `$plan`.
        for (name, value) in self.names.iter().rev() {
            filled = filled.replace(&format!("${name}"), value);
        }
        Value::String(filled)
    }
}

/// The numbered lines of a page view: number and whole line.
fn lines(view: &str) -> impl Iterator<Item = (u64, &str)> {
    view.lines().filter_map(|line| {
        let marks = ['*', '~'];
        let inside = line.trim_start().trim_start_matches(marks).strip_prefix('[')?;
        let (number, rest) = inside.trim_start_matches(marks).split_once(']')?;
        let number = number.trim_end_matches(marks).parse().ok()?;
        rest.trim_start_matches(marks).starts_with('<').then_some((number, line))
    })
}
