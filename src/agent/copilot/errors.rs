//! Failures of the model side, told apart by the CLI's codes and put into words that say what to do.

use super::client::CallError;
use super::event::Failure;
use crate::agent::AgentError;
use crate::config::Provider;

/// What a failed call means to the person.
pub fn of_call(error: &CallError, what: &str) -> AgentError {
    match error {
        CallError::Closed => AgentError::Interrupted(format!(
            "{what} failed: the Copilot CLI went away. Try again; it is started anew."
        )),
        CallError::Timeout { .. } => AgentError::Timeout(format!(
            "{what} failed: {error}. Check the network, then try again; the CLI is replaced if it hangs."
        )),
        CallError::Refused { .. } => AgentError::CliFailed(format!("{what} failed: {error}.")),
        CallError::Malformed { .. } => AgentError::Protocol(format!(
            "{what} failed: {error}. The installed CLI may be too old or too new for this Browy."
        )),
    }
}

/// What a failed turn means to the person. `unreachable`: the last model call did not get to a server.
///
/// Told apart by code and status only: a page's text that says "403" is no sign-in problem.
pub fn of_turn(failure: &Failure, unreachable: bool, provider: Option<&Provider>) -> AgentError {
    let said = failure.message.trim();
    let said = if said.is_empty() { "no reason given" } else { said };
    let service = match provider {
        Some(provider) => format!("The model provider at {}", provider.base_url),
        None => "GitHub Copilot".to_owned(),
    };
    let kind = failure.error_type.as_str();
    match (kind, failure.status_code) {
        // The CLI speaks of expired credentials, which would have been 401.
        ("authorization", Some(403)) if provider.is_none() => no_license(said),
        ("authentication" | "authorization", _) | (_, Some(401)) => AgentError::Auth(match provider {
            // The CLI speaks of a variable that Browy does not use.
            Some(_) => format!(
                "{service} refused the key. Correct `api_key` in ~/.browy/config.toml, then close and open the panel."
            ),
            None => format!("{service} refused the sign-in: {said} {SIGN_IN}"),
        }),
        ("quota", _) | (_, Some(402)) => AgentError::Quota(format!(
            "{service}: the allowance is used up: {said} Wait for its renewal, or choose another model."
        )),
        (_, Some(429)) if failure.error_code.as_deref() == Some("quota_exceeded") => {
            AgentError::Quota(format!(
                "{service}: the allowance is used up: {said} Wait for its renewal, or choose another model."
            ))
        }
        ("rate_limit", _) | (_, Some(429)) => too_fast(&service, said),
        ("context_limit", _) => AgentError::Model(format!(
            "The chat is too long for the model: {said} Start a new chat, or choose a model with a larger window."
        )),
        ("policy", _) | (_, Some(403)) => AgentError::Model(format!(
            "{service} does not allow this: {said} Choose another model, or ask whoever manages the account."
        )),
        (_, None) if unreachable => AgentError::Offline(format!(
            "{service} cannot be reached: {said} Check the network, then send the message again."
        )),
        (_, Some(status)) if status >= 500 => AgentError::Model(format!(
            "{service} failed (status {status}): {said} It was tried several times; try again later."
        )),
        (_, Some(status)) => {
            AgentError::Model(format!("{service} refused the request (status {status}): {said}"))
        }
        (_, None) if said.starts_with(TOO_LONG) => AgentError::Model(format!(
            "The message is longer than the model takes at once: {said} Send less of it, or choose a model with a \
             larger window; the chat itself goes on."
        )),
        (_, None) => AgentError::Model(format!("The model gave no answer: {said}")),
    }
}

/// How the CLI begins when it does not even ask the model (1.0.102); there is no code for it.
const TOO_LONG: &str = "Request exceeds the model's prompt budget";

/// Why somebody who is signed in is not served: one of the CLI's `authErrors`, as in `Failed to fetch OAuth user login
/// (403): GitHub returned: Access denied`, or without a number where GitHub was not reached.
pub fn of_sign_in(error: &str) -> AgentError {
    let status = error.split_once(" (").and_then(|(_, rest)| rest.split_once("): "));
    let status = status.and_then(|(number, said)| Some((number.parse::<u16>().ok()?, said)));
    match status {
        Some((401, said)) => {
            AgentError::Auth(format!("GitHub Copilot refused the sign-in: {} {SIGN_IN}", sentence(said)))
        }
        Some((402, said)) => AgentError::Quota(format!(
            "GitHub Copilot: the allowance is used up: {} Wait for its renewal.",
            sentence(said)
        )),
        Some((403 | 404, said)) => no_license(&sentence(said)),
        Some((429, said)) => too_fast("GitHub Copilot", &sentence(said)),
        Some((status, said)) => AgentError::Offline(format!(
            "GitHub does not say who is signed in (status {status}): {} Try again later.",
            sentence(said)
        )),
        None => AgentError::Offline(format!(
            "GitHub cannot be reached to look up who is signed in: {} Check the network, then send the message again.",
            sentence(error)
        )),
    }
}

