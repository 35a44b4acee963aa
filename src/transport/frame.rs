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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frame(body: &[u8]) -> Vec<u8> {
        let mut frame = u32::try_from(body.len()).unwrap().to_le_bytes().to_vec();
        frame.extend_from_slice(body);
        frame
    }

    /// Feeds `stream` in chunks of `chunk` bytes and hands over every body.
    fn run(decoder: &mut Decoder, stream: &[u8], chunk: usize) -> Vec<Bytes> {
        let mut bodies = Vec::new();
        for chunk in stream.chunks(chunk) {
            decoder.feed(chunk);
            while let Some(body) = decoder.next_body().unwrap() {
                bodies.push(body);
            }
        }
        bodies
    }

    #[test]
    fn byte_at_a_time_gives_the_same_bodies() {
        let stream = [frame(b"{}"), frame(b""), frame(&[7; 300])].concat();
        let mut decoder = Decoder::default();
        let bodies = run(&mut decoder, &stream, 1);
        assert_eq!(bodies, [&b"{}"[..], b"", &[7; 300]]);
        assert!(!decoder.inside_frame());
    }

    #[test]
    fn stream_cut_anywhere_gives_no_body_and_says_what_is_missing() {
        let stream = frame(&[b'x'; 300]);
        for cut in 1..stream.len() {
            let mut decoder = Decoder::default();
            assert!(run(&mut decoder, &stream[..cut], 64).is_empty());
            assert!(decoder.inside_frame());
            let missing = if cut < HEADER { HEADER - cut } else { stream.len() - cut };
            assert_eq!(decoder.missing(), missing, "cut at {cut}");
        }
    }

    #[test]
    fn declared_length_allocates_nothing() {
        for declared in [MAX_INBOUND, MAX_INBOUND + 1, u32::MAX as usize] {
            let mut decoder = Decoder::default();
            decoder.feed(&u32::try_from(declared).unwrap().to_le_bytes());
            let result = decoder.next_body();
            if declared > MAX_INBOUND {
                let error = result.unwrap_err();
                assert!(
                    matches!(error, FrameError::TooLarge { length, limit: MAX_INBOUND } if length == declared)
                );
            } else {
                assert!(result.unwrap().is_none());
            }
            assert!(decoder.buffer.capacity() < 1024, "{}", decoder.buffer.capacity());
        }
    }

    #[test]
    fn largest_body_is_read_and_its_room_given_back() {
        let mut decoder = Decoder::default();
        let mut bodies = run(&mut decoder, &frame(&vec![b' '; MAX_INBOUND]), 65_536);
        assert_eq!(bodies.pop().unwrap().len(), MAX_INBOUND);
        drop(bodies);
        assert!(decoder.buffer.capacity() <= 65_536, "{}", decoder.buffer.capacity());
    }

    /// Bytes moved in memory while a stream of one `size` frame is read.
    fn copied(size: usize, chunk: usize) -> usize {
        let mut decoder = Decoder::default();
        assert_eq!(run(&mut decoder, &frame(&vec![0; size]), chunk).len(), 1);
        decoder.copied
    }

    #[test]
    fn work_grows_in_proportion_to_the_frame() {
        const MIB: usize = 1024 * 1024;
        for (size, chunk) in [(MIB / 4, 1), (2 * MIB, 997), (16 * MIB, 65_536)] {
            let (single, double) = (copied(size, chunk), copied(2 * size, chunk));
            assert!(single <= 3 * size, "{single} bytes moved for {size} in chunks of {chunk}");
            assert!(double * 10 <= single * 25, "{single} → {double} in chunks of {chunk}");
        }
    }

    #[test]
    fn many_big_frames_in_one_chunk_are_linear() {
        let stream = frame(&vec![0; KEEP + 1]).repeat(64);
        let mut decoder = Decoder::default();
        assert_eq!(run(&mut decoder, &stream, stream.len()).len(), 64);
        assert!(decoder.copied <= 3 * stream.len(), "{} of {}", decoder.copied, stream.len());
    }

    #[test]
    fn body_of_exactly_the_limit_is_the_largest_that_is_written() {
        let frame = encode(&vec![b'x'; MAX_OUTBOUND]).unwrap();
        assert_eq!(frame.len(), HEADER + 1_048_576);
        assert_eq!(frame[..HEADER], [0, 0, 16, 0]);
        let error = encode(&vec![b'x'; MAX_OUTBOUND + 1]).unwrap_err();
        assert!(matches!(error, FrameError::TooLarge { length: 1_048_577, limit: 1_048_576 }));
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(
            bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..600), 0..12),
            chunk in 1..700usize,
        ) {
            let stream: Vec<u8> = bodies.iter().flat_map(|body| encode(body).unwrap()).collect();
            let mut decoder = Decoder::default();
            prop_assert_eq!(run(&mut decoder, &stream, chunk), bodies);
            prop_assert_eq!(decoder.missing(), 0);
        }
    }
}
