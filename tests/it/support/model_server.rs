//! A scripted model behind an OpenAI-compatible endpoint on loopback.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use futures::stream::BoxStream;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

/// What the model does with one request.
#[derive(Clone, Default)]
pub struct Step {
    text: String,
    reasoning: String,
    calls: Vec<(String, Value)>,
    chunk: usize,
    hang: bool,
    drop_midway: bool,
    status: Option<(u16, String)>,
    gate: Option<Arc<Notify>>,
}

impl Step {
    /// Says something.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), chunk: 8, ..Self::default() }
    }

    /// Calls a tool.
    pub fn call(name: &str, args: Value) -> Self {
        Self::text("").and_call(name, args)
    }

    /// Calls another tool in the same answer.
    pub fn and_call(mut self, name: &str, args: Value) -> Self {
        self.calls.push((name.to_owned(), args));
        self
    }

    /// Refuses with an HTTP status.
    pub fn status(status: u16, message: &str) -> Self {
        let body = json!({"error": {"message": message, "type": "test_error"}}).to_string();
        Self { status: Some((status, body)), ..Self::text("") }
    }

    /// Thinks aloud first.
    pub fn thinking(mut self, reasoning: &str) -> Self {
        self.reasoning = reasoning.to_owned();
        self
    }

    /// Characters per piece.
    pub fn chunk(mut self, chunk: usize) -> Self {
        self.chunk = chunk;
        self
    }

    /// Sends the first piece, then nothing, and does not end.
    pub fn hang(mut self) -> Self {
        self.hang = true;
        self
    }

    /// Closes the connection in the middle of the text.
    pub fn drop_midway(mut self) -> Self {
        self.drop_midway = true;
        self
    }

    /// Sends the first piece, then waits for the gate before the others.
    pub fn gated(mut self, gate: &Arc<Notify>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }
}

type Respond = Box<dyn Fn(&Value) -> Step + Send + Sync>;

/// The server. It ends when dropped.
pub struct ModelServer {
    /// The base URL for a provider.
    pub url: String,
    shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

struct Shared {
    requests: Mutex<Vec<Value>>,
    steps: Mutex<VecDeque<Step>>,
    respond: Option<Respond>,
    arrived: Notify,
}

impl ModelServer {
    /// Takes one step per request, in order; after the last it says "ok".
    pub async fn scripted(steps: impl IntoIterator<Item = Step>) -> Self {
        Self::start(steps.into_iter().collect(), None).await
    }

    /// Decides by the request.
    #[allow(dead_code, reason = "for tests with several chats at once")]
    pub async fn responding(respond: impl Fn(&Value) -> Step + Send + Sync + 'static) -> Self {
        Self::start(VecDeque::new(), Some(Box::new(respond))).await
    }

