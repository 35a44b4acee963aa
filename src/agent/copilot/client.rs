//! JSON-RPC over the CLI's pipes: calls with time limits, events to whoever runs the turn.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::event::{self, SessionEvent, What};
use super::frame::{self, FrameDecoder};
use super::wire::{PermissionAnswer, PermissionDecision};
use crate::rpc::Pending;

/// Frames that may wait for the CLI to read them. A CLI that does not read holds up calls, which then
/// end by their time limit.
const OUTGOING: usize = 64;

/// Events that may wait for a turn. A turn takes them at once, whatever its own reader does.
const EVENTS: usize = 1024;

/// Size of one read, in bytes.
const CHUNK: usize = 64 * 1024;

/// Chunks that are read ahead of what was taken apart: 64 MiB. A CLI that finds its pipe full delivers
/// events again and out of order, so the pipe is emptied whatever else is slow.
const READ_AHEAD: usize = 1024;

/// Why a call has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CallError {
    /// The CLI is gone.
    #[error("the Copilot CLI is gone")]
    Closed,
    /// No answer came.
    #[error("the Copilot CLI did not answer `{method}` within {} s", limit.as_secs())]
    Timeout {
        /// What was asked.
        method: &'static str,
        /// How long was waited.
        limit: Duration,
    },
    /// The CLI said no.
    #[error("the Copilot CLI refused `{method}`: {message}")]
    Refused {
        /// What was asked.
        method: &'static str,
        /// JSON-RPC code; -32601 = no such method.
        code: i64,
        /// Why.
        message: String,
    },
    /// The answer has another shape than expected.
    #[error("the Copilot CLI answered `{method}` in an unknown form: {detail}")]
    Malformed {
        /// What was asked.
        method: &'static str,
        /// What is wrong.
        detail: String,
    },
}

impl CallError {
    /// Whether this CLI does not know the method.
    pub fn is_unknown_method(&self) -> bool {
        matches!(self, Self::Refused { code: -32601, .. })
    }

    /// Whether the CLI refused with these words. For what it has no code for.
    pub fn says(&self, words: &str) -> bool {
        matches!(self, Self::Refused { message, .. } if message.contains(words))
    }
}

type Answer = Result<Box<RawValue>, RpcError>;

#[derive(Debug, Deserialize)]
struct RpcError {
    #[serde(default)]
    code: i64,
    #[serde(default)]
    message: String,
}

/// One connection. Clones share it; it ends when all are dropped or the CLI goes.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    port: Port,
    routes: mpsc::Sender<Route>,
    closed: CancellationToken,
    why: Arc<OnceLock<String>>,
    /// Reader and writer; dropping ends both.
    _tasks: JoinSet<()>,
}

/// The sending half.
#[derive(Debug, Clone)]
struct Port {
    outgoing: mpsc::Sender<Bytes>,
    pending: Pending<u64, Answer>,
    next_id: Arc<AtomicU64>,
}

#[derive(Debug)]
struct Route {
    session_id: String,
    events: mpsc::Sender<SessionEvent>,
}

impl Client {
    /// Starts to read and write.
    pub fn connect(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let (outgoing, frames) = mpsc::channel(OUTGOING);
        let (routes, new_routes) = mpsc::channel(16);
        let port = Port { outgoing, pending: Pending::default(), next_id: Arc::new(AtomicU64::new(1)) };
        let closed = CancellationToken::new();
        let why = Arc::new(OnceLock::new());
        let mut tasks = JoinSet::new();
        tasks.spawn(write_frames(writer, frames, closed.clone()));
        let (chunks, incoming) = mpsc::channel(READ_AHEAD);
        tasks.spawn(read_chunks(reader, chunks, closed.clone()));
        let reading = Reading { port: port.clone(), new_routes, routes: Vec::new(), replies: JoinSet::new() };
        let (end, reason) = (closed.clone(), Arc::clone(&why));
        tasks.spawn(async move {
            let pending = reading.port.pending.clone();
            // Turns learn of the end by the end of their events, which are sent from here.
            let text = end.run_until_cancelled(reading.run(incoming)).await;
            let _ = reason.set(text.unwrap_or_else(|| "Browy closed the connection".to_owned()));
            pending.close();
            end.cancel();
        });
        Self { shared: Arc::new(Shared { port, routes, closed, why, _tasks: tasks }) }
    }

