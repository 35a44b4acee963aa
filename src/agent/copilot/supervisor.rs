//! Keeps one CLI running: starts it, notices its end, starts the next one when it is needed.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::auth;
use super::client::{CallError, Client};
use super::process::{Candidate, LaunchError, Launcher, Process};
use super::wire::{Connect, Connected};
use crate::agent::{AgentError, AuthState, BackendStatus};
use crate::config::Config;

/// What lies between the end of a CLI, or a start that failed, and the next start: more with every failure
/// in a row.
const BACK_OFF: [Duration; 3] = [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(5)];

/// How much of that a request waits for: somebody sits before it.
const LONGEST_WAIT: Duration = Duration::from_millis(1500);

/// How long a suspect CLI may take to answer `ping`.
const PING_LIMIT: Duration = Duration::from_secs(5);

/// How long a replaced or surplus CLI may take to end.
const END_GRACE: Duration = Duration::from_secs(1);

/// The protocol that this client speaks; the CLI has named it so since March 2026 (1.0.2).
const PROTOCOL: u64 = 3;

/// A connection to a running CLI.
#[derive(Debug, Clone)]
pub struct Link {
    /// The connection.
    pub client: Client,
    /// Counts the CLIs of this process; sessions are open in one of them.
    pub generation: u64,
    /// When this CLI was started, in milliseconds since 1970.
    pub started: u64,
    /// How it ended, in words, once it has.
    fate: watch::Receiver<Option<Arc<str>>>,
}

impl Link {
    /// How the CLI ended. Waits for the words, but not long: the person shall hear within a second.
    pub async fn fate(&self) -> String {
        let mut fate = self.fate.clone();
        let known = tokio::time::timeout(Duration::from_millis(400), fate.wait_for(Option::is_some)).await;
        match known {
            Ok(Ok(text)) => text.as_deref().unwrap_or_default().to_owned(),
            _ => self.client.why_closed().unwrap_or("it stopped answering").to_owned(),
        }
    }
}

enum Command {
    /// `failures`: how many starts had failed when this was asked.
    Link {
        failures: u64,
        reply: oneshot::Sender<Result<Link, AgentError>>,
    },
    Suspect {
        generation: u64,
        what: String,
    },
    Auth {
        generation: u64,
        known: AuthState,
        done: oneshot::Sender<()>,
    },
    Outdated {
        reply: oneshot::Sender<Option<Link>>,
    },
    Renew {
        generation: u64,
        done: oneshot::Sender<()>,
    },
    Shutdown {
        grace: Duration,
        done: oneshot::Sender<()>,
    },
}

/// The way to a [`Supervisor`]. It ends when all of these are gone.
#[derive(Debug, Clone)]
pub struct SupervisorHandle {
    commands: mpsc::Sender<Command>,
    status: watch::Receiver<BackendStatus>,
    stopping: CancellationToken,
    failures: Arc<AtomicU64>,
}

impl SupervisorHandle {
    /// The state of the CLI, and every change of it.
    pub fn status(&self) -> watch::Receiver<BackendStatus> {
        self.status.clone()
    }

    /// The running CLI; waits for one that starts, restarts one that died. All who wait for the same start
    /// share its outcome.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn link(&self) -> Result<Link, AgentError> {
        let (reply, link) = oneshot::channel();
        let failures = self.failures.load(Ordering::Acquire);
        let _ = self.commands.send(Command::Link { failures, reply }).await;
        link.await.unwrap_or_else(|_| Err(AgentError::CliFailed("Browy is stopping.".to_owned())))
    }

    /// Has the CLI checked: one that does not answer is replaced.
    pub async fn suspect(&self, generation: u64, what: impl Into<String>) {
        let _ = self.commands.send(Command::Suspect { generation, what: what.into() }).await;
    }

    /// Somebody asked that CLI who is signed in; from now on the status says the same.
    pub async fn learned(&self, generation: u64, known: AuthState) {
        let (done, told) = oneshot::channel();
        let _ = self.commands.send(Command::Auth { generation, known, done }).await;
        let _ = told.await;
    }

    /// The running CLI, if another one would be started now.
    pub async fn outdated(&self) -> Option<Link> {
        let (reply, outdated) = oneshot::channel();
        let _ = self.commands.send(Command::Outdated { reply }).await;
        outdated.await.ok().flatten()
    }

    /// Ends this CLI, so that the next [`link`](Self::link) is to a new one. For its caller to know that nobody
    /// needs it.
    pub async fn renew(&self, generation: u64) {
        let (done, ended) = oneshot::channel();
        let _ = self.commands.send(Command::Renew { generation, done }).await;
        let _ = ended.await;
    }

    /// Ends the CLI and everything it started, within `grace`.
    pub async fn shutdown(&self, grace: Duration) {
        let (done, ended) = oneshot::channel();
        self.stopping.cancel();
        let _ = self.commands.send(Command::Shutdown { grace, done }).await;
        let _ = tokio::time::timeout(grace, ended).await;
    }
}

