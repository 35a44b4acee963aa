//! `browy install-host` and `browy uninstall-host`: tells browsers where the host is.
//!
//! [`plan`] says what to write for any system without touching anything; [`apply`] does it.

pub mod apply;
pub mod catalog;
pub mod detect;
pub mod plan;
mod program;
mod record;
pub mod report;
mod run;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::paths::Paths;

use super::files::FileError;
use super::origins::{ExtensionId, OriginsError};

pub use catalog::{HOST_NAME, MANIFEST_FILE, manifest};
pub use run::{install, uninstall};

/// Registers this program as the host of the browsers that are on this machine.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct InstallHostArgs {
    /// Trust one more extension (its id is shown on chrome://extensions); it stays trusted
    #[arg(long = "ext-id", value_name = "ID")]
    pub ext_ids: Vec<ExtensionId>,
    /// Replace another program's manifest of the same name, keeping a copy beside it
    #[arg(long)]
    pub force: bool,
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Takes the registration back; data and chats stay.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct UninstallHostArgs {
    /// Print one JSON object instead of a table
    #[arg(long)]
    pub json: bool,
}

/// Registration did not work at all; what went wrong with a single browser is in its row.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The embedded data is broken.
    #[error("the list of browsers in this program is broken: {0}")]
    Catalog(String),
    /// The running program's path is unknown.
    #[error("cannot tell where this program is: {0}")]
    NoProgram(std::io::Error),
    /// A manifest is JSON, which holds no such path.
    #[error("{} is no valid UTF-8, so no manifest can name it; move the program elsewhere", .0.display())]
    PathNotText(PathBuf),
    /// Others could put another program in its place.
    #[error(
        "{} {reason}, so a browser must not start {} from there; \
         install it to a folder of your own (install/install.sh does) or mend that one's permissions",
        path.display(), program.display()
    )]
    Unsafe {
        /// The program.
        program: PathBuf,
        /// The program or the folder above it that is not safe.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The added extensions cannot be read or kept.
    #[error(transparent)]
    Origins(#[from] OriginsError),
    /// A file or folder.
    #[error(transparent)]
    File(#[from] FileError),
    /// A Windows plan cannot be carried out elsewhere.
    #[error("this system has no registry")]
    NoRegistry,
    /// A registry key.
    #[error("cannot change HKCU\\{key}: {detail}")]
    Registry {
        /// The key.
        key: String,
        /// Why not.
        detail: String,
    },
}

impl InstallHostArgs {
    /// Registers and prints what was done. Exit code 0: every browser found knows the host; 1: not all, or none
    /// was found.
    ///
    /// # Errors
    /// Only when the output cannot be written; all else is printed.
    pub fn run(&self, paths: &Paths) -> anyhow::Result<ExitCode> {
        let surroundings = plan::Surroundings::of_process(paths.home());
        let report = program::own().and_then(|program| install(self, paths, &surroundings, &program));
        print(report, self.json, paths.home())
    }
}

impl UninstallHostArgs {
    /// Takes the registration back and prints what was done. Exit code 1 when something of ours is still there.
    ///
    /// # Errors
    /// Only when the output cannot be written; all else is printed.
    pub fn run(&self, paths: &Paths) -> anyhow::Result<ExitCode> {
        let surroundings = plan::Surroundings::of_process(paths.home());
        print(uninstall(paths, &surroundings), self.json, paths.home())
    }
}

/// The path of a program as a manifest may name it: without links, and in a place that only its owner can change.
///
/// # Errors
/// [`InstallError`] says what is not safe.
pub fn program_path(named: &Path) -> Result<PathBuf, InstallError> {
    program::real(named)
}

fn print(outcome: Result<report::Report, InstallError>, json: bool, home: &Path) -> anyhow::Result<ExitCode> {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    let ok = match (outcome, json) {
        (Ok(report), true) => report.write_json(&mut out).map(|()| report.ok)?,
        (Ok(report), false) => report.write_table(&mut out, home).map(|()| report.ok)?,
        (Err(error), true) => {
            let error = serde_json::json!({ "schemaVersion": 1, "ok": false, "error": error.to_string() });
            writeln!(out, "{error}")?;
            false
        }
        (Err(error), false) => {
            writeln!(std::io::stderr(), "error: {error}")?;
            false
        }
    };
    Ok(if ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
