//! A turn without a model: one tool, called by the person.
//!
//! It goes through the same queue, switches, questions, limits and Stop as a call of the model.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio::sync::mpsc;

use crate::agent::{AgentEvent, AgentTurn, Ending, ToolDefinition, ToolReply, TurnControl};

/// The call.
#[derive(Debug, Clone, PartialEq)]
pub struct HandCall {
    /// Name of the tool.
    pub tool: String,
    /// Its arguments, unchecked.
    pub args: Value,
}

/// Names the call and its answer inside the turn.
const CALL: &str = "by-hand";

/// What is said of a tool that answered without a word.
const NOTHING: &str = "(nothing)";

/// A turn that makes the call, says its answer and ends.
pub fn turn(call: HandCall) -> AgentTurn {
    // The call, its answer and the end: nothing ever waits for room.
    let (sender, events) = mpsc::channel(4);
    let begin = AgentEvent::ToolCall { id: CALL.to_owned(), name: call.tool, args: call.args };
    let _ = sender.try_send(begin);
    AgentTurn { events, control: Arc::new(Hand { events: sender }) }
}

struct Hand {
    events: mpsc::Sender<AgentEvent>,
}

#[async_trait]
impl TurnControl for Hand {
    async fn answer(&self, _call_id: &str, reply: ToolReply) {
        let text = if reply.text.is_empty() { NOTHING.to_owned() } else { reply.text };
        let _ = self.events.try_send(AgentEvent::Message { message_id: CALL.to_owned(), text });
        let _ = self.events.try_send(AgentEvent::Ended(Ending::Done));
    }

    async fn offer(&self, _tools: Vec<ToolDefinition>) -> bool {
        false
    }

    async fn permit(&self, _request_id: &str, _allow: bool, _why: &str) {}

    fn abort(&self) {
        let _ = self.events.try_send(AgentEvent::Ended(Ending::Aborted));
    }
}
