//! The outbound side of a connection: a queue that knows its size, and the task that empties it.

use std::collections::VecDeque;
use std::pin::pin;

use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{FrameError, FrameWriter, fit};
use crate::protocol::{ChatDelta, Outbound, SessionId};

/// Bytes that may wait before [`Outbox::ready`] makes its callers wait, too.
pub const HIGH_WATER: usize = 4 * 1024 * 1024;

/// Deltas of one session that wait one behind the other are joined up to this many bytes on the wire.
const JOINED_DELTA: usize = 64 * 1024;

/// What a waiting message costs besides its text.
const OVERHEAD: usize = 128;

/// The peer is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the client is gone")]
pub struct Closed;

/// Why a message was not queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The peer is gone.
    #[error("the client is gone")]
    Closed,
    /// Too long for one frame, and of a kind that can be neither split nor shortened.
    #[error("a message of {bytes} bytes is too long to be sent")]
    TooLarge {
        /// Its length in bytes.
        bytes: usize,
    },
}

impl From<Closed> for SendError {
    fn from(Closed: Closed) -> Self {
        Self::Closed
    }
}

/// The way out; clones share it.
#[derive(Debug, Clone)]
pub struct Outbox {
    queue: mpsc::UnboundedSender<Queued>,
    backlog: watch::Sender<Backlog>,
}

#[derive(Debug)]
enum Queued {
    Frame(Vec<u8>),
    Delta { session: SessionId, text: String, on_wire: usize },
}

impl Queued {
    fn cost(&self) -> usize {
        OVERHEAD
            + match self {
                Self::Frame(body) => body.len(),
                Self::Delta { text, session, .. } => text.len() + session.as_str().len(),
            }
    }
}

/// What is queued and not yet written.
#[derive(Debug, Default)]
struct Backlog {
    bytes: usize,
    messages: usize,
}

/// Starts the writing task in `tasks`; `peer_gone` is cancelled when it cannot write any more.
pub(super) fn open(
    writer: Box<dyn FrameWriter>,
    peer_gone: CancellationToken,
    tasks: &mut JoinSet<()>,
) -> Outbox {
    let (queue, queued) = mpsc::unbounded_channel();
    let backlog = watch::Sender::new(Backlog::default());
    let outbox = Outbox { queue, backlog: backlog.clone() };
    tasks.spawn(async move {
        // However this task ends: a connection that cannot answer is of no use.
        let _gone = peer_gone.drop_guard();
        match (Writing { writer, queued, waiting: VecDeque::new(), backlog }).run().await {
            Ok(()) => {}
            Err(FrameError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                tracing::debug!("the client stopped reading");
            }
            Err(error) => tracing::warn!(%error, "cannot write to the client"),
        }
    });
    outbox
}

impl Outbox {
    /// Queues a message and never waits. What is too long for one frame is split (`chat.delta`) or
    /// shortened with a visible mark.
    ///
    /// # Errors
    /// [`SendError::TooLarge`] when neither can be done (`cdp.send`, say): nothing was queued.
    pub fn send(&self, message: Outbound) -> Result<(), SendError> {
        if let Outbound::ChatDelta(delta) = message {
            for (text, on_wire) in fit::split(&delta).map_err(too_large)? {
                self.push(Queued::Delta {
                    session: delta.session_id.clone(),
                    text: text.to_owned(),
                    on_wire,
                })?;
            }
            return Ok(());
        }
        Ok(self.push(Queued::Frame(fit::encode(message).map_err(too_large)?))?)
    }

    fn push(&self, queued: Queued) -> Result<(), Closed> {
        let cost = queued.cost();
        self.backlog.send_modify(|backlog| {
            backlog.bytes += cost;
            backlog.messages += 1;
        });
        self.queue.send(queued).map_err(|_| Closed)
    }

    /// Waits while more than [`HIGH_WATER`] bytes are queued. Whoever streams awaits this between
    /// pieces, so that a peer that does not read pauses the stream instead of filling the memory.
    ///
    /// # Errors
    /// [`Closed`] when the peer is gone.
    pub async fn ready(&self) -> Result<(), Closed> {
        self.wait_until(|backlog| backlog.bytes <= HIGH_WATER).await
    }

