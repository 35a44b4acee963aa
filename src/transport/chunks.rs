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

#[cfg(test)]
mod tests {
    use super::*;

    type Feed = mpsc::UnboundedSender<io::Result<Bytes>>;

    fn reader() -> (Feed, ChunkReader<mpsc::UnboundedReceiver<io::Result<Bytes>>>) {
        let (feed, chunks) = mpsc::unbounded_channel();
        (feed, ChunkReader::new(chunks))
    }

    fn feed(to: &Feed, bytes: &'static [u8]) {
        to.send(Ok(Bytes::from_static(bytes))).unwrap();
    }

    const DAY: Duration = Duration::from_secs(86_400);

    #[tokio::test(start_paused = true)]
    async fn idle_port_waits_for_ever() {
        let (to, mut reader) = reader();
        feed(&to, b"\x02\0\0\0{}");
        assert_eq!(reader.read().await.unwrap().unwrap(), "{}");
        assert!(tokio::time::timeout(DAY, reader.read()).await.is_err());
        feed(&to, b"\x04\0\0\0null");
        assert_eq!(reader.read().await.unwrap().unwrap(), "null");
    }

    #[tokio::test(start_paused = true)]
    async fn frame_that_stalls_ends_the_stream_after_a_minute() {
        for start in [&b"\x02"[..], b"\x02\0\0\0", b"\x02\0\0\0{"] {
            let (to, mut reader) = reader();
            feed(&to, start);
            let began = Instant::now();
            assert!(matches!(reader.read().await, Err(FrameError::Stalled(STALL_LIMIT))));
            assert_eq!(began.elapsed().as_secs(), 60);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn dropped_read_loses_no_bytes_and_wins_no_time() {
        let (to, mut reader) = reader();
        feed(&to, b"\x02\0\0\0{");
        let began = Instant::now();
        for _ in 0..3 {
            assert!(tokio::time::timeout(Duration::from_secs(15), reader.read()).await.is_err());
        }
        feed(&to, b"}\x02\0");
        assert_eq!(reader.read().await.unwrap().unwrap(), "{}");
        assert!(matches!(reader.read().await, Err(FrameError::Stalled(_))));
        assert_eq!(began.elapsed().as_secs(), 45 + 60);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_sender_is_waited_for_as_long_as_bytes_come() {
        let (to, mut reader) = reader();
        let frame = super::super::frame::encode(&[b'7'; 300]).unwrap();
        let sender = async {
            for byte in frame {
                tokio::time::sleep(Duration::from_secs(1)).await;
                to.send(Ok(Bytes::copy_from_slice(&[byte]))).unwrap();
            }
        };
        let ((), body) = tokio::join!(sender, reader.read());
        assert_eq!(body.unwrap().unwrap(), [b'7'; 300][..]);
    }

    #[tokio::test(start_paused = true)]
    async fn end_inside_a_frame_is_told_from_a_clean_one() {
        let (to, mut clean) = reader();
        drop(to);
        assert!(clean.read().await.unwrap().is_none());
        let (to, mut cut) = reader();
        feed(&to, b"\x05\0\0\0ab");
        drop(to);
        assert!(matches!(cut.read().await, Err(FrameError::Truncated { missing: 3 })));
    }

    #[tokio::test(start_paused = true)]
    async fn input_error_is_passed_on() {
        let (to, mut reader) = reader();
        to.send(Err(io::ErrorKind::ConnectionReset.into())).unwrap();
        assert!(matches!(reader.read().await, Err(FrameError::Io(_))));
    }
}
