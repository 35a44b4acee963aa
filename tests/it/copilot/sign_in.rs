//! Somebody signs in while the CLI runs.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use browy::agent::copilot::Environment;
use browy::agent::{AgentError, AuthState, BackendStatus, Ending};
use browy::config::Config;
use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::support::copilot::*;

/// As much of GitHub as a sign-in and a short answer need. One token is good at a time.
struct GitHub {
    url: String,
    good: Arc<Mutex<String>>,
    /// The end of a path that is refused, and how.
    refuses: Arc<Mutex<Option<(&'static str, u16)>>>,
    _tasks: JoinSet<()>,
}

const TOKEN: &str = "gho_0123456789abcdefghijklmnopqrstuvwxyz";
const OTHER_TOKEN: &str = "gho_9876543210abcdefghijklmnopqrstuvwxyz";

impl GitHub {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (base, good) = (url.clone(), Arc::new(Mutex::new(TOKEN.to_owned())));
        let refuses = Arc::new(Mutex::new(None));
        let (known, refused) = (Arc::clone(&good), Arc::clone(&refuses));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                let (base, known, refused) = (base.clone(), Arc::clone(&known), Arc::clone(&refused));
                let serve = service_fn(move |request| {
                    let answer = answer(&request, &base, &known.lock().unwrap(), *refused.lock().unwrap());
                    async { Ok::<_, Infallible>(answer) }
                });
                let connection =
                    hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), serve);
                connections.spawn(async { drop(connection.await) });
            }
        });
        Self { url, good, refuses, _tasks: tasks }
    }

    fn env(&self, home: &Home) -> Environment {
        home.env().with("COPILOT_DEBUG_GITHUB_API_URL", &self.url).with("COPILOT_API_URL", &self.url)
    }
}

fn answer(
    request: &Request<Incoming>,
    base: &str,
    good: &str,
    refuses: Option<(&str, u16)>,
) -> Response<Full<Bytes>> {
    let known =
        request.headers().get("authorization").is_some_and(|value| value.to_str().unwrap().contains(good));
    let refused = refuses.filter(|(end, _)| request.uri().path().ends_with(end)).map(|(_, status)| status);
    let (status, body) = match request.uri().path() {
        _ if refused.is_some() => {
            let status = refused.and_then(|status| StatusCode::from_u16(status).ok()).unwrap();
            (status, json!({ "message": "github's own words" }))
        }
        _ if !known => (StatusCode::UNAUTHORIZED, json!({ "message": "Bad credentials" })),
        path if path.ends_with("/copilot_internal/user") => {
            let user = json!({
                "login": "probe", "access_type_sku": "monthly_subscriber", "copilot_plan": "individual_pro",
                "chat_enabled": true, "cli_enabled": true, "organization_list": [],
                "endpoints": { "api": base, "telemetry": base, "proxy": base, "origin-tracker": base },
            });
            (StatusCode::OK, user)
        }
        path if path.ends_with("/user") => {
            (StatusCode::OK, json!({ "login": "probe", "id": 1, "type": "User" }))
        }
        path if path.ends_with("/models") => (StatusCode::OK, json!({ "data": [model()], "object": "list" })),
        path if path.ends_with("/chat/completions") => {
            let piece = |delta, finish: Option<&str>| {
                let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
                let chunk = json!({ "id": "1", "object": "chat.completion.chunk", "model": "m-1", "choices": [choice] });
                format!("data: {chunk}\n\n")
            };
            let said = piece(json!({ "role": "assistant", "content": "signed in" }), None);
            let body = said + &piece(json!({}), Some("stop")) + "data: [DONE]\n\n";
            return Response::builder()
                .header("Content-Type", "text/event-stream")
                .body(body.into())
                .unwrap();
        }
        _ => (StatusCode::NOT_FOUND, json!({})),
    };
    Response::builder()
        .status(status)
        .header("Content-Type", "application/json")
        .body(body.to_string().into())
        .unwrap()
}

fn model() -> Value {
    json!({
        "id": "m-1", "name": "M 1", "object": "model", "vendor": "OpenAI", "version": "m-1", "preview": false,
        "model_picker_enabled": true, "is_chat_default": true, "is_chat_fallback": true,
        "policy": { "state": "enabled", "terms": "" }, "billing": { "is_premium": true, "multiplier": 1 },
        "supported_endpoints": ["/chat/completions"],
        "capabilities": {
            "family": "m-1", "type": "chat", "object": "model_capabilities", "tokenizer": "o200k_base",
            "limits": {
                "max_context_window_tokens": 128_000, "max_output_tokens": 16_384, "max_prompt_tokens": 128_000,
            },
            "supports": { "streaming": true, "tool_calls": true, "parallel_tool_calls": true, "vision": false },
        },
    })
}