    /// Calls a method and waits for its result.
    ///
    /// # Errors
    /// [`CallError`]; after `limit` at the latest.
    pub async fn call<R: DeserializeOwned>(
        &self,
        method: &'static str,
        params: &(impl Serialize + Sync),
        limit: Duration,
    ) -> Result<R, CallError> {
        let port = &self.shared.port;
        let id = port.next_id.fetch_add(1, Ordering::Relaxed);
        let frame = request(id, method, params)?;
        let mut waiting = port.pending.open(id);
        let exchange = async {
            port.outgoing.send(frame).await.map_err(|_| CallError::Closed)?;
            waiting.answer().await.ok_or(CallError::Closed)
        };
        match tokio::time::timeout(limit, exchange).await {
            Err(_) => Err(CallError::Timeout { method, limit }),
            Ok(Err(error)) => Err(error),
            Ok(Ok(Err(RpcError { code, message }))) => Err(CallError::Refused { method, code, message }),
            Ok(Ok(Ok(result))) => serde_json::from_str(result.get())
                .map_err(|error| CallError::Malformed { method, detail: place(&error) }),
        }
    }

    /// From now on the session's events go to the returned receiver; an earlier receiver gets no more.
    /// It ends with the connection.
    pub async fn events_of(&self, session_id: &str) -> mpsc::Receiver<SessionEvent> {
        let (events, receiver) = mpsc::channel(EVENTS);
        // On a closed connection the sender is dropped here, so the receiver ends at once.
        let _ = self.shared.routes.send(Route { session_id: session_id.to_owned(), events }).await;
        receiver
    }

    /// Waits for the end of the connection.
    pub async fn closed(&self) {
        self.shared.closed.cancelled().await;
    }

    /// Whether the connection has ended: what is given to it now goes nowhere.
    pub fn is_closed(&self) -> bool {
        self.shared.closed.is_cancelled()
    }

    /// Why the connection ended, once it has.
    pub fn why_closed(&self) -> Option<&str> {
        self.shared.why.get().map(String::as_str)
    }

    /// Ends the connection: the CLI reads the end of its input.
    pub fn close(&self) {
        self.shared.closed.cancel();
        self.shared.port.pending.close();
    }
}

fn request(id: u64, method: &'static str, params: &impl Serialize) -> Result<Bytes, CallError> {
    #[derive(Serialize)]
    struct Request<'a, P> {
        jsonrpc: &'static str,
        id: u64,
        method: &'static str,
        params: &'a P,
    }
    serde_json::to_vec(&Request { jsonrpc: "2.0", id, method, params })
        .map(|body| frame::encode(&body))
        .map_err(|error| CallError::Malformed { method, detail: place(&error) })
}

/// Writes whole frames, so that a caller who gives up never leaves half of one in the pipe.
async fn write_frames(
    mut writer: impl AsyncWrite + Send + Unpin,
    mut frames: mpsc::Receiver<Bytes>,
    closed: CancellationToken,
) {
    loop {
        let frame = tokio::select! {
            () = closed.cancelled() => return,
            frame = frames.recv() => frame,
        };
        let Some(frame) = frame else { return };
        let written = tokio::select! {
            () = closed.cancelled() => return,
            written = async { writer.write_all(&frame).await?; writer.flush().await } => written,
        };
        if let Err(error) = written {
            // The reader sees the end too and says why.
            tracing::debug!(%error, "copilot: the CLI takes no more input");
            return;
        }
    }
}

/// Empties the pipe.
async fn read_chunks(
    mut reader: impl AsyncRead + Send + Unpin,
    chunks: mpsc::Sender<std::io::Result<Bytes>>,
    closed: CancellationToken,
) {
    let mut buffer = BytesMut::new();
    loop {
        buffer.reserve(CHUNK);
        let read = tokio::select! {
            () = closed.cancelled() => return,
            read = reader.read_buf(&mut buffer) => read,
        };
        let chunk = match read {
            Ok(0) => return,
            Ok(_) => Ok(buffer.split().freeze()),
            Err(error) => Err(error),
        };
        let failed = chunk.is_err();
        if chunks.send(chunk).await.is_err() || failed {
            return;
        }
    }
}

/// The receiving half.
struct Reading {
    port: Port,
    new_routes: mpsc::Receiver<Route>,
    routes: Vec<Route>,
    /// Answers on their way out: the reader never waits for the writer, or both sides could wait for
    /// each other.
    replies: JoinSet<()>,
}

#[derive(Deserialize)]
struct Incoming<'a> {
    #[serde(default)]
    id: Option<Value>,
    #[serde(default)]
    method: Option<String>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<RpcError>,
}

impl Reading {
    /// Takes apart what was read, until the end; gives its reason.
    async fn run(mut self, mut chunks: mpsc::Receiver<std::io::Result<Bytes>>) -> String {
        let mut decoder = FrameDecoder::default();
        loop {
            tokio::select! {
                biased;
                Some(route) = self.new_routes.recv() => self.add(route),
                Some(_) = self.replies.join_next() => {}
                chunk = chunks.recv() => match chunk {
                    None => return "it closed its output".to_owned(),
                    Some(Ok(chunk)) => {
                        decoder.buffer().extend_from_slice(&chunk);
                        if let Err(reason) = self.take(&mut decoder).await {
                            return reason;
                        }
                    }
                    Some(Err(error)) => return format!("its output cannot be read: {error}"),
                },
            }
        }
    }

