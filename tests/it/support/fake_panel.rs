//! A browser with an extension and panels, played by the test over an in-memory link.

use std::time::Duration;

use browy::protocol::{Outbound, SessionId};
use browy::runner::RunnerHandle;
use browy::transport::{link, memory};
use serde_json::{Value, json};
use tokio::task::JoinSet;

/// Every capability the real extension announces.
pub const CAPABILITIES: &[&str] =
    &["cdp.activeTab", "queue", "ask", "tabs.close", "tabs.held", "browser.events", "usage", "cdp.targets"];

/// One connected browser.
pub struct FakeBrowser {
    peer: memory::MemoryPeer,
    /// Requests of the host are answered by the fake browser unless this is off.
    pub answers: bool,
    /// Requests of the host, in order.
    pub requests: Vec<Outbound>,
    passed: Vec<Outbound>,
}

impl FakeBrowser {
    /// Connects to the runner and shakes hands.
    pub async fn connect(runner: &RunnerHandle, links: &mut JoinSet<()>) -> Self {
        let (transport, peer) = memory::pair();
        let (inbox, outbox, tasks) = link::open(Box::new(transport));
        let runner = runner.clone();
        links.spawn(async move { runner.serve(inbox, outbox, tasks).await });
        let mut browser = Self { peer, answers: true, requests: Vec::new(), passed: Vec::new() };
        browser.send(
            json!({ "type": "hello", "client": "extension", "protocol": 1, "capabilities": CAPABILITIES }),
        );
        browser.until(|message| matches!(message, Outbound::HelloAck(_))).await;
        browser
    }

    pub fn send(&mut self, message: Value) {
        self.peer.send(message);
    }

    pub fn send_body(&mut self, body: &[u8]) {
        self.peer.send_body(body);
    }

    /// Opens a panel.
    pub async fn open_panel(&mut self, session: &str) {
        self.send(json!({ "type": "session.start", "sessionId": session, "capabilities": CAPABILITIES }));
        self.until(|message| matches!(message, Outbound::SessionReady(ready) if ready.session_id.as_str() == session)).await;
    }

    /// A person sends a prompt.
    pub fn prompts(&mut self, session: &str, turn: &str, text: &str) {
        self.send(json!({ "type": "chat.send", "sessionId": session, "turnId": turn, "text": text }));
    }

    /// A person presses Stop.
    pub fn stops(&mut self, session: &str) {
        self.send(json!({ "type": "chat.cancel", "sessionId": session }));
    }

    /// Reads until a message matches, and answers the host's requests on the way.
    pub async fn until(&mut self, matches: impl Fn(&Outbound) -> bool) -> Outbound {
        if let Some(at) = self.passed.iter().position(&matches) {
            return self.passed.remove(at);
        }
        loop {
            let message = tokio::time::timeout(Duration::from_secs(1_000), self.peer.recv())
                .await
                .unwrap_or_else(|_| panic!("the message never came; these did: {:#?}", self.passed))
                .expect("an open link");
            if self.is_request(&message) {
                continue;
            }
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

    /// Everything that has arrived and that no `until` took.
    pub async fn rest(&mut self) -> Vec<Outbound> {
        tokio::time::sleep(Duration::from_secs(5)).await;
        while let Some(message) = self.peer.try_recv() {
            if !self.is_request(&message) {
                self.passed.push(message);
            }
        }
        std::mem::take(&mut self.passed)
    }

    /// Answers one request of the host with `result`.
    pub fn answer(&mut self, request: &Outbound, result: Value) {
        let (session, call) = request_ids(request).expect("a request");
        self.send(json!({ "type": "tool.result", "sessionId": session, "callId": call, "ok": true, "result": result }));
    }

    /// The browser closes the port.
    pub fn closes(&mut self) {
        self.peer.close();
    }

    fn is_request(&mut self, message: &Outbound) -> bool {
        if request_ids(message).is_none() {
            return false;
        }
        self.requests.push(message.clone());
        if self.answers {
            let tab = json!({ "tabId": 7, "url": "https://one.test/", "title": "One", "active": true, "windowId": 1 });
            match message {
                Outbound::TabList(_) => self.answer(message, json!([tab])),
                Outbound::CdpSend(_) => {
                    let (session, call) = request_ids(message).expect("a request");
                    self.send(json!({ "type": "tool.result", "sessionId": session, "callId": call, "ok": false, "error": "no such page" }));
                }
                _ => self.answer(message, tab),
            }
        }
        true
    }
}

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
