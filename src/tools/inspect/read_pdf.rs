//! `read_pdf`: the text of the PDF that the tab shows.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use unicode_segmentation::UnicodeSegmentation;

use super::fenced;
use crate::browser::text::clean_lines;
use crate::browser::{ActError, Class, Refusal};
use crate::pdf::{Fault, PdfError, Text, Wanted, text_of};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Characters of one answer.
const ANSWER: usize = 12_000;

/// See [`Tool::SPEC`].
pub struct ReadPdf;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The one page to read, from 1; when absent, from the first page on as far as the answer reaches.
    page: Option<u32>,
    /// Continue at this character of the page, as the answer before said; 0 when absent.
    from: Option<u32>,
}

impl Tool for ReadPdf {
    const SPEC: ToolSpec = ToolSpec {
        name: "read_pdf",
        title: "Read the PDF",
        description: "Read the text of the PDF that the tab shows, 12,000 characters at a time, page by page. The other reading tools see nothing inside a PDF.",
        category: Category::Inspect,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(90),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        if args.page == Some(0) {
            return Err(refuse(Class::BadArgument, "Pages are counted from 1."));
        }
        let Some(pdf) = cx.browser.shown_pdf(&cx.cancel).await? else {
            return Err(refuse(
                Class::BadArgument,
                "This tab shows no PDF. Open the PDF in it first (click_index, navigate), or read the page with extract_text.",
            ));
        };
        let bytes = cx.browser.pdf_bytes(&cx.cancel, &pdf).await?;
        let wanted = Wanted { first: args.page.unwrap_or(1), only: args.page.is_some(), characters: ANSWER };
        let text = match text_of(&bytes, wanted, &cx.cancel).await {
            Ok(text) => text,
            Err(PdfError::Cancelled) => return Err(ToolError::Cancelled),
            Err(error) => return Err(ToolError::Model(error.to_string())),
        };
        let from = usize::try_from(args.from.unwrap_or(0)).unwrap_or(usize::MAX);
        answer(&text, wanted, from).map(ToolOutput::text)
    }
}

fn refuse(class: Class, error: impl Into<String>) -> ToolError {
    ActError::from(Refusal::new(class, error)).into()
}

/// The pages between tags, and what to call next.
fn answer(text: &Text, wanted: Wanted, from: usize) -> Result<String, ToolError> {
    if let Some(fault) = text.fault {
        return Err(refuse(
            Class::NotAllowed,
            match fault {
                Fault::Encrypted => {
                    "The PDF is locked with a password, so its text cannot be read. Ask the person with await_user, or use screenshot."
                }
                Fault::Broken => {
                    "The PDF is damaged, so its text cannot be read. Use screenshot to see what the browser makes of it."
                }
                Fault::NoPdf => {
                    "The server gave something else than a PDF this time; it may want a sign-in, or give it only once. Reload the tab, or use screenshot."
                }
            },
        ));
    }
    if text.pages > 0 && wanted.first > text.pages {
        return Err(refuse(
            Class::BadArgument,
            format!("The PDF has {} pages; there is no page {}.", text.pages, wanted.first),
        ));
    }
    if text.read.is_empty() {
        return Err(refuse(
            Class::Timeout,
            "Reading the PDF took too long or too much memory and was stopped. Use screenshot to see the page shown.",
        ));
    }
    let mut body = String::new();
    let mut notes = Vec::new();
    let mut room = ANSWER;
    let mut next = None;
    for (position, (number, page)) in text.read.iter().enumerate() {
        let Some(page) = page else {
            notes.push(format!("Page {number} could not be read; use screenshot to see it."));
            continue;
        };
        let clean = clean_lines(page);
        let start = if position == 0 { from } else { 0 };
        let total = clean.chars().count();
        if clean.trim().is_empty() {
            notes.push(format!("Page {number} has no text: a picture or a scan. Use screenshot to see it."));
            continue;
        }
        if start >= total {
            return Err(refuse(
                Class::BadArgument,
                format!("Page {number} has {total} characters; from={start} is past its end."),
            ));
        }
        let part = part_of(&clean, start, room);
        body.push_str(&format!("--- page {number} of {} ---\n{part}\n", text.pages));
        let taken = part.chars().count();
        room = room.saturating_sub(taken);
        if start + taken < total {
            next = Some(format!("page={number} and from={}", start + taken));
            break;
        }
        if room == 0 {
            break;
        }
    }
    let last = text.read.last().map_or(wanted.first, |(number, _)| *number);
    let next = next.or_else(|| (last < text.pages).then(|| format!("page={}", last + 1)));
    let mut out = if body.is_empty() { String::new() } else { fenced("pdf_text", &body) };
    for note in notes {
        out.push_str(&format!("\n{note}"));
    }
    if text.cut {
        out.push_str("\nReading took too long and was stopped here.");
    }
    out.push_str(&match next {
        Some(next) => format!("\nThe PDF has {} pages; go on with read_pdf {next}.", text.pages),
        None => format!("\nThe PDF has {} pages.", text.pages),
    });
    Ok(out.trim_start().to_owned())
}

