//! Carries out a plan, one place at a time.

mod manifest_file;
#[cfg(windows)]
mod registry;

use std::path::PathBuf;

use super::InstallError;
use super::plan::Place;

/// What happened at one place, from the least to the most worth telling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing was there to remove.
    Nothing,
    /// It was as it should be.
    Unchanged,
    /// Ours was taken away.
    Removed,
    /// An older one of ours was replaced.
    Updated,
    /// Written for the first time.
    Registered,
    /// Somebody else's was left alone.
    Foreign,
    /// The browser's sandbox forbids it.
    Unsupported,
    /// It did not work.
    Failed,
}

impl Status {
    /// The word for tables.
    pub fn word(self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Unchanged => "unchanged",
            Self::Removed => "removed",
            Self::Updated => "updated",
            Self::Registered => "registered",
            Self::Foreign => "left alone",
            Self::Unsupported => "unsupported",
            Self::Failed => "failed",
        }
    }
}

/// What happened at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// In one word.
    pub status: Status,
    /// More, when there is more to say.
    pub note: Option<String>,
    /// Folders that had to be made, outermost first.
    pub made: Vec<PathBuf>,
}

impl Outcome {
    fn new(status: Status) -> Self {
        Self { status, note: None, made: Vec::new() }
    }

    fn noting(status: Status, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..Self::new(status) }
    }
}

/// Writes one place.
///
/// # Errors
/// [`InstallError`]; what was there is then still there.
pub fn put(place: &Place, text: &[u8], force: bool) -> Result<Outcome, InstallError> {
    match place {
        Place::Manifest(path) => Ok(manifest_file::put(path, text, force)?),
        #[cfg(windows)]
        Place::Key { key, manifest } => registry::put(key, manifest, text, force),
        #[cfg(not(windows))]
        Place::Key { .. } => Err(InstallError::NoRegistry),
    }
}

/// Takes ours away from one place and puts back what it replaced.
///
/// # Errors
/// [`InstallError`] when ours is still there.
pub fn take(place: &Place) -> Result<Outcome, InstallError> {
    match place {
        Place::Manifest(path) => Ok(manifest_file::take(path)?),
        #[cfg(windows)]
        Place::Key { key, manifest } => registry::take(key, manifest),
        #[cfg(not(windows))]
        Place::Key { .. } => Err(InstallError::NoRegistry),
    }
}
