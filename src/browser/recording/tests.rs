use std::sync::Arc;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::*;
use crate::browser::extension_context::{Wire, WireError};
use crate::protocol::{CdpEvent, CdpSend, DebuggerDetached, Outbound, SessionId};

const TAB: TabId = TabId(7);

const ALL: Recent = Recent { limit: usize::MAX, within: None };

fn cdp(method: &str, params: Value, session: Option<&str>) -> BrowserEvent {
    BrowserEvent::Cdp(Arc::new(CdpEvent {
        session_id: SessionId::from("sp-1"),
        tab_id: Some(TAB),
        cdp_session_id: session.map(Into::into),
        method: method.to_owned(),
        params,
    }))
}

fn detached() -> BrowserEvent {
    BrowserEvent::Detached(Arc::new(DebuggerDetached { tab_id: TAB, reason: "released".to_owned() }))
}

fn console(recordings: &Recordings) -> Recorded<ConsoleEntry> {
    recordings.read(TAB, |own| own.console.pick(|_| true), ALL)
}

fn requests(recordings: &Recordings) -> Recorded<RequestRecord> {
    recordings.read(TAB, |own| own.network.pick(|_| true), ALL)
}

fn recording() -> Recordings {
    let recordings = Recordings::default();
    recordings.begin(TAB);
    recordings
}

fn logged(recordings: &Recordings, at: f64, args: Value) {
    let params = json!({ "type": "log", "timestamp": at, "args": args });
    recordings.note(&cdp("Runtime.consoleAPICalled", params, None));
}

fn sent(id: &str, url: &str) -> BrowserEvent {
    let request =
        json!({ "url": url, "method": "GET", "headers": { "Authorization": "Bearer abcdefgh1234" } });
    let params =
        json!({ "requestId": id, "request": request, "type": "Fetch", "timestamp": 10.0, "wallTime": 1.7e9 });
    cdp("Network.requestWillBeSent", params, None)
}

#[test]
fn objects_are_readable_and_secrets_masked() {
    let recordings = recording();
    let preview = json!({
        "type": "object", "description": "Object", "overflow": true,
        "properties": [
            { "name": "n", "type": "number", "value": "1" }, { "name": "s", "type": "string", "value": "a b" },
            { "name": "list", "type": "object", "value": "Array(2)" },
        ],
    });
    let object = json!({ "type": "object", "description": "Object", "preview": preview });
    logged(
        &recordings,
        1.0,
        json!([{ "type": "string", "value": "got %s%c!" }, object, { "value": "color:red" }, { "value": 5 }]),
    );
    logged(&recordings, 2.0, json!([{ "type": "string", "value": "token=abc123" }]));
    let texts: Vec<String> = console(&recordings).entries.into_iter().map(|entry| entry.text).collect();
    assert_eq!(texts, ["got {n: 1, s: \"a b\", list: Array(2), …}! 5", "token=[masked]"]);
}

#[test]
fn exception_has_its_place_counted_from_one() {
    let recordings = recording();
    let details = json!({
        "text": "Uncaught", "url": "http://a/x.js", "lineNumber": 4, "columnNumber": 8,
        "exception": { "type": "object", "subtype": "error", "description": "TypeError: no\n    at f (http://a/x.js:5:9)" },
    });
    let thrown = json!({ "timestamp": 1.0, "exceptionDetails": details });
    assert!(recordings.note(&cdp("Runtime.exceptionThrown", thrown, None)), "listeners need not see it");
    assert!(!recordings.note(&cdp("Runtime.bindingCalled", json!({}), None)), "this they wait for");
    let entry = console(&recordings).entries.remove(0);
    assert_eq!(entry.level, ConsoleLevel::Error);
    assert_eq!(entry.text, "Uncaught TypeError: no at f (http://a/x.js:5:9)");
    assert_eq!(entry.place.as_deref(), Some("http://a/x.js:5:9"));
}

#[test]
fn gap_is_told_and_what_is_told_again_is_not_kept_twice() {
    let recordings = recording();
    logged(&recordings, 5.0, json!([{ "value": "one" }]));
    recordings.note(&sent("1", "http://a/"));
    recordings.note(&detached());
    assert_eq!(console(&recordings).since, None);
    assert_eq!(requests(&recordings).entries[0].outcome, Outcome::Lost);
    recordings.begin(TAB);
    for (at, text) in [(5.0, "one"), (6.0, "two")] {
        logged(&recordings, at, json!([{ "value": text }]));
    }
    let now = console(&recordings);
    assert!(now.resumed && now.since.is_some());
    assert_eq!(now.entries.iter().map(|entry| entry.text.as_str()).collect::<Vec<_>>(), ["one", "two"]);
}

