//! The log: `~/.browseragent/native-host.log`, one event a line, 5 MiB and one old copy.
//!
//! Several hosts write the same file. Nothing that looks like a secret is written, long values are cut, and a
//! disk that is full or read-only ends the log, not the host.

mod file;
mod line;
mod mask;

use std::io::IsTerminal;
use std::panic::PanicHookInfo;

use tracing::Subscriber;
use tracing_appender::non_blocking::{ErrorCounter, NonBlocking, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::paths::Paths;

pub use file::{MAX_BYTES, RotatingFile};
pub use mask::{MASKED, mask};

/// Which events are logged, for example `debug`, `off` or `browy::runner=trace`; `info` for all that is not named.
pub const LEVEL_VARIABLE: &str = "BROWY_LOG";

/// When this is set, the log also goes to stderr.
pub const STDERR_VARIABLE: &str = "BROWY_LOG_STDERR";

/// Lines that may wait for the disk; more are dropped and counted, so that logging never holds up a turn.
const WAITING_LINES: usize = 16_384;

/// Keeps the log open; what waits is written when it is dropped.
#[derive(Debug)]
pub struct LogGuard {
    lost: ErrorCounter,
    // Last: the worker ends when this goes.
    _worker: WorkerGuard,
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        let lost = self.lost.dropped_lines();
        if lost > 0 {
            tracing::warn!(lost, "lines were dropped because the disk was too slow");
        }
    }
}

/// Starts logging for the whole process, panics included. Without effect when a logger is there already.
pub fn start(paths: &Paths) -> LogGuard {
    let (writer, worker) = NonBlockingBuilder::default()
        .lossy(true)
        .buffered_lines_limit(WAITING_LINES)
        .thread_name("browy-log")
        .finish(RotatingFile::new(paths.log(), MAX_BYTES));
    let lost = writer.error_counter();
    let to_stderr = std::env::var_os(STDERR_VARIABLE).is_some_and(|value| !value.is_empty() && value != "0");
    let copy = to_stderr.then(|| layer(std::io::stderr));
    let _ = subscriber(writer, &std::env::var(LEVEL_VARIABLE).unwrap_or_default()).with(copy).try_init();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        log_panic(panic);
        if to_stderr || std::io::stderr().is_terminal() {
            before(panic);
        }
    }));
    LogGuard { lost, _worker: worker }
}

/// What [`start`] makes of a writer; `levels` is as in [`LEVEL_VARIABLE`].
pub fn subscriber<W>(
    writer: W,
    levels: &str,
) -> impl Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // A level for everything in `levels` replaces the first word.
    let filter = EnvFilter::builder().parse_lossy(format!("info,{levels}"));
    tracing_subscriber::registry().with(filter).with(layer(writer))
}

fn layer<S, W>(writer: W) -> impl Layer<S>
where
    S: Subscriber + for<'a> tracing_subscriber::registry::LookupSpan<'a>,
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    tracing_subscriber::fmt::layer().with_ansi(false).event_format(line::OneLine).with_writer(writer)
}

fn log_panic(panic: &PanicHookInfo<'_>) {
    let payload = panic.payload();
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(words), _) => words,
        // Words with values in them: a slice that fails quotes the whole text, which may be a page's or a person's.
        (_, Some(words)) => words.split(['`', '"', '\'']).next().unwrap_or_default().trim_end(),
        _ => "no message",
    };
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current();
    tracing::error!(place, thread = thread.name().unwrap_or("unnamed"), "panic: {text}");
}

/// A writer for tests and tools that want the lines of one subscriber in one file.
pub fn non_blocking(file: RotatingFile) -> (NonBlocking, WorkerGuard) {
    NonBlockingBuilder::default().lossy(false).finish(file)
}
