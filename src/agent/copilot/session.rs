//! Chats: each is created or resumed once, then kept open; prompts go in.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinError, JoinSet};

use super::client::{CallError, Client};
use super::event::{SessionEvent, What};
use super::supervisor::{Link, SupervisorHandle};
use super::turn::{self, TurnCx, TurnOver};
use super::{auth, errors, models, provider, wire};
use crate::agent::{AgentError, AgentTurn, AuthState, ChatSpec, Prompt, ToolDefinition};
use crate::config::{Config, Provider};

/// Opening asks GitHub when somebody is signed in: 10 s a try in a network that swallows packets.
const OPEN_LIMIT: Duration = Duration::from_secs(60);

/// Everything that is answered without the network.
const LIMIT: Duration = Duration::from_secs(30);

/// MCP servers that the CLI brings along; they would add tools and requests to every chat.
const BUILT_IN_MCP: &str = "github-mcp-server";

/// What the CLI calls its client, in a chat's metadata.
const CLIENT: &str = "browy";

enum Command {
    Prompt { chat: ChatSpec, prompt: Prompt, reply: oneshot::Sender<Result<AgentTurn, AgentError>> },
    Delete { id: String, reply: oneshot::Sender<Result<bool, AgentError>> },
    Auth { reply: oneshot::Sender<Result<AuthState, AgentError>> },
}

/// The way to [`Chats`]. It ends when all of these are gone.
#[derive(Debug, Clone)]
pub struct ChatsHandle {
    commands: mpsc::Sender<Command>,
    default_model: watch::Receiver<Option<String>>,
}

impl ChatsHandle {
    /// See [`crate::agent::AgentBackend::prompt`].
    pub async fn prompt(&self, chat: ChatSpec, prompt: Prompt) -> Result<AgentTurn, AgentError> {
        self.ask(|reply| Command::Prompt { chat, prompt, reply }).await
    }

    /// See [`crate::agent::AgentBackend::delete`].
    pub async fn delete(&self, id: &str) -> Result<bool, AgentError> {
        self.ask(|reply| Command::Delete { id: id.to_owned(), reply }).await
    }

    /// See [`crate::agent::AgentBackend::auth`].
    pub async fn auth(&self) -> Result<AuthState, AgentError> {
        self.ask(|reply| Command::Auth { reply }).await
    }

    async fn ask<T>(
        &self,
        command: impl FnOnce(oneshot::Sender<Result<T, AgentError>>) -> Command,
    ) -> Result<T, AgentError> {
        let (reply, answer) = oneshot::channel();
        let _ = self.commands.send(command(reply)).await;
        answer.await.unwrap_or_else(|_| Err(AgentError::CliFailed("Browy is stopping.".to_owned())))
    }

    /// The model that the CLI chose for a chat that named none, once there was such a chat.
    pub fn default_model(&self) -> Option<String> {
        self.default_model.borrow().clone()
    }
}

/// Owns what is known of the open chats.
pub struct Chats {
    config: watch::Receiver<Config>,
    folder: PathBuf,
    supervisor: SupervisorHandle,
    commands: mpsc::Receiver<Command>,
    default_model: watch::Sender<Option<String>>,
    open: HashMap<String, Open>,
    /// Names of the person's own MCP servers, asked once per CLI.
    mcp: (u64, Vec<String>),
    turns: JoinSet<TurnOver>,
    /// Running turns, by chat.
    busy: HashMap<String, usize>,
    /// GitHub did not take the running CLI's sign-in.
    refused: bool,
    /// The CLI that the settings named when they were last looked at between turns.
    named: Option<PathBuf>,
}

/// A chat that is open in the CLI.
struct Open {
    generation: u64,
    spec: ChatSpec,
    provider: Option<Provider>,
}

impl Chats {
    /// Starts the owner's task in `tasks`. `folder`: the chats' working directory.
    pub fn start(
        config: watch::Receiver<Config>,
        folder: PathBuf,
        supervisor: SupervisorHandle,
        tasks: &mut JoinSet<()>,
    ) -> ChatsHandle {
        let (commands, receiver) = mpsc::channel(64);
        let (default_model, default_receiver) = watch::channel(None);
        let named = config.borrow().cli_path.clone();
        let chats = Self {
            config,
            folder,
            supervisor,
            commands: receiver,
            default_model,
            open: HashMap::new(),
            mcp: (0, Vec::new()),
            turns: JoinSet::new(),
            busy: HashMap::new(),
            refused: false,
            named,
        };
        tasks.spawn(chats.run());
        ChatsHandle { commands, default_model: default_receiver }
    }

