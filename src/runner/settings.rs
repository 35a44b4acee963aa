//! What a person sets: the model, and whose it is. Kept in the settings file, valid from the next prompt on.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::client::ClientId;
use super::{Runner, failed};
use crate::agent::{AgentBackend, AgentError, AgentEvent, ChatSpec, Ending, Prompt};
use crate::config::{Config, Provider, ProviderKind};
use crate::paths::Paths;
use crate::protocol::{ErrorCode, ModelsCurrent, ModelsSet, Outbound, ProviderResult, ProviderSet};

/// How `provider.*` calls the model service that needs no own provider.
const COPILOT: &str = "copilot";

/// Beginning of the ids of chats that are test calls.
pub(super) const TEST_CHAT: &str = "test-";

/// How long a test call may take, with the tries that the CLI makes.
const TEST_LIMIT: Duration = Duration::from_secs(60);

/// The settings, and when their file was written.
pub(super) struct Settings {
    pub config: Config,
    stamp: Option<SystemTime>,
    paths: Paths,
}

impl Settings {
    pub fn new(config: Config, paths: Paths) -> Self {
        Self { config, stamp: stamp(&paths), paths }
    }

    /// Reads the file again if somebody wrote it. `true`: something changed.
    fn refresh(&mut self) -> Result<bool, String> {
        let now = stamp(&self.paths);
        if now == self.stamp {
            return Ok(false);
        }
        let config = Config::load(&self.paths).map_err(|error| error.to_string())?;
        self.stamp = now;
        let changed = config != self.config;
        self.config = config;
        Ok(changed)
    }

    /// Changes the settings and their file. What the person wrote there meanwhile stays.
    fn change(&mut self, change: impl FnOnce(&mut Config)) -> Result<(), String> {
        self.refresh()?;
        let mut config = self.config.clone();
        change(&mut config);
        config.save(&self.paths).map_err(|error| error.to_string())?;
        self.config = config;
        self.stamp = stamp(&self.paths);
        Ok(())
    }
}

fn stamp(paths: &Paths) -> Option<SystemTime> {
    std::fs::metadata(paths.config()).and_then(|what| what.modified()).ok()
}

impl Runner {
    /// Takes up what was written into the settings file since the last prompt.
    ///
    /// # Errors
    /// In words: the file cannot be used. Going on with the old settings would send pages where the person may
    /// no longer want them.
    pub(super) fn refresh_settings(&mut self) -> Result<(), String> {
        if self.settings.refresh()? {
            self.configured()?;
        }
        Ok(())
    }

    fn configured(&mut self) -> Result<(), String> {
        self.backend.configure(&self.settings.config).map_err(|error| error.to_string())?;
        let status = self.backend.status().borrow().clone();
        self.on_status(&status);
        Ok(())
    }

    pub(super) fn on_models_set(&mut self, client: ClientId, set: ModelsSet) {
        let ModelsSet { id, request_id } = set;
        let changed = self
            .settings
            .change(|config| config.model = Some(id))
            .and_then(|()| self.backend.configure(&self.settings.config).map_err(|error| error.to_string()));
        match changed {
            Ok(()) => {
                let current = ModelsCurrent { id: self.model(), request_id };
                for outbox in self.clients.values().map(|client| &client.outbox) {
                    let _ = outbox.send(Outbound::ModelsCurrent(current.clone()));
                }
            }
            Err(error) => self.reply(client, failed(None, ErrorCode::Internal, error, request_id)),
        }
    }

    pub(super) fn on_provider_get(&mut self, client: ClientId, request_id: Option<String>) {
        let outcome = self.refresh_settings();
        let result = self.provider(outcome, request_id);
        self.reply(client, Outbound::ProviderGetResult(result));
    }

    pub(super) fn on_provider_set(&mut self, client: ClientId, set: ProviderSet) {
        let request_id = set.request_id.clone();
        let outcome = self
            .settings
            .refresh()
            .and_then(|_| wanted(set, self.settings.config.provider.as_ref()))
            .and_then(|provider| self.settings.change(|config| config.provider = provider))
            .and_then(|()| self.configured());
        let result = self.provider(outcome, request_id);
        self.reply(client, Outbound::ProviderSetResult(result));
    }

    pub(super) fn on_provider_test(&mut self, client: ClientId, request_id: Option<String>) {
        let refreshed = self.refresh_settings();
        let mut result = self.provider(refreshed, request_id);
        let Some(state) = self.clients.get(&client) else { return };
        let (outbox, backend, model) =
            (state.outbox.clone(), Arc::clone(&self.backend), self.settings.config.model.clone());
        self.tasks.spawn(async move {
            if result.ok
                && let Err(error) = try_model(backend.as_ref(), model).await
            {
                (result.ok, result.error) = (false, Some(error.to_string()));
            }
            let _ = outbox.send(Outbound::ProviderTestResult(result));
        });
    }

    fn provider(&self, outcome: Result<(), String>, request_id: Option<String>) -> ProviderResult {
        let provider = self.settings.config.provider.as_ref();
        ProviderResult {
            kind: provider.map_or(COPILOT, |provider| provider.kind.name()).to_owned(),
            base_url: provider.map(|provider| provider.base_url.clone()),
            model: provider.map(|provider| provider.model.clone()),
            has_key: provider.is_some_and(|provider| provider.api_key.is_some()),
            ok: outcome.is_ok(),
            error: outcome.err(),
            request_id,
        }
    }
}

