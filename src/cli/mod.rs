//! The command line and host mode.

pub mod demo;

use std::process::ExitCode;

/// Parses the arguments and does what they ask for.
pub fn main() -> ExitCode {
    ExitCode::SUCCESS
}
