//! Requests that belong to no turn: models, stored chats, tools, settings, checks.

use std::sync::Arc;

use super::cli_tools::{CLI_TOOLS, switched_on};
use super::client::ClientId;
use super::{MAX_UNREAD, Runner, failed, history};
use crate::agent::{AgentBackend, AgentError, AuthState, BackendStatus};
use crate::protocol::{
    AuthStatus, ChatHistory, DiagCheck, DiagResult, ErrorCode, Inbound, ModelInfo, ModelsCurrent, ModelsList,
    Outbound, SdkReady, ToolInfo, ToolsListRequest, ToolsListResult,
};
use crate::tools::policy::ToolPolicy;
use crate::tools::{Effect, Exposure};

/// What `tools.list` calls the CLI's own tools.
const CLI_CATEGORY: &str = "cli";

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
            Inbound::HistoryClear(cleared) => self.on_history_clear(cleared.session_id),
            Inbound::ChatRename(rename) => self.on_chat_rename(client, rename),
            Inbound::ToolsList(request) => self.on_tools_list(client, request),
            Inbound::ProviderGet(request) => self.on_provider_get(client, request.request_id),
            Inbound::ProviderSet(set) => self.on_provider_set(client, set),
            Inbound::ProviderTest(request) => self.on_provider_test(client, request.request_id),
            Inbound::DiagRun(request) => self.on_diag(client, request.request_id),
            Inbound::DataList(request) => self.on_data_list(client, request.request_id),
            Inbound::DataDelete(wanted) => self.on_data_delete(client, wanted),
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
        let (id, (before, limit)) = (request.id.0.clone(), history::wanted(&request));
        self.ask_backend(
            client,
            move |backend| async move { backend.history(&id, before, limit).await },
            |lines| match lines {
                Ok(lines) => Outbound::ChatHistoryResult(history::page(lines, request)),
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
        let mut tools: Vec<_> = crate::tools::all()
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
        tools.extend(cli_tools(&policy));
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
        // Another account may help.
        AuthState::Refused { why: why @ (AgentError::Auth(_) | AgentError::NoLicense(_)) } => {
            ("unauth", Some(why.to_string()))
        }
        AuthState::Refused { why } => ("unknown", Some(why.to_string())),
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

/// The CLI's own tools that a person may switch on.
fn cli_tools(policy: &ToolPolicy) -> impl Iterator<Item = ToolInfo> {
    CLI_TOOLS.iter().filter(|tool| !tool.switches.is_empty()).map(|tool| ToolInfo {
        name: tool.name.to_owned(),
        title: tool.title.to_owned(),
        description: "A tool of the Copilot CLI: it works on this computer and asks before each use."
            .to_owned(),
        category: CLI_CATEGORY.to_owned(),
        exposure: exposure(Exposure::DefaultOff).to_owned(),
        effect: effect(Effect::ReachesComputer).to_owned(),
        enabled: switched_on(policy).any(|on| on.name == tool.name),
    })
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
