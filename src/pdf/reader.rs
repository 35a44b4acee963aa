//! What the reader's process does.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Document, PlainTextOutput, output_doc_page};

use super::{Fault, Said, Wanted};

/// Characters of one page.
const PAGE: usize = 400_000;

/// Reads a file and says what is in it, page by page, to `say`; that returns `false` when nobody listens. A page
/// that breaks the parser costs that page.
pub fn read(content: &[u8], wanted: Wanted, say: &mut dyn FnMut(Said) -> bool) {
    let document = match open(content) {
        Ok(document) => document,
        Err(fault) => {
            say(Said::Fault(fault));
            return;
        }
    };
    let pages = u32::try_from(document.get_pages().len()).unwrap_or(u32::MAX);
    if pages == 0 {
        say(Said::Fault(Fault::Broken));
        return;
    }
    say(Said::Pages(pages));
    let mut characters = 0;
    let last = if wanted.only { wanted.first } else { pages };
    for number in wanted.first..=last.min(pages) {
        let text = catch_unwind(AssertUnwindSafe(|| page(&document, number))).ok().flatten();
        characters += text.as_deref().map_or(0, |text| text.chars().count());
        if !say(Said::Page { number, text }) {
            return;
        }
        if characters >= wanted.characters {
            break;
        }
    }
    say(Said::Over);
}

fn open(content: &[u8]) -> Result<Document, Fault> {
    // Readers take a PDF that begins within the first kilobyte.
    let head = content.get(..content.len().min(1_024)).unwrap_or_default();
    let start = memchr::memmem::find(head, b"%PDF-").ok_or(Fault::NoPdf)?;
    let content = content.get(start..).unwrap_or_default();
    let opened = catch_unwind(|| {
        let mut document = Document::load_mem(content).map_err(|error| fault_of(&error))?;
        // Many files have an empty password, which every reader tries.
        if document.is_encrypted() {
            document.decrypt("").map_err(|_| Fault::Encrypted)?;
        }
        Ok(document)
    });
    opened.unwrap_or(Err(Fault::Broken))
}

fn fault_of(error: &pdf_extract::Error) -> Fault {
    match error {
        pdf_extract::Error::InvalidPassword | pdf_extract::Error::Decryption(_) => Fault::Encrypted,
        _ => Fault::Broken,
    }
}

fn page(document: &Document, number: u32) -> Option<String> {
    let mut text = String::new();
    let read = output_doc_page(document, &mut PlainTextOutput::new(&mut text), number);
    match read {
        // What came before the fault is better than nothing.
        Err(_) if text.trim().is_empty() => None,
        _ => Some(tidy(&text)),
    }
}

/// Lines without spaces at their ends, and never two empty ones.
fn tidy(text: &str) -> String {
    let mut out = String::new();
    let mut empty = true;
    for line in text.lines() {
        let line = line.trim();
        if line.is_empty() && empty {
            continue;
        }
        empty = line.is_empty();
        out.push_str(line);
        out.push('\n');
        if out.len() > PAGE * 4 {
            break;
        }
    }
    out.truncate(out.trim_end().len());
    match out.char_indices().nth(PAGE) {
        Some((end, _)) => out.get(..end).unwrap_or_default().to_owned(),
        None => out,
    }
}
