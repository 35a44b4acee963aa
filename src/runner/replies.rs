//! Requests that belong to no turn: models, stored chats, tools, settings, checks.

use std::sync::Arc;

use super::client::ClientId;
use super::{MAX_UNREAD, Runner, failed};
use crate::agent::{AgentBackend, AgentError, AuthState, BackendStatus, Entry};
use crate::protocol::{
    AuthStatus, ChatHistory, ChatHistoryResult, DiagCheck, DiagResult, ErrorCode, HistoryMessage, Inbound,
    ModelInfo, ModelsCurrent, ModelsList, Outbound, SdkReady, ToolInfo, ToolsListRequest, ToolsListResult,
};
use crate::tools::policy::ToolPolicy;
use crate::tools::{Effect, Exposure};

/// Lines of a transcript in one answer, unless the panel asks for fewer.
const HISTORY_PAGE: usize = 200;

impl Runner {
    pub(super) fn on_request(&mut self, client: ClientId, request: Inbound) {
        if self.clients.get(&client).is_some_and(|client| client.outbox.backlog() > MAX_UNREAD) {
            tracing::warn!("a client asks and does not read; its request was dropped");
            return;
        }
        match request {
            Inbound::AuthSignin(request) => self.on_auth_signin(client, request),
            Inbound::ModelsList(request) => self.on_models_list(client, request.request_id),
            Inbound::ModelsSet(set) => self.on_models_set(client, set),
            Inbound::ChatList(request) => self.on_chat_list(client, request.request_id),
            Inbound::ChatHistory(history) => self.on_chat_history(client, history),
            Inbound::ChatDelete(chat) => self.on_chat_delete(client, chat),
            Inbound::HistoryClear(cleared) => self.on_history_clear(client, cleared.session_id),
            Inbound::ChatRename(rename) => self.on_chat_rename(client, rename),
            Inbound::ToolsList(request) => self.on_tools_list(client, request),
            Inbound::ProviderGet(request) => self.on_provider_get(client, request.request_id),
            Inbound::ProviderSet(set) => self.on_provider_set(client, set),
            Inbound::ProviderTest(request) => self.on_provider_test(client, request.request_id),
            Inbound::DiagRun(request) => self.on_diag(client, request.request_id),
            other => tracing::debug!(?other, "not a request"),
        }
    }

    /// Asks the backend in a task of its own and sends what `reply` makes of the answer.
    fn ask_backend<F, T>(
        &mut self,
        client: ClientId,
        ask: impl FnOnce(Arc<dyn AgentBackend>) -> F + Send + 'static,
        reply: impl FnOnce(Result<T, AgentError>) -> Outbound + Send + 'static,
    ) where
        F: Future<Output = Result<T, AgentError>> + Send,
        T: Send,
    {
        let Some(state) = self.clients.get(&client) else { return };
        let (outbox, backend) = (state.outbox.clone(), Arc::clone(&self.backend));
        self.tasks.spawn(async move {
            let _ = outbox.send(reply(ask(backend).await));
        });
    }

    fn on_models_list(&mut self, client: ClientId, request_id: Option<String>) {
        let offered = Arc::clone(&self.offered);
        self.ask_backend(
            client,
            |backend| async move { backend.models().await },
            move |models| {
                if let Ok(models) = &models {
                    offered.send_replace(models.iter().map(|model| model.id.clone()).collect());
                }
                models_list(models, request_id)
            },
        );
    }

    fn on_chat_history(&mut self, client: ClientId, request: ChatHistory) {
        let id = request.id.0.clone();
        self.ask_backend(
            client,
            |backend| async move { backend.history(&id).await },
            |entries| match entries {
                Ok(entries) => Outbound::ChatHistoryResult(history_page(entries, request)),
                Err(error) => {
                    failed(Some(request.id), ErrorCode::NotReady, error.to_string(), request.request_id)
                }
            },
        );
    }

    fn on_tools_list(&mut self, client: ClientId, request: ToolsListRequest) {
        let policy = request
            .session_id
            .and_then(|id| self.sessions.get(&id))
            .map_or_else(ToolPolicy::default, |session| session.policy.borrow().clone());
        let tools = crate::tools::all()
            .map(|tool| {
                let spec = tool.spec();
                ToolInfo {
                    name: spec.name.to_owned(),
                    title: spec.title.to_owned(),
                    description: spec.description.to_owned(),
                    category: spec.category.name().to_owned(),
                    exposure: exposure(spec.exposure).to_owned(),
                    effect: effect(spec.effect).to_owned(),
                    enabled: policy.allows(&spec),
                }
            })
            .collect();
        self.reply(
            client,
            Outbound::ToolsListResult(ToolsListResult { tools, request_id: request.request_id }),
        );
    }

