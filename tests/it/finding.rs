//! Finding things on real pages, pointing at them, dragging and picking, in a real browser.

use base64::Engine;
use serde_json::{Value, json};

use crate::support::cdp_wire::Stage;

/// What a result must hold, and nothing else of it matters.
#[track_caller]
fn has(result: &Value, wanted: Value) {
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&result[key], value, "{key} in {result}");
    }
}

/// A component whose root is closed, and a frame of another site.
const DEEP: &str = "<!doctype html><title>t</title><style>body{margin:0}</style>
    <p>The harbour <b>master</b>\n  lives here. <button>Call the harbour</button></p>
    <closed-box></closed-box>
    <iframe src='{{cross}}/far.html' style='display:block;border:3px solid;margin-left:40px;width:500px;height:120px'></iframe>
    <div style='height:3000px'></div><p>Far below: HARBOUR\u{a0}Master again</p>
    <label>Berth <input value='next to the harbour mas'></label>
    <script>customElements.define('closed-box', class extends HTMLElement { connectedCallback() {
      const root = this.attachShadow({ mode: 'closed' });
      root.innerHTML = '<p id=inner>In the box: harbour master</p><button class=go>Open</button>';
      root.querySelector('button').onclick = () => { document.title = 'opened'; }; } });</script>";

