//! Console and network, in a real browser.

use serde_json::{Value, json};

use crate::support::cdp_wire::Stage;

fn first_line(text: &str) -> Value {
    serde_json::from_str(text.lines().next().unwrap()).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

/// Holds the tab, as any first call does.
async fn hold(stage: &Stage) {
    stage.call("inspect_page", json!({})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn console_is_recorded_before_anybody_asks() {
    let stage = Stage::open("<link rel=icon href=data:,><title>c</title><button id=b>B</button>").await;
    hold(&stage).await;
    stage.eval("console.log('hello', {a: 1, list: [1, 2]}); console.warn('careful'); console.error('secret token=abc123')").await;
    stage.eval("new Promise(done => { setTimeout(() => { setTimeout(done, 0); null.x }, 0) })").await;
    let all = stage.call("get_console_logs", json!({})).await.text;
    let facts = first_line(&all);
    assert_eq!((&facts["success"], &facts["count"]), (&json!(true), &json!(4)), "{all}");
    assert!(facts["recordedSince"].as_str().unwrap().ends_with('Z'), "{facts}");
    assert!(all.contains("log: hello {a: 1, list: Array(2)}"), "{all}");
    assert!(all.contains("token=[masked]") && !all.contains("abc123"), "{all}");
    assert!(all.contains("error: Uncaught TypeError: Cannot read properties of null"), "{all}");
    let warned = stage.call("get_console_logs", json!({ "level": "warn" })).await.text;
    assert!(warned.contains("careful") && !warned.contains("hello"), "{warned}");
    let found = stage.call("get_console_logs", json!({ "text": "HELLO", "limit": 1 })).await.text;
    assert_eq!(first_line(&found)["count"], 1, "{found}");
    let wrong = stage.call("get_console_logs", json!({ "level": "fatal" })).await;
    assert!(!wrong.ok && wrong.text.contains("bad_argument"), "{}", wrong.text);
    stage.close().await;
}

/// What a page could use to find out that its console is watched: all of these run when a debugger asks for more
/// than the words.
const TELLTALES: &str = "(() => {
    window.told = [];
    class Telltale extends Error { get stack() { told.push('stack'); return '' } }
    const error = new Telltale('x');
    delete error.stack;
    console.log(error);
    const before = Error.prepareStackTrace;
    Error.prepareStackTrace = () => { told.push('prepareStackTrace'); return '' };
    console.debug(new Error('y'));
    Error.prepareStackTrace = before;
    console.log(new Proxy({}, { ownKeys() { told.push('ownKeys'); return [] } }));
    return told.join(' ');
})()";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_cannot_tell_that_it_is_recorded_and_its_words_outlive_it() {
    let stage = Stage::open("<link rel=icon href=data:,><title>1</title><p>x<script>console.log('before it was held'); null.x</script>").await;
    let before = stage.eval(TELLTALES).await;
    hold(&stage).await;
    assert_eq!((stage.eval(TELLTALES).await, before), (json!(""), json!("")));
    stage.eval("console.error('of page 1')").await;
    let address = stage.server.url("page.html?2");
    stage.call("navigate", json!({ "url": address, "new_tab": false })).await;
    let first = stage.call("get_console_logs", json!({})).await.text;
    assert!(first.contains("error: of page 1"), "{first}");
    assert_eq!(first.matches("before it was held").count(), 2, "{first}");
    assert!(first.contains("Uncaught TypeError") && first.contains("page.html?2:1:"), "{first}");
    stage.eval("console.log('once', {a: 1}); setTimeout(() => { null.y }, 0)").await;
    stage.call("navigate", json!({ "url": stage.server.url("page.html?3"), "new_tab": false })).await;
    let second = stage.call("get_console_logs", json!({ "text": "once" })).await.text;
    assert_eq!(second.matches("once {a: 1}").count(), 1, "{second}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn console_of_a_worker_is_there_too() {
    let stage = Stage::open_with(
        "<link rel=icon href=data:,><title>w</title><p>x",
        &[("w.js", "onmessage = () => { console.log('from the worker'); postMessage(1) }")],
    )
    .await;
    hold(&stage).await;
    stage.eval("new Promise(done => { window.w = new Worker('w.js'); w.onmessage = () => { w.n = (w.n || 0) + 1; if (w.n === 20) done(); else setTimeout(() => w.postMessage(1), 20) }; w.postMessage(1) })").await;
    let text = stage.call("get_console_logs", json!({})).await.text;
    assert!(text.contains("log: from the worker"), "{text}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_recorded_with_their_ends_and_read_one_by_one() {
    let stage = Stage::open_with(
        "<link rel=icon href=data:,><title>n</title><p>x",
        &[("data.json", "{\"user\":\"ana\",\"password\":\"hunter2\"}")],
    )
    .await;
    hold(&stage).await;
    stage
        .eval(
            "(async () => {
                await (await fetch('data.json?token=abc123', { headers: { 'X-Api-Key': 'k1234567' } })).text();
                await fetch('missing.json');
                await fetch('data.json', { method: 'POST', body: 'name=ana&password=hunter2' }).catch(() => {});
                await fetch(location.href.replace('127.0.0.1', 'localhost') + '?other').catch(() => {});
            })()",
        )
        .await;
    let listed = stage.call("get_network_requests", json!({ "type": "fetch" })).await.text;
    assert!(listed.contains("token=[masked]") && !listed.contains("abc123"), "{listed}");
    let missing =
        stage.call("get_network_requests", json!({ "status": "4xx", "filter": "missing" })).await.text;
    assert_eq!(first_line(&missing)["count"], 1, "{missing}");
    let failed =
        stage.call("get_network_requests", json!({ "status": "failed", "filter": "?other" })).await.text;
    assert!(failed.contains("failed (net::ERR_FAILED, blocked: MissingAllowOriginHeader)"), "{failed}");

    let id = |text: &str| -> u64 {
        let (_, rest) = text.split_once('#').unwrap_or_else(|| panic!("no request in {text}"));
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let got =
        stage.call("get_network_requests", json!({ "filter": "data.json?", "method": "get" })).await.text;
    let one = stage.call("get_network_request", json!({ "id": id(&got) })).await.text;
    assert!(one.contains("\"user\":\"ana\"") && one.contains("\"password\":\"[masked]\""), "{one}");
    assert!(!one.contains("hunter2") && !one.contains("k1234567"), "{one}");
    let posted = stage.call("get_network_requests", json!({ "method": "POST" })).await.text;
    let one = stage.call("get_network_request", json!({ "id": id(&posted) })).await.text;
    assert!(one.contains("name=ana&password=[masked]"), "{one}");
    let none = stage.call("get_network_request", json!({ "id": 9_999 })).await;
    assert!(!none.ok && none.text.contains("bad_argument"), "{}", none.text);
    stage.close().await;
}
