//! The session's line to a browser without an extension in between: commands go over the DevTools pipe, and
//! tabs are the browser's page targets.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use browy::browser::{Browser, BrowserEvent, ExtensionContext, Wire, WireError};
use browy::chromium::{self, Chromium, LaunchOptions, Page, find};
use browy::paths::Paths;
use browy::protocol::{
    CallId, CdpEvent, DebuggerDetached, Outbound, SessionId, TabEvent, TabEventKind, TabId, TabInfo,
    ToolResult,
};
use browy::tools::policy::ToolPolicy;
use browy::tools::{Ask, AskError, Question, Reply, ToolCx, ToolOutput};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::page_server::PageServer;

/// Tabs by number, and which session of which target belongs to which tab.
#[derive(Default)]
struct Tabs {
    pages: HashMap<TabId, Page>,
    by_target: HashMap<String, TabId>,
    by_session: HashMap<String, (TabId, bool)>,
    active: Option<TabId>,
    last: i64,
}

impl Tabs {
    fn number(&mut self, target: &str) -> TabId {
        if let Some(tab) = self.by_target.get(target) {
            return *tab;
        }
        self.last += 1;
        let tab = TabId(100 + self.last);
        self.by_target.insert(target.to_owned(), tab);
        tab
    }
}

struct Inner {
    browser: chromium::Browser,
    tabs: Mutex<Tabs>,
    context: OnceLock<Weak<ExtensionContext>>,
    before_press: Mutex<Option<String>>,
    forbidden: Mutex<Vec<&'static str>>,
    /// One attachment per tab, as the extension has it, also when several commands are the first.
    attaching: tokio::sync::Mutex<()>,
}

/// See the module.
pub struct CdpWire {
    messages: mpsc::UnboundedSender<Outbound>,
}

impl Wire for CdpWire {
    fn send(&self, message: Outbound) -> Result<(), WireError> {
        self.messages.send(message).map_err(|_| WireError::Closed)
    }

    fn has(&self, _: &str) -> bool {
        true
    }
}

async fn work(inner: Arc<Inner>, mut messages: mpsc::UnboundedReceiver<Outbound>) {
    let mut calls = JoinSet::new();
    let mut events = inner.browser.subscribe();
    let discover = json!({ "discover": true, "filter": [{ "type": "page" }] });
    inner.browser.send(None, "Target.setDiscoverTargets", discover).await.unwrap();
    loop {
        tokio::select! {
            message = messages.recv() => {
                let Some(message) = message else { return };
                calls.spawn(answer(Arc::clone(&inner), message));
            }
            event = events.recv() => {
                let Some(event) = event else { return };
                publish(&inner, event);
            }
        }
        while calls.try_join_next().is_some() {}
    }
}

fn publish(inner: &Inner, event: chromium::CdpEvent) {
    let Some(context) = inner.context.get().and_then(Weak::upgrade) else { return };
    let mut tabs = inner.tabs.lock().unwrap();
    let Some(session) = &event.session else {
        let info = &event.params["targetInfo"];
        let tell = |kind, tab, opener| {
            context.publish(BrowserEvent::Tab(Arc::new(TabEvent {
                event: kind,
                tab_id: tab,
                opener_tab_id: opener,
                window_id: Some(1),
                url: info["url"].as_str().map(str::to_owned),
                title: info["title"].as_str().map(str::to_owned),
                status: None,
                replaced_tab_id: None,
            })));
        };
        match (event.method.as_str(), info["targetId"].as_str()) {
            ("Target.targetCreated", Some(target)) => {
                let opener = info["openerId"].as_str().map(|opener| tabs.number(opener));
                let tab = tabs.number(target);
                drop(tabs);
                tell(TabEventKind::Created, tab, opener);
            }
            ("Target.targetDestroyed", _) => {
                let target = event.params["targetId"].as_str().unwrap_or_default();
                if let Some(tab) = tabs.by_target.remove(target) {
                    tabs.pages.remove(&tab);
                    drop(tabs);
                    tell(TabEventKind::Removed, tab, None);
                }
            }
            _ => {}
        }
        return;
    };
    let Some(&(tab, child)) = tabs.by_session.get(session) else { return };
    if event.method == "Target.attachedToTarget"
        && let Some(inner_session) = event.params["sessionId"].as_str()
    {
        tabs.by_session.insert(inner_session.to_owned(), (tab, true));
    }
    drop(tabs);
    context.publish(BrowserEvent::Cdp(Arc::new(CdpEvent {
        session_id: context.session().clone(),
        tab_id: Some(tab),
        cdp_session_id: child.then(|| session.as_str().into()),
        method: event.method,
        params: event.params,
    })));
}

