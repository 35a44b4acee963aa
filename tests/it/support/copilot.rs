//! The real Copilot CLI in a home of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use browy::agent::ToolReply;
use browy::agent::copilot::{CopilotBackend, Environment};
use browy::agent::{
    AgentBackend, AgentEvent, AgentTurn, BackendStatus, ChatSpec, Ending, Prompt, ToolDefinition,
};
use browy::config::{Config, Provider};
use browy::paths::Paths;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::OnceCell;

/// Longest wait for anything; a machine under load included.
const PATIENCE: Duration = Duration::from_secs(60);

/// npm's package of the CLI: `BROWY_COPILOT_CLI`, or what `tests/run` installs.
pub fn cli_package() -> PathBuf {
    let package = std::env::var_os("BROWY_COPILOT_CLI").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node/node_modules/@github/copilot"),
        PathBuf::from,
    );
    assert!(
        package.exists(),
        "no Copilot CLI at {}: run tests/run, or set BROWY_COPILOT_CLI to the folder node_modules/@github/copilot",
        package.display()
    );
    package.canonicalize().unwrap()
}

/// npm's start script of the CLI.
pub fn cli_launcher() -> PathBuf {
    let package = cli_package();
    if package.is_dir() { package.join("npm-loader.js") } else { package }
}

/// A temporary home for the CLI and for Browy.
pub struct Home {
    temp: TempDir,
    cache: PathBuf,
    cli: PathBuf,
}

impl Home {
    /// A home in which the light runtime is used if it is there, which it is after the first run.
    pub async fn new() -> Self {
        static UNPACKED: OnceCell<()> = OnceCell::const_new();
        UNPACKED
            .get_or_init(|| async {
                let home = Self::full();
                let backend = home.start(Config::default());
                ready(&backend).await;
                backend.shutdown(Duration::from_secs(1)).await;
            })
            .await;
        Self::with_cli(cli_launcher())
    }

    /// A home in which the full CLI is used: a script has no version, so no light runtime belongs to it.
    pub fn full() -> Self {
        let home = Self::with_cli(PathBuf::new());
        let platform = cli_package().parent().unwrap().join(format!("copilot-{}", platform()));
        let script = format!("exec '{}' \"$@\"", platform.join("copilot").display());
        home.with_script(&script)
    }

    /// A home in which the CLI is a shell script.
    pub fn scripted(script: &str) -> Self {
        Self::with_cli(PathBuf::new()).with_script(script)
    }

    fn with_script(mut self, script: &str) -> Self {
        self.cli = self.put_program("cli", script);
        self
    }

    fn with_cli(cli: PathBuf) -> Self {
        let temp = TempDir::new().unwrap();
        // 235 MB are unpacked once for all tests.
        let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("copilot-cache");
        Self { temp, cache, cli }
    }

    /// Uses another package cache.
    pub fn with_cache(mut self, cache: PathBuf) -> Self {
        self.cache = cache;
        self
    }

    /// Where the CLI unpacks itself.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    pub fn path(&self) -> &Path {
        self.temp.path()
    }

    /// Writes an executable shell script.
    pub fn put_program(&self, name: &str, script: &str) -> PathBuf {
        let path = self.path().join(name);
        put_program(&path, script);
        path
    }

    pub fn env(&self) -> Environment {
        let own = |name: &str| std::env::var_os(name).unwrap_or_default();
        Environment::default()
            .with("PATH", own("PATH"))
            .with("HOME", self.path())
            .with("COPILOT_HOME", self.path().join("copilot"))
            .with("XDG_CACHE_HOME", self.path().join("cache"))
            .with("COPILOT_PKG_CACHE_HOME", &self.cache)
            .with("COPILOT_CLI_PATH", &self.cli)
            .with("TMPDIR", self.path())
    }

    pub fn start(&self, config: Config) -> Arc<dyn AgentBackend> {
        self.start_in(self.env(), config)
    }

    pub fn start_in(&self, env: Environment, config: Config) -> Arc<dyn AgentBackend> {
        let guard = PathBuf::from(env!("CARGO_BIN_EXE_browy"));
        CopilotBackend::start_in(Paths::below(self.path()), config, env, Some(guard))
    }
}

/// Writes an executable shell script.
pub fn put_program(path: &Path, script: &str) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    // Written elsewhere first: a program that is still open for writing cannot be started.
    let draft = path.with_extension("draft");
    std::fs::write(&draft, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&draft, std::fs::Permissions::from_mode(0o755)).unwrap();
    std::fs::rename(&draft, path).unwrap();
}

pub fn platform() -> String {
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let os = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    format!("{os}-{arch}")
}

