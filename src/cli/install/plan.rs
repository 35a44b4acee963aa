//! What registration would write, for any system, without touching anything.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use super::catalog::{Browser, HOST_NAME, MANIFEST_FILE};

/// The kind of system that browsers run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named by what they are")]
pub enum System {
    Linux,
    Macos,
    Windows,
}

impl System {
    /// The system that this program was built for; every other Unix counts as Linux.
    pub const fn current() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::Macos
        } else {
            Self::Linux
        }
    }

    /// `relative` below `base`, with this system's separator wherever the plan is made.
    fn below(self, base: &Path, relative: &str) -> PathBuf {
        let mut text = OsString::from(base);
        text.push(if self == Self::Windows { "\\" } else { "/" });
        text.push(relative);
        PathBuf::from(text)
    }
}

/// Where the person's things are.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The kind of system.
    pub system: System,
    /// The home directory.
    pub home: PathBuf,
    /// Where browsers keep their folders: `~/.config`, `~/Library/Application Support`, `%LOCALAPPDATA%`.
    pub browsers: PathBuf,
    /// The folders of `PATH`.
    pub programs: Vec<PathBuf>,
    /// Where snaps' programs are: `/snap/bin`.
    pub snap_programs: PathBuf,
}

impl Surroundings {
    /// Those of this process: `CHROME_CONFIG_HOME`, `XDG_CONFIG_HOME`, `LOCALAPPDATA` and `PATH` count.
    pub fn of_process(home: &Path) -> Self {
        let system = System::current();
        let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let browsers = match system {
            System::Linux => named("CHROME_CONFIG_HOME")
                .or_else(|| named("XDG_CONFIG_HOME"))
                .unwrap_or_else(|| home.join(".config")),
            System::Macos => home.join("Library/Application Support"),
            System::Windows => named("LOCALAPPDATA").unwrap_or_else(|| home.join("AppData").join("Local")),
        };
        let programs =
            std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default();
        Self { system, home: home.to_owned(), browsers, programs, snap_programs: "/snap/bin".into() }
    }

    /// The folder that a browser keeps its profiles in.
    pub fn folder_of(&self, browser: &Browser) -> PathBuf {
        let relative = match self.system {
            System::Linux => &browser.linux.folder,
            System::Macos => &browser.macos.folder,
            System::Windows => &browser.windows.folder,
        };
        self.system.below(&self.browsers, relative)
    }
}

/// One thing to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The manifest itself, where the browser looks for it.
    Manifest(PathBuf),
    /// A registry key below `HKEY_CURRENT_USER` whose default value names the manifest.
    Key {
        /// The key.
        key: String,
        /// The manifest, the same one for every browser.
        manifest: PathBuf,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Manifest(path) => write!(f, "{}", path.display()),
            Self::Key { key, manifest } => write!(f, "HKCU\\{key} -> {}", manifest.display()),
        }
    }
}

/// One browser and what to write for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// [`Browser::id`].
    pub id: String,
    /// [`Browser::name`].
    pub name: String,
    /// In the order of writing.
    pub places: Vec<Place>,
}

/// Where `browser` looks for the host.
pub fn step(browser: &Browser, surroundings: &Surroundings) -> Step {
    let Surroundings { system, home, browsers, .. } = surroundings;
    let hosts = |folder: &str| {
        Place::Manifest(system.below(browsers, &format!("{folder}/NativeMessagingHosts/{MANIFEST_FILE}")))
    };
    let places = match system {
        System::Linux => vec![hosts(&browser.linux.folder)],
        System::Macos => {
            std::iter::once(&browser.macos.folder).chain(&browser.macos.also).map(|f| hosts(f)).collect()
        }
        System::Windows => {
            let manifest = system.below(home, &format!(".browy\\host\\{MANIFEST_FILE}"));
            let key = |key: &String| Place::Key {
                key: format!("{key}\\NativeMessagingHosts\\{HOST_NAME}"),
                manifest: manifest.clone(),
            };
            browser.windows.keys.iter().map(key).collect()
        }
    };
    Step { id: browser.id.clone(), name: browser.name.clone(), places }
}

/// What is there before writing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Existing {
    /// Nothing.
    Nothing,
    /// A manifest of ours, with this text.
    Ours(Vec<u8>),
    /// Somebody else's, described for the person.
    Foreign(String),
}

/// What to do about what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Write for the first time.
    Create,
    /// Write over an older one of ours.
    Update,
    /// Nothing: it is as it should be.
    Keep,
    /// Keep the foreign one aside, then write.
    SetAside(String),
    /// Leave the foreign one alone.
    Refuse(String),
}

/// Decides by what is there; `force` takes the place of a foreign manifest.
pub fn decide(existing: Existing, wanted: &[u8], force: bool) -> Action {
    match existing {
        Existing::Nothing => Action::Create,
        Existing::Ours(text) if text == wanted => Action::Keep,
        Existing::Ours(_) => Action::Update,
        Existing::Foreign(what) if force => Action::SetAside(what),
        Existing::Foreign(what) => Action::Refuse(what),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_foreign_manifest_gives_way_only_to_force() {
        let foreign = || Existing::Foreign("theirs".to_owned());
        assert_eq!(decide(foreign(), b"ours", false), Action::Refuse("theirs".to_owned()));
        assert_eq!(decide(foreign(), b"ours", true), Action::SetAside("theirs".to_owned()));
    }

    #[test]
    fn our_manifest_is_written_only_when_it_differs() {
        assert_eq!(decide(Existing::Nothing, b"new", false), Action::Create);
        assert_eq!(decide(Existing::Ours(b"old".to_vec()), b"new", false), Action::Update);
        assert_eq!(decide(Existing::Ours(b"new".to_vec()), b"new", true), Action::Keep);
    }
}
