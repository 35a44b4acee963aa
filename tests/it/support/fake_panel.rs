//! A browser with an extension and panels, played by the test over an in-memory link.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use browy::protocol::{Outbound, SessionId};
use browy::runner::RunnerHandle;
use browy::transport::{link, memory};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::dice::Dice;

/// Every capability the real extension announces.
pub const CAPABILITIES: &[&str] =
    &["cdp.activeTab", "queue", "ask", "tabs.close", "tabs.held", "browser.events", "usage", "cdp.targets"];

/// When a late answer comes: the host waits for none of them this long.
const LATE: Duration = Duration::from_secs(120);

/// One connected browser. A task of its own answers the host's requests, as the worker of the real one does.
pub struct FakeBrowser {
    orders: mpsc::UnboundedSender<Order>,
    messages: mpsc::UnboundedReceiver<Outbound>,
    requests: mpsc::UnboundedReceiver<Outbound>,
    passed: Vec<Outbound>,
    /// Everything that the host said since [`hears_all`](Self::hears_all), what is answered here too.
    heard: Arc<Mutex<Option<Vec<Outbound>>>>,
}

/// How the host's requests are answered.
pub enum Manner {
    Rightly,
    /// Not at all; the test finds them by [`FakeBrowser::request`].
    Never,
    /// One of ten not at all, one twice, one long after the host gave it up, one of twenty under another session.
    /// The title of every tab it tells names the session and the call that it was told to.
    Badly(Dice),
    /// Every chat has a tab of its own, whose title and picture hold this text with the chat's id for `{}`.
    Apart(&'static str),
}

enum Order {
    Send(Vec<u8>),
    Answer(Manner),
    Close,
}

impl FakeBrowser {
    /// Connects to the runner and shakes hands.
    pub async fn connect(runner: &RunnerHandle, tasks: &mut JoinSet<()>) -> Self {
        let (transport, peer) = memory::pair();
        let (inbox, outbox, link_tasks) = link::open(Box::new(transport));
        let runner = runner.clone();
        tasks.spawn(async move { runner.serve(inbox, outbox, link_tasks).await });
        let (orders, received) = mpsc::unbounded_channel();
        let (to_messages, messages) = mpsc::unbounded_channel();
        let (to_requests, requests) = mpsc::unbounded_channel();
        let heard = Arc::default();
        tasks.spawn(pump(peer, received, to_messages, to_requests, Arc::clone(&heard)));
        let mut browser = Self { orders, messages, requests, passed: Vec::new(), heard };
        browser.send(
            json!({ "type": "hello", "client": "extension", "protocol": 1, "capabilities": CAPABILITIES }),
        );
        browser.until(|message| matches!(message, Outbound::HelloAck(_))).await;
        browser
    }

    pub fn send(&self, message: Value) {
        self.send_body(message.to_string().as_bytes());
    }

    pub fn send_body(&self, body: &[u8]) {
        let _ = self.orders.send(Order::Send(body.to_vec()));
    }

    /// Whether the host's requests are answered from now on; without, the test finds them by [`request`](Self::request).
    pub fn answers(&self, on: bool) {
        let _ = self.orders.send(Order::Answer(if on { Manner::Rightly } else { Manner::Never }));
    }

    /// From now on requests are answered as `manner` says.
    pub fn behaves(&self, manner: Manner) {
        let _ = self.orders.send(Order::Answer(manner));
    }

    /// The next request of the host that was not answered.
    pub async fn request(&mut self) -> Outbound {
        tokio::time::timeout(Duration::from_secs(60), self.requests.recv())
            .await
            .expect("a request")
            .expect("an open link")
    }

    /// Whether the host asked something that nobody answered.
    pub fn was_asked(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Opens a panel.
    pub async fn open_panel(&mut self, session: &str) {
        self.send(json!({ "type": "session.start", "sessionId": session, "capabilities": CAPABILITIES }));
        self.until(|message| matches!(message, Outbound::SessionReady(ready) if ready.session_id.as_str() == session)).await;
    }

    /// A person sends a prompt.
    pub fn prompts(&self, session: &str, turn: &str, text: &str) {
        self.send(json!({ "type": "chat.send", "sessionId": session, "turnId": turn, "text": text }));
    }

    /// A person presses Stop.
    pub fn stops(&self, session: &str) {
        self.send(json!({ "type": "chat.cancel", "sessionId": session }));
    }

    /// Reads until a message matches; the others are kept.
    pub async fn until(&mut self, matches: impl Fn(&Outbound) -> bool) -> Outbound {
        if let Some(at) = self.passed.iter().position(&matches) {
            return self.passed.remove(at);
        }
        loop {
            let message = tokio::time::timeout(Duration::from_secs(1_000), self.messages.recv())
                .await
                .unwrap_or_else(|_| panic!("the message never came; these did: {:#?}", self.passed))
                .expect("an open link");
            if matches(&message) {
                return message;
            }
            self.passed.push(message);
        }
    }

    /// The ending of a chat's turn.
    pub async fn ending(&mut self, session: &str) -> Outbound {
        self.until(|message| match message {
            Outbound::ChatDone(done) => done.session_id.as_str() == session,
            Outbound::ChatError(error) => error.session_id == Some(SessionId::from(session)),
            _ => false,
        })
        .await
    }

    /// Everything that has arrived, after all have come to rest, and that no `until` took.
    pub async fn rest(&mut self) -> Vec<Outbound> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        while let Ok(message) = self.messages.try_recv() {
            self.passed.push(message);
        }
        std::mem::take(&mut self.passed)
    }

