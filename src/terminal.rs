//! Opening a terminal window on the person's screen.
//!
//! No shell takes part in it: every program gets its arguments as a list, and which programs there are to choose
//! from is written here, not taken from a variable.

use std::ffi::{OsStr, OsString};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

/// A terminal that ends this soon with a failure could not open its window.
const SETTLES: Duration = Duration::from_millis(700);

/// What runs the program that stands after these words.
const OF_LINUX: [&[&str]; 12] = [
    &["x-terminal-emulator", "-e"],
    &["gnome-terminal", "--"],
    &["ptyxis", "--"],
    &["kgx", "--"],
    &["konsole", "-e"],
    &["xfce4-terminal", "-x"],
    &["mate-terminal", "-x"],
    &["kitty"],
    &["alacritty", "-e"],
    &["foot"],
    &["wezterm", "start", "--"],
    &["xterm", "-e"],
];

/// Has Terminal run its arguments. AppleScript quotes each of them for the shell in the window.
const OF_MACOS: [&str; 10] = [
    "on run argv",
    "set commandLine to \"\"",
    "repeat with anArgument in argv",
    "set commandLine to commandLine & quoted form of (anArgument as text) & \" \"",
    "end repeat",
    "tell application \"Terminal\"",
    "activate",
    "do script commandLine",
    "end tell",
    "end run",
];

/// A system with its own way to a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// Linux and what is like it: whichever terminal is installed.
    Linux,
    /// Terminal, through AppleScript.
    MacOs,
    /// A console of the program's own.
    Windows,
}

impl System {
    /// The one this program was built for.
    pub const HERE: Self = if cfg!(windows) {
        Self::Windows
    } else if cfg!(target_os = "macos") {
        Self::MacOs
    } else {
        Self::Linux
    };
}

/// No terminal could be opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no terminal program was found")]
pub struct NoTerminal;

/// The command lines to try, one after the other, until one works. The first word of each is the program.
pub fn ways(system: System, program: &OsStr, args: &[&str]) -> Vec<Vec<OsString>> {
    let command = || std::iter::once(program.to_owned()).chain(args.iter().map(OsString::from));
    match system {
        System::Linux => {
            OF_LINUX.iter().map(|way| way.iter().map(OsString::from).chain(command()).collect()).collect()
        }
        System::MacOs => {
            let script = OF_MACOS.iter().flat_map(|line| ["-e", line]).map(OsString::from);
            vec![std::iter::once("/usr/bin/osascript".into()).chain(script).chain(command()).collect()]
        }
        System::Windows => vec![command().collect()],
    }
}

/// Opens a window that runs `program`. The window does not end with this process.
///
/// # Errors
/// [`NoTerminal`] when none of the ways works.
pub async fn open(program: &OsStr, args: &[&str]) -> Result<(), NoTerminal> {
    for way in ways(System::HERE, program, args) {
        let Some((first, rest)) = way.split_first() else { continue };
        let mut command = Command::new(first);
        // Standard output of a host is the browser's.
        command.args(rest).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        apart(&mut command);
        let Ok(mut child) = command.spawn() else { continue };
        match tokio::time::timeout(SETTLES, child.wait()).await {
            Ok(Ok(status)) if !status.success() => {
                tracing::info!(program = %first.display(), %status, "this terminal does not open");
            }
            _ => return Ok(()),
        }
    }
    Err(NoTerminal)
}

/// What is sent to this process's group is not for the window.
#[cfg(unix)]
fn apart(command: &mut Command) {
    command.process_group(0);
}

#[cfg(windows)]
fn apart(command: &mut Command) {
    const CREATE_NEW_CONSOLE: u32 = 0x0000_0010;
    command.creation_flags(CREATE_NEW_CONSOLE);
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "/home/x y/$(touch x)'\"; rm -rf ~ #/browy";

    #[test]
    fn program_and_arguments_stay_words_of_their_own_on_every_system() {
        for system in [System::Linux, System::MacOs, System::Windows] {
            let ways = ways(system, OsStr::new(HOSTILE), &["login", "--pause"]);
            assert!(!ways.is_empty());
            for way in ways {
                let (before, command) = way.split_at(way.len() - 3);
                assert_eq!(command, [HOSTILE, "login", "--pause"], "{system:?}");
                let shells = ["sh", "bash", "cmd", "cmd.exe", "powershell", "-c", "/c", "/k"];
                assert!(before.iter().all(|word| shells.iter().all(|shell| word != shell)), "{before:?}");
            }
        }
    }

    #[test]
    fn apple_script_is_the_same_whatever_is_to_be_run() {
        let script = |program: &str| {
            let way = ways(System::MacOs, OsStr::new(program), &["login"]).remove(0);
            way[..way.len() - 2].to_vec()
        };
        assert_eq!(script(HOSTILE), script("/usr/bin/true"));
    }
}
