//! Where things live on this machine.

use std::path::{Path, PathBuf};

/// The places Browy uses. Everything hangs below one home directory, so tests use a temporary one.
#[derive(Debug, Clone)]
pub struct Paths {
    home: PathBuf,
}

/// The home directory could not be found.
#[derive(Debug, thiserror::Error)]
#[error("no home directory: set HOME to the folder that Browy should use")]
pub struct NoHome;

impl Paths {
    /// The places of the person who runs this process.
    ///
    /// # Errors
    /// [`NoHome`] when the system names no home directory.
    pub fn of_user() -> Result<Self, NoHome> {
        directories::BaseDirs::new().map(|dirs| Self::below(dirs.home_dir())).ok_or(NoHome)
    }

    /// The places below `home`.
    pub fn below(home: impl Into<PathBuf>) -> Self {
        Self { home: home.into() }
    }

    /// The home directory itself.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// `~/.browy`: program, settings and data.
    pub fn browy(&self) -> PathBuf {
        self.home.join(".browy")
    }

    /// `~/.browy/config.toml`: settings.
    pub fn config(&self) -> PathBuf {
        self.browy().join("config.toml")
    }

    /// `~/.browy/origins.json`: extension ids that the person added.
    pub fn origins(&self) -> PathBuf {
        self.browy().join("origins.json")
    }

    /// `~/.browy/registered.json`: what registration with browsers left behind, so that it can be taken back.
    pub fn registered(&self) -> PathBuf {
        self.browy().join("registered.json")
    }

    /// `~/.browy/app`: the installed program, staged extension and Copilot CLI.
    pub fn app(&self) -> PathBuf {
        self.browy().join("app")
    }

    /// `~/.browy/data`: what the agent keeps for the person.
    pub fn data(&self) -> PathBuf {
        self.browy().join("data")
    }

    /// `~/.browy/data/signed-in`: written by every sign-in, so that a running host takes notice.
    pub fn signed_in(&self) -> PathBuf {
        self.data().join("signed-in")
    }

    /// `~/.browseragent/native-host.log`: the host's log, where Browy has always put it.
    pub fn log(&self) -> PathBuf {
        self.home.join(".browseragent").join("native-host.log")
    }

    /// `~/.browseragent/sessions`: the working directory that marks a Copilot session as Browy's.
    pub fn sessions(&self) -> PathBuf {
        self.home.join(".browseragent").join("sessions")
    }
}

/// Creates a folder and its parents; new ones are private to the owner (0700).
///
/// # Errors
/// What the system says.
pub fn create_private_dir(path: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}
