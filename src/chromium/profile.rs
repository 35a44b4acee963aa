//! The temporary profile: its settings, the host registered in it, and its removal.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::json;

use super::ChromiumError;

/// A native-messaging host to register in the profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeHost {
    /// For example `com.browy.host`.
    pub name: String,
    /// The program; absolute.
    pub path: PathBuf,
    /// Who may start it: `chrome-extension://<id>/`, with the slash at the end.
    pub origins: Vec<String>,
}

impl NativeHost {
    /// Writes `NativeMessagingHosts/<name>.json` below the browser's user-data folder. A browser that is
    /// running sees it at its next connect.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn register(&self, user_data: &Path) -> Result<PathBuf, ChromiumError> {
        let path = user_data.join("NativeMessagingHosts").join(format!("{}.json", self.name));
        let manifest = json!({
            "name": self.name,
            "description": "Browy",
            "path": self.path,
            "type": "stdio",
            "allowed_origins": self.origins,
        });
        write(&path, &manifest.to_string())?;
        Ok(path)
    }
}

/// A folder that is the browser's user data and its `HOME`.
#[derive(Debug)]
pub(super) struct Profile {
    dir: Option<tempfile::TempDir>,
    path: PathBuf,
}

impl Profile {
    pub(super) fn create() -> Result<Self, ChromiumError> {
        let dir = tempfile::Builder::new()
            .prefix("browy-profile-")
            .tempdir()
            .map_err(|source| ChromiumError::Profile { path: std::env::temp_dir(), source })?;
        let path = dir.path().to_owned();
        let profile = Self { dir: Some(dir), path };
        // Developer mode: without it an unpacked extension that reloads itself stays switched off.
        let preferences = json!({
            "extensions": { "ui": { "developer_mode": true } },
            "browser": { "check_default_browser": false, "has_seen_welcome_page": true },
            "download": { "default_directory": profile.downloads(), "prompt_for_download": false },
            "credentials_enable_service": false,
            "profile": { "password_manager_enabled": false },
        });
        write(&profile.path().join("Default").join("Preferences"), &preferences.to_string())?;
        write(&profile.path().join("First Run"), "")?;
        fs::create_dir_all(profile.downloads())
            .map_err(|source| ChromiumError::Profile { path: profile.downloads(), source })?;
        Ok(profile)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn downloads(&self) -> PathBuf {
        self.path.join("Downloads")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.path.join("browser.log")
    }

    /// The end of what the browser wrote on stderr.
    pub(super) fn log_tail(&self) -> String {
        let bytes = fs::read(self.log()).unwrap_or_default();
        let start = bytes.len().saturating_sub(4000);
        String::from_utf8_lossy(bytes.get(start..).unwrap_or_default()).into_owned()
    }

    fn remove_once(&mut self) -> bool {
        match fs::remove_dir_all(&self.path) {
            Ok(()) => {}
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(_) => return false,
        }
        // Nothing is left for its own removal to do.
        if let Some(dir) = self.dir.take() {
            let _ = dir.keep();
        }
        true
    }

    /// Removes the folder. The browser's helpers still write for a moment after it has ended.
    pub(super) async fn remove(mut self) {
        for _ in 0..50 {
            if self.remove_once() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        for _ in 0..20 {
            if self.dir.is_none() || self.remove_once() {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), ChromiumError> {
    let done = || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        fs::write(path, text)
    };
    done().map_err(|source| ChromiumError::Profile { path: path.to_owned(), source })
}
