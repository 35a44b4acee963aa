//! `~/.browy/data/files`: the one folder whose files the agent's tools can name.
//!
//! Every call opens the folder and walks down from there, part by part, without following a link: whatever
//! others put into the folder meanwhile, nothing outside is reached. New content goes into a file of its own,
//! which then takes the name: readers see the old content or the new.

mod name;
#[cfg(all(test, unix))]
mod tests;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, Metadata, OpenOptions};

use crate::paths::{Paths, create_private_dir};
pub use name::plain_name;
use name::{Name, TEMPORARY};

/// Bytes of one file.
pub const MAX_FILE: u64 = 32 * 1024 * 1024;

/// Bytes of all files.
pub const MAX_ALL: u64 = 512 * 1024 * 1024;

/// Files and folders.
pub const MAX_ENTRIES: usize = 10_000;

/// Entries of one list.
const MAX_LISTED: usize = 1_000;

/// Names that are alike but for a number.
const MAX_ALIKE: u32 = 200;

/// How long another process's write is waited for.
const WAIT: Duration = Duration::from_secs(5);

/// A temporary file this old belongs to nobody any more.
const ABANDONED: Duration = Duration::from_secs(3_600);

/// Why a file was not written, read, listed or deleted.
#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    /// It is no name of a file in the folder.
    #[error("that is no file name here: {0}")]
    Name(String),
    /// There is no such file.
    #[error("there is no file {0}")]
    Missing(String),
    /// A link, a folder, a pipe, a device.
    #[error("{name} is {what}, not a plain file")]
    NotAFile {
        /// Its name.
        name: String,
        /// What it is.
        what: &'static str,
    },
    /// The file has another name somewhere else, which would be changed too.
    #[error("{0} has a second name (a hard link) and is not written to")]
    Linked(String),
    /// Too much for one file.
    #[error("the content has {0} bytes; one file may have {MAX_FILE}")]
    TooLarge(u64),
    /// The name is taken, and the file that has it shall stay.
    #[error("there is a file {0} already")]
    Taken(String),
    /// The folder is full.
    #[error("the folder is full ({0}); delete files first")]
    Full(String),
    /// Another process is writing and does not come to an end.
    #[error("another program is writing into the folder; try again")]
    Busy,
    /// The system refused.
    #[error("cannot {verb}: {source}")]
    Io {
        /// What was tried.
        verb: &'static str,
        /// Why it failed.
        source: io::Error,
    },
}

fn failed(verb: &'static str) -> impl FnOnce(io::Error) -> FilesError {
    move |source| FilesError::Io { verb, source }
}

/// A written file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Its absolute path.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}

/// A file that was opened for reading.
#[derive(Debug)]
pub struct Opened {
    /// The file itself.
    pub file: std::fs::File,
    /// Its absolute path.
    pub path: PathBuf,
    /// Its size when it was opened.
    pub bytes: u64,
}

/// What an entry of the list is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A link, wherever it leads; nothing is read or written through it.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

/// One entry of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Name inside the folder, with `/`.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Bytes of a file, else 0.
    pub bytes: u64,
    /// When it was written last.
    pub modified: Option<SystemTime>,
}

/// A list of entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Listing {
    /// Sorted by name.
    pub entries: Vec<Entry>,
    /// There are more than these.
    pub more: bool,
}

/// How much a folder may hold.
#[derive(Debug, Clone, Copy)]
struct Quota {
    file: u64,
    all: u64,
    entries: usize,
}

/// The folder. Only the person who runs Browy can read it.
#[derive(Debug, Clone)]
pub struct Files {
    root: PathBuf,
    quota: Quota,
}

impl Files {
    /// The folder of this home.
    pub fn below(paths: &Paths) -> Self {
        let quota = Quota { file: MAX_FILE, all: MAX_ALL, entries: MAX_ENTRIES };
        Self { root: paths.data().join("files"), quota }
    }

    /// Its absolute path.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Writes a file, in the place of one that has the name. Folders in the name are made.
    ///
    /// # Errors
    /// [`FilesError`]; the old file is then as it was.
    pub fn save(&self, name: &str, content: &[u8]) -> Result<Saved, FilesError> {
        self.write(name, content, true)
    }

    /// Writes a file under that name or, when it is taken, under one like it: `a.pdf`, `a (2).pdf`, ….
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn save_beside(&self, name: &str, content: &[u8]) -> Result<Saved, FilesError> {
        let (stem, dot, kind) = match name.rsplit_once('.') {
            Some((stem, kind)) if !stem.is_empty() && !kind.contains('/') => (stem, ".", kind),
            _ => (name, "", ""),
        };
        let mut saved = self.write(name, content, false);
        for number in 2..=MAX_ALIKE {
            let Err(FilesError::Taken(_) | FilesError::NotAFile { .. }) = saved else { break };
            saved = self.write(&format!("{stem} ({number}){dot}{kind}"), content, false);
        }
        saved
    }

