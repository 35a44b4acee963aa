//! History, waiting and dialogs, on real pages in a real browser.

use browy::tools::policy::ToolPolicy;
use serde_json::{Value, json};

use crate::support::cdp_wire::Stage;

/// What a result must hold, and nothing else of it matters.
#[track_caller]
fn has(result: &Value, wanted: Value) {
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&result[key], value, "{key} in {result}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_of_a_page_that_was_gone_back_to_are_read_again() {
    let next = "<title>next</title><h1>Next page</h1>";
    let frame = "<title>f</title><button onclick='document.title = \"pressed\"'>In the frame</button>";
    let stage = Stage::open_with(
        "<title>first</title><h1>First page</h1><input aria-label=Note>
         <iframe src='{{cross}}/frame.html'></iframe>",
        &[("next.html", next), ("frame.html", frame)],
    )
    .await;
    let (note, inside) = (stage.index("Note").await, stage.index("In the frame").await);
    stage.json("type_index", json!({ "index": note, "text": "kept" })).await;
    let there = stage.json("navigate", json!({ "url": "/next.html" })).await;
    has(&there, json!({ "success": true, "title": "next" }));
    has(
        &stage.json("click_index", json!({ "index": inside })).await,
        json!({ "success": false, "class": "stale" }),
    );
    let back = stage.json("go_back", json!({})).await;
    has(&back, json!({ "success": true, "title": "first", "urlChanged": true }));
    // Kept alive or not, what is in its frames can be seen and used.
    let inside = stage.index("In the frame").await;
    has(&stage.json("click_index", json!({ "index": inside })).await, json!({ "success": true }));
    if back["restored"] == true {
        assert_eq!(stage.eval("document.querySelector('input').value").await, "kept");
    }
    let forward = stage.json("go_forward", json!({})).await;
    has(&forward, json!({ "success": true, "title": "next" }));
    let nowhere = stage.json("go_forward", json!({})).await;
    has(&nowhere, json!({ "success": false, "class": "bad_argument" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn steps_within_one_document_are_told_as_such() {
    let stage = Stage::open(
        "<title>a</title><h1>Tabs</h1><script>history.pushState(0, '', '#two'); history.pushState(0, '', '#three')</script>",
    )
    .await;
    let back = stage.json("go_back", json!({})).await;
    has(&back, json!({ "success": true, "urlChanged": true }));
    assert!(back["url"].as_str().unwrap().ends_with("#two"), "{back}");
    assert_eq!(back["navigation"]["status"], Value::Null);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn conditions_look_and_change_nothing() {
    let mut stage = Stage::open("<title>a</title><ul></ul><script>var ready = { n: 0 };</script>").await;
    let wait = |function: &str| json!({ "function": function, "timeout_ms": 15_000 });
    stage.eval("setTimeout(() => { window.late = { list: [1, 2, 3] }; }, 300)").await;
    // Throws until it is there.
    let met = stage.json("wait_for", wait("late.list.length === 3")).await;
    has(&met, json!({ "success": true, "condition": "function", "value": "true" }));
    let mut by_data = wait("wanted => late.list.filter(n => n > wanted.more).length");
    by_data["arg"] = json!("{\"more\": 1}");
    has(&stage.json("wait_for", by_data).await, json!({ "success": true, "value": "2" }));
    for refused in ["document.title = 'changed'", "ready.n++", "late.list.length ===", "Promise.resolve(1)"] {
        let refused = stage.json("wait_for", wait(refused)).await;
        has(&refused, json!({ "success": false, "class": "bad_argument" }));
    }
    assert_eq!(stage.eval("document.title + ready.n").await, "a0");
    let never = json!({ "function": "false", "timeout_ms": 300 });
    has(&stage.json("wait_for", never).await, json!({ "success": false, "class": "timeout" }));
    stage.cx.policy = ToolPolicy::new(["evaluate_js".to_owned()], []);
    let off = stage.json("wait_for", wait("true")).await;
    has(&off, json!({ "success": false, "class": "not_allowed" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waits_end_with_what_they_are_for() {
    let stage = Stage::open_with(
        "<title>a</title><p id=p>There</p><a id=get download=bill.txt href=bill.txt>Bill</a>
         <button onclick='setTimeout(() => alert(7), 400)'>Ask</button>",
        &[("bill.txt", "48 euro")],
    )
    .await;
    for (args, class) in [
        (json!({ "selector": "p[" }), "bad_argument"),
        (json!({ "selector": "p[", "state": "gone" }), "bad_argument"),
        (json!({}), "bad_argument"),
        (json!({ "text": "There", "state": "gone", "timeout_ms": 300 }), "timeout"),
    ] {
        let refused = stage.json("wait_for", args).await;
        has(&refused, json!({ "success": false, "class": class }));
        assert_eq!(
            class == "timeout",
            refused["hint"].as_str().is_some_and(|hint| hint.contains("permission"))
        );
    }
    stage.eval("setTimeout(() => p.remove(), 200)").await;
    has(
        &stage.json("wait_for", json!({ "text": "There", "state": "gone" })).await,
        json!({ "success": true }),
    );
    let ask = stage.index("Ask").await;
    has(&stage.json("click_index", json!({ "index": ask })).await, json!({ "success": true }));
    let asked = stage.json("wait_for", json!({ "dialog": true })).await;
    assert_eq!(asked["dialog"], json!({ "type": "alert", "message": "7" }), "{asked}");
    has(&stage.json("handle_dialog", json!({ "action": "accept" })).await, json!({ "success": true }));
    let bill = stage.index("Bill").await;
    let clicked = stage.json("click_index", json!({ "index": bill })).await;
    assert_eq!(clicked["download"]["name"], "bill.txt", "{clicked}");
    // It may be over long before anybody waits for it.
    let done = stage.json("wait_for", json!({ "download": true })).await;
    assert_eq!(
        (&done["download"]["name"], &done["download"]["state"]),
        (&json!("bill.txt"), &json!("complete"))
    );
    let again = stage.json("wait_for", json!({ "download": true, "timeout_ms": 300 })).await;
    has(&again, json!({ "success": false, "class": "timeout" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_that_prints_is_told_and_goes_on() {
    let stage =
        Stage::open("<title>a</title><button onclick='print(); document.title = 1'>Paper</button>").await;
    let paper = stage.index("Paper").await;
    let printed = stage.json("click_index", json!({ "index": paper })).await;
    has(&printed, json!({ "success": true, "printed": true }));
    // This browser shows no print window, and says so by answering.
    let refused = stage.json("handle_dialog", json!({ "action": "dismiss" })).await;
    has(&refused, json!({ "success": false, "class": "bad_argument" }));
    assert_eq!(stage.eval("document.title").await, "1");
    stage.close().await;
}
