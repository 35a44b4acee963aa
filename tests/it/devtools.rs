//! Console and network, in a real browser.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use browy::tools::{Ask, AskError, Question, Reply, ReplyAnswer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::cdp_wire::Stage;

/// How long a page may take for what it was told.
const LIMIT: Duration = Duration::from_secs(5);

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

/// Answers every question the same way, and counts them.
struct Person(ReplyAnswer, std::sync::Mutex<Vec<Question>>);

#[async_trait]
impl Ask for Person {
    async fn ask(&self, question: Question, _: &CancellationToken) -> Result<Reply, AskError> {
        self.1.lock().unwrap().push(question);
        Ok(Reply { answer: self.0, text: None })
    }
}

/// Puts a person into the panel who says this to everything.
fn person(stage: &mut Stage, answer: ReplyAnswer) -> Arc<Person> {
    let person = Arc::new(Person(answer, std::sync::Mutex::default()));
    stage.cx.ask = Arc::clone(&person) as Arc<dyn Ask>;
    person
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cookies_are_listed_masked_and_told_only_with_the_persons_word() {
    let mut stage = Stage::open("<link rel=icon href=data:,><title>k</title><p>x").await;
    stage.eval("document.cookie = 'sid=abc123; path=/'").await;
    let set = stage
        .json(
            "set_cookie",
            json!({ "name": "hid", "value": "deep456", "http_only": "true", "expires_sec": 600 }),
        )
        .await;
    assert_eq!((&set["success"], &set["kept"]), (&json!(true), &json!(true)), "{set}");
    let listed = stage.call("get_cookies", json!({})).await.text;
    assert_eq!(first_line(&listed)["count"], 2, "{listed}");
    assert!(listed.contains("sid=[masked]; 127.0.0.1/; session") && listed.contains("HttpOnly"), "{listed}");
    let refused = stage.json("get_cookies", json!({ "values": true })).await;
    assert_eq!(refused["class"], "not_allowed", "nobody can be asked: {refused}");
    let no = person(&mut stage, ReplyAnswer::Deny);
    let refused = stage.call("get_cookies", json!({ "values": true })).await;
    assert!(!refused.ok && !refused.text.contains("abc123"), "{}", refused.text);
    assert!(no.1.lock().unwrap()[0].message.contains("127.0.0.1"));
    person(&mut stage, ReplyAnswer::Allow);
    let told = stage.call("get_cookies", json!({ "values": true })).await.text;
    assert!(
        told.contains("sid=abc123") && !told.contains("deep456"),
        "never one that scripts cannot read: {told}"
    );
    let gone = stage.json("set_cookie", json!({ "name": "hid", "value": "", "expires_sec": 0 })).await;
    assert_eq!(gone["removed"], true, "{gone}");
    assert_eq!(first_line(&stage.call("get_cookies", json!({})).await.text)["count"], 1);
    let other = stage.json("get_cookies", json!({ "url": "http://localhost/" })).await;
    assert_eq!(other["class"], "not_allowed", "{other}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn storage_is_read_masked_and_changed() {
    let mut stage = Stage::open(
        "<link rel=icon href=data:,><title>k</title><input type=password id=pw value=hunter2-long>",
    )
    .await;
    stage
        .eval(
            "localStorage.theme = 'dark'; localStorage.access_token = 'abc123'; sessionStorage.copy = pw.value;
             sessionStorage.user = JSON.stringify({ name: 'Ana', password: 'x1y2' }); new Promise(done => { indexedDB.open('shop', 3).onsuccess = done })",
        )
        .await;
    let all = stage.call("get_storage", json!({})).await.text;
    assert!(all.contains("local theme: dark") && all.contains("local access_token: [masked]"), "{all}");
    assert!(all.contains("\"name\":\"Ana\"") && all.contains("indexeddb shop: version 3"), "{all}");
    assert!(!all.contains("abc123") && !all.contains("x1y2") && !all.contains("hunter2"), "{all}");
    person(&mut stage, ReplyAnswer::Allow);
    let told = stage.call("get_storage", json!({ "values": true })).await.text;
    assert!(
        told.contains("abc123") && !told.contains("hunter2"),
        "a secret field's value never leaves: {told}"
    );
    let one = stage.call("get_storage", json!({ "kind": "local", "key": "theme" })).await.text;
    assert_eq!(first_line(&one)["count"], 1, "{one}");
    let set = stage.json("set_storage", json!({ "kind": "local", "key": "a'\"`${1}", "value": "b\\" })).await;
    assert_eq!((&set["success"], &set["keys"]), (&json!(true), &json!(3)), "{set}");
    assert_eq!(stage.eval("localStorage.getItem('a\\'\"`${1}')").await, "b\\");
    stage.json("set_storage", json!({ "kind": "local", "key": "theme" })).await;
    assert_eq!(stage.eval("localStorage.getItem('theme')").await, Value::Null);
    let cleared = stage.json("set_storage", json!({ "kind": "session", "clear": true })).await;
    assert_eq!(cleared["keys"], 0, "{cleared}");
    let both = stage.json("set_storage", json!({ "kind": "local", "key": "a", "clear": true })).await;
    assert_eq!(both["class"], "bad_argument", "{both}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn window_of_another_size_ends_with_the_turn() {
    let stage = Stage::open(
        "<title>v</title><meta name=viewport content=width=device-width><button id=b>B</button>
         <script>b.addEventListener('click', () => {}, { once: true, passive: true }); onclick = () => {}</script>",
    )
    .await;
    let size = "[innerWidth, innerHeight, devicePixelRatio, matchMedia('(pointer: coarse)').matches].join()";
    let own = stage.eval(size).await;
    let phone = json!({ "width": 390, "height": "844", "device_scale_factor": 2, "mobile": true });
    assert_eq!(stage.json("set_viewport", phone.clone()).await["success"], true);
    assert_eq!(stage.eval(size).await, "390,844,2,true");
    stage.json("set_viewport", json!({ "reset": true })).await;
    stage.page.wait_for(&format!("{size} === '{}'", own.as_str().unwrap()), LIMIT).await.unwrap();
    stage.json("set_viewport", phone).await;
    // A picture of the whole page makes the window higher, and gives this one back.
    assert_eq!(stage.json("screenshot", json!({ "full_page": true })).await["success"], true);
    assert_eq!(stage.eval(size).await, "390,844,2,true");
    stage.cx.browser.end_turn();
    stage.page.wait_for(&format!("{size} === '{}'", own.as_str().unwrap()), LIMIT).await.unwrap();
    let wrong = stage.json("set_viewport", json!({ "width": 5 })).await;
    assert_eq!(wrong["class"], "bad_argument", "{wrong}");

    let told = stage.json("get_event_listeners", json!({ "selector": "#b" })).await;
    assert_eq!(told["count"], 1, "{told}");
    assert!(told["listeners"][0].as_str().unwrap().starts_with("click passive once (script#"), "{told}");
    let index = stage.index("button").await;
    assert_eq!(
        stage.json("get_event_listeners", json!({ "index": index })).await["listeners"],
        told["listeners"]
    );
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_sent_again_with_what_they_had() {
    let mut stage = Stage::open_with(
        "<link rel=icon href=data:,><title>r</title><p>x",
        &[("data.json", "{\"user\":\"ana\",\"token\":\"abc123\"}")],
    )
    .await;
    hold(&stage).await;
    stage
        .eval("fetch('data.json?key=secret77', { headers: { 'X-Api-Key': 'k1234567' } }).then(r => r.text())")
        .await;
    stage.eval("fetch('data.json', { method: 'POST', body: 'n=1' }).then(r => r.text())").await;
    let id = |text: &str| -> u64 {
        let (_, rest) = text.split_once('#').unwrap_or_else(|| panic!("no request in {text}"));
        rest.split(' ').next().unwrap().parse().unwrap()
    };
    let listed = |args: Value| {
        let stage = &stage;
        async move { stage.call("get_network_requests", args).await.text }
    };
    let got = id(&listed(json!({ "filter": "data.json?" })).await);
    let posted = id(&listed(json!({ "method": "POST" })).await);
    let again = stage.call("replay_request", json!({ "id": got })).await.text;
    assert_eq!(
        (&first_line(&again)["status"], &first_line(&again)["success"]),
        (&json!(200), &json!(true)),
        "{again}"
    );
    assert!(again.contains("\"user\":\"ana\"") && again.contains("\"token\":\"[masked]\""), "{again}");
    assert!(!again.contains("secret77") && !again.contains("abc123"), "{again}");
    let sent = stage.server.requests();
    assert_eq!(sent.iter().filter(|line| line.ends_with("/data.json?key=secret77")).count(), 2, "{sent:?}");
    assert!(listed(json!({ "filter": "data.json?" })).await.contains("[masked]"));

    let count = || stage.server.requests().len();
    let before = count();
    let cross = stage.server.url("data.json").replace("127.0.0.1", "localhost");
    for args in [
        json!({ "id": posted }),
        json!({ "url": "/data.json", "method": "POST", "body": "x" }),
        json!({ "url": cross }),
        json!({ "id": got, "url": cross }),
        json!({ "url": "javascript:alert(1)" }),
        json!({ "url": "/data.json?token=[masked]" }),
    ] {
        let refused = stage.json("replay_request", args.clone()).await;
        assert_eq!(refused["success"], false, "{args}: {refused}");
    }
    assert_eq!(count(), before, "nothing was sent");
    let asked = person(&mut stage, ReplyAnswer::Allow);
    let again = stage.call("replay_request", json!({ "id": posted, "include_response": false })).await;
    assert!(again.ok && !again.text.contains("ana"), "{}", again.text);
    assert!(asked.1.lock().unwrap()[0].message.contains("POST request to 127.0.0.1"));
    assert!(stage.server.requests().last().unwrap().starts_with("POST "));
    stage.close().await;
}
