//! A connection inside the process: the host's end is a [`Transport`], the other end is a client to
//! write tests with. Bytes pass through the same codec as on a real port.

use std::io;

use async_trait::async_trait;
use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc;

use super::chunks::ChunkReader;
use super::frame::{self, HEADER};
use super::{FrameError, FrameReader, FrameWriter, Transport};
use crate::protocol::Outbound;

/// Frames that the host can write before a peer that does not read makes it wait.
const PIPE: usize = 64;

/// The host's end and the client's end of one connection.
pub fn pair() -> (MemoryTransport, MemoryPeer) {
    let (to_host, from_peer) = mpsc::unbounded_channel();
    let (to_peer, from_host) = mpsc::channel(PIPE);
    (MemoryTransport { input: from_peer, output: to_peer }, MemoryPeer { to_host: Some(to_host), from_host })
}

/// The host's end.
pub struct MemoryTransport {
    input: mpsc::UnboundedReceiver<io::Result<Bytes>>,
    output: mpsc::Sender<Vec<u8>>,
}

impl Transport for MemoryTransport {
    fn split(self: Box<Self>) -> (Box<dyn FrameReader>, Box<dyn FrameWriter>) {
        (Box::new(ChunkReader::new(self.input)), Box::new(MemoryWriter { frames: self.output }))
    }
}

struct MemoryWriter {
    frames: mpsc::Sender<Vec<u8>>,
}

#[async_trait]
impl FrameWriter for MemoryWriter {
    async fn write(&mut self, body: &[u8]) -> Result<(), FrameError> {
        let frame = frame::encode(body)?;
        self.frames.send(frame).await.map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe).into())
    }
}

/// The client's end. Dropping it is a port that broke; [`close`](Self::close) is one that was closed
/// by its owner, who still reads what comes.
pub struct MemoryPeer {
    to_host: Option<mpsc::UnboundedSender<io::Result<Bytes>>>,
    from_host: mpsc::Receiver<Vec<u8>>,
}

impl MemoryPeer {
    /// Sends one message. Does nothing when the host is gone.
    pub fn send(&self, message: Value) {
        self.send_body(message.to_string().as_bytes());
    }

    /// Sends one frame with this body.
    pub fn send_body(&self, body: &[u8]) {
        let length = u32::try_from(body.len()).unwrap_or(u32::MAX);
        let mut bytes = Vec::with_capacity(HEADER + body.len());
        bytes.extend_from_slice(&length.to_le_bytes());
        bytes.extend_from_slice(body);
        self.send_bytes(bytes);
    }

    /// Sends bytes as they are, as one chunk.
    pub fn send_bytes(&self, bytes: impl Into<Bytes>) {
        if let Some(to_host) = &self.to_host {
            let _ = to_host.send(Ok(bytes.into()));
        }
    }

    /// The next message of the host; `None` when it is gone or wrote what is no message.
    pub async fn recv(&mut self) -> Option<Outbound> {
        serde_json::from_slice(&self.recv_body().await?).ok()
    }

    /// The next body of the host; `None` when it is gone.
    pub async fn recv_body(&mut self) -> Option<Vec<u8>> {
        let mut frame = self.from_host.recv().await?;
        Some(frame.split_off(HEADER))
    }

    /// A message of the host that is already there.
    pub fn try_recv(&mut self) -> Option<Outbound> {
        let mut frame = self.from_host.try_recv().ok()?;
        serde_json::from_slice(&frame.split_off(HEADER)).ok()
    }

    /// Ends the stream to the host (`port.disconnect()`); what the host still writes can be read.
    pub fn close(&mut self) {
        self.to_host = None;
    }

    /// Keeps the host's input open for as long as the returned value lives, even when this peer is gone.
    pub fn keep_input_open(&self) -> impl Send + use<> {
        self.to_host.clone()
    }

    /// Breaks the stream to the host with an input error.
    pub fn fail(&mut self, error: io::Error) {
        if let Some(to_host) = self.to_host.take() {
            let _ = to_host.send(Err(error));
        }
    }
}
