//! The codec: a 4-byte little-endian length, then that many bytes of body. No input or output here.

use byteorder::{ByteOrder, LittleEndian};
use bytes::{Buf, Bytes, BytesMut};

use super::FrameError;
use crate::protocol::limits::{MAX_INBOUND, MAX_OUTBOUND};

/// Bytes of a header.
pub const HEADER: usize = 4;

/// Above this the decoder gives a finished body its whole buffer instead of keeping the room for later.
const KEEP: usize = 256 * 1024;

/// Turns chunks of any size into bodies.
///
/// Its buffer grows with the bytes that arrived, never with the length that a header declares.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: BytesMut,
    #[cfg(test)]
    copied: usize,
}

impl Decoder {
    /// Takes the next bytes of the stream. Call [`next_body`](Self::next_body) until it has no more.
    pub fn feed(&mut self, chunk: &[u8]) {
        #[cfg(test)]
        {
            let moved = self.buffer.capacity() - self.buffer.len() < chunk.len();
            self.copied += chunk.len() + if moved { self.buffer.len() } else { 0 };
        }
        self.buffer.extend_from_slice(chunk);
    }

    /// The next whole body, or `None` when more bytes are needed.
    ///
    /// # Errors
    /// [`FrameError::TooLarge`] for a declared length above 64 MiB, as soon as the header is there.
    /// The stream is of no use after that.
    pub fn next_body(&mut self) -> Result<Option<Bytes>, FrameError> {
        let Some(length) = self.declared() else { return Ok(None) };
        if length > MAX_INBOUND {
            return Err(FrameError::TooLarge { length, limit: MAX_INBOUND });
        }
        if self.buffer.len() < HEADER + length {
            return Ok(None);
        }
        self.buffer.advance(HEADER);
        let body = self.buffer.split_to(length);
        // A host that once got a big frame would otherwise keep the room for it for ever. Copying no
        // more than the frame's own length keeps the whole linear.
        if length > KEEP && self.buffer.len() <= length {
            #[cfg(test)]
            {
                self.copied += self.buffer.len();
            }
            self.buffer = BytesMut::from(&self.buffer[..]);
        }
        Ok(Some(body.freeze()))
    }

    /// Whether a frame has begun that is not yet whole.
    pub fn inside_frame(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// Bytes missing to the end of the frame that has begun, or of its header.
    pub fn missing(&self) -> usize {
        match self.declared() {
            Some(length) => (HEADER + length).saturating_sub(self.buffer.len()),
            None if self.inside_frame() => HEADER - self.buffer.len(),
            None => 0,
        }
    }

    fn declared(&self) -> Option<usize> {
        self.buffer.get(..HEADER).map(|header| LittleEndian::read_u32(header) as usize)
    }
}

/// Header and body as one piece, so that they are written as one.
///
/// # Errors
/// [`FrameError::TooLarge`] for a body over 1,048,576 bytes: the browser kills the port over it.
pub fn encode(body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let too_large = FrameError::TooLarge { length: body.len(), limit: MAX_OUTBOUND };
    if body.len() > MAX_OUTBOUND {
        return Err(too_large);
    }
    let Ok(length) = u32::try_from(body.len()) else { return Err(too_large) };
    let mut frame = vec![0; HEADER + body.len()];
    LittleEndian::write_u32(&mut frame[..HEADER], length);
    frame[HEADER..].copy_from_slice(body);
    Ok(frame)
}
