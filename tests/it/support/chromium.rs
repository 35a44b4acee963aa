//! A browser with the real extension.

use std::path::{Path, PathBuf};
use std::time::Duration;

use browy::chromium::{Chromium, LaunchOptions, find};

pub const SECONDS: fn(u64) -> Duration = Duration::from_secs;

/// The extension as it is in the project.
pub fn extension_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("extension")
}

/// A headless browser on this machine; the test fails where there is none.
pub fn options() -> LaunchOptions {
    LaunchOptions::new(find::browser().unwrap().path)
}

/// A browser with the extension and no host.
pub async fn with_extension() -> Chromium {
    let mut options = options();
    options.extension = Some(extension_folder());
    Chromium::launch(options).await.unwrap()
}
