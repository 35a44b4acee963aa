//! What one turn may use up.

use std::time::Duration;

use serde_json::Value;

/// Tool calls of one turn.
pub const MAX_CALLS: u32 = 200;
/// Time of one turn, without the time it waits for a person.
pub const MAX_TIME: Duration = Duration::from_secs(30 * 60);
/// Text that tools may hand to the model in one turn, in bytes.
pub const MAX_TOOL_TEXT: usize = 20 * 1024 * 1024;
/// How often the same call may fail before it is refused.
const MAX_SAME_FAILURES: u32 = 3;

/// Counts what a turn has used.
#[derive(Debug, Default)]
pub struct Budget {
    calls: u32,
    tool_text: usize,
    failures: Vec<(String, u32)>,
}

impl Spent {
    /// What the person is told.
    pub fn for_person(&self) -> String {
        match self {
            Self::Calls => format!(
                "This turn has used its {MAX_CALLS} steps. Browy is to say what is done and what is left; ask to go on."
            ),
            Self::Text => format!(
                "This turn has read its {} MiB of pages. Browy is to say what is done and what is left; ask to go on.",
                MAX_TOOL_TEXT / 1024 / 1024
            ),
            Self::SameFailure => format!(
                "The same step failed {MAX_SAME_FAILURES} times and is not tried again. Browy is to find another way or to ask."
            ),
        }
    }
}

/// Why a call is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Spent {
    /// Too many calls.
    #[error("this turn has used its {MAX_CALLS} tool calls; say what is done and what is left, and stop")]
    Calls,
    /// Too much text.
    #[error("this turn has read its {} MiB of tool results; say what is done and what is left, and stop", MAX_TOOL_TEXT / 1024 / 1024)]
    Text,
    /// The same call failed again and again.
    #[error("this exact call has failed {MAX_SAME_FAILURES} times; try something else or ask the person")]
    SameFailure,
}

impl Budget {
    /// Counts a call that is about to run.
    ///
    /// # Errors
    /// [`Spent`]: the call must not run; the text is for the model.
    pub fn take(&mut self, tool: &str, args: &Value) -> Result<(), Spent> {
        if self.calls >= MAX_CALLS {
            return Err(Spent::Calls);
        }
        if self.tool_text >= MAX_TOOL_TEXT {
            return Err(Spent::Text);
        }
        let key = key(tool, args);
        if self.failures.iter().any(|(failed, times)| *failed == key && *times >= MAX_SAME_FAILURES) {
            return Err(Spent::SameFailure);
        }
        self.calls += 1;
        Ok(())
    }

    /// Counts how a call ended.
    pub fn ended(&mut self, tool: &str, args: &Value, ok: bool, text: usize) {
        self.tool_text += text;
        let key = key(tool, args);
        if ok {
            self.failures.retain(|(failed, _)| *failed != key);
        } else if let Some((_, times)) = self.failures.iter_mut().find(|(failed, _)| *failed == key) {
            *times += 1;
        } else {
            self.failures.push((key, 1));
        }
    }
}

fn key(tool: &str, args: &Value) -> String {
    format!("{tool} {args}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn call_that_failed_three_times_is_refused_until_it_succeeds_elsewhere() {
        let mut budget = Budget::default();
        let args = json!({ "index": 1 });
        for _ in 0..MAX_SAME_FAILURES {
            assert_eq!(budget.take("click_index", &args), Ok(()));
            budget.ended("click_index", &args, false, 10);
        }
        assert_eq!(budget.take("click_index", &args), Err(Spent::SameFailure));
        assert_eq!(budget.take("click_index", &json!({ "index": 2 })), Ok(()));
    }

    #[test]
    fn calls_and_text_are_bounded() {
        let mut budget = Budget::default();
        for _ in 0..MAX_CALLS {
            assert_eq!(budget.take("inspect_page", &json!({})), Ok(()));
        }
        assert_eq!(budget.take("inspect_page", &json!({})), Err(Spent::Calls));

        let mut budget = Budget::default();
        budget.ended("extract_text", &json!({}), true, MAX_TOOL_TEXT);
        assert_eq!(budget.take("extract_text", &json!({})), Err(Spent::Text));
    }
}
