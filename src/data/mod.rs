//! Files below `~/.browy/data`.

pub mod files;
pub mod screenshots;
