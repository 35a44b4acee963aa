//! Which extensions the host trusts: ours, Browy's published ones, and those that the person added.
//!
//! The manifest that a browser reads and the host's own check at its start use the same list. The check stops
//! a wrong extension; it cannot stop a program of the same user, which may start the host with any argument.

use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::paths::Paths;

use super::files::{self, FileError};

/// The id of the extension in `extension/`, fixed by the `key` in its manifest.
pub const OWN_EXTENSION_ID: &str = "jgkgphpbigilgffedfkcdbfknedodmkn";

/// Browy's published ids: the one it is sideloaded with, then the Web Store's.
pub const PUBLISHED_EXTENSION_IDS: [&str; 2] =
    ["lfeljbgjlkoabhepbkdbjgpbhfmpgmkc", "iondecjdokngnlkfpipgolgkfegpmjca"];

/// An extension id: 32 letters from `a` to `p`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExtensionId(String);

/// The text is no extension id.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no extension id: chrome://extensions shows it as 32 letters from a to p")]
pub struct NotAnExtensionId(String);

impl FromStr for ExtensionId {
    type Err = NotAnExtensionId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text.len() == 32 && text.bytes().all(|byte| (b'a'..=b'p').contains(&byte)) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAnExtensionId(text.chars().take(80).collect()))
        }
    }
}

impl TryFrom<String> for ExtensionId {
    type Error = NotAnExtensionId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ExtensionId> for String {
    fn from(id: ExtensionId) -> Self {
        id.0
    }
}

/// `origins.json` as it is stored.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AddedOrigins {
    extension_ids: Vec<ExtensionId>,
}

/// The file with the added extensions cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OriginsError {
    /// It cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not what Browy writes.
    #[error("{path} is not valid ({detail}); mend or delete it, then add your extension again with --ext-id")]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Where and why.
        detail: String,
    },
    /// Others may write it, so it says nothing about whom the person trusts.
    #[error("{0} can be written by other users; run `chmod go-w` on it")]
    Exposed(PathBuf),
}

/// The ids that the person added, oldest first.
///
/// # Errors
/// [`OriginsError`] when the file is there and unusable; a missing one gives none.
pub fn added(paths: &Paths) -> Result<Vec<ExtensionId>, OriginsError> {
    let path = paths.origins();
    let Some(bytes) = files::read(&path)? else { return Ok(Vec::new()) };
    if files::others_may_write(&path) {
        return Err(OriginsError::Exposed(path));
    }
    match serde_json::from_slice::<AddedOrigins>(&bytes) {
        Ok(stored) => Ok(stored.extension_ids),
        Err(error) => Err(OriginsError::Invalid { path, detail: error.to_string() }),
    }
}

/// Keeps the ids that the person added. Returns the folders that had to be made.
///
/// # Errors
/// [`OriginsError::File`] when the file cannot be written.
pub fn keep(paths: &Paths, ids: &[ExtensionId]) -> Result<Vec<PathBuf>, OriginsError> {
    let mut text = serde_json::to_string_pretty(&AddedOrigins { extension_ids: ids.to_vec() })
        .map_err(|error| OriginsError::Invalid { path: paths.origins(), detail: error.to_string() })?;
    text.push('\n');
    Ok(files::write(&paths.origins(), text.as_bytes())?)
}

/// The origins for a manifest, in its order: ours, Browy's published ones, `added`.
pub fn origins_with(added: &[ExtensionId]) -> Vec<String> {
    let mut ids = vec![OWN_EXTENSION_ID];
    ids.extend(PUBLISHED_EXTENSION_IDS);
    for id in added {
        if !ids.contains(&id.0.as_str()) {
            ids.push(&id.0);
        }
    }
    ids.into_iter().map(|id| format!("chrome-extension://{id}/")).collect()
}

/// Every origin that may start this host, for example `chrome-extension://jgkgphpbigilgffedfkcdbfknedodmkn/`.
/// An unusable `origins.json` adds nothing, and the log says so.
pub fn trusted_origins(paths: &Paths) -> Vec<String> {
    let added = added(paths).unwrap_or_else(|error| {
        tracing::warn!(%error, "added extensions are not trusted");
        Vec::new()
    });
    origins_with(&added)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_32_letters_from_a_to_p_are_an_id() {
        assert!("abcdefghijklmnopabcdefghijklmnop".parse::<ExtensionId>().is_ok());
        for text in ["", "abc", "abcdefghijklmnopabcdefghijklmnoq", "ABCDEFGHIJKLMNOPABCDEFGHIJKLMNOP", "*"] {
            assert!(text.parse::<ExtensionId>().is_err(), "{text}");
        }
    }

    #[test]
    fn added_ids_follow_the_built_in_ones_once_each() {
        let added: ExtensionId = "abcdefghijklmnopabcdefghijklmnop".parse().unwrap();
        let published: ExtensionId = PUBLISHED_EXTENSION_IDS[0].parse().unwrap();
        let origins = origins_with(&[added.clone(), published, added]);
        assert_eq!(
            origins,
            [
                "chrome-extension://jgkgphpbigilgffedfkcdbfknedodmkn/",
                "chrome-extension://lfeljbgjlkoabhepbkdbjgpbhfmpgmkc/",
                "chrome-extension://iondecjdokngnlkfpipgolgkfegpmjca/",
                "chrome-extension://abcdefghijklmnopabcdefghijklmnop/",
            ]
        );
    }

    #[test]
    fn an_unusable_file_adds_nothing() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::below(home.path());
        std::fs::create_dir_all(paths.browy()).unwrap();
        for text in ["{", r#"{"extensionIds":["*"]}"#, r#"{"extensionIds":"abc"}"#] {
            std::fs::write(paths.origins(), text).unwrap();
            assert_eq!(trusted_origins(&paths), origins_with(&[]), "{text}");
            assert!(matches!(added(&paths), Err(OriginsError::Invalid { .. })), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_may_write_adds_nothing() {
        use std::os::unix::fs::PermissionsExt;
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::below(home.path());
        let id: ExtensionId = "abcdefghijklmnopabcdefghijklmnop".parse().unwrap();
        keep(&paths, &[id]).unwrap();
        assert_eq!(trusted_origins(&paths).len(), 4);
        std::fs::set_permissions(paths.origins(), std::fs::Permissions::from_mode(0o666)).unwrap();
        assert_eq!(trusted_origins(&paths).len(), 3);
        assert!(matches!(added(&paths), Err(OriginsError::Exposed(_))));
    }
}
