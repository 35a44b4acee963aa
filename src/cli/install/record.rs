//! What registration left behind, so that taking it away leaves the home as it was.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::cli::files::{self, FileError};

/// `~/.browy/registered.json`. Paths that are no text are not kept: their folders stay.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Record {
    /// Manifests that were written.
    pub manifests: Vec<String>,
    /// Folders that were made, in the order of making.
    pub folders: Vec<String>,
}

impl Record {
    /// Reads the record; one that is missing or unusable is empty, since without it only empty folders stay.
    pub fn load(path: &Path) -> Self {
        let Ok(Some(text)) = files::read(path) else { return Self::default() };
        serde_json::from_slice(&text).unwrap_or_else(|error| {
            tracing::warn!(%error, "the record of registrations is unusable");
            Self::default()
        })
    }

    /// Adds what one place took.
    pub fn add(&mut self, manifest: Option<&Path>, made: &[PathBuf]) {
        let mut keep = |list: fn(&mut Self) -> &mut Vec<String>, path: &Path| {
            if let Some(text) = path.to_str() {
                let list = list(self);
                if !list.iter().any(|known| known == text) {
                    list.push(text.to_owned());
                }
            }
        };
        if let Some(path) = manifest {
            keep(|record| &mut record.manifests, path);
        }
        for path in made {
            keep(|record| &mut record.folders, path);
        }
    }

    /// Writes the record, unless it is the same as `before`.
    ///
    /// # Errors
    /// [`FileError`] when it cannot be written.
    pub fn save(mut self, path: &Path, before: &Self) -> Result<(), FileError> {
        if self == *before {
            return Ok(());
        }
        // The folder that the record itself needs is made by this write, so ask for it first.
        let made = path.parent().map(files::make_folders).transpose()?.unwrap_or_default();
        self.add(None, &made);
        let text = serde_json::to_string_pretty(&self).unwrap_or_default();
        files::write(path, format!("{text}\n").as_bytes()).map(drop)
    }

    /// Removes the recorded folders that are empty, innermost first. One with content in it stays.
    pub fn remove_empty_folders(&self) {
        for folder in self.folders.iter().rev() {
            if let Err(error) = std::fs::remove_dir(folder) {
                tracing::debug!(folder, %error, "folder stays");
            }
        }
    }
}
