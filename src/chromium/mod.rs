//! A browser with a profile of its own, driven over `--remote-debugging-pipe`.
//!
//! Used by `browy demo` and by the tests. Everything belongs to the [`Chromium`] value: when its owner dies
//! the pipe closes and the browser ends with it, and the profile is a temporary folder that goes too.
//!
//! ```no_run
//! # async fn example() -> Result<(), browy::chromium::ChromiumError> {
//! use std::time::Duration;
//! use browy::chromium::{Chromium, LaunchOptions, find};
//!
//! let found = find::browser()?;
//! let chromium = Chromium::launch(LaunchOptions::new(found.path)).await?;
//! let page = chromium.browser().open("data:text/html,<title>hello</title>").await?;
//! page.wait_for("document.title === 'hello'", Duration::from_secs(5)).await?;
//! chromium.close().await;
//! # Ok(()) }
//! ```
#![cfg(unix)]

pub mod find;
mod launch;
mod page;
mod panel;
mod pipe;
mod profile;

use std::path::PathBuf;
use std::time::Duration;

pub use launch::{Chromium, LaunchOptions};
pub use page::Page;
pub use panel::{EXTENSION_ID, SIDE_PANEL_PAGE, side_panel_url};
pub use pipe::{Browser, CdpEvent, Events, TargetInfo};
pub use profile::NativeHost;

/// Why the browser did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum ChromiumError {
    /// There is no browser.
    #[error(transparent)]
    NotFound(#[from] find::NotFound),
    /// The profile could not be prepared.
    #[error("cannot prepare the browser's profile in {path}: {source}")]
    Profile {
        /// The file or folder.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The program could not be started.
    #[error("cannot start {path}: {source}")]
    Start {
        /// The browser.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It started and ended before it answered.
    #[error("{path} ended before it answered; the end of its log:\n{log}")]
    EndedEarly {
        /// The browser.
        path: PathBuf,
        /// What it wrote last.
        log: String,
    },
    /// The pipe to the browser is closed.
    #[error("the browser is gone ({0} was not answered)")]
    Gone(String),
    /// No answer in time.
    #[error("the browser did not answer {method} within {} ms", limit.as_millis())]
    NoAnswer {
        /// The method.
        method: String,
        /// How long it was waited for.
        limit: Duration,
    },
    /// The browser refused.
    #[error("{method}: {message} ({code})")]
    Refused {
        /// The method.
        method: String,
        /// The number of the error.
        code: i64,
        /// What the browser said.
        message: String,
    },
    /// An answer without the field that it must have.
    #[error("the answer to {method} has no {field}")]
    Answer {
        /// The method.
        method: &'static str,
        /// What is missing.
        field: &'static str,
    },
    /// The page's code threw.
    #[error("the page threw: {0}")]
    Threw(String),
    /// A condition did not come true in time.
    #[error("not true within {} ms: {what}{}", limit.as_millis(), last.as_ref().map(|l| format!("; last: {l}")).unwrap_or_default())]
    NotInTime {
        /// The condition.
        what: String,
        /// How long it was waited for.
        limit: Duration,
        /// What the last try gave.
        last: Option<String>,
    },
    /// A file could not be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl ChromiumError {
    /// Whether the browser does not know the method at all.
    pub fn is_unknown_method(&self) -> bool {
        matches!(self, Self::Refused { code: -32601, .. })
    }
}
