//! How the host acts, on real pages in a real browser.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use browy::tools::{Ask, AskError, AskPurpose, Question, Reply, ReplyAnswer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::cdp_wire::Stage;

/// What a result must hold, and nothing else of it matters.
#[track_caller]
fn has(result: &Value, wanted: Value) {
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&result[key], value, "{key} in {result}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn click_names_what_covers_and_lands_when_it_is_gone() {
    let stage = Stage::open(
        "<title>a</title><button id=buy onclick='this.textContent=\"Bought\"; document.title=\"b\"'>Buy</button>
         <div id=veil style='position:fixed;inset:0;background:#fffc' aria-label='Please wait'></div>",
    )
    .await;
    let buy = stage.index("Buy").await;
    let refused = stage.json("click_index", json!({ "index": buy })).await;
    has(&refused, json!({ "success": false, "class": "covered" }));
    assert!(refused["by"].as_str().unwrap().contains("div#veil"), "{refused}");
    assert_eq!(stage.eval("document.title").await, "a");
    stage.eval("veil.remove()").await;
    let clicked = stage.json("click_index", json!({ "index": buy })).await;
    has(&clicked, json!({ "success": true, "domChanged": true, "titleChanged": true, "title": "b" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn press_that_the_page_moves_away_under_is_stopped() {
    let stage = Stage::open(
        "<style>button{position:absolute;left:20px;width:200px;height:60px}</style>
         <button id=safe style='top:20px'>Keep my account</button>
         <button id=bad style='top:300px'>Delete my account</button>
         <script>var hits = []; for (const b of document.querySelectorAll('button')) b.onclick = () => hits.push(b.id);
         for (const type of ['pointerdown', 'mousedown', 'mouseup']) bad.addEventListener(type, () => hits.push(type));
         function swap() { safe.style.top = '300px'; bad.style.top = '20px'; }
         function back() { safe.style.top = '20px'; bad.style.top = '300px'; }</script>",
    )
    .await;
    let safe = stage.index("Keep my account").await;
    // While the mouse comes near, the button is followed.
    stage.eval("document.addEventListener('mousemove', () => queueMicrotask(swap), { once: true })").await;
    has(&stage.json("click_index", json!({ "index": safe })).await, json!({ "success": true }));
    assert_eq!(stage.eval("hits.join()").await, "safe");
    stage.eval("hits.length = 0; back()").await;
    stage.before_press("swap()");
    let stopped = stage.json("click_index", json!({ "index": safe })).await;
    has(&stopped, json!({ "success": false, "class": "covered" }));
    assert!(stopped["by"].as_str().unwrap().contains("Delete my account"), "{stopped}");
    assert_eq!(stage.eval("hits.join()").await, "");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrapped_links_and_inner_controls_are_told_apart() {
    let stage = Stage::open(
        "<div style='width:220px;font:16px/24px monospace'>Some words before it and then
         <a href='#there'>a link that wraps over lines</a> and after.</div>
         <label id=l><input type=checkbox id=c style='display:none'>
         <a href='#terms'>the terms and all their very long name</a> Yes</label>
         <div tabindex=0 onclick='card=1' style='width:300px;height:60px'><button onclick='event.stopPropagation();inner=1'>Buy</button> Card</div>
         <script>var card = 0, inner = 0;</script>",
    )
    .await;
    let link = stage.index("a link that wraps").await;
    has(
        &stage.json("click_index", json!({ "index": link })).await,
        json!({ "success": true, "urlChanged": true }),
    );
    assert_eq!(stage.eval("location.hash").await, "#there");
    // The label's middle is a link of its own: the press goes beside it.
    let check = stage.index("<input & checkbox").await;
    has(
        &stage.json("check_index", json!({ "index": check })).await,
        json!({ "success": true, "checked": true }),
    );
    assert_eq!(stage.eval("location.hash").await, "#there");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clocks_are_not_taken_for_effects() {
    let stage = Stage::open(
        "<p id=clock>12:00:00</p><button onclick=''>Nothing</button>
         <button onclick='fetch(\"/page.html\").then(() => { out.textContent = \"Done now\" })'>Fetch</button><div><p id=out></p></div>
         <script>let n = 0; setInterval(() => { clock.textContent = '12:00:' + (n++ % 60) }, 30)</script>",
    )
    .await;
    let nothing = stage.index("Nothing").await;
    let result = stage.json("click_index", json!({ "index": nothing })).await;
    has(&result, json!({ "success": true, "domChanged": false }));
    assert!(result["hint"].as_str().unwrap().contains("Nothing changed"), "{result}");
    let fetch = stage.index("Fetch").await;
    let result = stage.json("click_index", json!({ "index": fetch })).await;
    has(&result, json!({ "success": true, "domChanged": true }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn modals_new_tabs_and_navigations_are_told() {
    let stage = Stage::open_with(
        "<title>One</title><style>.modal{display:none}.modal.show{display:block}</style>
         <button onclick='m.classList.add(\"show\")'>Open box</button>
         <div id=m class=modal role=dialog aria-label='Options'><button onclick='m.classList.remove(\"show\")'>Shut it</button></div>
         <a href='two.html' target=_blank>In a tab</a> <a href='two.html'>Go on</a>",
        &[("two.html", "<title>Two</title><p>Second page</p>")],
    )
    .await;
    let open = stage.index("Open box").await;
    has(&stage.json("click_index", json!({ "index": open })).await, json!({ "modalAppeared": true }));
    let shut = stage.index("Shut it").await;
    has(&stage.json("click_index", json!({ "index": shut })).await, json!({ "modalClosed": true }));
    let tab = stage.index("In a tab").await;
    let result = stage.json("click_index", json!({ "index": tab })).await;
    has(&result, json!({ "success": true, "urlChanged": false }));
    assert!(result["newTabs"][0]["url"].as_str().unwrap().ends_with("/two.html"), "{result}");
    let go = stage.index("Go on").await;
    let result = stage.json("click_index", json!({ "index": go })).await;
    has(&result, json!({ "success": true, "urlChanged": true, "title": "Two" }));
    let stale = stage.json("click_index", json!({ "index": open })).await;
    has(&stale, json!({ "success": false, "class": "stale" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dialogs_never_hang_a_call() {
    let stage = Stage::open(
        "<button onclick='confirm(\"Delete it?\")'>Delete</button><input aria-label=Name>
         <button onclick='setTimeout(() => alert(\"Tea is ready\"), 700)'>Timer</button>",
    )
    .await;
    stage.page.send("Page.enable", json!({})).await.unwrap();
    let delete = stage.index("Delete").await;
    let name = stage.index("Name").await;
    let result = stage.json("click_index", json!({ "index": delete })).await;
    has(&result, json!({ "success": true }));
    has(&result["dialog"], json!({ "type": "confirm", "message": "Delete it?" }));
    for (tool, args) in [
        ("type_index", json!({ "index": name, "text": "x" })),
        ("click_index", json!({ "index": delete })),
        ("screenshot", json!({})),
        ("inspect_page", json!({})),
        ("extract_text", json!({})),
        ("wait_for", json!({ "ms": 20_000 })),
    ] {
        let blocked = stage.json(tool, args).await;
        has(&blocked, json!({ "success": false, "class": "blocked_by_dialog" }));
        assert_eq!(blocked["dialog"]["message"], "Delete it?", "{tool}");
    }
    stage.page.send("Page.handleJavaScriptDialog", json!({ "accept": false })).await.unwrap();
    let timer = stage.index("Timer").await;
    stage.json("click_index", json!({ "index": timer })).await;
    let ended = stage.json("wait_for", json!({ "selector": "#never", "timeout_ms": "30000" })).await;
    has(&ended, json!({ "success": false, "class": "blocked_by_dialog" }));
    assert_eq!(ended["dialog"]["message"], "Tea is ready");
    stage.page.send("Page.handleJavaScriptDialog", json!({ "accept": true })).await.unwrap();
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_chooser_is_told_and_does_not_open() {
    let stage =
        Stage::open("<input type=file multiple id=f hidden><button onclick='f.click()'>Attach</button>")
            .await;
    let attach = stage.index("Attach").await;
    let result = stage.json("click_index", json!({ "index": attach })).await;
    has(&result, json!({ "success": true, "chooser": { "multiple": true } }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typing_is_refused_where_it_must_be() {
    let stage = Stage::open(
        "<input type=password aria-label=Word><input autocomplete='section-a cc-number' aria-label=Card>
         <input id=pw type=password aria-label=Shown><input readonly aria-label=Fixed value=1>
         <input disabled aria-label=Off><fieldset disabled><input aria-label=Group></fieldset><button>Plain</button>
         <select aria-label=Pick><option>a</select><input type=file aria-label=File><input type=date aria-label=Day>",
    )
    .await;
    let shown = stage.index("Shown").await;
    // A switched "show password" field is still one.
    stage.eval("pw.type = 'text'").await;
    for (words, class) in [
        ("Word", "not_allowed"),
        ("Card", "not_allowed"),
        ("Fixed", "readonly"),
        ("Off", "disabled"),
        ("Group", "disabled"),
        ("Plain", "not_editable"),
        ("Pick", "not_editable"),
        ("File", "not_editable"),
        ("Day", "bad_argument"),
    ] {
        let index = stage.index(words).await;
        let result = stage.json("type_index", json!({ "index": index, "text": "next week" })).await;
        has(&result, json!({ "success": false, "class": class }));
    }
    let again = stage.json("type_index", json!({ "index": shown, "text": "x" })).await;
    assert!(again["class"] == "not_allowed" || again["class"] == "stale", "{again}");
    let word = stage.index("Word").await;
    let filled = stage.json("fill_form", json!({ "fields": [{ "index": word, "value": "x" }] })).await;
    assert_eq!(filled["results"][0]["class"], "not_allowed");
    assert!(filled["results"][0]["error"].as_str().unwrap().contains("await_user"));
    let held = stage.eval("[...document.querySelectorAll('input')].map(i => i.value).join('|')").await;
    assert_eq!(held, "|||1||||");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn typing_appends_clears_and_keeps_lines_of_editors() {
    let stage = Stage::open(
        "<input aria-label=Line value='one '><input type=email aria-label=Mail value='a@b'><input type=number aria-label=Count value=7>
         <div contenteditable role=textbox aria-label=Story>old <b>words</b></div>
         <script>var sent = 0, seen = []; addEventListener('keydown', e => { if (e.key === 'Enter' && !e.shiftKey) sent++ });
         addEventListener('input', e => seen.push(e.isTrusted));</script>",
    )
    .await;
    let line = stage.index("Line").await;
    let typed = stage.json("type_index", json!({ "index": line, "text": "two", "clear": "false" })).await;
    has(&typed, json!({ "success": true, "value": "one two" }));
    let cleared = stage.json("type_index", json!({ "index": line, "text": "" })).await;
    has(&cleared, json!({ "success": true, "value": "" }));
    let mail = stage.index("Mail").await;
    let typed = stage.json("type_index", json!({ "index": mail, "text": ".org", "clear": false })).await;
    has(&typed, json!({ "success": true, "value": "a@b.org" }));
    let count = stage.index("Count").await;
    let typed = stage.json("type_index", json!({ "index": count, "text": "12.5" })).await;
    has(&typed, json!({ "success": true, "value": "12.5" }));
    let story = stage.index("Story").await;
    let typed = stage.json("type_index", json!({ "index": story, "text": "first\nsecond" })).await;
    has(&typed, json!({ "success": true }));
    assert_eq!(stage.eval("document.querySelector('[role=textbox]').innerText").await, "first\nsecond");
    assert_eq!(stage.eval("sent").await, 0, "Enter alone sends messages");
    assert_eq!(stage.eval("seen.every(Boolean)").await, true, "real input events");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn select_takes_several_and_custom_lists() {
    let stage = Stage::open(
        "<select multiple aria-label=Topics><option>Art</option><option>Biology</option><option value=c>Chess, go</option></select>
         <div role=combobox tabindex=0 id=box aria-label=Size aria-haspopup=listbox aria-controls=l aria-expanded=false>Small</div>
         <ul id=l role=listbox hidden><li role=option>Small</li><li role=option>Large</li><li role=option aria-disabled=true>Huge</li></ul>
         <script>var changes = 0; document.querySelector('select').addEventListener('change', () => changes++);
         box.onclick = () => { setTimeout(() => { l.hidden = false }, 120) };
         box.onkeydown = e => { if (e.key === 'Escape') l.hidden = true };
         for (const o of l.children) o.onclick = () => { box.textContent = o.textContent; l.hidden = true };</script>",
    )
    .await;
    let topics = stage.index("Topics").await;
    let both = json!({ "index": topics, "value": ["Art", "Chess, go"] });
    has(
        &stage.json("select_index", both.clone()).await,
        json!({ "success": true, "selected": ["Art", "Chess, go"] }),
    );
    has(&stage.json("select_index", both).await, json!({ "success": true }));
    assert_eq!(stage.eval("changes").await, 1, "no change, no event");
    let one = json!({ "index": topics, "value": "[\"Biology\"]" });
    has(&stage.json("select_index", one).await, json!({ "success": true, "selected": ["Biology"] }));
    let size = stage.index("combobox").await;
    let large = stage.json("select_index", json!({ "index": size, "value": "Large" })).await;
    has(&large, json!({ "success": true, "value": "Large" }));
    let size = stage.index("combobox").await;
    let none = stage.json("select_index", json!({ "index": size, "value": "Medium" })).await;
    has(&none, json!({ "success": false, "class": "no_such_option", "options": ["Small", "Large", "Huge"] }));
    assert_eq!(stage.eval("l.hidden").await, true, "what was opened is closed again");
    let off = stage.json("select_index", json!({ "index": size, "value": "Huge" })).await;
    has(&off, json!({ "success": false, "class": "disabled" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn boxes_toggle_keep_and_refuse() {
    let stage = Stage::open(
        "<input type=checkbox aria-label=News checked><input type=radio name=r aria-label=Red checked><input type=radio name=r aria-label=Blue>
         <span role=switch tabindex=0 aria-checked=false aria-label=Dark onclick='this.ariaChecked = this.ariaChecked === \"true\" ? \"false\" : \"true\"'>o</span>
         <button>Plain</button><script>var log = []; addEventListener('change', e => log.push(e.isTrusted));</script>",
    )
    .await;
    let news = stage.index("News").await;
    has(
        &stage.json("check_index", json!({ "index": news, "checked": "true" })).await,
        json!({ "success": true, "noop": true }),
    );
    has(
        &stage.json("check_index", json!({ "index": news })).await,
        json!({ "success": true, "checked": false }),
    );
    let red = stage.index("Red").await;
    has(
        &stage.json("check_index", json!({ "index": red, "checked": false })).await,
        json!({ "class": "bad_argument" }),
    );
    let blue = stage.index("Blue").await;
    has(
        &stage.json("check_index", json!({ "index": blue })).await,
        json!({ "success": true, "checked": true }),
    );
    let dark = stage.index("Dark").await;
    has(
        &stage.json("check_index", json!({ "index": dark, "checked": true })).await,
        json!({ "success": true, "checked": true }),
    );
    let plain = stage.index("Plain").await;
    has(
        &stage.json("check_index", json!({ "index": plain })).await,
        json!({ "success": false, "class": "bad_argument" }),
    );
    assert_eq!(stage.eval("log.join()").await, "true,true");
    stage.close().await;
}

const FORM: &str = "<form onsubmit='submitted=1;return false'>
  <label>Title <input name=title></label> <label>Abstract <textarea name=abstract></textarea></label>
  <label>Day <input type=date name=day></label> <label>Count <input type=number name=count></label>
  <label>Country <select name=country><option>Chile</option><option>Peru</option></select></label>
  <label>Town <select name=town disabled><option></option></select></label>
  <label>Tracks <select name=tracks multiple><option>A</option><option>B</option><option>C</option></select></label>
  <label><input type=checkbox name=agree> Agree</label>
  <label><input type=radio name=kind value=long> Long</label> <label><input type=radio name=kind value=short> Short</label>
  <label>Empty <input name=empty disabled></label><button>Send</button></form>
  <script>var submitted = 0; const form = document.forms[0];
  form.country.onchange = () => setTimeout(() => {
    form.town.disabled = false;
    form.town.innerHTML = form.country.value === 'Peru' ? '<option>Lima<option>Cusco' : '<option>Arica';
  }, 200);</script>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn form_is_filled_in_one_call_and_not_sent() {
    let stage = Stage::open(FORM).await;
    let mut fields = Vec::new();
    for (words, value) in [
        ("<input & Title", json!("On tides")),
        ("<textarea & Abstract", json!("Line one\nline two")),
        ("<input & Day", json!("2031-04-09")),
        ("<input & Count", json!(12)),
        ("<select & Country", json!("Peru")),
        ("<select & Town", json!("Cusco")),
        ("<select & Tracks", json!(["A", "C"])),
        ("<input & Agree", json!(true)),
        ("<input & Short", json!("true")),
        ("<input & Empty", json!("x")),
    ] {
        fields.push(json!({ "index": stage.index(words).await, "value": value }));
    }
    let filled = stage.json("fill_form", json!({ "fields": Value::Array(fields).to_string() })).await;
    has(&filled, json!({ "success": false, "filled": 9, "total": 10 }));
    has(&filled["results"][9], json!({ "ok": false, "class": "disabled" }));
    has(&filled["results"][6], json!({ "ok": true, "selected": ["A", "C"] }));
    let held = stage
        .eval("[form.title.value, form.abstract.value, form.day.value, form.count.value, form.country.value, form.town.value, form.agree.checked, form.kind.value, submitted].join('|')")
        .await;
    assert_eq!(held, "On tides|Line one\nline two|2031-04-09|12|Peru|Cusco|true|short|0");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn field_that_a_later_one_undoes_is_not_called_filled() {
    let stage = Stage::open(
        "<input aria-label=First><input aria-label=Second oninput='document.querySelector(\"input\").value = \"\"'>",
    )
    .await;
    let (first, second) = (stage.index("First").await, stage.index("Second").await);
    let fields = json!([{ "index": first, "value": "a" }, { "index": second, "value": "b" }]);
    let filled = stage.json("fill_form", json!({ "fields": fields })).await;
    has(&filled, json!({ "success": false, "filled": 1 }));
    has(&filled["results"][0], json!({ "ok": false, "class": "rejected", "value": "" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_and_shadow_roots_are_acted_in() {
    let stage = Stage::open_with(
        "<div style='height:1500px'>far down</div><iframe src=inner.html style='border:7px solid;padding:5px;width:300px;height:120px'></iframe>
         <div style='height:900px'></div><x-field></x-field>
         <script>customElements.define('x-field', class extends HTMLElement { constructor() { super();
           this.attachShadow({ mode: 'open' }).innerHTML = '<input aria-label=Shade><button onclick=\"document.title = 1\">Dusk</button>'; } })</script>",
        &[("inner.html", "<button onclick='parent.hits = (parent.hits || 0) + 1'>Inside</button><input aria-label=Depth>")],
    )
    .await;
    let inside = stage.index("Inside").await;
    has(&stage.json("click_index", json!({ "index": inside })).await, json!({ "success": true }));
    assert_eq!(stage.eval("hits").await, 1);
    let depth = stage.index("Depth").await;
    has(
        &stage.json("type_index", json!({ "index": depth, "text": "9 m" })).await,
        json!({ "success": true, "value": "9 m" }),
    );
    let shade = stage.index("Shade").await;
    has(
        &stage.json("type_index", json!({ "index": shade, "text": "oak" })).await,
        json!({ "success": true, "value": "oak" }),
    );
    let dusk = stage.index("Dusk").await;
    has(&stage.json("click_index", json!({ "index": dusk })).await, json!({ "success": true, "title": "1" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn frames_of_other_sites_are_acted_in() {
    let stage = Stage::open_with(
        "<div style='height:1200px'>far down</div><input aria-label=Outer value=keep autofocus>
         <iframe src='{{cross}}/inner.html' style='border:9px solid;padding:4px;width:320px;height:160px'></iframe>
         <div style='height:900px'></div>",
        &[(
            "inner.html",
            "<button onclick='this.textContent = \"Pressed \" + event.isTrusted'>Press</button><input aria-label=Depth>
             <label><input type=checkbox> Deep</label><select aria-label=Kind><option>a<option>b</select>",
        )],
    )
    .await;
    let press = stage.index("Press").await;
    has(
        &stage.json("click_index", json!({ "index": press })).await,
        json!({ "success": true, "domChanged": true }),
    );
    stage.index("Pressed true").await;
    let depth = stage.index("Depth").await;
    let typed = stage.json("type_index", json!({ "index": depth, "text": "9 m" })).await;
    has(&typed, json!({ "success": true, "value": "9 m" }));
    let fields = json!([
        { "index": stage.index("<input & Deep").await, "value": true },
        { "index": stage.index("Kind").await, "value": "b" },
        { "index": depth, "value": "12 m" },
    ]);
    has(&stage.json("fill_form", json!({ "fields": fields })).await, json!({ "success": true, "filled": 3 }));
    assert_eq!(stage.eval("document.querySelector('input').value").await, "keep");
    // Something of the page over the frame is seen from inside it.
    stage
        .eval(
            "document.body.insertAdjacentHTML('beforeend', '<div id=veil style=\"position:fixed;inset:0\">')",
        )
        .await;
    let covered = stage.json("click_index", json!({ "index": depth })).await;
    has(&covered, json!({ "success": false, "class": "covered" }));
    assert!(covered["by"].as_str().unwrap().contains("veil"), "{covered}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn waiting_ends_with_its_condition() {
    let stage = Stage::open(
        "<p id=p>Loading</p><script>function later() { setTimeout(() => { p.textContent = 'All done'; p.id = 'q'; location.hash = 'fin' }, 300) }</script>",
    )
    .await;
    let wrong = stage.json("wait_for", json!({ "selector": "p[", "timeout_ms": 9_000 })).await;
    has(&wrong, json!({ "success": false, "class": "bad_argument" }));
    let nothing = stage.json("wait_for", json!({})).await;
    has(&nothing, json!({ "success": false, "class": "bad_argument" }));
    stage.eval("later()").await;
    has(
        &stage.json("wait_for", json!({ "text": "all  DONE" })).await,
        json!({ "success": true, "condition": "text" }),
    );
    has(&stage.json("wait_for", json!({ "selector": "#q" })).await, json!({ "success": true }));
    has(
        &stage.json("wait_for", json!({ "selector": "#p", "state": "gone" })).await,
        json!({ "success": true }),
    );
    has(&stage.json("wait_for", json!({ "url_contains": "#fin" })).await, json!({ "success": true }));
    has(&stage.json("wait_for", json!({ "network_idle": "true" })).await, json!({ "success": true }));
    let late = stage.json("wait_for", json!({ "selector": "#never", "timeout_ms": "250" })).await;
    has(&late, json!({ "success": false, "class": "timeout", "timeout_ms": 250 }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_ends_every_wait() {
    let stage = Stage::open("<p>quiet</p>").await;
    let stop = stage.cx.cancel.clone();
    let waiting = stage.call("wait_for", json!({ "selector": "#never", "timeout_ms": 60_000 }));
    let (result, ()) = tokio::join!(waiting, async { stop.cancel() });
    assert_eq!(result.text, "stopped");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tabs_keep_their_numbers() {
    let stage = Stage::open_with(
        "<title>One</title><p>first</p>",
        &[("two.html", "<title>Two</title><button>Only here</button>")],
    )
    .await;
    let second = stage.chromium.browser().open(&stage.server.url("two.html")).await.unwrap();
    let listed = stage.json("list_tabs", json!({})).await;
    let of = |listed: &Value, title: &str| -> i64 {
        let tabs = listed["tabs"].as_array().unwrap();
        tabs.iter().find(|tab| tab["title"] == title).map_or(0, |tab| tab["index"].as_i64().unwrap())
    };
    let (one, two) = (of(&listed, "One"), of(&listed, "Two"));
    assert!(one != 0 && two != 0 && one != two, "{listed}");
    has(
        &stage.json("switch_tab", json!({ "index": two.to_string() })).await,
        json!({ "success": true, "title": "Two" }),
    );
    stage.index("Only here").await;
    let listed = stage.json("list_tabs", json!({})).await;
    let held: Vec<&Value> =
        listed["tabs"].as_array().unwrap().iter().filter(|tab| tab["held"] == true).collect();
    assert_eq!(held.len(), 1);
    assert_eq!(held[0]["index"], two);
    stage.page.close().await.unwrap();
    let closed = async { while of(&stage.json("list_tabs", json!({})).await, "One") != 0 {} };
    tokio::time::timeout(Duration::from_secs(10), closed).await.expect("the first tab goes");
    let gone = stage.json("switch_tab", json!({ "index": one })).await;
    has(&gone, json!({ "success": false, "class": "closed" }));
    assert_eq!(of(&stage.json("list_tabs", json!({})).await, "Two"), two);
    second.close().await.ok();
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn model_sees_the_picture_and_the_person_keeps_it() {
    let stage = Stage::open("<body style='background:#c00;margin:0'><h1>Red</h1>").await;
    let output = stage.call("screenshot", json!({})).await;
    assert!(output.ok, "{}", output.text);
    assert_eq!(output.pictures.len(), 1);
    assert_eq!(output.pictures[0].mime_type, "image/jpeg");
    assert!(output.pictures[0].base64.starts_with("/9j/"), "a JPEG");
    let result: Value = serde_json::from_str(&output.text).unwrap();
    let pixels = result["width"].as_f64().unwrap() * result["height"].as_f64().unwrap();
    assert!(pixels > 100_000.0 && pixels <= 1_150_000.0, "{result}");
    let saved = Path::new(result["saved"].as_str().unwrap());
    assert!(saved.starts_with(stage.home()), "{result}");
    assert!(std::fs::read(saved).unwrap().starts_with(&[0xff, 0xd8]));
    stage.close().await;
}

/// Answers every question the same way and remembers it.
struct Person(Result<Reply, AskError>, std::sync::Mutex<Vec<Question>>);

#[async_trait]
impl Ask for Person {
    async fn ask(&self, question: Question, _: &CancellationToken) -> Result<Reply, AskError> {
        self.1.lock().unwrap().push(question);
        self.0.clone()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_is_waited_for() {
    let mut stage = Stage::open("<p>x</p>").await;
    let reply = |answer, text: Option<&str>| Ok(Reply { answer, text: text.map(str::to_owned) });
    for (answer, wanted) in [
        (
            reply(ReplyAnswer::Done, Some("took the second one")),
            json!({ "success": true, "answer": "done", "text": "took the second one" }),
        ),
        (reply(ReplyAnswer::Skip, None), json!({ "success": true, "answer": "skip" })),
        (
            Err(AskError::NoPerson),
            json!({ "success": true, "awaiting_user": true, "message": "Sign in, please" }),
        ),
        (Err(AskError::Expired), json!({ "success": false, "class": "timeout" })),
    ] {
        let person = Arc::new(Person(answer, std::sync::Mutex::default()));
        stage.cx.ask = Arc::clone(&person) as Arc<dyn Ask>;
        has(&stage.json("await_user", json!({ "message": "Sign in, please" })).await, wanted);
        let asked = person.1.lock().unwrap();
        assert!(matches!(asked[0].purpose, AskPurpose::AwaitUser));
        assert_eq!(
            (asked[0].message.as_str(), asked[0].expires),
            ("Sign in, please", Duration::from_secs(600))
        );
    }
    stage.close().await;
}
