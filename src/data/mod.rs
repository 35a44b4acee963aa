//! Files below `~/.browy/data`.
