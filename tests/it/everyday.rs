//! The tools of everyday browsing, on real pages in a real browser.

use serde_json::{Value, json};

use crate::support::cdp_wire::Stage;

/// What a result must hold, and nothing else of it matters.
#[track_caller]
fn has(result: &Value, wanted: Value) {
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&result[key], value, "{key} in {result}");
    }
}

/// The first line of an answer that goes on with page text.
fn first_line(text: &str) -> Value {
    serde_json::from_str(text.lines().next().unwrap()).unwrap_or_else(|_| panic!("not JSON: {text}"))
}

/// What stands between the tags of an `evaluate_js` result.
async fn run(stage: &Stage, args: Value) -> String {
    let output = stage.call("evaluate_js", args).await;
    let lines: Vec<&str> = output.text.lines().collect();
    let end = lines.iter().position(|line| line.starts_with("</js_result")).unwrap_or(lines.len());
    if end == lines.len() { output.text } else { lines[1..end].join("\n") }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_are_the_real_ones() {
    let stage = Stage::open(
        "<title>k</title><form action='sent.html'><input id=q name=q value='one two'></form>
         <input type=checkbox id=box aria-label=Box>
         <script>var seen = []; addEventListener('keydown', e => seen.push([e.key, e.code, e.keyCode, e.shiftKey, e.isTrusted].join()), true);</script>",
    )
    .await;
    stage.eval("q.focus()").await;
    stage.json("press_key", json!({ "key": "End" })).await;
    let typed = stage.json("press_keys", json!({ "keys": " A.b-" })).await;
    has(&typed, json!({ "success": true, "value": "one two A.b-", "elementStateChanged": true }));
    assert_eq!(
        stage.eval("seen.join(' ')").await,
        "End,End,35,false,true  ,Space,32,false,true A,KeyA,65,true,true .,Period,190,false,true \
         b,KeyB,66,false,true -,Minus,189,false,true"
    );
    stage.json("press_key", json!({ "key": "Ctrl+a" })).await;
    has(&stage.json("press_key", json!({ "key": "b" })).await, json!({ "value": "b" }));
    let tabbed = stage.json("press_key", json!({ "key": "Tab" })).await;
    assert!(tabbed["focus"]["element"].as_str().unwrap().contains("Box"), "{tabbed}");
    has(&stage.json("press_key", json!({ "key": "Space" })).await, json!({ "checked": true }));
    has(
        &stage.json("press_key", json!({ "key": "Control+NoSuchKey" })).await,
        json!({ "success": false, "class": "bad_argument" }),
    );
    let sent = stage.json("press_keys", json!({ "keys": "shift+tab Enter" })).await;
    has(&sent, json!({ "success": true, "urlChanged": true }));
    assert_eq!(stage.eval("location.pathname + location.search").await, "/sent.html?q=b");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_do_not_reach_secret_fields() {
    let stage = Stage::open_with(
        "<input id=user aria-label=User><input id=pw type=password aria-label=Word>
         <iframe srcdoc='<input id=card autocomplete=cc-number aria-label=Card>'></iframe>",
        &[],
    )
    .await;
    let (user, word) = (stage.index("User").await, stage.index("Word").await);
    // Into the next field in the middle of a text.
    stage.json("focus_index", json!({ "index": user })).await;
    stage.eval("user.oninput = () => { if (user.value.length === 2) pw.focus(); }").await;
    let refused = stage.json("press_keys", json!({ "keys": "abcd" })).await;
    has(&refused, json!({ "success": false, "class": "not_allowed", "pressed": 2 }));
    for (tool, args) in [
        ("press_key", json!({ "key": "x" })),
        ("press_key", json!({ "key": "Enter" })),
        ("press_key", json!({ "key": "Control+v" })),
        ("press_keys", json!({ "keys": "xyz" })),
        ("clear_index", json!({ "index": word })),
    ] {
        let refused = stage.json(tool, args).await;
        has(&refused, json!({ "success": false, "class": "not_allowed" }));
        assert!(refused["error"].as_str().unwrap().contains("await_user"), "{refused}");
    }
    has(&stage.json("press_key", json!({ "key": "Tab" })).await, json!({ "success": true }));
    // The keyboard is in the frame's card field now.
    let refused = stage.json("press_keys", json!({ "keys": "4111" })).await;
    has(&refused, json!({ "success": false, "class": "not_allowed" }));
    let held = stage.eval("[user, pw, frames[0].card].map(f => f.value).join('|')").await;
    assert_eq!(held, "ab||");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn focus_presses_fields_and_nothing_else() {
    let stage = Stage::open(
        "<input id=q aria-label=Query><button onclick='pressed = 1'>Delete all</button><p tabindex=0>Note</p>
         <span onclick='pressed = 1'>Plain</span><script>var pressed = 0, downs = 0; q.onmousedown = () => downs++;</script>",
    )
    .await;
    let query = stage.index("Query").await;
    has(
        &stage.json("focus_index", json!({ "index": query })).await,
        json!({ "success": true, "focused": true, "tag": "input" }),
    );
    assert_eq!(stage.eval("downs + ' ' + document.activeElement.id").await, "1 q");
    let delete = stage.index("Delete all").await;
    has(
        &stage.json("focus_index", json!({ "index": delete })).await,
        json!({ "success": true, "tag": "button" }),
    );
    assert_eq!(stage.eval("pressed + document.activeElement.textContent").await, "0Delete all");
    let plain = stage.index("Plain").await;
    has(&stage.json("focus_index", json!({ "index": plain })).await, json!({ "success": false }));
    assert_eq!(stage.eval("pressed").await, 0);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fields_are_cleared_and_stay_so() {
    let stage = Stage::open(
        "<input aria-label=Name value=Ana><div contenteditable role=textbox aria-label=Story>old <b>words</b></div>
         <input aria-label=Stubborn value=x oninput='this.value = \"x\"'><select aria-label=Pick><option>a</select>",
    )
    .await;
    for words in ["Name", "Story"] {
        let index = stage.index(words).await;
        has(&stage.json("clear_index", json!({ "index": index })).await, json!({ "success": true }));
    }
    let left =
        "document.querySelector('input').value + document.querySelector('[role=textbox]').innerText.trim()";
    assert_eq!(stage.eval(left).await, "");
    for (words, class) in [("Stubborn", "rejected"), ("Pick", "not_editable")] {
        let index = stage.index(words).await;
        has(
            &stage.json("clear_index", json!({ "index": index })).await,
            json!({ "success": false, "class": class }),
        );
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn scrolling_tells_where_it_led() {
    let stage = Stage::open(
        "<style>body{margin:0;height:5000px}#box{height:200px;width:300px;overflow:auto}#box div{height:1000px}
         html{scroll-behavior:smooth}</style>
         <div id=box role=region aria-label=List tabindex=0><div>Rows</div></div>
         <button id=far style='position:absolute;top:4000px'>Far away</button>",
    )
    .await;
    let page = stage.eval("innerHeight").await.as_f64().unwrap();
    let down = stage.json("scroll", json!({ "direction": "down", "amount": "2" })).await;
    has(&down, json!({ "success": true, "moved": true, "pagesAbove": 2 }));
    assert_eq!(down["scrollY"].as_f64().unwrap(), (page * 2.0).round());
    has(&stage.json("scroll", json!({ "direction": "up", "amount": 50 })).await, json!({ "scrollY": 0 }));
    let top = stage.json("scroll", json!({ "direction": "up" })).await;
    has(&top, json!({ "success": true, "moved": false }));
    assert!(top["hint"].as_str().unwrap().contains("Nothing moved"), "{top}");
    let list = stage.index("scrollable").await;
    let boxed = stage.json("scroll", json!({ "index": list, "direction": "down", "amount": 1.5 })).await;
    has(&boxed, json!({ "moved": true, "scrollY": 300 }));
    assert!(boxed["container"].as_str().unwrap().contains("div#box"), "{boxed}");
    assert_eq!(stage.eval("scrollY").await, 0);
    let far = stage.index("Far away").await;
    let to = stage.json("scroll", json!({ "index": far })).await;
    has(&to, json!({ "success": true, "moved": true }));
    assert!(to["result"]["y"].as_f64().unwrap() < page, "{to}");
    has(&stage.json("scroll", json!({ "mode": "to", "selector": "#box" })).await, json!({ "moved": true }));
    for (args, class) in [
        (json!({ "mode": "to", "selector": "##" }), "bad_argument"),
        (json!({ "mode": "to", "selector": "#none" }), "gone"),
        (json!({ "mode": "to" }), "bad_argument"),
        (json!({ "direction": "down", "amount": -1 }), "bad_argument"),
    ] {
        has(&stage.json("scroll", args).await, json!({ "success": false, "class": class }));
    }
    let end = stage.json("scroll", json!({ "mode": "to_end", "step_ms": "100" })).await;
    has(&end, json!({ "success": true, "reason": "stable", "pagesBelow": 0 }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_that_scrolls_in_a_box_of_its_own_is_scrolled_there() {
    let stage = Stage::open(
        "<style>html,body{margin:0;height:100%;overflow:hidden}main{height:100%;overflow-y:auto}main div{height:4000px}</style>
         <main><div>App</div></main>",
    )
    .await;
    has(&stage.json("scroll", json!({ "direction": "down" })).await, json!({ "moved": true }));
    assert!(stage.eval("document.querySelector('main').scrollTop").await.as_f64().unwrap() > 100.0);
    stage.close().await;
}

const FORMS: &str = "<title>Forms</title>
    <form id=a onsubmit='log(\"a\", event)'><input aria-label='First name'><button type=button onclick='log(\"delete\", event)'>Delete account</button>
      <button onclick='void 0'>Help</button><button type=submit>Save it</button></form>
    <form id=b onsubmit='log(\"b\", event)'><input aria-label='Second name'></form>
    <form id=c onsubmit='log(\"c\", event)'><input aria-label='Third name' required></form><button form=c>Send third</button>
    <form id=d onsubmit='log(\"d\", event)'><input aria-label='Fourth name'><button>Publish</button><button>Discard</button></form>
    <form id=e onsubmit='log(\"e\", event)'><input aria-label='Fifth name'><button disabled>Pay</button></form>
    <input aria-label=Outside>
    <script>var done = []; function log(what, event) { event.preventDefault(); done.push(what + (event.isTrusted ? '' : '?')); }</script>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_the_form_of_the_element_is_sent() {
    let stage = Stage::open(FORMS).await;
    let submit = async |words: &str| {
        let index = stage.index(words).await;
        stage.json("submit_form", json!({ "index": index })).await
    };
    has(&submit("First name").await, json!({ "success": true, "via": "click", "text": "Save it" }));
    has(&submit("Second name").await, json!({ "success": true, "via": "requestSubmit" }));
    let missing = submit("Third name").await;
    has(&missing, json!({ "success": false, "class": "rejected" }));
    assert_eq!(missing["invalid"][0]["label"], "Third name", "{missing}");
    assert!(!missing["invalid"][0]["message"].as_str().unwrap().is_empty(), "{missing}");
    stage.eval("c.elements[0].value = 'x'").await;
    has(&submit("Third name").await, json!({ "success": true, "text": "Send third" }));
    let several = submit("Fourth name").await;
    has(&several, json!({ "success": false, "class": "ambiguous" }));
    assert_eq!(several["candidates"][1]["label"], "Discard", "{several}");
    has(&submit("Publish").await, json!({ "success": true, "text": "Publish" }));
    has(&submit("Fifth name").await, json!({ "success": false, "class": "disabled" }));
    has(&submit("Outside").await, json!({ "success": false, "class": "bad_argument" }));
    let second = stage.index("Second name").await;
    stage.eval("b.remove()").await;
    has(
        &stage.json("submit_form", json!({ "index": second })).await,
        json!({ "success": false, "class": "gone" }),
    );
    assert_eq!(stage.eval("done.join()").await, "a,b,c,d");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sent_form_leads_to_its_page() {
    let stage = Stage::open_with(
        "<form action=two.html><input name=q aria-label=Words value=tea><input type=submit value=Search></form>",
        &[("two.html", "<title>Results</title>")],
    )
    .await;
    let words = stage.index("Words").await;
    let sent = stage.json("submit_form", json!({ "index": words })).await;
    has(&sent, json!({ "success": true, "urlChanged": true, "title": "Results" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_gives_its_last_value() {
    let stage =
        Stage::open("<title>Shop</title><button id=price class=now>12 euro</button><ul><li>a<li>b</ul>")
            .await;
    for (code, value) in [
        ("1 + 1", "2"),
        ("const a = 2; const b = 3; a * b // six", "6"),
        ("const a = 4; a", "4"),
        ("return document.title", "Shop"),
        ("await new Promise(done => setTimeout(done, 20)); 'late'", "late"),
        ("const r = await Promise.resolve(5); return r", "5"),
        (
            "({ a: [1, undefined, NaN], b: new Map([['k', new Set([1])]]), c: 9n })",
            r#"{"a":[1,null,"NaN"],"b":[["k",[1]]],"c":"9n"}"#,
        ),
        ("const o = { n: 1 }; o.self = o; o", r#"{"n":1,"self":"[circular]"}"#),
        ("document.querySelectorAll('li').length", "2"),
        ("price", "&lt;button id=\"price\" class=\"now\"&gt;12 euro&lt;/button&gt;"),
        ("function f(x) { return x }; f", "function f(x) { return x }"),
        ("undefined", "undefined"),
        ("null", "null"),
        ("'two\\nlines'", "two\nlines"),
    ] {
        assert_eq!(run(&stage, json!({ "code": code })).await, value, "{code}");
    }
    let price = stage.index("12 euro").await;
    for (code, value) in [
        ("element.textContent", "12 euro"),
        ("element === window.price;", "true"),
        ("const [n] = element.textContent.split(' '); return Number(n) + 1", "13"),
        ("await Promise.resolve(element.id)", "price"),
    ] {
        assert_eq!(run(&stage, json!({ "code": code, "index": price })).await, value, "{code}");
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn code_that_fails_says_where_and_ends_in_time() {
    let stage = Stage::open("<title>Shop</title><button onclick='seen = 1'>Buy</button>").await;
    let failed = stage.json("evaluate_js", json!({ "code": "const a = 1;\nb.c" })).await;
    has(&failed, json!({ "success": false, "class": "rejected" }));
    assert_eq!(failed["error"], "ReferenceError: b is not defined (line 2)");
    let failed = stage.json("evaluate_js", json!({ "code": "JSON.parse('{')" })).await;
    assert!(failed["error"].as_str().unwrap().starts_with("SyntaxError"), "{failed}");
    let failed = stage.json("evaluate_js", json!({ "code": "throw { code: 7 }" })).await;
    assert!(failed["error"].as_str().unwrap().contains("{\"code\":7}"), "{failed}");
    for code in ["while (true);", "await new Promise(() => {})"] {
        let late = stage.json("evaluate_js", json!({ "code": code, "timeout_ms": 300 })).await;
        has(&late, json!({ "success": false, "class": "timeout" }));
    }
    let asked = stage.json("evaluate_js", json!({ "code": "confirm('Really?')" })).await;
    has(&asked, json!({ "success": false, "class": "blocked_by_dialog" }));
    assert_eq!(asked["dialog"]["message"], "Really?");
    has(&stage.json("handle_dialog", json!({ "action": "dismiss" })).await, json!({ "success": true }));
    let gone = "location.href = 'about:blank'; await new Promise(() => {})";
    let left = stage.json("evaluate_js", json!({ "code": gone })).await;
    has(&left, json!({ "success": false, "class": "navigated" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dialogs_are_answered_one_after_the_other() {
    let stage = Stage::open(
        "<title>t</title><button onclick='alert(\"One\"); document.title = [confirm(\"Two\"), prompt(\"Three\", \"3\"), prompt(\"Four\", \"4\")].join()'>Ask</button>
         <input aria-label=Name onchange='dirty = 1'><a href=two.html>Leave</a>
         <script>var dirty = 0; addEventListener('beforeunload', e => { if (dirty) e.preventDefault() })</script>",
    )
    .await;
    has(
        &stage.json("handle_dialog", json!({ "action": "accept" })).await,
        json!({ "success": false, "class": "bad_argument" }),
    );
    let ask = stage.index("Ask").await;
    stage.json("click_index", json!({ "index": ask })).await;
    let next = stage.json("handle_dialog", json!({ "action": "accept" })).await;
    has(&next["handled"], json!({ "type": "alert", "message": "One" }));
    has(&next["dialog"], json!({ "type": "confirm", "message": "Two" }));
    has(
        &stage.json("handle_dialog", json!({ "action": "accept", "text": "no" })).await,
        json!({ "success": false, "class": "bad_argument" }),
    );
    stage.json("handle_dialog", json!({ "action": "dismiss" })).await;
    stage.json("handle_dialog", json!({ "action": "accept", "text": "drei" })).await;
    let last = stage.json("handle_dialog", json!({ "action": "accept" })).await;
    has(&last, json!({ "success": true, "dialog": null }));
    assert_eq!(stage.eval("document.title").await, "false,drei,4");
    let name = stage.index("Name").await;
    stage.json("type_index", json!({ "index": name, "text": "Ana" })).await;
    stage.eval("dirty = 1").await;
    let url = stage.server.url("page.html?again");
    let stays = stage.json("navigate", json!({ "url": url })).await;
    has(&stays, json!({ "success": false, "class": "blocked_by_dialog" }));
    has(&stays["dialog"], json!({ "type": "beforeunload" }));
    let left = stage.json("handle_dialog", json!({ "action": "accept" })).await;
    has(&left, json!({ "success": true, "urlChanged": true, "url": url }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn navigation_tells_what_it_met() {
    let stage = Stage::open_with(
        "<title>One</title><h2 id=part>Part</h2>",
        &[
            ("two.html", "<title>Two</title><p>Second</p>"),
            ("hop.html", "<script>location.replace('two.html')</script>"),
            ("empty.html", "<title>None</title>"),
        ],
    )
    .await;
    let there = stage.json("navigate", json!({ "url": stage.server.url("two.html") })).await;
    has(&there, json!({ "success": true, "newTab": false, "title": "Two", "urlChanged": true }));
    assert_eq!(there["navigation"]["status"], 200, "{there}");
    let hopped = stage.json("navigate", json!({ "url": "/hop.html" })).await;
    has(&hopped, json!({ "success": true, "title": "Two" }));
    has(
        &stage.json("navigate", json!({ "url": "/page.html" })).await,
        json!({ "success": true, "title": "One" }),
    );
    let within = stage.json("navigate", json!({ "url": "#part" })).await;
    has(&within, json!({ "success": true, "urlChanged": true, "title": "One" }));
    let empty = stage.json("navigate", json!({ "url": "/empty.html" })).await;
    assert!(empty["hint"].as_str().unwrap().contains("empty"), "{empty}");
    let missing = stage.json("navigate", json!({ "url": "/nowhere.html" })).await;
    assert_eq!(missing["navigation"]["status"], 404, "{missing}");
    // Nothing listens on a port that was just given back.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let refused = stage.json("navigate", json!({ "url": format!("127.0.0.1:{port}/") })).await;
    has(&refused, json!({ "success": false }));
    assert_eq!(refused["navigation"]["error"], "net::ERR_CONNECTION_REFUSED", "{refused}");
    for url in
        ["javascript:document.title='x'", "file:///etc/hostname", "chrome://version", "data:text/html,x"]
    {
        for tool in ["navigate", "new_tab"] {
            has(
                &stage.json(tool, json!({ "url": url })).await,
                json!({ "success": false, "class": "not_allowed" }),
            );
        }
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_open_and_really_close() {
    let stage =
        Stage::open_with("<title>One</title>", &[("two.html", "<title>Two</title><p>Second</p>")]).await;
    let list = stage.json("list_tabs", json!({})).await;
    let first = list["tabs"].as_array().unwrap().iter().find(|tab| tab["url"] == "about:blank").unwrap();
    has(
        &stage.json("close_tab", json!({ "index": first["index"] })).await,
        json!({ "success": true, "remaining": 1 }),
    );
    let behind = stage.json("new_tab", json!({ "url": "/two.html", "switch": "false" })).await;
    has(&behind, json!({ "success": true, "switched": false, "title": "Two" }));
    let info = first_line(&stage.call("get_page_info", json!({})).await.text);
    has(&info, json!({ "title": "One", "readyState": "complete" }));
    let other = stage.json("navigate", json!({ "url": "/two.html", "new_tab": "true" })).await;
    has(&other, json!({ "success": true, "newTab": true, "title": "Two" }));
    let output = stage.call("get_page_info", json!({})).await.text;
    has(&first_line(&output), json!({ "title": "Two" }));
    assert!(output.contains("<page_text fence=") && output.contains("Second"), "{output}");
    let count = |list: Value| list["count"].as_u64().unwrap();
    assert_eq!(count(stage.json("list_tabs", json!({})).await), 3);
    let closed = stage.json("close_tab", json!({ "index": behind["tabId"] })).await;
    has(&closed, json!({ "success": true, "remaining": 2 }));
    assert_eq!(closed["held"]["index"], other["tabId"], "{closed}");
    assert_eq!(count(stage.json("list_tabs", json!({})).await), 2);
    has(
        &stage.json("close_tab", json!({ "index": behind["tabId"] })).await,
        json!({ "success": false, "class": "closed" }),
    );
    has(&stage.json("switch_tab", json!({ "index": stage.tab })).await, json!({ "success": true }));
    has(&stage.json("close_tab", json!({ "index": other["tabId"] })).await, json!({ "success": true }));
    let last = stage.json("close_tab", json!({})).await;
    has(&last, json!({ "success": false, "class": "not_allowed" }));
    assert_eq!(count(stage.json("list_tabs", json!({})).await), 1);
    stage.close().await;
}
