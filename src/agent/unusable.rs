//! A backend that cannot work, and says why to whoever asks.

use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::watch;

use super::{
    AgentBackend, AgentError, AgentTurn, AuthState, BackendStatus, ChatSpec, Model, Prompt, StoredChat,
    Transcript,
};
use crate::config::Config;

/// Stands in for a backend when the settings cannot be read: guessing would send pages somewhere else.
pub struct Unusable {
    why: AgentError,
    status: watch::Sender<BackendStatus>,
}

impl Unusable {
    /// A backend that answers everything with `why`.
    pub fn new(why: AgentError) -> Self {
        Self { status: watch::Sender::new(BackendStatus::Failed(why.clone())), why }
    }
}

#[async_trait]
impl AgentBackend for Unusable {
    fn status(&self) -> watch::Receiver<BackendStatus> {
        self.status.subscribe()
    }

    async fn prompt(&self, _chat: ChatSpec, _prompt: Prompt) -> Result<AgentTurn, AgentError> {
        Err(self.why.clone())
    }

    async fn models(&self) -> Result<Vec<Model>, AgentError> {
        Err(self.why.clone())
    }

    fn current_model(&self) -> String {
        "default".to_owned()
    }

    async fn auth(&self) -> Result<AuthState, AgentError> {
        Err(self.why.clone())
    }

    async fn chats(&self) -> Result<Vec<StoredChat>, AgentError> {
        Err(self.why.clone())
    }

    async fn history(
        &self,
        _chat_id: &str,
        _before: Option<usize>,
        _limit: usize,
    ) -> Result<Transcript, AgentError> {
        Err(self.why.clone())
    }

    async fn delete(&self, _chat_id: &str) -> Result<bool, AgentError> {
        Err(self.why.clone())
    }

    fn configure(&self, _config: &Config) -> Result<(), AgentError> {
        Err(self.why.clone())
    }

    async fn shutdown(&self, _grace: Duration) {}
}
