//! Giving files to the page: to a field, to the field behind a button, to what takes dropped files. What was
//! given is read back.

mod field;
mod target;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::Target;
use super::downloads::FileId;
use super::observe::{Observed, Patience};
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use crate::page::{ACT, PageFunction, function};
use crate::protocol::{CdpEvent, TabId};

const END: PageFunction = function("giveEnd");

/// How long one command may take.
const COMMAND: Duration = Duration::from_secs(20);

/// The page asked for a file and got no picker of the system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chooser {
    /// It takes several.
    pub multiple: bool,
    /// The field that asked, as a backend node; `None`: the page asked by another way than a field.
    field: Option<i64>,
    /// Where that node lives.
    target: Target,
}

impl Chooser {
    /// What `Page.fileChooserOpened` tells.
    pub(super) fn asked(event: &CdpEvent, tab: TabId) -> Self {
        Self {
            multiple: event.params.get("mode").and_then(Value::as_str) == Some("selectMultiple"),
            field: event.params.get("backendNodeId").and_then(Value::as_i64),
            target: Target { tab, session: event.cdp_session_id.clone() },
        }
    }
}

/// A file that may be given away.
#[derive(Debug, Clone)]
pub struct Gift {
    /// Its absolute path.
    pub path: PathBuf,
    /// The file that was looked at; whatever has the path later must be the same one.
    pub file: Arc<std::fs::File>,
    /// Which one it is.
    pub id: FileId,
    /// Its size.
    pub bytes: u64,
}

impl Gift {
    /// Its name, as the page gets it.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// What became of the files.
#[derive(Debug, Clone)]
pub struct Given {
    /// `field`, `chooser` or `drop`.
    pub via: &'static str,
    /// What the field holds; for a drop, what was dropped.
    pub holds: Vec<HeldFile>,
    /// The page took the files out of the field again.
    pub emptied: bool,
    /// What else was seen.
    pub observed: Observed,
    /// Kinds of files that the field asks for, when these seem to be none of them.
    pub unasked: Option<String>,
}

/// A file in a field.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct HeldFile {
    /// Its name.
    pub name: String,
    /// Its size in bytes.
    pub size: u64,
}

impl Given {
    /// The words of results.
    pub fn words(&self) -> Map<String, Value> {
        let mut words = self.observed.words();
        // What the input's value is says nothing of a file.
        words.remove("value");
        let files: Vec<Value> = self
            .holds
            .iter()
            .map(|file| json!({ "name": super::text::clean(&file.name, 200), "bytes": file.size }))
            .collect();
        words.insert("via".to_owned(), json!(self.via));
        words.insert("files".to_owned(), json!(files));
        let hint = if self.emptied {
            Some(
                "The page took the files and emptied the field, as many do; look whether it shows them."
                    .to_owned(),
            )
        } else {
            self.unasked.as_ref().map(|accept| {
                format!(
                    "The field asks for {}; the page may not take this kind.",
                    super::text::clean(accept, 120)
                )
            })
        };
        match hint {
            Some(hint) => words.insert("hint".to_owned(), json!(hint)),
            None if !self.observed.anything() => words.remove("hint"),
            None => None,
        };
        words
    }
}

#[derive(Debug, Deserialize)]
struct Taker {
    slot: Option<u32>,
    leaves: bool,
    standstill: Option<String>,
}

/// One giving: its name in the page, and what is known of the browser's ways.
struct Round<'b> {
    browser: &'b Browser,
    cancel: &'b CancellationToken,
    element: &'b Element,
    id: String,
    gifts: &'b [Gift],
}

impl Browser {
    /// Gives files to an element: to the file field that it is or stands for, to the chooser that it opens, or by
    /// dropping them on it.
    ///
    /// # Errors
    /// [`Class::BadArgument`] when it takes no files, [`Class::Rejected`] when the page does not keep them; else
    /// see [`ActError`].
    pub async fn give(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        gifts: &[Gift],
        patience: Patience,
    ) -> Result<Given, ActError> {
        self.prepare(cancel, element.target.tab).await?;
        unchanged(gifts)?;
        let round = Round { browser: self, cancel, element, id: uuid::Uuid::new_v4().to_string(), gifts };
        let taker: Taker = element.call(cancel, ACT, &[json!("give"), json!({})]).await?;
        if let Some(standstill) = &taker.standstill {
            return Err(Refusal::new(
                Class::Disabled,
                format!("The element is {standstill}. Do what the page still asks for, then look again."),
            )
            .into());
        }
        let given = match taker.slot {
            Some(slot) => {
                let field = element.world.object(&self.context, cancel, slot).await?;
                round.give_field(&field, "field", patience).await
            }
            None => round.press_or_drop(taker.leaves).await,
        };
        // Also after Stop.
        let _ = element
            .world
            .call::<Value>(&self.context, &CancellationToken::new(), END, &[json!(round.id)])
            .await;
        given
    }
}

impl Round<'_> {
    fn all(&self) -> Vec<HeldFile> {
        self.gifts.iter().map(|gift| HeldFile { name: gift.name(), size: gift.bytes }).collect()
    }
}

/// Extensions without access to file addresses may not name files.
fn is_forbidden(words: &str) -> bool {
    words.contains("Not allowed") || words.contains("not allowed")
}

/// Nobody put another file in the place of one that was allowed.
fn unchanged(gifts: &[Gift]) -> Result<(), Refusal> {
    match gifts.iter().find(|gift| FileId::at(&gift.path).as_ref() != Some(&gift.id)) {
        None => Ok(()),
        Some(gift) => Err(Refusal::new(
            Class::NotAllowed,
            format!(
                "{} was changed or replaced meanwhile.",
                super::text::quoted(&gift.path.to_string_lossy(), 200)
            ),
        )),
    }
}