/// Owns the CLI's process.
pub struct Supervisor<L> {
    launcher: L,
    config: watch::Receiver<Config>,
    commands: mpsc::Receiver<Command>,
    status: watch::Sender<BackendStatus>,
    /// Cuts a start short.
    stopping: CancellationToken,
    running: Option<Running>,
    /// What there was to choose from at the latest start.
    candidates: Vec<Candidate>,
    /// Optional candidates that failed in this process; they are not tried again.
    broken: HashSet<PathBuf>,
    generation: u64,
    /// CLIs on their way out, checks of suspects, the look who is signed in.
    side: JoinSet<Side>,
    last_end: Option<Instant>,
    /// Starts that failed since the last that did not; the next wait depends on it.
    failed_in_a_row: usize,
    /// Starts that ever failed. Whoever asked before the latest gets its outcome instead of another start.
    failures: Arc<AtomicU64>,
    last_failure: Option<AgentError>,
}

struct Running {
    link: Link,
    process: Box<dyn Process>,
    fate: watch::Sender<Option<Arc<str>>>,
    checking: bool,
}

enum Side {
    Ended,
    Checked { generation: u64, answered: bool, what: String },
    Auth { generation: u64, auth: AuthState, version: String },
}

impl<L: Launcher> Supervisor<L> {
    /// Starts the supervisor in `tasks`; it starts the CLI at once.
    pub fn start(launcher: L, config: watch::Receiver<Config>, tasks: &mut JoinSet<()>) -> SupervisorHandle {
        let (commands, receiver) = mpsc::channel(64);
        let (status, status_receiver) = watch::channel(BackendStatus::Starting);
        let stopping = CancellationToken::new();
        let failures = Arc::new(AtomicU64::new(0));
        let supervisor = Self {
            launcher,
            config,
            commands: receiver,
            status,
            stopping: stopping.clone(),
            running: None,
            candidates: Vec::new(),
            broken: HashSet::new(),
            generation: 0,
            side: JoinSet::new(),
            last_end: None,
            failed_in_a_row: 0,
            failures: Arc::clone(&failures),
            last_failure: None,
        };
        tasks.spawn(supervisor.run());
        SupervisorHandle { commands, status: status_receiver, stopping, failures }
    }

    async fn run(mut self) {
        // The outcome is in the status; whoever needs the CLI asks for it and starts it again.
        let _ = self.bring_up().await;
        loop {
            let command = tokio::select! {
                biased;
                ended = ended(&mut self.running) => { self.down(&ended); continue }
                Some(side) = self.side.join_next() => { self.side_done(side.ok()); continue }
                Ok(()) = self.config.changed() => { self.settings_changed(); continue }
                command = self.commands.recv() => command,
            };
            match command {
                None => return self.end(END_GRACE).await,
                Some(Command::Link { failures, reply }) => {
                    let link = match &self.last_failure {
                        Some(error)
                            if self.running.is_none() && failures < self.failures.load(Ordering::Acquire) =>
                        {
                            Err(error.clone())
                        }
                        _ => self.bring_up().await,
                    };
                    let _ = reply.send(link);
                }
                Some(Command::Suspect { generation, what }) => self.check(generation, what),
                Some(Command::Auth { generation, known, done }) => {
                    if generation == self.generation {
                        self.signed_in_as(known);
                    }
                    let _ = done.send(());
                }
                Some(Command::Outdated { reply }) => {
                    let running = self.running.as_ref().map(|running| running.link.clone());
                    let now = self.launcher.candidates().unwrap_or_default();
                    let _ = reply.send(running.filter(|_| now != self.candidates));
                }
                Some(Command::Renew { generation, done }) => {
                    if let Some(old) = self.running.take_if(|running| running.link.generation == generation) {
                        tracing::info!(generation, "copilot: ended to start anew");
                        old.fate.send_replace(Some(Arc::from("Browy started it anew")));
                        self.side.spawn(end_process(old.link.client, old.process, END_GRACE));
                    }
                    let _ = done.send(());
                }
                Some(Command::Shutdown { grace, done }) => {
                    self.end(grace).await;
                    // The launcher cleans up behind itself; the program may end right after the answer.
                    drop(self);
                    let _ = done.send(());
                    return;
                }
            }
        }
    }

    /// The running CLI, or a new one.
    async fn bring_up(&mut self) -> Result<Link, AgentError> {
        let stopping = self.stopping.clone();
        let link = stopping.run_until_cancelled(self.start_if_down()).await;
        link.unwrap_or_else(|| Err(AgentError::CliFailed("Browy is stopping.".to_owned())))
    }

