//! Requests: what was sent, what came back, how it ended.

use std::collections::HashMap;
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::from_ms;
use super::ring::{Ring, Weigh};
use crate::logging::{mask, mask_header};
use crate::protocol::{CdpEvent, CdpSessionId};

/// Requests of one tab.
const ENTRIES: usize = 500;

/// Bytes of one tab, headers included.
const BYTES: usize = 1024 * 1024;

/// Characters of an address.
const ADDRESS: usize = 1_000;

/// Headers of one side of a request, and characters of one value.
const HEADERS: usize = 60;
const HEADER: usize = 500;

/// Bytes of an address or a header that is kept to send it again.
const RAW: usize = 8 * 1024;

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Not yet.
    Open,
    /// All of the answer came.
    Finished,
    /// The answer sent it elsewhere; that is the next request.
    Redirected,
    /// Why it failed or who blocked it.
    Failed(String),
    /// Recording ended before the request did.
    Lost,
}

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestRecord {
    /// Its number in this tab.
    pub id: u64,
    /// When it was sent.
    pub at: SystemTime,
    /// GET, POST, ….
    pub method: String,
    /// Its address, secrets masked.
    pub url: String,
    /// document, fetch, xhr, script, ….
    pub kind: String,
    /// The answer's status.
    pub status: Option<u16>,
    /// What the answer says it is.
    pub mime: String,
    /// How it ended.
    pub outcome: Outcome,
    /// From sending to the end, ms.
    pub took_ms: Option<u64>,
    /// The answer came from a cache or a service worker.
    pub cached: bool,
    /// Headers that were sent, secrets masked. Cookies are not among them.
    pub sent: Vec<(String, String)>,
    /// Headers of the answer, secrets masked.
    pub received: Vec<(String, String)>,
    /// It had a body.
    pub has_sent_body: bool,
    pub(super) session: Option<CdpSessionId>,
    pub(super) request: String,
    pub(in crate::browser) raw: Raw,
    /// Seconds on the browser's own clock.
    began: f64,
}

/// A request as it was sent, to send it again; never told.
#[derive(Clone, Default, PartialEq)]
pub(in crate::browser) struct Raw {
    /// Empty when it was too long to keep.
    pub url: String,
    pub headers: Vec<(String, String)>,
}

impl std::fmt::Debug for Raw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Raw(…)")
    }
}

impl Raw {
    fn of(request: Option<&Value>) -> Self {
        let url = request.and_then(|request| request.get("url")).and_then(Value::as_str).unwrap_or_default();
        let told = request.and_then(|request| request.get("headers")).and_then(Value::as_object);
        let text =
            |(name, value): (&String, &Value)| (name.clone(), value.as_str().unwrap_or_default().to_owned());
        let fits = |(_, value): &(String, String)| value.len() <= RAW;
        Self {
            url: if url.len() <= RAW { url.to_owned() } else { String::new() },
            headers: told.into_iter().flatten().take(HEADERS).map(text).filter(fits).collect(),
        }
    }
}

/// One body of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// There is none.
    None,
    /// The browser does not hold it, or no longer.
    Unknown,
    /// Text, secrets masked.
    Text(String),
    /// Not text: how many bytes.
    Binary(usize),
}

/// A request with its bodies.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestText {
    /// The request.
    pub record: RequestRecord,
    /// What was sent.
    pub sent: Body,
    /// What came back.
    pub received: Body,
}

impl Body {
    pub(super) fn sent(answer: &Value) -> Self {
        match answer.get("postData").and_then(Value::as_str) {
            Some(text) => Self::of_text(text),
            None => Self::Unknown,
        }
    }

    pub(super) fn received(answer: &Value, mime: &str) -> Self {
        let Some(body) = answer.get("body").and_then(Value::as_str) else { return Self::Unknown };
        if answer.get("base64Encoded").and_then(Value::as_bool) != Some(true) {
            return Self::of_text(body);
        }
        let bytes = STANDARD.decode(body).unwrap_or_default();
        let textual = mime.starts_with("text/") || mime.contains("json") || mime.contains("xml");
        match String::from_utf8(bytes) {
            Ok(text) if textual => Self::of_text(&text),
            Ok(text) => Self::Binary(text.len()),
            Err(error) => Self::Binary(error.as_bytes().len()),
        }
    }

    fn of_text(text: &str) -> Self {
        if text.is_empty() {
            Self::None
        } else if text.contains('\0') {
            Self::Binary(text.len())
        } else {
            Self::Text(mask(text).into_owned())
        }
    }
}

impl Weigh for RequestRecord {
    fn weight(&self) -> usize {
        let headers = self
            .sent
            .iter()
            .chain(&self.received)
            .chain(&self.raw.headers)
            .map(|(name, value)| name.len() + value.len() + 48);
        size_of::<Self>() + self.url.len() + self.raw.url.len() + self.request.len() + headers.sum::<usize>()
    }
}

/// The requests of one tab.
#[derive(Debug)]
pub(super) struct Network {
    entries: Ring<RequestRecord>,
    /// Those that have not ended, by the browser's id.
    open: HashMap<(Option<CdpSessionId>, String), u64>,
}

impl Default for Network {
    fn default() -> Self {
        Self { entries: Ring::new(ENTRIES, BYTES), open: HashMap::new() }
    }
}

impl Network {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn get(&self, id: u64) -> Option<&RequestRecord> {
        self.entries.get(id)
    }

