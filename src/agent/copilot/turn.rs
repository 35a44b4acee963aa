//! One turn: the CLI's events become [`AgentEvent`]s, answers go back.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::client::CallError;
use super::errors;
use super::event::SessionEvent;
use super::session::{allow_list, own_tools};
use super::supervisor::{Link, SupervisorHandle};
use super::turn_state::{Step, TurnState};
use super::wire;
use crate::agent::{AgentError, AgentEvent, AgentTurn, Ending, ToolDefinition, ToolReply, TurnControl};
use crate::config::Provider;

/// How long the CLI may take to confirm an abort.
pub const ABORT_GRACE: Duration = Duration::from_millis(500);

/// How long the model may say nothing. The CLI itself gives a stalled stream up after 701 s (measured).
pub const SILENCE: Duration = Duration::from_secs(300);

/// After this much silence the CLI is asked whether it lives.
pub const SUSPICION: Duration = Duration::from_secs(15);

/// After an error the turn's end follows at once; this is for the case that it does not.
const AFTER_ERROR: Duration = Duration::from_secs(5);

/// How long the CLI may take to take an answer.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// Events that may wait for the reader of [`AgentTurn::events`] before pieces of text are joined.
const OUT: usize = 256;

/// Bytes of text one turn may write. A reader that does not read cannot slow the CLI down, whose pipe must
/// flow, so this is also the most that is kept for it. A long book chapter has 50,000.
pub const MAX_TEXT: usize = 4 * 1024 * 1024;

/// What a turn needs to know.
pub struct TurnCx {
    /// The CLI.
    pub link: Link,
    /// Who replaces it.
    pub supervisor: SupervisorHandle,
    /// The chat.
    pub session_id: String,
    /// Its tools, by name.
    pub tools: HashSet<String>,
    /// Those of the CLI's own that are on.
    pub builtin_tools: Vec<String>,
    /// Whose model it is.
    pub provider: Option<Provider>,
    /// The chat's events.
    pub events: mpsc::Receiver<SessionEvent>,
}

/// Starts the turn's task in `tasks`; it gives the chat's id.
pub fn start(cx: TurnCx, tasks: &mut JoinSet<TurnOver>) -> AgentTurn {
    let (out, events) = mpsc::channel(OUT);
    let (answers, receiver) = mpsc::channel(64);
    let abort = CancellationToken::new();
    let control = Arc::new(Control { answers, abort: abort.clone() });
    let now = Instant::now();
    let turn = Turn {
        state: TurnState::new(cx.tools, cx.provider, cx.link.started),
        link: cx.link,
        supervisor: cx.supervisor,
        session_id: cx.session_id,
        builtin_tools: cx.builtin_tools,
        events: cx.events,
        answers: receiver,
        abort,
        out,
        outbox: VecDeque::new(),
        text: 0,
        calls: JoinSet::new(),
        last_event: now,
        asked: now,
        aborting: None,
        failed: None,
    };
    tasks.spawn(turn.run());
    AgentTurn { events, control }
}

/// A turn that is over.
pub struct TurnOver {
    /// Its chat.
    pub session_id: String,
    /// GitHub did not take the sign-in.
    pub refused: bool,
}

enum Answer {
    Tool { id: String, reply: ToolReply },
    Permission { id: String, allow: bool, why: String },
    Offer { tools: Vec<ToolDefinition>, done: oneshot::Sender<bool> },
}

struct Control {
    answers: mpsc::Sender<Answer>,
    abort: CancellationToken,
}

#[async_trait]
impl TurnControl for Control {
    async fn answer(&self, call_id: &str, reply: ToolReply) {
        let _ = self.answers.send(Answer::Tool { id: call_id.to_owned(), reply }).await;
    }

    async fn offer(&self, tools: Vec<ToolDefinition>) -> bool {
        let (done, offered) = oneshot::channel();
        let _ = self.answers.send(Answer::Offer { tools, done }).await;
        // The turn's end drops the other half.
        offered.await.unwrap_or(false)
    }

    async fn permit(&self, request_id: &str, allow: bool, why: &str) {
        let answer = Answer::Permission { id: request_id.to_owned(), allow, why: why.to_owned() };
        let _ = self.answers.send(answer).await;
    }

    fn abort(&self) {
        self.abort.cancel();
    }
}

/// What a turn waits for.
enum Wake {
    Abort,
    /// The reader takes another event.
    Room,
    Event(Option<SessionEvent>),
    Answer(Answer),
    Called(Result<(), CallError>),
    /// Nobody reads the turn any more.
    Unread,
    Deadline,
}