/// Characters of a page, ended between graphemes and if possible at a line.
fn part_of(page: &str, start: usize, room: usize) -> &str {
    let rest = page.char_indices().nth(start).map_or("", |(at, _)| page.get(at..).unwrap_or_default());
    if rest.chars().count() <= room {
        return rest;
    }
    let (mut end, mut count) = (0, 0);
    for (at, grapheme) in rest.grapheme_indices(true) {
        count += grapheme.chars().count();
        if count > room {
            break;
        }
        end = at + grapheme.len();
    }
    let part = rest.get(..end).unwrap_or(rest);
    match part.rfind('\n').filter(|line| *line > end / 2) {
        Some(line) => part.get(..=line).unwrap_or(part),
        None => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pages: u32, texts: &[&str]) -> Text {
        let read = texts.iter().zip(1..).map(|(text, number)| (number, Some((*text).to_owned()))).collect();
        Text { pages, read, fault: None, cut: false }
    }

    fn wanted(first: u32, only: bool) -> Wanted {
        Wanted { first, only, characters: ANSWER }
    }

    fn refused(text: &Text, wanted: Wanted, from: usize) -> String {
        match answer(text, wanted, from) {
            Err(ToolError::Model(why)) => why,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn pages_stand_between_tags_and_the_next_one_is_named() {
        let text = answer(&read(5, &["one </pdf_text> x", "two"]), wanted(1, false), 0).unwrap();
        assert!(
            text.contains("--- page 1 of 5 ---\none ") && text.contains("--- page 2 of 5 ---\ntwo"),
            "{text}"
        );
        assert!(!text.contains("one </pdf_text>"), "{text}");
        assert!(text.ends_with("The PDF has 5 pages; go on with read_pdf page=3."), "{text}");
        let last =
            answer(&Text { read: vec![(5, Some("end".to_owned()))], ..read(5, &[]) }, wanted(5, true), 0)
                .unwrap();
        assert!(last.ends_with("The PDF has 5 pages."), "{last}");
    }

    #[test]
    fn long_page_is_read_to_its_end_in_parts() {
        let long: String = (0..3_000).map(|n| format!("line {n} 👩‍👩‍👧\n")).collect();
        let text = read(1, &[long.trim_end()]);
        let mut joined = String::new();
        let mut from = 0;
        loop {
            let out = answer(&text, wanted(1, true), from).unwrap();
            let (_, body) = out.split_once("---\n").unwrap();
            let (body, rest) = body.split_once("\n</pdf_text").unwrap();
            joined.push_str(body.trim_end());
            joined.push('\n');
            let Some((_, next)) = rest.rsplit_once("from=") else { break };
            from = next.trim_end_matches('.').parse().unwrap();
        }
        assert_eq!(joined.trim_end(), long.trim_end());
    }

    #[test]
    fn scans_faults_and_wrong_pages_have_their_own_answers() {
        let scan = answer(&read(1, &["  \n "]), wanted(1, false), 0).unwrap();
        assert!(scan.contains("Page 1 has no text"), "{scan}");
        assert!(refused(&read(3, &[]), wanted(4, true), 0).contains("has 3 pages"));
        assert!(refused(&read(3, &["short"]), wanted(1, true), 99).contains("past its end"));
        for (fault, words) in
            [(Fault::Encrypted, "password"), (Fault::Broken, "damaged"), (Fault::NoPdf, "sign-in")]
        {
            let text = Text { fault: Some(fault), ..Text::default() };
            assert!(refused(&text, wanted(1, false), 0).contains(words), "{fault:?}");
        }
        assert!(refused(&Text { cut: true, ..Text::default() }, wanted(1, false), 0).contains("stopped"));
    }
}
