//! Giving files to the page: to a field, to the field behind a button, to what takes dropped files. What was
//! given is read back.

use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::downloads::FileId;
use super::observe::{Chooser, Observed, Patience, Watch};
use super::page::PageError;
use super::press::Press;
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use super::seer::Found;
use crate::page::{ACT, PageFunction, function};

const FIELD: PageFunction = function("giveField");
const DROP: PageFunction = function("giveDrop");
const PIECE: PageFunction = function("givePiece");
const END: PageFunction = function("giveEnd");
const FIND: PageFunction = function("giveFind");

/// How long a field may take to hold what it was given.
const HOLDS: Duration = Duration::from_millis(1_500);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(30);

/// How long one command may take.
const COMMAND: Duration = Duration::from_secs(20);

/// Bytes of a file in one message; messages to the extension end at 1 MiB.
const PIECE_BYTES: u64 = 600 * 1024;

/// Bytes that are sent through messages at most, where the browser does not let files be named.
const SENT: u64 = 32 * 1024 * 1024;

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

/// Who takes what is dragged over an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Takes {
    None,
    Near,
    Wide,
}

#[derive(Debug, Deserialize)]
struct Dragged {
    over: Takes,
    dropped: Takes,
}

#[derive(Debug, Deserialize)]
struct FoundBySelector {
    wrong: bool,
    total: usize,
    found: Vec<FoundElement>,
}

