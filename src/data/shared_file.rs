//! A small JSON file that several hosts read and change: locked, replaced whole, never lost.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fs4::FileExt;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::paths::create_private_dir;

/// How long another host may hold the lock without changing the file. The lock of a dead process is gone at once.
const PATIENCE: Duration = Duration::from_secs(2);

/// How long others may keep changing the file before this one gives up.
const LONGEST: Duration = Duration::from_secs(8);

/// How often the lock is tried.
const TRY_EVERY: Duration = Duration::from_millis(5);

/// Largest file that is read, in bytes. Nothing Browy writes comes near it.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// How often another name is tried for a damaged file.
const NAMES: u32 = 1_000;

/// The file cannot be used now. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SharedFileError {
    /// Another host held it all the time.
    #[error("{path} is in use by another browser's host; try again")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// The system refused.
    #[error("cannot {verb} {path}: {source}")]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// What was read, and whether something had to be put aside for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened<T> {
    /// The content; empty when there was no file or a damaged one.
    pub value: T,
    /// Where the damaged file was put. It is not touched again.
    pub aside: Option<PathBuf>,
}

/// Handle of one file. Cheap; holds nothing open.
#[derive(Debug, Clone)]
pub struct SharedFile<T> {
    path: PathBuf,
    content: PhantomData<fn() -> T>,
}

impl<T: Default + Serialize + DeserializeOwned> SharedFile<T> {
    /// The file at `path`; its folder is made when something is written.
    pub fn at(path: PathBuf) -> Self {
        Self { path, content: PhantomData }
    }