    /// Ends of requests are missed from now on.
    pub(super) fn pause(&mut self) {
        for (_, id) in std::mem::take(&mut self.open) {
            self.entries.change(id, |record| record.outcome = Outcome::Lost);
        }
    }

    pub(super) fn pick(&self, fits: impl Fn(&&RequestRecord) -> bool) -> (Vec<RequestRecord>, usize, u64) {
        (self.entries.iter().filter(fits).cloned().collect(), self.entries.len(), self.entries.dropped())
    }

    pub(super) fn note(&mut self, event: &CdpEvent) {
        let params = &event.params;
        let Some(request) = params.get("requestId").and_then(Value::as_str) else { return };
        let key = (event.cdp_session_id.clone(), request.to_owned());
        let clock = params.get("timestamp").and_then(Value::as_f64);
        match event.method.as_str() {
            "Network.requestWillBeSent" => {
                if let Some(answer) = params.get("redirectResponse") {
                    self.answered(&key, answer);
                    self.ended(&key, clock, Outcome::Redirected);
                }
                self.sent(key, params);
            }
            "Network.webSocketCreated" => self.sent(key, params),
            "Network.responseReceived" => {
                if let Some(answer) = params.get("response") {
                    self.answered(&key, answer);
                }
            }
            "Network.webSocketHandshakeResponseReceived" => {
                if let Some(answer) = params.get("response") {
                    self.answered(&key, answer);
                }
            }
            "Network.loadingFinished" | "Network.webSocketClosed" => {
                self.ended(&key, clock, Outcome::Finished)
            }
            "Network.loadingFailed" => self.ended(&key, clock, Outcome::Failed(why(params))),
            _ => {}
        }
    }

    fn sent(&mut self, key: (Option<CdpSessionId>, String), params: &Value) {
        let text = |pointer: &str| params.pointer(pointer).and_then(Value::as_str);
        let socket = params.get("request").is_none();
        let record = RequestRecord {
            id: self.entries.next_number(),
            at: from_ms(params.get("wallTime").and_then(Value::as_f64).map(|seconds| seconds * 1_000.0)),
            method: text("/request/method").unwrap_or("GET").to_owned(),
            url: address(text("/request/url").or_else(|| text("/url")).unwrap_or_default()),
            kind: if socket {
                "websocket".to_owned()
            } else {
                text("/type").unwrap_or("other").to_lowercase()
            },
            status: None,
            mime: String::new(),
            outcome: Outcome::Open,
            took_ms: None,
            cached: false,
            sent: headers(params.pointer("/request/headers")),
            received: Vec::new(),
            has_sent_body: params.pointer("/request/hasPostData").and_then(Value::as_bool) == Some(true),
            session: key.0.clone(),
            request: key.1.clone(),
            raw: Raw::of(params.get("request")),
            began: params.get("timestamp").and_then(Value::as_f64).unwrap_or_default(),
        };
        self.open.insert(key, record.id);
        self.entries.push(record);
        // Those that never end are forgotten with their entries.
        if self.open.len() > 2 * ENTRIES {
            let entries = &self.entries;
            self.open.retain(|_, id| entries.get(*id).is_some());
        }
    }

    fn answered(&mut self, key: &(Option<CdpSessionId>, String), answer: &Value) {
        let Some(id) = self.open.get(key) else { return };
        let flag = |name: &str| answer.get(name).and_then(Value::as_bool) == Some(true);
        self.entries.change(*id, |record| {
            record.status =
                answer.get("status").and_then(Value::as_u64).and_then(|code| u16::try_from(code).ok());
            let mime = answer.get("mimeType").and_then(Value::as_str).unwrap_or_default();
            record.mime = mime.chars().take(100).collect();
            record.cached = flag("fromDiskCache") || flag("fromServiceWorker") || flag("fromPrefetchCache");
            record.received = headers(answer.get("headers"));
        });
    }

    fn ended(&mut self, key: &(Option<CdpSessionId>, String), clock: Option<f64>, outcome: Outcome) {
        let Some(id) = self.open.remove(key) else { return };
        self.entries.change(id, |record| {
            record.outcome = outcome;
            record.took_ms = clock.and_then(|clock| {
                let passed = std::time::Duration::try_from_secs_f64(clock - record.began).ok()?;
                u64::try_from(passed.as_millis()).ok()
            });
        });
    }
}

fn why(params: &Value) -> String {
    let text =
        |pointer: &str| params.pointer(pointer).and_then(Value::as_str).filter(|text| !text.is_empty());
    let error = text("/errorText").unwrap_or("failed");
    match text("/blockedReason").or_else(|| text("/corsErrorStatus/corsError")) {
        Some(reason) => format!("{error}, blocked: {reason}"),
        None if params.get("canceled").and_then(Value::as_bool) == Some(true) => "cancelled".to_owned(),
        None => error.to_owned(),
    }
}

fn address(url: &str) -> String {
    // What a data: address holds is its content, not where it is.
    let most = if url.starts_with("data:") { 60 } else { ADDRESS };
    let masked = mask(url);
    match masked.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", masked.get(..end).unwrap_or_default()),
        None => masked.into_owned(),
    }
}

fn headers(told: Option<&Value>) -> Vec<(String, String)> {
    let Some(told) = told.and_then(Value::as_object) else { return Vec::new() };
    let one = |(name, value): (&String, &Value)| {
        let value = mask_header(name, value.as_str().unwrap_or_default()).chars().take(HEADER).collect();
        (name.chars().take(100).collect(), value)
    };
    told.iter().take(HEADERS).map(one).collect()
}
