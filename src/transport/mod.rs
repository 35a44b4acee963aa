//! How frames travel. Knows bytes and limits, not what is being said.
//!
//! [`link::open`] turns a [`Transport`] into messages in and messages out; [`frame`] is the codec,
//! [`stdio`] the browser's port, [`memory`] a connection inside the process.

mod chunks;
mod fit;
pub mod frame;
pub mod link;
pub mod memory;
mod outbox;
mod rejections;
pub mod stdio;

pub use chunks::STALL_LIMIT;
pub use link::{Closed, Inbox, LinkTasks, Outbox, SendError};
pub use rejections::Rejections;

use async_trait::async_trait;
use bytes::Bytes;

/// One connection to a client: the browser's stdio today, a terminal's socket later, a pair of
/// queues in tests.
pub trait Transport: Send + 'static {
    /// Both directions, each for its own task.
    fn split(self: Box<Self>) -> (Box<dyn FrameReader>, Box<dyn FrameWriter>);
}

/// The inbound half.
#[async_trait]
pub trait FrameReader: Send {
    /// The next body; `None` at the end of the stream.
    ///
    /// # Errors
    /// After an error the stream cannot be read any further.
    ///
    /// # Cancel safety
    /// Dropping the future loses no bytes.
    async fn read(&mut self) -> Result<Option<Bytes>, FrameError>;
}

/// The outbound half.
#[async_trait]
pub trait FrameWriter: Send {
    /// Writes one body, header first, as one piece.
    ///
    /// # Errors
    /// [`FrameError::TooLarge`] without writing anything; otherwise the peer is gone.
    async fn write(&mut self, body: &[u8]) -> Result<(), FrameError>;
}

/// Why a stream of frames ended early.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The stream ended inside a frame.
    #[error("the stream ended {missing} bytes before the end of a frame")]
    Truncated {
        /// Bytes that did not come.
        missing: usize,
    },
    /// A length above the limit: as good as junk, and nothing after it can be trusted.
    #[error("a frame of {length} bytes is over the limit of {limit}")]
    TooLarge {
        /// The frame's length in bytes.
        length: usize,
        /// The limit in bytes.
        limit: usize,
    },
    /// A frame stalled half-way.
    #[error("a frame stalled for {0:?}")]
    Stalled(std::time::Duration),
    /// The stream failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}