    async fn start_if_down(&mut self) -> Result<Link, AgentError> {
        if let Some(running) = &self.running {
            if !running.link.client.is_closed() {
                return Ok(running.link.clone());
            }
            // Its connection is gone already; who asks shall not get it once more.
            let how = ended(&mut self.running).await;
            self.down(&how);
        }
        if let Some(end) = self.last_end {
            let wait = BACK_OFF[self.failed_in_a_row.min(BACK_OFF.len() - 1)];
            tokio::time::sleep_until((end + wait).min(Instant::now() + LONGEST_WAIT)).await;
        }
        // Only now: until then a failure stays told.
        self.status.send_replace(BackendStatus::Starting);
        let result = self.try_candidates().await;
        if let Err(error) = &result {
            tracing::warn!(failed_in_a_row = self.failed_in_a_row, %error, "copilot: did not start");
            self.failed_in_a_row += 1;
            self.last_end = Some(Instant::now());
            self.last_failure = Some(error.clone());
            // Before the status: who asks because of it asks for another start.
            self.failures.fetch_add(1, Ordering::Release);
            self.status.send_replace(BackendStatus::Failed(error.clone()));
        }
        result
    }

    async fn try_candidates(&mut self) -> Result<Link, AgentError> {
        let mut result = Err(AgentError::CliFailed("There is no way to start the Copilot CLI.".to_owned()));
        self.candidates = self.launcher.candidates()?;
        for candidate in self.candidates.clone() {
            if self.broken.contains(&candidate.program) {
                continue;
            }
            result = self.try_one(&candidate).await;
            match &result {
                Ok(_) => return result,
                Err(error) if candidate.optional => {
                    tracing::info!(%error, program = %candidate.program.display(), "copilot: light runtime not used");
                    self.broken.insert(candidate.program);
                }
                Err(_) => {}
            }
        }
        result
    }

    async fn try_one(&mut self, candidate: &Candidate) -> Result<Link, AgentError> {
        let program = candidate.program.display();
        let launched = self.launcher.launch(candidate).map_err(|error| {
            let advice = match error {
                LaunchError::Folder { .. } => "Browy needs that folder: make it writable, then try again",
                LaunchError::Program(_) => TRY,
            };
            AgentError::CliFailed(format!(
                "The Copilot CLI ({program}) could not be started: {error}. {advice}"
            ))
        })?;
        let client = Client::connect(launched.reader, launched.writer);
        let mut process = launched.process;
        let asked = Connect { supported_task_kinds: [] };
        let connected = client.call::<Connected>("connect", &asked, candidate.limit).await;
        let problem = match &connected {
            Ok(hello) if hello.protocol_version != PROTOCOL => Some(format!(
                "it speaks protocol {} and Browy speaks {PROTOCOL}: update whichever is older",
                hello.protocol_version
            )),
            Ok(hello) => candidate
                .version
                .as_ref()
                .filter(|wanted| **wanted != hello.version)
                .map(|wanted| format!("it says it is version {} instead of {wanted}", hello.version)),
            Err(CallError::Closed) => {
                let exit = tokio::time::timeout(Duration::from_millis(300), process.exited()).await;
                let ending = exit.unwrap_or_default();
                Some(join(&[client.why_closed().unwrap_or_default(), &ending, &process.last_words()]))
            }
            Err(error) => Some(join(&[&error.to_string(), &process.last_words()])),
        };
        match (connected, problem) {
            (Ok(hello), None) => Ok(self.up(client, process, &hello.version)),
            (_, problem) => {
                self.side.spawn(end_process(client, process, END_GRACE));
                let problem = problem.unwrap_or_default();
                Err(AgentError::CliFailed(format!(
                    "The Copilot CLI ({program}) was started, but cannot be used: {problem}. {TRY}"
                )))
            }
        }
    }

    fn up(&mut self, client: Client, process: Box<dyn Process>, version: &str) -> Link {
        self.generation += 1;
        self.failed_in_a_row = 0;
        let (fate, fate_receiver) = watch::channel(None);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let started = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let link = Link { client, generation: self.generation, started, fate: fate_receiver };
        tracing::info!(version, generation = self.generation, "copilot: ready");
        self.ready(link.client.clone(), version.to_owned());
        self.running = Some(Running { link: link.clone(), process, fate, checking: false });
        link
    }

    /// Tells that prompts can be answered, and finds out who pays.
    fn ready(&mut self, client: Client, version: String) {
        let known = auth::of_provider(&self.config.borrow_and_update()).unwrap_or(AuthState::Unknown);
        self.status.send_replace(BackendStatus::Ready { version: version.clone(), auth: known.clone() });
        if known == AuthState::Unknown {
            let generation = self.generation;
            self.side.spawn(async move {
                let auth = auth::ask(&client).await.unwrap_or(AuthState::Unknown);
                Side::Auth { generation, auth, version }
            });
        }
    }