    async fn run(mut self) {
        loop {
            let command = tokio::select! {
                Some(over) = self.turns.join_next() => {
                    self.turn_over(over);
                    self.follow_settings().await;
                    continue;
                }
                Ok(()) = self.config.changed() => {
                    self.follow_settings().await;
                    continue;
                }
                command = self.commands.recv() => command,
            };
            while let Some(over) = self.turns.try_join_next() {
                self.turn_over(over);
            }
            match command {
                None => return,
                Some(Command::Prompt { chat, prompt, reply }) => {
                    self.last_turn_over().await;
                    self.leave_outdated().await;
                    let turn = self.prompt(chat, prompt).await;
                    // A turn that nobody takes notices so and stops itself.
                    let _ = reply.send(turn);
                }
                Some(Command::Auth { reply }) => {
                    let auth = self.sign_in().await;
                    let _ = reply.send(auth.map(|(_, auth)| auth));
                }
                Some(Command::Delete { id, reply }) => {
                    let deleted = self.delete(&id).await;
                    let _ = reply.send(deleted);
                }
            }
        }
    }

    async fn prompt(&mut self, chat: ChatSpec, prompt: Prompt) -> Result<AgentTurn, AgentError> {
        let mut link = self.signed_in().await?;
        let mut prepared = self.prepare(&link, &chat).await;
        if link.client.is_closed() {
            // The CLI went away before it was given anything; another one takes its place unnoticed.
            link = self.signed_in().await?;
            prepared = self.prepare(&link, &chat).await;
        }
        let mut events = prepared?;
        let mut sent = self.send_or_reopen(&link, &chat, &prompt).await;
        if matches!(sent, Err(CallError::Closed)) && !is_written_down(&mut events) {
            // It went away with the prompt under way, before it wrote it into the chat: nothing was begun.
            link = self.signed_in().await?;
            events = self.prepare(&link, &chat).await?;
            sent = self.send_or_reopen(&link, &chat, &prompt).await;
        }
        match sent {
            Ok(()) => Ok(self.turn(link, chat, events)),
            Err(error) => Err(self.failed(&link, &error, "Sending the message").await),
        }
    }

    /// Has the chat open, and its events coming.
    async fn prepare(
        &mut self,
        link: &Link,
        chat: &ChatSpec,
    ) -> Result<mpsc::Receiver<SessionEvent>, AgentError> {
        self.ensure_open(link, chat).await?;
        Ok(link.client.events_of(&chat.id).await)
    }

    fn turn(&mut self, link: Link, chat: ChatSpec, events: mpsc::Receiver<SessionEvent>) -> AgentTurn {
        let provider = self.open.get(&chat.id).and_then(|open| open.provider.clone());
        *self.busy.entry(chat.id.clone()).or_default() += 1;
        let cx = TurnCx {
            link,
            supervisor: self.supervisor.clone(),
            tools: chat.tools.into_iter().map(|tool| tool.name).collect::<HashSet<_>>(),
            builtin_tools: chat.builtin_tools,
            session_id: chat.id,
            provider,
            events,
        };
        turn::start(cx, &mut self.turns)
    }

    /// A CLI that may be asked. Without a sign-in it would take the prompt and fail with an internal text.
    async fn signed_in(&mut self) -> Result<Link, AgentError> {
        use crate::agent::BackendStatus::Ready;
        let link = self.supervisor.link().await?;
        let known = match &*self.supervisor.status().borrow() {
            Ready { auth, .. } => auth.clone(),
            _ => AuthState::Unknown,
        };
        if self.config.borrow().provider.is_some()
            || matches!(known, AuthState::Ready { .. } if !self.refused)
        {
            return Ok(link);
        }
        match self.sign_in().await {
            Ok((_, AuthState::Unauthenticated { .. })) => Err(AgentError::Auth(format!(
                "Nobody is signed in to GitHub Copilot on this computer. {}",
                errors::SIGN_IN
            ))),
            Ok((_, AuthState::Refused { why })) => Err(why),
            Ok((link, _)) => Ok(link),
            // One that cannot say may still be able to work.
            Err(_) => self.supervisor.link().await,
        }
    }

