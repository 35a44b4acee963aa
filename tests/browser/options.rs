//! The options page: what it says is so, and what is changed there holds.

use browy::chromium::{Chromium, Page};
use browy::data::files::Files;
use browy::data::notes::{Note, Notes};
use browy::paths::Paths;
use serde_json::json;

use crate::stage::{SOON, Stage, picture};
use crate::support::chromium::{extension_folder, options};
use crate::support::fake_cli::LIMIT;

/// The page in a tab of its own.
struct Options(Page);

impl Options {
    async fn open(chromium: &Chromium) -> Self {
        let id = chromium.extension_id().expect("the extension is loaded");
        Self(chromium.browser().open(&format!("chrome-extension://{id}/options/options.html")).await.unwrap())
    }

    async fn until(&self, condition: &str) {
        if let Err(error) = self.0.wait_for(condition, SOON).await {
            let text = self.0.evaluate("document.body.innerText").await;
            panic!("{error}\npage: {}", text.unwrap().as_str().unwrap());
        }
    }

    async fn says(&self, selector: &str, words: &str) {
        let words = json!(words);
        self.until(&format!("document.querySelector('{selector}')?.textContent.includes({words})")).await;
    }

    async fn click(&self, selector: &str) {
        self.until(&format!("document.querySelector('{selector}')")).await;
        self.0.evaluate_as_person(&format!("document.querySelector('{selector}').click()")).await.unwrap();
    }

    /// Gives a field or list a value as a person does.
    async fn set(&self, selector: &str, value: &str) {
        let value = json!(value);
        let set = format!(
            "{{ const field = document.querySelector('{selector}'); field.value = {value};
                for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, {{ bubbles: true }})); }}"
        );
        self.0.evaluate_as_person(&set).await.unwrap();
    }

    /// Nothing is wider than the window.
    async fn fits(&self) {
        let over = "[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1
            && !e.closest('[hidden]')).map((e) => e.id || e.className || e.tagName)";
        let over = self.0.evaluate(over).await.unwrap();
        assert_eq!(over, json!([]), "wider than the window");
    }

    async fn width(&self, px: u32) {
        let size = json!({ "width": px, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.0.send("Emulation.setDeviceMetricsOverride", size).await.unwrap();
    }
}

#[tokio::test]
async fn switched_off_tool_is_refused_in_the_turn_that_runs() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    panel.send("begin").await;
    let turn = stage.cli.prompt("begin").await.unwrap();
    let page = Options::open(&stage.chromium).await;
    page.until("document.querySelectorAll('#tool-groups .tool').length > 50").await;
    page.until(
        "document.querySelector('#tool-list_tabs').checked && !document.querySelector('#tool-bash').checked",
    )
    .await;
    page.says(".risky", "bash").await;
    assert!(turn.call("list_tabs", json!({}), LIMIT).await.unwrap().kind == "success");

    page.click("#tool-list_tabs").await;
    page.says("#tools-on", "Saved").await;
    let refused = turn.answer_of(&turn.force_call("list_tabs", json!({})), LIMIT).await.unwrap();
    assert!(refused.kind != "success" && refused.text.contains("switched off"), "{}", refused.text);

    page.set("#tool-filter", "BASH").await;
    page.until("[...document.querySelectorAll('.tool')].filter((row) => row.checkVisibility()).length === 1")
        .await;
    page.set("#tool-filter", "no such tool at all").await;
    page.until("!document.querySelector('#tools-none').hidden").await;
    page.set("#tool-filter", "").await;
    page.click("#tools-reset").await;
    page.until("document.querySelector('#tool-list_tabs').checked").await;
    assert!(
        turn.call("list_tabs", json!({}), LIMIT).await.unwrap().kind == "success",
        "it is on again at once"
    );
    turn.end("done");
    stage.close().await;
}

