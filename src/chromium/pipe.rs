//! The DevTools protocol over two pipes: JSON texts, each ended by a NUL.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::pipe;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use super::{ChromiumError, Page};

/// How long an answer is waited for when the caller says nothing else.
const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// How long a document may take to be complete.
const LOAD_LIMIT: Duration = Duration::from_secs(20);

/// Receives events until it is dropped. Unbounded: a listener that sleeps costs memory, never an event.
pub type Events = mpsc::UnboundedReceiver<CdpEvent>;

/// An event of the browser or of an attached target.
#[derive(Debug, Clone, PartialEq)]
pub struct CdpEvent {
    /// The attached target it belongs to; absent for the browser's own.
    pub session: Option<String>,
    /// For example `Target.targetCreated`.
    pub method: String,
    /// Its parameters.
    pub params: Value,
}

/// What the browser tells about a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetInfo {
    /// Names it when attaching.
    pub id: String,
    /// `page`, `tab`, `service_worker`, `iframe`, …
    pub kind: String,
    /// Its address.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The page that opened it.
    pub opener: Option<String>,
}

/// The connection to a browser; clones share it. When the last one is dropped the pipe closes and the browser ends.
#[derive(Debug, Clone)]
pub struct Browser {
    commands: mpsc::UnboundedSender<Command>,
    ids: Arc<AtomicU64>,
    _tasks: Arc<JoinSet<()>>,
}

#[derive(Debug)]
enum Command {
    Call { id: u64, text: Vec<u8>, reply: oneshot::Sender<Value> },
    Forget { id: u64 },
    Subscribe { events: mpsc::UnboundedSender<CdpEvent> },
}

/// Takes the call out of the table when its caller stops waiting.
struct ForgetOnDrop<'a> {
    id: u64,
    commands: &'a mpsc::UnboundedSender<Command>,
}

impl Drop for ForgetOnDrop<'_> {
    fn drop(&mut self) {
        let _ = self.commands.send(Command::Forget { id: self.id });
    }
}

impl Browser {
    /// Takes over our ends of the two pipes.
    pub(super) fn connect(to: OwnedFd, from: OwnedFd) -> std::io::Result<Self> {
        let to = pipe::Sender::from_owned_fd(to)?;
        let from = pipe::Receiver::from_owned_fd(from)?;
        let (commands, inbox) = mpsc::unbounded_channel();
        let mut tasks = JoinSet::new();
        tasks.spawn(run(to, from, inbox));
        Ok(Self { commands, ids: Arc::new(AtomicU64::new(1)), _tasks: Arc::new(tasks) })
    }

    /// Sends one command and waits for its answer, at most 30 s. `session` names an attached target.
    ///
    /// # Errors
    /// When the browser refuses, is gone, or does not answer in time.
    pub async fn send(
        &self,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, ChromiumError> {
        self.send_within(ANSWER_LIMIT, session, method, params).await
    }

    /// As [`Browser::send`] with a limit of the caller's own.
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn send_within(
        &self,
        limit: Duration,
        session: Option<&str>,
        method: &str,
        params: Value,
    ) -> Result<Value, ChromiumError> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut text = message.to_string().into_bytes();
        text.push(0);
        let gone = || ChromiumError::Gone(method.to_owned());
        let (reply, answer) = oneshot::channel();
        self.commands.send(Command::Call { id, text, reply }).map_err(|_| gone())?;
        let forget = ForgetOnDrop { id, commands: &self.commands };
        let mut answer = match tokio::time::timeout(limit, answer).await {
            Ok(answer) => answer.map_err(|_| gone())?,
            Err(_) => return Err(ChromiumError::NoAnswer { method: method.to_owned(), limit }),
        };
        drop(forget);
        if let Some(error) = answer.get("error") {
            return Err(ChromiumError::Refused {
                method: method.to_owned(),
                code: error["code"].as_i64().unwrap_or(0),
                message: error["message"].as_str().unwrap_or("no reason given").to_owned(),
            });
        }
        Ok(answer["result"].take())
    }

    /// Every event from now on.
    pub fn subscribe(&self) -> Events {
        let (events, receiver) = mpsc::unbounded_channel();
        let _ = self.commands.send(Command::Subscribe { events });
        receiver
    }

    /// All targets, also those that the protocol hides by default (side panels, DevTools).
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn targets(&self) -> Result<Vec<TargetInfo>, ChromiumError> {
        let answer = self.send(None, "Target.getTargets", json!({ "filter": [{}] })).await?;
        let infos = answer["targetInfos"].as_array().cloned().unwrap_or_default();
        Ok(infos.iter().map(TargetInfo::read).collect())
    }