struct Turn {
    state: TurnState,
    link: Link,
    supervisor: SupervisorHandle,
    session_id: String,
    builtin_tools: Vec<String>,
    events: mpsc::Receiver<SessionEvent>,
    answers: mpsc::Receiver<Answer>,
    abort: CancellationToken,
    out: mpsc::Sender<AgentEvent>,
    /// What the reader of the turn has not taken yet. Never waited for: the CLI's pipe must flow.
    outbox: VecDeque<AgentEvent>,
    /// Bytes of text so far.
    text: usize,
    /// Answers on their way.
    calls: JoinSet<Result<(), CallError>>,
    last_event: Instant,
    /// When the CLI was last asked whether it lives.
    asked: Instant,
    aborting: Option<Instant>,
    failed: Option<Instant>,
}

impl Turn {
    async fn run(mut self) -> TurnOver {
        let ending = loop {
            if let Some(ending) = self.step().await {
                break ending;
            }
        };
        // Without a last word, what was held back is better than nothing.
        let held = self.state.release();
        self.outbox.extend(held);
        for id in self.state.take_open_calls() {
            self.outbox.push_back(AgentEvent::ToolCallWithdrawn { id });
        }
        let refused = matches!(ending, Ending::Failed(AgentError::Auth(_) | AgentError::NoLicense(_)));
        self.outbox.push_back(AgentEvent::Ended(ending));
        self.events.close();
        self.answers.close();
        // A reader that is gone, or the end of the process, ends this wait.
        for event in self.outbox {
            if self.out.send(event).await.is_err() {
                break;
            }
        }
        drop(self.out);
        // Answers that were given must still arrive.
        while self.calls.join_next().await.is_some() {}
        TurnOver { session_id: self.session_id, refused }
    }

    /// Waits for the next thing to happen; gives the ending when it was the last.
    async fn step(&mut self) -> Option<Ending> {
        match self.wake().await {
            Wake::Abort => self.begin_abort(),
            // This task alone sends, so the room is still there.
            Wake::Room => {
                if let Some(event) = self.outbox.pop_front() {
                    let _ = self.out.try_send(event);
                }
            }
            Wake::Event(Some(event)) => return self.on_event(event),
            Wake::Event(None) => return Some(self.lost().await),
            Wake::Answer(answer) => self.on_answer(answer),
            Wake::Called(Err(CallError::Timeout { method, .. })) => {
                self.supervisor.suspect(self.link.generation, format!("no answer to {method}")).await;
            }
            Wake::Called(_) => {}
            Wake::Unread => self.abort.cancel(),
            Wake::Deadline => return self.on_deadline().await,
        }
        None
    }

    async fn wake(&mut self) -> Wake {
        let deadline = self.deadline();
        tokio::select! {
            biased;
            () = self.abort.cancelled(), if self.aborting.is_none() => Wake::Abort,
            Ok(_) = self.out.reserve(), if !self.outbox.is_empty() => Wake::Room,
            event = self.events.recv() => Wake::Event(event),
            Some(answer) = self.answers.recv() => Wake::Answer(answer),
            Some(result) = self.calls.join_next() => Wake::Called(result.unwrap_or(Ok(()))),
            () = self.out.closed(), if self.aborting.is_none() => Wake::Unread,
            () = tokio::time::sleep_until(deadline) => Wake::Deadline,
        }
    }

    /// When silence means something next.
    fn deadline(&self) -> Instant {
        let mut deadline = self.asked.max(self.last_event) + SUSPICION;
        if self.model_is_due() {
            deadline = deadline.min(self.last_event + SILENCE);
        }
        [self.aborting, self.failed, self.state.deadline()].into_iter().flatten().fold(deadline, Instant::min)
    }

    /// Whether the model has the word; a tool call or a permission may wait for a person.
    fn model_is_due(&self) -> bool {
        !self.state.waits_for_host()
    }

    async fn on_deadline(&mut self) -> Option<Ending> {
        let now = Instant::now();
        if self.state.deadline().is_some_and(|hold| now >= hold) {
            let held = self.state.release();
            self.outbox.extend(held);
        }
        if self.aborting.is_some_and(|grace| now >= grace) {
            self.supervisor.suspect(self.link.generation, "no answer to Stop").await;
            return Some(Ending::Aborted);
        }
        if self.failed.is_some_and(|end| now >= end) {
            return Some(self.state.ending(false));
        }
        if self.model_is_due() && now >= self.last_event + SILENCE {
            self.call_abort();
            return Some(Ending::Failed(AgentError::Timeout(format!(
                "The model said nothing for {} s, so the turn was ended. What was shown so far stays; \
                 send the message again, or choose another model.",
                SILENCE.as_secs()
            ))));
        }
        if now >= self.asked.max(self.last_event) + SUSPICION {
            self.asked = now;
            self.supervisor.suspect(self.link.generation, "nothing came for a while").await;
        }
        None
    }

