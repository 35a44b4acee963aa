//! One open connection: messages in, messages out, and the two tasks that carry them.

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{FrameError, FrameReader, Transport, outbox};
use crate::protocol::limits::MAX_INBOUND;
use crate::protocol::{ChatError, ErrorCode, Inbound, Outbound, ProtocolError};

pub use super::outbox::{Closed, HIGH_WATER, Outbox, SendError};

/// Messages read ahead of the one who handles them.
const READ_AHEAD: usize = 32;

/// Bodies above this are parsed outside the async threads: 64 MiB of JSON take a while.
const PARSE_APART: usize = 1024 * 1024;

/// Opens a connection over a transport: a reading task and a writing task, owned by the returned guard.
pub fn open(transport: Box<dyn Transport>) -> (Inbox, Outbox, LinkTasks) {
    let (reader, writer) = transport.split();
    let (messages, received) = mpsc::channel(READ_AHEAD);
    let peer_gone = CancellationToken::new();
    let mut tasks = JoinSet::new();
    let outbox = outbox::open(writer, peer_gone.clone(), &mut tasks);
    tasks.spawn(read_messages(reader, messages, outbox.clone(), peer_gone));
    (Inbox { messages: received, end: None }, outbox, LinkTasks { tasks })
}

/// The inbound side.
pub struct Inbox {
    messages: mpsc::Receiver<Read>,
    end: Option<FrameError>,
}

enum Read {
    Message(Result<Inbound, ProtocolError>),
    End(FrameError),
}

impl Inbox {
    /// The next message; `None` when the connection has ended, cleanly or not ([`end`](Self::end)).
    ///
    /// # Errors
    /// One message was no good; the next may be. Not yet answered: see
    /// [`Rejections`](super::Rejections).
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn recv(&mut self) -> Option<Result<Inbound, ProtocolError>> {
        if self.end.is_some() {
            return None;
        }
        match self.messages.recv().await? {
            Read::Message(message) => Some(message),
            Read::End(error) => {
                self.end = Some(error);
                None
            }
        }
    }

    /// What broke the connection; `None` while it lives, after a clean end, and when the peer stopped reading.
    pub fn end(&self) -> Option<&FrameError> {
        self.end.as_ref()
    }
}

/// The two tasks. Dropping this aborts them.
pub struct LinkTasks {
    tasks: JoinSet<()>,
}

impl LinkTasks {
    /// Waits until both tasks are done: the reader when the stream ended or the [`Inbox`] is gone, the
    /// writer when every [`Outbox`] is gone and all is written, or the peer is gone. A peer that does
    /// not read can hold this up for ever: give it a deadline.
    pub async fn join(mut self) {
        while let Some(ended) = self.tasks.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "a task of the connection failed");
            }
        }
    }
}

async fn read_messages(
    mut reader: Box<dyn FrameReader>,
    messages: mpsc::Sender<Read>,
    outbox: Outbox,
    peer_gone: CancellationToken,
) {
    loop {
        let read = tokio::select! {
            biased;
            () = messages.closed() => return,
            () = peer_gone.cancelled() => return,
            read = reader.read() => read,
        };
        let next = match read {
            Ok(Some(body)) if body.len() <= PARSE_APART => Read::Message(Inbound::decode(&body)),
            Ok(Some(body)) => match tokio::task::spawn_blocking(move || Inbound::decode(&body)).await {
                Ok(message) => Read::Message(message),
                Err(error) => Read::Message(Err(ProtocolError::NotJson(error.to_string()))),
            },
            Ok(None) => return,
            Err(error) => Read::End(error),
        };
        let last = match &next {
            Read::End(error) => {
                tracing::warn!(%error, "the connection is broken");
                if let Some(message) = farewell(error) {
                    let _ = outbox.send(message);
                }
                true
            }
            Read::Message(_) => false,
        };
        tokio::select! {
            biased;
            () = peer_gone.cancelled() => return,
            sent = messages.send(next) => if sent.is_err() || last { return },
        }
    }
}

