//! `read_file`: what a file of the agent's folder holds.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use super::{Encoding, refusal};
use crate::browser::text::clean_lines;
use crate::browser::{Class, Refusal};
use crate::data::files::{Files, MAX_FILE};
use crate::tools::answer::{fenced, refused, succeeded};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Characters of one answer.
const TEXT: usize = 20_000;

/// Bytes of one answer in base64.
const BYTES: usize = 30_000;

/// See [`Tool::SPEC`].
pub struct ReadFile;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Name of the file, as list_files tells it, or the `path` that save_file told.
    filename: String,
    /// Continue at this character (of base64: at this byte), as the answer before said; 0 when absent.
    from: Option<u32>,
    /// How the answer is written: utf8 (when absent) or base64.
    encoding: Option<Encoding>,
}

impl Tool for ReadFile {
    const SPEC: ToolSpec = ToolSpec {
        name: "read_file",
        title: "Read a file",
        description: "Read a file of Browy's own folder (what save_file and pdf_export wrote), 20,000 characters at a time. No other file of the computer can be read.",
        category: Category::Files,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let files = Files::below(&cx.paths);
        let name = args.filename;
        // One byte more tells a file that is too large.
        let read = tokio::task::spawn_blocking(move || files.read(&name, MAX_FILE + 1)).await;
        let content = match read {
            Ok(Ok(content)) => content,
            Ok(Err(error)) => return Ok(refusal(&error, "The file was not read")),
            Err(error) => return Err(ToolError::Model(format!("The file could not be read: {error}"))),
        };
        if content.len() as u64 > MAX_FILE {
            let error = "The file has more than 32 MiB and is not read.";
            return Ok(refused(&Refusal::new(Class::NotAllowed, error)));
        }
        let from = usize::try_from(args.from.unwrap_or(0)).unwrap_or(usize::MAX);
        Ok(match args.encoding {
            Some(Encoding::Base64) => bytes(&content, from),
            _ => match std::str::from_utf8(&content) {
                Ok(text) => characters(text, from),
                Err(_) => refused(&Refusal::new(
                    Class::BadArgument,
                    "The file is not text. Read it with encoding base64, or give it to a page by upload_index.",
                )),
            },
        })
    }
}

fn past_end(total: usize, unit: &str, from: usize) -> ToolOutput {
    let error = format!("The file has {total} {unit}; from={from} is past its end.");
    refused(&Refusal::new(Class::BadArgument, error))
}

fn bytes(content: &[u8], from: usize) -> ToolOutput {
    let total = content.len();
    let Some(rest) = content.get(from..).filter(|rest| !rest.is_empty() || from == 0) else {
        return past_end(total, "bytes", from);
    };
    let part = rest.get(..BYTES).unwrap_or(rest);
    let mut words = Map::new();
    words.insert("bytes".to_owned(), json!(total));
    words.insert("content".to_owned(), json!(STANDARD.encode(part)));
    if part.len() < rest.len() {
        words.insert("hint".to_owned(), json!(format!("Go on with from={}.", from + part.len())));
    }
    succeeded(words)
}

/// What was saved may have come from a page: it is fenced as the page's words are.
fn characters(text: &str, from: usize) -> ToolOutput {
    if text.is_empty() {
        return ToolOutput::text("The file is empty.");
    }
    let total = text.chars().count();
    if from >= total {
        return past_end(total, "characters", from);
    }
    let part: String = text.chars().skip(from).take(TEXT).collect();
    let end = from + part.chars().count();
    let mut out = fenced("file", &clean_lines(&part));
    if end < total {
        out.push_str(&format!("\nCharacters {from} to {end} of {total}; go on with from={end}."));
    }
    ToolOutput::text(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_without_a_gap() {
        let text: String = (0..TEXT + 5).map(|at| if at == TEXT { 'é' } else { 'a' }).collect();
        let first = characters(&text, 0).text;
        assert!(first.ends_with(&format!("go on with from={TEXT}.")), "{}", &first[first.len() - 80..]);
        let rest = characters(&text, TEXT).text;
        assert!(rest.contains("\néaaaa\n"), "{rest}");
        assert!(!characters(&text, TEXT + 5).ok);
        assert!(bytes(&[7; BYTES + 1], BYTES).text.contains("\"content\":\"Bw==\""));
        assert!(!bytes(b"ab", 2).ok && bytes(b"", 0).ok);
    }
}
