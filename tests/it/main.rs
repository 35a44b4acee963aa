//! Integration tests: one binary, one module per subject.

mod copilot;
mod guard;
mod support;
