//! Files below `~/.browy/data`.

pub mod screenshots;
