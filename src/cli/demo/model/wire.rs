//! The OpenAI-compatible endpoint: `/v1/models` and `/v1/chat/completions`, streaming or not.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http_body_util::{BodyExt, Limited, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};

use super::super::serve::{Body, Server, whole};
use super::agent::{Step, ToolUse, next_step};
use super::conversation::Conversation;

/// The model's name, as the settings file asks for it.
pub const MODEL: &str = "browy-demo";

/// A conversation is far smaller; the CLI sends the whole of it each time.
const LARGEST_REQUEST: usize = 32 << 20;
/// Pause between two pieces of text, about the speed of a fast model.
const PAUSE: Duration = Duration::from_millis(16);

/// Starts the endpoint.
///
/// # Errors
/// When there is no port on loopback.
pub async fn start() -> std::io::Result<Server> {
    Server::start(answer).await
}

async fn answer(request: Request<Incoming>) -> Response<Body> {
    let path = request.uri().path().trim_end_matches('/').to_owned();
    if request.method() == Method::GET && path.ends_with("/models") {
        let models =
            json!({ "object": "list", "data": [{ "id": MODEL, "object": "model", "owned_by": "browy" }] });
        return whole(StatusCode::OK, "application/json", models.to_string());
    }
    if request.method() != Method::POST || !path.ends_with("/chat/completions") {
        return refuse(StatusCode::NOT_FOUND, "there is only /v1/models and /v1/chat/completions");
    }
    let Ok(body) = Limited::new(request.into_body(), LARGEST_REQUEST).collect().await else {
        return refuse(StatusCode::PAYLOAD_TOO_LARGE, "the request is larger than 32 MiB or was cut off");
    };
    let Ok(request) = serde_json::from_slice::<Value>(&body.to_bytes()) else {
        return refuse(StatusCode::BAD_REQUEST, "the request is not JSON");
    };
    let step = next_step(&Conversation::read(&request));
    let usage = usage(&request, &step);
    if request["stream"] == true { streamed(&step, &usage) } else { at_once(&step, &usage) }
}

fn refuse(status: StatusCode, why: &str) -> Response<Body> {
    let error = json!({ "error": { "message": why, "type": "invalid_request_error" } });
    whole(status, "application/json", error.to_string())
}

/// About four bytes make a token; nobody pays for these.
fn usage(request: &Value, step: &Step) -> Value {
    let input = request["messages"].to_string().len() / 4;
    let output =
        (step.text.len() + step.calls.iter().map(|call| call.args.to_string().len()).sum::<usize>()) / 4;
    json!({ "prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output })
}

fn calls(step: &Step) -> Vec<Value> {
    step.calls
        .iter()
        .map(|call: &ToolUse| {
            json!({
                "id": format!("call_{}", uuid::Uuid::new_v4().simple()),
                "type": "function",
                "function": { "name": call.tool, "arguments": call.args.to_string() },
            })
        })
        .collect()
}

fn finish(step: &Step) -> &'static str {
    if step.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn at_once(step: &Step, usage: &Value) -> Response<Body> {
    let mut message = json!({ "role": "assistant", "content": step.text });
    if !step.calls.is_empty() {
        message["tool_calls"] = calls(step).into();
    }
    let answer = json!({
        "id": "chatcmpl-demo", "object": "chat.completion", "created": 0, "model": MODEL,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish(step) }],
        "usage": usage,
    });
    whole(StatusCode::OK, "application/json", answer.to_string())
}

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({
        "id": "chatcmpl-demo", "object": "chat.completion.chunk", "created": 0, "model": MODEL,
        "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
    })
}

fn streamed(step: &Step, usage: &Value) -> Response<Body> {
    let mut chunks = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    chunks.extend(pieces(&step.text).into_iter().map(|piece| chunk(json!({ "content": piece }), None)));
    for (at, call) in calls(step).into_iter().enumerate() {
        let mut call = call;
        call["index"] = at.into();
        chunks.push(chunk(json!({ "tool_calls": [call] }), None));
    }
    chunks.push(chunk(json!({}), Some(finish(step))));
    let mut last = chunk(json!({}), None);
    last["choices"] = json!([]);
    last["usage"] = usage.clone();
    chunks.push(last);
    let mut texts: Vec<String> = chunks.iter().map(Value::to_string).collect();
    texts.push("[DONE]".to_owned());
    let frames = stream::unfold(texts.into_iter().enumerate(), |mut rest| async move {
        let (at, text) = rest.next()?;
        if at > 0 {
            tokio::time::sleep(PAUSE).await;
        }
        let frame = Frame::data(Bytes::from(format!("data: {text}\n\n")));
        Some((Ok::<_, Infallible>(frame), rest))
    });
    let mut response = Response::new(BodyExt::boxed(StreamBody::new(Box::pin(frames))));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// Text in pieces of a few words, white space kept.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest
            .char_indices()
            .skip(10)
            .find(|(_, c)| c.is_whitespace())
            .map_or(rest.len(), |(at, c)| at + c.len_utf8());
        let (piece, more) = rest.split_at(end);
        pieces.push(piece);
        rest = more;
    }
    pieces
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    use super::*;

    #[test]
    fn pieces_put_together_are_the_text() {
        let text = "Größe — a text\n\nwith   gaps, and | tables |\n|---|\n";
        assert_eq!(pieces(text).concat(), text);
        assert!(pieces(text).len() > 2);
    }

    #[tokio::test(start_paused = true)]
    async fn stream_carries_text_piece_by_piece_then_the_call_then_the_usage() {
        let step = Step {
            text: "I'll look at the open tabs first.".to_owned(),
            calls: vec![ToolUse { tool: "list_tabs", args: json!({ "a": 1 }) }],
        };
        let body =
            streamed(&step, &json!({ "total_tokens": 3 })).into_body().collect().await.unwrap().to_bytes();
        let body = String::from_utf8(body.to_vec()).unwrap();
        let lines: Vec<&str> = body.split("\n\n").filter(|line| !line.is_empty()).collect();
        assert_eq!(*lines.last().unwrap(), "data: [DONE]");
        let chunks: Vec<Value> = lines[..lines.len() - 1]
            .iter()
            .map(|line| serde_json::from_str(line.strip_prefix("data: ").unwrap()).unwrap())
            .collect();
        let texts: Vec<&str> =
            chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str()).collect();
        assert_eq!(texts.concat(), step.text);
        assert!(texts.len() > 2, "{texts:?}");
        let call = chunks.iter().find_map(|chunk| chunk["choices"][0]["delta"]["tool_calls"].get(0)).unwrap();
        assert_eq!((&call["index"], &call["function"]["name"]), (&json!(0), &json!("list_tabs")));
        assert_eq!(call["function"]["arguments"], "{\"a\":1}");
        assert!(chunks.iter().any(|chunk| chunk["choices"][0]["finish_reason"] == "tool_calls"));
        assert_eq!(chunks.last().unwrap()["usage"]["total_tokens"], 3);
    }

    async fn ask(server: &Server, request: &str) -> String {
        let mut stream = TcpStream::connect(server.base().trim_start_matches("http://")).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn endpoint_names_its_model_and_refuses_what_it_does_not_know() {
        let server = start().await.unwrap();
        let get = |path: &str| format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
        assert!(ask(&server, &get("/v1/models")).await.contains(MODEL));
        assert!(ask(&server, &get("/v1/answers")).await.starts_with("HTTP/1.1 404"));
        let post = "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 4\r\n\r\noops";
        assert!(ask(&server, post).await.starts_with("HTTP/1.1 400"));
    }
}
