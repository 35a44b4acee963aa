//! Which models there are.

use std::time::Duration;

use serde_json::json;

use super::client::Client;
use super::{errors, wire};
use crate::agent::{AgentError, AuthState, Model};
use crate::config::{Config, Provider};

/// With a token and a network that swallows packets this takes 10 s (measured).
const LIMIT: Duration = Duration::from_secs(30);

/// An own provider offers exactly its own model.
pub fn of_provider(provider: &Provider) -> Model {
    Model { id: provider.model.clone(), name: provider.model.clone(), ..Model::default() }
}

/// Asks the CLI.
///
/// # Errors
/// [`AgentError::Auth`] when nobody is signed in, else what went wrong.
pub async fn list(client: &Client) -> Result<Vec<Model>, AgentError> {
    let listed = client.call::<wire::ModelList>("models.list", &json!({}), LIMIT).await;
    match listed {
        Ok(list) => Ok(list
            .models
            .into_iter()
            .filter(|model| {
                model.policy.as_ref().and_then(|policy| policy.state.as_deref()) != Some("disabled")
            })
            .map(|model| Model {
                name: model.name.unwrap_or_else(|| model.id.clone()),
                id: model.id,
                vendor: model.vendor,
                multiplier: model.billing.and_then(|billing| billing.multiplier),
                context_window: model
                    .capabilities
                    .and_then(|capabilities| capabilities.limits)
                    .and_then(|limits| limits.max_context_window_tokens),
                reasoning_efforts: model.supported_reasoning_efforts,
            })
            .collect()),
        Err(error) => {
            // The CLI has no code of its own for this; ask it instead of reading its prose.
            if let Ok(AuthState::Unauthenticated { .. } | AuthState::Refused { .. }) =
                super::auth::ask(client).await
            {
                return Err(AgentError::Auth(format!(
                    "Nobody is signed in to GitHub Copilot, so there is no list of models. {}",
                    errors::SIGN_IN
                )));
            }
            Err(errors::of_call(&error, "Listing the models"))
        }
    }
}

/// The model that a chat uses: an own provider has one, else the panel's choice, else the setting's.
pub fn choose<'a>(config: &'a Config, chosen: Option<&'a str>) -> Option<&'a str> {
    match &config.provider {
        Some(provider) => Some(&provider.model),
        None => chosen.or(config.model.as_deref()),
    }
}
