//! Files below `~/.browy/data`.

pub mod chats;
pub mod files;
pub mod notes;
pub mod screenshots;
mod shared_file;

pub use shared_file::{Opened, SharedFileError};

/// The time now in milliseconds since 1970.
pub fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
