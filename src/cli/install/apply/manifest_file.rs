//! Manifests as files: all there is on Linux and macOS.

use std::path::{Path, PathBuf};

use super::{Outcome, Status};
use crate::cli::files::{self, FileError};
use crate::cli::install::catalog;
use crate::cli::install::plan::{Action, Existing, decide};

pub(super) fn put(path: &Path, text: &[u8], force: bool) -> Result<Outcome, FileError> {
    refuse_linked_folder(path)?;
    let outcome = match decide(look(path)?, text, force) {
        Action::Keep => return Ok(Outcome::new(Status::Unchanged)),
        Action::Refuse(what) => {
            return Ok(Outcome::noting(
                Status::Foreign,
                format!("{what}; --force replaces it and keeps a copy"),
            ));
        }
        Action::Create => Outcome::new(Status::Registered),
        Action::Update => Outcome::new(Status::Updated),
        Action::SetAside(what) => {
            let aside = aside(path);
            files::rename(path, &aside)?;
            Outcome::noting(Status::Registered, format!("{what}; it is kept as {}", aside.display()))
        }
    };
    let made = files::write(path, text)?;
    Ok(Outcome { made, ..outcome })
}

pub(super) fn take(path: &Path) -> Result<Outcome, FileError> {
    match look(path)? {
        Existing::Nothing => Ok(Outcome::new(Status::Nothing)),
        Existing::Foreign(what) => Ok(Outcome::noting(Status::Foreign, what)),
        Existing::Ours(_) => {
            files::remove(path)?;
            let aside = aside(path);
            if std::fs::symlink_metadata(&aside).is_err() {
                return Ok(Outcome::new(Status::Removed));
            }
            files::rename(&aside, path)?;
            Ok(Outcome::noting(Status::Removed, "the manifest that was there before is back"))
        }
    }
}

fn look(path: &Path) -> Result<Existing, FileError> {
    match files::read(path) {
        Ok(None) => Ok(Existing::Nothing),
        Ok(Some(text)) if catalog::is_ours(&text) => Ok(Existing::Ours(text)),
        Ok(Some(text)) => Ok(Existing::Foreign(match catalog::program_of(&text) {
            Some(program) => format!("another program's manifest is there (it starts {program})"),
            None => "a file that is no manifest of ours is there".to_owned(),
        })),
        Err(FileError::Link(_)) => Ok(Existing::Foreign("a symbolic link is there".to_owned())),
        Err(error) => Err(error),
    }
}

/// A linked `NativeMessagingHosts` would put the manifest where the person does not see it.
fn refuse_linked_folder(path: &Path) -> Result<(), FileError> {
    match path.parent() {
        Some(folder) if folder.is_symlink() => Err(FileError::Link(folder.to_owned())),
        _ => Ok(()),
    }
}

fn aside(path: &Path) -> PathBuf {
    path.with_extension("json.before-browy")
}
