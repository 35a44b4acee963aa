//! Who is signed in.

use std::time::Duration;

use serde_json::json;

use super::client::{CallError, Client};
use super::wire::AuthStatus;
use crate::agent::AuthState;
use crate::config::Config;

/// With a token and a network that swallows packets this takes 20 s (measured).
const LIMIT: Duration = Duration::from_secs(25);

/// An own provider needs no sign-in.
pub fn of_provider(config: &Config) -> Option<AuthState> {
    let provider = config.provider.as_ref()?;
    Some(AuthState::Ready { detail: Some(format!("own model provider at {}", provider.base_url)) })
}

/// Asks the CLI.
///
/// # Errors
/// [`CallError`].
pub async fn ask(client: &Client) -> Result<AuthState, CallError> {
    let status: AuthStatus = client.call("auth.getStatus", &json!({}), LIMIT).await?;
    Ok(if status.is_authenticated {
        AuthState::Ready { detail: status.login }
    } else {
        AuthState::Unauthenticated { detail: status.status_message }
    })
}
