//! Integration tests, one binary: `tests/run` picks layers by module.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code outside test functions")]

#[path = "../case_runner/bind.rs"]
mod bind;
mod case_rules;
#[path = "../case_runner/expect.rs"]
mod expect;
mod support;

mod conversations;
mod demo;
mod fake_cli;

mod architecture;
#[cfg(unix)]
mod install;
#[cfg(unix)]
mod install_script;
mod logging;
#[cfg(target_os = "linux")]
mod kills;
#[cfg(target_os = "linux")]
mod process;
//! Integration tests: one binary, one module per subject.

mod copilot;
mod guard;
mod support;
