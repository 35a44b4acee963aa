//! The person's stored chats: listed, renamed, deleted, and the old ones cleaned up.

use std::sync::Arc;

use super::client::ClientId;
use super::settings::TEST_CHAT;
use super::{Runner, failed};
use crate::agent::{AgentBackend, AgentError, BackendStatus, StoredChat};
use crate::data::chats::{ChatRecord, Chats, Cost, Listed, Records, outdated};
use crate::data::{SharedFileError, now};
use crate::protocol::{
    ChatDeleted, ChatInfo, ChatListResult, ChatRef, ChatRename, ChatRenamed, ErrorCode, Outbound, SessionId,
    Spent,
};

impl Runner {
    pub(super) fn on_chat_list(&mut self, client: ClientId, request_id: Option<String>) {
        let Some(state) = self.clients.get(&client) else { return };
        let (outbox, backend, chats) = (state.outbox.clone(), Arc::clone(&self.backend), self.chats.clone());
        let starting = !matches!(*backend.status().borrow(), BackendStatus::Ready { .. });
        self.tasks.spawn(async move {
            let message = match list(backend.as_ref(), &chats, starting).await {
                Ok(chats) => Outbound::ChatListResult(ChatListResult { chats, request_id }),
                Err(error) => failed(None, ErrorCode::NotReady, error.to_string(), request_id),
            };
            let _ = outbox.send(message);
        });
    }

    pub(super) fn on_chat_rename(&mut self, client: ClientId, rename: ChatRename) {
        let Some(state) = self.clients.get(&client) else { return };
        let (outbox, chats) = (state.outbox.clone(), self.chats.clone());
        self.tasks.spawn(async move {
            let ChatRename { id, title, request_id } = rename;
            let (key, words) = (id.0.clone(), title.clone());
            let (ok, error) = if title.trim().is_empty() {
                (false, None)
            } else {
                match on_disk(move || chats.rename(&key, &words)).await {
                    Ok(ok) => (ok, None),
                    Err(error) => (false, Some(error)),
                }
            };
            let _ = outbox.send(Outbound::ChatRenameResult(ChatRenamed { id, title, ok, error, request_id }));
        });
    }

    pub(super) fn on_chat_delete(&mut self, client: ClientId, chat: ChatRef) {
        if self.runs(&chat.id) {
            // What the turn still writes would bring the chat back: it is stopped, and the chat goes after it.
            self.cancel(&chat.id, None);
            self.to_delete.push((Some(client), chat));
            return;
        }
        self.delete_chat(Some(client), chat);
    }

    /// The turn is over that chats had to outlive.
    pub(super) fn delete_stopped(&mut self) {
        for (client, chat) in std::mem::take(&mut self.to_delete) {
            self.delete_chat(client, chat);
        }
    }

    /// `client`: who is told.
    fn delete_chat(&mut self, client: Option<ClientId>, chat: ChatRef) {
        let ChatRef { id, request_id } = chat;
        self.forget_turns(&id);
        let outbox = client.and_then(|client| self.clients.get(&client)).map(|state| state.outbox.clone());
        let (backend, chats) = (Arc::clone(&self.backend), self.chats.clone());
        self.tasks.spawn(async move {
            let ok = delete(backend.as_ref(), &chats, &id.0).await;
            if let Some(outbox) = outbox {
                let _ = outbox.send(Outbound::ChatDeleteResult(ChatDeleted { id, ok, request_id }));
            }
        });
    }

    /// Browy's older way to delete a chat, which has no answer.
    pub(super) fn on_history_clear(&mut self, id: SessionId) {
        let chat = ChatRef { id, request_id: None };
        if self.runs(&chat.id) {
            self.cancel(&chat.id, None);
            self.to_delete.push((None, chat));
            return;
        }
        self.delete_chat(None, chat);
    }

    /// What this process knows of the turns of a chat that is to be deleted.
    fn forget_turns(&mut self, id: &SessionId) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.recent = Default::default();
            session.shown = None;
            session.revealed.clear();
            session.notes.clear();
        }
    }

    /// The turn of this chat crashed in this process, which lives on.
    pub(super) fn mark_cut_off(&mut self, session: &SessionId) {
        let (chats, session) = (self.chats.clone(), session.clone());
        self.tasks.spawn(async move { turn_ends(&chats, &session, true, None).await });
    }

    /// Deletes chats that are surely Browy's, beyond the newest 100 and older than 30 days; once per process.
    pub(super) fn tidy_once(&mut self) {
        if std::mem::replace(&mut self.tidied, true) {
            return;
        }
        let (backend, chats) = (Arc::clone(&self.backend), self.chats.clone());
        self.tasks.spawn(async move {
            let Ok(stored) = backend.chats().await else { return };
            let Ok(records) = reconcile(&chats, &stored).await else { return };
            for id in outdated(&records, now()) {
                if stored.iter().any(|chat| chat.id == id && chat.surely_ours) {
                    tracing::info!(chat = id, "an old chat is cleaned up");
                    delete(backend.as_ref(), &chats, &id).await;
                }
            }
        });
    }
}