    fn on_diag(&mut self, client: ClientId, request_id: Option<String>) {
        let check = |id: &str, ok, text: String, fix: Option<&str>| DiagCheck {
            id: id.to_owned(),
            ok,
            text,
            fix: fix.map(str::to_owned),
        };
        let mut checks = vec![check("host", true, format!("host {}", env!("CARGO_PKG_VERSION")), None)];
        match &*self.backend.status().borrow() {
            BackendStatus::Starting => {
                checks.push(check("cli", false, "the Copilot CLI is starting".to_owned(), None))
            }
            BackendStatus::Ready { version, auth } => {
                checks.push(check("cli", true, format!("Copilot CLI {version}"), None));
                let signed_in = matches!(auth, AuthState::Ready { .. });
                let status = auth_status(auth);
                checks.push(check(
                    "auth",
                    signed_in,
                    status.detail.unwrap_or(status.state),
                    (!signed_in).then_some("browy login"),
                ));
            }
            BackendStatus::Failed(error) => checks.push(check("cli", false, error.to_string(), None)),
        }
        checks.push(check("log", true, self.paths.log().display().to_string(), None));
        self.reply(client, Outbound::DiagResult(DiagResult { checks, request_id }));
    }

    /// The model for new prompts.
    pub(super) fn model(&self) -> String {
        self.settings.config.model.clone().unwrap_or_else(|| self.backend.current_model())
    }

    /// Tells a client how the backend is, and once it is up which models there are.
    pub(super) fn tell_status(&mut self, client: ClientId, status: &BackendStatus) {
        let (auth, sdk) = match status {
            BackendStatus::Starting => (auth_status(&AuthState::Unknown), None),
            BackendStatus::Ready { auth, .. } => {
                (auth_status(auth), Some(SdkReady { ok: true, detail: None }))
            }
            BackendStatus::Failed(error) => (
                auth_status(&AuthState::Unknown),
                Some(SdkReady { ok: false, detail: Some(error.to_string()) }),
            ),
        };
        let up = sdk.as_ref().is_some_and(|sdk| sdk.ok);
        self.reply(client, Outbound::AuthStatus(auth));
        if let Some(sdk) = sdk {
            self.reply(client, Outbound::SdkReady(sdk));
        }
        self.reply(client, Outbound::ModelsCurrent(ModelsCurrent { id: self.model(), request_id: None }));
        if up {
            self.on_models_list(client, None);
        }
    }
}

pub(super) fn auth_status(auth: &AuthState) -> AuthStatus {
    let (state, detail) = match auth {
        AuthState::Ready { detail } => ("ready", detail.clone()),
        AuthState::Unauthenticated { detail } => ("unauth", detail.clone()),
        AuthState::Unknown => ("unknown", None),
    };
    AuthStatus { state: state.to_owned(), detail, request_id: None }
}

fn models_list(models: Result<Vec<crate::agent::Model>, AgentError>, request_id: Option<String>) -> Outbound {
    // Nobody signed in means no models; `auth.status` says why.
    let models = models
        .unwrap_or_default()
        .into_iter()
        .map(|model| ModelInfo {
            id: model.id,
            name: model.name,
            vendor: model.vendor,
            multiplier: model.multiplier,
            context_window: model.context_window,
            reasoning_efforts: model.reasoning_efforts,
        })
        .collect();
    Outbound::ModelsList(ModelsList { models, request_id })
}

/// The page of a transcript that ends before `request.before`. The cursor is the number of lines
/// before the page.
fn history_page(entries: Vec<Entry>, request: ChatHistory) -> ChatHistoryResult {
    let end = request
        .before
        .and_then(|cursor| cursor.parse::<usize>().ok())
        .unwrap_or(usize::MAX)
        .min(entries.len());
    let limit = request.limit.map_or(HISTORY_PAGE, |limit| limit as usize).clamp(1, HISTORY_PAGE);
    let start = end.saturating_sub(limit);
    ChatHistoryResult {
        id: request.id,
        messages: entries.into_iter().take(end).skip(start).map(history_message).collect(),
        cursor: (start > 0).then(|| start.to_string()),
        has_more: Some(start > 0),
        request_id: request.request_id,
    }
}

fn history_message(entry: Entry) -> HistoryMessage {
    match entry {
        Entry::User { text, timestamp } => HistoryMessage::User { text, timestamp },
        Entry::Assistant { text, timestamp } => HistoryMessage::Assistant { text, timestamp },
        Entry::Tool { name, ok, summary, timestamp } => HistoryMessage::Tool { name, ok, summary, timestamp },
    }
}

fn exposure(exposure: Exposure) -> &'static str {
    match exposure {
        Exposure::Always => "always",
        Exposure::DefaultOn => "default_on",
        Exposure::DefaultOff => "default_off",
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "read_only",
        Effect::ChangesPage => "changes_page",
        Effect::ChangesBrowser => "changes_browser",
        Effect::ReachesComputer => "reaches_computer",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transcript_pages_lead_back_to_the_beginning() {
        let entries: Vec<Entry> =
            (0..5).map(|index| Entry::User { text: index.to_string(), timestamp: None }).collect();
        let request = |before: Option<&str>| ChatHistory {
            id: "sp-1".into(),
            before: before.map(str::to_owned),
            limit: Some(2),
            request_id: None,
        };
        let mut before = None;
        let mut seen = Vec::new();
        loop {
            let page = history_page(entries.clone(), request(before.as_deref()));
            seen.splice(0..0, page.messages.clone());
            assert_eq!(page.has_more, Some(page.cursor.is_some()));
            before = page.cursor;
            if before.is_none() {
                break;
            }
        }
        assert_eq!(seen, entries.into_iter().map(history_message).collect::<Vec<_>>());
    }
}