/// The provider that is asked for; `None` is GitHub Copilot.
fn wanted(set: ProviderSet, old: Option<&Provider>) -> Result<Option<Provider>, String> {
    if set.kind == COPILOT {
        return Ok(None);
    }
    let kind = ProviderKind::by_name(&set.kind).ok_or_else(|| {
        format!(
            "There is no provider of the kind {:?}; there are copilot, openai, azure and anthropic.",
            set.kind
        )
    })?;
    let base_url = set.base_url.or_else(|| old.map(|old| old.base_url.clone())).unwrap_or_default();
    let model = set.model.or_else(|| old.map(|old| old.model.clone())).unwrap_or_default();
    let api_key = match set.api_key {
        Some(key) => Some(key).filter(|key| !key.trim().is_empty()),
        // A key goes only to the address that it was given for.
        None => old.filter(|old| same_origin(&old.base_url, &base_url)).and_then(|old| old.api_key.clone()),
    };
    let api_version = old.filter(|_| kind == ProviderKind::Azure).and_then(|old| old.api_version.clone());
    let provider = Provider { kind, base_url: base_url.trim().to_owned(), model, api_key, api_version };
    provider.check().map_err(|why| format!("The provider was not changed: {why}."))?;
    Ok(Some(provider))
}

fn same_origin(one: &str, other: &str) -> bool {
    let origin = |address: &str| url::Url::parse(address.trim()).ok().map(|url| url.origin());
    matches!((origin(one), origin(other)), (Some(one), Some(other)) if one.is_tuple() && one == other)
}

/// One short question to the model, in a chat that is deleted afterwards.
async fn try_model(backend: &dyn AgentBackend, model: Option<String>) -> Result<(), AgentError> {
    let id = format!("{TEST_CHAT}{}", uuid::Uuid::new_v4().simple());
    let asked = tokio::time::timeout(TEST_LIMIT, ask(backend, &id, model)).await;
    if let Err(error) = backend.delete(&id).await {
        tracing::warn!(%error, "the chat of a test call stays");
    }
    asked.unwrap_or_else(|_| {
        Err(AgentError::Timeout(format!("The model did not answer within {} s.", TEST_LIMIT.as_secs())))
    })
}

async fn ask(backend: &dyn AgentBackend, id: &str, model: Option<String>) -> Result<(), AgentError> {
    let chat = ChatSpec {
        id: id.to_owned(),
        system_message: "Answer with one word.".to_owned(),
        tools: Vec::new(),
        builtin_tools: Vec::new(),
        model,
        reasoning_effort: None,
    };
    let words = "Say OK.".to_owned();
    let prompt = Prompt { text: words.clone(), display: words, images: Vec::new() };
    let mut turn = backend.prompt(chat, prompt).await?;
    while let Some(event) = turn.events.recv().await {
        match event {
            AgentEvent::Ended(Ending::Failed(error)) => return Err(error),
            AgentEvent::Ended(_) => return Ok(()),
            _ => {}
        }
    }
    Err(AgentError::Interrupted("The Copilot CLI went away before the model answered. Try again.".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(kind: &str, base_url: Option<&str>, model: Option<&str>, api_key: Option<&str>) -> ProviderSet {
        ProviderSet {
            kind: kind.to_owned(),
            base_url: base_url.map(str::to_owned),
            model: model.map(str::to_owned),
            api_key: api_key.map(str::to_owned),
            request_id: None,
        }
    }

    #[test]
    fn key_goes_only_to_the_address_that_it_was_given_for() {
        let old = Provider {
            base_url: "https://one.example/v1".to_owned(),
            model: "m".to_owned(),
            api_key: Some("key".to_owned()),
            ..Provider::default()
        };
        let key = |base_url, api_key| {
            wanted(set("openai", base_url, None, api_key), Some(&old)).unwrap().unwrap().api_key
        };
        assert_eq!(key(None, None).as_deref(), Some("key"));
        assert_eq!(key(Some("https://one.example/v2"), None).as_deref(), Some("key"));
        for other in ["https://two.example/v1", "http://one.example/v1", "https://one.example:8443/v1"] {
            assert_eq!(key(Some(other), None), None, "{other}");
            assert_eq!(key(Some(other), Some("new")).as_deref(), Some("new"));
        }
        assert_eq!(key(None, Some("")), None);
    }

    #[test]
    fn what_is_no_provider_is_refused_with_a_reason() {
        assert_eq!(wanted(set("copilot", None, None, None), None), Ok(None));
        for (set, says) in [
            (set("ollama", Some("http://127.0.0.1:1"), Some("m"), None), "there are copilot"),
            (set("openai", Some("http://127.0.0.1:1"), None, None), "`model`"),
            (set("azure", None, Some("m"), None), "`base_url`"),
            (set("anthropic", Some("file:///etc"), Some("m"), None), "http://"),
        ] {
            let why = wanted(set, None).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }
}
