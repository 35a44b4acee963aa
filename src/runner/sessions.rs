//! Panel sessions, and the messages that belong to one.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::asks::Asks;
use super::attachments::Attached;
use super::by_hand::HandCall;
use super::client::{Capabilities, ClientId, Line, SessionWire};
use super::queue::Queued;
use super::{CAPABILITIES, MAX_SESSIONS, Runner, error_in, error_message};
use crate::agent::recent_actions::RecentActions;
use crate::browser::{Browser, BrowserEvent, ExtensionContext, Wire as _};
use crate::protocol::limits::PROTOCOL;
use crate::protocol::{
    ChatRun, ChatSend, ErrorCode, Hello, HelloAck, Inbound, Outbound, ProtocolError, SessionId, SessionReady,
    SessionStart, ToolResult, TurnId,
};
use crate::tools::policy::ToolPolicy;

/// How a person cancelled debugging, in Chrome's word.
const CANCELED_BY_USER: &str = "canceled_by_user";

/// One panel's chat.
pub(super) struct Session {
    pub client: ClientId,
    pub incarnation: u64,
    pub wire: Arc<SessionWire>,
    pub browser: Arc<Browser>,
    pub asks: Arc<Asks>,
    pub policy: watch::Sender<ToolPolicy>,
    pub model: Option<String>,
    pub reasoning_effort: Option<String>,
    pub recent: RecentActions,
    /// Tools that the model had revealed in this chat.
    pub revealed: BTreeSet<&'static str>,
    /// See [`Turn::shown`](super::turn::Turn::shown).
    pub shown: Option<u64>,
    pub notes: Vec<String>,
    pub cancel: CancellationToken,
}

impl Session {
    /// Cancels its turn and resolves whatever waits for an answer of this panel.
    pub fn close(&self) {
        self.cancel.cancel();
        self.asks.close();
        self.browser.context.close();
    }
}

impl Runner {
    pub(super) fn on_message(&mut self, client: ClientId, message: Inbound) {
        match message {
            Inbound::Hello(hello) => self.on_hello(client, hello),
            Inbound::SessionStart(start) => self.on_session_start(client, start),
            Inbound::SessionEnd(ended) if self.owns(client, &ended.session_id) => {
                self.end_session(&ended.session_id)
            }
            Inbound::ChatSend(send) => self.on_chat_send(client, send),
            Inbound::ChatRun(run) => self.on_chat_run(client, run),
            Inbound::ChatCancel(cancel) if self.owns(client, &cancel.session_id) => {
                self.cancel(&cancel.session_id, cancel.turn_id.as_ref());
            }
            Inbound::ToolResult(result) if self.owns(client, &result.session_id) => {
                self.on_tool_result(result)
            }
            Inbound::UserAnswer(answer) if self.owns(client, &answer.session_id) => {
                let open =
                    self.sessions.get(&answer.session_id).is_some_and(|session| session.asks.answer(answer));
                if !open {
                    tracing::debug!("an answer to a question that is not open was dropped");
                }
            }
            Inbound::CdpEvent(event) if self.owns(client, &event.session_id) => {
                if let Some(session) = self.sessions.get(&event.session_id) {
                    session.browser.context.publish(BrowserEvent::Cdp(Arc::new(event)));
                }
            }
            Inbound::TabEvent(event) => self.publish(client, &BrowserEvent::Tab(Arc::new(event))),
            Inbound::DownloadEvent(event) => self.publish(client, &BrowserEvent::Download(Arc::new(event))),
            Inbound::DebuggerDetached(detached) => {
                if detached.reason == CANCELED_BY_USER {
                    self.stop_on_tab(client, detached.tab_id);
                }
                self.publish(client, &BrowserEvent::Detached(Arc::new(detached)));
            }
            Inbound::SessionEnd(_)
            | Inbound::ChatCancel(_)
            | Inbound::ToolResult(_)
            | Inbound::UserAnswer(_)
            | Inbound::CdpEvent(_) => {
                tracing::debug!("a message for a session that is not this client's was dropped");
            }
            request => self.on_request(client, request),
        }
    }