/// Waits until the backend is ready; gives the CLI's version.
pub async fn ready(backend: &Arc<dyn AgentBackend>) -> String {
    let mut status = backend.status();
    let wait = status.wait_for(|status| !matches!(status, BackendStatus::Starting));
    let status = tokio::time::timeout(PATIENCE, wait).await.expect("starts in time").unwrap().clone();
    match status {
        BackendStatus::Ready { version, .. } => version,
        other => panic!("not ready: {other:?}"),
    }
}

/// Settings with the scripted model.
pub fn with_model(url: &str) -> Config {
    let provider = Provider {
        base_url: url.to_owned(),
        model: "mock-1".into(),
        api_key: Some("k".into()),
        ..Provider::default()
    };
    Config { provider: Some(provider), ..Config::default() }
}

pub fn tool(name: &str) -> ToolDefinition {
    let parameters = json!({"type": "object", "properties": {"x": {"type": "string", "description": "x"}}});
    ToolDefinition { name: name.into(), description: format!("Does {name}."), parameters }
}

pub fn chat(id: &str, tools: &[&str]) -> ChatSpec {
    ChatSpec {
        id: id.into(),
        system_message: "You are Browy. Answer briefly.".into(),
        tools: tools.iter().map(|name| tool(name)).collect(),
        builtin_tools: Vec::new(),
        model: None,
        reasoning_effort: None,
    }
}

pub fn prompt(text: &str) -> Prompt {
    Prompt { text: text.into(), display: text.into(), images: Vec::new() }
}

pub fn done(text: impl Into<String>) -> ToolReply {
    ToolReply { text: text.into(), ok: true, images: Vec::new() }
}

/// The next event.
pub async fn next(turn: &mut AgentTurn) -> AgentEvent {
    tokio::time::timeout(PATIENCE, turn.events.recv())
        .await
        .expect("an event comes in time")
        .expect("a last event")
}

/// Waits for the first event that the function takes.
pub async fn until<T>(turn: &mut AgentTurn, mut take: impl FnMut(&AgentEvent) -> Option<T>) -> T {
    loop {
        let event = next(turn).await;
        if let Some(found) = take(&event) {
            return found;
        }
        assert!(!matches!(event, AgentEvent::Ended(_)), "the turn ended first: {event:?}");
    }
}

/// The next tool call: id, name, arguments.
pub async fn tool_call(turn: &mut AgentTurn) -> (String, String, Value) {
    until(turn, |event| match event {
        AgentEvent::ToolCall { id, name, args } => Some((id.clone(), name.clone(), args.clone())),
        _ => None,
    })
    .await
}

/// What a whole turn gave.
#[derive(Debug)]
pub struct Outcome {
    pub deltas: Vec<String>,
    pub messages: Vec<String>,
    pub events: Vec<AgentEvent>,
    pub ending: Ending,
}

/// Runs the turn to its end and answers every tool call by the function.
pub async fn finish_with(mut turn: AgentTurn, answer: impl Fn(&str, &Value) -> ToolReply) -> Outcome {
    let (mut deltas, mut messages, mut events) = (Vec::<(String, String)>::new(), Vec::new(), Vec::new());
    loop {
        let event = next(&mut turn).await;
        match &event {
            AgentEvent::TextDelta { message_id, text } => deltas.push((message_id.clone(), text.clone())),
            // What was shown of it is void, as a panel has it too.
            AgentEvent::Discard { message_id } => deltas.retain(|(of, _)| of != message_id),
            AgentEvent::Message { text, .. } => messages.push(text.clone()),
            AgentEvent::ToolCall { id, name, args } => turn.control.answer(id, answer(name, args)).await,
            AgentEvent::Ended(ending) => {
                let deltas = deltas.into_iter().map(|(_, text)| text).collect();
                return Outcome { deltas, messages, events, ending: ending.clone() };
            }
            _ => {}
        }
        events.push(event);
    }
}

/// Runs the turn to its end; tools answer "done".
pub async fn finish(turn: AgentTurn) -> Outcome {
    finish_with(turn, |_, _| done("done")).await
}

/// Adds a variable that marks every process of one test; gives it as it stands in `environ`.
pub fn marked(env: Environment) -> (String, Environment) {
    let value = uuid::Uuid::new_v4().to_string();
    // The CLI gets only variables of known names; this beginning is one of them.
    (format!("COPILOT_BROWY_TEST_RUN={value}"), env.with("COPILOT_BROWY_TEST_RUN", value))
}

/// Every living process with the mark.
pub fn marked_processes(mark: &str) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut pids: Vec<i32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|var| var == mark.as_bytes())
        })
        .collect();
    pids.sort_unstable();
    pids
}

/// Waits until no process with the mark is left.
pub async fn gone(mark: &str) {
    let wait = async {
        while !marked_processes(mark).is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(20), wait).await;
    assert!(waited.is_ok(), "left: {:?}", marked_processes(mark));
}