/// What a peer that still listens is told before the connection ends.
fn farewell(error: &FrameError) -> Option<Outbound> {
    let (code, message) = match error {
        FrameError::TooLarge { length, .. } => (
            ErrorCode::Unsupported,
            format!(
                "A message of {length} bytes was announced; {MAX_INBOUND} is the limit. The connection ends."
            ),
        ),
        FrameError::Stalled(limit) => (
            ErrorCode::Timeout,
            format!("A message stopped half-way for {} s. The connection ends.", limit.as_secs()),
        ),
        FrameError::Truncated { .. } | FrameError::Io(_) => return None,
    };
    Some(Outbound::ChatError(ChatError {
        session_id: None,
        message,
        code,
        turn_id: None,
        duration_ms: None,
        request_id: None,
    }))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::super::memory::{self, MemoryPeer};
    use super::*;
    use crate::protocol::limits::MAX_OUTBOUND;
    use crate::protocol::{CdpSend, ChatDelta, SessionRef};

    fn link() -> (Inbox, Outbox, LinkTasks, MemoryPeer) {
        let (transport, peer) = memory::pair();
        let (inbox, outbox, tasks) = open(Box::new(transport));
        (inbox, outbox, tasks, peer)
    }

    fn delta(session: &str, text: &str) -> Outbound {
        Outbound::ChatDelta(ChatDelta { session_id: session.into(), text: text.into() })
    }

    fn cdp(params: Value) -> Outbound {
        Outbound::CdpSend(CdpSend {
            session_id: "s".into(),
            call_id: "c".into(),
            tab_id: None,
            cdp_session_id: None,
            method: "Page.enable".into(),
            params,
        })
    }

    fn session_end() -> Value {
        json!({"type": "session.end", "sessionId": "s"})
    }

    async fn soon<T>(what: impl Future<Output = T>) -> T {
        tokio::time::timeout(Duration::from_secs(5), what).await.unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn messages_pass_both_ways_in_order() {
        let (mut inbox, outbox, _tasks, mut peer) = link();
        for n in 0..100 {
            peer.send(json!({"type": "session.end", "sessionId": n.to_string()}));
            outbox.send(cdp(json!(n))).unwrap();
        }
        for n in 0..100 {
            let Some(Ok(Inbound::SessionEnd(SessionRef { session_id }))) = inbox.recv().await else {
                panic!()
            };
            assert_eq!(session_id.as_str(), n.to_string());
            assert_eq!(peer.recv().await, Some(cdp(json!(n))));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn junk_costs_one_message_and_not_the_port() {
        let (mut inbox, _outbox, _tasks, peer) = link();
        let junk: [&[u8]; 12] = [
            b"",
            b"null",
            b"42",
            b"[]",
            b"\"hello\"",
            b"{}",
            b"{\"type\":7}",
            b"{\"type\":\"hello\"}",
            b"{\"type\":\"no.such\"}",
            b"\x00\xff\xfe",
            b"{\"type\":",
            b"1e400",
        ];
        for body in junk {
            peer.send_body(body);
            assert!(inbox.recv().await.unwrap().is_err(), "{body:?}");
        }
        peer.send(session_end());
        assert!(inbox.recv().await.unwrap().is_ok());
        assert!(inbox.end().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn hopeless_length_is_told_once_and_ends_the_link_at_once() {
        for declared in [67_108_865, u32::MAX] {
            let (mut inbox, outbox, tasks, mut peer) = link();
            let began = Instant::now();
            peer.send(session_end());
            peer.send_bytes([&declared.to_le_bytes()[..], b"and more"].concat());
            assert!(inbox.recv().await.unwrap().is_ok());
            assert!(inbox.recv().await.is_none());
            assert!(matches!(inbox.end(), Some(FrameError::TooLarge { .. })));
            assert!(inbox.recv().await.is_none(), "ended is ended");
            outbox.flushed().await;
            let Some(Outbound::ChatError(error)) = peer.recv().await else { panic!() };
            assert_eq!((error.code, error.session_id), (ErrorCode::Unsupported, None));
            assert!(error.message.contains(&declared.to_string()) && error.message.len() <= 200);
            drop(outbox);
            soon(tasks.join()).await;
            assert_eq!(peer.recv().await, None);
            assert!(began.elapsed() < Duration::from_millis(100));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_frame_is_told_and_ends_the_link() {
        let (mut inbox, _outbox, _tasks, mut peer) = link();
        peer.send_bytes(&b"\x10\0\0\0{"[..]);
        assert!(inbox.recv().await.is_none());
        assert!(matches!(inbox.end(), Some(FrameError::Stalled(_))));
        assert!(
            matches!(peer.recv().await, Some(Outbound::ChatError(error)) if error.code == ErrorCode::Timeout)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn half_a_frame_does_not_hold_up_what_goes_out() {
        let (_inbox, outbox, _tasks, mut peer) = link();
        peer.send_bytes(&b"\x10\0\0\0{"[..]);
        for n in 0..30 {
            tokio::time::sleep(Duration::from_secs(1)).await;
            outbox.send(delta("s", &n.to_string())).unwrap();
            assert_eq!(peer.recv().await, Some(delta("s", &n.to_string())));
        }
    }

    /// A frame of about 300 bytes, ended at every offset: no part of it is ever handed on.
    #[tokio::test(start_paused = true)]
    async fn stream_that_ends_anywhere_inside_a_frame_gives_no_message() {
        let body = json!({"type": "chat.send", "sessionId": "s", "text": "x".repeat(250)}).to_string();
        let frame = super::super::frame::encode(body.as_bytes()).unwrap();
        for cut in 0..=frame.len() {
            let (mut inbox, outbox, tasks, mut peer) = link();
            peer.send_bytes(frame[..cut].to_vec());
            peer.close();
            let mut messages = 0;
            while let Some(message) = inbox.recv().await {
                messages += usize::from(message.is_ok());
            }
            assert_eq!(messages, usize::from(cut == frame.len()));
            let clean = cut == 0 || cut == frame.len();
            match inbox.end() {
                None => assert!(clean, "cut at {cut}"),
                Some(FrameError::Truncated { .. }) => assert!(!clean, "cut at {cut}"),
                Some(other) => panic!("{other}"),
            }
            drop(outbox);
            soon(tasks.join()).await;
            assert_eq!(peer.recv().await, None, "nobody is left to be told");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn end_of_input_leaves_the_way_out_open() {
        let (mut inbox, outbox, tasks, mut peer) = link();
        peer.close();
        assert!(inbox.recv().await.is_none());
        outbox.send(delta("s", "last words")).unwrap();
        drop(outbox);
        soon(tasks.join()).await;
        assert_eq!(peer.recv().await, Some(delta("s", "last words")));
    }

    #[tokio::test(start_paused = true)]
    async fn peer_that_is_gone_ends_everything_quietly() {
        let (mut inbox, outbox, tasks, peer) = link();
        let open_end = peer.keep_input_open();
        drop(peer);
        let _ = outbox.send(delta("s", "to nobody"));
        soon(outbox.closed()).await;
        assert_eq!(outbox.send(delta("s", "x")), Err(SendError::Closed));
        assert_eq!(outbox.ready().await, Err(Closed));
        outbox.flushed().await;
        assert!(soon(inbox.recv()).await.is_none(), "a peer that cannot read is no peer");
        assert!(inbox.end().is_none());
        soon(tasks.join()).await;
        drop(open_end);
    }

    #[tokio::test(start_paused = true)]
    async fn input_error_ends_the_link() {
        let (mut inbox, _outbox, _tasks, mut peer) = link();
        peer.fail(std::io::ErrorKind::ConnectionReset.into());
        assert!(inbox.recv().await.is_none());
        assert!(matches!(inbox.end(), Some(FrameError::Io(_))));
    }

    #[tokio::test(start_paused = true)]
    async fn dropped_tasks_end_both_directions() {
        let (mut inbox, outbox, tasks, mut peer) = link();
        drop(tasks);
        assert!(soon(inbox.recv()).await.is_none());
        soon(outbox.closed()).await;
        assert_eq!(peer.recv().await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn command_that_is_too_long_is_not_sent() {
        let (_inbox, outbox, _tasks, mut peer) = link();
        let refused = outbox.send(cdp(json!("x".repeat(MAX_OUTBOUND)))).unwrap_err();
        assert!(matches!(refused, SendError::TooLarge { bytes } if bytes > MAX_OUTBOUND));
        outbox.send(cdp(json!(1))).unwrap();
        assert_eq!(peer.recv().await, Some(cdp(json!(1))));
    }

    /// What `peer` reads until nothing more is coming: the text of all deltas, and how many there were.
    async fn read_deltas(peer: &mut MemoryPeer, bytes: usize) -> (String, usize) {
        let (mut text, mut count) = (String::new(), 0);
        while text.len() < bytes {
            let body = soon(peer.recv_body()).await.unwrap();
            assert!(body.len() <= MAX_OUTBOUND);
            if let Outbound::ChatDelta(delta) = serde_json::from_slice(&body).unwrap() {
                text.push_str(&delta.text);
                count += 1;
            }
        }
        (text, count)
    }

    /// Six times the high-water mark of deltas to a peer that does not read for 30 s.
    #[tokio::test(start_paused = true)]
    async fn peer_that_does_not_read_pauses_the_stream_and_loses_nothing() {
        const PIECE: usize = 4096;
        const PIECES: usize = 24 * 1024 * 1024 / PIECE;
        let (_inbox, outbox, _tasks, mut peer) = link();
        let piece = "abcdefgh".repeat(PIECE / 8);
        let whole = piece.repeat(64 * 1024 / PIECE);
        let mut most = 0;
        let stream = async {
            for n in 0..PIECES {
                tokio::time::timeout(Duration::from_secs(60), outbox.ready()).await.unwrap().unwrap();
                if n % 1000 == 0 {
                    outbox.send(cdp(json!(n))).unwrap();
                }
                outbox.send(delta("s", &piece)).unwrap();
                most = most.max(outbox.backlog());
            }
        };
        let read = async {
            tokio::time::sleep(Duration::from_secs(30)).await;
            let (mut bytes, mut commands, mut count) = (0, 0, 0);
            while bytes < PIECES * PIECE {
                match soon(peer.recv()).await.unwrap() {
                    Outbound::ChatDelta(delta) => {
                        assert!(whole.starts_with(&delta.text) && delta.text.len() % PIECE == 0);
                        bytes += delta.text.len();
                        count += 1;
                    }
                    command => {
                        // After exactly the deltas that were sent before it.
                        assert_eq!(command, cdp(json!(bytes / PIECE)));
                        commands += 1;
                    }
                }
            }
            (commands, count)
        };
        let ((), (commands, count)) = tokio::join!(stream, read);
        assert_eq!(commands, PIECES.div_ceil(1000));
        assert!(most <= HIGH_WATER + 2 * PIECE, "{most}");
        assert!(count < PIECES / 4, "{count} of {PIECES} deltas were written one by one");
        assert_eq!(outbox.backlog(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_deltas_join_only_within_their_session() {
        let (_inbox, outbox, _tasks, mut peer) = link();
        for n in 0..200 {
            outbox.send(delta(if n % 100 < 50 { "a" } else { "b" }, "x")).unwrap();
        }
        outbox.send(cdp(json!(0))).unwrap();
        let mut order = Vec::new();
        while let Outbound::ChatDelta(delta) = peer.recv().await.unwrap() {
            order.push((delta.session_id.0, delta.text.len()));
        }
        let joined = ["a", "b", "a", "b"].map(|session| (session.to_owned(), 50));
        assert_eq!(order, joined);
    }

    #[tokio::test(start_paused = true)]
    async fn long_delta_arrives_in_pieces_and_whole() {
        let (_inbox, outbox, _tasks, mut peer) = link();
        let text = "é\n😀".repeat(500_000);
        outbox.send(delta("s", &text)).unwrap();
        let (read, count) = read_deltas(&mut peer, text.len()).await;
        assert!(read == text && count > 1);
    }

    #[tokio::test(start_paused = true)]
    async fn flushed_waits_for_the_last_frame() {
        let (_inbox, outbox, _tasks, mut peer) = link();
        for n in 0..200 {
            outbox.send(cdp(json!(n))).unwrap();
        }
        let early = tokio::time::timeout(Duration::from_secs(60), outbox.flushed()).await;
        assert!(early.is_err(), "the peer has not read");
        let read = async {
            for n in 0..200 {
                assert_eq!(peer.recv().await, Some(cdp(json!(n))));
            }
        };
        tokio::join!(read, soon(outbox.flushed()));
    }

    #[tokio::test(start_paused = true)]
    async fn big_message_is_read_whole() {
        let (mut inbox, _outbox, _tasks, peer) = link();
        let data = "A".repeat(8 * 1024 * 1024);
        peer.send(json!({"type": "tool.result", "sessionId": "s", "callId": "c", "ok": true, "result": {"data": data}}));
        let Some(Ok(Inbound::ToolResult(result))) = inbox.recv().await else { panic!() };
        assert_eq!(result.result["data"], data);
    }
}
