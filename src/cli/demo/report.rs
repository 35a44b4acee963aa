//! What the demo prints.

use std::io::{IsTerminal, Write as _};
use std::time::Duration;

use super::check::Verdict;
use super::play::{Report, SENTENCE};
use super::stage::{Plan, Stage};
use super::timeline::{Moment, MomentKind};

/// Where the words go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Output {
    /// Text for people, with or without colours.
    Text {
        /// Colours and the like.
        styled: bool,
    },
    /// One JSON object at the end.
    Json,
    /// Nothing.
    Silent,
}

impl Output {
    /// Text as the terminal takes it.
    pub fn text() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self::Text { styled: !plain && std::io::stdout().is_terminal() }
    }

    fn line(self, style: &str, text: &str) {
        // A reader that went away is no reason to leave a browser behind.
        let _ = match self {
            Self::Text { styled: true } if !style.is_empty() => {
                writeln!(std::io::stdout(), "\x1b[{style}m{text}\x1b[0m")
            }
            Self::Text { .. } => writeln!(std::io::stdout(), "{text}"),
            Self::Json | Self::Silent => Ok(()),
        };
    }

    /// What will be done.
    pub fn beginning(self, plan: &Plan, no_display: bool) {
        self.line(
            "1",
            &format!(
                "Browy demo, seed {}: a paper in one tab, a form with 26 fields in the other.",
                plan.seed
            ),
        );
        let model = if plan.live {
            "your GitHub Copilot"
        } else {
            "scripted, inside this program, reached through the real Copilot CLI"
        };
        self.line("", &format!("  model    {model}"));
        if no_display {
            self.line("", "  window   none, because there is no display here");
        }
    }

    /// Host, CLI and side panel are there.
    pub fn ready(self, stage: &Stage, took: Duration) {
        let sandbox =
            if stage.chromium.sandboxed() { "" } else { " --no-sandbox (added, because you are root)" };
        self.line("", &format!("  browser  {}{sandbox}", stage.program.display()));
        self.line("", &format!("  ready    after {}: side panel, host and CLI", seconds(took)));
        self.line("", "");
        self.line("1", &format!("  > {SENTENCE}"));
        self.line("", "");
    }

    /// One line of the timeline.
    pub fn moment(self, moment: &Moment) {
        let at = format!("{:>8}", seconds(Duration::from_millis(moment.at_ms)));
        match moment.kind {
            MomentKind::Said => self.line("2", &format!("{at}    {}", moment.text)),
            MomentKind::Done => self.line("", &format!("{at}  ✓ {}  {}", moment.text, moment.detail)),
            MomentKind::Failed => self.line("31", &format!("{at}  ✗ {}: {}", moment.text, moment.detail)),
        }
    }

    /// The verdict.
    pub fn end(self, report: &Report) {
        let Verdict { fields, submitted } = &report.verdict;
        let took = seconds(Duration::from_millis(report.took_ms));
        self.line("", "");
        for line in report.answer.lines() {
            self.line("", format!("  {line}").trim_end());
        }
        self.line("", "");
        let right = report.verdict.right();
        let sent = match submitted {
            0 => "nothing was submitted".to_owned(),
            1 => "the form was submitted".to_owned(),
            times => format!("the form was submitted {times} times"),
        };
        let style = if report.ok { "1;32" } else { "1;31" };
        let total = fields.len();
        self.line(
            style,
            &format!("  {right} of {total} fields hold what the paper says, and {sent}. {took}"),
        );
        if !report.ok {
            if let Some(error) = &report.error {
                self.line("", &format!("  The turn failed: {error}"));
            }
            self.table(&report.verdict);
        }
        if let Some(file) = &report.screenshot {
            self.line("", &format!("  picture  {}", file.display()));
        }
    }

    /// What is wrong: field, expected, found.
    fn table(self, verdict: &Verdict) {
        let rows: Vec<[String; 3]> = verdict
            .fields
            .iter()
            .filter(|field| !field.ok)
            .map(|field| [shortened(&field.label), shortened(&field.expected), shortened(&field.found)])
            .collect();
        if rows.is_empty() {
            return;
        }
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0).max(8);
        let (label, expected) = (width(0), width(1));
        self.line("", "");
        self.line("1", &format!("  {:label$}  {:expected$}  found", "field", "expected"));
        for [name, wanted, found] in &rows {
            let found = if found.is_empty() { "(nothing)" } else { found };
            self.line("", &format!("  {name:label$}  {wanted:expected$}  {found}"));
        }
    }

    /// The browser stays.
    pub fn kept(self) {
        self.line("", "  The browser stays open; close it, or press Ctrl-C.");
    }

    /// Everything at once.
    ///
    /// # Errors
    /// When the report cannot be written as JSON.
    pub fn whole(self, report: &Report) -> serde_json::Result<()> {
        if self == Self::Json {
            let _ = writeln!(std::io::stdout(), "{}", serde_json::to_string_pretty(report)?);
        }
        Ok(())
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

fn shortened(text: &str) -> String {
    const LONGEST: usize = 44;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let start: String = line.chars().take(LONGEST - 1).collect();
    format!("{start}…")
}
