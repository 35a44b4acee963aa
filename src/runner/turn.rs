//! One turn, from start to its one ending.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::answer::Answer;
use super::asks::Asks;
use super::attachments::Attached;
use super::budget::MAX_TIME;
use super::by_hand::{self, HandCall};
use super::calls::{Asked, Calls};
use super::chats;
use super::cli_tools;
use super::client::SessionWire;
use super::context;
use super::offer::Offer;
use crate::agent::recent_actions::RecentActions;
use crate::agent::{
    AgentBackend, AgentError, AgentEvent, AgentTurn, ChatSpec, Ending, Prompt, UsageReport, prompt,
};
use crate::browser::{Browser, Wire as _};
use crate::data::chats::Chats;
use crate::paths::Paths;
use crate::protocol::{
    ChatDelta, ChatDone, ChatError, ChatStarted, ErrorCode, EventActivity, Outbound, SessionId, Spent,
    TurnId, Usage,
};
use crate::tools::policy::ToolPolicy;

/// How long a stopped backend may take to say so. Delays only the next turn, never the ending.
const ABORT_GRACE: Duration = Duration::from_millis(500);

/// How long a slow disk may hold back the ending of a turn.
const RECORD_LIMIT: Duration = Duration::from_millis(100);

/// What the model is told after a turn that nobody could finish.
const CUT_OFF: &str =
    "the last turn was interrupted; the outcome of its last action is unknown, look before you go on";

/// Everything a turn needs; it owns all of it while it runs.
pub(super) struct Turn {
    pub id: TurnId,
    pub session: SessionId,
    pub words: String,
    pub attached: Attached,
    /// Instead of the model: a tool that the person calls.
    pub by_hand: Option<HandCall>,
    pub wire: Arc<SessionWire>,
    pub browser: Arc<Browser>,
    pub paths: Paths,
    pub chats: Chats,
    pub policy: watch::Receiver<ToolPolicy>,
    pub backend: Arc<dyn AgentBackend>,
    pub model: Option<String>,
    pub offered: watch::Receiver<Vec<String>>,
    pub reasoning_effort: Option<String>,
    pub recent: RecentActions,
    pub offer: Offer,
    /// The digest of the last page view in the chat, while the backend has it whole.
    pub shown: Option<u64>,
    pub notes: Vec<String>,
    pub asks: Arc<Asks>,
    pub cancel: CancellationToken,
    /// Cancelled when the panel or its browser goes away; `cancel` is too then.
    pub closed: CancellationToken,
    /// What it cost so far.
    pub spent: Option<Spent>,
}

/// What a turn leaves behind.
pub(super) struct TurnEnd {
    pub session: SessionId,
    pub recent: RecentActions,
    /// Tools that the model had revealed.
    pub revealed: BTreeSet<&'static str>,
    /// See [`Turn::shown`].
    pub shown: Option<u64>,
    /// The turn did not come to its own end: the next one is told.
    pub note: Option<String>,
}

/// Why the conversation is over.
enum Outcome {
    Done,
    Stopped,
    OutOfTime,
    Failed(AgentError),
}

impl Turn {
    /// Runs the turn. Emits exactly one `chat.done` or `chat.error`.
    pub async fn run(mut self) -> TurnEnd {
        let started = Instant::now();
        let mut answer = Answer::default();
        let mut calls = Calls::new(&self);
        let by_hand = self.by_hand.take();
        let is_prompt = by_hand.is_none();
        let opened = match by_hand {
            Some(call) => self.open_by_hand(call),
            None => self.open().await,
        };
        let (outcome, agent) = match opened {
            Ok(mut agent) => (self.converse(&mut agent, &mut answer, &mut calls).await, Some(agent)),
            Err(outcome) => (outcome, None),
        };
        let unknown = calls.stop_all(&mut self.recent);
        self.browser.end_turn();
        if is_prompt {
            self.end(&outcome, &answer, started.elapsed()).await;
        } else {
            self.finish(&outcome, &answer, started.elapsed());
        }
        if let Some(agent) = agent
            && !matches!(outcome, Outcome::Done | Outcome::Failed(_))
        {
            wait_for_end(agent).await;
        }
        // Of a turn that broke off nobody knows how much of it the backend kept.
        let shown = self.shown.filter(|_| matches!(outcome, Outcome::Done));
        TurnEnd {
            session: self.session,
            recent: self.recent,
            revealed: self.offer.into_revealed(),
            shown,
            note: note(&outcome, unknown),
        }
    }

