//! The command line and host mode: the only place that prints and decides exit codes.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done |
//! | 1 | failed; the message says what was tried and what to do |
//! | 2 | usage |
//! | 3 | started as a host by an extension that is not trusted |

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the terminal is this module's output")]

#[cfg(unix)]
pub mod demo;
mod files;
mod host;
pub mod install;
mod login;
pub mod origins;
mod read_pdf;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::agent::copilot::guard;
use crate::paths::Paths;

/// Browy: an agent that lives in the browser you already use.
#[derive(Debug, Parser)]
#[command(
    name = "browy",
    version,
    arg_required_else_help = true,
    after_help = "Examples:\n  browy install-host        register with the browsers that are on this machine\n  browy demo                watch it fill a 26-field form, no sign-in needed\n  browy login               sign in to GitHub Copilot, once\n  browy uninstall-host      undo the registration\n\nA browser starts this program by itself, with the extension's address as its only argument."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch Browy fill a 26-field form from a paper, in a browser of its own.
    #[cfg(unix)]
    Demo(demo::DemoArgs),
    /// Register the host with the browsers that are on this machine.
    InstallHost(install::InstallHostArgs),
    /// Sign in to GitHub Copilot, once.
    Login(login::LoginArgs),
    /// Take the registration back.
    UninstallHost(install::UninstallHostArgs),
}

/// Does what the arguments ask for.
pub fn main() -> ExitCode {
    // Before anything else: the guard must stay small.
    if let Some(code) = guard::run_if_asked() {
        return code;
    }
    if let Some(code) = read_pdf::run_if_asked() {
        return code;
    }
    let args: Vec<OsString> = std::env::args_os().collect();
    let first = args.get(1).and_then(|arg| arg.to_str()).unwrap_or_default();
    if first.starts_with(host::ORIGIN_PREFIX) {
        return host::run(first);
    }
    match run(Cli::parse_from(args)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("browy: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(cli: Cli) -> anyhow::Result<ExitCode> {
    let paths = Paths::of_user()?;
    match cli.command {
        #[cfg(unix)]
        Command::Demo(args) => {
            let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
            let code = runtime.block_on(demo::run(args));
            runtime.shutdown_background();
            code
        }
        Command::InstallHost(args) => args.run(&paths),
        Command::Login(args) => login::run(&paths, &args),
        Command::UninstallHost(args) => args.run(&paths),
    }
}