async fn answer(inner: Arc<Inner>, message: Outbound) {
    let (call_id, session_id, result): (CallId, SessionId, Result<Value, String>) = match message {
        Outbound::CdpSend(call) => {
            let tab = call.tab_id.unwrap();
            let result = match page(&inner, tab).await {
                Err(error) => Err(error),
                Ok(_) if inner.forbidden.lock().unwrap().contains(&call.method.as_str()) => {
                    Err("Not allowed".to_owned())
                }
                Ok(page) => {
                    let trick = match call.params["type"].as_str() {
                        Some("mousePressed") => inner.before_press.lock().unwrap().take(),
                        _ => None,
                    };
                    if let Some(script) = trick {
                        page.evaluate(&script).await.unwrap();
                    }
                    let session = call.cdp_session_id.as_ref().map_or(page.session(), |id| id.as_str());
                    let sent = inner.browser.send(Some(session), &call.method, call.params).await;
                    match sent {
                        Ok(result) => Ok(json!({ "tabId": tab, "result": result })),
                        Err(chromium::ChromiumError::Refused { message, .. }) => Err(message),
                        Err(other) => Err(other.to_string()),
                    }
                }
            };
            (call.call_id, call.session_id, result)
        }
        Outbound::TabList(call) => {
            (call.call_id, call.session_id, list(&inner).await.map(|tabs| json!(tabs)))
        }
        Outbound::TabGetActive(call) => {
            let active = list(&inner).await.map(|tabs| json!(tabs.into_iter().find(|tab| tab.active)));
            (call.call_id, call.session_id, active)
        }
        Outbound::TabActivate(call) => {
            inner.tabs.lock().unwrap().active = Some(call.tab_id);
            let result = match page(&inner, call.tab_id).await {
                Err(error) => Err(error),
                Ok(page) => {
                    let _ = page.send("Page.bringToFront", json!({})).await;
                    list(&inner)
                        .await
                        .map(|tabs| json!(tabs.into_iter().find(|tab| tab.tab_id == call.tab_id)))
                }
            };
            (call.call_id, call.session_id, result)
        }
        Outbound::TabNew(call) => {
            (call.call_id, call.session_id, new_tab(&inner, call.url, call.active).await)
        }
        Outbound::TabClose(call) => {
            let target = {
                let tabs = inner.tabs.lock().unwrap();
                tabs.by_target.iter().find(|(_, tab)| **tab == call.tab_id).map(|(target, _)| target.clone())
            };
            let closed = inner.browser.send(None, "Target.closeTarget", json!({ "targetId": target })).await;
            let closed = closed.map(|_| json!({ "tabId": call.tab_id })).map_err(|error| error.to_string());
            (call.call_id, call.session_id, closed)
        }
        _ => return,
    };
    let Some(context) = inner.context.get().and_then(Weak::upgrade) else { return };
    let (ok, result, error) = match result {
        Ok(result) => (true, result, None),
        Err(error) => (false, Value::Null, Some(error)),
    };
    context.resolve(ToolResult { session_id, call_id, ok, result, error });
}

