//! Files below `~/.browy/data`.

pub mod chats;
pub mod notes;
pub mod screenshots;
mod shared_file;

pub use shared_file::{Opened, SharedFileError};
