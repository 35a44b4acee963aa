//! Which browsers are on this machine.

use std::path::{Path, PathBuf};

use super::catalog::Browser;
use super::plan::{Surroundings, System};

/// How a browser is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Presence {
    /// Installed so that it can start a host.
    pub usable: bool,
    /// Installed in a sandbox that keeps it from starting one: `snap` or `Flatpak`.
    pub confined: Option<&'static str>,
}

/// Looks for the browser's folder, then for its program.
pub fn detect(browser: &Browser, surroundings: &Surroundings) -> Presence {
    let has_folder = surroundings.folder_of(browser).is_dir();
    if surroundings.system != System::Linux {
        return Presence { usable: has_folder, confined: None };
    }
    let places = &browser.linux;
    let is_snap = places.snap.as_ref().is_some_and(|snap| {
        surroundings.home.join("snap").join(snap).is_dir() || surroundings.snap_programs.join(snap).exists()
    });
    let is_flatpak = places
        .flatpak
        .as_ref()
        .is_some_and(|application| surroundings.home.join(".var/app").join(application).is_dir());
    // On Ubuntu, `chromium-browser` outside /snap is a script that starts the snap.
    let has_program = !is_snap && places.programs.iter().any(|name| on_path(name, surroundings).is_some());
    let confined = if is_snap {
        Some("snap")
    } else if is_flatpak {
        Some("Flatpak")
    } else {
        None
    };
    Presence { usable: has_folder || has_program, confined }
}

fn on_path(name: &str, surroundings: &Surroundings) -> Option<PathBuf> {
    let outside_snap = |folder: &&PathBuf| **folder != surroundings.snap_programs;
    surroundings
        .programs
        .iter()
        .filter(outside_snap)
        .map(|folder| folder.join(name))
        .find(|program| is_executable(program))
}

fn is_executable(program: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        program.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    }
    #[cfg(not(unix))]
    {
        program.is_file()
    }
}
