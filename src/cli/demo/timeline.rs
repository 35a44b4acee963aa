//! What happens in the side panel while the agent works, as a person would tell it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::chromium::{ChromiumError, Page};

const LOOK: &str = include_str!("pages/panel.js");
/// Often enough that no step is missed by the eye; each look costs the panel well under a millisecond.
const PAUSE: Duration = Duration::from_millis(80);

/// What the side panel shows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Shown {
    /// Its state in one word of the program.
    pub state: String,
    /// Its state in one word of people.
    pub word: String,
    /// The sentence that says what stands in the way.
    pub notice: String,
    /// How the turn failed.
    pub error: String,
    /// Text between the steps.
    pub said: Vec<String>,
    /// The last text.
    pub answer: String,
    /// The steps.
    pub rows: Vec<Row>,
}

/// One step, as the panel shows it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Row {
    /// The tool.
    pub tool: String,
    /// Its label in plain words.
    pub label: String,
    /// How it ended; nothing while it runs.
    pub ok: Option<bool>,
    /// How long it took, in words.
    pub time: String,
    /// The line below it.
    pub result: String,
}

/// One line of the timeline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Moment {
    /// Milliseconds since Enter was pressed.
    pub at_ms: u64,
    /// What it is.
    pub kind: MomentKind,
    /// What happened.
    pub text: String,
    /// More about it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Kinds of lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MomentKind {
    /// The model said something.
    Said,
    /// A step was done.
    Done,
    /// A step failed.
    Failed,
}

/// How the turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// From Enter to the last word.
    pub took: Duration,
    /// The last words.
    pub answer: String,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

/// Looks at the panel.
///
/// # Errors
/// When it cannot be read.
pub async fn look(panel: &Page) -> Result<Shown, ChromiumError> {
    let value = panel.evaluate(LOOK).await?;
    serde_json::from_value(value)
        .map_err(|_| ChromiumError::Answer { method: "Runtime.evaluate", field: "value" })
}

/// Reports the steps from `start` on until the turn is over. The caller limits the time.
///
/// # Errors
/// When the panel cannot be read, such as when the browser was closed.
pub async fn watch(
    panel: &Page,
    start: Instant,
    mut tell: impl FnMut(Moment),
) -> Result<Ended, ChromiumError> {
    let mut teller = Teller::default();
    let mut began = false;
    loop {
        let shown = look(panel).await?;
        let took = start.elapsed();
        for moment in teller.news(&shown, took) {
            tell(moment);
        }
        let busy =
            matches!(shown.state.as_str(), "working" | "waiting" | "queued" | "reconnecting" | "starting");
        began |= busy || !shown.rows.is_empty() || !shown.answer.is_empty();
        let failed = !shown.error.is_empty();
        if (began && !busy) || failed {
            let error = failed.then(|| shown.error.clone()).or_else(|| {
                (shown.state != "ready")
                    .then(|| format!("the side panel says “{}” {}", shown.word, shown.notice))
            });
            return Ok(Ended { took, answer: shown.answer, error });
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Remembers what was told.
#[derive(Debug, Default)]
struct Teller {
    said: usize,
    ended: usize,
}

impl Teller {
    /// What is new since the last look. Steps are told in their order, when they have ended.
    fn news(&mut self, shown: &Shown, at: Duration) -> Vec<Moment> {
        let at_ms = u64::try_from(at.as_millis()).unwrap_or(u64::MAX);
        let mut moments = Vec::new();
        for text in shown.said.iter().skip(self.said) {
            moments.push(Moment { at_ms, kind: MomentKind::Said, text: text.clone(), detail: String::new() });
        }
        self.said = self.said.max(shown.said.len());
        while let Some(row) = shown.rows.get(self.ended)
            && let Some(ok) = row.ok
        {
            let kind = if ok { MomentKind::Done } else { MomentKind::Failed };
            let detail = if ok { row.time.clone() } else { row.result.clone() };
            moments.push(Moment { at_ms, kind, text: row.label.clone(), detail });
            self.ended += 1;
        }
        moments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(label: &str, ok: Option<bool>) -> Row {
        Row { tool: "t".into(), label: label.into(), ok, time: "0.1 s".into(), result: "covered".into() }
    }

    #[test]
    fn a_step_is_told_once_and_only_when_it_has_ended() {
        let mut teller = Teller::default();
        let mut shown =
            Shown { said: vec!["I look".into()], rows: vec![row("Listing", None)], ..Shown::default() };
        let first = teller.news(&shown, Duration::from_millis(5));
        assert_eq!(first.len(), 1);
        assert_eq!(first[0].kind, MomentKind::Said);
        assert_eq!(teller.news(&shown, Duration::from_millis(6)), []);
        shown.rows = vec![row("Listed", Some(true)), row("Clicked", Some(false))];
        let second = teller.news(&shown, Duration::from_millis(7));
        assert_eq!(
            second.iter().map(|m| (m.kind, m.detail.as_str())).collect::<Vec<_>>(),
            [(MomentKind::Done, "0.1 s"), (MomentKind::Failed, "covered")]
        );
        assert_eq!(teller.news(&shown, Duration::from_millis(8)), []);
    }
}
