//! Tests in a real browser: the extension, the side panel, the host.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code outside test functions")]

#[path = "../it/support/mod.rs"]
mod support;

mod launch;