    /// Waits until everything queued so far is written, or the peer is gone.
    pub async fn flushed(&self) {
        let _ = self.wait_until(|backlog| backlog.messages == 0).await;
    }

    /// Waits until the peer is gone.
    pub async fn closed(&self) {
        self.queue.closed().await;
    }

    /// Bytes that wait to be written.
    pub fn backlog(&self) -> usize {
        self.backlog.borrow().bytes
    }

    async fn wait_until(&self, enough: impl FnMut(&Backlog) -> bool) -> Result<(), Closed> {
        let mut backlog = self.backlog.subscribe();
        tokio::select! {
            biased;
            () = self.queue.closed() => Err(Closed),
            result = backlog.wait_for(enough) => result.map(drop).map_err(|_| Closed),
        }
    }
}

fn too_large(fit::TooLarge { kind, bytes }: fit::TooLarge) -> SendError {
    tracing::error!(kind, bytes, "a message is too long to be sent");
    SendError::TooLarge { bytes }
}

/// The task that owns the way out.
struct Writing {
    writer: Box<dyn FrameWriter>,
    queued: mpsc::UnboundedReceiver<Queued>,
    waiting: VecDeque<Queued>,
    backlog: watch::Sender<Backlog>,
}

impl Writing {
    /// Writes until every [`Outbox`] is gone and nothing waits.
    async fn run(mut self) -> Result<(), FrameError> {
        loop {
            let Some(next) = self.waiting.pop_front() else {
                match self.queued.recv().await {
                    Some(queued) => self.waiting.push_back(queued),
                    None => return Ok(()),
                }
                self.take_what_is_there();
                continue;
            };
            let cost = next.cost();
            let body = match next {
                Queued::Frame(body) => Ok(body),
                Queued::Delta { session, text, .. } => {
                    fit::encode(Outbound::ChatDelta(ChatDelta { session_id: session, text }))
                }
            };
            // Cannot fail: the text was measured when it was queued.
            if let Ok(body) = body.map_err(too_large) {
                let Self { writer, queued, waiting, backlog } = &mut self;
                write_while_queueing(writer, &body, queued, waiting, backlog).await?;
            }
            self.backlog.send_modify(|backlog| {
                backlog.bytes -= cost;
                backlog.messages -= 1;
            });
        }
    }

    fn take_what_is_there(&mut self) {
        // Bounded: a sender on another thread could keep this going for ever.
        for _ in 0..1024 {
            match self.queued.try_recv() {
                Ok(queued) => enqueue(&mut self.waiting, queued, &self.backlog),
                Err(_) => return,
            }
        }
    }
}

/// Writes one body. Meanwhile takes what is queued, so that deltas behind a slow write are joined.
async fn write_while_queueing(
    writer: &mut Box<dyn FrameWriter>,
    body: &[u8],
    queued: &mut mpsc::UnboundedReceiver<Queued>,
    waiting: &mut VecDeque<Queued>,
    backlog: &watch::Sender<Backlog>,
) -> Result<(), FrameError> {
    let mut write = pin!(writer.write(body));
    let mut open = true;
    loop {
        tokio::select! {
            biased;
            written = &mut write => return written,
            more = queued.recv(), if open => match more {
                Some(more) => enqueue(waiting, more, backlog),
                None => open = false,
            },
        }
    }
}

/// Puts `queued` last, or joins it to the last when both are deltas of one session.
fn enqueue(waiting: &mut VecDeque<Queued>, queued: Queued, backlog: &watch::Sender<Backlog>) {
    if let Queued::Delta { session, text, on_wire } = &queued
        && let Some(Queued::Delta { session: last_session, text: last_text, on_wire: last_on_wire }) =
            waiting.back_mut()
        && last_session == session
        && *last_on_wire + on_wire <= JOINED_DELTA
    {
        last_text.push_str(text);
        *last_on_wire += on_wire;
        let saved = queued.cost() - text.len();
        backlog.send_modify(|backlog| {
            backlog.bytes -= saved;
            backlog.messages -= 1;
        });
    } else {
        waiting.push_back(queued);
    }
}
