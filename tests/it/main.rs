//! Integration tests, one binary: `tests/run` picks layers by module.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]

#[cfg(unix)]
mod install;
