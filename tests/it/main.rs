//! Integration tests, one binary: `tests/run` picks layers by module.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code outside test functions")]

mod support;

mod fake_cli;