/// What `copilot login` leaves behind where there is no keychain (1.0.102).
fn sign_in(home: &Home, token: &str) {
    let user = json!({ "host": "https://github.com", "login": "probe", "kind": "githubDotCom" });
    let config = json!({
        "authTokens": {
            "https://github.com:probe:github": { "token": token },
            "https://github.com:probe": { "token": token },
        },
        "loggedInUsers": [user],
        "lastLoggedInUser": user,
    });
    let folder = home.path().join("copilot");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_who_signs_in_while_the_cli_runs_is_known_at_the_next_question_and_prompt() {
    let (home, github) = (Home::new().await, GitHub::start().await);
    let backend = home.start_in(github.env(&home), Config::default());
    ready(&backend).await;
    assert!(matches!(backend.auth().await, Ok(AuthState::Unauthenticated { .. })));
    let refused = backend.prompt(chat("sp-1", &[]), prompt("hello")).await.err();
    assert!(matches!(&refused, Some(AgentError::Auth(text)) if text.contains("browy login")), "{refused:?}");

    sign_in(&home, TOKEN);
    assert_eq!(backend.auth().await, Ok(AuthState::Ready { detail: Some("probe".into()) }));
    let status = backend.status().borrow().clone();
    assert!(matches!(status, BackendStatus::Ready { auth: AuthState::Ready { .. }, .. }), "{status:?}");
    let mut wanted = chat("sp-1", &[]);
    wanted.model = Some("m-1".into());
    let outcome = finish(backend.prompt(wanted.clone(), prompt("hello")).await.unwrap()).await;
    assert_eq!(outcome.messages, ["signed in"], "{:?}", outcome.ending);

    // The token is good no more; the person signs in again and sends the message again.
    *github.good.lock().unwrap() = OTHER_TOKEN.to_owned();
    let ending = finish(backend.prompt(wanted.clone(), prompt("hello")).await.unwrap()).await.ending;
    assert!(matches!(&ending, Ending::Failed(AgentError::Auth(_))), "{ending:?}");
    sign_in(&home, OTHER_TOKEN);
    let outcome = finish(backend.prompt(wanted, prompt("hello")).await.unwrap()).await;
    assert_eq!(outcome.messages, ["signed in"], "{:?}", outcome.ending);
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn account_that_is_not_served_is_told_why_and_works_once_it_is() {
    let (home, github) = (Home::new().await, GitHub::start().await);
    sign_in(&home, TOKEN);
    let refuse = |what| *github.refuses.lock().unwrap() = what;
    let (account, answer) = ("/copilot_internal/user", "/chat/completions");
    let mut wanted = chat("sp-1", &[]);
    wanted.model = Some("m-1".into());
    refuse(Some((account, 403)));
    let backend = home.start_in(github.env(&home), Config::default());
    ready(&backend).await;
    for (path, status, code, advice) in [
        (account, 403, "no license", "settings/copilot"),
        (account, 429, "rate limit", "Wait a little"),
        (account, 402, "quota", "renewal"),
        (account, 500, "offline", "later"),
        (account, 401, "auth", "browy login"),
        (answer, 402, "quota", "another model"),
        (answer, 403, "no license", "another one"),
    ] {
        refuse(Some((path, status)));
        let error = match backend.prompt(wanted.clone(), prompt("hello")).await {
            Err(error) => error,
            Ok(turn) => match finish(turn).await.ending {
                Ending::Failed(error) => error,
                other => panic!("{path} {status}: {other:?}"),
            },
        };
        let found = match &error {
            AgentError::Auth(_) => "auth",
            AgentError::NoLicense(_) => "no license",
            AgentError::Quota(_) => "quota",
            AgentError::RateLimit(_) => "rate limit",
            AgentError::Offline(_) => "offline",
            _ => "something else",
        };
        assert_eq!(found, code, "{path} {status}: {error:?}");
        assert!(error.to_string().contains(advice), "{path} {status}: {error}");
        if path == account {
            let seen = backend.status().borrow().clone();
            assert!(
                matches!(&seen, BackendStatus::Ready { auth: AuthState::Refused { why }, .. } if *why == error),
                "{path} {status}: {seen:?}"
            );
        }
    }
    refuse(None);
    let outcome = finish(backend.prompt(wanted.clone(), prompt("hello")).await.unwrap()).await;
    assert_eq!(outcome.messages, ["signed in"], "{:?}", outcome.ending);
    backend.shutdown(Duration::from_secs(1)).await;

    // Without a network nobody can be looked up, and that is no missing sign-in.
    let nowhere = "http://127.0.0.1:9";
    let env = home.env().with("COPILOT_DEBUG_GITHUB_API_URL", nowhere).with("COPILOT_API_URL", nowhere);
    let backend = home.start_in(env, Config::default());
    let error = backend.prompt(wanted, prompt("hello")).await.err();
    assert!(matches!(&error, Some(AgentError::Offline(text)) if text.contains("network")), "{error:?}");
    backend.shutdown(Duration::from_secs(1)).await;
}
