//! Native-messaging mode: what a browser starts when the extension connects.
//!
//! Frames go over stdin and stdout. The process ends when the browser closes the port; nothing it
//! started outlives it.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::agent::copilot::CopilotBackend;
use crate::agent::unusable::Unusable;
use crate::agent::{AgentBackend, AgentError};
use crate::config::Config;
use crate::paths::Paths;
use crate::runner::Runner;
use crate::transport::link;
use crate::transport::stdio::Stdio;

/// How a browser names the caller: the first argument, and on Linux the only one.
pub const ORIGIN_PREFIX: &str = "chrome-extension://";

/// Exit code for an extension that is not trusted.
const UNTRUSTED: u8 = 3;

/// Chrome kills a host 2 s after it closed the port; everything is over in half of that.
const RUNNER_GRACE: Duration = Duration::from_millis(250);
const BACKEND_GRACE: Duration = Duration::from_millis(550);

/// Serves the extension at `origin` until the browser closes the port.
pub fn run(origin: &str) -> ExitCode {
    let paths = match Paths::of_user() {
        Ok(paths) => paths,
        Err(error) => {
            eprintln!("browy: {error}");
            return ExitCode::FAILURE;
        }
    };
    // Stops a wrong extension, not malware of the same user, who can pass any argument.
    if !super::origins::trusted_origins(&paths).iter().any(|trusted| trusted == origin) {
        eprintln!("browy: {origin} is not a trusted extension; add it with `browy install-host --ext-id ID`");
        return ExitCode::from(UNTRUSTED);
    }
    if std::io::stdin().is_terminal() {
        eprintln!("browy: this is how a browser starts Browy. In a terminal try `browy --help`.");
        return ExitCode::from(2);
    }
    harden();
    let _log = crate::logging::start(&paths);
    let runtime = match tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("browy: cannot start: {error}");
            return ExitCode::FAILURE;
        }
    };
    let served = runtime.block_on(serve(paths));
    // Blocking work that is still under way must not hold the process.
    runtime.shutdown_background();
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the host could not serve");
            ExitCode::FAILURE
        }
    }
}

/// What this process writes is its owner's only, and a crash leaves no memory image behind: both may
/// hold what a person typed.
#[cfg(unix)]
fn harden() {
    use rustix::process::{Resource, Rlimit, setrlimit, umask};
    umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // Not 0: the kernel still hands the memory to a program that collects crashes then. With 1 it does neither.
    // Fails only where a limit is already lower.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(1), maximum: Some(1) });
}

/// The system keeps other users out of a profile; there is no mask to set.
#[cfg(not(unix))]
fn harden() {}

async fn serve(paths: Paths) -> std::io::Result<()> {
    let (inbox, outbox, tasks) = link::open(Box::new(Stdio::open()?));
    tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "host started");
    let (backend, config) = backend(&paths);
    let (runner, handle) = Runner::new(Arc::clone(&backend), paths, config);
    let stop = CancellationToken::new();
    let mut running = JoinSet::new();
    running.spawn(runner.run(stop.clone()));
    tokio::select! {
        () = handle.serve(inbox, outbox, tasks) => tracing::info!("the browser closed the port"),
        () = told_to_stop() => tracing::info!("told to stop"),
    }
    stop.cancel();
    let _ = tokio::time::timeout(RUNNER_GRACE, running.join_next()).await;
    backend.shutdown(BACKEND_GRACE).await;
    tracing::info!("host ended");
    Ok(())
}

/// The Copilot CLI as the settings say. Settings that cannot be read are no reason to guess: pages would go
/// to another model than the person chose.
fn backend(paths: &Paths) -> (Arc<dyn AgentBackend>, Config) {
    match Config::load(paths) {
        Ok(config) => (CopilotBackend::start(paths.clone(), config.clone()), config),
        Err(error) => {
            tracing::error!(%error, "the settings cannot be used");
            let why = format!("{error}. Correct it, then close and open the panel.");
            (Arc::new(Unusable::new(AgentError::CliFailed(why))), Config::default())
        }
    }
}

/// Resolves when the system asks this process to end.
#[cfg(unix)]
async fn told_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let mut signals: Vec<_> = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()]
        .into_iter()
        .filter_map(|kind| signal(kind).ok())
        .collect();
    if signals.is_empty() {
        std::future::pending::<()>().await;
    }
    let waits = signals.iter_mut().map(|signal| Box::pin(signal.recv()));
    futures::future::select_all(waits).await;
}

/// Resolves when the system asks this process to end.
#[cfg(not(unix))]
async fn told_to_stop() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
