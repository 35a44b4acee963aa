//! Frames out of a channel of byte chunks, with the limit on frames that stall.

use std::io;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::frame::Decoder;
use super::{FrameError, FrameReader};

/// How long the next bytes of a frame that has begun may take. Between frames there is no limit:
/// a port may be idle for days.
pub const STALL_LIMIT: Duration = Duration::from_secs(60);

/// What a thread or a test feeds a [`ChunkReader`] with.
pub(super) trait Chunks: Send {
    /// The next chunk; `None` at the end. Cancel safe.
    fn next(&mut self) -> impl Future<Output = Option<io::Result<Bytes>>> + Send;
}

impl Chunks for mpsc::Receiver<io::Result<Bytes>> {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        self.recv().await
    }
}

impl Chunks for mpsc::UnboundedReceiver<io::Result<Bytes>> {
    async fn next(&mut self) -> Option<io::Result<Bytes>> {
        self.recv().await
    }
}

/// Reads frames from chunks.
pub(super) struct ChunkReader<C> {
    chunks: C,
    decoder: Decoder,
    /// When the last bytes came.
    progress: Instant,
}

impl<C> ChunkReader<C> {
    pub(super) fn new(chunks: C) -> Self {
        Self { chunks, decoder: Decoder::default(), progress: Instant::now() }
    }
}

#[async_trait]
impl<C: Chunks> FrameReader for ChunkReader<C> {
    async fn read(&mut self) -> Result<Option<Bytes>, FrameError> {
        loop {
            if let Some(body) = self.decoder.next_body()? {
                return Ok(Some(body));
            }
            let chunk = if self.decoder.inside_frame() {
                // The deadline hangs on the last bytes, not on this call, so it survives a dropped future.
                tokio::time::timeout_at(self.progress + STALL_LIMIT, self.chunks.next())
                    .await
                    .map_err(|_| FrameError::Stalled(STALL_LIMIT))?
            } else {
                self.chunks.next().await
            };
            match chunk {
                Some(Ok(chunk)) => {
                    self.progress = Instant::now();
                    self.decoder.feed(&chunk);
                }
                Some(Err(error)) => return Err(error.into()),
                None if self.decoder.inside_frame() => {
                    return Err(FrameError::Truncated { missing: self.decoder.missing() });
                }
                None => return Ok(None),
            }
        }
    }
}
