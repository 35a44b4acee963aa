//! Sessions, the turn queue, and one turn from start to ending.
//!
//! The [`Runner`] is one task that owns all state. Everything that can wake it is an `Event`.

mod answer;
mod asks;
mod attachments;
mod budget;
mod by_hand;
mod calls;
mod chats;
pub mod cli_tools;
mod client;
mod context;
mod history;
mod lane;
mod offer;
mod queue;
mod replies;
mod sessions;
mod settings;
mod sign_in;
mod stored;
mod summary;
mod turn;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::task::{Id, JoinSet};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::agent::{AgentBackend, BackendStatus};
use crate::config::Config;
use crate::data::chats::Chats;
use crate::paths::Paths;
use crate::protocol::{
    ChatError, ChatQueued, ChatRef, ErrorCode, Inbound, Outbound, ProtocolError, SessionId, TurnId,
};
use crate::transport::Rejections;
use crate::transport::link::{Inbox, LinkTasks, Outbox};

use client::Capabilities;
pub use client::ClientId;
use offer::Offer;
use queue::{Queued, TurnQueue};
use sessions::Session;
use settings::Settings;
use turn::{Turn, TurnEnd};

/// What this host understands beyond Browy's protocol 1, told in `hello.ack`.
pub const CAPABILITIES: &[&str] = &[
    "queue",
    "ask",
    "tabs.close",
    "tabs.held",
    "browser.events",
    "downloads",
    "tools.list",
    "usage",
    "provider",
    "diag",
    "data",
    "run",
    "cdp.targets",
];

/// Messages that may wait for the runner before a link stops reading.
const BACKLOG: usize = 64;

/// Panels one client may have open. A browser with this many windows is a mistake or an attack.
const MAX_SESSIONS: usize = 256;

/// Bytes that may wait for a client that does not read before its requests are no longer answered.
const MAX_UNREAD: usize = 16 * 1024 * 1024;

/// How often it is looked whether somebody mended the settings of a backend that does not start.
const LOOK: Duration = Duration::from_secs(1);

/// How long the link of a client that sent nonsense is kept to tell it so.
const LAST_WORDS: Duration = Duration::from_millis(80);

/// Everything that can wake the runner.
enum Event {
    Connected { client: ClientId, outbox: Outbox, link: LinkTasks },
    Message { client: ClientId, message: Result<Inbound, ProtocolError> },
    Gone { client: ClientId },
    TurnEnded { incarnation: u64, end: TurnEnd },
}

/// One connected client.
struct Client {
    outbox: Outbox,
    capabilities: Capabilities,
    /// Speaks another protocol: no session can be started.
    incompatible: bool,
    /// Counts bad messages and rations the answers to them.
    rejections: Rejections,
    /// Keeps the link's writer alive.
    _link: LinkTasks,
}

/// The turn that runs.
struct RunningTurn {
    session: SessionId,
    turn: TurnId,
    task: Id,
    cancel: CancellationToken,
    open_asks: watch::Receiver<Vec<asks::Card>>,
}

/// Owns sessions, queue and turn.
pub struct Runner {
    backend: Arc<dyn AgentBackend>,
    paths: Paths,
    settings: Settings,
    events: mpsc::Receiver<Event>,
    sender: mpsc::Sender<Event>,
    clients: HashMap<ClientId, Client>,
    sessions: HashMap<SessionId, Session>,
    queue: TurnQueue,
    /// What queued panels were told last.
    told: HashMap<TurnId, (u32, &'static str)>,
    last_window: sign_in::LastWindow,
    running: Option<RunningTurn>,
    tasks: JoinSet<()>,
    root: CancellationToken,
    incarnations: u64,
    /// Ids of the models on offer, as the backend told them last; empty: not known.
    offered: Arc<watch::Sender<Vec<String>>>,
    chats: Chats,
    /// Chats that go when the turn that was stopped for it is over.
    to_delete: Vec<(Option<ClientId>, ChatRef)>,
    /// Old chats were looked for.
    tidied: bool,
}

/// Connects clients to a [`Runner`].
#[derive(Clone)]
pub struct RunnerHandle {
    events: mpsc::Sender<Event>,
    clients: Arc<std::sync::atomic::AtomicU64>,
}

impl RunnerHandle {
    /// Serves one client until its link ends. The future is the link's reading side: run it in a task
    /// that is owned.
    pub async fn serve(&self, mut inbox: Inbox, outbox: Outbox, link: LinkTasks) {
        let client = ClientId(self.clients.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let connected = Event::Connected { client, outbox: outbox.clone(), link };
        if self.events.send(connected).await.is_err() {
            return;
        }
        while let Some(message) = inbox.recv().await {
            if self.events.send(Event::Message { client, message }).await.is_err() {
                return;
            }
        }
        if inbox.end().is_some() {
            // The link has told its peer why; let it hear that.
            let _ = tokio::time::timeout(LAST_WORDS, outbox.flushed()).await;
        }
        let _ = self.events.send(Event::Gone { client }).await;
    }
}

impl Runner {
    /// A runner over `backend`. Its task is [`run`](Self::run).
    pub fn new(backend: Arc<dyn AgentBackend>, paths: Paths, config: Config) -> (Self, RunnerHandle) {
        let (sender, events) = mpsc::channel(BACKLOG);
        let handle = RunnerHandle { events: sender.clone(), clients: Arc::default() };
        let runner = Self {
            backend,
            chats: Chats::below(&paths),
            to_delete: Vec::new(),
            tidied: false,
            offered: Arc::default(),
            settings: Settings::new(config, paths.clone()),
            paths,
            events,
            sender,
            clients: HashMap::new(),
            sessions: HashMap::new(),
            queue: TurnQueue::default(),
            told: HashMap::new(),
            last_window: sign_in::LastWindow::default(),
            running: None,
            tasks: JoinSet::new(),
            root: CancellationToken::new(),
            incarnations: 0,
        };
        (runner, handle)
    }

