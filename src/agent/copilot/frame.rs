//! `Content-Length` framing of the CLI's JSON-RPC. No IO.

use bytes::{Buf, Bytes, BytesMut};

/// Largest body that is read into memory, in bytes. The largest frames seen are whole transcripts
/// (3.8 MB for a 4.8 MB chat); a bigger body is skipped, not kept.
pub const MAX_BODY: usize = 64 * 1024 * 1024;

/// Text outside of frames that is tolerated before the other side counts as something else than a
/// CLI server, in bytes.
const MAX_STRAY: usize = 64 * 1024;

/// The other side does not speak the protocol.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it printed text instead of protocol frames, beginning with {0:?}")]
pub struct NotFramed(pub String);

/// Turns bytes into bodies.
#[derive(Debug, Default)]
pub struct FrameDecoder {
    buffer: BytesMut,
    expect: Expect,
    stray: usize,
    scanned: usize,
    skipped: u64,
}

#[derive(Debug, Clone, Copy, Default)]
enum Expect {
    #[default]
    Header,
    /// A length was named; the blank line that ends the header has not come yet.
    HeaderEnd(usize),
    Body(usize),
    Skip(usize),
}

impl FrameDecoder {
    /// Where the next bytes go.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// How many bodies were too large to keep.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The next whole body; `None` until more bytes come.
    ///
    /// # Errors
    /// [`NotFramed`] after more than 64 KiB of text that is no header.
    pub fn next_body(&mut self) -> Result<Option<Bytes>, NotFramed> {
        loop {
            match self.expect {
                Expect::Body(length) => {
                    if self.buffer.len() < length {
                        self.buffer.reserve(length - self.buffer.len());
                        return Ok(None);
                    }
                    self.expect = Expect::Header;
                    return Ok(Some(self.buffer.split_to(length).freeze()));
                }
                Expect::Skip(length) => {
                    let here = length.min(self.buffer.len());
                    self.buffer.advance(here);
                    if here < length {
                        self.expect = Expect::Skip(length - here);
                        return Ok(None);
                    }
                    self.expect = Expect::Header;
                }
                Expect::Header | Expect::HeaderEnd(_) => {
                    let Some(line) = self.line()? else { return Ok(None) };
                    self.header_line(&line)?;
                }
            }
        }
    }

    /// One header line without its line break.
    fn line(&mut self) -> Result<Option<Bytes>, NotFramed> {
        // What was searched before is not searched again.
        let found = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n');
        let Some(offset) = found else {
            self.scanned = self.buffer.len();
            if self.stray + self.scanned > MAX_STRAY {
                return Err(not_framed(&self.buffer));
            }
            return Ok(None);
        };
        let mut line = self.buffer.split_to(self.scanned + offset + 1);
        self.scanned = 0;
        let length = line.len();
        line.truncate(length - if line.ends_with(b"\r\n") { 2 } else { 1 });
        Ok(Some(line.freeze()))
    }

    fn header_line(&mut self, line: &[u8]) -> Result<(), NotFramed> {
        if line.is_empty() {
            if let Expect::HeaderEnd(length) = self.expect {
                self.stray = 0;
                if length > MAX_BODY {
                    self.skipped += 1;
                    self.expect = Expect::Skip(length);
                } else {
                    self.expect = Expect::Body(length);
                }
            }
            return Ok(());
        }
        if let Some(length) = content_length(line) {
            self.expect = Expect::HeaderEnd(length);
            return Ok(());
        }
        // Other headers, and lines that a library printed to the wrong stream.
        self.stray += line.len() + 1;
        if self.stray > MAX_STRAY { Err(not_framed(line)) } else { Ok(()) }
    }
}

fn not_framed(text: &[u8]) -> NotFramed {
    let shown = String::from_utf8_lossy(&text[..text.len().min(200)]);
    NotFramed(shown.chars().take(160).collect())
}

fn content_length(line: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let (name, value) = line.split_at_checked(NAME.len())?;
    if !name.eq_ignore_ascii_case(NAME) {
        return None;
    }
    std::str::from_utf8(value).ok()?.trim().parse().ok()
}

/// A whole frame around `body`.
pub fn encode(body: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(body.len() + 32);
    frame.extend_from_slice(format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes());
    frame.extend_from_slice(body);
    frame.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode_all(decoder: &mut FrameDecoder, bytes: &[u8]) -> Vec<Vec<u8>> {
        decoder.buffer().extend_from_slice(bytes);
        let mut bodies = Vec::new();
        while let Some(body) = decoder.next_body().unwrap() {
            bodies.push(body.to_vec());
        }
        bodies
    }

    #[test]
    fn header_name_is_case_blind_and_other_headers_are_ignored() {
        let mut decoder = FrameDecoder::default();
        let bodies = decode_all(
            &mut decoder,
            b"a stray line\nContent-Type: x\r\ncontent-LENGTH:2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]",
        );
        assert_eq!(bodies, [b"{}".to_vec(), b"[1]".to_vec()]);
    }

    #[test]
    fn endless_text_is_not_a_server() {
        let mut decoder = FrameDecoder::default();
        decoder.buffer().extend_from_slice(&vec![b'x'; MAX_STRAY + 1]);
        assert!(decoder.next_body().is_err());
        let mut decoder = FrameDecoder::default();
        decoder.buffer().extend_from_slice("usage: something\n".repeat(5000).as_bytes());
        assert_eq!(decoder.next_body(), Err(NotFramed("usage: something".to_owned())));
    }

    #[test]
    fn oversized_body_is_skipped_and_the_next_one_read() {
        let mut decoder = FrameDecoder::default();
        let header = format!("Content-Length: {}\r\n\r\n", MAX_BODY + 1);
        assert!(decode_all(&mut decoder, header.as_bytes()).is_empty());
        let chunk = vec![b'x'; 1024 * 1024];
        for _ in 0..64 {
            assert!(decode_all(&mut decoder, &chunk).is_empty());
            assert!(decoder.buffer.is_empty(), "skipped bytes are not kept");
        }
        assert_eq!(decode_all(&mut decoder, b"xContent-Length: 2\r\n\r\n{}"), [b"{}".to_vec()]);
        assert_eq!(decoder.skipped(), 1);
    }

    proptest! {
        #[test]
        fn bodies_survive_any_cut(bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..200), 1..8),
                                  size in 1usize..50) {
            let mut wire = Vec::new();
            for body in &bodies {
                wire.extend_from_slice(&encode(body));
            }
            let mut decoder = FrameDecoder::default();
            let mut got = Vec::new();
            for piece in wire.chunks(size) {
                got.extend(decode_all(&mut decoder, piece));
            }
            prop_assert_eq!(got, bodies);
        }

        #[test]
        fn junk_never_panics(junk in prop::collection::vec(any::<u8>(), 0..4000)) {
            let mut decoder = FrameDecoder::default();
            decoder.buffer().extend_from_slice(&junk);
            while let Ok(Some(_)) = decoder.next_body() {}
        }
    }
}
