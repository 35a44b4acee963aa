//! The command line and host mode.

mod files;
pub mod install;
pub mod origins;

use std::process::ExitCode;

/// Parses the arguments and does what they ask for.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