    async fn take(&mut self, decoder: &mut FrameDecoder) -> Result<(), String> {
        let skipped = decoder.skipped();
        while let Some(body) = decoder.next_body().map_err(|error| error.to_string())? {
            // A turn registers before its request is written, so its events find it.
            while let Ok(route) = self.new_routes.try_recv() {
                self.add(route);
            }
            self.message(&body).await;
        }
        if decoder.skipped() > skipped {
            tracing::warn!("copilot: skipped a message larger than {} bytes", frame::MAX_BODY);
        }
        Ok(())
    }

    fn add(&mut self, route: Route) {
        self.routes.retain(|old| old.session_id != route.session_id && !old.events.is_closed());
        self.routes.push(route);
    }

    async fn message(&mut self, body: &[u8]) {
        if event::is_bulk(body) {
            return;
        }
        let incoming: Incoming<'_> = match serde_json::from_slice(body) {
            Ok(incoming) => incoming,
            Err(error) => {
                // The parser quotes what it found, which is the chat's and not for the log.
                tracing::warn!(column = error.column(), "copilot: dropped a message that is not JSON-RPC");
                return;
            }
        };
        match (incoming.method.as_deref(), incoming.id) {
            (Some("session.event"), None) => {
                if let Some(params) = incoming.params {
                    self.event(params).await;
                }
            }
            (Some(method), Some(id)) => self.serve(method, id),
            (Some(_), None) => {}
            (None, id) => self.answer(id.as_ref().and_then(Value::as_u64), incoming.result, incoming.error),
        }
    }

    fn answer(&self, id: Option<u64>, result: Option<&RawValue>, error: Option<RpcError>) {
        let Some(id) = id else { return };
        let answer = match error {
            Some(error) => Err(error),
            None => Ok(result.unwrap_or(RawValue::NULL).to_owned()),
        };
        if self.port.pending.answer(&id, answer).is_err() {
            tracing::debug!(id, "copilot: nobody waits for this answer any more");
        }
    }

    /// Answers a request of the CLI.
    fn serve(&mut self, method: &str, id: Value) {
        let reply = match event::answer_request(method) {
            Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            None => {
                tracing::debug!(method, "copilot: refused a request of the CLI");
                let message = format!("this host does not serve {method}");
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": message}})
            }
        };
        self.send_soon(frame::encode(reply.to_string().as_bytes()));
    }

    async fn event(&mut self, params: &RawValue) {
        let (session_id, event) = match event::parse(params) {
            Ok(parsed) => parsed,
            Err(error) => {
                tracing::warn!(column = error.column(), "copilot: dropped an event of an unknown form");
                return;
            }
        };
        if let What::Unanswerable { method, params } = event.what {
            self.call_soon(method, &params);
            return;
        }
        let unheard = match self.routes.iter().find(|route| route.session_id == session_id) {
            Some(route) => route.events.send(event).await.err().map(|returned| returned.0),
            None => Some(event),
        };
        if let Some(event) = unheard {
            self.refuse(&session_id, event.what);
        }
    }

    /// Nobody runs a turn in this session: what waits for an answer gets a refusal.
    fn refuse(&mut self, session_id: &str, what: What) {
        const WHY: &str = "The turn is over; this was not done.";
        match what {
            What::ToolRequested { request_id, .. } => self.call_soon(
                "session.tools.handlePendingToolCall",
                &json!({"sessionId": session_id, "requestId": request_id, "error": WHY}),
            ),
            What::PermissionRequested { request_id, .. } => self.call_soon(
                "session.permissions.handlePendingPermissionRequest",
                &PermissionAnswer {
                    session_id,
                    request_id: &request_id,
                    result: PermissionDecision::of(false, WHY),
                },
            ),
            _ => {}
        }
    }

    /// A call whose answer nobody reads.
    fn call_soon(&mut self, method: &'static str, params: &impl Serialize) {
        let id = self.port.next_id.fetch_add(1, Ordering::Relaxed);
        match request(id, method, params) {
            Ok(frame) => self.send_soon(frame),
            Err(error) => tracing::warn!(%error, "copilot: cannot send"),
        }
    }

    fn send_soon(&mut self, frame: Bytes) {
        let outgoing = self.port.outgoing.clone();
        self.replies.spawn(async move {
            let _ = outgoing.send(frame).await;
        });
    }
}
/// Where a text is not what was expected; without the text, which is not for the log.
fn place(error: &serde_json::Error) -> String {
    format!("{:?} error at column {}", error.classify(), error.column())
}
