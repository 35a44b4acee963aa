//! What Browy keeps for the person: shown and deleted on the options page.

use serde::{Deserialize, Serialize};

use super::inbound::wire;

/// What can be deleted by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named by their wire words")]
pub enum StoredKind {
    Note,
    File,
}

wire! {
    /// Deletes one note or one file of Browy's own folder.
    pub struct DataDelete {
        pub kind: StoredKind,
        pub name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Outcome of `data.delete`.
    pub struct DataDeleted {
        pub kind: StoredKind,
        pub name: String,
        pub ok: bool,
        /// Why it is still there.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub error: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// Notes and files, as many as one frame holds.
    pub struct DataListResult {
        /// Where all of it lies on this computer.
        pub folder: String,
        /// Newest first.
        pub notes: Vec<StoredNote>,
        /// Sorted by name.
        pub files: Vec<StoredFile>,
        /// There are more notes or files than these.
        pub more: bool,
        /// What could not be read, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub error: Option<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub request_id: Option<String>,
    }

    /// One note.
    pub struct StoredNote {
        pub key: String,
        pub value: String,
        /// Milliseconds since 1970; absent where an older program wrote it in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub updated: Option<u64>,
        /// The site that the agent worked on when it wrote it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional))]
        pub origin: Option<String>,
    }

    /// One file of Browy's own folder.
    pub struct StoredFile {
        pub name: String,
        #[cfg_attr(test, ts(type = "number"))]
        pub bytes: u64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(test, ts(optional, type = "number"))]
        pub modified: Option<u64>,
    }
}
