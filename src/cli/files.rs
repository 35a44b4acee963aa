//! Small files that are written whole or not at all, never through a symbolic link.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Something about a file or folder did not work.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Reading, writing, making or removing failed.
    #[error("cannot {verb} {path}: {source}")]
    Io {
        /// What was tried.
        verb: &'static str,
        /// With what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// Something else than a regular file is there.
    #[error("{0} is a symbolic link; remove the link first")]
    Link(PathBuf),
    /// Something else than a regular file is there.
    #[error("{0} is no regular file")]
    NotAFile(PathBuf),
}

fn failed<'a>(verb: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> FileError + 'a {
    move |source| FileError::Io { verb, path: path.to_owned(), source }
}

/// The content of a regular file; `None` when nothing is there.
///
/// # Errors
/// [`FileError`], also when a link or a folder is in its place.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, FileError> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("read", path)(error)),
        Ok(found) if found.is_symlink() => return Err(FileError::Link(path.to_owned())),
        Ok(found) if !found.is_file() => return Err(FileError::NotAFile(path.to_owned())),
        Ok(_) => {}
    }
    std::fs::read(path).map(Some).map_err(failed("read", path))
}

/// Writes a file through a temporary one in the same folder (mode 0600), so that a reader sees the old content
/// or the new, and a link in its place is replaced, not followed. Returns the folders that had to be made.
///
/// # Errors
/// [`FileError`]; the old file is then as it was.
pub fn write(path: &Path, content: &[u8]) -> Result<Vec<PathBuf>, FileError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let made = make_folders(folder)?;
    let mut file = tempfile::Builder::new()
        .prefix(".browy-")
        .tempfile_in(folder)
        .map_err(failed("write into", folder))?;
    file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(failed("write", path))?;
    file.persist(path).map_err(|error| failed("write", path)(error.error))?;
    Ok(made)
}

/// Makes a folder and what is missing above it (mode 0700). Returns those that were made, outermost first.
///
/// # Errors
/// [`FileError`] when one cannot be made; those made before it stay.
pub fn make_folders(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let missing: Vec<&Path> =
        folder.ancestors().take_while(|path| !path.as_os_str().is_empty() && !path.exists()).collect();
    let mut made = Vec::new();
    for path in missing.into_iter().rev() {
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        match builder.create(path) {
            Ok(()) => made.push(path.to_owned()),
            // Another process was faster; it is not ours to remove later.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
            Err(error) => return Err(failed("make", path)(error)),
        }
    }
    Ok(made)
}

/// Removes a file; `false` when it was not there.
///
/// # Errors
/// [`FileError`] when it cannot be removed.
pub fn remove(path: &Path) -> Result<bool, FileError> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(failed("remove", path)(error)),
    }
}

/// Moves a file within its folder, replacing what is there.
///
/// # Errors
/// [`FileError`] when it cannot be moved.
pub fn rename(from: &Path, to: &Path) -> Result<(), FileError> {
    std::fs::rename(from, to).map_err(failed("move aside", from))
}

/// Whether users other than the owner may change this file. Windows keeps that in access lists, which are not
/// looked at.
pub fn others_may_write(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        std::fs::symlink_metadata(path).is_ok_and(|found| found.mode() & 0o022 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn made_folders_are_told_outermost_first() {
        let home = tempfile::tempdir().unwrap();
        let made = write(&home.path().join("a/b/file"), b"x").unwrap();
        assert_eq!(made, [home.path().join("a"), home.path().join("a/b")]);
        assert!(write(&home.path().join("a/b/other"), b"x").unwrap().is_empty());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_neither_read_nor_written_through() {
        let home = tempfile::tempdir().unwrap();
        let (target, link) = (home.path().join("target"), home.path().join("link"));
        std::fs::write(&target, "theirs").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(matches!(read(&link), Err(FileError::Link(_))));
        write(&link, b"ours").unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"theirs");
        assert_eq!(read(&link).unwrap().unwrap(), b"ours");
    }

    #[cfg(unix)]
    #[test]
    fn files_and_folders_are_the_owners_alone() {
        use std::os::unix::fs::MetadataExt;
        let home = tempfile::tempdir().unwrap();
        write(&home.path().join("a/file"), b"x").unwrap();
        assert_eq!(home.path().join("a").metadata().unwrap().mode() & 0o777, 0o700);
        assert_eq!(home.path().join("a/file").metadata().unwrap().mode() & 0o777, 0o600);
    }
}