/// A turn of this chat begins. Answers whether the one before it was cut off.
///
/// # Errors
/// Why that could not be written down, in words for the person. The turn works without.
pub(super) async fn turn_begins(chats: &Chats, session: &SessionId, words: &str) -> Result<bool, String> {
    let (chats, id, words) = (chats.clone(), session.0.clone(), words.to_owned());
    on_disk(move || chats.turn_begins(&id, &words, now())).await
}

/// The turn that began is over.
pub(super) async fn turn_ends(chats: &Chats, session: &SessionId, cut_off: bool, spent: Option<&Spent>) {
    let (chats, id) = (chats.clone(), session.0.clone());
    let cost = spent.map(|spent| Cost {
        input: spent.input_tokens,
        output: spent.output_tokens,
        requests: spent.cost,
    });
    // The log has it; the person heard of it when the turn began.
    let _ = on_disk(move || chats.turn_ends(&id, cut_off, cost.as_ref(), now())).await;
}

async fn list(
    backend: &dyn AgentBackend,
    chats: &Chats,
    starting: bool,
) -> Result<Vec<ChatInfo>, AgentError> {
    if starting {
        // Nobody waits for the CLI to see what was there yesterday.
        let index = chats.clone();
        let known = on_disk(move || index.all()).await.unwrap_or_default();
        if !known.is_empty() {
            return Ok(rows(known));
        }
    }
    let stored = backend.chats().await?;
    let records = match reconcile(chats, &stored).await {
        Ok(records) => records,
        Err(error) => {
            tracing::debug!(error, "the CLI's own list of chats is shown");
            stored.iter().map(|chat| (chat.id.clone(), record(chat))).collect()
        }
    };
    Ok(rows(records))
}

async fn reconcile(chats: &Chats, stored: &[StoredChat]) -> Result<Records, String> {
    let listed: Vec<Listed> = stored
        .iter()
        .filter(|chat| !chat.id.starts_with(TEST_CHAT))
        .map(|chat| Listed {
            id: chat.id.clone(),
            title: chat.summary.clone(),
            started: chat.start_time,
            modified: chat.modified_time,
        })
        .collect();
    let chats = chats.clone();
    on_disk(move || chats.reconcile(&listed, now())).await
}

fn record(chat: &StoredChat) -> ChatRecord {
    ChatRecord {
        title: chat.summary.clone(),
        started: chat.start_time,
        modified: chat.modified_time,
        ..ChatRecord::default()
    }
}

/// The newest first.
fn rows(records: Records) -> Vec<ChatInfo> {
    let mut rows: Vec<ChatInfo> = records
        .into_iter()
        .map(|(id, chat)| ChatInfo {
            interrupted: chat.cut_off(),
            usage: chat.cost.map(|cost| Spent {
                input_tokens: cost.input,
                output_tokens: cost.output,
                context_used: None,
                context_limit: None,
                cost: cost.requests,
            }),
            id: SessionId(id),
            summary: chat.title,
            start_time: chat.started,
            modified_time: chat.modified,
        })
        .collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.modified_time));
    rows
}

/// Deletes transcript and record. `false`: the transcript is still there, or nobody knew the chat.
async fn delete(backend: &dyn AgentBackend, chats: &Chats, id: &str) -> bool {
    let deleted = match backend.delete(id).await {
        Ok(deleted) => deleted,
        Err(error) => {
            tracing::warn!(%error, "a chat could not be deleted");
            return false;
        }
    };
    let (chats, id) = (chats.clone(), id.to_owned());
    let known = on_disk(move || chats.forget(&id)).await.unwrap_or(false);
    deleted || known
}

/// Reads or changes the index where a slow disk holds up nobody.
///
/// # Errors
/// What went wrong, which the log tells too. A chat works without its record.
async fn on_disk<T: Send + 'static>(
    act: impl FnOnce() -> Result<T, SharedFileError> + Send + 'static,
) -> Result<T, String> {
    let done = tokio::task::spawn_blocking(act).await;
    let outcome = match done {
        Ok(outcome) => outcome.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    outcome.inspect_err(|error| tracing::warn!(%error, "the list of chats could not be used"))
}
