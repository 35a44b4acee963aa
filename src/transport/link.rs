//! One open connection: messages in, messages out, and the two tasks that carry them.

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{FrameError, FrameReader, Transport, outbox};
use crate::protocol::limits::MAX_INBOUND;
use crate::protocol::{ChatError, ErrorCode, Inbound, Outbound, ProtocolError};

pub use super::outbox::{Closed, HIGH_WATER, Outbox, SendError};

/// Messages read ahead of the one who handles them.
const READ_AHEAD: usize = 32;

/// Bodies above this are parsed outside the async threads: 64 MiB of JSON take a while.
const PARSE_APART: usize = 1024 * 1024;

/// Opens a connection over a transport: a reading task and a writing task, owned by the returned guard.
pub fn open(transport: Box<dyn Transport>) -> (Inbox, Outbox, LinkTasks) {
    let (reader, writer) = transport.split();
    let (messages, received) = mpsc::channel(READ_AHEAD);
    let peer_gone = CancellationToken::new();
    let mut tasks = JoinSet::new();
    let outbox = outbox::open(writer, peer_gone.clone(), &mut tasks);
    tasks.spawn(read_messages(reader, messages, outbox.clone(), peer_gone));
    (Inbox { messages: received, end: None }, outbox, LinkTasks { tasks })
}

/// The inbound side.
pub struct Inbox {
    messages: mpsc::Receiver<Read>,
    end: Option<FrameError>,
}

enum Read {
    Message(Result<Inbound, ProtocolError>),
    End(FrameError),
}

impl Inbox {
    /// The next message; `None` when the connection has ended, cleanly or not ([`end`](Self::end)).
    ///
    /// # Errors
    /// One message was no good; the next may be. Not yet answered: see
    /// [`Rejections`](super::Rejections).
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn recv(&mut self) -> Option<Result<Inbound, ProtocolError>> {
        if self.end.is_some() {
            return None;
        }
        match self.messages.recv().await? {
            Read::Message(message) => Some(message),
            Read::End(error) => {
                self.end = Some(error);
                None
            }
        }
    }

    /// What broke the connection; `None` while it lives, after a clean end, and when the peer stopped reading.
    pub fn end(&self) -> Option<&FrameError> {
        self.end.as_ref()
    }
}

/// The two tasks. Dropping this aborts them.
pub struct LinkTasks {
    tasks: JoinSet<()>,
}

impl LinkTasks {
    /// Waits until both tasks are done: the reader when the stream ended or the [`Inbox`] is gone, the
    /// writer when every [`Outbox`] is gone and all is written, or the peer is gone. A peer that does
    /// not read can hold this up for ever: give it a deadline.
    pub async fn join(mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a task of the connection failed");
            }
        }
    }
}

async fn read_messages(
    mut reader: Box<dyn FrameReader>,
    messages: mpsc::Sender<Read>,
    outbox: Outbox,
    peer_gone: CancellationToken,
) {
    loop {
        let read = tokio::select! {
            biased;
            () = messages.closed() => return,
            () = peer_gone.cancelled() => return,
            read = reader.read() => read,
        };
        let next = match read {
            Ok(Some(body)) if body.len() <= PARSE_APART => Read::Message(Inbound::decode(&body)),
            Ok(Some(body)) => match tokio::task::spawn_blocking(move || Inbound::decode(&body)).await {
                Ok(message) => Read::Message(message),
                Err(error) => Read::Message(Err(ProtocolError::NotJson(error.to_string()))),
            },
            Ok(None) => return,
            Err(error) => Read::End(error),
        };
        let last = match &next {
            Read::End(error) => {
                tracing::warn!(%error, "the connection is broken");
                if let Some(message) = farewell(error) {
                    let _ = outbox.send(message);
                }
                true
            }
            Read::Message(_) => false,
        };
        tokio::select! {
            biased;
            () = peer_gone.cancelled() => return,
            sent = messages.send(next) => if sent.is_err() || last { return },
        }
    }
}

/// What a peer that still listens is told before the connection ends.
fn farewell(error: &FrameError) -> Option<Outbound> {
    let (code, message) = match error {
        FrameError::TooLarge { length, .. } => (
            ErrorCode::Unsupported,
            format!(
                "A message of {length} bytes was announced; {MAX_INBOUND} is the limit. The connection ends."
            ),
        ),
        FrameError::Stalled(limit) => (
            ErrorCode::Timeout,
            format!("A message stopped half-way for {} s. The connection ends.", limit.as_secs()),
        ),
        FrameError::Truncated { .. } | FrameError::Io(_) => return None,
    };
    Some(Outbound::ChatError(ChatError { session_id: None, message, code, turn_id: None, duration_ms: None }))
}