    /// Runs until `stop` is cancelled; then every turn is cancelled and every session closed.
    pub async fn run(mut self, stop: CancellationToken) {
        let mut status = self.backend.status();
        status.mark_changed();
        self.notice_sign_ins();
        let mut look = tokio::time::interval(LOOK);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let failed = matches!(*status.borrow(), BackendStatus::Failed(_));
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(event) = self.events.recv() => self.on_event(event),
                Some(ended) = self.tasks.join_next_with_id() => {
                    if let Err(error) = ended {
                        self.on_crash(&error);
                    }
                }
                Ok(()) = status.changed() => {
                    let now = status.borrow_and_update().clone();
                    self.on_status(&now);
                }
                () = asks_changed(self.running.as_mut()) => self.tell_places(),
                _ = look.tick(), if failed => {
                    // What cannot be read yet is told with the next prompt.
                    let _ = self.refresh_settings();
                }
            }
        }
        self.root.cancel();
        for (_, session) in self.sessions.drain() {
            session.close();
        }
        self.tasks.shutdown().await;
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Connected { client, outbox, link } => {
                let client_state = Client {
                    outbox,
                    capabilities: Capabilities::default(),
                    incompatible: false,
                    rejections: Rejections::default(),
                    _link: link,
                };
                self.clients.insert(client, client_state);
            }
            Event::Message { client, message: Ok(message) } => self.on_message(client, message),
            Event::Message { client, message: Err(error) } => self.on_bad_message(client, error),
            Event::Gone { client } => {
                let gone: Vec<SessionId> = self
                    .sessions
                    .iter()
                    .filter(|(_, session)| session.client == client)
                    .map(|(id, _)| id.clone())
                    .collect();
                for session in gone {
                    self.end_session(&session);
                }
                self.clients.remove(&client);
            }
            Event::TurnEnded { incarnation, end } => self.on_turn_ended(incarnation, end),
        }
    }

    /// Starts the prompt, or lets it wait for its turn.
    fn take_prompt(&mut self, prompt: Queued) {
        let (session, turn) = (prompt.session.clone(), prompt.turn.clone());
        if let Err(why) = self.refresh_settings() {
            self.tell(&session, |session_id| error_in(session_id, Some(turn), ErrorCode::NotReady, why));
            return;
        }
        if let Err(full) = self.queue.push(prompt) {
            self.tell(&session, |session_id| {
                error_in(session_id, Some(turn), ErrorCode::Busy, full.to_string())
            });
            return;
        }
        self.start_next();
        self.tell_places();
    }

    /// Starts the next waiting prompt if nothing runs.
    fn start_next(&mut self) {
        while self.running.is_none() {
            let Some(next) = self.queue.pop() else { return };
            self.told.remove(&next.turn);
            let Some(session) = self.sessions.get_mut(&next.session) else { continue };
            let cancel = session.cancel.child_token();
            // What the model is to be told waits for it.
            let notes = if next.by_hand.is_some() { Vec::new() } else { std::mem::take(&mut session.notes) };
            let turn = Turn {
                id: next.turn.clone(),
                session: next.session.clone(),
                words: next.text,
                attached: next.attached,
                by_hand: next.by_hand,
                wire: Arc::clone(&session.wire),
                browser: Arc::clone(&session.browser),
                paths: self.paths.clone(),
                chats: self.chats.clone(),
                policy: session.policy.subscribe(),
                backend: Arc::clone(&self.backend),
                // An own provider has its own model.
                model: match &self.settings.config {
                    Config { provider: Some(_), .. } => None,
                    config => session.model.clone().or_else(|| config.model.clone()),
                },
                offered: self.offered.subscribe(),
                reasoning_effort: session.reasoning_effort.clone(),
                recent: std::mem::take(&mut session.recent),
                offer: Offer::new(session.policy.subscribe(), std::mem::take(&mut session.revealed)),
                shown: session.shown.take(),
                notes,
                asks: Arc::clone(&session.asks),
                cancel: cancel.clone(),
                closed: session.cancel.clone(),
                spent: None,
            };
            let (sender, incarnation) = (self.sender.clone(), session.incarnation);
            let open_asks = session.asks.open();
            let task = self.tasks.spawn(async move {
                let end = turn.run().await;
                // The runner is gone only when the process ends.
                let _ = sender.send(Event::TurnEnded { incarnation, end }).await;
            });
            self.running = Some(RunningTurn {
                session: next.session,
                turn: next.turn,
                task: task.id(),
                cancel,
                open_asks,
            });
        }
    }

    fn on_turn_ended(&mut self, incarnation: u64, end: TurnEnd) {
        if let Some(session) = self.sessions.get_mut(&end.session)
            && session.incarnation == incarnation
        {
            session.recent = end.recent;
            session.revealed = end.revealed;
            session.shown = end.shown;
            session.notes.extend(end.note);
        }
        self.running = None;
        self.delete_stopped();
        self.start_next();
        self.tell_places();
    }

    /// A task panicked. If it was the turn, the panel gets its one ending from here.
    fn on_crash(&mut self, error: &tokio::task::JoinError) {
        tracing::error!(panicked = error.is_panic(), "a task of the runner crashed");
        if self.running.as_ref().is_some_and(|running| running.task == error.id())
            && let Some(running) = self.running.take()
        {
            self.tell(&running.session, |session_id| {
                let message = "Browy made a mistake and had to end this turn. The log has the details.";
                error_in(session_id, Some(running.turn.clone()), ErrorCode::Internal, message.to_owned())
            });
            self.mark_cut_off(&running.session);
            self.delete_stopped();
            self.start_next();
            self.tell_places();
        }
    }

    /// Stop: one queued prompt, or everything this chat has running and waiting.
    fn cancel(&mut self, session: &SessionId, turn: Option<&TurnId>) {
        if let Some(turn) = turn
            && let Some(queued) = self.queue.remove(session, turn)
        {
            self.drop_queued(vec![queued]);
            return;
        }
        if let Some(running) = self.running.as_ref()
            && running.session == *session
            && turn.is_none_or(|turn| *turn == running.turn)
        {
            running.cancel.cancel();
        }
        if turn.is_none() {
            let queued = self.queue.remove_all(session);
            self.drop_queued(queued);
        }
    }

    fn drop_queued(&mut self, queued: Vec<Queued>) {
        for prompt in queued {
            self.told.remove(&prompt.turn);
            self.tell(&prompt.session, |session_id| {
                error_in(
                    session_id,
                    Some(prompt.turn.clone()),
                    ErrorCode::Aborted,
                    "Taken out of the queue.".to_owned(),
                )
            });
        }
        self.tell_places();
    }

    /// Ends a session: its queued prompts go, its turn is cancelled, its calls resolve.
    fn end_session(&mut self, id: &SessionId) {
        for prompt in self.queue.remove_all(id) {
            self.told.remove(&prompt.turn);
        }
        if let Some(session) = self.sessions.remove(id) {
            session.close();
        }
        self.tell_places();
    }

    /// Tells waiting panels their place, when it changed.
    fn tell_places(&mut self) {
        let person = self.running.as_ref().is_some_and(|running| !running.open_asks.borrow().is_empty());
        let reason = if person { "person" } else { "turn" };
        let mut news = Vec::new();
        for (position, queued) in self.queue.places() {
            if self.told.get(&queued.turn) != Some(&(position, reason)) {
                news.push((position, queued.session.clone(), queued.turn.clone()));
            }
        }
        for (position, session, turn_id) in news {
            self.told.insert(turn_id.clone(), (position, reason));
            self.tell_new(&session, "queue", |session_id| {
                Outbound::ChatQueued(ChatQueued { session_id, turn_id, position, reason: reason.to_owned() })
            });
        }
    }

    /// Whether this chat's turn runs now.
    fn runs(&self, session: &SessionId) -> bool {
        self.running.as_ref().is_some_and(|running| running.session == *session)
    }

    fn on_status(&mut self, status: &BackendStatus) {
        let clients: Vec<ClientId> = self.clients.keys().copied().collect();
        for client in clients {
            self.tell_status(client, status);
        }
        if matches!(status, BackendStatus::Ready { .. }) {
            self.tidy_once();
            return;
        }
        // A backend that died may have lost the end of a chat.
        for session in self.sessions.values_mut() {
            session.shown = None;
        }
    }
}

/// Resolves when a question opens or closes in the running turn.
async fn asks_changed(running: Option<&mut RunningTurn>) {
    match running {
        Some(running) => {
            if running.open_asks.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
        None => std::future::pending().await,
    }
}

/// An error that belongs to a session, or to nobody in particular.
fn error_message(session_id: Option<SessionId>, code: ErrorCode, message: String) -> Outbound {
    failed(session_id, code, message, None)
}

/// The answer to a request that failed.
fn failed(
    session_id: Option<SessionId>,
    code: ErrorCode,
    message: String,
    request_id: Option<String>,
) -> Outbound {
    Outbound::ChatError(ChatError { session_id, message, code, turn_id: None, duration_ms: None, request_id })
}

fn error_in(session_id: SessionId, turn_id: Option<TurnId>, code: ErrorCode, message: String) -> Outbound {
    Outbound::ChatError(ChatError {
        session_id: Some(session_id),
        message,
        code,
        turn_id,
        duration_ms: None,
        request_id: None,
    })
}
