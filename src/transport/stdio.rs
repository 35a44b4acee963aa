//! The browser's port: frames over standard input and output.

use std::fs::File;
use std::io::{self, Read, Write};
use std::thread;

use async_trait::async_trait;
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use super::chunks::ChunkReader;
use super::{FrameError, FrameReader, FrameWriter, Transport, frame};

/// Bytes per read; as much as a pipe holds on Linux.
const CHUNK: usize = 64 * 1024;

/// Chunks read ahead; with [`CHUNK`] the most that waits between the reading thread and the decoder.
const READ_AHEAD: usize = 8;

/// Standard input and output as one connection.
///
/// Both sides are threads of their own that nobody waits for: a read or a write that the peer never
/// finishes must not keep the process alive after `main`, as it would inside the async runtime.
pub struct Stdio {
    input: File,
    output: File,
}

impl Stdio {
    /// Takes both streams. Nothing else in the process may use them from here on.
    ///
    /// # Errors
    /// When one of them is closed.
    pub fn open() -> io::Result<Self> {
        Ok(Self { input: stream(io::stdin())?, output: stream(io::stdout())? })
    }
}

/// The stream without the standard library's buffer, which would cut frames into several writes.
#[cfg(unix)]
fn stream(of: impl std::os::fd::AsFd) -> io::Result<File> {
    of.as_fd().try_clone_to_owned().map(File::from)
}

/// The stream without the standard library's buffer, which would cut frames into several writes.
#[cfg(windows)]
fn stream(of: impl std::os::windows::io::AsHandle) -> io::Result<File> {
    of.as_handle().try_clone_to_owned().map(File::from)
}

impl Transport for Stdio {
    fn split(self: Box<Self>) -> (Box<dyn FrameReader>, Box<dyn FrameWriter>) {
        let (chunks, received) = mpsc::channel(READ_AHEAD);
        let (frames, to_write) = mpsc::channel(1);
        let (input, output) = (self.input, self.output);
        let refused = chunks.clone();
        let reading = thread::Builder::new().name("stdin".into()).spawn(move || read_chunks(input, &chunks));
        if let Err(error) = reading {
            let _ = refused.try_send(Err(error));
        }
        // If the thread cannot start, its end of the channel is gone and the first write says so.
        let _ = thread::Builder::new().name("stdout".into()).spawn(move || write_frames(output, to_write));
        (Box::new(ChunkReader::new(received)), Box::new(StdoutWriter { frames }))
    }
}

/// Reads until the end, an error, or nobody listens.
fn read_chunks(mut input: impl Read, chunks: &mpsc::Sender<io::Result<Bytes>>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = match input.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => Ok(Bytes::copy_from_slice(&buffer[..length])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let last = chunk.is_err();
        if chunks.blocking_send(chunk).is_err() || last {
            return;
        }
    }
}

type Write1 = (Vec<u8>, oneshot::Sender<io::Result<()>>);

/// Writes frames one by one until nobody has any more.
fn write_frames(mut output: impl Write, mut frames: mpsc::Receiver<Write1>) {
    while let Some((frame, done)) = frames.blocking_recv() {
        let _ = done.send(output.write_all(&frame).and_then(|()| output.flush()));
    }
}

struct StdoutWriter {
    frames: mpsc::Sender<Write1>,
}

#[async_trait]
impl FrameWriter for StdoutWriter {
    async fn write(&mut self, body: &[u8]) -> Result<(), FrameError> {
        let frame = frame::encode(body)?;
        let (done, written) = oneshot::channel();
        let gone = || io::Error::from(io::ErrorKind::BrokenPipe);
        self.frames.send((frame, done)).await.map_err(|_| gone())?;
        written.await.map_err(|_| gone())??;
        Ok(())
    }
}
