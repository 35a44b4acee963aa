//! What Browy costs, against plain programs that do the same in the same run. `tests/run bench` prints the table
//! and fails when a target is missed; with `UPDATE=1` it also rewrites the table in `docs/benchmarks.md`.
//! `cargo bench --bench host -- NAME…` measures some groups: native, frames, round-trip, ready, click, view.
#![cfg_attr(not(target_os = "linux"), allow(unused))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a program for the terminal"
)]

#[cfg(target_os = "linux")]
mod click;
#[cfg(target_os = "linux")]
mod frames;
#[cfg(target_os = "linux")]
mod native;
#[cfg(target_os = "linux")]
mod pairs;
#[cfg(target_os = "linux")]
mod ready;
#[cfg(target_os = "linux")]
mod round_trip;
#[cfg(target_os = "linux")]
#[path = "../it/support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod view;

use std::process::ExitCode;

/// Memory and processor time are read from `/proc`.
#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    println!("0 passed, 0 failed (the measurements need Linux)");
    ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    type Group = fn(&mut table::Table);
    const GROUPS: [(&str, Group); 6] = [
        ("native", native::start_up_and_idle),
        ("frames", frames::measure),
        ("round-trip", round_trip::measure),
        ("ready", ready::measure),
        ("click", click::measure),
        ("view", view::measure),
    ];
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == native::FORWARD) {
        return native::forward();
    }
    // `cargo test --all-targets` starts it, too, and only wants to know that it builds.
    if !args.iter().any(|arg| arg == "--bench") {
        return ExitCode::SUCCESS;
    }
    let wanted: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    if let Some(unknown) = wanted.iter().find(|name| !GROUPS.iter().any(|(known, _)| known == *name)) {
        println!("there is no group `{unknown}`: {}", GROUPS.map(|(name, _)| name).join(" "));
        return ExitCode::from(2);
    }
    let mut table = table::Table::default();
    for (name, group) in GROUPS {
        if wanted.is_empty() || wanted.iter().any(|wanted| *wanted == name) {
            println!("measuring {name} …");
            group(&mut table);
        }
    }
    if wanted.is_empty() && std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        table.rewrite();
    }
    table.print()
}
