//! What tests share.
#![allow(dead_code, reason = "each test binary uses some of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code outside test functions")]

pub mod chromium;
pub mod fake_cli;
pub mod page_server;
