//! The CLI's process: start it under the guard, hear its last words, end it.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::environment::Environment;
use super::{guard, locate};
use crate::agent::AgentError;
use crate::config::Config;
use crate::paths::Paths;

/// How much of the CLI's error output is kept, in bytes.
const TAIL: usize = 8 * 1024;

/// How long the full CLI may take to answer `connect`. Its first run ever unpacks 235 MB: 2 s measured on
/// a quiet machine; with a token and a network that swallows packets, up to 40 s, most of it later.
const FULL_LIMIT: Duration = Duration::from_secs(20);

/// How long the light runtime may take; it answers within 22 ms.
const LIGHT_LIMIT: Duration = Duration::from_secs(3);

/// One way to start the CLI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<&'static str>,
    /// The version it must have.
    pub version: Option<String>,
    /// How long it may take to answer.
    pub limit: Duration,
    /// Whether another candidate follows, so that a failure of this one is no failure yet.
    pub optional: bool,
}

/// A started CLI.
pub struct Launched {
    /// What it writes.
    pub reader: Box<dyn AsyncRead + Send + Unpin>,
    /// What it reads.
    pub writer: Box<dyn AsyncWrite + Send + Unpin>,
    /// The process.
    pub process: Box<dyn Process>,
}

/// Why a CLI was not started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The folder that it shall work in is not there.
    #[error("its working folder {} cannot be used: {source}", folder.display())]
    Folder {
        /// Which one.
        folder: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The program does not start.
    #[error(transparent)]
    Program(#[from] std::io::Error),
}

/// What starts CLIs; tests bring their own.
pub trait Launcher: Send + 'static {
    /// The ways to start one, best first.
    ///
    /// # Errors
    /// [`AgentError::CliMissing`].
    fn candidates(&self) -> Result<Vec<Candidate>, AgentError>;

    /// Starts one.
    ///
    /// # Errors
    /// When the system does not start it.
    fn launch(&self, candidate: &Candidate) -> Result<Launched, LaunchError>;
}

/// A running CLI process.
#[async_trait]
pub trait Process: Send {
    /// Waits for its end; gives it in words. Cancel-safe.
    async fn exited(&mut self) -> String;
    /// Makes it end soon, and everything below it.
    fn let_go(&mut self);
    /// Makes it end at once.
    fn kill(&mut self);
    /// The end of what it wrote to its error output.
    fn last_words(&self) -> String;
}

/// Starts the Copilot CLI of this machine.
#[derive(Debug)]
pub struct CliLauncher {
    /// Where things live.
    pub paths: Paths,
    /// The settings as they are at each start.
    pub config: watch::Receiver<Config>,
    /// The environment variables.
    pub env: Environment,
    /// The program that has the guard in it; absent = this one.
    pub guard: Option<PathBuf>,
    /// What the CLI works in.
    pub folder: WorkingFolder,
}

impl Launcher for CliLauncher {
    fn candidates(&self) -> Result<Vec<Candidate>, AgentError> {
        let named = self.config.borrow().cli_path.clone();
        let cli = locate::locate(&self.env, named.as_deref(), &self.paths)?;
        let mut candidates = Vec::new();
        if let Some(program) = locate::light_runtime(&self.env, self.paths.home(), &cli) {
            candidates.push(Candidate {
                program,
                // It refuses arguments that it does not know, `--disable-client-telemetry` among them.
                args: vec!["--server", "--stdio", "--no-auto-update"],
                version: cli.version.clone(),
                limit: LIGHT_LIMIT,
                optional: true,
            });
        }
        candidates.push(Candidate {
            program: cli.program,
            args: vec!["--server", "--stdio", "--no-auto-update", "--disable-client-telemetry"],
            version: None,
            limit: FULL_LIMIT,
            optional: false,
        });
        Ok(candidates)
    }

    fn launch(&self, candidate: &Candidate) -> Result<Launched, LaunchError> {
        let folder = self.folder.path();
        // It may have been removed since.
        private_folder(folder).map_err(|source| LaunchError::Folder { folder: folder.to_owned(), source })?;
        Ok(spawn(candidate, &self.env.for_cli(), folder, self.guard.as_deref())?)
    }
}

/// The folder that the CLI works in; it marks chats as Browy's.
#[derive(Debug)]
pub enum WorkingFolder {
    /// Browy's own.
    Own(PathBuf),
    /// A private one instead, which goes when this value does.
    Temporary(tempfile::TempDir),
}

