//! Who is signed in.

use std::time::Duration;

use serde_json::json;

use super::client::{CallError, Client};
use super::errors;
use super::wire::{AuthStatus, CurrentAuth};
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
    if status.is_authenticated {
        return Ok(AuthState::Ready { detail: status.login });
    }
    // For `auth.getStatus` somebody whom GitHub refuses, or who cannot be looked up, is nobody.
    let current = client.call::<CurrentAuth>("account.getCurrentAuth", &json!({}), LIMIT).await;
    let why = current.unwrap_or_default().auth_errors.into_iter().next();
    Ok(match why {
        Some(why) => AuthState::Refused { why: errors::of_sign_in(&why) },
        None => AuthState::Unauthenticated { detail: status.status_message },
    })
}
