//! What is answered to messages that are no good: little, and never more than the peer can read.

use std::collections::HashSet;
use std::time::Duration;

use tokio::time::Instant;

use crate::protocol::{ChatError, ErrorCode, ProtocolError};

/// Answers given at once before they are rationed.
const BURST: u32 = 16;

/// One more answer each time this has passed.
const REFILL: Duration = Duration::from_secs(1);

/// Unknown types that are remembered, and so answered.
const REMEMBERED_TYPES: usize = 256;

/// Characters of an answer.
const MESSAGE: usize = 200;

/// Counts the messages of one connection that were no good, and says what to answer.
#[derive(Debug)]
pub struct Rejections {
    total: u64,
    types: HashSet<String>,
    allowance: u32,
    refilled: Instant,
}

impl Default for Rejections {
    fn default() -> Self {
        Self { total: 0, types: HashSet::new(), allowance: BURST, refilled: Instant::now() }
    }
}

impl Rejections {
    /// How many there were.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The answer to one more, at most 200 characters long. `None`: it answers a call, whose failing is
    /// the answer; or this unknown type was answered before; or the peer sends so much junk (more than
    /// 16 at once, then one a second) that answers would only add to it.
    pub fn answer(&mut self, error: &ProtocolError) -> Option<ChatError> {
        self.total += 1;
        let silent = match error {
            ProtocolError::UnknownType(kind) => {
                self.types.contains(kind) || self.types.len() >= REMEMBERED_TYPES
            }
            ProtocolError::BadField { call_id, .. } => call_id.is_some(),
            ProtocolError::NotJson(_) | ProtocolError::NoType => false,
        };
        if silent {
            return None;
        }
        self.refill();
        self.allowance = self.allowance.checked_sub(1)?;
        if let ProtocolError::UnknownType(kind) = error {
            self.types.insert(kind.clone());
        }
        // To a panel, an error of its own session ends the running turn, so only that message gets one
        // whose sender waits for a turn.
        let session_id = match error {
            ProtocolError::BadField { kind, session_id, .. } if kind == "chat.send" => session_id.clone(),
            _ => None,
        };
        Some(ChatError {
            session_id: session_id.filter(|id| id.as_str().len() <= MESSAGE),
            message: bounded(&error.to_string()),
            code: ErrorCode::Unsupported,
            turn_id: None,
            duration_ms: None,
        })
    }

    fn refill(&mut self) {
        let passed = self.refilled.elapsed().as_secs() / REFILL.as_secs();
        if let Ok(passed @ 1..) = u32::try_from(passed.min(u64::from(BURST))) {
            self.allowance = (self.allowance + passed).min(BURST);
            self.refilled = Instant::now();
        }
    }
}

fn bounded(text: &str) -> String {
    if text.chars().count() <= MESSAGE {
        return text.to_owned();
    }
    text.chars().take(MESSAGE - 1).chain(['…']).collect()
}
