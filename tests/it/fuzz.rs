//! Bytes that nobody would send. `PROPTEST_CASES` says how many; `tests/run fuzz` sets it high.

use std::time::Duration;

use browy::protocol::limits::{MAX_INBOUND, MAX_OUTBOUND};
use browy::protocol::{INBOUND_TYPES, Outbound};
use browy::transport::frame::{Decoder, HEADER, encode};
use browy::transport::{FrameError, Rejections, link, memory};
use bytes::Bytes;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A stream: frames of all kinds of bodies, some with a wrong header, cut into chunks.
#[derive(Debug, Clone)]
struct Stream {
    bytes: Vec<u8>,
    chunk: usize,
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let field = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        Just(json!([{}])),
        Just(json!({ "a": { "b": [1] } })),
    ];
    let names = prop::sample::select(vec![
        "sessionId",
        "callId",
        "ok",
        "result",
        "error",
        "text",
        "id",
        "tabId",
        "protocol",
        "client",
        "method",
        "params",
        "askId",
        "answer",
        "event",
        "capabilities",
        "attachments",
        "turnId",
        "requestId",
    ]);
    let message = (prop::sample::select(INBOUND_TYPES.to_vec()), prop::collection::vec((names, field), 0..6))
        .prop_map(|(kind, fields)| {
            let mut message = json!({ "type": kind });
            for (name, value) in fields {
                message[name] = value;
            }
            message.to_string().into_bytes()
        });
    let halves =
        r#"\{"type":"(hello|chat.send|x)","sessionId":"(\\u[dD][89a-fA-F][0-9a-f]{2}|\\\\|a){0,6}"\}"#;
    prop_oneof![
        4 => message,
        1 => prop::collection::vec(any::<u8>(), 0..40),
        1 => prop::sample::select(vec!["", "null", "42", "[]", "{}", "\"x\"", "1e400"]).prop_map(|text| text.into()),
        1 => halves.prop_map(String::into_bytes),
        1 => (0..2000usize).prop_map(|depth| format!("{{\"type\":\"cdp.event\",\"params\":{}", "[".repeat(depth)).into()),
    ]
}

fn stream() -> impl Strategy<Value = Stream> {
    let header = prop_oneof![
        12 => Just(None),
        1 => any::<u32>().prop_map(Some),
        1 => (0..64u32).prop_map(Some),
    ];
    let frames = prop::collection::vec((body(), header), 0..10);
    (frames, any::<prop::sample::Index>(), any::<bool>(), 1..200usize).prop_map(
        |(frames, cut, whole, chunk)| {
            let mut bytes: Vec<u8> = Vec::new();
            for (body, header) in frames {
                let length = header.unwrap_or(u32::try_from(body.len()).unwrap());
                bytes.extend_from_slice(&length.to_le_bytes());
                bytes.extend_from_slice(&body);
            }
            if !whole && !bytes.is_empty() {
                bytes.truncate(cut.index(bytes.len()));
            }
            Stream { bytes, chunk }
        },
    )
}

/// The bodies that a stream holds, found the slow way, and how the stream ends.
fn expected(mut bytes: &[u8]) -> (Vec<Vec<u8>>, Result<usize, usize>) {
    let mut bodies = Vec::new();
    loop {
        let Some(header) = bytes.first_chunk::<HEADER>() else { return (bodies, Ok(bytes.len())) };
        let length = u32::from_le_bytes(*header) as usize;
        if length > MAX_INBOUND {
            return (bodies, Err(length));
        }
        let Some(body) = bytes.get(HEADER..HEADER + length) else { return (bodies, Ok(bytes.len())) };
        bodies.push(body.to_vec());
        bytes = &bytes[HEADER + length..];
    }
}

proptest! {
    #[test]
    fn frame_decode(stream in stream()) {
        let (bodies, end) = expected(&stream.bytes);
        let mut decoder = Decoder::default();
        let mut read: Vec<Bytes> = Vec::new();
        let mut refused = None;
        'stream: for chunk in stream.bytes.chunks(stream.chunk) {
            decoder.feed(chunk);
            loop {
                match decoder.next_body() {
                    Ok(Some(body)) => read.push(body),
                    Ok(None) => break,
                    Err(FrameError::TooLarge { length, .. }) => {
                        refused = Some(length);
                        break 'stream;
                    }
                    Err(other) => panic!("{other}"),
                }
            }
        }
        prop_assert_eq!(read, bodies);
        prop_assert_eq!(refused, end.err());
        if let Ok(left) = end {
            prop_assert_eq!(decoder.inside_frame(), left > 0);
        }
    }

    #[test]
    fn frame_then_dispatch(stream in stream()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        runtime.block_on(dispatch(stream));
    }
}

/// The stream through a link, as the runner uses it: no message is lost or made up, every answer is short, the
/// link ends.
async fn dispatch(stream: Stream) {
    let (bodies, end) = expected(&stream.bytes);
    let (transport, mut peer) = memory::pair();
    let (mut inbox, outbox, tasks) = link::open(Box::new(transport));
    for chunk in stream.bytes.chunks(stream.chunk) {
        peer.send_bytes(chunk.to_vec());
    }
    peer.close();
    let mut rejections = Rejections::default();
    let mut received = 0;
    while let Some(message) = inbox.recv().await {
        received += 1;
        if let Err(error) = message
            && let Some(answer) = rejections.answer(&error)
        {
            outbox.send(Outbound::ChatError(answer)).unwrap();
        }
    }
    assert_eq!(received, bodies.len());
    assert_eq!(matches!(inbox.end(), Some(FrameError::TooLarge { .. })), end.is_err());
    assert_eq!(matches!(inbox.end(), Some(FrameError::Truncated { .. })), end.is_ok_and(|left| left > 0));
    drop(outbox);
    tokio::time::timeout(Duration::from_secs(1), tasks.join()).await.unwrap();
    while let Some(body) = peer.recv_body().await {
        assert!(encode(&body).is_ok() && body.len() <= MAX_OUTBOUND / 256, "{}", body.len());
        let Ok(Outbound::ChatError(error)) = serde_json::from_slice(&body) else { panic!("not an error") };
        assert!(error.message.chars().count() <= 200);
    }
}
