//! `browy login`: signs in to GitHub Copilot with the CLI that the host uses.

use std::process::{Command, ExitCode};

use anyhow::Context;

use crate::agent::copilot::{Environment, locate};
use crate::config::Config;
use crate::paths::Paths;

/// Hands the terminal to the Copilot CLI's own sign-in.
///
/// # Errors
/// When there is no CLI, or it does not start.
pub fn run(paths: &Paths) -> anyhow::Result<ExitCode> {
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
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