    fn on_event(&mut self, event: SessionEvent) -> Option<Ending> {
        self.last_event = Instant::now();
        match self.state.on_event(event) {
            Step::Emit(events) => {
                for event in events {
                    self.emit(event);
                }
                if self.text > MAX_TEXT {
                    self.call_abort();
                    return Some(Ending::Failed(AgentError::Model(format!(
                        "The answer grew beyond {} MiB and was ended. What was shown so far stays; ask for less.",
                        MAX_TEXT / 1024 / 1024
                    ))));
                }
            }
            Step::Approve(request_id) => self.permission(&request_id, true, ""),
            Step::Refuse(request_id, why) => self.permission(&request_id, false, why),
            Step::Failing => self.failed = Some(Instant::now() + AFTER_ERROR),
            Step::End { aborted } => return Some(self.state.ending(aborted || self.aborting.is_some())),
        }
        None
    }

    /// Queues an event. While the reader is slow, pieces of one message grow together instead of piling up.
    fn emit(&mut self, event: AgentEvent) {
        if let AgentEvent::TextDelta { text, .. } | AgentEvent::Reasoning { text } = &event {
            self.text += text.len();
        }
        if self.outbox.len() >= OUT
            && let (
                Some(AgentEvent::TextDelta { message_id: last, text: tail }),
                AgentEvent::TextDelta { message_id, text },
            ) = (self.outbox.back_mut(), &event)
            && last == message_id
        {
            tail.push_str(text);
            return;
        }
        self.outbox.push_back(event);
    }

    fn on_answer(&mut self, answer: Answer) {
        match answer {
            Answer::Tool { id, reply } => {
                if self.state.close_call(&id) {
                    self.tool_answer(id, reply);
                }
            }
            Answer::Permission { id, allow, why } => {
                if self.state.close_permission(&id) {
                    self.permission(&id, allow, &why);
                }
            }
            Answer::Offer { tools, done } => self.offer(tools, done),
        }
        // The model has the word again; its silence counts from here.
        self.last_event = Instant::now();
    }

    fn tool_answer(&mut self, request_id: String, reply: ToolReply) {
        let (client, session_id) = (self.link.client.clone(), self.session_id.clone());
        self.calls.spawn(async move {
            let images = reply.images.into_iter().map(|image| wire::BinaryResult {
                r#type: "image",
                data: image.base64,
                mime_type: image.mime_type,
            });
            let answer = wire::ToolAnswer {
                session_id: &session_id,
                request_id: &request_id,
                result: wire::ToolResult {
                    text_result_for_llm: reply.text,
                    result_type: if reply.ok { "success" } else { "failure" },
                    binary_results_for_llm: images.collect(),
                },
            };
            let method = "session.tools.handlePendingToolCall";
            client.call::<Value>(method, &answer, ANSWER_LIMIT).await.map(drop)
        });
    }

    /// The list of tools, then the list of what may be called: the CLI reads both before each step of the model.
    fn offer(&mut self, tools: Vec<ToolDefinition>, done: oneshot::Sender<bool>) {
        self.state.offer(tools.iter().map(|tool| tool.name.clone()));
        let (client, session_id) = (self.link.client.clone(), self.session_id.clone());
        let available_tools = allow_list(&tools, &self.builtin_tools);
        self.calls.spawn(async move {
            let set = wire::SetTools { session_id: &session_id, tools: own_tools(&tools) };
            let allow = wire::AllowTools { session_id: &session_id, available_tools };
            let mut offered = client.call::<Value>("session.tools.set", &set, ANSWER_LIMIT).await;
            if offered.is_ok() {
                offered = client.call::<Value>("session.options.update", &allow, ANSWER_LIMIT).await;
            }
            let _ = done.send(offered.is_ok());
            offered.map(drop)
        });
    }

    fn permission(&mut self, request_id: &str, allow: bool, why: &str) {
        let (client, session_id) = (self.link.client.clone(), self.session_id.clone());
        let (request_id, result) = (request_id.to_owned(), wire::PermissionDecision::of(allow, why));
        self.calls.spawn(async move {
            let answer = wire::PermissionAnswer { session_id: &session_id, request_id: &request_id, result };
            let method = "session.permissions.handlePendingPermissionRequest";
            client.call::<Value>(method, &answer, ANSWER_LIMIT).await.map(drop)
        });
    }

    fn begin_abort(&mut self) {
        self.aborting = Some(Instant::now() + ABORT_GRACE);
        self.call_abort();
    }

    fn call_abort(&mut self) {
        let (client, session_id) = (self.link.client.clone(), self.session_id.clone());
        self.calls.spawn(async move {
            let params = json!({"sessionId": session_id, "reason": "user_initiated"});
            client.call::<Value>("session.abort", &params, ANSWER_LIMIT).await.map(drop)
        });
    }

    /// The connection is gone.
    async fn lost(&mut self) -> Ending {
        if self.aborting.is_some() {
            return Ending::Aborted;
        }
        let how = self.link.fate().await;
        Ending::Failed(errors::interrupted(&how))
    }
}
