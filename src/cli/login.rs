//! `browy login`: signs in to GitHub Copilot with the CLI that the host uses.

use std::io::IsTerminal as _;
use std::process::{Command, ExitCode};

use anyhow::Context;

use crate::agent::copilot::{Environment, locate};
use crate::config::Config;
use crate::paths::{Paths, create_private_dir};

/// Arguments of `browy login`.
#[derive(Debug, clap::Args)]
pub struct LoginArgs {
    /// Wait for Enter at the end, so that a window that was opened for this stays readable
    #[arg(long, hide = true)]
    pause: bool,
}

/// Hands the terminal to the Copilot CLI's own sign-in. A host that runs takes notice.
///
/// # Errors
/// When there is no CLI, or it does not start.
pub fn run(paths: &Paths, args: &LoginArgs) -> anyhow::Result<ExitCode> {
    let result = sign_in(paths);
    if args.pause && std::io::stdin().is_terminal() {
        if let Err(error) = &result {
            eprintln!("browy: {error:#}");
        }
        eprintln!("\nPress Enter to close this window.");
        let _ = std::io::stdin().read_line(&mut String::new());
    }
    result
}

fn sign_in(paths: &Paths) -> anyhow::Result<ExitCode> {
    let config = Config::load(paths)?;
    if let Some(provider) = &config.provider {
        eprintln!("Browy uses your own provider at {}: no sign-in is needed.", provider.base_url);
        return Ok(ExitCode::SUCCESS);
    }
    let cli = locate(&Environment::of_process(), config.cli_path.as_deref(), paths)?;
    let status = Command::new(&cli.program)
        .arg("login")
        .status()
        .with_context(|| format!("cannot start {}", cli.program.display()))?;
    if !status.success() {
        return Ok(ExitCode::FAILURE);
    }
    let mark = paths.signed_in();
    create_private_dir(&paths.data()).and_then(|()| std::fs::write(&mark, "")).with_context(|| {
        format!("signed in; panels that are open do not know it yet: cannot write {}", mark.display())
    })?;
    Ok(ExitCode::SUCCESS)
}
