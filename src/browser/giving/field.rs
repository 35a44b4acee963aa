//! Putting files into a field, by their paths or by their bytes, and reading back what it holds then.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{COMMAND, Gift, Given, HeldFile, Round, is_forbidden, unchanged};
use crate::browser::cdp::CdpError;
use crate::browser::observe::{Patience, Watch};
use crate::browser::page::PageError;
use crate::browser::refusal::{ActError, Class, Refusal};
use crate::browser::text::clean;
use crate::page::{PageFunction, function};

const FIELD: PageFunction = function("giveField");
const PIECE: PageFunction = function("givePiece");

/// How long a field may take to hold what it was given.
const HOLDS: Duration = Duration::from_millis(1_500);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(30);

/// Bytes of a file in one message; messages to the extension end at 1 MiB.
const PIECE_BYTES: u64 = 600 * 1024;

/// Bytes that are sent through messages at most, where the browser does not let files be named.
const SENT: u64 = 32 * 1024 * 1024;

/// What the page function tells of a field before it is given anything.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FieldFacts {
    none: bool,
    multiple: bool,
    folder: bool,
    accept: String,
    disabled: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FieldHolds {
    none: bool,
    now: Vec<HeldFile>,
    seen: Option<Vec<HeldFile>>,
}

impl Round<'_> {
    /// Calls a page function about a field, which needs no place in a document.
    async fn field_call<T: serde::de::DeserializeOwned>(
        &self,
        field: &Arc<str>,
        op: &str,
    ) -> Result<T, PageError> {
        let args = [json!({ "op": op, "id": self.id })];
        let fields = [Arc::clone(field)];
        let context = &self.browser.context;
        self.element.world.call_with(context, self.cancel, FIELD, &args, &fields, COMMAND).await
    }

    /// Gives a field the files and reads back what it holds.
    pub(super) async fn give_field(
        &self,
        field: &Arc<str>,
        via: &'static str,
        patience: Patience,
    ) -> Result<Given, ActError> {
        let facts: FieldFacts = self.field_call(field, "begin").await?;
        self.check(&facts)?;
        let mut watch = Watch::start(self.browser, self.cancel, self.element, None).await?;
        watch.arm(self.cancel, false).await?;
        self.set(field).await?;
        if let Err(changed) = unchanged(self.gifts) {
            // The field may hold what nobody allowed.
            let params = json!({ "files": [], "objectId": &**field });
            let target = &self.element.target;
            let stop = CancellationToken::new();
            self.browser.context.cdp_within(&stop, target, "DOM.setFileInputFiles", params, COMMAND).await?;
            return Err(changed.into());
        }
        let held = self.holds(field).await;
        let observed = watch.settle(self.cancel, patience).await?;
        // The page may have gone on to another one with them.
        let held = match held {
            Err(PageError::WorldGone) if observed.url_changed => FieldHolds::default(),
            other => other?,
        };
        if held.none || (held.seen.is_none() && held.now.is_empty() && observed.url_changed) {
            return Ok(Given { via, holds: self.all(), emptied: true, observed, unasked: None });
        }
        let told = held.seen.as_ref().unwrap_or(&held.now);
        if !self.are(told) {
            return Err(rejected(&held.now).into());
        }
        if !held.now.is_empty() && !self.are(&held.now) {
            return Err(rejected(&held.now).into());
        }
        let emptied = held.now.is_empty();
        let holds = if emptied { told.clone() } else { held.now };
        Ok(Given { via, holds, emptied, observed, unasked: self.unasked(&facts.accept) })
    }

    fn check(&self, facts: &FieldFacts) -> Result<(), Refusal> {
        if facts.none {
            return Err(Refusal::new(Class::BadArgument, "What the page asked with is no file field."));
        }
        if facts.disabled {
            return Err(Refusal::new(
                Class::Disabled,
                "The file field is disabled. Look what the page still asks for.",
            ));
        }
        if facts.folder {
            return Err(Refusal::new(
                Class::BadArgument,
                "The field takes a whole folder, which only the person can choose. Call await_user.",
            ));
        }
        if self.gifts.len() > 1 && !facts.multiple {
            return Err(Refusal::new(Class::BadArgument, "The field takes one file, not several."));
        }
        Ok(())
    }

    /// Puts the files into a field: by their paths, else by their bytes.
    async fn set(&self, field: &Arc<str>) -> Result<(), ActError> {
        let paths: Vec<&str> = self.paths()?;
        let params = json!({ "files": paths, "objectId": &**field });
        let context = &self.browser.context;
        let target = &self.element.target;
        match context.cdp_within(self.cancel, target, "DOM.setFileInputFiles", params, COMMAND).await {
            Ok(_) => Ok(()),
            Err(CdpError::Refused(words)) if is_forbidden(&words) => {
                self.send_bytes().await?;
                let _: Value = self.field_call(field, "set").await?;
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn paths(&self) -> Result<Vec<&str>, Refusal> {
        self.gifts
            .iter()
            .map(|gift| {
                gift.path.to_str().ok_or_else(|| {
                    Refusal::new(
                        Class::BadArgument,
                        "The path of the file is no plain text; give it another name.",
                    )
                })
            })
            .collect()
    }

    /// Hands the files over in pieces, to be put together in our world.
    pub(super) async fn send_bytes(&self) -> Result<(), ActError> {
        let all: u64 = self.gifts.iter().map(|gift| gift.bytes).sum();
        if all > SENT {
            return Err(Refusal::new(
                Class::NotAllowed,
                format!(
                    "The browser does not let the extension name files, and these {} MiB are too much to hand over \
                     otherwise. The person can allow access to file addresses in the extension's details.",
                    all.div_ceil(1024 * 1024)
                ),
            )
            .into());
        }
        for (number, gift) in self.gifts.iter().enumerate() {
            let modified = gift
                .file
                .metadata()
                .and_then(|found| found.modified())
                .ok()
                .and_then(|at| at.duration_since(UNIX_EPOCH).ok())
                .map_or(0, |since| since.as_millis());
            let mut at = 0;
            loop {
                let first = at == 0;
                let piece = read_piece(Arc::clone(&gift.file), at).await?;
                at += piece.len() as u64;
                let args = json!({
                    "id": self.id, "file": number, "first": first, "name": gift.name(), "type": media_type(&gift.name()),
                    "modified": u64::try_from(modified).unwrap_or(0), "base64": STANDARD.encode(&piece),
                });
                let context = &self.browser.context;
                let _: Value =
                    self.element.world.call_with(context, self.cancel, PIECE, &[args], &[], COMMAND).await?;
                if piece.is_empty() || at >= gift.bytes {
                    break;
                }
            }
        }
        Ok(())
    }

    /// What the field holds once it does, or at the end of the time for that.
    async fn holds(&self, field: &Arc<str>) -> Result<FieldHolds, PageError> {
        let began = Instant::now();
        loop {
            let held: FieldHolds = self.field_call(field, "read").await?;
            if held.none || held.seen.is_some() || began.elapsed() >= HOLDS {
                return Ok(held);
            }
            tokio::select! {
                () = self.cancel.cancelled() => return Err(PageError::Cdp(CdpError::Cancelled)),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    fn are(&self, held: &[HeldFile]) -> bool {
        held == self.all()
    }

    /// What the field asks for, when none of its kinds fits one of the files.
    fn unasked(&self, accept: &str) -> Option<String> {
        let kinds: Vec<String> = accept
            .split(',')
            .map(|kind| kind.trim().to_lowercase())
            .filter(|kind| !kind.is_empty())
            .collect();
        let fits = |gift: &Gift| {
            let name = gift.name().to_lowercase();
            let media = media_type(&name);
            kinds.iter().any(|kind| {
                name.ends_with(kind.as_str()) && kind.starts_with('.')
                    || kind == media
                    || kind.strip_suffix('*').is_some_and(|family| media.starts_with(family))
                    || (media.is_empty() && kind.contains('/'))
            })
        };
        (!kinds.is_empty() && !self.gifts.iter().all(fits)).then(|| accept.to_owned())
    }
}

fn rejected(now: &[HeldFile]) -> Refusal {
    let names: Vec<String> = now.iter().map(|file| clean(&file.name, 200)).collect();
    let error = if names.is_empty() {
        "The field does not hold the file. Look for a message that says why."
    } else {
        "The field holds other files than it was given; `value` tells which."
    };
    Refusal::new(Class::Rejected, error).with("value", json!(names))
}

async fn read_piece(file: Arc<std::fs::File>, at: u64) -> Result<Vec<u8>, ActError> {
    let read = tokio::task::spawn_blocking(move || {
        let mut piece = Vec::new();
        let mut file = &*file;
        file.seek(SeekFrom::Start(at))?;
        file.take(PIECE_BYTES).read_to_end(&mut piece)?;
        Ok::<_, std::io::Error>(piece)
    })
    .await;
    let failed = |error: String| Refusal::new(Class::NotAllowed, format!("The file cannot be read: {error}"));
    match read {
        Ok(Ok(piece)) => Ok(piece),
        Ok(Err(error)) => Err(failed(error.to_string()).into()),
        Err(error) => Err(failed(error.to_string()).into()),
    }
}

/// The type that browsers give a file of this name; empty: they know none.
fn media_type(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "txt" | "log" => "text/plain",
        "csv" => "text/csv",
        "html" | "htm" => "text/html",
        "md" => "text/markdown",
        "json" => "application/json",
        "xml" => "text/xml",
        "pdf" => "application/pdf",
        "zip" => "application/zip",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "heic" => "image/heic",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "doc" => "application/msword",
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "xls" => "application/vnd.ms-excel",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        _ => "",
    }
}