#[test]
fn redirect_hops_are_requests_of_their_own() {
    let recordings = recording();
    recordings.note(&sent("1", "http://a/old"));
    let BrowserEvent::Cdp(next) = sent("1", "http://a/new") else { unreachable!() };
    let mut next = (*next).clone();
    next.params["redirectResponse"] = json!({ "status": 302, "headers": { "Set-Cookie": "sid=1" } });
    next.params["timestamp"] = json!(10.25);
    recordings.note(&BrowserEvent::Cdp(Arc::new(next)));
    recordings.note(&cdp(
        "Network.responseReceived",
        json!({ "requestId": "1", "response": { "status": 200 } }),
        None,
    ));
    recordings.note(&cdp("Network.loadingFinished", json!({ "requestId": "1", "timestamp": 11.0 }), None));
    let told: Vec<_> = requests(&recordings).entries;
    assert_eq!(
        (told[0].status, &told[0].outcome, told[0].took_ms),
        (Some(302), &Outcome::Redirected, Some(250))
    );
    assert_eq!(
        (told[1].status, &told[1].outcome, told[1].took_ms),
        (Some(200), &Outcome::Finished, Some(750))
    );
    assert_eq!(told[0].received, [("Set-Cookie".to_owned(), "[masked]".to_owned())]);
    assert_eq!(told[0].sent, [("Authorization".to_owned(), "[masked]".to_owned())]);
}

#[test]
fn blocked_request_says_by_what() {
    let recordings = recording();
    recordings.note(&sent("1", "http://a/ad?token=abc"));
    let failed = json!({ "requestId": "1", "errorText": "net::ERR_FAILED", "blockedReason": "csp" });
    recordings.note(&cdp("Network.loadingFailed", failed, None));
    let told = requests(&recordings).entries.remove(0);
    assert_eq!(told.outcome, Outcome::Failed("net::ERR_FAILED, blocked: csp".to_owned()));
    assert_eq!(told.url, "http://a/ad?token=[masked]");
}

#[test]
fn frames_of_other_processes_do_not_mix_with_the_page() {
    let recordings = recording();
    assert!(!recordings.note(&sent("1", "http://a/")), "listeners wait for the page's own");
    let BrowserEvent::Cdp(mut child) = sent("1", "http://b/") else { unreachable!() };
    Arc::make_mut(&mut child).cdp_session_id = Some("child".into());
    assert!(recordings.note(&BrowserEvent::Cdp(child)));
    recordings.note(&cdp("Network.loadingFinished", json!({ "requestId": "1" }), Some("child")));
    let told: Vec<_> = requests(&recordings).entries.into_iter().map(|record| record.outcome).collect();
    assert_eq!(told, [Outcome::Open, Outcome::Finished]);
}

#[test]
fn flood_stays_within_its_bounds() {
    let recordings = recording();
    for n in 0..2_000 {
        logged(&recordings, f64::from(n + 1), json!([{ "value": "x".repeat(5_000) }]));
        wrote(&recordings, &"z".repeat(5_000), Some("frame"));
        recordings.note(&sent(&n.to_string(), &format!("http://a/{}", "y".repeat(5_000))));
    }
    let (console, requests) = (console(&recordings), requests(&recordings));
    assert!(console.kept < 1_000 && console.dropped > 1_500, "{} {}", console.kept, console.dropped);
    let bytes: usize = console.entries.iter().map(|entry| entry.text.len()).sum();
    assert!(bytes <= 2 * 256 * 1024, "{bytes}");
    assert!(
        requests.kept <= 500 && requests.entries.iter().all(|record| record.url.chars().count() <= 1_001)
    );
}

fn wrote(recordings: &Recordings, text: &str, session: Option<&str>) {
    let message = json!({ "source": "console-api", "level": "warning", "text": text, "url": "http://a/x.js", "line": 5, "column": 9 });
    recordings.note(&cdp("Console.messageAdded", json!({ "message": message }), session));
}

fn texts(recordings: &Recordings) -> Vec<String> {
    console(recordings).entries.into_iter().map(|entry| entry.text).collect()
}

#[test]
fn words_of_a_page_that_is_left_stay_and_those_of_a_living_one_are_told_once() {
    let recordings = recording();
    wrote(&recordings, "of the first page, token=abc123", None);
    assert_eq!(console(&recordings).entries[0].place.as_deref(), Some("http://a/x.js:5:9"));
    recordings.note(&cdp("Page.frameNavigated", json!({ "frame": { "id": "F" } }), None));
    wrote(&recordings, "rough", None);
    wrote(&recordings, "of a worker", Some("w"));
    recordings.note(&cdp("Target.detachedFromTarget", json!({ "sessionId": "w" }), None));
    assert_eq!(recordings.make_whole(TAB), [Target::tab(TAB)]);
    logged(&recordings, 4e12, json!([{ "value": "with all that belongs to it" }]));
    wrote(&recordings, "twice", None);
    assert_eq!(
        texts(&recordings),
        ["of the first page, token=[masked]", "of a worker", "with all that belongs to it"]
    );
    assert!(recordings.make_whole(TAB).is_empty(), "once is enough");
}

