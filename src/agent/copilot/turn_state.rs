//! What is known of a running turn, and what each event of the CLI means in it. No IO.

use std::collections::{HashMap, HashSet};

use tokio::time::Instant;

use super::errors;
use super::event::{Failure, SessionEvent, What};
use super::pieces::{Pieces, Rest};
use crate::agent::{AgentEvent, Ending, UsageReport};
use crate::config::Provider;

/// Event ids remembered per half; a repeated delivery follows soon after the first.
const SEEN: usize = 64 * 1024;

/// What to do about an event.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// Pass these on.
    Emit(Vec<AgentEvent>),
    /// Allow this request of the CLI without asking.
    Approve(String),
    /// Refuse this request of the CLI without asking.
    Refuse(String, &'static str),
    /// The turn failed and will end.
    Failing,
    /// The turn is over.
    End {
        /// Whether the CLI says that it was stopped.
        aborted: bool,
    },
}

/// A running turn.
pub struct TurnState {
    tools: HashSet<String>,
    provider: Option<Provider>,
    /// Requests from before this time are nobody's any more; milliseconds since 1970.
    started: u64,
    seen: SeenIds,
    /// The prompt is in the transcript. What ends before is the end of an earlier turn.
    begun: bool,
    pieces: Pieces,
    /// Messages with pieces and without a last word.
    streaming: Vec<String>,
    /// Messages that had their last word.
    whole: HashSet<String>,
    open_calls: HashSet<String>,
    /// Names of the tools that were called, by call.
    started_tools: HashMap<String, String>,
    open_permissions: HashSet<String>,
    usage: UsageReport,
    unreachable: bool,
    failure: Option<Failure>,
}

impl TurnState {
    /// A turn that has just been sent.
    pub fn new(tools: HashSet<String>, provider: Option<Provider>, started: u64) -> Self {
        Self {
            tools,
            provider,
            started,
            seen: SeenIds::default(),
            begun: false,
            pieces: Pieces::default(),
            streaming: Vec::new(),
            whole: HashSet::new(),
            open_calls: HashSet::new(),
            started_tools: HashMap::new(),
            open_permissions: HashSet::new(),
            usage: UsageReport::default(),
            unreachable: false,
            failure: None,
        }
    }

    /// Whether the turn waits for an answer of the host, and so perhaps of a person.
    pub fn waits_for_host(&self) -> bool {
        !self.open_calls.is_empty() || !self.open_permissions.is_empty()
    }

    /// Marks a call as answered. `false`: it is not open.
    pub fn close_call(&mut self, id: &str) -> bool {
        self.open_calls.remove(id)
    }

    /// Marks a permission as answered. `false`: it is not open.
    pub fn close_permission(&mut self, id: &str) -> bool {
        self.open_permissions.remove(id)
    }

    /// The calls that nobody answered.
    pub fn take_open_calls(&mut self) -> Vec<String> {
        self.open_calls.drain().collect()
    }

    /// How the turn ended, now that it has.
    pub fn ending(&self, aborted: bool) -> Ending {
        match &self.failure {
            _ if aborted => Ending::Aborted,
            Some(failure) => {
                Ending::Failed(errors::of_turn(failure, self.unreachable, self.provider.as_ref()))
            }
            None => Ending::Done,
        }
    }

    /// Takes in one event.
    pub fn on_event(&mut self, event: SessionEvent) -> Step {
        // Under load the CLI delivers events again, out of order, with the same id.
        if event.id.is_some_and(|id| !self.seen.insert(id)) {
            self.pieces.repeated();
            return Step::Emit(Vec::new());
        }
        let stale = event.timestamp.is_some_and(|time| time < self.started);
        let events = match event.what {
            What::Activity | What::Unanswerable { .. } => Vec::new(),
            What::UserMessage => {
                self.begun = true;
                Vec::new()
            }
            What::Delta { message_id, text } => self.delta(message_id, text),
            What::Reasoning { text } => vec![AgentEvent::Reasoning { text }],
            What::Count { bytes } => {
                self.pieces.announce(bytes);
                Vec::new()
            }
            What::Message { message_id, text } => self.message(message_id, text),
            What::Retry { reason } => {
                self.pieces.discard();
                let void = self.streaming.drain(..).map(|message_id| AgentEvent::Discard { message_id });
                void.chain([AgentEvent::Retry { reason }]).collect()
            }
            What::Usage { input_tokens, output_tokens, cost } => {
                self.unreachable = false;
                self.add_usage(input_tokens, output_tokens, cost)
            }
            What::Context { used, limit } => {
                self.usage.context_used = Some(used);
                self.usage.context_limit = Some(limit);
                Vec::new()
            }
            What::Compaction => vec![AgentEvent::Compacted],
            What::Unreachable => {
                self.unreachable = true;
                Vec::new()
            }
            What::Reached => {
                self.unreachable = false;
                Vec::new()
            }
            What::Error(failure) => {
                // Not the message: it may quote the chat.
                let (kind, status) = (&failure.error_type, failure.status_code);
                tracing::warn!(kind, status, code = failure.error_code, "copilot: the turn failed");
                self.begun = true;
                self.failure = Some(failure);
                return Step::Failing;
            }
            What::Idle { aborted } if self.begun => return Step::End { aborted },
            What::Idle { .. } => Vec::new(),
            What::ToolRequested { request_id, tool, args } => {
                self.open_calls.insert(request_id.clone());
                vec![AgentEvent::ToolCall { id: request_id, name: tool, args }]
            }
            What::ToolCompleted { request_id } if self.open_calls.remove(&request_id) => {
                vec![AgentEvent::ToolCallWithdrawn { id: request_id }]
            }
            What::ToolCompleted { .. } => Vec::new(),
            What::PermissionRequested { request_id, .. } if stale => {
                return Step::Refuse(request_id, "This request is from before a restart.");
            }
            What::ToolStarted { call, tool } => {
                self.started_tools.insert(call, tool);
                Vec::new()
            }
            What::PermissionRequested { request_id, kind, tool, call, detail } => {
                let tool = tool.or_else(|| self.started_tools.get(call.as_ref()?).cloned());
                return self.permission(request_id, kind, tool, detail);
            }
            What::PermissionCompleted { request_id } => {
                self.open_permissions.remove(&request_id);
                Vec::new()
            }
        };
        Step::Emit(events)
    }

