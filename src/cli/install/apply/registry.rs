//! Registry keys on Windows, written through the system's interface and not through a command line.
//! Not compiled or run where this was written; see docs/architecture.md.

use std::path::Path;

use windows_registry::CURRENT_USER;

use super::{Outcome, Status, manifest_file};
use crate::cli::install::InstallError;

fn failed<E: std::fmt::Display>(key: &str) -> impl FnOnce(E) -> InstallError + '_ {
    move |error| InstallError::Registry { key: key.to_owned(), detail: error.to_string() }
}

/// The manifest that a key names, if it names one.
fn named(key: &str) -> Option<String> {
    CURRENT_USER.open(key).ok()?.get_string("").ok()
}

pub(super) fn put(key: &str, manifest: &Path, text: &[u8], force: bool) -> Result<Outcome, InstallError> {
    let wanted = manifest.to_str().ok_or_else(|| InstallError::PathNotText(manifest.to_owned()))?;
    let before = named(key);
    let same = before.as_deref().is_some_and(|value| value.eq_ignore_ascii_case(wanted));
    if let Some(other) = before.as_ref().filter(|_| !same && !force) {
        let note = format!("the key names another manifest ({other}); --force replaces it");
        return Ok(Outcome { status: Status::Foreign, note: Some(note), made: Vec::new() });
    }
    let mut outcome = manifest_file::put(manifest, text, force)?;
    if same || outcome.status == Status::Foreign {
        return Ok(outcome);
    }
    CURRENT_USER.create(key).and_then(|open| open.set_string("", wanted)).map_err(failed(key))?;
    outcome.status = if before.is_some() { Status::Updated } else { Status::Registered };
    Ok(outcome)
}

pub(super) fn take(key: &str, manifest: &Path) -> Result<Outcome, InstallError> {
    match named(key) {
        None => Ok(Outcome::new(Status::Nothing)),
        Some(other) if !manifest.to_str().is_some_and(|ours| other.eq_ignore_ascii_case(ours)) => {
            Ok(Outcome::noting(Status::Foreign, format!("the key names another manifest ({other})")))
        }
        Some(_) => {
            CURRENT_USER.remove_tree(key).map_err(failed(key))?;
            manifest_file::take(manifest)?;
            Ok(Outcome::new(Status::Removed))
        }
    }
}