async fn list(inner: &Inner) -> Result<Vec<TabInfo>, String> {
    let targets = inner.browser.targets().await.map_err(|error| error.to_string())?;
    let mut tabs = inner.tabs.lock().unwrap();
    let active = tabs.active;
    Ok(targets
        .into_iter()
        .filter(|target| target.kind == "page")
        .map(|target| {
            let tab_id = tabs.number(&target.id);
            TabInfo {
                tab_id,
                url: target.url,
                title: target.title,
                active: active == Some(tab_id),
                window_id: Some(1),
            }
        })
        .collect())
}

async fn new_tab(inner: &Inner, url: Option<String>, active: Option<bool>) -> Result<Value, String> {
    let behind = active == Some(false);
    let params = json!({ "url": url.as_deref().unwrap_or("about:blank"), "background": behind });
    let made =
        inner.browser.send(None, "Target.createTarget", params).await.map_err(|error| error.to_string())?;
    let tab = {
        let mut tabs = inner.tabs.lock().unwrap();
        let tab = tabs.number(made["targetId"].as_str().unwrap());
        if !behind {
            tabs.active = Some(tab);
        }
        tab
    };
    Ok(json!(list(inner).await?.into_iter().find(|known| known.tab_id == tab)))
}

async fn page(inner: &Inner, tab: TabId) -> Result<Page, String> {
    let _one_by_one = inner.attaching.lock().await;
    let target = {
        let tabs = inner.tabs.lock().unwrap();
        if let Some(page) = tabs.pages.get(&tab) {
            return Ok(page.clone());
        }
        let found = tabs.by_target.iter().find(|(_, number)| **number == tab);
        found.map(|(target, _)| target.clone()).ok_or_else(|| format!("No tab with id: {tab}."))?
    };
    let page = inner.browser.attach(&target).await.map_err(|error| error.to_string())?;
    let mut tabs = inner.tabs.lock().unwrap();
    tabs.by_session.insert(page.session().to_owned(), (tab, false));
    tabs.pages.insert(tab, page.clone());
    Ok(page)
}

/// Nobody is there to be asked.
pub struct NoPerson;

#[async_trait]
impl Ask for NoPerson {
    async fn ask(&self, _: Question, _: &CancellationToken) -> Result<Reply, AskError> {
        Err(AskError::NoPerson)
    }
}

/// A browser with one tab, a session on it, and a folder of pages.
pub struct Stage {
    pub chromium: Chromium,
    pub server: PageServer,
    /// The test's own line to the tab.
    pub page: Page,
    pub tab: TabId,
    pub cx: ToolCx,
    inner: Arc<Inner>,
    home: tempfile::TempDir,
    _tasks: JoinSet<()>,
}

impl Stage {
    /// Starts everything and opens `html`.
    pub async fn open(html: &str) -> Self {
        Self::open_with(html, &[]).await
    }

    /// As [`Stage::open`] with further pages, by file name.
    pub async fn open_with(html: &str, others: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("pages");
        std::fs::create_dir(&folder).unwrap();
        for (name, text) in others.iter().chain(&[("page.html", html)]) {
            std::fs::write(folder.join(name), text).unwrap();
        }
        Self::serve(home, folder, "page.html", &[]).await
    }

    /// Starts everything and opens a page of a folder.
    pub async fn of_folder(folder: PathBuf, page: &str, flags: &[String]) -> Self {
        Self::serve(tempfile::tempdir().unwrap(), folder, page, flags).await
    }