    fn delta(&mut self, message_id: String, text: String) -> Vec<AgentEvent> {
        // Pieces after the last word are late repeats.
        if self.whole.contains(&message_id) {
            return Vec::new();
        }
        match self.pieces.piece(&message_id, text, Instant::now()) {
            Some(text) => vec![self.show(message_id, text)],
            None => Vec::new(),
        }
    }

    fn show(&mut self, message_id: String, text: String) -> AgentEvent {
        if !self.streaming.contains(&message_id) {
            self.streaming.push(message_id.clone());
        }
        AgentEvent::TextDelta { message_id, text }
    }

    fn message(&mut self, message_id: String, text: String) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        match self.pieces.whole(&message_id, &text) {
            Rest::Nothing => {}
            Rest::Piece(rest) => {
                events.push(AgentEvent::TextDelta { message_id: message_id.clone(), text: rest })
            }
            Rest::Anew(text) => {
                events.push(AgentEvent::Discard { message_id: message_id.clone() });
                events.push(AgentEvent::TextDelta { message_id: message_id.clone(), text });
            }
        }
        self.streaming.retain(|id| *id != message_id);
        self.whole.insert(message_id.clone());
        events.push(AgentEvent::Message { message_id, text });
        events
    }

    /// When [`TurnState::release`] is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.pieces.deadline()
    }

    /// Passes on pieces that were held back, if any.
    pub fn release(&mut self) -> Option<AgentEvent> {
        let (message_id, text) = self.pieces.release()?;
        Some(self.show(message_id, text))
    }

    fn permission(
        &mut self,
        request_id: String,
        kind: String,
        tool: Option<String>,
        detail: serde_json::Value,
    ) -> Step {
        // This only lets the CLI pass the call to the host, which decides on each call itself.
        if kind == "custom-tool" && tool.as_ref().is_some_and(|tool| self.tools.contains(tool)) {
            return Step::Approve(request_id);
        }
        self.open_permissions.insert(request_id.clone());
        Step::Emit(vec![AgentEvent::Permission { id: request_id, kind, tool, detail }])
    }

    fn add_usage(&mut self, input: u64, output: u64, cost: Option<f64>) -> Vec<AgentEvent> {
        self.usage.input_tokens += input;
        self.usage.output_tokens += output;
        if let Some(cost) = cost {
            self.usage.cost = Some(self.usage.cost.unwrap_or(0.0) + cost);
        }
        vec![AgentEvent::Usage(self.usage)]
    }
}

/// The ids of recent events, in two halves, so that a long turn does not remember for ever.
#[derive(Default)]
struct SeenIds {
    young: HashSet<u128>,
    old: HashSet<u128>,
}

