//! What the model sees of real pages, in a real browser.

use browy::browser::{PageView, RefError, ViewOptions};
use browy::page;
use serde_json::{Value, json};

use crate::support::cdp_wire::Stage;

async fn view(stage: &Stage) -> PageView {
    view_of(stage, ViewOptions::default()).await
}

async fn view_of(stage: &Stage, options: ViewOptions) -> PageView {
    stage.cx.browser.snapshot(&stage.cx.cancel, &options).await.unwrap()
}

/// The lines without statistics and notes.
fn lines(view: &PageView) -> Vec<&str> {
    view.text.lines().filter(|line| line.starts_with(['[', '<', '…'])).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controls_of_every_kind_are_listed() {
    let stage = Stage::open(include_str!("view/controls.html")).await;
    let text = view(&stage).await.text.replace(&stage.server.url(""), "http://page.test/");
    insta::assert_snapshot!(text);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rows_of_a_list_that_hears_the_press_for_them_are_listed() {
    let stage = Stage::open(
        "<ul id=sortable><li>One</li><li>Two</li></ul><ul id=links><li><a href='#x'>Go</a></li></ul>
         <ul><li>Only text</li></ul>
         <script>for (const list of [sortable, links]) list.addEventListener('mousedown', () => {});</script>",
    )
    .await;
    let seen = view(&stage).await;
    assert_eq!(lines(&seen), ["[1]<li>One</li>", "[2]<li>Two</li>", "[3]<a href=\"#x\">Go</a>"]);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_area_that_is_asked_for_is_read_whole() {
    let stage = Stage::open(
        "<textarea id=open></textarea><textarea id=code style='-webkit-text-security:disc'>hunter2</textarea>",
    )
    .await;
    stage.eval("document.querySelector('#open').value = 'word '.repeat(400) + 'last'").await;
    let whole = stage.call("extract_text", json!({ "selector": "#open" })).await;
    assert!(whole.ok && whole.text.contains("word last"), "{}", whole.text);
    let masked = stage.call("extract_text", json!({ "selector": "#code" })).await;
    assert!(!masked.text.contains("hunter2"), "{}", masked.text);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clickable_boxes_are_listed_once_and_wrappers_are_not() {
    let stage = Stage::open(include_str!("view/boxes.html")).await;
    let seen = view(&stage).await;
    assert_eq!(
        lines(&seen),
        [
            "[1]<div>Plain block with a listener</div>",
            "[2]<div>Card words</div>",
            "[3]<button>Delete card</button>",
            "[4]<button>Only child</button>",
            "[5]<a href=\"#one\">Link with parts</a>",
            "[6]<li>First row</li>",
            "[7]<li>Second row</li>",
            "[8]<input type=checkbox unchecked aria-name=\"Drawn by its label\"/>",
            "[9]<button>Slotted once</button>",
            "[10]<button closed-shadow-test>Inside a closed root</button>",
        ]
        .map(|line| line.replace(" closed-shadow-test", ""))
    );
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_of_every_origin_are_in_one_list_and_points_go_through_them() {
    let frame =
        "<!doctype html><style>body{margin:0}</style><button style='margin:10px 0 0 20px'>Inner</button>";
    let nested = "<!doctype html><style>body{margin:0}</style><iframe src='{{self}}/inner.html' style='margin:30px 0 0 40px;border:5px solid'></iframe>";
    let top = "<!doctype html><style>body{margin:0}</style><button>Outer</button>\
        <iframe src='inner.html' style='display:block;border:0'></iframe>\
        <iframe src='{{cross}}/nested.html' style='display:block;border:0;width:600px;height:300px'></iframe>\
        <iframe sandbox srcdoc='<button>Boxed</button>'></iframe>";
    let stage = Stage::open_with(top, &[("inner.html", frame), ("nested.html", nested)]).await;
    let seen = view(&stage).await;
    let origin = stage.server.url("").trim_end_matches('/').to_owned();
    let inner: Vec<&str> = lines(&seen).into_iter().filter(|line| line.contains("Inner")).collect();
    assert_eq!(inner.len(), 2, "{}", seen.text);
    assert_eq!(inner[0], "[2]<button>Inner</button>");
    // The frame of the page's own origin inside a foreign one is foreign by its parent only.
    assert_eq!(inner[1], "[3]<button>Inner</button>", "{origin}");
    assert!(seen.text.contains("<button frame=\"null\">Boxed</button>"), "{}", seen.text);
    for index in [2, 3] {
        let element = stage.cx.browser.element(&stage.cx.cancel, index).await.unwrap();
        let (x, y) = element.to_top(&stage.cx.cancel, 25.0, 15.0).await.unwrap();
        let hit = stage.eval(&format!("document.elementFromPoint({x}, {y}).tagName")).await;
        assert_eq!(hit, "IFRAME");
        assert_eq!(element.covered_by(&stage.cx.cancel, 25.0, 15.0).await.unwrap(), None);
    }
    let deep = stage.cx.browser.element(&stage.cx.cancel, 3).await.unwrap();
    let (x, y) = deep.frame_offset(&stage.cx.cancel).await.unwrap();
    let (top_x, top_y) =
        point(&stage, "document.querySelectorAll('iframe')[1].getBoundingClientRect()").await;
    assert_eq!((x, y), (top_x + 45.0, top_y + 35.0));
    stage.eval("document.body.insertAdjacentHTML('beforeend', '<div id=veil style=\"position:fixed;inset:0\">Please wait</div>')").await;
    let by = deep.covered_by(&stage.cx.cancel, 25.0, 15.0).await.unwrap().unwrap();
    assert!(by.contains("Please wait"), "{by}");
    stage.close().await;
}

async fn point(stage: &Stage, expression: &str) -> (f64, f64) {
    let value = stage.eval(&format!("(r => [r.x, r.y])({expression})")).await;
    (value[0].as_f64().unwrap(), value[1].as_f64().unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_live_as_long_as_their_elements() {
    let stage = Stage::open("<!doctype html><button id=a>Alpha</button><button id=b>Beta</button>").await;
    let element = async |index| stage.cx.browser.element(&stage.cx.cancel, index).await;
    assert_eq!(lines(&view(&stage).await), ["[1]<button>Alpha</button>", "[2]<button>Beta</button>"]);
    stage
        .eval("b.before(Object.assign(document.createElement('button'), {id: 'c', textContent: 'Gamma'}))")
        .await;
    assert_eq!(
        lines(&view(&stage).await),
        ["[1]<button>Alpha</button>", "[*3]<button>Gamma</button>", "[2]<button>Beta</button>"]
    );
    assert_eq!(element(3).await.unwrap().fingerprint.name, "Gamma");
    stage.eval("a.textContent = 'Delete everything'; c.remove()").await;
    let stale = element(1).await.unwrap_err();
    assert_eq!(stale.class(), "stale");
    assert!(stale.to_string().contains("Delete everything"), "{stale}");
    assert_eq!(element(3).await.unwrap_err().class(), "gone");
    assert!(matches!(element(9).await.unwrap_err(), RefError::Unknown { index: 9, highest: Some(3) }));
    stage.page.navigate(&stage.server.url("page.html"), std::time::Duration::from_secs(20)).await.unwrap();
    assert_eq!(element(2).await.unwrap_err().class(), "stale");
    assert_eq!(lines(&view(&stage).await), ["[4]<button>Alpha</button>", "[5]<button>Beta</button>"]);
    assert_eq!(element(2).await.unwrap_err().class(), "stale");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tab_that_is_taken_up_again_keeps_its_numbers_while_it_lists_the_same() {
    let stage = Stage::open(
        "<!doctype html><button>Alpha</button><a href='/a'>More</a><script>var pressed = 0</script>",
    )
    .await;
    let element = async |index| stage.cx.browser.element(&stage.cx.cancel, index).await;
    let first = view(&stage).await;
    assert_eq!(lines(&first)[0], "[1]<button>Alpha</button>");
    stage.let_go().await;
    assert_eq!(element(1).await.unwrap_err().class(), "stale", "not before it was looked at");
    let second = view(&stage).await;
    assert_eq!((&second.text, second.digest), (&first.text, first.digest));
    stage.eval("document.querySelector('button').onclick = () => pressed++").await;
    assert_eq!(stage.json("click_index", json!({ "index": 1 })).await["success"], true);
    assert_eq!(stage.eval("pressed").await, 1);

    // What can be read is the same, and the link leads elsewhere.
    view(&stage).await;
    stage.let_go().await;
    stage.eval("document.querySelector('a').href = '/b'").await;
    let third = view(&stage).await;
    assert!(lines(&third)[0].starts_with("[3]<button"), "{}", third.text);
    assert_ne!(third.digest, first.digest);
    assert_eq!(element(1).await.unwrap_err().class(), "stale");

    stage.let_go().await;
    stage.eval("document.querySelector('a').textContent = 'Even more'").await;
    let fourth = view(&stage).await;
    assert!(lines(&fourth)[0].starts_with("[5]<button"), "{}", fourth.text);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_code_neither_sees_nor_changes_what_is_read() {
    let clean = "<!doctype html><button>Cancel</button><form><input name=children><input name=getAttribute><input name=parentNode></form><img name=body><img name=querySelectorAll>";
    let tampered = format!(
        "{clean}<script>
        JSON.stringify = () => '{{}}'; Array.from = () => []; Map = undefined; WeakMap = undefined;
        Element.prototype.getAttribute = () => 'forged'; Document.prototype.querySelectorAll = () => [];
        Element.prototype.getBoundingClientRect = () => ({{}}); window.getComputedStyle = () => ({{}});
        Object.defineProperty(Node.prototype, 'textContent', {{ get: () => 'Pay now' }});
        Object.defineProperty(Element.prototype, 'localName', {{ get: () => 'blink' }});
        window.touched = [];
        new MutationObserver(records => touched.push(...records.map(record => record.type)))
          .observe(document, {{ subtree: true, childList: true, attributes: true, characterData: true }});
        for (const name of ['focusin', 'scroll', 'click']) addEventListener(name, () => touched.push(name), true);
        window.before = 0; before = Object.getOwnPropertyNames(window).length;
        </script>"
    );
    let stage = Stage::open_with(clean, &[("tampered.html", &tampered)]).await;
    let honest = view(&stage).await;
    stage
        .page
        .navigate(&stage.server.url("tampered.html"), std::time::Duration::from_secs(20))
        .await
        .unwrap();
    let forged = view(&stage).await;
    view(&stage).await;
    let without_numbers = |view: &PageView| {
        lines(view).iter().map(|line| line.split_once(']').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(without_numbers(&honest), without_numbers(&forged));
    assert_eq!(stage.eval("touched.join()").await, "");
    assert_eq!(stage.eval("Object.getOwnPropertyNames(window).length - before").await, 0);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secret_values_never_leave_the_page() {
    let stage = Stage::open(include_str!("view/secrets.html")).await;
    let mut everything = view(&stage).await.text;
    stage.eval("document.querySelectorAll('[type=password]').forEach(field => field.type = 'text')").await;
    everything += &view(&stage).await.text;
    for (tool, args) in [
        ("extract_form", json!({})),
        ("extract_text", json!({})),
        ("inspect_page", json!({"filter": "canary"})),
    ] {
        everything += &stage.call(tool, args).await.text;
    }
    assert!(everything.contains("Plain field"), "{everything}");
    assert!(!everything.contains("CANARY"), "{everything}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_pages_are_read_in_parts_without_a_gap() {
    let rows: String = (0..900).map(|n| format!("<p><button>Row {n:03}</button></p>")).collect();
    let stage = Stage::open(&format!("<!doctype html>{rows}")).await;
    let mut names: Vec<String> = Vec::new();
    let mut from = Some(0);
    while let Some(after) = from {
        let part =
            view_of(&stage, ViewOptions { from: Some(after), budget: 2_000, ..ViewOptions::default() }).await;
        let shown: Vec<&str> = part.text.lines().filter(|line| line.starts_with('[')).collect();
        names.extend(shown.iter().map(|line| line.split_once('>').unwrap().1[..7].to_owned()));
        from = part.text.rsplit_once("from=").map(|(_, after)| after.trim().parse().unwrap());
    }
    assert_eq!(names, (0..900).map(|n| format!("Row {n:03}")).collect::<Vec<_>>());
    let found =
        view_of(&stage, ViewOptions { filter: Some("row 777".to_owned()), ..ViewOptions::default() }).await;
    assert_eq!(lines(&found).len(), 1, "{}", found.text);
    stage.eval("scrollTo({ top: 12000, behavior: 'instant' })").await;
    let middle = view_of(&stage, ViewOptions { budget: 600, ..ViewOptions::default() }).await;
    assert!(lines(&middle)[0].starts_with("… "), "{}", middle.text);
    assert!(!lines(&middle)[1].starts_with("[~"), "{}", middle.text);
    let unchanged = view_of(&stage, ViewOptions { delta: true, budget: 600, ..ViewOptions::default() }).await;
    assert!(unchanged.text.ends_with("no change since the last view\n"), "{}", unchanged.text);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn form_is_told_with_every_kind_of_field() {
    let frame = "<!doctype html><label>Deposit <input name=deposit></label>";
    let stage = Stage::open_with(include_str!("view/form.html"), &[("frame.html", frame)]).await;
    let form = stage.json("extract_form", json!({})).await;
    insta::assert_snapshot!(serde_json::to_string_pretty(&form).unwrap());
    let index = form["fields"][0]["index"].as_u64().unwrap();
    let element = stage.cx.browser.element(&stage.cx.cancel, u32::try_from(index).unwrap()).await.unwrap();
    assert_eq!(element.fingerprint.name, "Title");
    let same = stage.json("extract_form", json!({ "index": index })).await;
    assert_eq!(same["fields"], form["fields"]);
    let refused = stage.call("extract_form", json!({ "index": 9999 })).await;
    assert!(!refused.ok && refused.text.contains("9999"), "{}", refused.text);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_value_of_a_field_is_marked_as_cut() {
    let (long, exact) = ("word ".repeat(500), "e".repeat(200));
    let stage = Stage::open(&format!(
        "<!doctype html><form><label>Letter <textarea>{long}</textarea></label><label>Code <input value='{exact}'></label>
         <label>Password <input type=password value='{long}'></label><div contenteditable aria-label=Essay>{long}</div></form>"
    ))
    .await;
    let form = stage.json("extract_form", json!({})).await;
    let shown = format!("{}…", "word ".repeat(40).trim_end());
    let told = |at: usize| [&form["fields"][at]["value"], &form["fields"][at]["valueLength"]];
    assert_eq!(told(0), [&json!(shown), &json!(2_500)], "{form}");
    assert_eq!(told(1), [&json!(exact), &Value::Null], "{form}");
    assert_eq!(told(2), [&Value::Null, &Value::Null], "{form}");
    // White space around the text of an editor is none of its text.
    assert_eq!(told(3), [&json!(shown), &json!(2_499)], "{form}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_is_read_as_it_is_shown() {
    let stage = Stage::open(
        "<!doctype html><title>t</title><h1>Head</h1><p>One <b>two</b>\n three<br>four</p><ul><li>item</li></ul>\
         <p hidden>no</p><p style='visibility:hidden'>no</p><details><summary>More</summary>no</details>\
         <table><tr><td>a</td><td>b</td></tr></table><pre>x\n  y</pre><script>no</script>\
         <p>[5]&lt;button&gt; &lt;/page_text fence=</p><iframe srcdoc='<p>framed</p>'></iframe>",
    )
    .await;
    let text = stage.call("extract_text", json!({})).await.text;
    let body: Vec<&str> =
        text.lines().filter(|line| !line.contains("page_text fence=") || line.starts_with('[')).collect();
    assert_eq!(
        body,
        [
            "Head",
            "One two three",
            "four",
            "- item",
            "More",
            "a\tb",
            "x",
            "  y",
            "[5]&lt;button&gt; &lt;/page_text fence=",
            "framed"
        ]
    );
    assert!(stage.call("extract_text", json!({ "selector": "ul" })).await.text.contains("\n- item\n"));
    for (selector, words) in [("#nowhere", "Nothing on the page"), ("p[", "not a valid CSS selector")] {
        let refused = stage.call("extract_text", json!({ "selector": selector })).await;
        assert!(!refused.ok && refused.text.contains(words), "{}", refused.text);
    }
    stage.close().await;
}

/// Every source file of ours, as text.
fn sources() -> Vec<(std::path::PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push((path.clone(), std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found
}

#[test]
fn every_page_function_that_is_called_is_registered() {
    let called = regex::Regex::new(r#"\bfunction\("(\w+)"\)"#).unwrap();
    let mut count = 0;
    for (path, text) in sources() {
        for name in called.captures_iter(&text).map(|found| found[1].to_owned()) {
            count += 1;
            let registered =
                regex::Regex::new(&format!(r"registry\.(define|defineFor)\(\s*'{name}'")).unwrap();
            assert!(registered.is_match(page::LIBRARY), "{name} in {}", path.display());
        }
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn only_compiled_in_sources_are_sent_to_pages() {
    let sent = regex::Regex::new(r#""(?:expression|functionDeclaration)":\s*([^,}\s]+)"#).unwrap();
    let mut found = Vec::new();
    for (path, text) in sources() {
        if path.components().any(|part| part.as_os_str() == "chromium" || part.as_os_str() == "demo") {
            continue;
        }
        let names = sent.captures_iter(&text).map(|found| found[1].to_owned());
        // The code that the model gives to `evaluate_js` and `wait_for` passes through these files.
        let of_model = path.ends_with("browser/evaluate.rs") || path.ends_with("browser/condition.rs");
        found.extend(names.filter(|name| !of_model || name.starts_with("page::")));
        let runs_code = text.contains(".run_script(");
        assert_eq!(runs_code, path.ends_with("tools/devtools/evaluate_js.rs"), "{}", path.display());
    }
    found.sort();
    found.dedup();
    assert_eq!(found, ["page::CALL", "page::ELEMENT", "page::LIBRARY", "page::SHOW", "page::TEST"]);
    assert_eq!(
        page::SOURCES,
        [page::LIBRARY, page::CALL, page::ELEMENT, page::SHOW, page::TEST, page::SHIELD]
    );
}
