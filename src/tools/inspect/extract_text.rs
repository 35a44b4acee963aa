//! `extract_text`: what a person can read on the page.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use unicode_segmentation::UnicodeSegmentation;

use super::fenced;
use crate::browser::text::{clean_lines, quoted};
use crate::page::{PageFunction, function};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Characters of one answer.
const PAGE: usize = 4_000;

/// See [`Tool::SPEC`].
pub struct ExtractText;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// CSS selector of the part to read; the whole page when absent.
    selector: Option<String>,
    /// Continue at this character, as the answer before said; 0 when absent.
    from: Option<u32>,
}

/// What the page script answers.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Read {
    found: bool,
    /// The selector is none.
    wrong: bool,
    text: String,
    cut: bool,
    /// Time ran out before the end.
    late: bool,
}

impl Tool for ExtractText {
    const SPEC: ToolSpec = ToolSpec {
        name: "extract_text",
        title: "Read the text",
        description: "Read the visible text of the page, or of the first element that a CSS selector finds, 4,000 characters at a time; frames and shadow roots are included.",
        category: Category::Inspect,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        const READ: PageFunction = function("readText");
        let selector = args.selector.as_deref().map(str::trim).filter(|selector| !selector.is_empty());
        let answers = cx.browser.call_frames::<Read>(&cx.cancel, READ, &[json!(selector)]).await?;
        if let Some(selector) = selector {
            let wanted = quoted(selector, 200);
            if answers.iter().any(|(_, read)| read.wrong) {
                return Err(ToolError::Model(format!("{wanted} is not a valid CSS selector.")));
            }
            if !answers.iter().any(|(_, read)| read.found) {
                return Err(ToolError::Model(format!(
                    "Nothing on the page matches the selector {wanted}. Leave the selector out to read the whole page, or look with inspect_page."
                )));
            }
        }
        let mut text = String::new();
        let mut cut = false;
        let mut late = false;
        for (frame, read) in answers.iter().filter(|(_, read)| read.found) {
            let own = clean_lines(&read.text);
            cut |= read.cut;
            late |= read.late;
            if let Some(origin) = frame.origin.as_deref().filter(|_| !own.is_empty()) {
                text.push_str(&format!("\n<frame origin={}>\n", quoted(origin, 120)));
            }
            text.push_str(&own);
            // A selector means its first match, not one in every frame.
            if selector.is_some() {
                break;
            }
        }
        if text.is_empty()
            && let Some(note) = super::pdf_note(cx).await
        {
            return Ok(ToolOutput::text(note));
        }
        let start = usize::try_from(args.from.unwrap_or(0)).unwrap_or(usize::MAX);
        let mut output = page(&text, start, cut)?;
        if late {
            output.text.push_str(
                "\nReading stopped after 1.5 s, before the end of the page; read parts of it with a selector.",
            );
        }
        Ok(output)
    }
}

/// Characters `start..` of the text, ended at a line or at least between graphemes.
fn page(text: &str, start: usize, cut: bool) -> Result<ToolOutput, ToolError> {
    let total = text.chars().count();
    if text.is_empty() {
        return Ok(ToolOutput::text("There is no visible text."));
    }
    if start >= total {
        return Err(ToolError::Model(format!(
            "The text has {total} characters; from={start} is past its end."
        )));
    }
    let rest: &str = text.char_indices().nth(start).map_or("", |(at, _)| text.get(at..).unwrap_or_default());
    let mut part = rest;
    if rest.chars().count() > PAGE {
        let mut end = 0;
        let mut count = 0;
        for (at, grapheme) in rest.grapheme_indices(true) {
            count += grapheme.chars().count();
            if count > PAGE {
                break;
            }
            end = at + grapheme.len();
        }
        part = rest.get(..end).unwrap_or(rest);
        if let Some(line) = part.rfind('\n').filter(|line| *line > end / 2) {
            part = part.get(..=line).unwrap_or(part);
        }
    }
    let next = start + part.chars().count();
    let mut out = fenced("page_text", part);
    if next < total {
        out.push_str(&format!("\nCharacters {start} to {next} of {total}; go on with from={next}."));
    } else if cut {
        out.push_str("\nThe page is longer than can be read at once; read parts of it with a selector.");
    }
    Ok(ToolOutput::text(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn body(output: &ToolOutput) -> String {
        let lines: Vec<&str> = output.text.lines().collect();
        let end = lines.iter().position(|line| line.starts_with("</page_text")).unwrap();
        lines[1..end].join("\n")
    }

    #[test]
    fn pages_join_to_the_whole_text() {
        let text: String = (0..900).map(|n| format!("line {n} 👩‍👩‍👧 end\n")).collect();
        let mut joined = Vec::new();
        let mut from = 0;
        loop {
            let output = page(&text, from, false).unwrap();
            joined.extend(body(&output).lines().map(str::to_owned).collect::<Vec<_>>());
            let Some((_, next)) = output.text.rsplit_once("from=") else { break };
            from = next.trim_end_matches('.').parse().unwrap();
        }
        assert_eq!(joined, text.lines().map(str::to_owned).collect::<Vec<_>>());
    }

    #[test]
    fn one_endless_line_is_cut_between_graphemes() {
        let text = "👩‍👩‍👧".repeat(2_000);
        let output = page(&text, 0, false).unwrap();
        assert!(body(&output).graphemes(true).all(|grapheme| grapheme == "👩‍👩‍👧"));
    }

    #[test]
    fn start_past_the_end_is_told() {
        assert!(matches!(page("abc", 3, false), Err(ToolError::Model(why)) if why.contains("3 characters")));
    }
}
