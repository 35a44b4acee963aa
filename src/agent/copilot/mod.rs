//! GitHub's Copilot CLI as the model side, driven over JSON-RPC on its standard streams.
//!
//! | module | what it is |
//! |---|---|
//! | `locate`, `environment` | which program, with which variables |
//! | `process`, [`guard`] | starting and ending it, also when this process is killed |
//! | `supervisor` | keeps one running |
//! | `frame`, `client`, `wire`, `event` | the protocol |
//! | `session`, `turn`, `turn_state`, `pieces` | chats and their turns |
//! | `history`, `models`, `auth`, `provider`, `errors` | the rest of the trait |

mod auth;
mod client;
mod environment;
mod errors;
mod event;
#[cfg(test)]
mod fake;
mod frame;
pub mod guard;
mod history;
mod locate;
mod models;
mod pieces;
mod process;
mod provider;
mod session;
mod supervisor;
#[cfg(test)]
mod tests;
mod turn;
mod turn_state;
mod wire;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use tokio::sync::watch;
use tokio::task::JoinSet;

pub use environment::Environment;
pub use locate::{Located, locate};

use self::client::Client;
use self::process::{CliLauncher, Launcher, WorkingFolder};
use self::session::{Chats, ChatsHandle};
use self::supervisor::{Supervisor, SupervisorHandle};
use super::{
    AgentBackend, AgentError, AgentTurn, AuthState, BackendStatus, ChatSpec, Entry, Model, Prompt, StoredChat,
};
use crate::config::Config;
use crate::paths::Paths;

/// The Copilot CLI.
pub struct CopilotBackend {
    config: watch::Sender<Config>,
    folder: PathBuf,
    supervisor: SupervisorHandle,
    chats: ChatsHandle,
    /// Supervisor and chats; dropping ends both, and with them the CLI.
    _tasks: JoinSet<()>,
}

impl CopilotBackend {
    /// Starts the CLI of this machine in the background.
    ///
    /// Must be called inside a tokio runtime, by the program that has [`guard::run_if_asked`] in its
    /// `main`.
    pub fn start(paths: Paths, config: Config) -> Arc<dyn AgentBackend> {
        Self::start_in(paths, config, Environment::of_process(), None)
    }

    /// Like [`CopilotBackend::start`], with other environment variables (a temporary home, say), and with
    /// another program that has the guard in it.
    pub fn start_in(
        paths: Paths,
        config: Config,
        env: Environment,
        guard: Option<PathBuf>,
    ) -> Arc<dyn AgentBackend> {
        let working = WorkingFolder::of(&paths);
        let folder = working.path().to_owned();
        let launcher = CliLauncher { paths, config: config.clone(), env, guard, folder: working };
        Arc::new(Self::with_launcher(launcher, config, folder))
    }

    fn with_launcher(launcher: impl Launcher, config: Config, folder: PathBuf) -> Self {
        let mut tasks = JoinSet::new();
        let config = watch::Sender::new(config);
        let supervisor = Supervisor::start(launcher, config.subscribe(), &mut tasks);
        let chats = Chats::start(config.subscribe(), folder.clone(), supervisor.clone(), &mut tasks);
        Self { config, folder, supervisor, chats, _tasks: tasks }
    }

    /// Asks the CLI something that changes nothing, so that it can be asked again when the CLI went away meanwhile.
    async fn ask<T>(
        &self,
        question: impl for<'a> Fn(&'a Client) -> BoxFuture<'a, Result<T, AgentError>> + Send + Sync,
    ) -> Result<T, AgentError> {
        let link = self.supervisor.link().await?;
        match question(&link.client).await {
            Err(_) if link.client.is_closed() => {
                let next = self.supervisor.link().await?;
                question(&next.client).await
            }
            answer => answer,
        }
    }
}

#[async_trait]
impl AgentBackend for CopilotBackend {
    fn status(&self) -> watch::Receiver<BackendStatus> {
        self.supervisor.status()
    }

    async fn prompt(&self, chat: ChatSpec, prompt: Prompt) -> Result<AgentTurn, AgentError> {
        self.chats.prompt(chat, prompt).await
    }

    async fn models(&self) -> Result<Vec<Model>, AgentError> {
        if let Some(provider) = &self.config.borrow().provider {
            return Ok(vec![models::of_provider(provider)]);
        }
        self.ask(|client| Box::pin(models::list(client))).await
    }

    fn current_model(&self) -> String {
        models::choose(&self.config.borrow(), None)
            .map(str::to_owned)
            .or_else(|| self.chats.default_model())
            // The CLI chooses; which one it will be shows with the first chat.
            .unwrap_or_else(|| "default".to_owned())
    }

    async fn auth(&self) -> Result<AuthState, AgentError> {
        if let Some(ready) = auth::of_provider(&self.config.borrow()) {
            return Ok(ready);
        }
        // Not behind the prompts in the queue: all who wait for a start share its outcome.
        let link = self.supervisor.link().await?;
        match self.chats.auth().await {
            Err(_) if link.client.is_closed() => self.chats.auth().await,
            answer => answer,
        }
    }

    async fn chats(&self) -> Result<Vec<StoredChat>, AgentError> {
        let folder = self.folder.clone();
        self.ask(|client| {
            let folder = folder.clone();
            Box::pin(async move { history::list(client, &folder).await })
        })
        .await
    }

    async fn history(&self, chat_id: &str) -> Result<Vec<Entry>, AgentError> {
        let id = chat_id.to_owned();
        self.ask(|client| {
            let id = id.clone();
            Box::pin(async move { history::read(client, &id).await })
        })
        .await
    }

    async fn delete(&self, chat_id: &str) -> Result<bool, AgentError> {
        self.chats.delete(chat_id).await
    }

    fn configure(&self, config: &Config) -> Result<(), AgentError> {
        self.config.send_if_modified(|now| {
            let changed = now != config;
            now.clone_from(config);
            changed
        });
        Ok(())
    }

    async fn shutdown(&self, grace: Duration) {
        self.supervisor.shutdown(grace).await;
    }
}
