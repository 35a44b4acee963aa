//! Notes and files: the person sees what Browy keeps, and deletes it.

use std::time::{SystemTime, UNIX_EPOCH};

use super::Runner;
use super::client::ClientId;
use crate::data::files::{Entry, EntryKind, Files};
use crate::data::notes::Notes;
use crate::paths::Paths;
use crate::protocol::{
    DataDelete, DataDeleted, DataListResult, Outbound, StoredFile, StoredKind, StoredNote,
};

impl Runner {
    pub(super) fn on_data_list(&mut self, client: ClientId, request_id: Option<String>) {
        self.on_data(client, move |paths| {
            Outbound::DataListResult(DataListResult { request_id, ..listed(paths) })
        });
    }

    pub(super) fn on_data_delete(&mut self, client: ClientId, wanted: DataDelete) {
        self.on_data(client, move |paths| {
            let error = deleted(paths, &wanted).err();
            let DataDelete { kind, name, request_id } = wanted;
            Outbound::DataDeleteResult(DataDeleted { kind, name, ok: error.is_none(), error, request_id })
        });
    }

    /// The disk may be slow, and another program may hold the files.
    fn on_data(&mut self, client: ClientId, reply: impl FnOnce(&Paths) -> Outbound + Send + 'static) {
        let Some(state) = self.clients.get(&client) else { return };
        let (outbox, paths) = (state.outbox.clone(), self.paths.clone());
        self.tasks.spawn(async move {
            match tokio::task::spawn_blocking(move || reply(&paths)).await {
                Ok(message) => drop(outbox.send(message)),
                Err(error) => tracing::warn!(%error, "the stored data could not be looked at"),
            }
        });
    }
}

/// What can be read of it; the rest is in `error`.
fn listed(paths: &Paths) -> DataListResult {
    let mut errors = Vec::new();
    let notes = Notes::below(paths).list().map(|opened| opened.value).unwrap_or_else(|error| {
        errors.push(error.to_string());
        Vec::new()
    });
    let files = Files::below(paths).list("").unwrap_or_else(|error| {
        errors.push(error.to_string());
        Default::default()
    });
    let note = |(key, note): (String, crate::data::notes::Note)| StoredNote {
        key,
        value: note.value,
        updated: note.updated.as_u64(),
        origin: note.origin,
    };
    DataListResult {
        folder: paths.data().display().to_string(),
        notes: notes.into_iter().map(note).collect(),
        files: files.entries.into_iter().filter_map(file).collect(),
        more: files.more,
        error: (!errors.is_empty()).then(|| errors.join("; ")),
        request_id: None,
    }
}

fn file(entry: Entry) -> Option<StoredFile> {
    let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).ok()?.as_millis().try_into().ok();
    (entry.kind == EntryKind::File).then(|| StoredFile {
        name: entry.name,
        bytes: entry.bytes,
        modified: entry.modified.and_then(since),
    })
}

fn deleted(paths: &Paths, wanted: &DataDelete) -> Result<(), String> {
    match wanted.kind {
        // One that is gone already is as the person wants it.
        StoredKind::Note => {
            Notes::below(paths).delete(&wanted.name).map(drop).map_err(|error| error.to_string())
        }
        StoredKind::File => Files::below(paths).delete(&wanted.name).map_err(|error| error.to_string()),
    }
}