    async fn start(steps: VecDeque<Step>, respond: Option<Respond>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let shared = Arc::new(Shared {
            requests: Mutex::default(),
            steps: Mutex::new(steps),
            respond,
            arrived: Notify::new(),
        });
        let mut tasks = JoinSet::new();
        let served = Arc::clone(&shared);
        tasks.spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                let Ok((stream, _)) = listener.accept().await else { continue };
                let shared = Arc::clone(&served);
                connections.spawn(async move {
                    let service = service_fn(move |request| serve(Arc::clone(&shared), request));
                    let _ = hyper::server::conn::http1::Builder::new()
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Self { url, shared, _tasks: tasks }
    }

    /// Adds steps to the script.
    pub fn then(&self, steps: impl IntoIterator<Item = Step>) {
        self.shared.steps.lock().unwrap().extend(steps);
    }

    /// The bodies of all requests so far.
    pub fn requests(&self) -> Vec<Value> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The last request's body.
    pub fn last(&self) -> Value {
        self.requests().pop().expect("the model was asked")
    }

    /// Waits until this many requests have come.
    #[allow(dead_code, reason = "for tests that look at a request while it is answered")]
    pub async fn asked(&self, count: usize) {
        let wait = async {
            loop {
                let arrived = self.shared.arrived.notified();
                if self.shared.requests.lock().unwrap().len() >= count {
                    return;
                }
                arrived.await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), wait).await.expect("the model is asked in time");
    }
}

/// The contents of one role's messages, as text.
pub fn said(request: &Value, role: &str) -> Vec<String> {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    messages
        .iter()
        .filter(|message| message["role"] == role)
        .map(|message| text_of(&message["content"]))
        .collect()
}

/// The names of the tools that the model was offered.
pub fn offered(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| tool["function"]["name"].as_str().map(str::to_owned)).collect()
}

fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

type Reply = Response<BoxBody<Bytes, std::io::Error>>;

async fn serve(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Reply, Infallible> {
    if request.method() != Method::POST || !request.uri().path().ends_with("/chat/completions") {
        let models = json!({"object": "list", "data": [{"id": "mock-1", "object": "model"}]});
        return Ok(plain(StatusCode::OK, models.to_string()));
    }
    let body =
        request.into_body().collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let step = match &shared.respond {
        Some(respond) => respond(&body),
        None => shared.steps.lock().unwrap().pop_front().unwrap_or_else(|| Step::text("ok")),
    };
    shared.requests.lock().unwrap().push(body.clone());
    shared.arrived.notify_waiters();
    Ok(match &step.status {
        Some((status, text)) => plain(StatusCode::from_u16(*status).unwrap(), text.clone()),
        None => streamed(body["model"].as_str().unwrap_or_default().to_owned(), step),
    })
}

fn plain(status: StatusCode, text: String) -> Reply {
    let body = Full::new(Bytes::from(text)).map_err(|never| match never {}).boxed();
    Response::builder().status(status).header("content-type", "application/json").body(body).unwrap()
}

fn streamed(model: String, step: Step) -> Reply {
    let (sender, receiver) = mpsc::channel::<Result<Frame<Bytes>, std::io::Error>>(16);
    let mut writing = JoinSet::new();
    writing.spawn(write(sender, model, step));
    // The task lives as long as the body; a client that goes away ends it.
    let stream: BoxStream<'static, _> =
        Box::pin(futures::stream::unfold((receiver, writing), |(mut receiver, writing)| async move {
            receiver.recv().await.map(|item| (item, (receiver, writing)))
        }));
    Response::builder()
        .header("content-type", "text/event-stream")
        .body(BodyExt::boxed(StreamBody::new(SyncStream(Mutex::new(stream)))))
        .unwrap()
}

/// `BoxBody` wants `Sync`; the stream is only ever polled by its owner.
struct SyncStream(Mutex<BoxStream<'static, Result<Frame<Bytes>, std::io::Error>>>);

impl futures::Stream for SyncStream {
    type Item = Result<Frame<Bytes>, std::io::Error>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        self.0.get_mut().unwrap().as_mut().poll_next(cx)
    }
}

async fn write(sender: mpsc::Sender<Result<Frame<Bytes>, std::io::Error>>, model: String, step: Step) {
    let id = format!("chatcmpl-{}", uuid::Uuid::new_v4().simple());
    let chunk = |delta: Value, finish: Option<&str>| {
        json!({"id": id, "object": "chat.completion.chunk", "created": 0, "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    };
    let send =
        async |value: Value| sender.send(Ok(Frame::data(Bytes::from(format!("data: {value}\n\n"))))).await;
    let _ = send(chunk(json!({"role": "assistant", "content": ""}), None)).await;
    if !step.reasoning.is_empty() {
        let _ = send(chunk(json!({"reasoning_content": step.reasoning}), None)).await;
    }
    let letters: Vec<char> = step.text.chars().collect();
    let pieces = letters.chunks(step.chunk.max(1)).count();
    for (index, piece) in letters.chunks(step.chunk.max(1)).enumerate() {
        if step.drop_midway && index > pieces / 2 {
            let _ = sender.send(Err(std::io::Error::other("dropped"))).await;
            return;
        }
        let text: String = piece.iter().collect();
        if send(chunk(json!({"content": text}), None)).await.is_err() {
            return;
        }
        if step.hang {
            std::future::pending::<()>().await;
        }
        match &step.gate {
            Some(gate) if index == 0 => gate.notified().await,
            _ => {}
        }
    }
    for (index, (name, args)) in step.calls.iter().enumerate() {
        let call = json!({"index": index, "id": format!("call_{}", uuid::Uuid::new_v4().simple()),
            "type": "function", "function": {"name": name, "arguments": args.to_string()}});
        let _ = send(chunk(json!({"tool_calls": [call]}), None)).await;
    }
    let _ = send(chunk(json!({}), Some(if step.calls.is_empty() { "stop" } else { "tool_calls" }))).await;
    let _ = send(
        json!({"id": id, "object": "chat.completion.chunk", "created": 0, "model": model, "choices": [],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}}),
    )
    .await;
    let _ = sender.send(Ok(Frame::data(Bytes::from_static(b"data: [DONE]\n\n")))).await;
}
