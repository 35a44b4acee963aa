//! Integration tests: one binary, one module per subject.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests are tests")]

mod copilot;
mod guard;
mod support;
