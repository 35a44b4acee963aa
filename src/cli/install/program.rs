//! The program that browsers will start, and whether its place is safe to name in a manifest.

use std::path::{Path, PathBuf};

use super::InstallError;

/// The real path of the running program.
///
/// # Errors
/// [`InstallError`] when the system does not tell it or its place is not safe.
pub fn own() -> Result<PathBuf, InstallError> {
    let named = std::env::current_exe().map_err(InstallError::NoProgram)?;
    real(&named)
}

/// The path without links, if nobody but its owner can put another program in its place.
///
/// # Errors
/// [`InstallError::Unsafe`] names the folder or file that others can change.
pub fn real(named: &Path) -> Result<PathBuf, InstallError> {
    let program = named.canonicalize().map_err(InstallError::NoProgram)?;
    if program.to_str().is_none() {
        return Err(InstallError::PathNotText(program));
    }
    #[cfg(unix)]
    check_owners(&program)?;
    Ok(program)
}

#[cfg(unix)]
fn check_owners(program: &Path) -> Result<(), InstallError> {
    use std::os::unix::fs::MetadataExt;
    const STICKY: u32 = 0o1000;
    let me = rustix::process::geteuid().as_raw();
    for path in program.ancestors() {
        let found = path.metadata().map_err(InstallError::NoProgram)?;
        let refuse = |reason: String| {
            Err(InstallError::Unsafe { program: program.to_owned(), path: path.to_owned(), reason })
        };
        if found.uid() != me && found.uid() != 0 {
            return refuse(format!("belongs to another user (uid {})", found.uid()));
        }
        // In a sticky folder such as /tmp others can add names, but not replace ours.
        let sticky = found.is_dir() && found.mode() & STICKY != 0;
        if found.mode() & 0o022 != 0 && !sticky {
            return refuse(format!("can be changed by other users (mode {:o})", found.mode() & 0o7777));
        }
    }
    Ok(())
}
