//! Integration tests, one binary: `tests/run` picks layers by module.

#[cfg(unix)]
mod install;
