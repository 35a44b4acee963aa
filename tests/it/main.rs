//! Integration tests, one binary: `tests/run` picks layers by module.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stdout, clippy::print_stderr)]

mod support;

#[cfg(unix)]
mod act;
mod approvals;
mod architecture;
#[path = "../case_runner/bind.rs"]
mod bind;
mod by_hand;
mod case_rules;
mod chaos;
mod cli_tools;
mod conversations;
mod copilot;
mod demo;
mod devtools;
#[cfg(target_os = "linux")]
mod endurance;
#[cfg(unix)]
mod everyday;
#[path = "../case_runner/expect.rs"]
mod expect;
mod fake_cli;
#[cfg(unix)]
mod files;
#[cfg(unix)]
mod finding;
mod fuzz;
mod guard;
#[cfg(target_os = "linux")]
mod hardening;
mod hostile;
#[cfg(unix)]
mod install;
#[cfg(unix)]
mod install_script;
#[cfg(target_os = "linux")]
mod kills;
mod logging;
#[cfg(unix)]
mod mutations;
mod own_files;
#[cfg(target_os = "linux")]
mod pdf;
#[cfg(unix)]
mod pictures;
#[cfg(target_os = "linux")]
mod process;
mod registry;
mod revealed;
#[cfg(target_os = "linux")]
mod saving;
#[cfg(unix)]
mod scale;
mod selectors;
mod sessions;
mod settings;
mod stored_chats;
mod stored_data;
#[cfg(unix)]
mod tabs;
#[cfg(unix)]
mod three_tabs;
#[cfg(unix)]
mod view;