    /// Between turns, another CLI that the settings name takes over at once: whether it works shows before the next
    /// prompt.
    async fn follow_settings(&mut self) {
        if self.leave_outdated().await {
            // The outcome is in the status.
            let _ = self.supervisor.link().await;
        }
    }

    /// Ends the running CLI if the settings name another one and no turn needs it. `true`: they name another one.
    async fn leave_outdated(&mut self) -> bool {
        let named = self.config.borrow_and_update().cli_path.clone();
        if named == self.named || !self.is_idle() {
            return false;
        }
        self.named = named;
        if let Some(old) = self.supervisor.outdated().await {
            self.close_idle(&old).await;
            self.supervisor.renew(old.generation).await;
        }
        true
    }

    /// A turn that has told its end may not be over here yet. Where another CLI waits for that, so does the prompt.
    async fn last_turn_over(&mut self) {
        let deadline = tokio::time::Instant::now() + turn::ABORT_GRACE;
        while self.config.borrow().cli_path != self.named && !self.is_idle() {
            match tokio::time::timeout_at(deadline, self.turns.join_next()).await {
                Ok(Some(over)) => self.turn_over(over),
                _ => return,
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.busy.values().all(|turns| *turns == 0)
    }

    /// Who is signed in, asked anew.
    ///
    /// A CLI knows who was signed in when it started and never learns of more (measured with 1.0.102), so one that
    /// knows nobody, or somebody who was refused or could not be looked up, is replaced; not while a turn needs it.
    async fn sign_in(&mut self) -> Result<(Link, AuthState), AgentError> {
        let link = self.supervisor.link().await?;
        let idle = self.is_idle();
        if !(self.refused && idle) {
            let auth = self.ask_who(&link).await?;
            let is_served = !matches!(auth, AuthState::Unauthenticated { .. } | AuthState::Refused { .. });
            if !idle || is_served {
                return Ok((link, auth));
            }
        }
        self.refused = false;
        self.close_idle(&link).await;
        self.supervisor.renew(link.generation).await;
        let link = self.supervisor.link().await?;
        let auth = self.ask_who(&link).await?;
        Ok((link, auth))
    }

    async fn ask_who(&self, link: &Link) -> Result<AuthState, AgentError> {
        let asked = auth::ask(&link.client).await;
        let auth = asked.map_err(|error| errors::of_call(&error, "Asking who is signed in"))?;
        self.supervisor.learned(link.generation, auth.clone()).await;
        Ok(auth)
    }

    fn turn_over(&mut self, over: Result<TurnOver, JoinError>) {
        let Ok(over) = over else { return };
        if let Some(turns) = self.busy.get_mut(&over.session_id) {
            *turns -= 1;
        }
        self.refused |= over.refused && self.config.borrow().provider.is_none();
    }

    async fn send(&self, link: &Link, id: &str, prompt: &Prompt) -> Result<(), CallError> {
        let attachments = prompt.images.iter().enumerate().map(|(index, image)| wire::Attachment {
            r#type: "blob",
            data: &image.base64,
            mime_type: &image.mime_type,
            display_name: format!("picture {}", index + 1),
        });
        let message = wire::Send {
            session_id: id,
            prompt: &prompt.text,
            display_prompt: &prompt.display,
            attachments: attachments.collect(),
        };
        link.client.call::<Value>("session.send", &message, LIMIT).await.map(drop)
    }

    /// Sends the prompt. A chat that the CLI has closed meanwhile is opened again, once.
    async fn send_or_reopen(
        &mut self,
        link: &Link,
        chat: &ChatSpec,
        prompt: &Prompt,
    ) -> Result<(), CallError> {
        let Err(error) = self.send(link, &chat.id, prompt).await else { return Ok(()) };
        if !matches!(error, CallError::Refused { .. }) {
            return Err(error);
        }
        self.open.remove(&chat.id);
        if self.ensure_open(link, chat).await.is_err() {
            return Err(error);
        }
        self.send(link, &chat.id, prompt).await
    }

    /// Has the chat open with exactly this specification. Resuming an open chat replaces its tools, model
    /// and system message, so a change needs nothing else.
    async fn ensure_open(&mut self, link: &Link, chat: &ChatSpec) -> Result<(), AgentError> {
        let config = self.config.borrow().clone();
        let as_wanted = |open: &Open| {
            open.generation == link.generation && open.spec == *chat && open.provider == config.provider
        };
        if self.open.get(&chat.id).is_some_and(as_wanted) {
            return Ok(());
        }
        let client = &link.client;
        // Creating a chat that is on disk would not fail: it would start an empty one in the same file.
        let exists = match self.open.get(&chat.id) {
            Some(open) if open.generation == link.generation => true,
            _ => self.exists(link, &chat.id).await?,
        };
        if self.mcp.0 != link.generation {
            self.mcp = (link.generation, self.mcp_servers(client).await);
        }
        self.open.remove(&chat.id);
        self.close_idle(link).await;
        let folder = self.folder.to_string_lossy().into_owned();
        let params = open_params(&config, chat, &folder, &self.mcp.1);
        let (method, what) = if exists {
            ("session.resume", "Opening the chat again")
        } else {
            ("session.create", "Starting a chat")
        };
        let opened: wire::SessionOpened = match client.call(method, &params, OPEN_LIMIT).await {
            Ok(opened) => opened,
            Err(error) => return Err(self.failed(link, &error, what).await),
        };
        if params.model.is_none()
            && let Some(model) = opened.model_state.and_then(|state| state.model_id)
        {
            self.default_model.send_replace(Some(model));
        }
        // The person's instruction files are for their own CLI, not for Browy.
        let options = wire::UpdateOptions { session_id: &chat.id, skip_custom_instructions: true };
        if let Err(error) = client.call::<Value>("session.options.update", &options, LIMIT).await {
            tracing::warn!(%error, "copilot: custom instructions may be read");
        }
        let provider = config.provider.clone();
        self.open.insert(chat.id.clone(), Open { generation: link.generation, spec: chat.clone(), provider });
        Ok(())
    }

    /// Closes the chats that are not in use. The CLI writes into every chat that is still open when it
    /// ends, so all would count as last used at that time.
    async fn close_idle(&mut self, link: &Link) {
        self.busy.retain(|_, turns| *turns > 0);
        let idle: Vec<_> = self.open.keys().filter(|id| !self.busy.contains_key(*id)).cloned().collect();
        for id in idle {
            let open = self.open.remove(&id);
            if open.is_some_and(|open| open.generation == link.generation) {
                let asked = wire::OfSession { session_id: &id };
                if let Err(error) = link.client.call::<Value>("session.detach", &asked, LIMIT).await {
                    tracing::debug!(%error, "copilot: the chat stays open");
                }
            }
        }
    }

    async fn exists(&self, link: &Link, id: &str) -> Result<bool, AgentError> {
        let asked = wire::OfSession { session_id: id };
        match link.client.call::<wire::Metadata>("session.getMetadata", &asked, LIMIT).await {
            Ok(metadata) => Ok(metadata.session.is_some()),
            Err(error) => Err(self.failed(link, &error, "Looking for the chat").await),
        }
    }

    /// The servers of the person's own configuration would be started for every chat, even barred ones.
    async fn mcp_servers(&self, client: &Client) -> Vec<String> {
        let mut names = vec![BUILT_IN_MCP.to_owned()];
        match client.call::<wire::McpConfigList>("mcp.config.list", &json!({}), LIMIT).await {
            Ok(list) => names.extend(list.servers.into_iter().map(|(name, _)| name)),
            Err(error) => tracing::warn!(%error, "copilot: the person's MCP servers may be started"),
        }
        names
    }

    async fn delete(&mut self, id: &str) -> Result<bool, AgentError> {
        let mut link = self.supervisor.link().await?;
        let mut exists = self.exists(&link, id).await;
        if link.client.is_closed() {
            link = self.supervisor.link().await?;
            exists = self.exists(&link, id).await;
        }
        if !exists? {
            return Ok(false);
        }
        self.open.remove(id);
        let asked = wire::OfSession { session_id: id };
        match link.client.call::<wire::Outcome>("session.delete", &asked, LIMIT).await {
            Ok(wire::Outcome { success: true, .. }) => Ok(true),
            Ok(outcome) => Err(AgentError::CliFailed(format!(
                "The chat could not be deleted: {}. Close other programs that have it open, then try again.",
                outcome.error.unwrap_or_default()
            ))),
            Err(error) => Err(self.failed(&link, &error, "Deleting the chat").await),
        }
    }

    async fn failed(&self, link: &Link, error: &CallError, what: &str) -> AgentError {
        match error {
            CallError::Closed => {
                let how = link.fate().await;
                AgentError::Interrupted(format!(
                    "{what} failed because the Copilot CLI went away: {how}. Try again; it is started anew."
                ))
            }
            CallError::Timeout { method, .. } => {
                self.supervisor.suspect(link.generation, format!("no answer to {method}")).await;
                errors::of_call(error, what)
            }
            _ => errors::of_call(error, what),
        }
    }
}

/// Whether the events of a chat tell that the CLI wrote the prompt into it.
fn is_written_down(events: &mut mpsc::Receiver<SessionEvent>) -> bool {
    std::iter::from_fn(|| events.try_recv().ok()).any(|event| matches!(event.what, What::UserMessage))
}

/// The host's tools for the CLI.
pub(super) fn own_tools(tools: &[ToolDefinition]) -> Vec<wire::Tool<'_>> {
    let own = tools.iter().map(|tool| wire::Tool {
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.parameters,
        skip_permission: true,
        overrides_built_in_tool: true,
        defer: "never",
    });
    own.collect()
}

/// What the model may call: the host's tools, and those of the CLI's own that the person switched on.
pub(super) fn allow_list(tools: &[ToolDefinition], builtin_tools: &[String]) -> Vec<String> {
    let own = tools.iter().map(|tool| format!("custom:{}", tool.name));
    own.chain(builtin_tools.iter().map(|name| format!("builtin:{name}"))).collect()
}

/// Everything a chat is opened with. Nothing of it survives in the CLI, so it is sent each time.
fn open_params<'a>(
    config: &'a Config,
    chat: &'a ChatSpec,
    folder: &'a str,
    disabled_mcp_servers: &'a [String],
) -> wire::OpenSession<'a> {
    wire::OpenSession {
        session_id: &chat.id,
        client_name: CLIENT,
        model: models::choose(config, chat.model.as_deref()),
        reasoning_effort: chat.reasoning_effort.as_deref(),
        streaming: true,
        system_message: wire::SystemMessage { mode: "replace", content: &chat.system_message },
        tools: own_tools(&chat.tools),
        available_tools: allow_list(&chat.tools, &chat.builtin_tools),
        provider: config.provider.as_ref().map(provider::on_wire),
        model_capabilities: config.provider.as_ref().map(|_| provider::capabilities()),
        working_directory: folder,
        disabled_mcp_servers,
        // The host caps results itself, at 64 KiB; the CLI would hide what is over 20 kB in a file.
        large_output: wire::LargeOutput { enabled: false },
        env_value_mode: "direct",
        request_permission: true,
        request_user_input: false,
        request_elicitation: false,
        request_exit_plan_mode: false,
        request_auto_mode_switch: false,
        hooks: false,
        enable_file_hooks: false,
        enable_skills: false,
        enable_host_git_operations: false,
        enable_on_demand_instruction_discovery: false,
        enable_session_store: false,
        enable_session_telemetry: false,
        enable_config_discovery: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allow_list_names_its_sources() {
        let chat = ChatSpec {
            id: "sp-1".into(),
            system_message: "be \"exact\"\n\u{1F600}".into(),
            tools: vec![ToolDefinition {
                name: "read_file".into(),
                description: "d".into(),
                parameters: json!({}),
            }],
            builtin_tools: vec!["bash".into()],
            model: None,
            reasoning_effort: None,
        };
        let config = Config::default();
        let params = serde_json::to_value(open_params(&config, &chat, "/f", &["x".to_owned()])).unwrap();
        assert_eq!(params["availableTools"], json!(["custom:read_file", "builtin:bash"]));
        assert_eq!(params["systemMessage"]["mode"], "replace");
        assert_eq!(params["systemMessage"]["content"], chat.system_message);
        assert_eq!(params["disabledMcpServers"], json!(["x"]));
        assert_eq!(params["largeOutput"]["enabled"], false);
        assert!(params.get("model").is_none() && params.get("provider").is_none());
    }
}