    fn on_hello(&mut self, client: ClientId, hello: Hello) {
        let Some(state) = self.clients.get_mut(&client) else { return };
        state.capabilities = Capabilities::new(hello.capabilities);
        state.incompatible = hello.protocol != PROTOCOL;
        let incompatible = state.incompatible;
        self.reply(
            client,
            Outbound::HelloAck(HelloAck {
                protocol: PROTOCOL,
                server_version: env!("CARGO_PKG_VERSION").to_owned(),
                min_extension_version: None,
                capabilities: CAPABILITIES.iter().map(|name| (*name).to_owned()).collect(),
                request_id: hello.request_id,
            }),
        );
        if incompatible {
            self.reply(client, error_message(None, ErrorCode::Unsupported, mismatch(hello.protocol)));
        }
    }

    fn on_session_start(&mut self, client: ClientId, start: SessionStart) {
        let Some(state) = self.clients.get(&client) else { return };
        if state.incompatible {
            let message = error_in(
                start.session_id,
                None,
                ErrorCode::Unsupported,
                "Extension and host speak different protocols; update the older one.".to_owned(),
            );
            self.reply(client, message);
            return;
        }
        let line = Line {
            outbox: state.outbox.clone(),
            client: state.capabilities.clone(),
            session: Capabilities::new(start.capabilities.iter().cloned()),
        };
        let id = start.session_id.clone();
        let policy = ToolPolicy::new(start.disabled_tools, start.enabled_host_tools);
        // Another tab under the same id is another session.
        let same = self
            .sessions
            .get(&id)
            .is_some_and(|session| session.browser.context.inspected() == start.inspected_tab_id);
        if !same {
            if self.sessions.values().filter(|session| session.client == client).count() >= MAX_SESSIONS {
                let message = format!("{MAX_SESSIONS} chats are open already; close some.");
                self.reply(client, error_in(id, None, ErrorCode::Busy, message));
                return;
            }
            self.end_session(&id);
            let session = self.new_session(client, &id, line.clone(), start.inspected_tab_id);
            self.sessions.insert(id.clone(), session);
        }
        if let Some(session) = self.sessions.get_mut(&id) {
            session.client = client;
            session.wire.reconnect(line);
            session.policy.send_replace(policy);
            session.model = start.model.or(session.model.take());
            session.reasoning_effort = start.reasoning_effort.or(session.reasoning_effort.take());
        }
        self.reply(
            client,
            Outbound::SessionReady(SessionReady {
                session_id: id,
                model: self.model(),
                capabilities: start.capabilities,
            }),
        );
        let status = self.backend.status().borrow().clone();
        self.tell_status(client, &status);
        if same && let Some(session) = self.sessions.get(&start.session_id) {
            session.asks.show_again();
        }
    }

    fn new_session(
        &mut self,
        client: ClientId,
        id: &SessionId,
        line: Line,
        inspected: Option<crate::protocol::TabId>,
    ) -> Session {
        self.incarnations += 1;
        let wire = Arc::new(SessionWire::new(line));
        let context = Arc::new(ExtensionContext::new(id.clone(), wire.clone(), inspected));
        Session {
            client,
            incarnation: self.incarnations,
            browser: Arc::new(Browser::new(context)),
            asks: Arc::new(Asks::new(id.clone(), wire.clone())),
            wire,
            policy: watch::Sender::default(),
            model: None,
            reasoning_effort: None,
            recent: RecentActions::default(),
            revealed: BTreeSet::new(),
            shown: None,
            notes: Vec::new(),
            cancel: self.root.child_token(),
        }
    }

    fn on_chat_send(&mut self, client: ClientId, send: ChatSend) {
        let turn = send.turn_id.unwrap_or_else(TurnId::random);
        if !self.owns(client, &send.session_id) {
            return self.not_open_here(client, send.session_id, turn);
        }
        let attached = match Attached::read(send.attachments) {
            Ok(attached) if send.text.trim().is_empty() && attached.is_empty() => {
                Err("The message is empty.".to_owned())
            }
            read => read,
        };
        let attached = match attached {
            Ok(attached) => attached,
            Err(why) => {
                self.reply(client, error_in(send.session_id, Some(turn), ErrorCode::Unsupported, why));
                return;
            }
        };
        let prompt = Queued { session: send.session_id, turn, text: send.text, attached, by_hand: None };
        self.take_prompt(prompt);
    }

