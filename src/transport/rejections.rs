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
            request_id: None,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn junk() -> ProtocolError {
        ProtocolError::NotJson("x".repeat(1000))
    }

    fn bad(kind: &str, call_id: Option<&str>) -> ProtocolError {
        ProtocolError::BadField {
            kind: kind.into(),
            detail: "d".into(),
            session_id: Some("s".into()),
            call_id: call_id.map(Into::into),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn unknown_type_is_answered_once() {
        let mut rejections = Rejections::default();
        let answer = rejections.answer(&ProtocolError::UnknownType("new.thing".into())).unwrap();
        assert!(answer.message.contains("new.thing"));
        assert_eq!(answer.code, ErrorCode::Unsupported);
        assert!(rejections.answer(&ProtocolError::UnknownType("new.thing".into())).is_none());
        assert!(rejections.answer(&ProtocolError::UnknownType("other.thing".into())).is_some());
        assert_eq!(rejections.total(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn answers_are_short_and_rationed() {
        let mut rejections = Rejections::default();
        let answers: Vec<_> = (0..1000).filter_map(|_| rejections.answer(&junk())).collect();
        assert_eq!(answers.len(), 16);
        assert!(answers.iter().all(|answer| answer.message.chars().count() == MESSAGE));
        tokio::time::advance(Duration::from_secs(3)).await;
        assert_eq!((0..1000).filter_map(|_| rejections.answer(&junk())).count(), 3);
        tokio::time::advance(Duration::from_secs(86_400)).await;
        assert_eq!((0..1000).filter_map(|_| rejections.answer(&junk())).count(), 16);
        assert_eq!(rejections.total(), 3000);
    }

    #[tokio::test(start_paused = true)]
    async fn types_that_were_never_answered_are_not_remembered() {
        let mut rejections = Rejections::default();
        for n in 0..100_000 {
            let _ = rejections.answer(&ProtocolError::UnknownType(format!("t{n}")));
        }
        assert_eq!(rejections.types.len(), 16);
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_prompt_is_answered_into_its_panel() {
        let mut rejections = Rejections::default();
        assert_eq!(rejections.answer(&bad("chat.send", None)).unwrap().session_id, Some("s".into()));
        assert_eq!(rejections.answer(&bad("cdp.event", None)).unwrap().session_id, None);
        assert!(rejections.answer(&bad("tool.result", Some("c"))).is_none());
    }
}
