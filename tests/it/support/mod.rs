//! Doubles and tools that several test modules use.

#![allow(dead_code, reason = "not every test module uses every verb")]

pub mod fake_agent;
pub mod fake_panel;
