//! The scripts, by family.

pub mod clicks;
pub mod dates;
pub mod drags;
pub mod forms;
pub mod mail;
pub mod reading;
pub mod shops;
pub mod social;
pub mod text;