#[derive(Debug, Deserialize)]
struct FoundElement {
    slot: u32,
    fingerprint: super::refs::Fingerprint,
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
        let given = given?;
        unchanged(gifts)?;
        Ok(given)
    }

    /// The one element that a CSS selector means; a file field goes before others.
    ///
    /// # Errors
    /// [`Class::BadArgument`] when it is no selector or finds nothing, [`Class::Ambiguous`] with `candidates`.
    pub async fn find_taker(&self, cancel: &CancellationToken, selector: &str) -> Result<Element, ActError> {
        let said = super::text::quoted(selector, 120);
        let answers = self.call_frames::<FoundBySelector>(cancel, FIND, &[json!(selector)]).await?;
        if answers.iter().any(|(_, answer)| answer.wrong) {
            return Err(
                Refusal::new(Class::BadArgument, format!("{said} is not a valid CSS selector.")).into()
            );
        }
        let total: usize = answers.iter().map(|(_, answer)| answer.total).sum();
        let mut found = Vec::new();
        let mut names = Vec::new();
        for (frame, answer) in answers {
            for one in answer.found {
                names.push(one.fingerprint.describe());
                found.push(Found {
                    world: frame.world.id,
                    slot: one.slot,
                    fingerprint: one.fingerprint,
                    origin: frame.origin.clone(),
                });
            }
        }
        let numbers = self.number(cancel, found).await?;
        match numbers.as_slice() {
            [] => Err(Refusal::new(
                Class::BadArgument,
                format!("Nothing on the page matches the selector {said}; look with inspect_page."),
            )
            .into()),
            [only] if total == 1 => Ok(self.element(cancel, *only).await?),
            several => {
                let candidates: Vec<Value> = several
                    .iter()
                    .zip(names)
                    .map(|(index, element)| json!({ "index": index, "element": element }))
                    .collect();
                Err(Refusal::new(
                    Class::Ambiguous,
                    format!("{total} elements match the selector {said}; take upload_index with the number of one."),
                )
                .with("candidates", json!(candidates))
                .into())
            }
        }
    }
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

    async fn drop_call<T: serde::de::DeserializeOwned>(&self, op: &str) -> Result<T, PageError> {
        self.element.call(self.cancel, DROP, &[json!({ "op": op, "id": self.id })]).await
    }

    async fn give_field(
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

    async fn send_bytes(&self) -> Result<(), ActError> {
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

    fn all(&self) -> Vec<HeldFile> {
        self.gifts.iter().map(|gift| HeldFile { name: gift.name(), size: gift.bytes }).collect()
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

    /// An element that is no field: dropped on when it takes what is dragged over it, else pressed.
    async fn press_or_drop(&self, leaves: bool) -> Result<Given, ActError> {
        let _: Value = self.drop_call("begin").await?;
        let drag = self.drag_over().await?;
        if drag.takes == Takes::Near {
            return self.drop(drag).await;
        }
        self.drag_leave(&drag).await;
        if leaves {
            return Err(takes_none("It is a link to another page."));
        }
        if let Some(given) = self.press_for_chooser().await? {
            return Ok(given);
        }
        if drag.takes == Takes::Wide {
            let _: Value = self.drop_call("begin").await?;
            let drag = self.drag_over().await?;
            return self.drop(drag).await;
        }
        Err(takes_none("Pressing it opens no file chooser, and it takes nothing that is dragged over it."))
    }

    async fn press_for_chooser(&self) -> Result<Option<Given>, ActError> {
        let _: Value = self.drop_call("stay").await?;
        let observed = self.browser.press(self.cancel, self.element, &Press::default()).await?;
        let Some(chooser) = &observed.chooser else {
            if observed.url_changed
                || observed.dialog.is_some()
                || observed.closed
                || !observed.new_tabs.is_empty()
            {
                let mut refusal = Refusal::new(
                    Class::BadArgument,
                    "Pressing it opened no file chooser but did something else.",
                );
                refusal.details = observed.words();
                return Err(refusal.into());
            }
            return Ok(None);
        };
        let field = self.asking_field(chooser).await?;
        let _: Value =
            self.element.world.call(&self.browser.context, self.cancel, END, &[json!(self.id)]).await?;
        Ok(Some(self.give_field(&field, "chooser", Patience::Settle).await?))
    }

    /// The field that asked, as an object of our world.
    async fn asking_field(&self, chooser: &Chooser) -> Result<Arc<str>, ActError> {
        let Some(node) = chooser.field else {
            return Err(Refusal::new(
                Class::NotAllowed,
                "The page asked for a file in a way that only the person can answer. Call await_user.",
            )
            .into());
        };
        let params = json!({ "backendNodeId": node, "executionContextId": self.element.world.context_id });
        let answer =
            self.browser.context.cdp(self.cancel, &chooser.target, "DOM.resolveNode", params).await?;
        answer
            .pointer("/object/objectId")
            .and_then(Value::as_str)
            .map(Arc::from)
            .ok_or_else(|| PageError::ElementGone.into())
    }

    /// Drags the files over the element; nothing is dropped.
    async fn drag_over(&self) -> Result<Drag, ActError> {
        let at = self.browser.aim_patiently(self.cancel, self.element, &Press::default()).await?;
        let mut drag = Drag { at, real: true, takes: Takes::None };
        let entered = self.drag(&drag, "dragEnter").await;
        match entered {
            Ok(()) => self.drag(&drag, "dragOver").await?,
            Err(CdpError::Refused(words)) if is_forbidden(&words) => {
                drag.real = false;
                self.send_bytes().await?;
                let dragged: Dragged = self.drop_call("over").await?;
                drag.takes = dragged.over;
                return Ok(drag);
            }
            Err(error) => return Err(error.into()),
        }
        let dragged: Dragged = self.drop_call("read").await?;
        drag.takes = dragged.over;
        Ok(drag)
    }

    async fn drag(&self, drag: &Drag, kind: &str) -> Result<(), CdpError> {
        let paths: Vec<String> =
            self.gifts.iter().map(|gift| gift.path.to_string_lossy().into_owned()).collect();
        let params = json!({
            "type": kind, "x": drag.at.0, "y": drag.at.1,
            "data": { "items": [], "files": paths, "dragOperationsMask": 1 },
        });
        let tab = Target::tab(self.element.target.tab);
        let context = &self.browser.context;
        context.cdp_within(self.cancel, &tab, "Input.dispatchDragEvent", params, COMMAND).await.map(drop)
    }

    async fn drag_leave(&self, drag: &Drag) {
        if drag.real
            && let Err(error) = self.drag(drag, "dragCancel").await
        {
            tracing::debug!(%error, "a drag was not taken back");
        }
    }

    async fn drop(&self, drag: Drag) -> Result<Given, ActError> {
        let mut watch = Watch::start(self.browser, self.cancel, self.element, None).await?;
        watch.arm(self.cancel, false).await?;
        let dropped = if drag.real {
            match self.drag(&drag, "drop").await {
                // What it opened or where it went is told below.
                Ok(()) | Err(CdpError::Dialog(_)) => {}
                Err(error) => return Err(error.into()),
            }
            self.drop_call::<Dragged>("read").await
        } else {
            self.drop_call::<Dragged>("drop").await
        };
        let observed = watch.settle(self.cancel, Patience::Settle).await?;
        let took = match dropped {
            Ok(dragged) => dragged.dropped,
            Err(_) if observed.url_changed || observed.dialog.is_some() => Takes::Near,
            Err(error) => return Err(error.into()),
        };
        // A page that keeps files off everywhere takes none of them.
        if took == Takes::None || (took == Takes::Wide && !observed.anything()) {
            return Err(Refusal::new(
                Class::Rejected,
                "The files were dropped on it, but the page does not show that it took them. Look for its file field.",
            )
            .into());
        }
        Ok(Given { via: "drop", holds: self.all(), emptied: false, observed, unasked: None })
    }
}

/// Files that are being dragged.
struct Drag {
    at: (f64, f64),
    /// By the browser, not by events of ours.
    real: bool,
    takes: Takes,
}

fn takes_none(why: &str) -> ActError {
    Refusal::new(
        Class::BadArgument,
        format!("This element takes no file. {why} Look for the file field or its button with inspect_page."),
    )
    .into()
}

fn rejected(now: &[HeldFile]) -> Refusal {
    let names: Vec<String> = now.iter().map(|file| super::text::clean(&file.name, 200)).collect();
    let error = if names.is_empty() {
        "The field does not hold the file. Look for a message that says why."
    } else {
        "The field holds other files than it was given; `value` tells which."
    };
    Refusal::new(Class::Rejected, error).with("value", json!(names))
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