    /// Another provider, or none: who pays is not who paid.
    fn settings_changed(&mut self) {
        let version = match &*self.status.borrow() {
            BackendStatus::Ready { version, .. } => version.clone(),
            _ => return,
        };
        if let Some(running) = &self.running {
            self.ready(running.link.client.clone(), version);
        }
    }

    /// The CLI is gone, or its connection is.
    fn down(&mut self, how: &str) {
        let Some(running) = self.running.take() else { return };
        let words = running.process.last_words();
        let text = join(&[how, &words]);
        tracing::warn!(text, "copilot: ended");
        running.fate.send_replace(Some(Arc::from(text.as_str())));
        running.link.client.close();
        self.last_end = Some(Instant::now());
        self.status.send_replace(BackendStatus::Failed(AgentError::CliFailed(format!(
            "The Copilot CLI ended: {text}. It is started again with the next prompt."
        ))));
        self.side.spawn(end_process(running.link.client, running.process, END_GRACE));
    }

    fn check(&mut self, generation: u64, what: String) {
        let Some(running) = &mut self.running else { return };
        if running.link.generation != generation || running.checking {
            return;
        }
        running.checking = true;
        let client = running.link.client.clone();
        self.side.spawn(async move {
            let answer =
                client.call::<serde_json::Value>("ping", &json!({"message": "browy"}), PING_LIMIT).await;
            Side::Checked { generation, answered: answer.is_ok(), what }
        });
    }

    fn side_done(&mut self, side: Option<Side>) {
        match side {
            Some(Side::Checked { generation, answered, what }) => {
                let Some(running) = &mut self.running else { return };
                if running.link.generation != generation {
                    return;
                }
                running.checking = false;
                if !answered {
                    self.down(&format!("it stopped answering ({what})"));
                }
            }
            Some(Side::Auth { generation, auth, version })
                if generation == self.generation && self.running.is_some() =>
            {
                // Somebody may have asked meanwhile, and got an answer where this one got none.
                let told = |status: &BackendStatus| matches!(status, BackendStatus::Ready { auth, .. } if *auth != AuthState::Unknown);
                let told_more = told(&self.status.borrow());
                if auth != AuthState::Unknown || !told_more {
                    self.status.send_replace(BackendStatus::Ready { version, auth });
                }
            }
            _ => {}
        }
    }

    fn signed_in_as(&self, known: AuthState) {
        self.status.send_if_modified(|status| match status {
            BackendStatus::Ready { auth, .. } if *auth != known => {
                *auth = known;
                true
            }
            _ => false,
        });
    }

    async fn end(&mut self, grace: Duration) {
        if let Some(running) = self.running.take() {
            running.fate.send_replace(Some(Arc::from("Browy ended it")));
            self.side.spawn(end_process(running.link.client, running.process, grace));
        }
        let _ = tokio::time::timeout(grace, async { while self.side.join_next().await.is_some() {} }).await;
    }
}

/// What helps when the CLI does not start.
const TRY: &str = "Installing it again (`npm install -g @github/copilot`) often helps; the log has more (~/.browseragent/native-host.log)";

fn join(parts: &[&str]) -> String {
    parts.iter().copied().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ")
}

/// Waits for the end of the process or of its connection; for ever when none runs.
async fn ended(running: &mut Option<Running>) -> String {
    let Some(running) = running else { return std::future::pending().await };
    tokio::select! {
        biased;
        ending = running.process.exited() => ending,
        () = running.link.client.closed() => {
            // The process usually ends right after its pipe and then tells more.
            let exit = tokio::time::timeout(Duration::from_millis(150), running.process.exited()).await;
            exit.unwrap_or_else(|_| running.link.client.why_closed().unwrap_or("its connection closed").to_owned())
        }
    }
}

/// End of input, then a polite request, then force; at most `grace` in all.
async fn end_process(client: Client, mut process: Box<dyn Process>, grace: Duration) -> Side {
    client.close();
    // The CLI ends within 60 ms after its input has. What it needs longer for, the guard's 400 ms between
    // SIGTERM and SIGKILL must still fit.
    for (share, step) in [(25, Process::let_go as fn(&mut (dyn Process + 'static))), (65, Process::kill)] {
        if tokio::time::timeout(grace * share / 100, process.exited()).await.is_ok() {
            return Side::Ended;
        }
        step(process.as_mut());
    }
    let _ = tokio::time::timeout(grace * 10 / 100, process.exited()).await;
    Side::Ended
}
