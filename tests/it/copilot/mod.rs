//! The Copilot backend on the real CLI, with a scripted model on loopback.

mod chats;
mod faults;
mod isolation;
mod reveal;
mod runtimes;
mod sign_in;
mod talk;
