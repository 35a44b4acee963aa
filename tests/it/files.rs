//! Files for pages, in a real browser: what takes them, and which files may be given away.

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use browy::tools::{Ask, AskError, AskPurpose, Question, Reply, ReplyAnswer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::cdp_wire::Stage;

#[track_caller]
fn has(result: &Value, wanted: Value) {
    for (key, value) in wanted.as_object().unwrap() {
        assert_eq!(&result[key], value, "{key} in {result}");
    }
}

/// A person who answers the same every time, and remembers what was asked.
struct Person {
    answer: Result<ReplyAnswer, AskError>,
    asked: Mutex<Vec<Question>>,
    /// Done while the card is open.
    meanwhile: Box<dyn Fn() + Send + Sync>,
}

impl Person {
    fn who(answer: Result<ReplyAnswer, AskError>) -> Arc<Self> {
        Self::doing(answer, || {})
    }

    fn doing(
        answer: Result<ReplyAnswer, AskError>,
        meanwhile: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { answer, asked: Mutex::default(), meanwhile: Box::new(meanwhile) })
    }

    fn messages(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|question| question.message.clone()).collect()
    }
}

#[async_trait]
impl Ask for Person {
    async fn ask(&self, question: Question, _: &CancellationToken) -> Result<Reply, AskError> {
        self.asked.lock().unwrap().push(question);
        (self.meanwhile)();
        self.answer.map(|answer| Reply { answer, text: None })
    }
}

const FIELD: &str = "<input id=box type=file aria-label=Paper><script>var read = [], changes = 0;
    box.onchange = async () => { changes++; for (const f of box.files) read.push(f.name + ':' + await f.text()); };</script>";

impl Stage {
    async fn saved(&self, name: &str, content: &str) -> String {
        let saved = self.json("save_file", json!({ "filename": name, "content": content })).await;
        has(&saved, json!({ "success": true, "bytes": content.len() }));
        saved["path"].as_str().unwrap().to_owned()
    }