    fn write(&self, name: &str, content: &[u8], replace: bool) -> Result<Saved, FilesError> {
        let bytes = content.len() as u64;
        let name = self.name(name)?;
        if bytes > self.quota.file {
            return Err(FilesError::TooLarge(bytes));
        }
        let root = self.open_root()?;
        let _turn = self.take_turn()?;
        let held = measure(&root, self.quota.entries)?;
        let (folders, last) = name.split();
        let old = self.replaceable(&root, &name)?;
        if old.is_some() && !replace {
            return Err(FilesError::Taken(name.written()));
        }
        let new = if old.is_some() { 0 } else { folders.len() + 1 };
        if held.entries + new > self.quota.entries {
            return Err(FilesError::Full(format!("{} files and folders", held.entries)));
        }
        if held.bytes - old.unwrap_or(0).min(held.bytes) + bytes > self.quota.all {
            return Err(FilesError::Full(format!("{} bytes", held.bytes)));
        }
        let folder = self.walk(&root, folders, true)?;
        put(&folder, last, content)?;
        Ok(Saved { path: self.root.join(name.written()), bytes })
    }

    /// Opens a file for reading. Never waits, also not for the other end of a pipe.
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn open(&self, name: &str) -> Result<Opened, FilesError> {
        let name = self.name(name)?;
        let root = self.open_root()?;
        let (folders, last) = name.split();
        let folder = self.walk(&root, folders, false)?;
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = match folder.open_with(last, &options) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FilesError::Missing(name.written()));
            }
            Err(error) => return Err(not_plain(&folder, &name, error)),
        };
        let found = file.metadata().map_err(failed("read the file"))?;
        if !found.is_file() {
            return Err(FilesError::NotAFile { name: name.written(), what: kind_in_words(&found) });
        }
        let path = self.root.join(name.written());
        Ok(Opened { file: file.into_std(), path, bytes: found.len() })
    }

    /// The content of a file, `most` bytes of it.
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn read(&self, name: &str, most: u64) -> Result<Vec<u8>, FilesError> {
        let opened = self.open(name)?;
        let mut content = Vec::new();
        opened.file.take(most).read_to_end(&mut content).map_err(failed("read the file"))?;
        Ok(content)
    }

    /// The entries below a folder (empty: all of them), 1,000 at most. Links are told, not followed.
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn list(&self, folder: &str) -> Result<Listing, FilesError> {
        let root = self.open_root()?;
        let (start, prefix) = match folder.trim_matches('/') {
            "" => (root, String::new()),
            folder => {
                let name = self.name(folder)?;
                let (folders, last) = name.split();
                let parts: Vec<String> = folders.iter().cloned().chain([last.to_owned()]).collect();
                (self.walk(&root, &parts, false)?, format!("{}/", name.written()))
            }
        };
        let mut listing = Listing::default();
        each_entry(start, &prefix, &mut |name, found, _, _| {
            if listing.entries.len() >= MAX_LISTED {
                listing.more = true;
                return false;
            }
            let kind = kind_of(found);
            listing.entries.push(Entry {
                name,
                kind,
                bytes: if kind == EntryKind::File { found.len() } else { 0 },
                modified: found.modified().ok().map(cap_std::time::SystemTime::into_std),
            });
            true
        })?;
        listing.entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(listing)
    }

    /// Deletes a file, a link (not what it leads to), or an empty folder. Never the folder of all files itself.
    ///
    /// # Errors
    /// [`FilesError`].
    pub fn delete(&self, name: &str) -> Result<(), FilesError> {
        let name = self.name(name)?;
        let root = self.open_root()?;
        let _turn = self.take_turn()?;
        let (folders, last) = name.split();
        let folder = self.walk(&root, folders, false)?;
        let found = match folder.symlink_metadata(last) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(FilesError::Missing(name.written()));
            }
            Err(error) => return Err(failed("look at the file")(error)),
        };
        let deleted =
            if found.is_dir() { folder.remove_dir(last) } else { folder.remove_file_or_symlink(last) };
        deleted.map_err(failed("delete it (a folder must be empty)"))
    }

    fn name(&self, name: &str) -> Result<Name, FilesError> {
        let real = std::fs::canonicalize(&self.root).ok();
        let roots: Vec<&Path> = [Some(self.root.as_path()), real.as_deref()].into_iter().flatten().collect();
        Name::parse(name, &roots)
    }

    fn open_root(&self) -> Result<Dir, FilesError> {
        create_private_dir(&self.root).map_err(failed("make the folder"))?;
        Dir::open_ambient_dir(&self.root, ambient_authority()).map_err(failed("open the folder"))
    }

    /// Writers of all processes go one after the other, so that quotas hold.
    fn take_turn(&self) -> Result<std::fs::File, FilesError> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(self.root.with_extension("lock")).map_err(failed("lock the folder"))?;
        let began = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(std::fs::TryLockError::WouldBlock) if began.elapsed() < WAIT => {
                    std::thread::sleep(Duration::from_millis(5));
                }
                Err(std::fs::TryLockError::WouldBlock) => return Err(FilesError::Busy),
                Err(std::fs::TryLockError::Error(error)) => return Err(failed("lock the folder")(error)),
            }
        }
    }

    /// The size of the file that has the name; `None`: nothing has it.
    fn replaceable(&self, root: &Dir, name: &Name) -> Result<Option<u64>, FilesError> {
        let (folders, last) = name.split();
        let folder = match self.walk(root, folders, false) {
            Ok(folder) => folder,
            Err(FilesError::Missing(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        match folder.symlink_metadata(last) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(failed("look at the file")(error)),
            Ok(found) if !found.is_file() => {
                Err(FilesError::NotAFile { name: name.written(), what: kind_in_words(&found) })
            }
            Ok(found) if MetadataExt::nlink(&found) > 1 => Err(FilesError::Linked(name.written())),
            Ok(found) => Ok(Some(found.len())),
        }
    }

    /// Goes down into folders, none of them a link.
    fn walk(&self, root: &Dir, folders: &[String], make: bool) -> Result<Dir, FilesError> {
        let mut at = root.try_clone().map_err(failed("open the folder"))?;
        for part in folders {
            let mut opened = at.open_dir_nofollow(part);
            if make && opened.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                let mut builder = DirBuilder::new();
                #[cfg(unix)]
                cap_std::fs::DirBuilderExt::mode(&mut builder, 0o700);
                match at.create_dir_with(part, &builder) {
                    Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                        return Err(failed("make a folder")(error));
                    }
                    _ => {}
                }
                opened = at.open_dir_nofollow(part);
            }
            at = match opened {
                Ok(next) => next,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(FilesError::Missing(folders.join("/")));
                }
                Err(error) => return Err(not_plain(&at, &Name::parse(part, &[])?, error)),
            };
        }
        Ok(at)
    }
}

