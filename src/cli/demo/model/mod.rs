//! The scripted model: it reads labels and papers, and knows no answers.
//!
//! It stands behind an OpenAI-compatible endpoint on loopback and is reached through the real CLI. Each
//! request carries the whole conversation, from which the next step follows; nothing else is remembered,
//! and nothing of the scenario can be reached from here.

mod agent;
mod answers;
mod conversation;
mod facts;
mod labels;
mod questions;
mod state;
mod wire;

#[cfg(test)]
mod tests;

pub use wire::{MODEL, start};