#[test]
fn words_that_are_told_again_after_a_gap_are_kept_once() {
    let recordings = recording();
    wrote(&recordings, "one", None);
    recordings.note(&detached());
    recordings.begin(TAB);
    assert_eq!(texts(&recordings), ["one"], "until the browser tells it again");
    for text in ["one", "two"] {
        wrote(&recordings, text, None);
    }
    assert_eq!(texts(&recordings), ["one", "two"]);
}

#[test]
fn objects_of_before_are_looked_into_once_and_no_other_entry_changes() {
    let recordings = recording();
    let object = json!({ "type": "object", "description": "Object", "objectId": "o1" });
    let proxy =
        json!({ "type": "object", "subtype": "proxy", "description": "Proxy(Object)", "objectId": "o2" });
    logged(&recordings, 1.0, json!([{ "value": "one" }, object, proxy]));
    logged(&recordings, 2.0, json!([{ "value": "two" }]));
    let mut closed = recordings.with(TAB, |own| own.console.take_closed()).unwrap();
    assert_eq!(closed[0].objects(), [(1, "o1".to_owned())], "a look into a proxy runs the page's code");
    let own = |name: &str, value: Value| json!({ "name": name, "enumerable": true, "value": value });
    let hidden = json!({ "name": "hidden", "enumerable": false, "value": { "type": "number", "value": 2 } });
    let answer = json!({ "result": [
        own("token", json!({ "type": "string", "value": "abc" })), own("n", json!({ "type": "number", "value": 1 })), hidden,
    ] });
    closed[0].open(1, &answer);
    recordings.with(TAB, |own| own.console.opened(&closed[0]));
    assert_eq!(texts(&recordings), ["one {token: \"[masked]\", n: 1} Proxy(Object)", "two"]);
    assert!(recordings.with(TAB, |own| own.console.take_closed()).unwrap().is_empty());
}

#[test]
fn memory_goes_with_the_tab() {
    let recordings = recording();
    logged(&recordings, 1.0, json!([{ "value": "one" }]));
    recordings.note(&sent("1", "http://a/"));
    let removed: Value = json!({ "event": "removed", "tabId": 7 });
    recordings.note(&BrowserEvent::Tab(Arc::new(serde_json::from_value(removed).unwrap())));
    assert!(recordings.lock().is_empty());
}

#[test]
fn tab_that_nobody_holds_is_not_recorded() {
    let recordings = Recordings::default();
    logged(&recordings, 1.0, json!([{ "value": "one" }]));
    recordings.note(&sent("1", "http://a/"));
    assert_eq!((console(&recordings).kept, requests(&recordings).kept), (0, 0));
}

#[test]
fn body_that_is_no_text_is_told_by_its_size() {
    let answer = json!({ "body": "/9j/4A==", "base64Encoded": true });
    assert_eq!(Body::received(&answer, "image/jpeg"), Body::Binary(4));
    let answer = json!({ "body": "{\"password\":\"hunter2\"}", "base64Encoded": false });
    assert_eq!(
        Body::received(&answer, "application/json"),
        Body::Text("{\"password\":\"[masked]\"}".to_owned())
    );
    assert_eq!(Body::received(&Value::Null, "text/html"), Body::Unknown);
}

struct Line(mpsc::UnboundedSender<CdpSend>);

impl Wire for Line {
    fn send(&self, message: Outbound) -> Result<(), WireError> {
        match message {
            Outbound::CdpSend(send) => self.0.send(send).map_err(|_| WireError::Closed),
            _ => Ok(()),
        }
    }

    fn has(&self, _: &str) -> bool {
        true
    }
}

#[test]
fn frames_and_workers_are_asked_to_report_and_nothing_else_is() {
    let (line, mut sent) = mpsc::unbounded_channel();
    let context = ExtensionContext::new(SessionId::from("sp-1"), Arc::new(Line(line)), None);
    for kind in ["iframe", "worker", "service_worker", "page"] {
        let params = json!({ "sessionId": kind, "targetInfo": { "type": kind, "targetId": "T" } });
        context.publish(cdp("Target.attachedToTarget", params, None));
    }
    let mut methods = Vec::new();
    while let Ok(send) = sent.try_recv() {
        methods.push(format!("{} {}", send.cdp_session_id.unwrap().as_str(), send.method));
    }
    assert_eq!(
        methods,
        [
            "iframe Console.enable",
            "iframe Log.enable",
            "iframe Network.enable",
            "worker Console.enable",
            "worker Log.enable",
            "worker Network.enable",
        ]
    );
}
