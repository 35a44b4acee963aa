//! Which files may be given to a page: those of the agent's own folder, those that its acts downloaded, and any
//! other one only if the person says so. A file is looked at once and known from then on by what it is, not by
//! its name.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;

use super::ToolCx;
use super::approval::{self, Wish};
use crate::browser::text::quoted;
use crate::browser::{ActError, Class, FileId, Gift, Refusal};
use crate::data::files::{Files, FilesError};

/// How long an upload may take, the person's answer included.
pub(super) const TIMEOUT: Duration = Duration::from_secs(180);

/// Files of one call.
const MOST: usize = 20;

/// The files, once everything about them is allowed.
///
/// # Errors
/// [`Class::BadArgument`] for what is no file, [`Class::NotAllowed`] for what may not be given away.
pub(super) async fn allowed(cx: &ToolCx, tool: &str, paths: &[String]) -> Result<Vec<Gift>, ActError> {
    if paths.is_empty() || paths.len() > MOST || paths.iter().any(|path| path.trim().is_empty()) {
        return Err(bad(format!(
            "`path`: give the absolute path of a file, or a JSON array of 1 to {MOST} paths."
        ))
        .into());
    }
    let mut gifts = Vec::new();
    let mut asks = Vec::new();
    for path in paths {
        let files = Files::below(&cx.paths);
        let home = cx.paths.home().to_owned();
        let given = path.trim().to_owned();
        let looked = tokio::task::spawn_blocking(move || look(&files, &home, &given)).await;
        let (gift, own) = looked.map_err(|error| bad(format!("The file cannot be read: {error}")))??;
        if !own && !cx.browser.context.downloaded(&gift.id) {
            asks.push(gift.path.clone());
        }
        gifts.push(gift);
    }
    if !asks.is_empty() {
        ask(cx, tool, &asks, &gifts).await?;
    }
    Ok(gifts)
}

/// Opens a file; `true`: it is one of the agent's own.
fn look(files: &Files, home: &Path, given: &str) -> Result<(Gift, bool), Refusal> {
    let path = match given.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(given),
    };
    if path.is_relative() {
        return match own(files, given) {
            Ok(Some(gift)) => Ok((gift, true)),
            _ => Err(bad(format!(
                "{} is no absolute path and no file that save_file wrote. Take the `path` that save_file or the \
                 download told.",
                quoted(given, 200)
            ))),
        };
    }
    // What a link leads to is what the person is asked about.
    let real = path.canonicalize().map_err(|error| missing(given, &error))?;
    if let Some(gift) =
        [given, real.to_str().unwrap_or_default()].into_iter().find_map(|name| own(files, name).ok()?)
    {
        return Ok((gift, true));
    }
    if is_of_the_system(&real) {
        return Err(Refusal::new(
            Class::NotAllowed,
            format!("{} is a part of the system, not a file to give away.", quoted(given, 200)),
        ));
    }
    let found = std::fs::symlink_metadata(&real).map_err(|error| missing(given, &error))?;
    if !found.is_file() {
        let what = if found.is_dir() { "a folder" } else { "no plain file" };
        return Err(bad(format!("{} is {what}; only files can be given to a page.", quoted(given, 200))));
    }
    let file = open_plain(&real).map_err(|error| missing(given, &error))?;
    let gift = gift(real, file).map_err(|error| missing(given, &error))?;
    Ok((gift, false))
}

/// The file of that name or path in the agent's folder; `None`: the path lies elsewhere.
fn own(files: &Files, name: &str) -> Result<Option<Gift>, Refusal> {
    match files.open(name) {
        Ok(opened) => gift(opened.path, opened.file).map(Some).map_err(|error| missing(name, &error)),
        Err(FilesError::Name(_) | FilesError::Missing(_)) => Ok(None),
        Err(error) => Err(bad(format!("{}: {error}.", quoted(name, 200)))),
    }
}

fn gift(path: PathBuf, file: std::fs::File) -> std::io::Result<Gift> {
    let (id, bytes) = (FileId::of(&file)?, file.metadata()?.len());
    Ok(Gift { path, file: Arc::new(file), id, bytes })
}

/// Never waits for the other end of a pipe, and follows no link that came after the last look.
fn open_plain(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(std::io::Error::other("it is no plain file")) }
}

/// `/proc/self/environ` looks like a file and holds secrets.
fn is_of_the_system(path: &Path) -> bool {
    cfg!(unix) && ["/proc", "/sys", "/dev"].iter().any(|folder| path.starts_with(folder))
}

async fn ask(cx: &ToolCx, tool: &str, asks: &[PathBuf], gifts: &[Gift]) -> Result<(), ActError> {
    let tab = cx.browser.tab(&cx.cancel).await?;
    let tabs = cx.browser.context.tabs(&cx.cancel).await?;
    let to = tabs
        .iter()
        .find(|info| Some(info.tab_id) == tab)
        .and_then(|info| url::Url::parse(&info.url).ok())
        .map_or_else(|| "the page".to_owned(), |url| url.origin().ascii_serialization());
    let list: Vec<String> = gifts
        .iter()
        .filter(|gift| asks.contains(&gift.path))
        .map(|gift| format!("{} ({})", quoted(&gift.path.to_string_lossy(), 500), size_in_words(gift.bytes)))
        .collect();
    let what = if list.len() == 1 { "this file" } else { "these files" };
    let wish = Wish {
        tool,
        args: json!({ "to": to, "files": list }),
        message: format!("The agent wants to give {what} of yours to {to}: {}", list.join(", ")),
        what: "this file to be given away",
        instead: "Files that save_file wrote or that your own acts downloaded need no permission; for others do \
                  without, or ask what the person wants.",
    };
    approval::allowed(cx, wish).await
}

fn size_in_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

fn bad(error: String) -> Refusal {
    Refusal::new(Class::BadArgument, error)
}

fn missing(given: &str, error: &std::io::Error) -> Refusal {
    bad(format!("The file {} cannot be read: {error}", quoted(given, 200)))
}
