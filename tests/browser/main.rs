//! Tests in a real browser: the extension, the side panel, the host. The CLI is ours, so that a test decides what
//! the model does and sees what it was told.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code outside test functions")]

#[path = "../it/support/mod.rs"]
mod support;

mod chats;
mod files;
mod launch;
mod lifetimes;
mod limits;
mod options;
mod panels;
mod stage;
mod terminal;