const FAR: &str = "<!doctype html><style>body{margin:0}</style><p style='margin:20px'>Framed: the harbour master</p><button>Far button</button>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_is_found_everywhere_with_what_can_be_acted_on_beside_it() {
    let stage = Stage::open_with(DEEP, &[("far.html", FAR)]).await;
    let found = stage.json("find_text", json!({ "text": " harbour  MASTER" })).await;
    has(&found, json!({ "count": 4 }));
    let line = |at: usize| found["matches"][at]["text"].as_str().unwrap().to_owned();
    assert_eq!(line(0), "The «harbour master» lives here. Call the harbour");
    assert_eq!(line(1), "In the box: «harbour master»");
    assert_eq!(line(2), "Far below: «HARBOUR Master» again");
    assert_eq!(line(3), "Framed: the «harbour master»");
    has(&found["matches"][2], json!({ "off": true, "tag": "p" }));
    has(
        &found["matches"][3],
        json!({ "frame": stage.server.url("").trim_end_matches('/').replace("127.0.0.1", "localhost") }),
    );
    let near = found["matches"][1]["near"][0].as_str().unwrap();
    let (index, words) = near.trim_start_matches('[').split_once("] ").unwrap();
    assert_eq!(words, "button \"Open\"", "{found}");
    let index: u32 = index.parse().unwrap();
    has(&stage.json("click_index", json!({ "index": index })).await, json!({ "success": true }));
    assert_eq!(stage.eval("document.title").await, "opened");
    // The same numbers as in the view.
    assert_eq!(stage.index("Open<").await, index);

    let field = stage.json("find_text", json!({ "text": "the harbour mas" })).await;
    let held = field["matches"].as_array().unwrap().iter().find(|one| one["in"] == "value").unwrap();
    has(held, json!({ "index": stage.index("Berth").await, "off": true }));
    let inside = stage.json("find_text", json!({ "text": "call the" })).await;
    has(&inside["matches"][0], json!({ "index": stage.index("Call the").await }));
    has(&stage.json("find_text", json!({ "text": "no such words" })).await, json!({ "count": 0 }));
    has(
        &stage.json("find_text", json!({ "text": "  " })).await,
        json!({ "success": false, "class": "bad_argument" }),
    );
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn place_of_a_text_is_where_it_can_be_hit() {
    let stage = Stage::open_with(DEEP, &[("far.html", FAR)]).await;
    let found = stage.json("find_visible_text", json!({ "text": "framed", "tag": "P" })).await;
    has(&found, json!({ "count": 1 }));
    let one = &found["matches"][0];
    has(one, json!({ "tag": "p", "text": "Framed: the harbour master" }));
    let (x, y) = (one["x"].as_f64().unwrap(), one["y"].as_f64().unwrap());
    let frame =
        stage.eval("(r => [r.left, r.top])(document.querySelector('iframe').getBoundingClientRect())").await;
    // The frame's border and the paragraph's margin lie in between.
    assert!(
        x > frame[0].as_f64().unwrap() + 23.0 && x < frame[0].as_f64().unwrap() + 120.0,
        "{one} in {frame}"
    );
    assert!((y - frame[1].as_f64().unwrap() - 32.0).abs() < 6.0, "{one} in {frame}");
    let boxed = stage.json("find_visible_text", json!({ "text": "in the box" })).await;
    let selector = boxed["matches"][0]["selector"].as_str().unwrap();
    assert_eq!(selector, "#inner");
    let again = stage.json("query_dom", json!({ "selector": selector })).await;
    has(&again, json!({ "count": 1 }));
    let none = stage.json("find_visible_text", json!({ "text": "in the box", "tag": "button" })).await;
    has(&none, json!({ "count": 0 }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_selectors_are_only_selectors() {
    let stage = Stage::open_with(
        "<!doctype html><title>t</title><p id='a\"b'>quoted</p><p id='c\\d'>slashed</p><p title='x\ny'>broken</p>
         <input aria-label=Name value='Ann'><a href='/x'>Link</a><div hidden>unseen</div><closed-box></closed-box>
         <iframe src='{{cross}}/far.html'></iframe>
         <script>customElements.define('closed-box', class extends HTMLElement { connectedCallback() {
         this.attachShadow({ mode: 'closed' }).innerHTML = '<button class=go>Go</button>'; } });</script>",
        &[("far.html", "<button class=go>Far</button>")],
    )
    .await;
    let count = async |selector: &str| {
        let found = stage.json("query_dom", json!({ "selector": selector })).await;
        assert_eq!(found["count"], found["results"].as_array().unwrap().len(), "{found}");
        (
            found["count"].as_u64().unwrap(),
            found["results"][0]["text"].as_str().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(count("[id='a\"b']").await, (1, "quoted".to_owned()));
    assert_eq!(count("[id=\"a\\\"b\"]").await, (1, "quoted".to_owned()));
    assert_eq!(count("#c\\\\d").await, (1, "slashed".to_owned()));
    assert_eq!(count("[title='x\\a y']").await, (1, "broken".to_owned()));
    assert_eq!(count("p,\n  a").await.0, 4);
    for selector in ["p[", "'); document.title = 'x'; ('", "a:::b", "\n\r\n{", "</script>`${1}`"] {
        for (tool, args) in [
            ("query_dom", json!({ "selector": selector })),
            ("get_page_html", json!({ "selector": selector })),
            ("accessibility_snapshot", json!({ "selector": selector })),
        ] {
            let refused = stage.json(tool, args).await;
            has(&refused, json!({ "success": false, "class": "bad_argument" }));
        }
    }
    assert_eq!(stage.eval("document.title").await, "t");
    let go = stage.json("query_dom", json!({ "selector": ".go" })).await;
    has(&go, json!({ "count": 2 }));
    has(&go["results"][0], json!({ "text": "Go", "tag": "button", "index": stage.index("Go<").await }));
    has(&go["results"][1], json!({ "text": "Far", "index": stage.index("Far<").await }));
    let named = stage.json("query_dom", json!({ "selector": "input, a, div[hidden]" })).await;
    has(&named["results"][0], json!({ "value": "Ann", "label": "Name" }));
    has(&named["results"][1], json!({ "href": "/x", "text": "Link" }));
    has(&named["results"][2], json!({ "hidden": true, "index": null }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn markup_is_well_formed_however_short_it_is_cut() {
    let rows: String =
        (0..400).map(|n| format!("<li class=row data-n={n}>Zeile 👩‍👩‍👧👩‍👩‍👧 {n} &lt;b&gt; & mehr</li>")).collect();
    let stage = Stage::open(&format!(
        "<!doctype html><ul id=list>{rows}</ul><script>var secretCode = 1;</script><style>p {{}}</style>
         <svg><path d='M0 0'/></svg><p title='a \"quote\" <x>'>Ende</p><div id=host></div><pre>  a\n   b</pre>
         <iframe srcdoc='<em>framed</em>'></iframe><script>host.attachShadow({{ mode: 'open' }}).innerHTML = '<i>in root</i>';</script>"
    ))
    .await;
    let html = async |args: Value| {
        let text = stage.call("get_page_html", args).await.text;
        let lines: Vec<&str> = text.lines().collect();
        let end = lines.iter().position(|line| line.starts_with("</page_html fence=")).unwrap();
        (lines[1..end].join("\n"), lines[end + 1..].join("\n"))
    };
    for most in [500, 777, 1_003, 2_000] {
        let (body, notes) = html(json!({ "max_chars": most, "selector": "#list" })).await;
        assert!(body.encode_utf16().count() <= most + 2 && body.ends_with("</ul>"), "{body}");
        assert_eq!(body.matches("<li").count(), body.matches("</li>").count());
        assert!(
            !body.contains('\u{fffd}') && !body.contains("👩</li>") && !body.contains("\u{200d}…"),
            "{body}"
        );
        let left: usize =
            notes.split("used up: ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
        assert_eq!(left + body.matches("<li").count(), 400, "{notes}");
    }
    let (whole, notes) = html(json!({ "max_chars": "40000" })).await;
    assert!(!whole.contains("secretCode") && !whole.contains("M0 0"), "{notes}");
    assert_eq!(notes, "Left out: what is inside 2 script, 1 style, 1 svg.");
    assert!(whole.contains("<p title=\"a &quot;quote&quot; &lt;x&gt;\">Ende</p>"), "{whole}");
    assert!(whole.contains("<div id=\"host\"><shadow-root><i>in root</i></shadow-root></div>"), "{whole}");
    assert!(whole.contains("<em>framed</em>") && whole.contains("<pre>  a\n   b</pre>"), "{whole}");
    assert!(html(json!({ "selector": "script" })).await.0.contains("secretCode"));
    let none = stage.json("get_page_html", json!({ "selector": "#nowhere" })).await;
    has(&none, json!({ "success": false, "class": "bad_argument" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn accessible_tree_is_a_tree_with_our_numbers() {
    let stage = Stage::open_with(
        "<!doctype html><main><h1>Head</h1><div><div><div><button>Save</button></div></div></div>
         <label>Name <input value='Ann' required></label><input type=checkbox checked aria-label=News>
         <nav aria-label=Menu><a href='/x'>One</a></nav></main><iframe srcdoc='<button>Near</button>'></iframe>
         <iframe src='{{cross}}/far.html'></iframe>",
        &[("far.html", "<button>Far</button>")],
    )
    .await;
    let tree = stage.call("accessibility_snapshot", json!({})).await.text;
    let line = |words: &str| {
        let found: Vec<&str> = tree.lines().filter(|line| line.contains(words)).collect();
        assert_eq!(found.len(), 1, "{words} in {tree}");
        found[0]
    };
    let depth = |words: &str| line(words).len() - line(words).trim_start().len();
    for name in ["Save", "Name", "News", "One", "Near", "Far"] {
        let index = stage.index(name).await;
        let role = if name == "Name" { "textbox" } else { "" };
        assert!(line(&format!("{role} \"{name}\"")).contains(&format!("[{index}] ")), "{tree}");
    }
    assert!(line("textbox \"Name\"").ends_with("textbox \"Name\" value=\"Ann\" required"), "{tree}");
    assert!(line("\"News\"").ends_with("checked") && line("\"Head\"").ends_with("level=1"), "{tree}");
    assert_eq!(depth("\"One\""), depth("navigation \"Menu\"") + 2, "{tree}");
    assert_eq!(depth("\"Save\""), depth("heading \"Head\""), "wrappers are not told: {tree}");
    assert_eq!(tree.matches("\"Save\"").count(), 1, "a name is not repeated as a text: {tree}");
    let part = stage.call("accessibility_snapshot", json!({ "selector": "nav" })).await.text;
    assert!(
        part.lines().nth(1).unwrap().starts_with("navigation \"Menu\"") && !part.contains("Save"),
        "{part}"
    );
    let short = stage.call("accessibility_snapshot", json!({ "max_nodes": 3 })).await.text;
    assert!(short.contains("first 3 nodes") && short.lines().count() == 6, "{short}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_are_in_no_finding() {
    let stage = Stage::open(&format!(
        "{}<p id=mirror></p><div id=k contenteditable style='-webkit-text-security: disc' aria-label=Code>CANARY12</div>
         <label>l <input type=hidden name=token value=CANARY13></label>
         <button aria-labelledby='cvv own'><span id=own>Pay</span></button>
         <script>mirror.dataset.copy = 'CANARY1';</script>",
        include_str!("view/secrets.html")
    ))
    .await;
    let mut everything = String::new();
    let calls = [
        ("find_text", json!({ "text": "canary" })),
        ("find_visible_text", json!({ "text": "canary" })),
        ("query_dom", json!({ "selector": "input, textarea, p, [contenteditable], button, label" })),
        ("get_page_html", json!({})),
        ("get_page_html", json!({ "selector": "textarea" })),
        ("accessibility_snapshot", json!({})),
        ("accessibility_snapshot", json!({ "selector": "[name=user_password]" })),
    ];
    for round in 0..2 {
        for (tool, args) in &calls {
            everything += &stage.call(tool, args.clone()).await.text;
        }
        // A page that shows the word for a moment does not give it away.
        if round == 0 {
            stage.eval("document.querySelectorAll('[type=password]').forEach(field => field.type = 'text'); k.style = ''").await;
        }
    }
    assert!(everything.contains("Plain field") && everything.contains("Pay"), "{everything}");
    assert!(!everything.contains("CANARY") && !everything.contains("•••"), "{everything}");
    assert!(everything.contains("\"count\":0"), "{everything}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hover_tells_menus_of_styles_and_of_scripts_and_tooltips() {
    let stage = Stage::open_with(
        "<!doctype html><title>t</title><style>li ul{display:none} li:hover ul{display:block}
         .tip:hover::after{content:'Saves all of it';position:absolute}</style>
         <ul><li><a href='#shop'>Shop</a><ul><li><a href='#boats'>Boats</a></li><li><a href='#ropes'>Ropes</a></li></ul></li></ul>
         <button class=tip>Keep</button><button title='Throws it away'>Drop</button><p>Plain</p>
         <button id=late>Late</button><iframe src='{{cross}}/far.html' style='width:400px;height:200px'></iframe>
         <script>late.onmouseenter = () => setTimeout(() => { const box = document.createElement('div');
         box.setAttribute('role', 'tooltip'); box.textContent = 'Comes late'; document.body.append(box); }, 250);</script>",
        &[(
            "far.html",
            "<style>nav div{visibility:hidden} nav:hover div{visibility:visible}</style>
             <nav style='width:200px'><button>More</button><div><button onclick='this.textContent=\"done\"'>Inner entry</button></div></nav>",
        )],
    )
    .await;
    let shop = stage.json("hover_index", json!({ "index": stage.index("Shop").await })).await;
    has(&shop, json!({ "success": true }));
    let entries = shop["appeared"][0]["elements"].as_array().unwrap();
    assert!(entries.len() == 2 && entries[1].as_str().unwrap().ends_with("a \"Ropes\""), "{shop}");
    let index: u32 = entries[1].as_str().unwrap()[1..].split(']').next().unwrap().parse().unwrap();
    has(
        &stage.json("click_index", json!({ "index": index })).await,
        json!({ "success": true, "urlChanged": true }),
    );
    assert_eq!(stage.eval("location.hash").await, "#ropes");
    let tip = stage.json("hover_index", json!({ "index": stage.index("Keep").await })).await;
    has(&tip, json!({ "success": true, "tooltip": "Saves all of it", "appeared": null }));
    let title = stage.json("hover_index", json!({ "index": stage.index("Drop").await })).await;
    has(&title, json!({ "success": true, "tooltip": "Throws it away" }));
    let late = stage.json("hover_index", json!({ "index": stage.index("Late").await })).await;
    assert_eq!(late["appeared"][0]["text"], "Comes late", "{late}");
    let more = stage.json("hover_index", json!({ "index": stage.index("More").await })).await;
    let entry = more["appeared"][0]["elements"][0].as_str().unwrap();
    assert!(entry.ends_with("button \"Inner entry\""), "{more}");
    let index: u32 = entry[1..].split(']').next().unwrap().parse().unwrap();
    has(&stage.json("click_index", json!({ "index": index })).await, json!({ "success": true }));
    stage.close().await;
}

/// A page of things to drag, and what it saw.
const DRAGS: &str = "<!doctype html><title>t</title><style>body{margin:10px} li,#zone,#no{width:200px;height:40px;border:1px solid}
    #zone,#no{margin-top:20px} #end{margin-top:2500px;width:200px;height:60px;border:1px solid}</style>
    <input type=range id=volume min=0 max=100 value=0 aria-label=Volume style='width:220px'>
    <ul id=list style='padding:0'><li draggable=true tabindex=0>One</li><li draggable=true tabindex=0>Two</li><li draggable=true tabindex=0>Three</li></ul>
    <div id=zone tabindex=0 aria-label=Zone></div><div id=no tabindex=0 aria-label='No zone'></div><a href='#x' id=a>A link</a>
    <div id=end tabindex=0 aria-label='Far zone'></div>
    <script>var seen = [], held = null;
    for (const type of ['dragstart', 'drop', 'dragend']) addEventListener(type, e => seen.push(e.type + (e.isTrusted ? '' : '?')), true);
    list.addEventListener('dragstart', e => { held = e.target; e.dataTransfer.setData('text/plain', held.textContent); e.dataTransfer.effectAllowed = 'move'; });
    list.addEventListener('dragover', e => { const li = e.target.closest('li'); if (!li || li === held) return; e.preventDefault(); });
    list.addEventListener('drop', e => { e.preventDefault(); e.target.closest('li').after(held); });
    for (const z of [zone, end]) { z.addEventListener('dragover', e => e.preventDefault());
    z.addEventListener('drop', e => { e.preventDefault(); z.textContent = 'got ' + e.dataTransfer.getData('text/plain'); }); }
    var order = () => [...list.children].map(li => li.textContent).join();</script>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_browser_carries_is_dropped_where_it_was_said() {
    let stage = Stage::open(DRAGS).await;
    let (one, three) = (stage.index("One").await, stage.index("Three").await);
    let sorted = stage.json("drag", json!({ "from": one, "to": three })).await;
    has(&sorted, json!({ "success": true, "domChanged": true, "position": { "at": 3, "of": 3 } }));
    assert_eq!(stage.eval("order() + ' ' + seen").await, "Two,Three,One dragstart,drop,dragend");
    let zone = stage.index("aria-name=Zone").await;
    let dropped = stage.json("drag", json!({ "from": one, "to": zone })).await;
    has(&dropped, json!({ "success": true, "domChanged": true }));
    assert_eq!(stage.eval("zone.textContent").await, "got One");
    let no = stage.index("No zone").await;
    let refused = stage.json("drag", json!({ "from": one, "to": no })).await;
    has(&refused, json!({ "success": false, "class": "rejected" }));
    // A target that cannot be seen together with what is dragged.
    let far = stage.index("Far zone").await;
    let dropped = stage.json("drag", json!({ "from": one, "to": far })).await;
    has(&dropped, json!({ "success": true }));
    assert_eq!(stage.eval("end.textContent").await, "got One");
    // The mouse is free afterwards, and the person's own drags are the browser's again.
    has(
        &stage.json("click_index", json!({ "index": stage.index("A link").await })).await,
        json!({ "success": true }),
    );
    assert_eq!(stage.eval("location.hash").await, "#x");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn native_sliders_follow_the_mouse_and_bad_drags_are_told() {
    let stage = Stage::open(DRAGS).await;
    let volume = stage.index("Volume").await;
    let moved = stage.json("drag", json!({ "from": volume, "dx": 60 })).await;
    has(&moved, json!({ "success": true, "elementStateChanged": true }));
    let value: f64 = stage.eval("+volume.value").await.as_f64().unwrap();
    assert!(value > 60.0 && value < 95.0 && moved["value"] == format!("{value}"), "{moved}");
    for args in [
        json!({ "from": volume }),
        json!({ "from": volume, "to": volume }),
        json!({ "from": volume, "to": 1, "dx": 3 }),
        json!({ "from": volume, "dx": 0, "dy": 0 }),
        json!({ "from": volume, "to": 9999 }),
    ] {
        has(&stage.json("drag", args).await, json!({ "success": false, "class": "bad_argument" }));
    }
    let one = stage.index("One").await;
    stage.before_press("document.body.insertAdjacentHTML('beforeend', '<div id=veil style=\"position:fixed;inset:0\">Wait</div>')");
    let stopped = stage.json("drag", json!({ "from": one, "dx": 50 })).await;
    has(&stopped, json!({ "success": false, "class": "covered" }));
    assert_eq!(stage.eval("seen.join()").await, "");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drags_go_into_and_through_frames_of_other_sites() {
    let stage = Stage::open_with(
        "<!doctype html><title>t</title><body style='margin:0'><iframe src='{{cross}}/far.html' style='border:0;width:600px;height:300px'></iframe>",
        &[(
            "far.html",
            "<body style='margin:20px'><div id=box draggable=true tabindex=0 style='width:80px;height:40px'>Box</div>
             <div id=zone tabindex=0 aria-label=Zone style='width:200px;height:80px;margin-top:40px;border:1px solid'></div>
             <div id=knob role=slider tabindex=0 aria-label=Knob aria-valuenow=0 style='position:relative;width:20px;height:20px;background:red'></div>
             <script>box.ondragstart = e => e.dataTransfer.setData('text/plain', 'b'); zone.ondragover = e => e.preventDefault();
             zone.ondrop = e => { e.preventDefault(); zone.textContent = 'got it'; };
             let from = null; knob.onpointerdown = e => { from = e.clientX; knob.setPointerCapture(e.pointerId); };
             knob.onpointermove = e => { if (from !== null && e.buttons) { knob.style.left = e.clientX - from + 'px'; knob.setAttribute('aria-valuenow', e.clientX - from); } };
             knob.onpointerup = () => { from = null; };</script>",
        )],
    )
    .await;
    let knob = stage.json("drag", json!({ "from": stage.index("Knob").await, "dx": 90 })).await;
    has(&knob, json!({ "success": true, "moved": { "dx": 90.0, "dy": 0.0 } }));
    let (from, to) = (stage.index("Box").await, stage.index("Zone").await);
    let dropped = stage.json("drag", json!({ "from": from, "to": to })).await;
    has(&dropped, json!({ "success": true, "domChanged": true }));
    let text = stage.call("extract_text", json!({})).await.text;
    assert!(text.contains("got it"), "{text}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn options_of_long_lists_and_of_menus_are_picked() {
    let stage = Stage::open(
        "<!doctype html><title>t</title><style>[role=listbox],[role=menu]{position:absolute;background:#fff;border:1px solid}</style>
         <div role=combobox tabindex=0 id=town aria-label=Town aria-haspopup=listbox aria-expanded=false style='width:200px;height:24px'>Choose</div>
         <div role=listbox id=towns hidden style='top:60px;height:160px;width:200px;overflow:auto'><div id=pad style='position:relative'></div></div>
         <button id=file aria-haspopup=menu aria-expanded=false style='margin-left:300px'>File</button>
         <div role=menu id=menu hidden style='top:40px;left:320px'><div role=menuitem tabindex=-1>Save</div><div role=menuitem tabindex=-1>Save as…</div></div>
         <ul role=listbox aria-label='Always there' style='top:400px'><li role=option>Alpha</li><li role=option>Town 903</li></ul>
         <script>var log = []; const names = Array.from({ length: 1000 }, (_, n) => 'Town ' + n); pad.style.height = 1000 * 24 + 'px';
         const draw = () => { const first = Math.floor(towns.scrollTop / 24); pad.replaceChildren(...names.slice(first, first + 9).map((name, n) => {
           const option = document.createElement('div'); option.setAttribute('role', 'option'); option.textContent = name;
           option.style = `position:absolute;top:${(first + n) * 24}px;height:24px`;
           option.onclick = () => { town.textContent = name; log.push(name); towns.hidden = true; }; return option; })); };
         towns.onscroll = () => requestAnimationFrame(draw);
         town.onclick = () => { towns.hidden = !towns.hidden; draw(); };
         file.onclick = () => { menu.hidden = !menu.hidden; };
         for (const item of menu.children) item.onclick = () => { log.push(item.textContent); menu.hidden = true; };</script>",
    )
    .await;
    let town = stage.index("Town & combobox").await;
    let picked = stage.json("pick_option", json!({ "index": town, "option": "Town 61" })).await;
    has(&picked, json!({ "success": true, "value": "Town 61" }));
    let none = stage.json("pick_option", json!({ "index": town, "option": "Village" })).await;
    has(&none, json!({ "success": false, "class": "no_such_option" }));
    assert_eq!(none["options"][0], "Town 0", "{none}");
    let file = stage.index("File").await;
    let saved = stage.json("pick_option", json!({ "index": file, "option": "Save" })).await;
    has(&saved, json!({ "success": true, "domChanged": true }));
    assert_eq!(stage.eval("log.join()").await, "Town 61,Save");
    let wrong = stage.json("pick_option", json!({ "index": file, "option": "Print" })).await;
    has(&wrong, json!({ "success": false, "class": "no_such_option", "options": ["Save", "Save as…"] }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_lists_that_came_with_the_text_are_suggestions() {
    let stage = Stage::open(
        "<!doctype html><title>t</title><ul role=listbox aria-label=Sizes><li role=option>Small</li><li role=option>Large</li></ul>
         <input role=combobox id=plain aria-label=Plain aria-expanded=false>
         <input role=combobox id=city aria-label=City aria-expanded=false><div id=place></div>
         <script>city.oninput = () => { place.innerHTML = '<div role=listbox><div role=option>Oslo</div></div>'; };</script>",
    )
    .await;
    let plain = stage.json("type_index", json!({ "index": stage.index("Plain").await, "text": "x" })).await;
    has(&plain, json!({ "success": true, "suggestions": null }));
    let city = stage.json("type_index", json!({ "index": stage.index("City").await, "text": "O" })).await;
    has(&city, json!({ "success": true, "suggestions": ["Oslo"] }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn picture_has_the_numbers_of_the_view_and_the_page_has_none() {
    let stage = Stage::open_with(
        "<!doctype html><title>t</title><style>body{margin:0;background:#fff} button{position:absolute;left:100px;width:120px;height:40px}</style>
         <button style='top:60px'>One</button><button style='top:2000px'>Below</button>
         <iframe src='{{cross}}/far.html' style='position:absolute;left:300px;top:100px;border:0'></iframe>",
        &[("far.html", "<body style='margin:0'><button style='position:absolute;left:50px;top:50px'>Far</button>")],
    )
    .await;
    let before = stage.eval("document.documentElement.outerHTML").await;
    let output = stage.call("mark_screenshot", json!({})).await;
    let words: Value = serde_json::from_str(&output.text).unwrap();
    let (one, far) = (stage.index("One").await, stage.index("Far").await);
    has(&words, json!({ "success": true, "marks": [one, far], "hint": null }));
    assert_eq!(stage.eval("document.documentElement.outerHTML").await, before);
    let [picture] = output.pictures.as_slice() else { panic!("{} pictures", output.pictures.len()) };
    let bytes = base64::engine::general_purpose::STANDARD.decode(&picture.base64).unwrap();
    assert_eq!((picture.mime_type.as_str(), &bytes[..2]), ("image/jpeg", &[0xff, 0xd8][..]));
    assert!(!output.text.contains("/9j/"), "{}", output.text);
    // A look that only looks: what is new since the last view is still told.
    stage
        .eval("document.body.insertAdjacentHTML('beforeend', '<button style=\"top:200px\">Fresh</button>')")
        .await;
    stage.call("mark_screenshot", json!({})).await;
    let view = stage.cx.browser.snapshot(&stage.cx.cancel, &Default::default()).await.unwrap();
    assert!(view.text.lines().any(|line| line.starts_with("[*") && line.contains("Fresh")), "{}", view.text);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn content_of_secret_fields_is_not_in_the_picture() {
    let stage = Stage::open(
        "<!doctype html><title>t</title><body style='margin:0'><input id=code autocomplete=one-time-code aria-label=Code value=111111
         style='position:absolute;left:100px;top:100px;width:300px;height:60px;font-size:40px'>
         <dialog id=over style='top:300px;background:#fff'>Wait</dialog>",
    )
    .await;
    let mut pictures = Vec::new();
    for script in
        ["0", "code.value = '999999'", "over.showModal(); code.value = '111111'", "code.value = '999999'"]
    {
        stage.eval(&format!("{{ {script} }}; document.activeElement.blur(); 0")).await;
        let output = stage.call("mark_screenshot", json!({})).await;
        pictures.push(output.pictures[0].base64.clone());
    }
    assert!(pictures[0] == pictures[1] && pictures[2] == pictures[3], "what it holds can be seen");
    assert_ne!(pictures[0], pictures[2], "the dialog is seen");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn end_of_a_long_page_is_found_and_what_is_folded_away_is_told_apart() {
    let rows: String = (0..3_000)
        .map(|n| format!("<div><p>Row {n} of the <i>list</i></p><button>Open {n}</button></div>"))
        .collect();
    let stage = Stage::open(&format!(
        "<!doctype html><title>t</title>{rows}<details><summary>More</summary>Folded words</details>
         <p style='display:none'>Folded words</p><p style='position:absolute;left:-9999px'>Folded words</p>
         <span style='display:block'>Sum</span><span style='display:block'>42</span><p>caf\u{65}\u{301} cr\u{e8}me</p>"
    ))
    .await;
    let last = stage.json("find_text", json!({ "text": "row 2999 of the list" })).await;
    has(&last, json!({ "count": 1, "unseen": null }));
    assert!(last["matches"][0]["near"][0].as_str().unwrap().ends_with("button \"Open 2999\""), "{last}");
    let many = stage.json("find_text", json!({ "text": "of the list" })).await;
    has(&many, json!({ "count": 500, "more": true }));
    let folded = stage.json("find_text", json!({ "text": "folded words" })).await;
    has(&folded, json!({ "count": 0, "unseen": 3 }));
    assert!(folded["hint"].as_str().unwrap().contains("cannot be seen now"), "{folded}");
    has(&stage.json("find_text", json!({ "text": "sum 42" })).await, json!({ "count": 1 }));
    has(&stage.json("find_text", json!({ "text": "CAF\u{c9} cre\u{300}me" })).await, json!({ "count": 1 }));
    let tree = stage.call("accessibility_snapshot", json!({ "max_nodes": 50 })).await.text;
    assert!(tree.contains("button \"Open 0\"") && tree.contains("first 50 nodes"), "{tree}");
    stage.close().await;
}
