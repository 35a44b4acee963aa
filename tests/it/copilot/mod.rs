//! The Copilot backend on the real CLI, with a scripted model on loopback.

mod chats;
mod faults;
mod isolation;
#[cfg(target_os = "linux")]
mod replaced;
mod reveal;
mod runtimes;
mod sign_in;
mod talk;
mod whole;
