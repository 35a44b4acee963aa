//! Who runs next. Pure: no IO, no clock.

use std::collections::VecDeque;

use super::attachments::Attached;
use super::by_hand::HandCall;
use crate::protocol::{SessionId, TurnId};

/// Prompts one chat may have waiting.
pub const MAX_PER_CHAT: usize = 8;
/// Bytes of text and attachments one chat may have waiting.
pub const MAX_BYTES_PER_CHAT: usize = 8 * 1024 * 1024;
/// Prompts that may wait in the whole process.
pub const MAX_IN_ALL: usize = 32;

/// A prompt that waits for its turn.
#[derive(Debug, Clone, PartialEq)]
pub struct Queued {
    /// The chat.
    pub session: SessionId,
    /// The turn it will become.
    pub turn: TurnId,
    /// What the person typed.
    pub text: String,
    /// What they attached.
    pub attached: Attached,
    /// Instead of a prompt: a tool that the person calls.
    pub by_hand: Option<HandCall>,
}

impl Queued {
    fn bytes(&self) -> usize {
        let by_hand = self.by_hand.as_ref().map_or(0, |call| call.args.to_string().len());
        self.text.len() + self.attached.bytes() + by_hand
    }
}

/// First in, first out, across all chats.
#[derive(Debug, Default)]
pub struct TurnQueue {
    waiting: VecDeque<Queued>,
}

/// The queue takes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueueFull {
    /// This chat has too many prompts waiting.
    #[error("this chat already has {MAX_PER_CHAT} messages waiting; stop one or wait for an answer")]
    Chat,
    /// This chat has too much text waiting.
    #[error("the messages waiting in this chat are over {} MiB together", MAX_BYTES_PER_CHAT / 1024 / 1024)]
    Bytes,
    /// Everybody together has too many prompts waiting.
    #[error("{MAX_IN_ALL} messages are waiting already; wait for an answer")]
    Process,
}

impl TurnQueue {
    /// Puts a prompt at the end.
    ///
    /// # Errors
    /// [`QueueFull`]; the prompt is not taken then.
    pub fn push(&mut self, prompt: Queued) -> Result<(), QueueFull> {
        let of_chat = || self.waiting.iter().filter(|waiting| waiting.session == prompt.session);
        if of_chat().count() >= MAX_PER_CHAT {
            return Err(QueueFull::Chat);
        }
        if of_chat().map(Queued::bytes).sum::<usize>() + prompt.bytes() > MAX_BYTES_PER_CHAT {
            return Err(QueueFull::Bytes);
        }
        if self.waiting.len() >= MAX_IN_ALL {
            return Err(QueueFull::Process);
        }
        self.waiting.push_back(prompt);
        Ok(())
    }

    /// Takes the next one.
    pub fn pop(&mut self) -> Option<Queued> {
        self.waiting.pop_front()
    }

    /// Takes one out by its turn, if it waits in that chat.
    pub fn remove(&mut self, session: &SessionId, turn: &TurnId) -> Option<Queued> {
        let at =
            self.waiting.iter().position(|waiting| waiting.session == *session && waiting.turn == *turn)?;
        self.waiting.remove(at)
    }

    /// Takes all of a chat out.
    pub fn remove_all(&mut self, session: &SessionId) -> Vec<Queued> {
        let (gone, stay) =
            std::mem::take(&mut self.waiting).into_iter().partition(|waiting| waiting.session == *session);
        self.waiting = stay;
        Vec::from(gone)
    }

    /// Everything that waits, with its place (1 = next).
    pub fn places(&self) -> impl Iterator<Item = (u32, &Queued)> {
        (1..).zip(&self.waiting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(session: &str, turn: &str) -> Queued {
        Queued {
            session: session.into(),
            turn: turn.into(),
            text: turn.to_owned(),
            attached: Attached::default(),
            by_hand: None,
        }
    }

    fn turns(queue: &TurnQueue) -> Vec<(u32, &str)> {
        queue.places().map(|(place, queued)| (place, queued.turn.as_str())).collect()
    }

    #[test]
    fn first_in_is_first_out_across_chats() {
        let mut queue = TurnQueue::default();
        for (session, turn) in [("a", "1"), ("b", "2"), ("a", "3")] {
            queue.push(prompt(session, turn)).unwrap();
        }
        assert_eq!(turns(&queue), [(1, "1"), (2, "2"), (3, "3")]);
        assert_eq!(queue.pop().unwrap().turn.as_str(), "1");
        assert_eq!(queue.pop().unwrap().turn.as_str(), "2");
        assert_eq!(queue.pop().unwrap().turn.as_str(), "3");
        assert_eq!(queue.pop(), None);
    }

    #[test]
    fn a_chat_takes_only_its_own_prompts_out() {
        let mut queue = TurnQueue::default();
        for (session, turn) in [("a", "1"), ("b", "2"), ("a", "3")] {
            queue.push(prompt(session, turn)).unwrap();
        }
        assert_eq!(queue.remove(&"b".into(), &"1".into()), None);
        assert_eq!(queue.remove_all(&"a".into()).len(), 2);
        assert_eq!(turns(&queue), [(1, "2")]);
        assert!(queue.remove(&"b".into(), &"2".into()).is_some());
        assert_eq!(turns(&queue), []);
    }

    #[test]
    fn limits_refuse_and_keep_what_was_there() {
        let mut queue = TurnQueue::default();
        for turn in 0..MAX_PER_CHAT {
            queue.push(prompt("a", &turn.to_string())).unwrap();
        }
        assert_eq!(queue.push(prompt("a", "over")), Err(QueueFull::Chat));
        for turn in MAX_PER_CHAT..MAX_IN_ALL {
            queue.push(prompt(&format!("chat {turn}"), &turn.to_string())).unwrap();
        }
        assert_eq!(queue.push(prompt("new", "over")), Err(QueueFull::Process));
        assert_eq!(queue.places().count(), MAX_IN_ALL);

        let mut queue = TurnQueue::default();
        let large = Queued { text: "x".repeat(MAX_BYTES_PER_CHAT), ..prompt("a", "1") };
        queue.push(large).unwrap();
        assert_eq!(queue.push(prompt("a", "2")), Err(QueueFull::Bytes));
        assert_eq!(queue.push(prompt("b", "2")), Ok(()));
    }
}