    fn on_chat_run(&mut self, client: ClientId, run: ChatRun) {
        let ChatRun { session_id, turn_id, tool, args } = run;
        let turn = turn_id.unwrap_or_else(TurnId::random);
        if !self.owns(client, &session_id) {
            return self.not_open_here(client, session_id, turn);
        }
        self.take_prompt(Queued {
            session: session_id,
            turn,
            text: String::new(),
            attached: Attached::default(),
            by_hand: Some(HandCall { tool, args }),
        });
    }

    fn not_open_here(&self, client: ClientId, session: SessionId, turn: TurnId) {
        let message =
            "This chat is not open here. Open the panel again; your text is still in the message box.";
        self.reply(client, error_in(session, Some(turn), ErrorCode::NotReady, message.to_owned()));
    }

    fn on_tool_result(&mut self, result: ToolResult) {
        let known = self
            .sessions
            .get(&result.session_id)
            .is_some_and(|session| session.browser.context.resolve(result));
        if !known {
            tracing::debug!("a result that nobody waits for was dropped");
        }
    }

    /// The person pressed Cancel on the debugging bar: whoever works on that tab stops.
    fn stop_on_tab(&mut self, client: ClientId, tab: crate::protocol::TabId) {
        let stop: Vec<SessionId> = self
            .sessions
            .iter()
            .filter(|(_, session)| session.client == client && session.browser.context.pinned() == Some(tab))
            .map(|(id, _)| id.clone())
            .collect();
        for session in stop {
            self.cancel(&session, None);
        }
    }

    /// One message could not be read. The call or the panel it was for hears of it.
    pub(super) fn on_bad_message(&mut self, client: ClientId, error: ProtocolError) {
        tracing::warn!(%error, "a message was dropped");
        if let ProtocolError::BadField { session_id: Some(session_id), call_id: Some(call_id), .. } = &error
            && self.owns(client, session_id)
        {
            self.on_tool_result(ToolResult {
                session_id: session_id.clone(),
                call_id: call_id.clone(),
                ok: false,
                result: serde_json::Value::Null,
                error: Some(error.to_string()),
            });
        }
        let answer = self.clients.get_mut(&client).and_then(|state| state.rejections.answer(&error));
        if let Some(answer) = answer {
            self.reply(client, Outbound::ChatError(answer));
        }
    }

    fn publish(&self, client: ClientId, event: &BrowserEvent) {
        for session in self.sessions.values().filter(|session| session.client == client) {
            session.browser.context.publish(event.clone());
        }
    }

    fn owns(&self, client: ClientId, session: &SessionId) -> bool {
        self.sessions.get(session).is_some_and(|session| session.client == client)
    }

    /// Sends to a client.
    pub(super) fn reply(&self, client: ClientId, message: Outbound) {
        if let Some(client) = self.clients.get(&client) {
            // A client that is gone is noticed by its reader.
            let _ = client.outbox.send(message);
        }
    }

    /// Sends to a session's panel.
    pub(super) fn tell(&self, session: &SessionId, message: impl FnOnce(SessionId) -> Outbound) {
        if let Some(state) = self.sessions.get(session) {
            let _ = state.wire.send(message(session.clone()));
        }
    }

    /// Sends to a session's panel if it announced the capability.
    pub(super) fn tell_new(
        &self,
        session: &SessionId,
        capability: &str,
        message: impl FnOnce(SessionId) -> Outbound,
    ) {
        if self.sessions.get(session).is_some_and(|state| state.wire.has(capability)) {
            self.tell(session, message);
        }
    }
}

fn mismatch(theirs: u32) -> String {
    let update = if theirs > PROTOCOL { "the host (run the installer again)" } else { "the extension" };
    format!("The extension speaks protocol {theirs}, this host {PROTOCOL}: update {update}.")
}
