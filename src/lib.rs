//! Browy's native-messaging host.
//!
//! | module | what it is | may use |
//! |---|---|---|
//! | [`cli`] | the command line and host mode; the only place that prints and exits | everything |
//! | [`runner`] | sessions, the turn queue, one turn from start to ending | agent, tools, browser, protocol, transport, data, rpc, terminal, config, paths |
//! | [`agent`] | the model side: the Copilot CLI behind a trait, prompts | rpc, config, paths |
//! | [`tools`] | what the model can call | browser, page, data, pdf, protocol::ids, config, logging, paths |
//! | [`browser`] | what the host knows of the browser | page, protocol, rpc, logging |
//! | [`page`] | JavaScript that runs inside pages | – |
//! | [`transport`] | frames in and out | protocol |
//! | [`protocol`] | messages between host and extension | – |
//! | [`chromium`] | a browser with a profile of its own (demo, tests) | paths |
//! | [`data`] | files under `~/.browy/data` | paths |
//! | [`pdf`] | text of PDF files, read in a process of its own | – |
//! | [`rpc`] | replies find their callers | – |
//! | [`terminal`] | a window for a program that the person has to see | – |
//! | [`config`], [`logging`] | settings, the log | paths |
//! | [`paths`] | where things are on this machine | – |
//!
//! `tests/it/architecture.rs` checks the table.

pub mod agent;
pub mod browser;
pub mod chromium;
pub mod cli;
pub mod config;
pub mod data;
pub mod logging;
pub mod page;
pub mod paths;
pub mod pdf;
pub mod protocol;
pub mod rpc;
pub mod runner;
pub mod terminal;
pub mod tools;
pub mod transport;