impl WorkingFolder {
    /// The folder of these places; where it cannot be made or entered, a temporary one, and the log says so.
    pub fn of(paths: &Paths) -> Self {
        let own = paths.sessions();
        let Err(error) = private_folder(&own) else { return Self::Own(own) };
        let mut builder = tempfile::Builder::new();
        builder.prefix("browy-");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
        match builder.tempdir() {
            Ok(temporary) => {
                tracing::warn!(
                    folder = %own.display(),
                    %error,
                    instead = %temporary.path().display(),
                    "copilot: the working folder cannot be used; a temporary one serves until the end"
                );
                Self::Temporary(temporary)
            }
            Err(second) => {
                tracing::warn!(folder = %own.display(), %error, %second, "copilot: no working folder");
                Self::Own(own)
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        match self {
            Self::Own(path) => path,
            Self::Temporary(folder) => folder.path(),
        }
    }
}

/// Makes the folder, for its owner only, unless it is there. It stays empty: the CLI looks for instructions
/// and hooks there.
fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    // Whether it can be entered.
    std::fs::metadata(folder.join(".")).map(drop)
}

struct CliProcess {
    child: Child,
    /// While this is open the guard waits. Unix only.
    #[cfg(unix)]
    lifeline: Option<std::io::PipeWriter>,
    words: watch::Receiver<String>,
    _reader: JoinSet<()>,
}

fn spawn(
    candidate: &Candidate,
    env: &BTreeMap<OsString, OsString>,
    folder: &Path,
    guard_program: Option<&Path>,
) -> std::io::Result<Launched> {
    #[cfg(unix)]
    let (mut command, lifeline) = under_guard(candidate, guard_program)?;
    #[cfg(not(unix))]
    let mut command = {
        let _ = guard_program;
        let mut command = Command::new(&candidate.program);
        command.args(&candidate.args);
        // CREATE_NO_WINDOW: the host has no console, the CLI shall not open one.
        #[cfg(windows)]
        command.creation_flags(0x0800_0000);
        command
    };
    // The host's own input and output are the browser's: no child may hold them.
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env_clear()
        .envs(env)
        .current_dir(folder)
        // Under the guard, the dropped lifeline ends everything in order; a killed guard could not.
        .kill_on_drop(cfg!(not(unix)));
    let mut child = command.spawn()?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(std::io::Error::other("the pipes are missing"));
    };
    // A full pipe makes the CLI deliver events twice and out of order; 1 MiB is what any user may have.
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(std::os::fd::AsFd::as_fd(&stdout), 1024 * 1024);
    let (words_sender, words) = watch::channel(String::new());
    let mut reader = JoinSet::new();
    reader.spawn(keep_tail(stderr, words_sender));
    let process = CliProcess {
        child,
        #[cfg(unix)]
        lifeline: Some(lifeline),
        words,
        _reader: reader,
    };
    Ok(Launched { reader: Box::new(stdout), writer: Box::new(stdin), process: Box::new(process) })
}

#[cfg(unix)]
fn under_guard(
    candidate: &Candidate,
    guard_program: Option<&Path>,
) -> std::io::Result<(Command, std::io::PipeWriter)> {
    use command_fds::{CommandFdExt, FdMapping};
    let program = match guard_program {
        Some(program) => program.to_owned(),
        None => guard::own_program()?,
    };
    let (watched, held) = std::io::pipe()?;
    let mut command = Command::new(program);
    command.arg(guard::GUARD).arg(&candidate.program).args(&candidate.args);
    // A group of its own: Ctrl-C in a terminal is the host's business, which then ends the CLI in order.
    command.process_group(0);
    command
        .fd_mappings(vec![FdMapping { parent_fd: watched.into(), child_fd: guard::LIFELINE }])
        .map_err(std::io::Error::other)?;
    Ok((command, held))
}

async fn keep_tail(stderr: impl AsyncRead + Unpin, words: watch::Sender<String>) {
    let mut lines = BufReader::new(stderr).split(b'\n');
    while let Ok(Some(line)) = lines.next_segment().await {
        let line = String::from_utf8_lossy(&line);
        tracing::debug!(target: "browy::copilot::stderr", "{}", line.escape_debug());
        words.send_modify(|tail| {
            tail.push_str(&line);
            tail.push('\n');
            if tail.len() > TAIL {
                let cut = tail.ceil_char_boundary(tail.len() - TAIL);
                tail.drain(..cut);
            }
        });
    }
}

#[async_trait]
impl Process for CliProcess {
    async fn exited(&mut self) -> String {
        match self.child.wait().await {
            Ok(status) => in_words(status),
            Err(error) => format!("it cannot be waited for: {error}"),
        }
    }

    fn let_go(&mut self) {
        #[cfg(unix)]
        drop(self.lifeline.take());
        #[cfg(not(unix))]
        let _ = self.child.start_kill();
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(guard) = self.child.id() {
            guard::kill_tree(guard);
        }
        let _ = self.child.start_kill();
    }

    fn last_words(&self) -> String {
        let words = self.words.borrow();
        let lines: Vec<_> = words.lines().filter(|line| !line.trim().is_empty()).collect();
        lines[lines.len().saturating_sub(3)..].join(" / ").chars().take(600).collect()
    }
}

fn in_words(status: std::process::ExitStatus) -> String {
    let signal = |number: i32| match number {
        9 => "it was killed (signal 9)".to_owned(),
        number => format!("it was ended by signal {number}"),
    };
    #[cfg(unix)]
    if let Some(number) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return signal(number);
    }
    match status.code() {
        // The guard passes on how the CLI ended.
        Some(code) if cfg!(unix) && (129..=192).contains(&code) => signal(code - 128),
        Some(code) => format!("it ended with exit code {code}"),
        None => "it ended".to_owned(),
    }
}
