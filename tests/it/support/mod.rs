//! What tests share.
#![allow(dead_code, reason = "each test binary uses some of it")]

pub mod chromium;
pub mod page_server;
