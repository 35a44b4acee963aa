//! Doubles and tools that several test modules use.
#![allow(dead_code, reason = "each test binary uses some of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code outside test functions")]

#[cfg(unix)]
pub mod beside;
#[cfg(unix)]
pub mod cdp_wire;
pub mod chromium;
pub mod copilot;
pub mod dice;
pub mod fake_agent;
pub mod fake_cli;
pub mod fake_panel;
pub mod host;
pub mod model_server;
pub mod no_browser;
pub mod page_server;
#[cfg(target_os = "linux")]
pub mod processes;
pub mod world;
