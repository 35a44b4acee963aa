//! One chat: its open tool calls, its events, what is on disk of it.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::wire::Peer;

pub struct Session {
    id: String,
    /// Names the host allowed, without `custom:`.
    tools: Vec<String>,
    /// Request id → (call id, tool) of calls that wait for the host.
    open: HashMap<String, (String, String)>,
    running: bool,
}

/// A new random id.
pub fn fresh() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// A time as the CLI writes it. The moment does not matter to anybody, its form does.
pub fn now() -> String {
    let ms = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_millis());
    let seconds = ms / 1000;
    format!(
        "2026-11-30T{:02}:{:02}:{:02}.{:03}Z",
        seconds / 3600 % 24,
        seconds / 60 % 60,
        seconds % 60,
        ms % 1000
    )
}

fn root() -> PathBuf {
    let home = std::env::var_os("COPILOT_HOME").map(PathBuf::from);
    home.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap_or_default()).join(".copilot"))
        .join("session-state")
}

fn file(id: &str) -> PathBuf {
    root().join(id).join("events.jsonl")
}

/// The stored events of a chat.
pub fn events(id: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(file(id)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// What the CLI tells of a chat that has at least one prompt.
pub fn stored(id: &str) -> Option<Value> {
    let text = std::fs::read_to_string(file(id)).unwrap_or_default();
    let parsed = |line: &str| serde_json::from_str::<Value>(line).ok();
    let first = text.lines().filter_map(parsed).find(|event| event["type"] == "user.message")?;
    let summary: String = first["data"]["content"].as_str().unwrap_or_default().chars().take(100).collect();
    let cwd = text.lines().find_map(parsed).map(|event| event["data"]["context"]["cwd"].clone());
    let modified = text.lines().rev().find_map(parsed).map(|event| event["timestamp"].clone());
    Some(json!({
        "sessionId": id, "startTime": first["timestamp"], "modifiedTime": modified,
        "isRemote": false, "isDetached": false, "summary": summary, "name": summary, "clientName": "browy",
        "context": { "cwd": cwd },
    }))
}

pub fn all_stored() -> Vec<Value> {
    let Ok(folders) = std::fs::read_dir(root()) else { return Vec::new() };
    folders.flatten().filter_map(|folder| stored(&folder.file_name().to_string_lossy())).collect()
}

pub fn delete(id: &str) -> bool {
    stored(id).is_some() && std::fs::remove_dir_all(root().join(id)).is_ok()
}

impl Session {
    /// From the parameters of `session.create` or `session.resume`.
    pub fn new(params: &Value) -> Self {
        let id = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let named = |list: &Value, key: Option<&str>| -> Vec<String> {
            let items = list.as_array().cloned().unwrap_or_default();
            items
                .iter()
                .filter_map(|item| key.map_or(item, |key| &item[key]).as_str().map(str::to_owned))
                .collect()
        };
        let allowed = named(&params["availableTools"], None);
        let mut tools = named(&params["tools"], Some("name"));
        if !params["availableTools"].is_null() {
            tools.retain(|tool| allowed.iter().any(|a| a.strip_prefix("custom:").unwrap_or(a) == tool));
        }
        let session = Self { id, tools, open: HashMap::new(), running: false };
        if events(&session.id).is_empty() {
            session.store(&json!({
                "type": "session.start", "id": fresh(), "timestamp": now(),
                "data": { "sessionId": session.id, "context": { "cwd": params["workingDirectory"] } },
            }));
        }
        session
    }

    /// The answer to `session.create`.
    pub fn created(&self, model: &str) -> Value {
        json!({
            "sessionId": self.id, "nativeSessionId": self.id, "startTime": now(), "isRemote": false,
            "mode": "interactive", "workspacePath": root().join(&self.id).to_string_lossy(),
            "capabilities": { "ui": { "elicitation": false } }, "modelState": { "modelId": model },
        })
    }

    fn store(&self, event: &Value) {
        let path = file(&self.id);
        if let Some(folder) = path.parent() {
            let _ = std::fs::create_dir_all(folder);
        }
        if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
            // In one piece, so that nobody who is killed leaves half a line.
            let _ = file.write_all(format!("{event}\n").as_bytes());
        }
    }

    /// Sends an event. Keys of `more` go into the event itself (`id`, `ephemeral`, `agentId`).
    pub fn emit(&self, peer: &mut Peer, kind: &str, data: Value, more: &Value) {
        let mut event = json!({
            "type": kind, "data": data, "id": fresh(), "timestamp": now(), "parentId": null,
        });
        for (key, value) in more.as_object().into_iter().flatten() {
            event[key] = value.clone();
        }
        if matches!(
            kind,
            "user.message" | "assistant.message" | "tool.execution_start" | "tool.execution_complete"
        ) {
            self.store(&event);
        }
        peer.notify("session.event", json!({ "sessionId": self.id, "event": event }));
    }

    fn say(&self, peer: &mut Peer, kind: &str, data: Value) {
        self.emit(peer, kind, data, &Value::Null);
    }

    /// A prompt arrived.
    pub fn begin(&mut self, peer: &mut Peer, params: &Value) {
        self.running = true;
        self.say(
            peer,
            "user.message",
            json!({
                "content": params["displayPrompt"].as_str().or(params["prompt"].as_str()),
                "transformedContent": params["prompt"], "messageId": fresh(),
            }),
        );
        self.say(peer, "system.message", json!({ "role": "system", "content": "" }));
        self.say(peer, "assistant.turn_start", json!({ "turnId": "0" }));
    }

    /// The model wants a tool. A tool that is not allowed never reaches the host, unless `force`.
    pub fn call(&mut self, peer: &mut Peer, command: &Value) -> Option<Value> {
        let tool = command["tool"].as_str().unwrap_or_default().to_owned();
        let call_id = command["callId"].as_str().unwrap_or_default().to_owned();
        let args = &command["args"];
        if !self.tools.contains(&tool) && command["force"] != true {
            let text = format!(
                "Tool '{tool}' does not exist. Available tools that can be called are {}.",
                self.tools.join(", ")
            );
            return Some(json!({
                "event": "toolResult", "sessionId": self.id, "callId": call_id, "text": text,
                "resultType": "missing", "images": [],
            }));
        }
        let request_id = fresh();
        self.open.insert(request_id.clone(), (call_id.clone(), tool.clone()));
        self.say(peer, "assistant.message", json!({
            "messageId": fresh(), "content": "",
            "toolRequests": [{ "toolCallId": call_id, "name": tool, "arguments": args, "type": "function" }],
        }));
        self.say(
            peer,
            "tool.execution_start",
            json!({ "toolCallId": call_id, "toolName": tool, "arguments": args }),
        );
        self.say(peer, "external_tool.requested", json!({
            "requestId": request_id, "sessionId": self.id, "toolCallId": call_id, "toolName": tool, "arguments": args,
        }));
        None
    }

    /// Whether an answer belongs to an open call.
    pub fn answers(&self, params: &Value) -> bool {
        params["requestId"].as_str().is_some_and(|id| self.open.contains_key(id))
    }

    /// The host answered a call; gives what the test is told.
    pub fn completed(&mut self, peer: &mut Peer, params: &Value) -> Value {
        let request_id = params["requestId"].as_str().unwrap_or_default();
        let Some((call_id, tool)) = self.open.remove(request_id) else {
            return json!({ "event": "lateResult", "sessionId": self.id, "params": params });
        };
        let result = &params["result"];
        let text = result.as_str().or(result["textResultForLlm"].as_str()).or(params["error"].as_str());
        let kind = match result["resultType"].as_str() {
            Some(kind) => kind,
            None if params["error"].is_string() => "failure",
            None => "success",
        };
        self.say(peer, "external_tool.completed", json!({ "requestId": request_id }));
        self.say(
            peer,
            "tool.execution_complete",
            json!({
                "toolCallId": call_id, "toolName": tool, "success": kind == "success",
                "result": { "content": text, "detailedContent": text },
            }),
        );
        json!({
            "event": "toolResult", "sessionId": self.id, "callId": call_id, "text": text, "resultType": kind,
            "images": result["binaryResultsForLlm"].as_array().cloned().unwrap_or_default(),
        })
    }

    pub fn delta(&self, peer: &mut Peer, message_id: &str, text: &str, more: &Value) {
        let data = json!({ "messageId": message_id, "deltaContent": text });
        self.emit(peer, "assistant.message_delta", data, more);
    }

    /// The model's last message and the end of the turn.
    pub fn end(&mut self, peer: &mut Peer, text: &str) {
        if !text.is_empty() {
            let message_id = fresh();
            self.say(peer, "assistant.message_start", json!({ "messageId": message_id }));
            self.delta(peer, &message_id, text, &Value::Null);
            self.message(peer, &message_id, text);
        }
        self.idle(peer, false);
    }

    pub fn message(&self, peer: &mut Peer, message_id: &str, text: &str) {
        let data = json!({ "messageId": message_id, "content": text, "toolRequests": [] });
        self.say(peer, "assistant.message", data);
    }

    /// The model service failed.
    pub fn fail(&mut self, peer: &mut Peer, command: &Value) {
        self.say(
            peer,
            "session.error",
            json!({
                "errorType": command["errorType"].as_str().unwrap_or("query"),
                "message": command["message"], "statusCode": command["statusCode"],
            }),
        );
        self.idle(peer, false);
    }

    /// Stop.
    pub fn abort(&mut self, peer: &mut Peer) {
        if !self.running {
            return;
        }
        self.say(peer, "abort", json!({ "reason": "user_initiated" }));
        for (request_id, (call_id, tool)) in std::mem::take(&mut self.open) {
            self.say(peer, "external_tool.completed", json!({ "requestId": request_id }));
            self.say(
                peer,
                "tool.execution_complete",
                json!({
                    "toolCallId": call_id, "toolName": tool, "success": false,
                }),
            );
        }
        self.idle(peer, true);
    }

    fn idle(&mut self, peer: &mut Peer, aborted: bool) {
        self.running = false;
        let mut data = json!({ "mode": "interactive" });
        let mut agent = json!({});
        if aborted {
            data["aborted"] = json!(true);
            agent["aborted"] = json!(true);
        }
        self.say(peer, "assistant.turn_end", json!({ "turnId": "0" }));
        self.emit(peer, "assistant.idle", agent, &json!({ "ephemeral": true }));
        self.emit(peer, "session.idle", data, &json!({ "ephemeral": true }));
    }
}
