//! MiniWoB++: small task pages that others made, each played by a script which sees and acts only through the
//! tools. `tests/run miniwob` gets the pages.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code outside test functions")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the runner captures it")]

#[path = "../it/support/mod.rs"]
mod support;

mod episode;
mod oracles;
mod play;
mod table;