    /// Reads the file. Blocks for 2 s behind a host that hangs, for 8 s behind many that work.
    ///
    /// # Errors
    /// [`SharedFileError`]; a missing file is no error.
    pub fn read(&self) -> Result<Opened<T>, SharedFileError> {
        // Nothing is there, so nothing is made.
        if !self.path.exists() {
            return Ok(Opened { value: T::default(), aside: None });
        }
        match self.lock() {
            Ok(_lock) => self.open(),
            // The file is always whole, so it can be read where nothing can be written, or while it is in use.
            // Only a damaged one needs the lock, to be put aside.
            Err(unlocked) => match self.bytes().ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
                Some(value) => Ok(Opened { value, aside: None }),
                None => Err(unlocked),
            },
        }
    }

    /// Reads the file, changes its content and replaces the file in one step. `change` returns what the caller
    /// wants to know and whether anything is to be written. Blocks as [`read`](Self::read) does.
    ///
    /// # Errors
    /// [`SharedFileError`]; the old file is untouched then.
    pub fn update<R>(&self, change: impl FnOnce(&mut T) -> (R, bool)) -> Result<Opened<R>, SharedFileError> {
        let _lock = self.lock()?;
        self.sweep();
        let Opened { mut value, aside } = self.open()?;
        let (answer, changed) = change(&mut value);
        if changed {
            self.replace(&value)?;
        }
        Ok(Opened { value: answer, aside })
    }

    fn lock(&self) -> Result<File, SharedFileError> {
        let path = self.path.with_extension("lock");
        create_private_dir(self.folder()).map_err(self.failed("write"))?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(self.failed("lock"))?;
        let began = Instant::now();
        let (mut seen, mut since) = (self.stamp(), began);
        loop {
            match FileExt::try_lock(&file) {
                Ok(()) => return Ok(file),
                Err(fs4::TryLockError::Error(error)) => return Err(self.failed("lock")(error)),
                Err(fs4::TryLockError::WouldBlock) => std::thread::sleep(TRY_EVERY),
            }
            let now = self.stamp();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
            if since.elapsed() > PATIENCE || began.elapsed() > LONGEST {
                return Err(SharedFileError::Busy { path: self.path.clone() });
            }
        }
    }

    /// Differs after every change by another host.
    fn stamp(&self) -> Option<(SystemTime, u64)> {
        let what = fs::metadata(&self.path).ok()?;
        Some((what.modified().ok()?, what.len()))
    }

    fn open(&self) -> Result<Opened<T>, SharedFileError> {
        let bytes = match self.bytes() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Opened { value: T::default(), aside: None });
            }
            Err(error) => return Err(self.failed("read")(error)),
        };
        match serde_json::from_slice(&bytes) {
            Ok(value) => Ok(Opened { value, aside: None }),
            Err(error) => {
                // The parser quotes what it found, which is the person's and not for the log.
                let (line, column) = (error.line(), error.column());
                tracing::warn!(line, column, path = %self.path.display(), "a file is damaged; it is put aside");
                let aside = self.put_aside().map_err(self.failed("put aside"))?;
                Ok(Opened { value: T::default(), aside: Some(aside) })
            }
        }
    }

    fn bytes(&self) -> io::Result<Vec<u8>> {
        let what = fs::metadata(&self.path)?;
        // A pipe would be read for ever.
        if !what.is_file() {
            return Err(io::Error::other("it is no ordinary file"));
        }
        if what.len() > MAX_BYTES {
            return Err(io::Error::other(format!("it is larger than {} MiB", MAX_BYTES / 1024 / 1024)));
        }
        let mut bytes = Vec::new();
        File::open(&self.path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn put_aside(&self) -> io::Result<PathBuf> {
        let ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
        for number in 0..NAMES {
            let aside = self.folder().join(match number {
                0 => format!("{name}.corrupt-{ms}"),
                number => format!("{name}.corrupt-{ms}-{number}"),
            });
            // The name is taken first, so that an older damaged file is never replaced.
            match OpenOptions::new().write(true).create_new(true).open(&aside) {
                Ok(_) => {
                    fs::rename(&self.path, &aside)?;
                    return Ok(aside);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
                Err(error) => return Err(error),
            }
        }
        Err(taken)
    }

    fn replace(&self, value: &T) -> Result<(), SharedFileError> {
        let write = || -> io::Result<()> {
            let bytes = serde_json::to_vec_pretty(value)?;
            reached(Step::Begun);
            let mut file = tempfile::Builder::new().prefix(&self.prefix()).tempfile_in(self.folder())?;
            let (first, second) = bytes.split_at(bytes.len() / 2);
            file.write_all(first)?;
            reached(Step::HalfWritten);
            file.write_all(second)?;
            reached(Step::Written);
            file.as_file().sync_all()?;
            reached(Step::Synced);
            file.persist(&self.path)?;
            reached(Step::Renamed);
            // The new name must outlive a power cut too.
            #[cfg(unix)]
            File::open(self.folder())?.sync_all()?;
            Ok(())
        };
        write().map_err(self.failed("write"))
    }

    /// What the files are called that take this one's place.
    fn prefix(&self) -> String {
        format!(".{}.new-", self.path.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Clears away what a host that was killed in the middle of a save left. Whoever has the lock is the only one
    /// that saves.
    fn sweep(&self) {
        let (Ok(files), prefix) = (fs::read_dir(self.folder()), self.prefix()) else { return };
        for file in files.flatten() {
            if file.file_name().to_string_lossy().starts_with(&prefix) {
                let _ = fs::remove_file(file.path());
            }
        }
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    fn failed(&self, verb: &'static str) -> impl Fn(io::Error) -> SharedFileError {
        let path = self.path.clone();
        move |source| SharedFileError::Io { verb, path: path.clone(), source }
    }
}

/// Where a save can be cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Nothing is on disk.
    Begun,
    HalfWritten,
    Written,
    Synced,
    /// The new file has the name, which the folder may not have kept yet.
    Renamed,
}

#[cfg(not(test))]
const fn reached(_: Step) {}

#[cfg(test)]
use tests::reached;

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    type Counts = BTreeMap<String, u32>;

    fn file(home: &Path) -> SharedFile<Counts> {
        SharedFile::at(home.join("data").join("counts.json"))
    }

    fn add(file: &SharedFile<Counts>, key: &str) -> Result<Opened<u32>, SharedFileError> {
        file.update(|counts| {
            let count = counts.entry(key.to_owned()).or_default();
            *count += 1;
            (*count, true)
        })
    }

    #[test]
    fn reading_makes_nothing_and_writing_is_private() {
        let home = tempfile::tempdir().unwrap();
        let file = file(home.path());
        assert_eq!(file.read().unwrap().value, Counts::new());
        assert!(!home.path().join("data").exists());
        assert_eq!(add(&file, "a").unwrap(), Opened { value: 1, aside: None });
        assert_eq!(file.read().unwrap().value["a"], 1);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!(mode(&home.path().join("data")), 0o700);
            assert_eq!(mode(&home.path().join("data/counts.json")), 0o600);
        }
    }

    #[test]
    fn writers_at_once_lose_nothing() {
        let home = tempfile::tempdir().unwrap();
        std::thread::scope(|threads| {
            for writer in 0..4 {
                let file = file(home.path());
                threads.spawn(move || {
                    for _ in 0..10 {
                        // The lock is a file's, so threads are as good as processes.
                        add(&file, &format!("own-{writer}")).unwrap();
                        add(&file, "all").unwrap();
                    }
                });
            }
        });
        let counts = file(home.path()).read().unwrap().value;
        assert_eq!(counts["all"], 40);
        assert!((0..4).all(|writer| counts[&format!("own-{writer}")] == 10));
    }

    #[test]
    fn damaged_file_is_put_aside_and_kept() {
        let home = tempfile::tempdir().unwrap();
        let file = file(home.path());
        let path = home.path().join("data/counts.json");
        let mut kept = Vec::new();
        for damaged in ["{\"a\": 1", "", "[1]", "{\"a\": \"one\"}"] {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, damaged).unwrap();
            let opened = add(&file, "b").unwrap();
            assert_eq!(opened.value, 1);
            kept.push((opened.aside.unwrap(), damaged));
            assert!(file.read().unwrap().aside.is_none());
        }
        for (aside, damaged) in kept {
            assert_eq!(fs::read_to_string(aside).unwrap(), damaged);
        }
    }

    #[test]
    fn unwritable_folder_leaves_the_old_file() {
        let home = tempfile::tempdir().unwrap();
        let file = file(home.path());
        add(&file, "a").unwrap();
        // A folder where the file should be stands for every failure of the last step.
        let path = home.path().join("data/counts.json");
        let before = fs::read(&path).unwrap();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        let error = add(&file, "a").unwrap_err().to_string();
        assert!(error.contains("counts.json") && error.contains("no ordinary file"), "{error}");
        fs::remove_dir(&path).unwrap();
        fs::write(&path, before).unwrap();
        assert_eq!(add(&file, "a").unwrap().value, 2);
        assert_eq!(
            names(&home.path().join("data")),
            ["counts.json", "counts.lock"],
            "no half-written file stays"
        );
    }

    /// Names the step at which a process of these tests ends, as by SIGKILL or a failing machine.
    const END_AT: &str = "BROWY_TEST_END_AT";
    /// Names its home.
    const HOME: &str = "BROWY_TEST_HOME";

    const STEPS: [Step; 5] = [Step::Begun, Step::HalfWritten, Step::Written, Step::Synced, Step::Renamed];

    pub(super) fn reached(step: Step) {
        if std::env::var(END_AT).is_ok_and(|wanted| wanted == format!("{step:?}")) {
            // Neither destructors nor buffers.
            std::process::abort();
        }
    }

    /// This test again, in a process of its own.
    fn child(test: &str, home: &Path, step: Option<Step>) -> std::process::Child {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "--quiet"]);
        command.arg(format!("{}::{test}", module_path!().split_once("::").unwrap().1));
        command.env(HOME, home).stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
        match step {
            Some(step) => command.env(END_AT, format!("{step:?}")),
            None => command.env_remove(END_AT),
        };
        command.spawn().unwrap()
    }

    /// What the processes of the tests below do.
    #[test]
    fn process_adds_to_its_file() {
        let own = tempfile::tempdir().unwrap();
        let home = std::env::var_os(HOME).map_or(own.path().to_owned(), PathBuf::from);
        let (file, name) = (file(&home), format!("own-{}", std::process::id()));
        for count in 1..=25 {
            assert!(add(&file, "all").unwrap().value >= count);
            assert_eq!(add(&file, &name).unwrap().value, count);
        }
    }

    #[test]
    fn crash_at_any_step_of_a_save_leaves_the_old_file_or_the_new_whole() {
        for step in STEPS {
            for exists in [false, true] {
                let home = tempfile::tempdir().unwrap();
                let file = file(home.path());
                let before = u32::from(exists);
                if exists {
                    add(&file, "all").unwrap();
                }
                let mut child = child("process_adds_to_its_file", home.path(), Some(step));
                assert!(!child.wait().unwrap().success(), "{step:?} was not reached");
                let read = file.read().unwrap();
                assert_eq!(read.aside, None, "{step:?}");
                let count = read.value.get("all").copied().unwrap_or_default();
                let expected = before + u32::from(step == Step::Renamed);
                assert_eq!(count, expected, "{step:?}, the file was there: {exists}");
                // The next save works, and nothing half-written stays.
                assert_eq!(add(&file, "all").unwrap().value, expected + 1);
                let left = names(&home.path().join("data"));
                assert_eq!(left, ["counts.json", "counts.lock"], "{step:?}");
            }
        }
    }

    fn names(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = files.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn processes_at_once_lose_nothing() {
        let home = tempfile::tempdir().unwrap();
        let mut children: Vec<_> =
            (0..3).map(|_| child("process_adds_to_its_file", home.path(), None)).collect();
        for child in &mut children {
            assert!(child.wait().unwrap().success());
        }
        let counts = file(home.path()).read().unwrap().value;
        assert_eq!(counts["all"], 75);
        assert!(children.iter().all(|child| counts[&format!("own-{}", child.id())] == 25), "{counts:?}");
    }

    #[test]
    fn leftovers_of_another_file_are_not_touched() {
        let home = tempfile::tempdir().unwrap();
        let file = file(home.path());
        add(&file, "a").unwrap();
        let other = home.path().join("data/.other.json.new-x");
        fs::write(&other, "half").unwrap();
        add(&file, "a").unwrap();
        assert!(other.exists());
    }

    #[test]
    fn file_in_use_can_still_be_read() {
        let home = tempfile::tempdir().unwrap();
        let file = file(home.path());
        add(&file, "a").unwrap();
        let _held = file.lock().unwrap();
        assert_eq!(file.read().unwrap().value["a"], 1);
        fs::write(home.path().join("data/counts.json"), "{").unwrap();
        assert!(matches!(file.read(), Err(SharedFileError::Busy { .. })), "putting it aside needs the lock");
    }

    #[test]
    fn lock_that_is_held_too_long_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let file = file(home.path());
        let held = file.lock().unwrap();
        assert!(matches!(add(&file, "a"), Err(SharedFileError::Busy { .. })));
        drop(held);
        assert_eq!(add(&file, "a").unwrap().value, 1);
    }
}