    /// Waits until a target fits, asking every 50 ms.
    ///
    /// # Errors
    /// [`ChromiumError::NotInTime`] with the targets there were, and as [`Browser::send`].
    pub async fn wait_for_target(
        &self,
        what: &str,
        limit: Duration,
        fits: impl Fn(&TargetInfo) -> bool,
    ) -> Result<TargetInfo, ChromiumError> {
        let end = tokio::time::Instant::now() + limit;
        loop {
            let targets = self.targets().await?;
            if let Some(found) = targets.iter().find(|target| fits(target)) {
                return Ok(found.clone());
            }
            if tokio::time::Instant::now() >= end {
                let seen: Vec<_> = targets.iter().map(|t| format!("{} {}", t.kind, t.url)).collect();
                return Err(ChromiumError::NotInTime {
                    what: what.to_owned(),
                    limit,
                    last: Some(seen.join(", ")),
                });
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Attaches to a target by its id.
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn attach(&self, target: &str) -> Result<Page, ChromiumError> {
        let answer =
            self.send(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await?;
        let session = answer["sessionId"]
            .as_str()
            .ok_or(ChromiumError::Answer { method: "Target.attachToTarget", field: "sessionId" })?;
        Ok(Page::new(self.clone(), target.to_owned(), session.to_owned()))
    }

    /// Opens a tab in the last active window and waits until its document is complete.
    ///
    /// # Errors
    /// As [`Browser::send`], and [`ChromiumError::NotInTime`].
    pub async fn open(&self, url: &str) -> Result<Page, ChromiumError> {
        let page = self.create(json!({ "url": url })).await?;
        page.wait_loaded(url, LOAD_LIMIT).await?;
        Ok(page)
    }

    /// Opens a window and does not wait for its document.
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn start_window(&self, url: &str) -> Result<Page, ChromiumError> {
        self.create(json!({ "url": url, "newWindow": true })).await
    }

    /// Opens a tab that stays in the background, and does not wait for its document.
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn start_background_tab(&self, url: &str) -> Result<Page, ChromiumError> {
        self.create(json!({ "url": url, "background": true })).await
    }

    /// Opens a window and waits until its document is complete.
    ///
    /// # Errors
    /// As [`Browser::open`].
    pub async fn open_window(&self, url: &str) -> Result<Page, ChromiumError> {
        let page = self.start_window(url).await?;
        page.wait_loaded(url, LOAD_LIMIT).await?;
        Ok(page)
    }

    async fn create(&self, params: Value) -> Result<Page, ChromiumError> {
        let answer = self.send(None, "Target.createTarget", params).await?;
        let target = answer["targetId"]
            .as_str()
            .ok_or(ChromiumError::Answer { method: "Target.createTarget", field: "targetId" })?;
        self.attach(target).await
    }
}

impl TargetInfo {
    fn read(info: &Value) -> Self {
        let text = |key: &str| info[key].as_str().unwrap_or_default().to_owned();
        Self {
            id: text("targetId"),
            kind: text("type"),
            url: text("url"),
            title: text("title"),
            opener: info["openerId"].as_str().map(str::to_owned),
        }
    }
}

/// Owns the pipes and the table of open calls. Writing has a task of its own: the browser may be blocked on
/// its answers while we are blocked on our commands.
async fn run(mut to: pipe::Sender, from: pipe::Receiver, mut inbox: mpsc::UnboundedReceiver<Command>) {
    let (outgoing, mut texts) = mpsc::unbounded_channel::<Vec<u8>>();
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        while let Some(text) = texts.recv().await {
            if to.write_all(&text).await.is_err() {
                return;
            }
        }
    });
    let (incoming, mut messages) = mpsc::unbounded_channel::<Value>();
    tasks.spawn(read(from, incoming));
    let mut open: HashMap<u64, oneshot::Sender<Value>> = HashMap::new();
    let mut listeners: Vec<mpsc::UnboundedSender<CdpEvent>> = Vec::new();
    loop {
        tokio::select! {
            // Commands first: whoever subscribed before an event must get it.
            biased;
            command = inbox.recv() => match command {
                Some(Command::Call { id, text, reply }) => {
                    open.insert(id, reply);
                    let _ = outgoing.send(text);
                }
                Some(Command::Forget { id }) => drop(open.remove(&id)),
                Some(Command::Subscribe { events }) => listeners.push(events),
                None => return,
            },
            message = messages.recv() => match message {
                Some(message) => deliver(message, &mut open, &mut listeners),
                // Dropping the table and the inbox tells every caller.
                None => return,
            },
        }
    }
}

fn deliver(
    mut message: Value,
    open: &mut HashMap<u64, oneshot::Sender<Value>>,
    listeners: &mut Vec<mpsc::UnboundedSender<CdpEvent>>,
) {
    if let Some(id) = message["id"].as_u64() {
        if let Some(reply) = open.remove(&id) {
            let _ = reply.send(message);
        }
        return;
    }
    let Some(method) = message["method"].as_str().map(str::to_owned) else { return };
    let event = CdpEvent {
        session: message["sessionId"].as_str().map(str::to_owned),
        method,
        params: message["params"].take(),
    };
    listeners.retain(|listener| listener.send(event.clone()).is_ok());
}

async fn read(from: pipe::Receiver, incoming: mpsc::UnboundedSender<Value>) {
    let mut from = BufReader::with_capacity(1 << 16, from);
    let mut text = Vec::new();
    loop {
        text.clear();
        match from.read_until(0, &mut text).await {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        if text.last() == Some(&0) {
            text.pop();
        }
        let Ok(message) = serde_json::from_slice(&text) else { continue };
        if incoming.send(message).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;

    use super::*;

    /// A browser made of two pipes: (its end to read commands, its end to write answers).
    fn fake() -> (Browser, BufReader<pipe::Receiver>, pipe::Sender) {
        let (commands_out, commands_in) = std::io::pipe().unwrap();
        let (answers_out, answers_in) = std::io::pipe().unwrap();
        let browser = Browser::connect(OwnedFd::from(commands_in), OwnedFd::from(answers_out)).unwrap();
        let commands = pipe::Receiver::from_owned_fd(OwnedFd::from(commands_out)).unwrap();
        let answers = pipe::Sender::from_owned_fd(OwnedFd::from(answers_in)).unwrap();
        (browser, BufReader::new(commands), answers)
    }

    async fn command(from: &mut BufReader<pipe::Receiver>) -> Value {
        let mut text = Vec::new();
        from.read_until(0, &mut text).await.unwrap();
        serde_json::from_slice(text.strip_suffix(b"\0").unwrap()).unwrap()
    }

    #[tokio::test]
    async fn answers_find_their_callers_in_any_order() {
        let (browser, mut commands, mut answers) = fake();
        let calls = async {
            tokio::join!(
                browser.send(None, "A.a", json!({})),
                browser.send(Some("s1"), "B.b", json!({ "x": 1 }))
            )
        };
        let peer = async {
            let first = command(&mut commands).await;
            let second = command(&mut commands).await;
            assert_eq!(second["sessionId"], "s1");
            let text = format!(
                "{}\0{}\0",
                json!({ "id": second["id"], "result": { "is": "b" } }),
                json!({ "id": first["id"], "error": { "code": -32601, "message": "'A.a' wasn't found" } })
            );
            answers.write_all(text.as_bytes()).await.unwrap();
        };
        let ((a, b), ()) = tokio::join!(calls, peer);
        assert!(a.unwrap_err().is_unknown_method());
        assert_eq!(b.unwrap(), json!({ "is": "b" }));
    }

    #[tokio::test]
    async fn closed_pipe_fails_open_and_later_calls() {
        let (browser, mut commands, answers) = fake();
        let call = browser.send(None, "A.a", json!({}));
        let peer = async {
            command(&mut commands).await;
            drop(answers);
        };
        let (result, ()) = tokio::join!(call, peer);
        assert!(matches!(result, Err(ChromiumError::Gone(_))), "{result:?}");
        let later = browser.send(None, "A.a", json!({})).await;
        assert!(matches!(later, Err(ChromiumError::Gone(_))), "{later:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_with_the_limit() {
        let (browser, _commands, _answers) = fake();
        let result = browser.send_within(Duration::from_secs(3), None, "A.a", json!({})).await;
        assert!(matches!(result, Err(ChromiumError::NoAnswer { .. })), "{result:?}");
    }

    #[tokio::test]
    async fn split_and_broken_texts_lose_no_event() {
        let (browser, _commands, mut answers) = fake();
        let mut events = browser.subscribe();
        answers.write_all(b"{not json\0{\"method\":\"T.one\",\"par").await.unwrap();
        answers.write_all(b"ams\":{\"n\":1},\"sessionId\":\"s\"}\0").await.unwrap();
        let event = events.recv().await.unwrap();
        assert_eq!((event.method.as_str(), event.session.as_deref()), ("T.one", Some("s")));
        assert_eq!(event.params, json!({ "n": 1 }));
    }
}
