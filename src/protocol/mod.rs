//! Messages between host and extension: data only, both directions, one place.
//!
//! Browy's protocol 1 plus the additions of `docs/protocol.md`. Unknown fields are ignored;
//! unknown types are reported and skipped, so older and newer peers can talk.

mod error;
mod ids;
mod inbound;
pub mod limits;
mod outbound;
mod stored;
pub mod text;
mod words;

pub use error::ProtocolError;
pub use ids::{AskId, CallId, CdpSessionId, SessionId, TabId, TurnId};
pub use inbound::*;
pub use outbound::*;
pub use stored::*;
pub use words::*;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod typescript;