    /// Reads the page and sends the prompt.
    async fn open(&mut self) -> Result<AgentTurn, Outcome> {
        let cancel = self.cancel.clone();
        let notes = std::mem::take(&mut self.notes);
        let knows = !notes.is_empty();
        let mut shown = self.shown.take();
        let (mut context, cut_off) = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(Outcome::Stopped),
            read = futures::future::join(
                context::read(&self.browser, &self.cancel, self.recent.lines(), notes, &mut shown),
                self.begin(),
            ) => read,
        };
        if cut_off && !knows {
            context.notes.push(CUT_OFF.to_owned());
        }
        self.shown = shown;
        let Attached { texts, images } = std::mem::take(&mut self.attached);
        context.attachments = texts;
        let fence = uuid::Uuid::new_v4().simple().to_string();
        let prompt = Prompt {
            text: prompt::compose(&self.words, &context, &fence),
            display: self.words.clone(),
            images,
        };
        self.leave_missing_model();
        self.activity("llm_call_start", None);
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Outcome::Stopped),
            turn = self.backend.prompt(self.chat(), prompt) => turn.map_err(Outcome::Failed),
        }
    }

    /// Nothing is written down: a tool that was called by hand is no chat yet.
    fn open_by_hand(&mut self, call: HandCall) -> Result<AgentTurn, Outcome> {
        self.tell_started();
        // Whatever it does to the page, the model has not seen it.
        self.shown = None;
        Ok(by_hand::turn(call))
    }

    fn tell_started(&self) {
        self.emit_new(
            "queue",
            Outbound::ChatStarted(ChatStarted { session_id: self.session.clone(), turn_id: self.id.clone() }),
        );
    }

    /// Writes down that the turn runs, then tells the panel: whoever was told so finds the turn in the list, even when
    /// nobody lives to finish it. Answers whether the turn before was cut off.
    async fn begin(&self) -> bool {
        let begun = chats::turn_begins(&self.chats, &self.session, &self.words).await;
        self.tell_started();
        self.activity("status.thinking", None);
        begun.unwrap_or_else(|why| {
            let text = format!("This turn is not in the list of chats: {why}. The chat itself goes on.");
            self.activity("status.notice", Some(text));
            false
        })
    }

    /// A chosen model that is no longer offered is replaced by the backend's own choice, and the panel told so.
    fn leave_missing_model(&mut self) {
        let offered = self.offered.borrow();
        let is_missing = |model: &String| !offered.is_empty() && !offered.contains(model);
        let Some(missing) = self.model.take_if(|model| is_missing(model)) else { return };
        drop(offered);
        let text =
            format!("The model {missing} is not offered any more; another one answers. Choose one to keep.");
        self.activity("status.model", Some(text));
    }

    fn chat(&self) -> ChatSpec {
        ChatSpec {
            id: self.session.0.clone(),
            system_message: prompt::SYSTEM_PROMPT.to_owned(),
            tools: self.offer.definitions(),
            builtin_tools: cli_tools::switched_on(&self.policy.borrow())
                .map(|tool| tool.name.to_owned())
                .collect(),
            model: self.model.clone(),
            reasoning_effort: self.reasoning_effort.clone(),
        }
    }

    /// Follows the backend until the turn is over.
    async fn converse(&mut self, agent: &mut AgentTurn, answer: &mut Answer, calls: &mut Calls) -> Outcome {
        let mut open_asks = self.asks.open();
        let mut clock = Clock::start(MAX_TIME);
        loop {
            calls.start_ready();
            clock.pause(!open_asks.borrow_and_update().is_empty());
            let event = tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Outcome::Stopped,
                Some(ended) = calls.next_ended() => {
                    if let Some(fatal) = calls.settle(ended, agent.control.as_ref(), &mut self.recent, &mut self.offer).await {
                        return Outcome::Failed(AgentError::Protocol(fatal));
                    }
                    continue;
                }
                Ok(()) = open_asks.changed() => continue,
                () = clock.run_out() => return Outcome::OutOfTime,
                event = agent.events.recv() => event,
            };
            let Some(event) = event else {
                return Outcome::Failed(AgentError::Interrupted(
                    "The Copilot CLI went away in the middle of the answer. Send the message again."
                        .to_owned(),
                ));
            };
            if let Some(outcome) = self.on_event(event, agent, answer, calls).await {
                return outcome;
            }
            // A browser that does not read pauses the turn instead of filling memory.
            tokio::select! {
                biased;
                () = self.cancel.cancelled() => return Outcome::Stopped,
                () = self.wire.ready() => {}
            }
        }
    }

    async fn on_event(
        &mut self,
        event: AgentEvent,
        agent: &AgentTurn,
        answer: &mut Answer,
        calls: &mut Calls,
    ) -> Option<Outcome> {
        match event {
            AgentEvent::TextDelta { message_id, text } => self.delta(answer.delta(&message_id, &text)),
            AgentEvent::Message { message_id, text } => self.delta(answer.message(&message_id, &text)),
            AgentEvent::Discard { message_id } => answer.discard(&message_id),
            AgentEvent::Reasoning { text } => self.activity("reasoning", Some(text)),
            AgentEvent::Compacted => self.shown = None,
            AgentEvent::Retry { reason } => self.activity("status.retry", Some(reason)),
            AgentEvent::ToolCall { id, name, args } => {
                let refused = calls.request(id, name, args, &self.policy.borrow());
                if let Some((id, reply)) = refused {
                    agent.control.answer(&id, reply).await;
                }
            }
            AgentEvent::ToolCallWithdrawn { id } => calls.withdraw(&id),
            AgentEvent::Permission { id, kind, tool, detail } => {
                let asked = Asked { kind, tool, detail };
                if let Some((id, allow, why)) = calls.permission(id, asked, self.policy.clone()) {
                    agent.control.permit(&id, allow, &why).await;
                }
            }
            AgentEvent::Usage(usage) => {
                let spent = spent(&usage);
                self.emit_new(
                    "usage",
                    Outbound::Usage(Usage { session_id: self.session.clone(), spent: spent.clone() }),
                );
                self.spent = Some(spent);
            }
            AgentEvent::Ended(Ending::Done) => return Some(Outcome::Done),
            AgentEvent::Ended(Ending::Aborted) => return Some(Outcome::Stopped),
            AgentEvent::Ended(Ending::Failed(error)) => return Some(Outcome::Failed(error)),
        }
        None
    }

    /// Ends the turn in the list of chats and in the panel. Whoever hears of the ending finds it in the list,
    /// unless the disk is slow.
    async fn end(&self, outcome: &Outcome, answer: &Answer, took: Duration) {
        let cut_off = match outcome {
            Outcome::Failed(error) => is_interruption(error),
            // The panel or the browser went away; nobody pressed Stop.
            Outcome::Stopped => self.closed.is_cancelled(),
            Outcome::Done | Outcome::OutOfTime => false,
        };
        let ending = chats::turn_ends(&self.chats, &self.session, cut_off, self.spent.as_ref());
        let mut recorded = std::pin::pin!(ending);
        let in_time = tokio::time::timeout(RECORD_LIMIT, recorded.as_mut()).await.is_ok();
        self.finish(outcome, answer, took);
        if !in_time {
            recorded.await;
        }
    }

    /// The one place that ends a turn for the panel.
    fn finish(&self, outcome: &Outcome, answer: &Answer, took: Duration) {
        self.activity("llm_call_end", None);
        let duration_ms = u64::try_from(took.as_millis()).ok();
        let text = answer.text();
        let error = match outcome {
            Outcome::Done if text.is_empty() => Some((
                ErrorCode::Model,
                "The model ended its turn without an answer. Ask again, or choose another model.".to_owned(),
            )),
            Outcome::Done => None,
            Outcome::Stopped => Some((ErrorCode::Aborted, "Stopped.".to_owned())),
            Outcome::OutOfTime => Some((
                ErrorCode::Budget,
                format!(
                    "The turn was ended after {} minutes. What was done so far stays done; ask to go on.",
                    MAX_TIME.as_secs() / 60
                ),
            )),
            Outcome::Failed(error) => Some((error_code(error), error.to_string())),
        };
        self.activity(if error.is_some() { "status.error" } else { "status.idle" }, None);
        self.emit(match error {
            None => Outbound::ChatDone(ChatDone {
                session_id: self.session.clone(),
                text,
                tool_calls: Vec::new(),
                turn_id: Some(self.id.clone()),
                duration_ms,
                truncated: false,
                usage: self.spent.clone(),
            }),
            Some((code, message)) => Outbound::ChatError(ChatError {
                session_id: Some(self.session.clone()),
                message,
                code,
                turn_id: Some(self.id.clone()),
                duration_ms,
                request_id: None,
            }),
        });
    }

    fn delta(&self, text: Option<String>) {
        if let Some(text) = text {
            self.emit(Outbound::ChatDelta(ChatDelta { session_id: self.session.clone(), text }));
        }
    }

    fn activity(&self, event: &str, text: Option<String>) {
        self.emit(Outbound::EventActivity(EventActivity {
            session_id: self.session.clone(),
            event: event.to_owned(),
            tool: None,
            text,
            duration_ms: None,
        }));
    }

    fn emit_new(&self, capability: &str, message: Outbound) {
        if self.wire.has(capability) {
            self.emit(message);
        }
    }

    fn emit(&self, message: Outbound) {
        // A panel that is gone has its session ended by the runner; nobody is left to tell.
        let _ = self.wire.send(message);
    }
}