fn no_license(said: &str) -> AgentError {
    AgentError::NoLicense(format!(
        "This account may not use GitHub Copilot, or not this model: {said} Look at \
         https://github.com/settings/copilot whether it has Copilot (there is a free plan), ask whoever manages the \
         account, or sign in with another one: run `browy login` in a terminal. An own model provider needs no GitHub \
         account."
    ))
}

fn too_fast(service: &str, said: &str) -> AgentError {
    AgentError::RateLimit(format!(
        "{service} gets requests too fast: {said} Wait a little, then send the message again."
    ))
}

/// With an end, so that a sentence can follow.
fn sentence(text: &str) -> String {
    let text = text.trim();
    if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") }
}

/// The CLI went away in the middle of a turn.
pub fn interrupted(how: &str) -> AgentError {
    AgentError::Interrupted(format!(
        "The Copilot CLI went away in the middle of the answer: {how}. What was shown so far stays; \
         send the message again, the CLI is started anew."
    ))
}

/// How to sign in.
pub const SIGN_IN: &str =
    "Run `browy login` in a terminal (installed at ~/.browy/app/bin/browy), then send the message again.";

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: &str, status: Option<u16>) -> Failure {
        Failure {
            error_type: kind.to_owned(),
            message: "Because 401 403 429.".to_owned(),
            status_code: status,
            error_code: None,
        }
    }

    #[test]
    fn code_and_status_decide_and_words_do_not() {
        let of = |kind, status| of_turn(&failure(kind, status), false, None);
        assert!(matches!(of("authentication", None), AgentError::Auth(_)));
        assert!(matches!(of("query", Some(401)), AgentError::Auth(_)));
        assert!(matches!(of("query", Some(402)), AgentError::Quota(_)));
        assert!(matches!(of("rate_limit", None), AgentError::RateLimit(_)));
        assert!(matches!(of("query", Some(429)), AgentError::RateLimit(_)));
        assert!(matches!(of("authorization", Some(403)), AgentError::NoLicense(_)));
        assert!(matches!(of("quota", Some(403)), AgentError::Quota(_)));
        assert!(matches!(of("query", Some(403)), AgentError::Model(_)));
        assert!(matches!(of("query", Some(500)), AgentError::Model(_)));
        assert!(matches!(of("query", None), AgentError::Model(_)), "the words alone mean nothing");
    }

    #[test]
    fn only_a_call_that_reached_no_server_is_offline() {
        assert!(matches!(of_turn(&failure("query", None), true, None), AgentError::Offline(_)));
        assert!(matches!(of_turn(&failure("query", Some(500)), true, None), AgentError::Model(_)));
    }

    #[test]
    fn sign_in_that_is_not_served_is_told_apart_by_its_status() {
        let of = |status: &str| {
            of_sign_in(&format!(
                "Failed to fetch OAuth user login{status}: GitHub returned: words (403): of it"
            ))
        };
        assert!(matches!(of(" (401)"), AgentError::Auth(text) if text.contains("browy login")));
        assert!(matches!(of(" (402)"), AgentError::Quota(_)));
        assert!(matches!(of(" (403)"), AgentError::NoLicense(text) if text.contains("settings/copilot")));
        assert!(matches!(of(" (404)"), AgentError::NoLicense(_)));
        assert!(matches!(of(" (429)"), AgentError::RateLimit(text) if text.contains("Wait a little")));
        assert!(matches!(of(" (503)"), AgentError::Offline(text) if text.contains("503")));
        let unreached = of_sign_in("Failed to fetch OAuth user login: network fetch failed: refused");
        assert!(matches!(unreached, AgentError::Offline(text) if text.contains("Check the network")));
    }

    #[test]
    fn message_that_is_too_long_is_told_so() {
        let mut failure = failure("query", None);
        failure.message = format!("{TOO_LONG} after reserving output (5 tokens; limit 4).");
        let AgentError::Model(text) = of_turn(&failure, false, None) else { panic!() };
        assert!(text.contains("limit 4") && text.contains("Send less of it"), "{text}");
    }

    #[test]
    fn every_text_says_what_was_said_and_what_to_do() {
        let provider = Provider {
            base_url: "http://127.0.0.1:1/v1".into(),
            model: "m".into(),
            api_key: Some("secret".into()),
            ..Provider::default()
        };
        let text = of_turn(&failure("authentication", Some(401)), false, Some(&provider)).to_string();
        assert!(
            text.contains("127.0.0.1:1") && text.contains("api_key") && !text.contains("secret"),
            "{text}"
        );
        let text = of_turn(&failure("authentication", Some(401)), false, None).to_string();
        assert!(text.contains("browy login"), "{text}");
    }
}
