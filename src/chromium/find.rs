//! Finding a Chromium-family browser on this machine.

use std::env;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Names that a path variable is searched for, in this order.
const NAMES: &[&str] = &[
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "google-chrome-beta",
    "google-chrome-unstable",
    "microsoft-edge",
    "microsoft-edge-stable",
    "microsoft-edge-beta",
    "microsoft-edge-dev",
    "brave-browser",
    "brave-browser-stable",
    "brave",
];

/// Places outside the path variable.
const PLACES: &[&str] = &[
    "/usr/lib/chromium/chromium",
    "/usr/lib/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/google/chrome-beta/chrome",
    "/opt/microsoft/msedge/msedge",
    "/opt/brave.com/brave/brave",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "/Applications/Brave Browser.app/Contents/MacOS/Brave Browser",
];

/// A browser on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What to start.
    pub path: PathBuf,
}

/// No browser that can be used. The text names every place that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no Chromium-family browser found. Install one (Debian: apt-get install chromium; Ubuntu's chromium is a snap, \
     which cannot start a native host: install google-chrome-stable there) or set BROWY_BROWSER to its program. \
     Looked at:\n  {}", .looked.join("\n  ")
)]
pub struct NotFound {
    /// One line per place, with what was wrong with it.
    pub looked: Vec<String>,
}

/// The browser that `BROWY_BROWSER` names, else the first on `PATH`, else the first in the known places.
///
/// # Errors
/// [`NotFound`] when there is none; also when `BROWY_BROWSER` names something that is no program, because
/// another browser than the one asked for would be a surprise.
pub fn browser() -> Result<Found, NotFound> {
    search(env::var_os("BROWY_BROWSER").as_deref(), env::var_os("PATH").as_deref(), PLACES)
}

fn search(named: Option<&OsStr>, path: Option<&OsStr>, places: &[&str]) -> Result<Found, NotFound> {
    let mut looked = Vec::new();
    if let Some(named) = named.filter(|named| !named.is_empty()) {
        let program = PathBuf::from(named);
        return match usable(&program) {
            Ok(()) => Ok(Found { path: program }),
            Err(why) => {
                looked.push(format!("{} (BROWY_BROWSER): {why}", program.display()));
                Err(NotFound { looked })
            }
        };
    }
    let folders: Vec<PathBuf> = path.map(|path| env::split_paths(path).collect()).unwrap_or_default();
    for name in NAMES {
        let mut reason = "not on PATH".to_owned();
        for program in folders.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join(name)) {
            match usable(&program) {
                Ok(()) => return Ok(Found { path: program }),
                Err(Unusable::Missing) => {}
                Err(why) => reason = format!("{}: {why}", program.display()),
            }
        }
        looked.push(format!("{name}: {reason}"));
    }
    for place in places {
        match usable(Path::new(place)) {
            Ok(()) => return Ok(Found { path: PathBuf::from(place) }),
            Err(why) => looked.push(format!("{place}: {why}")),
        }
    }
    Err(NotFound { looked })
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
enum Unusable {
    #[error("does not exist")]
    Missing,
    #[error("is not a program")]
    NotExecutable,
    #[error("is a snap, which cannot start a native host")]
    Snap,
}

fn usable(program: &Path) -> Result<(), Unusable> {
    use std::os::unix::fs::PermissionsExt;
    let real = program.canonicalize().map_err(|_| Unusable::Missing)?;
    let meta = real.metadata().map_err(|_| Unusable::Missing)?;
    if !meta.is_file() || meta.permissions().mode() & 0o111 == 0 {
        return Err(Unusable::NotExecutable);
    }
    if is_snap(program, &real) { Err(Unusable::Snap) } else { Ok(()) }
}

/// A snap's program is a link to `snap`, or a script that starts it.
fn is_snap(program: &Path, real: &Path) -> bool {
    let below_snap = |path: &Path| path.starts_with("/snap") || path.ends_with("bin/snap");
    if below_snap(program) || below_snap(real) {
        return true;
    }
    let mut start = Vec::new();
    let Ok(file) = std::fs::File::open(real) else { return false };
    if file.take(4096).read_to_end(&mut start).is_err() || !start.starts_with(b"#!") {
        return false;
    }
    String::from_utf8_lossy(&start).contains("/snap/bin/chromium")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn program(folder: &Path, name: &str, text: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn named_browser_wins_over_path() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "chromium", "");
        let own = program(dir.path(), "my-browser", "");
        let found = search(Some(own.as_os_str()), Some(dir.path().as_os_str()), &[]).unwrap();
        assert_eq!(found.path, own);
    }

    #[test]
    fn named_browser_that_is_missing_is_not_replaced_by_another() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "chromium", "");
        let error = search(Some(OsStr::new("/nowhere/x")), Some(dir.path().as_os_str()), &[]).unwrap_err();
        assert_eq!(error.looked, ["/nowhere/x (BROWY_BROWSER): does not exist"]);
    }

    #[test]
    fn snap_script_is_skipped_for_a_real_browser() {
        let dir = tempfile::tempdir().unwrap();
        program(dir.path(), "chromium-browser", "#!/bin/sh\nexec /snap/bin/chromium \"$@\"\n");
        let edge = program(dir.path(), "microsoft-edge", "");
        let found = search(None, Some(dir.path().as_os_str()), &[]).unwrap();
        assert_eq!(found.path, edge);
    }

    #[test]
    fn every_place_that_was_looked_at_is_named() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("google-chrome"), "").unwrap();
        let error = search(None, Some(dir.path().as_os_str()), &["/nowhere/y"]).unwrap_err();
        assert_eq!(error.looked.len(), NAMES.len() + 1);
        let text = error.to_string();
        assert!(
            text.contains("google-chrome: is not a program") || text.contains("is not a program"),
            "{text}"
        );
        assert!(text.contains("/nowhere/y: does not exist"), "{text}");
    }
}
