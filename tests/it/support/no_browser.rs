//! Tools with a browser in which no page answers, but which notes everything that is sent to it.

use std::sync::{Arc, Mutex, OnceLock, Weak};

use async_trait::async_trait;
use browy::browser::{Browser, ExtensionContext, Wire, WireError};
use browy::paths::Paths;
use browy::protocol::{CallId, CdpSend, Outbound, SessionId, ToolResult};
use browy::tools::policy::ToolPolicy;
use browy::tools::{Ask, AskError, AskPurpose, Question, Reply, ReplyAnswer, ToolCx, ToolOutput};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Answers a request of the host.
type Answer = fn(&Outbound) -> Result<Value, String>;

/// See the module.
pub struct NoBrowser {
    pub cx: ToolCx,
    person: Arc<Person>,
    wire: Arc<Recorder>,
    home: tempfile::TempDir,
}

struct Recorder {
    sent: Mutex<Vec<Outbound>>,
    answer: Answer,
    context: OnceLock<Weak<ExtensionContext>>,
}

impl Wire for Recorder {
    fn send(&self, message: Outbound) -> Result<(), WireError> {
        let ids: Option<(SessionId, CallId)> = match &message {
            Outbound::CdpSend(call) => Some((call.session_id.clone(), call.call_id.clone())),
            Outbound::TabNew(call) => Some((call.session_id.clone(), call.call_id.clone())),
            Outbound::DownloadStart(call) => Some((call.session_id.clone(), call.call_id.clone())),
            Outbound::TabActivate(call) | Outbound::TabClose(call) => {
                Some((call.session_id.clone(), call.call_id.clone()))
            }
            Outbound::TabList(call) | Outbound::TabGetActive(call) => {
                Some((call.session_id.clone(), call.call_id.clone()))
            }
            _ => None,
        };
        let answered = (self.answer)(&message);
        self.sent.lock().unwrap().push(message);
        let (Some((session_id, call_id)), Some(context)) = (ids, self.context.get().and_then(Weak::upgrade))
        else {
            return Ok(());
        };
        let (ok, result, error) = match answered {
            Ok(result) => (true, result, None),
            Err(error) => (false, Value::Null, Some(error)),
        };
        // The call is registered before it is sent.
        context.resolve(ToolResult { session_id, call_id, ok, result, error });
        Ok(())
    }

    fn has(&self, _: &str) -> bool {
        true
    }
}

/// A person who answers the same every time.
#[derive(Default)]
struct Person {
    answer: Mutex<Option<ReplyAnswer>>,
    asked: Mutex<Vec<Value>>,
}

#[async_trait]
impl Ask for Person {
    async fn ask(&self, question: Question, _: &CancellationToken) -> Result<Reply, AskError> {
        let answer = self.answer.lock().unwrap().ok_or(AskError::NoPerson)?;
        if let AskPurpose::Approval { args, .. } = question.purpose {
            self.asked.lock().unwrap().push(args);
        }
        Ok(Reply { answer, text: None })
    }
}

impl NoBrowser {
    /// A home of its own, and nobody to ask.
    pub fn new() -> Self {
        Self::answering(|message| match message {
            Outbound::TabList(_) => Ok(json!([])),
            _ => Err("There is no tab to work on.".to_owned()),
        })
    }

    /// As [`NoBrowser::new`], with a page that has one file field.
    pub fn with_page() -> Self {
        Self::answering(page)
    }

    fn answering(answer: Answer) -> Self {
        let home = tempfile::tempdir().unwrap();
        let wire = Arc::new(Recorder { sent: Mutex::default(), answer, context: OnceLock::new() });
        let context = Arc::new(ExtensionContext::new(SessionId::from("sp-test"), wire.clone(), None));
        wire.context.set(Arc::downgrade(&context)).unwrap();
        let person = Arc::new(Person::default());
        let cx = ToolCx {
            browser: Arc::new(Browser::new(context)),
            ask: person.clone(),
            paths: Paths::below(home.path()),
            policy: ToolPolicy::default(),
            cancel: CancellationToken::new(),
        };
        Self { cx, person, wire, home }
    }

    pub fn home(&self) -> &std::path::Path {
        self.home.path()
    }

    /// The person answers so from now on.
    pub fn person_says(&mut self, answer: ReplyAnswer) {
        *self.person.answer.lock().unwrap() = Some(answer);
    }

    /// The arguments that the person was shown.
    pub fn asked(&self) -> Vec<Value> {
        self.person.asked.lock().unwrap().clone()
    }