    async fn serve(home: tempfile::TempDir, folder: PathBuf, file: &str, flags: &[String]) -> Self {
        let server = PageServer::start(&folder).await;
        let mut options = LaunchOptions::new(find::browser().unwrap().path);
        options.flags = flags.to_vec();
        let chromium = Chromium::launch(options).await.unwrap();
        let page = chromium.browser().open(&server.url(file)).await.unwrap();
        let inner = Arc::new(Inner {
            browser: chromium.browser().clone(),
            tabs: Mutex::default(),
            context: OnceLock::new(),
            before_press: Mutex::default(),
            forbidden: Mutex::default(),
            attaching: tokio::sync::Mutex::default(),
        });
        let tab = {
            let mut tabs = inner.tabs.lock().unwrap();
            let tab = tabs.number(page.target());
            tabs.active = Some(tab);
            tab
        };
        let (messages, inbox) = mpsc::unbounded_channel();
        let wire = Arc::new(CdpWire { messages });
        let context = Arc::new(ExtensionContext::new(SessionId::from("sp-test"), wire, None));
        inner.context.set(Arc::downgrade(&context)).unwrap();
        let mut tasks = JoinSet::new();
        tasks.spawn(work(Arc::clone(&inner), inbox));
        let cx = ToolCx {
            browser: Arc::new(Browser::new(context)),
            ask: Arc::new(NoPerson),
            paths: Paths::below(home.path()),
            policy: ToolPolicy::default(),
            cancel: CancellationToken::new(),
        };
        Self { chromium, server, page, tab, cx, inner, home, _tasks: tasks }
    }

    /// The home of this session's files.
    pub fn home(&self) -> &std::path::Path {
        self.home.path()
    }

    /// Calls a tool as a turn would.
    pub async fn call(&self, tool: &str, args: Value) -> ToolOutput {
        let tool = browy::tools::by_name(tool).unwrap_or_else(|| panic!("no tool {tool}"));
        let called = tokio::time::timeout(Duration::from_secs(40), tool.call(&self.cx, args)).await;
        match called.expect("the call ends") {
            Ok(output) => output,
            Err(error) => ToolOutput::failed(error.to_string()),
        }
    }

    /// As [`Stage::call`], with the JSON result.
    pub async fn json(&self, tool: &str, args: Value) -> Value {
        let output = self.call(tool, args).await;
        serde_json::from_str(&output.text).unwrap_or_else(|_| panic!("not JSON: {}", output.text))
    }

    /// The number of the one listed element whose line contains `words` (or all of them, between ` & `),
    /// from a new view.
    pub async fn index(&self, words: &str) -> u32 {
        let view = self.cx.browser.snapshot(&self.cx.cancel, &Default::default()).await.unwrap();
        let fits = |line: &str| words.split(" & ").all(|part| line.contains(part)) && number(line).is_some();
        let lines: Vec<&str> = view.text.lines().filter(|line| fits(line)).collect();
        match lines.as_slice() {
            [line] => number(line).unwrap(),
            _ => panic!("{} lines with {words:?} in:\n{}", lines.len(), view.text),
        }
    }

    /// Lets the page do something between our last check and the next press, where nobody can look.
    pub fn before_press(&self, script: &str) {
        *self.inner.before_press.lock().unwrap() = Some(script.to_owned());
    }

    /// The debugger leaves the tab, as the extension's does a while after a turn.
    pub async fn let_go(&self) {
        let held = {
            let mut tabs = self.inner.tabs.lock().unwrap();
            tabs.pages.remove(&self.tab).expect("the tab is held")
        };
        let session = json!({ "sessionId": held.session() });
        self.inner.browser.send(None, "Target.detachFromTarget", session).await.unwrap();
        let detached = DebuggerDetached { tab_id: self.tab, reason: "released".to_owned() };
        let context = self.inner.context.get().and_then(Weak::upgrade).unwrap();
        context.publish(BrowserEvent::Detached(Arc::new(detached)));
    }

    /// The browser refuses these commands from now on, as it does for an extension without access to files.
    pub fn forbid(&self, methods: &[&'static str]) {
        *self.inner.forbidden.lock().unwrap() = methods.to_vec();
    }

    /// What the page's own code says.
    pub async fn eval(&self, expression: &str) -> Value {
        self.page.evaluate(expression).await.unwrap()
    }

    pub async fn close(self) {
        self.chromium.close().await;
    }
}

/// The number of an element line: `[12]`, `[*12]`, `[~12]`.
fn number(line: &str) -> Option<u32> {
    let (_, rest) = line.split_once('[')?;
    let (inside, _) = rest.split_once(']')?;
    inside.trim_start_matches(['*', '~']).parse().ok()
}
