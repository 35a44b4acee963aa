//! Running a script where it can do no harm: in namespaces of its own, without network, without the person's files,
//! without rights, with limits on time and memory. Where the system cannot do that, nothing is run.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};
use tokio_util::sync::CancellationToken;

use crate::paths::{Paths, create_private_dir};

/// Sets up the new root and starts the interpreter in it. Takes paths as arguments, never as text.
const CONFINE: &str = include_str!("confine.sh");

/// How long a script may run.
pub(super) const WALL: Duration = Duration::from_secs(30);

/// Bytes that are kept of stdout, and of stderr.
const KEPT: usize = 256 * 1024;

/// Where programs of the system are.
const SYSTEM: [&str; 3] = ["/usr/bin", "/bin", "/usr/sbin"];

/// Each means: without it nothing is run.
const NAMESPACES: [&str; 11] = [
    "--user",
    "--map-root-user",
    "--mount",
    "--net",
    "--ipc",
    "--uts",
    "--cgroup",
    "--pid",
    "--fork",
    "--kill-child=KILL",
    "--propagation=private",
];

/// What a script is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// With `import`.
    Module,
    /// With `require`.
    CommonJs,
}

/// How a script ended.
#[derive(Debug)]
pub(super) struct Finished {
    /// What it wrote, 256 KiB at most.
    pub(super) stdout: String,
    /// What it complained about, 256 KiB at most.
    pub(super) stderr: String,
    /// `None`: time ran out.
    pub(super) status: Option<ExitStatus>,
    /// It wrote more than was kept.
    pub(super) cut: bool,
}

/// Why nothing was run.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConfineError {
    /// This system has no way to do it.
    #[error("{0}")]
    Unconfined(String),
    /// Stop.
    #[error("stopped")]
    Cancelled,
}

fn unconfined(why: impl std::fmt::Display) -> ConfineError {
    ConfineError::Unconfined(why.to_string())
}

/// Runs a script to its end, for 30 s at most.
pub(super) async fn run(
    paths: &Paths,
    code: &str,
    kind: Kind,
    wall: Duration,
    cancel: &CancellationToken,
) -> Result<Finished, ConfineError> {
    if !cfg!(target_os = "linux") {
        return Err(unconfined("on this system scripts cannot be confined; only on Linux they can"));
    }
    // Always empty: every script has its own files mounted over it, which nobody else sees.
    let root = paths.data().join("script-root");
    create_private_dir(&root)
        .map_err(|error| unconfined(format!("no folder for it can be made: {error}")))?;
    let unshare = program("unshare", SYSTEM.map(PathBuf::from).to_vec())
        .ok_or_else(|| unconfined("the program unshare (util-linux) is missing"))?;
    let node = interpreter().ok_or_else(|| unconfined("Node.js is missing; scripts are run by it"))?;
    let word = uuid::Uuid::new_v4().simple().to_string();
    let mut command = Command::new(unshare);
    command
        .args(NAMESPACES)
        .args(["/bin/sh", "-c", CONFINE, "confine"])
        .arg(&root)
        .arg(&node)
        .arg(&word)
        .args([
            "--max-old-space-size=256",
            match kind {
                Kind::Module => "--input-type=module",
                Kind::CommonJs => "--input-type=commonjs",
            },
            "-",
        ]);
    command
        .env_clear()
        .envs([("PATH", "/usr/bin:/bin"), ("HOME", "/tmp"), ("TMPDIR", "/tmp"), ("LANG", "C.UTF-8")])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let child = command.spawn().map_err(unconfined)?;
    finish(child, code, &word, wall, cancel).await
}

async fn finish(
    mut child: Child,
    code: &str,
    word: &str,
    wall: Duration,
    cancel: &CancellationToken,
) -> Result<Finished, ConfineError> {
    let (mut out, mut err) = (Kept::default(), Kept::default());
    let mut stdin = child.stdin.take();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let status = {
        let feed = async {
            if let Some(mut stdin) = stdin.take() {
                // A script that ends early reads no more; how it ended says more than that.
                let _ = stdin.write_all(code.as_bytes()).await;
            }
        };
        let whole = async {
            tokio::join!(feed, out.read(stdout), err.read(stderr));
            child.wait().await
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ConfineError::Cancelled),
            ended = tokio::time::timeout(wall, whole) => Ok(ended.ok()),
        }
    };
    if !matches!(status, Ok(Some(_))) {
        // The first process of the namespaces dies with its parent, and everything in them with it.
        let _ = child.kill().await;
    }
    let status = status?.transpose().map_err(unconfined)?;
    let said = err.text();
    let Some((_, stderr)) = said.split_once(&format!("{word}\n")) else {
        let why = said.lines().last().unwrap_or("no reason was given").trim().to_owned();
        return Err(unconfined(format!("this system does not let it be confined ({why})")));
    };
    Ok(Finished { stdout: out.text(), stderr: stderr.to_owned(), status, cut: out.cut })
}

/// The beginning of what a program writes.
#[derive(Debug, Default)]
struct Kept {
    bytes: Vec<u8>,
    cut: bool,
}

impl Kept {
    /// Reads to the end, so that the program never waits for somebody to read.
    async fn read(&mut self, from: Option<impl AsyncRead + Unpin>) {
        let Some(mut from) = from else { return };
        let mut piece = vec![0; 8 * 1024];
        while let Ok(count @ 1..) = from.read(&mut piece).await {
            let room = KEPT - self.bytes.len();
            self.bytes.extend_from_slice(piece.get(..count.min(room)).unwrap_or_default());
            self.cut |= count > room;
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

fn program(name: &str, folders: Vec<PathBuf>) -> Option<PathBuf> {
    folders
        .into_iter()
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// The one file that Node.js is.
fn interpreter() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path)
        .chain(["/usr/local/bin", "/usr/bin"].map(|folder| Path::new(folder).to_owned()))
        .collect();
    program("node", folders)?.canonicalize().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
