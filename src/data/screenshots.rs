//! `~/.browy/data/screenshots`: the newest pictures that the agent took, for the person.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use crate::paths::Paths;

/// Pictures that are kept.
const KEPT: usize = 50;

/// How often another name is tried when one is taken.
const NAMES: u32 = 1_000;

/// The folder of screenshots. Only the person who runs Browy can read it.
#[derive(Debug, Clone)]
pub struct Screenshots {
    folder: PathBuf,
}

impl Screenshots {
    /// The folder of this home.
    pub fn below(paths: &Paths) -> Self {
        Self { folder: paths.data().join("screenshots") }
    }

    /// Keeps a JPEG under a name of its own and removes the oldest pictures beyond the newest 50.
    ///
    /// # Errors
    /// The folder or the file cannot be written.
    pub fn keep(&self, jpeg: &[u8]) -> io::Result<PathBuf> {
        self.make_folder()?;
        let ms = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for try_number in 1..=NAMES {
            let name = if try_number == 1 {
                format!("screenshot-{ms}.jpg")
            } else {
                format!("screenshot-{ms}-{try_number}.jpg")
            };
            let path = self.folder.join(name);
            match new_file(&path) {
                Ok(mut file) => {
                    file.write_all(jpeg)?;
                    self.prune(&path);
                    return Ok(path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn make_folder(&self) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&self.folder)
    }

    /// Old pictures that cannot be removed are no reason to lose the new one.
    fn prune(&self, newest: &PathBuf) {
        let Ok(entries) = fs::read_dir(&self.folder) else { return };
        let mut pictures: Vec<(SystemTime, PathBuf)> = entries
            .filter_map(Result::ok)
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                name.starts_with("screenshot-") && (name.ends_with(".jpg") || name.ends_with(".png"))
            })
            .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
            .filter(|(_, path)| path != newest)
            .collect();
        pictures.sort();
        let surplus = (pictures.len() + 1).saturating_sub(KEPT);
        for (_, path) in pictures.iter().take(surplus) {
            let _ = fs::remove_file(path);
        }
    }
}

fn new_file(path: &PathBuf) -> io::Result<fs::File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_picture_has_its_own_file_and_the_oldest_go() {
        let home = tempfile::tempdir().unwrap();
        let screenshots = Screenshots::below(&Paths::below(home.path()));
        let mut kept = Vec::new();
        for number in 0..KEPT + 5 {
            let path = screenshots.keep(format!("picture {number}").as_bytes()).unwrap();
            assert!(!kept.contains(&path), "{path:?} was given twice");
            kept.push(path);
        }
        assert_eq!(fs::read_dir(&screenshots.folder).unwrap().count(), KEPT);
        assert_eq!(fs::read(kept.last().unwrap()).unwrap(), b"picture 54");
    }

    #[test]
    fn other_files_in_the_folder_stay() {
        let home = tempfile::tempdir().unwrap();
        let screenshots = Screenshots::below(&Paths::below(home.path()));
        screenshots.make_folder().unwrap();
        let mine = screenshots.folder.join("holiday.jpg");
        fs::write(&mine, b"mine").unwrap();
        for _ in 0..KEPT + 1 {
            screenshots.keep(b"x").unwrap();
        }
        assert!(mine.exists());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_pictures() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let screenshots = Screenshots::below(&Paths::below(home.path()));
        let path = screenshots.keep(b"x").unwrap();
        let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600);
        assert_eq!(mode(&screenshots.folder), 0o700);
    }
}