/// Writes a file under a name of its own, then gives it the wanted one.
fn put(folder: &Dir, last: &str, content: &[u8]) -> Result<(), FilesError> {
    let temporary = format!("{TEMPORARY}{}", uuid::Uuid::new_v4().simple());
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = folder.open_with(&temporary, &options).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()?;
        folder.rename(&temporary, folder, last)
    });
    if let Err(error) = written {
        let _ = folder.remove_file(&temporary);
        return Err(failed("write the file")(error));
    }
    // Without this a crash of the machine may bring the old name back.
    #[cfg(unix)]
    folder.open(".").and_then(|folder| folder.sync_all()).map_err(failed("write the folder"))?;
    Ok(())
}

fn kind_of(found: &Metadata) -> EntryKind {
    if found.is_symlink() {
        EntryKind::Link
    } else if found.is_dir() {
        EntryKind::Folder
    } else if found.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    }
}

fn kind_in_words(found: &Metadata) -> &'static str {
    match kind_of(found) {
        EntryKind::File => "a file",
        EntryKind::Folder => "a folder",
        EntryKind::Link => "a link",
        EntryKind::Other => "a pipe, socket or device",
    }
}

/// Says what stands in the way, when it is no plain file or folder.
fn not_plain(folder: &Dir, name: &Name, error: io::Error) -> FilesError {
    let (_, last) = name.split();
    match folder.symlink_metadata(last) {
        Ok(found) if kind_of(&found) != EntryKind::File || error.kind() == io::ErrorKind::NotADirectory => {
            FilesError::NotAFile { name: name.written(), what: kind_in_words(&found) }
        }
        _ => failed("open the file")(error),
    }
}

/// What the folder holds.
#[derive(Debug, Default)]
struct Held {
    bytes: u64,
    entries: usize,
}

/// Counts, and removes what writers that are gone left behind.
fn measure(root: &Dir, most: usize) -> Result<Held, FilesError> {
    let mut held = Held::default();
    let start = root.try_clone().map_err(failed("open the folder"))?;
    each_entry(start, "", &mut |_, found, folder, last| {
        if last.starts_with(TEMPORARY) {
            let age = found.modified().ok().and_then(|at| at.into_std().elapsed().ok());
            if age.is_some_and(|age| age > ABANDONED) {
                let _ = folder.remove_file(last);
            }
            return true;
        }
        held.entries += 1;
        if found.is_file() {
            held.bytes = held.bytes.saturating_add(found.len());
        }
        held.entries <= most
    })?;
    Ok(held)
}

/// What an entry is handed to: its name inside the folder, what it is, its own folder, its last part. `false`
/// ends the walk.
type Visit<'v> = dyn FnMut(String, &Metadata, &Dir, &str) -> bool + 'v;

/// Visits everything below a folder without following links. What vanishes meanwhile, and names that are no
/// text, are left out.
fn each_entry(start: Dir, prefix: &str, visit: &mut Visit<'_>) -> Result<(), FilesError> {
    let mut open = vec![(start, prefix.to_owned())];
    while let Some((folder, prefix)) = open.pop() {
        for entry in folder.entries().map_err(failed("list the folder"))?.flatten() {
            let Ok(last) = entry.file_name().into_string() else { continue };
            let Ok(found) = folder.symlink_metadata(&last) else { continue };
            let name = format!("{prefix}{last}");
            if !visit(name.clone(), &found, &folder, &last) {
                return Ok(());
            }
            if found.is_dir()
                && let Ok(next) = folder.open_dir_nofollow(&last)
            {
                open.push((next, format!("{name}/")));
            }
        }
    }
    Ok(())
}