    /// A file of the person's own.
    fn persons(&self, name: &str, content: &str) -> PathBuf {
        let path = self.home().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    async fn upload(&self, words: &str, path: &str) -> Value {
        let index = self.index(words).await;
        self.json("upload_index", json!({ "index": index, "path": path })).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_of_the_person_are_given_only_with_their_word() {
    let mut stage = Stage::open(FIELD).await;
    let mine = stage.persons("diary é.txt", "dear diary");
    let path = mine.display().to_string();
    // Nobody there, nobody answers, no.
    has(&stage.upload("Paper", &path).await, json!({ "success": false, "class": "not_allowed" }));
    for answer in
        [Err(AskError::Expired), Ok(ReplyAnswer::Deny), Ok(ReplyAnswer::Skip), Ok(ReplyAnswer::Done)]
    {
        let person = Person::who(answer);
        stage.cx.ask = person.clone();
        has(&stage.upload("Paper", &path).await, json!({ "success": false, "class": "not_allowed" }));
        assert_eq!(person.messages().len(), 1);
    }
    assert_eq!(stage.eval("box.files.length + changes").await, 0);
    // Yes, once.
    let person = Person::who(Ok(ReplyAnswer::Allow));
    stage.cx.ask = person.clone();
    let given = stage.upload("Paper", &path).await;
    has(
        &given,
        json!({ "success": true, "via": "field", "files": [{ "name": "diary é.txt", "bytes": 10 }] }),
    );
    assert_eq!(stage.eval("read.join()").await, "diary é.txt:dear diary");
    let [message] = &person.messages()[..] else { panic!("asked {:?}", person.messages()) };
    assert!(
        message.contains("http://127.0.0.1") && message.contains(&*path) && message.contains("10 bytes"),
        "{message}"
    );
    let purpose = person.asked.lock().unwrap()[0].purpose.clone();
    assert!(matches!(purpose, AskPurpose::Approval { tool, .. } if tool == "upload_index"));
    stage.upload("Paper", &path).await;
    assert_eq!(person.messages().len(), 2, "an answer holds for one call");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_do_not_make_a_file_the_agents_own() {
    let mut stage = Stage::open(FIELD).await;
    let person = Person::who(Ok(ReplyAnswer::Deny));
    stage.cx.ask = person.clone();
    let own = stage.saved("note.txt", "mine").await;
    let mine = stage.persons("secret.txt", "secret");
    let root = PathBuf::from(&own).parent().unwrap().to_owned();
    symlink(&mine, root.join("link.txt")).unwrap();
    symlink(stage.home(), root.join("door")).unwrap();
    let up = format!("{}/../../../secret.txt", root.display());
    for (path, class) in [
        (root.join("link.txt").display().to_string(), "bad_argument"),
        (root.join("door/secret.txt").display().to_string(), "bad_argument"),
        (up, "not_allowed"),
        (format!("{}x", root.display()), "bad_argument"),
        ("/proc/self/environ".to_owned(), "not_allowed"),
        ("/dev/stdin".to_owned(), "not_allowed"),
        (stage.home().display().to_string(), "bad_argument"),
        (root.display().to_string(), "bad_argument"),
        ("../secret.txt".to_owned(), "bad_argument"),
        ("file:///etc/passwd".to_owned(), "bad_argument"),
        ("".to_owned(), "bad_argument"),
    ] {
        let refused = stage.upload("Paper", &path).await;
        assert_eq!(refused["success"], false, "{path}: {refused}");
        assert!(refused["class"] == class || refused["class"] == "not_allowed", "{path}: {refused}");
    }
    assert_eq!(stage.eval("box.files.length + changes").await, 0);
    let asked = person.messages().len();
    // The name alone, the path, and a list of paths are all fine for what is the agent's.
    for path in ["note.txt".to_owned(), own.clone(), format!("[\"{own}\"]")] {
        has(&stage.upload("Paper", &path).await, json!({ "success": true }));
    }
    assert_eq!(person.messages().len(), asked);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn file_swapped_while_the_person_thinks_is_not_given() {
    let mut stage = Stage::open(FIELD).await;
    let mine = stage.persons("harmless.txt", "harmless");
    let path = mine.clone();
    stage.cx.ask = Person::doing(Ok(ReplyAnswer::Allow), move || {
        std::fs::rename(&path, path.with_extension("old")).unwrap();
        std::fs::write(&path, "harmful!").unwrap();
    });
    let refused = stage.upload("Paper", &mine.display().to_string()).await;
    has(&refused, json!({ "success": false, "class": "not_allowed" }));
    assert_eq!(stage.eval("box.files.length + changes").await, 0);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_to_a_field_is_found() {
    let stage = Stage::open(
        "<label style='border:1px solid'>Photo <input id=a type=file style='position:absolute;opacity:0;width:1px'></label>
         <div id=wrap role=button tabindex=0 aria-label=Wrapped style='width:99px;height:30px'><input id=b type=file hidden></div>
         <button id=maker>Made on the fly</button>
         <button id=cleared aria-label='Takes and clears'>x</button><input id=c type=file hidden multiple>
         <x-closed></x-closed>
         <script>var got = {};
         const take = (where, field) => field.onchange = async () => {
           const files = [...field.files]; if (where === 'cleared') field.value = '';
           got[where] = (await Promise.all(files.map(f => f.text()))).join('+'); };
         take('label', a); take('wrap', b); take('cleared', c); cleared.onclick = () => c.click();
         maker.onclick = () => { const f = document.createElement('input'); f.type = 'file'; take('made', f); f.click(); };
         customElements.define('x-closed', class extends HTMLElement { constructor() { super();
           const root = this.attachShadow({ mode: 'closed' });
           root.innerHTML = '<button>In a closed root</button><input type=file hidden>';
           take('closed', root.querySelector('input'));
           root.querySelector('button').onclick = () => root.querySelector('input').click(); } });</script>",
    )
    .await;
    let path = stage.saved("p.txt", "pic").await;
    for (words, via) in [
        ("<input & Photo", "field"),
        ("Wrapped", "field"),
        ("Made on the fly", "chooser"),
        ("In a closed root", "chooser"),
    ] {
        has(&stage.upload(words, &path).await, json!({ "success": true, "via": via }));
    }
    let other = stage.saved("q.txt", "two").await;
    let both = format!("[\"{path}\", \"{other}\"]");
    let cleared = stage.upload("Takes and clears", &both).await;
    has(
        &cleared,
        json!({ "success": true, "via": "chooser",
        "files": [{ "name": "p.txt", "bytes": 3 }, { "name": "q.txt", "bytes": 3 }] }),
    );
    assert!(cleared["hint"].as_str().unwrap().contains("emptied"), "{cleared}");
    assert_eq!(
        stage.eval("JSON.stringify(got)").await,
        r#"{"label":"pic","wrap":"pic","made":"pic","closed":"pic","cleared":"pic+two"}"#
    );
    let refused = stage.upload("Wrapped", &both).await;
    has(&refused, json!({ "success": false, "class": "bad_argument" }));
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_takes_no_file_is_left_as_it_was() {
    let stage = Stage::open_with(
        "<form action=sent.html><input name=q aria-label=Word value=w><button>Send it</button></form>
         <a href=sent.html>Elsewhere</a> <button onclick='n++'>Plain</button>
         <input id=off type=file disabled aria-label=Off> <input id=dir type=file webkitdirectory aria-label=Folder>
         <input id=picky type=file aria-label=Picky>
         <div role=button tabindex=0 id=guarded style='width:200px;height:40px'>Guarded</div>
         <script>var n = 0;
         // Pages keep dropped files from replacing them without taking any.
         for (const type of ['dragover', 'drop']) addEventListener(type, e => e.preventDefault());
         picky.onchange = () => { picky.type = 'text'; picky.type = 'file'; };</script>",
        &[("sent.html", "<title>Sent</title>")],
    )
    .await;
    let path = stage.saved("p.txt", "pic").await;
    for words in ["Send it", "Elsewhere", "Plain"] {
        let refused = stage.upload(words, &path).await;
        assert_eq!(refused["success"], false, "{words}: {refused}");
        assert_eq!(stage.eval("location.pathname").await, "/page.html", "{words}");
    }
    has(&stage.upload("Guarded", &path).await, json!({ "success": false, "class": "rejected" }));
    has(&stage.upload("Off", &path).await, json!({ "success": false, "class": "disabled" }));
    has(&stage.upload("Folder", &path).await, json!({ "success": false, "class": "bad_argument" }));
    assert_eq!(stage.eval("n + ' ' + off.files.length + dir.files.length").await, "1 00");
    let nothing = stage.json("upload_file", json!({ "selector": "#none", "path": path })).await;
    has(&nothing, json!({ "success": false, "class": "bad_argument" }));
    let several = stage.json("upload_file", json!({ "selector": "input[type=file]", "path": path })).await;
    has(&several, json!({ "success": false, "class": "ambiguous" }));
    let wrong = stage.json("upload_file", json!({ "selector": "a[", "path": path })).await;
    has(&wrong, json!({ "success": false, "class": "bad_argument" }));
    stage.close().await;
}

const ZONES: &str =
    "<div id=near style='width:300px;height:60px;border:1px dashed' tabindex=0 role=button>Drop here</div>
    <div id=busy style='width:300px;height:60px;border:1px dashed' tabindex=0 role=button>Refuses</div>
    <script>var got = [];
    near.ondragover = e => e.preventDefault();
    near.ondrop = async e => { e.preventDefault(); got.push(await e.dataTransfer.files[0].text()); };
    busy.ondragover = e => { e.preventDefault(); e.dataTransfer.dropEffect = 'none'; };</script>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn drop_areas_take_files_and_others_never_show_them_instead_of_the_page() {
    let stage = Stage::open(ZONES).await;
    let path = stage.saved("lyrics.txt", "la la").await;
    has(&stage.upload("Drop here", &path).await, json!({ "success": true, "via": "drop" }));
    has(&stage.upload("Refuses", &path).await, json!({ "success": false }));
    assert_eq!(stage.eval("got.join() + location.pathname").await, "la la/page.html");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_come_another_way_where_the_extension_may_not_name_files() {
    let stage = Stage::open(&format!("{FIELD}{}", ZONES.replace("var got", "window.got"))).await;
    stage.forbid(&["DOM.setFileInputFiles", "Input.dispatchDragEvent"]);
    // More than one message can carry, and no text.
    let bytes: Vec<u8> = (0..1_500_000_u32).map(|n| u8::try_from(n * 7 % 251).unwrap()).collect();
    stage.saved("big.bin", "x").await;
    let files = browy::data::files::Files::below(&stage.cx.paths);
    files.save("big.bin", &bytes).unwrap();
    let given = stage.upload("Paper", "big.bin").await;
    has(
        &given,
        json!({ "success": true, "via": "field", "files": [{ "name": "big.bin", "bytes": 1_500_000 }] }),
    );
    let same = "box.files[0].arrayBuffer().then(b => new Uint8Array(b).every((v, i) => v === i * 7 % 251))";
    assert_eq!(stage.eval(&format!("{same}.then(ok => ok + ' ' + changes)")).await, "true 1");
    let path = stage.saved("größe.txt", "la la").await;
    has(&stage.upload("Drop here", &path).await, json!({ "success": true, "via": "drop" }));
    assert_eq!(stage.eval("got.join()").await, "la la");
    stage.saved("empty.txt", "").await;
    has(&stage.upload("Paper", "empty.txt").await, json!({ "success": true }));
    assert_eq!(stage.eval("box.files[0].name + box.files[0].size").await, "empty.txt0");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn button_in_a_frame_of_another_site_takes_a_file() {
    let stage = Stage::open_with(
        "<h1>Outside</h1><iframe src='{{cross}}/inner.html' width=400 height=200></iframe>",
        &[("inner.html", "<button onclick='f.click()'>Attach here</button><input id=f type=file hidden>
            <p id=out role=status>nothing</p><script>f.onchange = async () => { out.textContent = 'got ' + await f.files[0].text(); };</script>")],
    )
    .await;
    let path = stage.saved("p.txt", "inner text").await;
    let index = stage.index("Attach here").await;
    let clicked = stage.json("click_index", json!({ "index": index })).await;
    has(&clicked, json!({ "success": true, "chooser": { "multiple": false } }));
    let given = stage.json("upload_index", json!({ "index": index, "path": path })).await;
    has(&given, json!({ "success": true, "via": "chooser" }));
    let view = stage.call("inspect_page", json!({})).await.text;
    assert!(view.contains("got inner text"), "{view}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forms_take_files_under_the_same_rules() {
    let mut stage = Stage::open(
        "<form><input id=n aria-label=Name><input id=f type=file aria-label=Invoice><input id=g type=file multiple aria-label=Pictures></form>",
    )
    .await;
    stage.cx.ask = Person::who(Ok(ReplyAnswer::Deny));
    let own = stage.saved("invoice.txt", "9 euro").await;
    let other = stage.saved("pic.txt", "pic").await;
    let mine = stage.persons("mine.txt", "mine").display().to_string();
    let [name, invoice, pictures] =
        [stage.index("Name").await, stage.index("Invoice").await, stage.index("Pictures").await];
    let fill = |invoice_path: &str| {
        json!({ "fields": [{ "index": name, "value": "Ada" }, { "index": invoice, "value": invoice_path },
            { "index": pictures, "value": format!("[\"{own}\",\"{other}\"]") }] })
    };
    let refused = stage.json("fill_form", fill(&mine)).await;
    has(&refused, json!({ "success": false, "filled": 2, "total": 3 }));
    has(&refused["results"][1], json!({ "ok": false, "class": "not_allowed" }));
    let filled = stage.json("fill_form", fill(&own)).await;
    has(&filled, json!({ "success": true, "filled": 3 }));
    has(&filled["results"][1], json!({ "ok": true, "files": [{ "name": "invoice.txt", "bytes": 6 }] }));
    assert_eq!(stage.eval("n.value + f.files[0].name + g.files.length").await, "Adainvoice.txt2");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn picker_of_the_person_is_left_alone() {
    let stage = Stage::open("<button id=b onclick='f.click()'>Attach</button><input id=f type=file>").await;
    let index = stage.index("<button & Attach").await;
    let clicked = stage.json("click_index", json!({ "index": index })).await;
    has(&clicked, json!({ "chooser": { "multiple": false } }));
    // Intercepted choosers are cancelled at once and announced; the person's own one is neither.
    let mut events = stage.chromium.browser().subscribe();
    stage.page.evaluate_as_person("b.click()").await.unwrap();
    stage.eval("new Promise(r => setTimeout(r, 50))").await;
    let mut opened = false;
    while let Ok(Some(event)) = tokio::time::timeout(std::time::Duration::from_millis(1), events.recv()).await
    {
        opened |= event.method == "Page.fileChooserOpened";
    }
    assert!(!opened, "the person's own picker was intercepted");
    stage.close().await;
}
