//! Pictures and PDFs of pages, in a real browser: what they show, where they are kept, and what they never show.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::support::cdp_wire::Stage;

/// Secret fields are magenta, everything that may be seen is green.
const STYLE: &str =
    "<!doctype html><style>body { margin: 8px } input, textarea { background: #f0f; color: #f0f;
    border: 4px solid #f0f; width: 120px; height: 30px } input.open, .open { background: #0c0 }</style>";

impl Stage {
    async fn picture(&self, tool: &str, args: Value) -> (Value, String) {
        let output = self.call(tool, args).await;
        let words: Value = serde_json::from_str(&output.text).unwrap_or_else(|_| panic!("{}", output.text));
        (words, output.pictures.first().map(|picture| picture.base64.clone()).unwrap_or_default())
    }

    /// Pixels of a picture: width, height, magenta ones, green ones.
    async fn colors(&self, base64: &str) -> [u64; 4] {
        let blank = self.chromium.browser().open("about:blank").await.unwrap();
        let script = format!(
            "(async () => {{ const image = new Image(); image.src = 'data:image/jpeg;base64,{base64}';
                await image.decode(); const board = new OffscreenCanvas(image.width, image.height);
                const pen = board.getContext('2d'); pen.drawImage(image, 0, 0);
                const all = pen.getImageData(0, 0, image.width, image.height).data; let secret = 0, open = 0;
                for (let at = 0; at < all.length; at += 4) {{
                    const [r, g, b] = [all[at], all[at + 1], all[at + 2]];
                    if (r > 190 && g < 90 && b > 190) secret++;
                    if (r < 90 && g > 150 && b < 90) open++;
                }}
                return [image.width, image.height, secret, open]; }})()"
        );
        let told = blank.evaluate(&script).await.unwrap();
        blank.close().await.unwrap();
        serde_json::from_value(told).unwrap()
    }

    async fn kept(&self, words: &Value) -> [u64; 4] {
        let path = words["saved"].as_str().unwrap_or_else(|| panic!("nothing was kept: {words}"));
        self.colors(&STANDARD.encode(std::fs::read(path).unwrap())).await
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secret_fields_are_in_no_picture() {
    let inner = format!("{STYLE}<div class=open>inner</div><input autocomplete=cc-number value=4111>");
    let html = format!(
        "{STYLE}<div class=open>page</div>
        <input type=password value=hunter2> <input type=password disabled value=x> <input name=otp value=123456>
        <textarea autocomplete=one-time-code>1</textarea>
        <div style='position:absolute; left:300px; top:10px; width:100px; height:20px; overflow:hidden'><input autocomplete=cc-csc></div>
        <div style='transform: scale(1.5); transform-origin: 0 0; margin: 40px 0'><input type=password id=shown value=x></div>
        <iframe srcdoc='{inner}' style='border:9px solid #000; height:90px'></iframe>
        <iframe id=far style='height:90px'></iframe>
        <x-closed></x-closed>
        <input type=password style='position:fixed; bottom:0; right:0'>
        <input class=open value=plain style='color:#0c0; border-color:#0c0'>
        <div style='margin-top:100vh' class=open>below</div><input type=password><div style='height:900px'></div>
        <script>
        class Closed extends HTMLElement {{ constructor() {{ super(); this.attachShadow({{ mode: 'closed' }}).innerHTML =
            '<style>input {{ background: #f0f; border: 4px solid #f0f }}</style><input type=password>'; }} }}
        customElements.define('x-closed', Closed);
        far.src = location.href.replace('127.0.0.1', 'localhost').replace('page.html', 'far.html');
        </script>"
    );
    let stage = Stage::open_with(&html, &[("far.html", &inner)]).await;
    stage
        .page
        .wait_for(
            "document.readyState === 'complete' && customElements.get('x-closed')",
            std::time::Duration::from_secs(10),
        )
        .await
        .unwrap();
    // A page view sees the field before its page shows what it holds.
    stage.call("inspect_page", json!({})).await;
    stage.eval("shown.type = 'text'").await;
    for (tool, args) in [
        ("screenshot", json!({})),
        ("screenshot", json!({ "full_page": true })),
        ("screenshot", json!({ "selector": "body" })),
        ("screenshot", json!({ "selector": "iframe" })),
        ("mark_screenshot", json!({})),
    ] {
        let (words, picture) = stage.picture(tool, args.clone()).await;
        assert_eq!(words["success"], true, "{tool} {args}: {words}");
        let [_, _, secret, open] = stage.colors(&picture).await;
        // The edges of what is painted over are blurred by the picture's compression.
        assert!(secret <= 12, "{tool} {args}: {secret} pixels of secret fields, {words}");
        assert!(open > 100, "{tool} {args}: nothing is seen, {words}");
        if tool == "screenshot" {
            assert!(words["painted_over"].as_u64() > Some(0), "{tool} {args}: {words}");
            assert!(stage.kept(&words).await[2] <= 12, "{tool} {args}: in the file");
        }
    }
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn element_and_whole_page_are_shown_in_full_and_the_page_stays_as_it_was() {
    let html = "<!doctype html><body style='margin:0'><div style='height:3000px'></div>
        <div id=box style='width:200px;height:100px;background:#0c0'></div>
        <div id=tall style='width:100px;height:2500px;background:#0c0'></div>
        <script>let sizes = 0; onresize = () => sizes++;</script>";
    let stage = Stage::open(html).await;
    stage.eval("scrollTo(0, 700)").await;
    let (words, picture) = stage.picture("screenshot", json!({ "full_page": true })).await;
    let [width, height, _, open] = stage.kept(&words).await;
    assert!(height >= 5_600 && open > 200 * 100 + 100 * 2_400, "{width} x {height}, {open}: {words}");
    let [width, height, ..] = stage.colors(&picture).await;
    assert!(width * height <= 1_160_000 && height <= 1_570, "the model's own is small: {width} x {height}");
    assert_eq!(stage.eval("[scrollY, innerHeight < 1500]").await, json!([700, true]));
    let (words, picture) = stage.picture("screenshot", json!({ "selector": "#box" })).await;
    let [width, height, _, open] = stage.colors(&picture).await;
    assert_eq!([width, height], [200, 100], "{words}");
    assert!(open > 19_000, "{open}");
    let (words, _) = stage.picture("screenshot", json!({ "selector": "#tall" })).await;
    assert!(words["cut"].is_null(), "{words}");
    assert!(stage.kept(&words).await[3] > 240_000, "{words}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_that_cannot_be_taken_say_why() {
    let stage = Stage::open("<button>a</button><p id=gone style='display:none'>x</p>").await;
    for (args, class) in [
        (json!({ "selector": "!!" }), "bad_argument"),
        (json!({ "selector": "#nowhere" }), "gone"),
        (json!({ "index": 1, "full_page": true }), "bad_argument"),
        (json!({ "index": 999 }), "bad_argument"),
    ] {
        let (words, picture) = stage.picture("screenshot", args.clone()).await;
        assert_eq!((&words["class"], picture.as_str()), (&json!(class), ""), "{args}: {words}");
    }
    let (words, _) = stage.picture("screenshot", json!({ "selector": "#gone" })).await;
    assert_eq!(words["success"], false, "{words}");
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_is_printed_into_the_folder_but_not_with_secrets() {
    let stage = Stage::open(
        "<title>Invoice 7/2031</title><p>Total 12 EUR</p><label>Card number <input id=card></label>",
    )
    .await;
    let names = async |args: Value| {
        let words = stage.json("pdf_export", args).await;
        let path = std::path::PathBuf::from(words["path"].as_str().unwrap_or_else(|| panic!("{words}")));
        assert!(path.starts_with(stage.home().join(".browy/data/files")), "{path:?}");
        assert!(std::fs::read(&path).unwrap().starts_with(b"%PDF-"), "{words}");
        path.file_name().unwrap().to_str().unwrap().to_owned()
    };
    assert_eq!(names(json!({})).await, "Invoice 7 2031.pdf");
    assert_eq!(names(json!({ "landscape": true })).await, "Invoice 7 2031 (2).pdf");
    assert_eq!(names(json!({ "filename": "mine" })).await, "mine.pdf");
    let refused = stage.json("pdf_export", json!({ "filename": "../mine" })).await;
    assert_eq!(
        (&refused["class"], &refused["success"]),
        (&json!("bad_argument"), &json!(false)),
        "{refused}"
    );
    stage.eval("card.value = '4111'").await;
    let refused = stage.json("pdf_export", json!({})).await;
    assert_eq!(refused["class"], "not_allowed", "{refused}");
    stage.close().await;
}