/// Stops the backend and waits a moment for it to say so, so that the next prompt finds it idle.
async fn wait_for_end(mut agent: AgentTurn) {
    agent.control.abort();
    let ended = async {
        while let Some(event) = agent.events.recv().await {
            if matches!(event, AgentEvent::Ended(_)) {
                break;
            }
        }
    };
    if tokio::time::timeout(ABORT_GRACE, ended).await.is_err() {
        tracing::warn!("the backend did not stop within {ABORT_GRACE:?}");
    }
}

/// Whether the turn might have gone on if the CLI had.
fn is_interruption(error: &AgentError) -> bool {
    matches!(error, AgentError::Interrupted(_))
}

fn note(outcome: &Outcome, unknown: usize) -> Option<String> {
    let why = match outcome {
        Outcome::Done => return None,
        // What the CLI took of the last answers before it went away nobody knows.
        Outcome::Failed(error) if is_interruption(error) => return Some(CUT_OFF.to_owned()),
        Outcome::Stopped => "the person stopped the last turn",
        Outcome::OutOfTime => "the last turn ran out of time",
        Outcome::Failed(_) => "the last turn was interrupted",
    };
    Some(if unknown > 0 {
        format!("{why}; the outcome of its last action is unknown, look before you go on")
    } else {
        why.to_owned()
    })
}