#[tokio::test]
async fn status_model_provider_and_data_are_the_hosts() {
    let stage = Stage::open().await;
    let paths = Paths::below(stage.chromium.profile());
    let note: Note =
        serde_json::from_value(json!({ "value": "<b>teal</b>", "origin": "https://a.test" })).unwrap();
    Notes::below(&paths).set("colour", note).unwrap();
    Files::below(&paths).save("report.txt", b"report").unwrap();
    let page = Options::open(&stage.chromium).await;
    page.says("#checks", env!("CARGO_PKG_VERSION")).await;
    page.says("#checks [data-check=ok]:nth-child(2)", "Copilot CLI").await;
    page.until("document.querySelector('#notice').hidden").await;

    page.until("document.querySelector('#model-choice').options.length > 1").await;
    let other =
        page.0.evaluate("[...document.querySelector('#model-choice').options].at(-1).value").await.unwrap();
    page.set("#model-choice", other.as_str().unwrap()).await;
    page.says("#model-said", "Saved").await;
    let config = std::fs::read_to_string(paths.config()).unwrap();
    assert!(config.contains(other.as_str().unwrap()), "{config}");

    page.set("#provider-kind", "openai").await;
    page.set("#provider-url", "localhost").await;
    page.set("#provider-model", "m").await;
    page.click("#provider-save").await;
    page.until("document.querySelector('#model-said').classList.contains('bad')").await;
    page.until("document.querySelector('#provider-url').value === 'localhost'").await;
    page.set("#provider-url", "http://127.0.0.1:9/v1").await;
    page.set("#provider-key", "a-secret-key").await;
    page.click("#provider-save").await;
    page.says("#provider-key-hint", "stored").await;
    page.until("document.querySelector('#provider-key').value === ''").await;
    picture(&page.0, "options-light").await;

    page.says("#notes", "<b>teal</b>").await;
    page.says("#notes", "https://a.test").await;
    page.says("#files", "report.txt").await;
    page.click("#notes button").await;
    page.says("#sure-text", "colour").await;
    page.click("#sure button[value=no]").await;
    page.until("!document.querySelector('#sure').open").await;
    assert_eq!(Notes::below(&paths).list().unwrap().value.len(), 1, "said no");
    for (list, words) in [("notes", "Nothing"), ("files", "Nothing")] {
        page.click(&format!("#{list} button")).await;
        page.until("document.querySelector('#sure').open").await;
        page.click("#sure button[value=yes]").await;
        page.says(&format!("#{list}"), words).await;
    }
    assert_eq!(Notes::below(&paths).list().unwrap().value.len(), 0);
    assert_eq!(Files::below(&paths).list("").unwrap().entries.len(), 0);
    stage.close().await;
}

#[tokio::test]
async fn page_without_a_host_says_so_and_keeps_its_own_settings() {
    let mut without = options();
    without.extension = Some(extension_folder());
    let chromium = Chromium::launch(without).await.unwrap();
    let page = Options::open(&chromium).await;
    page.says("#notice", "One step is left").await;
    page.says("#tools-on", "host is not connected").await;
    page.says("#notes", "host is not connected").await;
    for width in [280, 800] {
        page.width(width).await;
        page.fits().await;
    }
    page.set("#theme", "dark").await;
    page.until("getComputedStyle(document.documentElement).colorScheme === 'dark'").await;
    page.click("#mascot").await;
    page.until("getComputedStyle(document.querySelector('.mascot')).display === 'none'").await;
    page.set("#language", "zh_CN").await;
    page.says("h1", "设置").await;
    page.until(
        "document.documentElement.lang === 'zh-CN' && document.querySelector('#theme').value === 'dark'",
    )
    .await;
    picture(&page.0, "options-dark-zh").await;
    let beside = chromium.browser().open_window("about:blank").await.unwrap();
    let panel = chromium.browser().open_side_panel(&beside).await.unwrap();
    panel
        .wait_for("document.querySelector('#state-text')?.textContent.includes('主机')", SOON)
        .await
        .unwrap();
    let scheme = panel.evaluate("getComputedStyle(document.documentElement).colorScheme").await.unwrap();
    assert_eq!(scheme, "dark", "the panel follows");
    page.set("#language", "en").await;
    page.says("h1", "settings").await;
    chromium.close().await;
}
