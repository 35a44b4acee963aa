//! `get_console_logs`: what the page wrote to its console.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::recorded::{bad, recent, told};
use crate::browser::{ConsoleEntry, ConsoleLevel, moment};
use crate::tools::kinds::OneOrMany;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct GetConsoleLogs;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Only these levels: error, warning, info, log, debug; several with commas.
    level: Option<OneOrMany>,
    /// Only entries that contain this.
    text: Option<String>,
    /// The newest so many; 50 when absent, 200 at most.
    limit: Option<u64>,
    /// Only of the last so many ms.
    since_ms: Option<u64>,
}

impl Tool for GetConsoleLogs {
    const SPEC: ToolSpec = ToolSpec {
        name: "get_console_logs",
        title: "Console",
        description: "Read the console of the tab, frames and workers included: messages, uncaught exceptions and the browser's own warnings, with their place. Recorded since `recordedSince`, also between turns; secrets are masked.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let recent = recent(args.limit, args.since_ms)?;
        let levels = args.level.map(|levels| named(&levels.0)).transpose()?.unwrap_or_default();
        let wanted = args.text.unwrap_or_default().to_lowercase();
        let fits = |entry: &ConsoleEntry| {
            (levels.is_empty() || levels.contains(&entry.level))
                && (wanted.is_empty() || entry.text.to_lowercase().contains(&wanted))
        };
        Ok(told(&cx.browser.console(&cx.cancel, recent, fits).await?, "console", line))
    }
}

fn named(levels: &[String]) -> Result<Vec<ConsoleLevel>, ToolError> {
    let words = levels.iter().flat_map(|text| text.split(',')).filter(|word| !word.trim().is_empty());
    let read = |word: &str| {
        ConsoleLevel::named(word).ok_or_else(|| bad("`level` is error, warning, info, log or debug."))
    };
    words.filter(|word| word.trim() != "all").map(read).collect()
}

fn line(entry: &ConsoleEntry) -> String {
    let place = entry.place.as_ref().map(|place| format!(" ({place})")).unwrap_or_default();
    format!("{} {}: {}{place}", moment(entry.at), entry.level.name(), entry.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_known_in_every_spelling() {
        let levels = |text: &str| named(&[text.to_owned()]).unwrap();
        assert_eq!(levels("warn, Error"), [ConsoleLevel::Warning, ConsoleLevel::Error]);
        assert_eq!(levels("verbose"), [ConsoleLevel::Debug]);
        assert!(levels("all").is_empty());
        assert!(named(&["fatal".to_owned()]).is_err());
    }
}
