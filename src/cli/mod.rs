//! The command line and host mode.

use std::process::ExitCode;

/// Parses the arguments and does what they ask for.
pub fn main() -> ExitCode {
    if let Some(code) = crate::agent::copilot::guard::run_if_asked() {
        return code;
    }
    ExitCode::SUCCESS
}