fn spent(usage: &UsageReport) -> Spent {
    Spent {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        context_used: usage.context_used,
        context_limit: usage.context_limit,
        cost: usage.cost,
    }
}

fn error_code(error: &AgentError) -> ErrorCode {
    match error {
        AgentError::CliMissing(_) => ErrorCode::CliMissing,
        AgentError::CliFailed(_) => ErrorCode::CliFailed,
        AgentError::Auth(_) => ErrorCode::Auth,
        AgentError::NoLicense(_) => ErrorCode::NoLicense,
        AgentError::Quota(_) => ErrorCode::Quota,
        AgentError::RateLimit(_) => ErrorCode::RateLimit,
        AgentError::Offline(_) => ErrorCode::Offline,
        AgentError::Model(_) => ErrorCode::Model,
        AgentError::Timeout(_) => ErrorCode::Timeout,
        AgentError::Interrupted(_) => ErrorCode::Interrupted,
        AgentError::Protocol(_) => ErrorCode::Internal,
    }
}

/// A deadline that stands still while the turn waits for a person.
struct Clock {
    left: Duration,
    running_since: Option<Instant>,
}

impl Clock {
    fn start(limit: Duration) -> Self {
        Self { left: limit, running_since: Some(Instant::now()) }
    }

    fn pause(&mut self, pause: bool) {
        match (pause, self.running_since) {
            (true, Some(since)) => {
                self.left = self.left.saturating_sub(since.elapsed());
                self.running_since = None;
            }
            (false, None) => self.running_since = Some(Instant::now()),
            _ => {}
        }
    }

    async fn run_out(&self) {
        match self.running_since {
            Some(since) => tokio::time::sleep_until(since + self.left).await,
            None => std::future::pending().await,
        }
    }
}
