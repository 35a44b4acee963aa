//! The tool calls of one turn.

use std::collections::{HashMap, HashSet};
use std::mem::Discriminant;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use tokio::task::{Id, JoinError, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::asks::Asks;
use super::budget::{Budget, Spent};
use super::cli_tools::may_ask;
use super::client::SessionWire;
use super::lane::Lane;
use super::summary::summary;
use super::turn::Turn;
use crate::agent::recent_actions::{Outcome, RecentActions};
use crate::agent::{ImageData, ToolReply, TurnControl};
use crate::browser::{Browser, Wire as _};
use crate::paths::Paths;
use crate::protocol::{CallId, ChatToolCall, ChatToolResult, EventActivity, Outbound, SessionId};
use crate::tools::policy::ToolPolicy;
use crate::tools::{
    Ask, AskPurpose, Effect, ErasedTool, Question, ReplyAnswer, ToolCx, ToolError, ToolOutput, by_name,
};

/// Bytes of text one call may hand to the model.
const MAX_OUTPUT: usize = 64 * 1024;
/// How long a person may think about an approval.
const APPROVAL_EXPIRES: Duration = Duration::from_secs(120);

/// Runs calls in their lane and settles each exactly once.
pub(super) struct Calls {
    session: SessionId,
    wire: Arc<SessionWire>,
    browser: Arc<Browser>,
    asks: Arc<Asks>,
    paths: Paths,
    cancel: CancellationToken,
    lane: Lane<Request>,
    running: JoinSet<Ended>,
    open: HashMap<Id, Running>,
    budget: Budget,
    /// What of the budget the person was told is used up.
    told: HashSet<Discriminant<Spent>>,
}

/// A call that waits for its place in the lane.
struct Request {
    id: String,
    tool: &'static dyn ErasedTool,
    args: Value,
    policy: ToolPolicy,
}

/// A call that runs.
struct Running {
    id: String,
    call_id: CallId,
    tool: String,
    args: Value,
    read_only: bool,
    since: Instant,
    cancel: CancellationToken,
    /// The backend no longer wants the answer.
    withdrawn: bool,
}

/// What a task of the turn ended with.
enum Ended {
    Tool(Result<ToolOutput, ToolError>),
    Permission { id: String, allow: bool, why: String },
}

/// A task that ended, with the call it belongs to.
pub(super) struct EndedCall {
    running: Option<Running>,
    ended: Result<Ended, JoinError>,
}

/// A permission that the backend asks for; see [`AgentEvent::Permission`](crate::agent::AgentEvent::Permission).
pub(super) struct Asked {
    pub kind: String,
    pub tool: Option<String>,
    pub detail: Value,
}

impl Calls {
    pub fn new(turn: &Turn) -> Self {
        Self {
            session: turn.session.clone(),
            wire: Arc::clone(&turn.wire),
            browser: Arc::clone(&turn.browser),
            asks: Arc::clone(&turn.asks),
            paths: turn.paths.clone(),
            cancel: turn.cancel.child_token(),
            lane: Lane::default(),
            running: JoinSet::new(),
            open: HashMap::new(),
            budget: Budget::default(),
            told: HashSet::new(),
        }
    }

    /// Takes a call of the model. A refusal comes back as an answer at once.
    pub fn request(
        &mut self,
        id: String,
        name: String,
        args: Value,
        policy: &ToolPolicy,
    ) -> Option<(String, ToolReply)> {
        let tool = match by_name(&name) {
            Some(tool) if policy.allows(&tool.spec()) => tool,
            Some(_) => {
                let why =
                    format!("{name} is switched off in Browy's settings. Do without it, or tell the person.");
                return Some(self.refuse(id, name, args, why));
            }
            None => {
                let why = format!("There is no tool named {name}.");
                return Some(self.refuse(id, name, args, why));
            }
        };
        if let Err(spent) = self.budget.take(&name, &args) {
            if self.told.insert(std::mem::discriminant(&spent)) {
                let _ = self.wire.send(Outbound::EventActivity(EventActivity {
                    session_id: self.session.clone(),
                    event: "status.notice".to_owned(),
                    tool: None,
                    text: Some(spent.for_person()),
                    duration_ms: None,
                }));
            }
            return Some(self.refuse(id, name, args, spent.to_string()));
        }
        self.lane
            .push(tool.spec().effect == Effect::ReadOnly, Request { id, tool, args, policy: policy.clone() });
        None
    }

    fn refuse(&self, id: String, tool: String, args: Value, why: String) -> (String, ToolReply) {
        let call_id = CallId::random();
        self.announce(&call_id, &tool, &args);
        self.conclude(call_id, false, &why, Duration::ZERO);
        (id, ToolReply { text: why, ok: false, images: Vec::new() })
    }

    /// Decides about a permission the backend asks for. `None`: a person is asked first.
    ///
    /// A tool that is switched off while the person is asked is refused, and the card closes.
    pub fn permission(
        &mut self,
        id: String,
        asked: Asked,
        mut policy: watch::Receiver<ToolPolicy>,
    ) -> Option<(String, bool, String)> {
        let Asked { kind, tool: known, detail } = asked;
        let tool = known.clone().unwrap_or_else(|| kind.clone());
        if kind == "custom-tool" {
            // Our own tools pass their own gate at dispatch.
            let known = by_name(&tool).is_some();
            return Some((
                id,
                known,
                if known { String::new() } else { format!("There is no tool named {tool}.") },
            ));
        }
        let off = format!("{tool} is switched off in Browy's settings.");
        if !may_ask(&policy.borrow_and_update(), &kind, known.as_deref()) {
            return Some((id, false, off));
        }
        let (asks, cancel) = (Arc::clone(&self.asks), self.cancel.child_token());
        self.running.spawn(async move {
            let question = Question {
                purpose: AskPurpose::Approval { tool: tool.clone(), args: detail },
                message: format!("The agent wants to use {tool} on this computer."),
                choices: Vec::new(),
                allow_text: false,
                expires: APPROVAL_EXPIRES,
            };
            let switched_off = async {
                // A policy that is gone went with its session, which ends the turn.
                if policy.wait_for(|now| !may_ask(now, &kind, known.as_deref())).await.is_err() {
                    std::future::pending::<()>().await;
                }
            };
            let (allow, why) = match asks.ask_unless(switched_off, question, &cancel).await {
                None => (false, off),
                Some(Ok(reply)) if reply.answer == ReplyAnswer::Allow => (true, String::new()),
                Some(Ok(_)) => (false, "The person said no.".to_owned()),
                Some(Err(error)) => (false, format!("Not allowed: {error}.")),
            };
            Ended::Permission { id, allow, why }
        });
        None
    }

    /// Starts every call that may run now.
    pub fn start_ready(&mut self) {
        while let Some((read_only, request)) = self.lane.start() {
            let Request { id, tool, args, policy } = request;
            let spec = tool.spec();
            let call_id = CallId::random();
            self.announce(&call_id, spec.name, &args);
            let cancel = self.cancel.child_token();
            let cx = ToolCx {
                browser: Arc::clone(&self.browser),
                ask: Arc::clone(&self.asks) as Arc<dyn Ask>,
                paths: self.paths.clone(),
                policy,
                cancel: cancel.clone(),
            };
            let call_args = args.clone();
            let handle = self.running.spawn(async move { Ended::Tool(run_tool(tool, cx, call_args).await) });
            let running = Running {
                id,
                call_id,
                tool: spec.name.to_owned(),
                args,
                read_only,
                since: Instant::now(),
                cancel,
                withdrawn: false,
            };
            self.open.insert(handle.id(), running);
        }
    }

    /// The next task that ends; `None` while nothing runs.
    pub async fn next_ended(&mut self) -> Option<EndedCall> {
        let (task, ended) = match self.running.join_next_with_id().await? {
            Ok((task, ended)) => (task, Ok(ended)),
            Err(error) => (error.id(), Err(error)),
        };
        Some(EndedCall { running: self.open.remove(&task), ended })
    }

    /// Answers the backend and tells the panel. `Some`: the turn cannot go on, and why.
    pub async fn settle(
        &mut self,
        ended: EndedCall,
        control: &dyn TurnControl,
        recent: &mut RecentActions,
    ) -> Option<String> {
        if let Ok(Ended::Permission { id, allow, why }) = &ended.ended {
            control.permit(id, *allow, why).await;
            return None;
        }
        let running = ended.running?;
        let took = running.since.elapsed();
        self.lane.done(running.read_only);
        let (output, fatal) = match ended.ended {
            Ok(Ended::Tool(Ok(output))) => (output, None),
            Ok(Ended::Tool(Err(ToolError::Model(text)))) => (failed(text), None),
            Ok(Ended::Tool(Err(ToolError::Cancelled))) => (failed("Stopped.".to_owned()), None),
            Ok(Ended::Tool(Err(ToolError::Fatal(why)))) => (failed(why.clone()), Some(why)),
            Ok(Ended::Permission { .. }) => return None,
            Err(error) => {
                // Why is in the log already, without the values that the error would quote.
                tracing::error!(tool = running.tool, panicked = error.is_panic(), "a tool crashed");
                (
                    failed(format!(
                        "{} crashed. Whether it did something is unknown: look before you go on.",
                        running.tool
                    )),
                    None,
                )
            }
        };
        let text = cap(output.text);
        self.budget.ended(&running.tool, &running.args, output.ok, text.len());
        let outcome = if output.ok { Outcome::Ok } else { Outcome::Failed };
        recent.record(&running.tool, &running.args, outcome, took, &text);
        self.conclude(running.call_id, output.ok, &text, took);
        if !running.withdrawn {
            let images = output
                .pictures
                .into_iter()
                .map(|picture| ImageData { mime_type: picture.mime_type, base64: picture.base64 })
                .collect();
            control.answer(&running.id, ToolReply { text, ok: output.ok, images }).await;
        }
        fatal
    }

    /// The backend no longer wants this answer: the call is stopped.
    pub fn withdraw(&mut self, id: &str) {
        self.lane.withdraw(|request| request.id == id);
        for running in self.open.values_mut().filter(|running| running.id == id) {
            running.withdrawn = true;
            running.cancel.cancel();
        }
    }

    /// Ends everything that still runs and tells the panel. Returns how many calls may have acted.
    pub fn stop_all(mut self, recent: &mut RecentActions) -> usize {
        self.cancel.cancel();
        self.running.abort_all();
        let mut unknown = 0;
        for running in std::mem::take(&mut self.open).into_values() {
            let took = running.since.elapsed();
            let result = "stopped before it ended";
            unknown += usize::from(!running.read_only);
            recent.record(&running.tool, &running.args, Outcome::Unknown, took, result);
            self.conclude(running.call_id, false, result, took);
        }
        unknown
    }

    fn announce(&self, call_id: &CallId, tool: &str, args: &Value) {
        let _ = self.wire.send(Outbound::ChatToolCall(ChatToolCall {
            session_id: self.session.clone(),
            call_id: call_id.clone(),
            tool: tool.to_owned(),
            args: args.clone(),
        }));
    }

    fn conclude(&self, call_id: CallId, ok: bool, text: &str, took: Duration) {
        let _ = self.wire.send(Outbound::ChatToolResult(ChatToolResult {
            session_id: self.session.clone(),
            call_id,
            ok,
            summary: Some(summary(text, ok)),
            duration_ms: u64::try_from(took.as_millis()).ok(),
        }));
    }
}

async fn run_tool(tool: &'static dyn ErasedTool, cx: ToolCx, args: Value) -> Result<ToolOutput, ToolError> {
    let limit = tool.spec().timeout;
    let cancel = cx.cancel.clone();
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(ToolError::Cancelled),
        output = tokio::time::timeout(limit, tool.call(&cx, args)) => output.unwrap_or_else(|_| {
            Err(ToolError::Model(format!(
                "{} did not end within {} s and was stopped. Whether it did something is unknown: look before you go on.",
                tool.spec().name,
                limit.as_secs()
            )))
        }),
    }
}

fn failed(text: String) -> ToolOutput {
    ToolOutput { text, pictures: Vec::new(), ok: false }
}

/// Cuts on a line boundary and says so.
fn cap(mut text: String) -> String {
    if text.len() <= MAX_OUTPUT {
        return text;
    }
    let whole = text.len();
    let end = (0..=MAX_OUTPUT).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    let end = text[..end].rfind('\n').filter(|at| *at > MAX_OUTPUT / 2).unwrap_or(end);
    text.truncate(end);
    text.push_str(&format!(
        "\n(cut: {end} of {whole} bytes shown; ask for a part — a selector, a filter, `from` — to read the rest)"
    ));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_output_is_cut_on_a_line_and_says_so() {
        let line = "é".repeat(40);
        let text = cap([line.as_str(); 2_000].join("\n"));
        assert!(text.len() < MAX_OUTPUT + 200);
        let (body, note) = text.rsplit_once('\n').unwrap();
        assert!(body.ends_with(&line) && note.starts_with("(cut: "), "{note}");
        assert_eq!(cap("short".to_owned()), "short");
    }
}