    /// What was sent to the browser since the last time.
    pub fn sent(&self) -> Vec<Outbound> {
        std::mem::take(&mut *self.wire.sent.lock().unwrap())
    }

    /// Calls a tool as a turn would.
    pub async fn call(&self, tool: &str, args: Value) -> ToolOutput {
        let tool = browy::tools::by_name(tool).unwrap_or_else(|| panic!("no tool {tool}"));
        match tool.call(&self.cx, args).await {
            Ok(output) => output,
            Err(error) => {
                ToolOutput { text: error.to_string(), pictures: Vec::new(), ok: false, reveals: Vec::new() }
            }
        }
    }

    /// As [`NoBrowser::call`], with the JSON result.
    pub async fn json(&self, tool: &str, args: Value) -> Value {
        let output = self.call(tool, args).await;
        serde_json::from_str(&output.text).unwrap_or_else(|_| panic!("not JSON: {}", output.text))
    }
}

/// A page with one field, in which every function of ours finds nothing else.
fn page(message: &Outbound) -> Result<Value, String> {
    let tab =
        json!({ "tabId": 7, "url": "https://one.test/", "title": "One", "active": true, "windowId": 1 });
    match message {
        Outbound::TabList(_) => Ok(json!([tab])),
        Outbound::CdpSend(call) => Ok(json!({ "tabId": 7, "result": devtools(call) })),
        Outbound::DownloadStart(_) => {
            Ok(json!({ "downloadId": 1, "state": "complete", "filename": "/downloads/a", "bytes": 1 }))
        }
        _ => Ok(tab),
    }
}

/// What a quiet page with one field answers.
pub fn devtools(call: &CdpSend) -> Value {
    match call.method.as_str() {
        "Page.getFrameTree" => {
            json!({ "frameTree": { "frame": { "id": "F", "loaderId": "L", "url": "https://one.test/" } } })
        }
        "DOM.describeNode" => json!({ "node": { "backendNodeId": 1, "nodeId": 1 } }),
        "DOM.resolveNode" => json!({ "object": { "type": "object", "objectId": "d" } }),
        "DOMDebugger.getEventListeners" => json!({ "listeners": [] }),
        "Page.createIsolatedWorld" => json!({ "executionContextId": 1 }),
        // Whoever asks for no value asks for the object itself.
        "Runtime.callFunctionOn" if call.params["returnByValue"] != true => {
            json!({ "result": { "type": "object", "objectId": "e" } })
        }
        "Runtime.evaluate" => json!({ "result": { "type": "object", "objectId": "r" } }),
        "Page.getLayoutMetrics" => {
            let view = json!({ "pageX": 0, "pageY": 0, "clientWidth": 800, "clientHeight": 600 });
            json!({ "cssVisualViewport": view, "visualViewport": view, "cssContentSize": { "height": 600 } })
        }
        "Page.printToPDF" => json!({ "data": "JVBERi0=" }),
        "Page.navigate" => json!({ "frameId": "F", "loaderId": "L2" }),
        "Page.getNavigationHistory" => {
            json!({ "currentIndex": 0, "entries": [{ "id": 1, "url": "https://one.test/", "title": "One" }] })
        }
        "Runtime.callFunctionOn" => {
            let name = call.params.pointer("/arguments/0/value").and_then(Value::as_str).unwrap_or_default();
            json!({ "result": { "type": "string", "value": json!({ "ok": told(name) }).to_string() } })
        }
        _ => json!({}),
    }
}

fn told(function: &str) -> Value {
    match function {
        "foreignFrames" => json!({ "origin": "https://one.test", "frames": [] }),
        "snapshot" => json!({
            "entries": [{ "s": 1, "k": 1, "t": "input", "y": "file", "n": "Paper", "b": [0, 0, 50, 20] }],
            "total": 1, "facts": { "origin": "https://one.test", "url": "https://one.test/", "readyState": "complete" },
        }),
        "identify" => json!({ "tag": "input", "type": "file", "name": "Paper" }),
        "secretPlaces" => json!({ "boxes": [], "frames": [] }),
        "holdsSecrets" => json!(false),
        "placeOf" => json!([0, 0, 50, 20]),
        "throughFrame" | "toOuter" => json!([1, 1]),
        "slotOf" => json!({ "slot": 1 }),
        "findText" => json!({ "matches": [], "count": 0, "unseen": 0, "more": false }),
        "queryDom" => json!({ "results": [], "count": 0 }),
        "readText" => json!({ "found": true, "text": "words" }),
        _ => Value::Null,
    }
}
