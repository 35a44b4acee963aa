//! A file that several processes write and rotate together.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use fs4::FileExt;

/// Size of the log before it becomes the old copy, in bytes.
pub const MAX_BYTES: u64 = 5 * 1024 * 1024;

/// Lines are gathered up to this size, so that a burst takes the lock once and not once a line.
const GATHERED_BYTES: usize = 64 * 1024;

/// How long another process may hold the lock, for example because it is stopped, before lines are dropped.
const LOCK_PATIENCE: Duration = Duration::from_millis(200);
const LOCK_PAUSE: Duration = Duration::from_millis(2);

/// The log file and `<name>.1`, its old copy. Each at most as large as the limit.
///
/// Every write holds the system's lock on the file. Who finds it too large renames it under that lock; who then
/// gets the lock on the renamed file sees that its name stands for another one by now, and opens that.
/// After the first error it swallows everything: a log is not worth a host. Lines that had to be dropped because
/// another process held the lock are counted in the next line.
#[derive(Debug)]
pub struct RotatingFile {
    path: PathBuf,
    max_bytes: u64,
    file: Option<File>,
    gathered: Vec<u8>,
    lost: usize,
    stopped: bool,
}

impl RotatingFile {
    /// A log at `path`; nothing is opened before the first line.
    pub fn new(path: impl Into<PathBuf>, max_bytes: u64) -> Self {
        Self { path: path.into(), max_bytes, file: None, gathered: Vec::new(), lost: 0, stopped: false }
    }

    fn write_gathered(&mut self) -> io::Result<()> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let file = self.locked()?;
        let outcome = append(&file, &self.gathered);
        let _ = FileExt::unlock(&file);
        self.file = Some(file);
        self.gathered.clear();
        outcome
    }

    /// The file, locked, with room for what is gathered.
    fn locked(&mut self) -> io::Result<File> {
        loop {
            let file = match self.file.take() {
                Some(file) => file,
                None => open(&self.path)?,
            };
            lock(&file)?;
            if !is_at(&file, &self.path) {
                // Renamed or removed by another process while this one waited.
                continue;
            }
            let size = file.metadata()?.len();
            if size == 0 || size + self.gathered.len() as u64 <= self.max_bytes {
                return Ok(file);
            }
            std::fs::rename(&self.path, old_copy(&self.path))?;
        }
    }
}

impl Write for RotatingFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.stopped {
            return Ok(line.len());
        }
        if self.gathered.len() + line.len() > GATHERED_BYTES.min(self.max_bytes as usize) {
            self.flush()?;
        }
        if self.gathered.is_empty() && self.lost > 0 {
            let lost = std::mem::take(&mut self.lost);
            let process = std::process::id();
            writeln!(self.gathered, "{lost} lines of process {process} were dropped: the log was locked")?;
        }
        self.gathered.extend_from_slice(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.write_gathered() {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                self.lost += self.gathered.iter().filter(|byte| **byte == b'\n').count();
                self.gathered.clear();
            }
            Err(_) => {
                self.stopped = true;
                self.file = None;
                self.gathered = Vec::new();
            }
        }
        Ok(())
    }
}

impl Drop for RotatingFile {
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

/// Appends all or nothing, so that a full disk leaves no half line.
fn append(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    let before = file.metadata()?.len();
    file.write_all(bytes).inspect_err(|_| {
        let _ = file.set_len(before);
    })
}

fn lock(file: &File) -> io::Result<()> {
    let end = Instant::now() + LOCK_PATIENCE;
    loop {
        match FileExt::try_lock(file) {
            Ok(()) => return Ok(()),
            Err(fs4::TryLockError::Error(error)) => return Err(error),
            Err(fs4::TryLockError::WouldBlock) if Instant::now() > end => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            // This is the log's own thread.
            Err(fs4::TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // An older host may have left it readable for others.
        let found = file.metadata()?;
        if found.is_file() && found.permissions().mode() & 0o077 != 0 {
            file.set_permissions(PermissionsExt::from_mode(0o600))?;
        }
    }
    Ok(file)
}

/// Whether `path` still names this file.
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(ours), Ok(named)) = (file.metadata(), std::fs::metadata(path)) else { return false };
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        ours.ino() == named.ino() && ours.dev() == named.dev()
    }
    #[cfg(not(unix))]
    {
        ours.len() == named.len() && ours.created().ok() == named.created().ok()
    }
}

fn old_copy(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".1");
    PathBuf::from(name)
}