impl SeenIds {
    /// `false`: it was there.
    fn insert(&mut self, id: u128) -> bool {
        if self.old.contains(&id) || !self.young.insert(id) {
            return false;
        }
        if self.young.len() >= SEEN {
            self.old = std::mem::take(&mut self.young);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::AgentError;
    use serde_json::json;

    fn state() -> TurnState {
        TurnState::new(HashSet::from(["known".to_owned()]), None, 1000)
    }

    fn event(id: u128, what: What) -> SessionEvent {
        SessionEvent { id: Some(id), timestamp: Some(2000), what }
    }

    fn delta(id: u128, message: &str, text: &str) -> SessionEvent {
        event(id, What::Delta { message_id: message.into(), text: text.into() })
    }

    fn text_of(steps: impl IntoIterator<Item = Step>) -> String {
        let mut all = String::new();
        for step in steps {
            let Step::Emit(events) = step else { continue };
            for event in events {
                if let AgentEvent::TextDelta { text, .. } = event {
                    all.push_str(&text);
                }
            }
        }
        all
    }

    #[test]
    fn repeated_events_are_dropped() {
        let mut state = state();
        let order = [1, 2, 3, 2, 4, 1, 5, 5];
        let steps: Vec<_> =
            order.into_iter().map(|id| state.on_event(delta(id, "m", &id.to_string()))).collect();
        assert_eq!(text_of(steps), "12345");
    }

    #[test]
    fn ids_are_forgotten_only_after_many_others() {
        let mut seen = SeenIds::default();
        for id in 0..u128::try_from(SEEN).unwrap() + 10 {
            assert!(seen.insert(id));
        }
        assert!(!seen.insert(0));
        assert!(!seen.insert(u128::try_from(SEEN).unwrap() + 5));
    }

    #[test]
    fn retry_voids_what_was_streamed_since_the_last_whole_message() {
        let mut state = state();
        state.on_event(delta(1, "a", "x"));
        state.on_event(event(2, What::Message { message_id: "a".into(), text: "x".into() }));
        state.on_event(delta(3, "b", "y"));
        let step = state.on_event(event(4, What::Retry { reason: "r".into() }));
        assert_eq!(
            step,
            Step::Emit(vec![
                AgentEvent::Discard { message_id: "b".into() },
                AgentEvent::Retry { reason: "r".into() }
            ])
        );
    }

    #[test]
    fn piece_after_the_last_word_is_dropped() {
        let mut state = state();
        state.on_event(event(1, What::Message { message_id: "a".into(), text: "x".into() }));
        assert_eq!(state.on_event(delta(2, "a", "x")), Step::Emit(vec![]));
    }

    #[test]
    fn end_of_an_earlier_turn_does_not_end_this_one() {
        let mut state = state();
        assert_eq!(state.on_event(event(1, What::Idle { aborted: true })), Step::Emit(vec![]));
        state.on_event(event(2, What::UserMessage));
        assert_eq!(state.on_event(event(3, What::Idle { aborted: false })), Step::End { aborted: false });
        assert_eq!(state.ending(false), Ending::Done);
    }

    #[test]
    fn error_decides_the_ending_and_an_abort_outweighs_it() {
        let mut state = state();
        let failure = Failure { error_type: "quota".into(), ..Failure::default() };
        assert_eq!(state.on_event(event(1, What::Error(failure))), Step::Failing);
        assert_eq!(state.on_event(event(2, What::Idle { aborted: false })), Step::End { aborted: false });
        assert!(matches!(state.ending(false), Ending::Failed(AgentError::Quota(_))));
        assert_eq!(state.ending(true), Ending::Aborted);
    }

    #[test]
    fn completed_call_without_our_answer_is_withdrawn() {
        let mut state = state();
        let request =
            |id: &str| What::ToolRequested { request_id: id.into(), tool: "known".into(), args: json!({}) };
        state.on_event(event(1, request("a")));
        state.on_event(event(2, request("b")));
        assert!(state.waits_for_host());
        assert!(state.close_call("a"));
        assert!(!state.close_call("a"), "one answer each");
        let done = |id: &str| What::ToolCompleted { request_id: id.into() };
        assert_eq!(state.on_event(event(3, done("a"))), Step::Emit(vec![]));
        let withdrawn = AgentEvent::ToolCallWithdrawn { id: "b".into() };
        assert_eq!(state.on_event(event(4, done("b"))), Step::Emit(vec![withdrawn]));
        assert!(!state.waits_for_host());
    }

    #[test]
    fn only_calls_of_known_tools_pass_unasked() {
        let ask = |kind: &str, tool: Option<&str>| What::PermissionRequested {
            request_id: "r".into(),
            kind: kind.into(),
            tool: tool.map(str::to_owned),
            call: None,
            detail: json!({}),
        };
        let asked = |what| state().on_event(event(1, what));
        assert_eq!(asked(ask("custom-tool", Some("known"))), Step::Approve("r".into()));
        for what in [
            ask("custom-tool", Some("other")),
            ask("custom-tool", None),
            ask("shell", Some("known")),
            ask("mcp", Some("known")),
            ask("unheard-of", None),
        ] {
            assert!(
                matches!(asked(what), Step::Emit(events) if matches!(events[0], AgentEvent::Permission { .. }))
            );
        }
    }

    #[test]
    fn request_from_before_the_start_is_refused() {
        let mut state = state();
        let mut old = event(
            1,
            What::PermissionRequested {
                request_id: "r".into(),
                kind: "shell".into(),
                tool: None,
                call: None,
                detail: json!({}),
            },
        );
        old.timestamp = Some(999);
        assert!(matches!(state.on_event(old), Step::Refuse(id, _) if id == "r"));
    }

    #[test]
    fn offline_is_told_by_the_last_call() {
        let mut state = state();
        state.on_event(event(1, What::Unreachable));
        let failure = Failure { error_type: "query".into(), ..Failure::default() };
        state.on_event(event(2, What::Error(failure.clone())));
        assert!(matches!(state.ending(false), Ending::Failed(AgentError::Offline(_))));
    }
}