    /// From now on everything that the host says is kept for [`heard`](Self::heard).
    pub fn hears_all(&self) {
        *self.heard.lock().unwrap() = Some(Vec::new());
    }

    /// What the host said so far.
    pub fn heard(&self) -> Vec<Outbound> {
        self.heard.lock().unwrap().clone().unwrap_or_default()
    }

    /// The browser closes the port.
    pub fn closes(&self) {
        let _ = self.orders.send(Order::Close);
    }
}

async fn pump(
    mut peer: memory::MemoryPeer,
    mut orders: mpsc::UnboundedReceiver<Order>,
    messages: mpsc::UnboundedSender<Outbound>,
    requests: mpsc::UnboundedSender<Outbound>,
    heard: Arc<Mutex<Option<Vec<Outbound>>>>,
) {
    let mut manner = Manner::Rightly;
    let mut late: VecDeque<(Instant, Value)> = VecDeque::new();
    loop {
        let due = late.front().map(|(due, _)| *due);
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {
                late.pop_front().into_iter().for_each(|(_, reply)| peer.send(reply));
            }
            order = orders.recv() => match order {
                Some(Order::Send(body)) => peer.send_body(&body),
                Some(Order::Answer(now)) => manner = now,
                Some(Order::Close) => peer.close(),
                None => return,
            },
            message = peer.recv() => {
                let Some(message) = message else { return };
                if let Some(heard) = &mut *heard.lock().unwrap() {
                    heard.push(message.clone());
                }
                let Some((session, call)) = request_ids(&message) else {
                    let _ = messages.send(message);
                    continue;
                };
                match &mut manner {
                    Manner::Rightly => peer.send(answer(&message, &session, &call, "One")),
                    Manner::Apart(text) => peer.send(apart(&message, &session, &call, &text.replace("{}", &session))),
                    Manner::Never => drop(requests.send(message)),
                    Manner::Badly(dice) => {
                        let reply = answer(&message, &session, &call, &format!("{session} {call}"));
                        match dice.next(20) {
                            0 | 1 => {}
                            2 | 3 => {
                                peer.send(reply.clone());
                                peer.send(reply);
                            }
                            4 | 5 => late.push_back((Instant::now() + LATE, reply)),
                            6 => {
                                let other = if session == "sp-0" { "sp-1" } else { "sp-0" };
                                peer.send(answer(&message, other, &call, "foreign"));
                                peer.send(reply);
                            }
                            _ => peer.send(reply),
                        }
                    }
                }
            }
        }
    }
}

/// One tab is open, and no page of it can be read.
fn answer(request: &Outbound, session: &str, call: &str, title: &str) -> Value {
    let tab =
        json!({ "tabId": 7, "url": "https://one.test/", "title": title, "active": true, "windowId": 1 });
    let (ok, key, value) = match request {
        Outbound::TabList(_) => (true, "result", json!([tab])),
        Outbound::CdpSend(_) => (false, "error", json!("no such page")),
        _ => (true, "result", tab),
    };
    json!({ "type": "tool.result", "sessionId": session, "callId": call, "ok": ok, key: value })
}

/// The answer for a chat whose tab is its own: `text` is what the page says.
fn apart(request: &Outbound, session: &str, call: &str, text: &str) -> Value {
    let Outbound::CdpSend(sent) = request else { return answer(request, session, call, text) };
    let result = match sent.method.as_str() {
        "Page.captureScreenshot" => json!({ "data": STANDARD.encode(jpeg_saying(text)) }),
        _ => super::no_browser::devtools(sent),
    };
    json!({ "type": "tool.result", "sessionId": session, "callId": call, "ok": true, "result": { "result": result } })
}

/// As much of a JPEG as tells its size, 8 by 8 px, and then `text`.
fn jpeg_saying(text: &str) -> Vec<u8> {
    let head = [0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0];
    [&head, text.as_bytes()].concat()
}

/// Session and call of a message that wants an answer.
fn request_ids(message: &Outbound) -> Option<(String, String)> {
    let ids = match message {
        Outbound::CdpSend(call) => (&call.session_id, &call.call_id),
        Outbound::TabNew(call) => (&call.session_id, &call.call_id),
        Outbound::TabActivate(call) | Outbound::TabClose(call) => (&call.session_id, &call.call_id),
        Outbound::TabList(call) | Outbound::TabGetActive(call) => (&call.session_id, &call.call_id),
        _ => return None,
    };
    Some((ids.0.to_string(), ids.1.to_string()))
}
