//! Text of PDF files. They are read in a process of their own, which gets no more than its share of time and
//! memory: what a hostile file does there costs one answer.

mod limits;
mod reader;

use std::process::Stdio;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

pub use limits::Limits;
pub use reader::read;

/// First argument that makes the program a reader.
pub const READER: &str = "__read-pdf";

/// How long the reader may take.
const TIME: Duration = Duration::from_secs(15);

/// Bytes that the reader may say.
const SAID: u64 = 8 * 1024 * 1024;

/// Which pages to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// The first page, from 1.
    pub first: u32,
    /// Only that one.
    pub only: bool,
    /// No page is begun once there are this many characters.
    pub characters: usize,
}

/// What the reader says, one JSON line each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Said {
    /// The file has this many pages.
    Pages(u32),
    /// The text of one page. `None`: that page could not be read.
    Page {
        /// From 1.
        number: u32,
        /// Its text, lines from top to bottom.
        text: Option<String>,
    },
    /// There is nothing to read.
    Fault(Fault),
    /// That was all.
    Over,
}

/// Why there is nothing to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fault {
    /// It is no PDF at all.
    NoPdf,
    /// It needs a password.
    Encrypted,
    /// It is damaged.
    Broken,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// Pages of the file; 0: unknown.
    pub pages: u32,
    /// Number and text of the pages that were read.
    pub read: Vec<(u32, Option<String>)>,
    /// Why nothing was.
    pub fault: Option<Fault>,
    /// The reader was stopped, or broke down, before it was through.
    pub cut: bool,
}

/// Why no reader answered.
#[derive(Debug, thiserror::Error)]
pub enum PdfError {
    /// It does not start.
    #[error("the reader of PDF files does not start: {0}")]
    Start(std::io::Error),
    /// Stop.
    #[error("stopped")]
    Cancelled,
}

/// Reads pages of a file. Ends within 15 s; what was read until then is told.
///
/// # Errors
/// [`PdfError`].
pub async fn text_of(content: &[u8], wanted: Wanted, cancel: &CancellationToken) -> Result<Text, PdfError> {
    // No library that speaks out of turn can know it.
    let word = uuid::Uuid::new_v4().simple().to_string();
    let mut child = start(&word, wanted).map_err(PdfError::Start)?;
    let mut text = Text { cut: true, ..Text::default() };
    let ended = {
        let listening = listen(&mut child, content, &word, &mut text);
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(PdfError::Cancelled),
            heard = tokio::time::timeout(TIME, listening) => Ok(heard.is_ok()),
        }
    };
    // Also one that is through may have threads that are not.
    let _ = child.kill().await;
    ended.map(|_| text)
}

fn start(word: &str, wanted: Wanted) -> std::io::Result<Child> {
    let program = if cfg!(target_os = "linux") { "/proc/self/exe".into() } else { std::env::current_exe()? };
    Command::new(program)
        .arg(READER)
        .arg(word)
        .arg(std::process::id().to_string())
        .arg(wanted.first.to_string())
        .arg(wanted.only.to_string())
        .arg(wanted.characters.to_string())
        .env_clear()
        .current_dir(if cfg!(unix) { "/" } else { "." })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
}

async fn listen(child: &mut Child, content: &[u8], word: &str, text: &mut Text) {
    let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { return };
    let told = async move {
        // A reader that is through with the file stops listening.
        let _ = stdin.write_all(content).await;
    };
    let heard = async {
        let mut lines = BufReader::new(stdout.take(SAID)).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            let Some(said) = line.strip_prefix(word.as_bytes()) else { continue };
            match serde_json::from_slice(said) {
                Ok(Said::Pages(pages)) => text.pages = pages,
                Ok(Said::Page { number, text: page }) => text.read.push((number, page)),
                Ok(Said::Fault(fault)) => (text.fault, text.cut) = (Some(fault), false),
                Ok(Said::Over) => text.cut = false,
                Err(error) => tracing::debug!(%error, "the PDF reader said nonsense"),
            }
        }
    };
    futures::future::join(told, heard).await;
}
