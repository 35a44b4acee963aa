//! The DevTools panel: a terminal that is bound to the inspected tab.

use browy::chromium::Page;
use serde_json::{Value, json};

use crate::stage::{SOON, Stage, picture};
use crate::support::page_server::{PageServer, Route};

/// The panel, and the front end of DevTools around it.
struct Terminal {
    panel: Page,
    front: Page,
}

impl Terminal {
    async fn open(stage: &Stage, inspected: &Page) -> Self {
        let browser = stage.chromium.browser();
        let params = json!({ "targetId": inspected.target() });
        browser.send(None, "Target.openDevTools", params).await.unwrap();
        let front = browser
            .wait_for_target("DevTools", SOON, |target| {
                target.kind == "page" && target.url.starts_with("devtools://")
            })
            .await
            .unwrap();
        let front = browser.attach(&front.id).await.unwrap();
        // How the front end itself shows a panel; there is no other way to it without a mouse.
        let show = "(async () => {
            const views = (await import('./ui/legacy/legacy.js')).ViewManager.ViewManager.instance();
            const name = [...views.views.keys()].find((key) => key.endsWith('Browy'));
            if (name) await views.showView(name);
            return Boolean(name);
        })()";
        let end = tokio::time::Instant::now() + SOON;
        while front.evaluate(show).await.ok() != Some(json!(true)) {
            assert!(tokio::time::Instant::now() < end, "DevTools has no panel of ours");
            tokio::task::yield_now().await;
        }
        let panel = browser
            .wait_for_target("the panel", SOON, |target| target.url.ends_with("/devtools/panel.html"))
            .await
            .unwrap();
        let terminal = Self { panel: browser.attach(&panel.id).await.unwrap(), front };
        terminal.until("document.querySelector('#state')?.dataset.state === 'ready'").await;
        terminal
    }

    async fn until(&self, condition: &str) {
        if let Err(error) = self.panel.wait_for(condition, SOON).await {
            panic!("{error}\npanel: {}", self.text().await);
        }
    }

    async fn text(&self) -> String {
        let text = self.panel.evaluate("document.body.innerText").await.unwrap();
        text.as_str().unwrap().to_owned()
    }

    /// Types a line and presses Enter.
    async fn enter(&self, line: &str) {
        let line = json!(line);
        let typed = format!(
            "{{ const field = document.querySelector('#line'); field.focus(); field.value = {line};
                field.dispatchEvent(new Event('input'));
                field.dispatchEvent(new KeyboardEvent('keydown', {{ key: 'Enter', bubbles: true }})); }}"
        );
        self.panel.evaluate_as_person(&typed).await.unwrap();
    }

    async fn key(&self, key: &str) {
        let press = format!(
            "document.querySelector('#line').dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
        );
        self.panel.evaluate_as_person(&press).await.unwrap();
    }

    /// Waits until the last lines contain this.
    async fn prints(&self, words: &str) {
        let words = json!(words);
        self.until(&format!("document.querySelector('#log').textContent.includes({words})")).await;
    }

    async fn value(&self, expression: &str) -> Value {
        self.panel.evaluate(expression).await.unwrap()
    }
}

const PAGE: &str = "<title>Inspected</title><h1 id=head>canary-inspected</h1><button>Press</button>
    <script>console.warn('canary-logged')</script>";

#[tokio::test]
async fn terminal_works_on_the_inspected_tab_whatever_is_in_front() {
    let stage = Stage::open().await;
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("inspected"), PAGE).unwrap();
    let server = PageServer::start(folder.path()).await;
    let route = Route {
        path: "/inspected".to_owned(),
        headers: [("content-type".to_owned(), "text/html".to_owned())].into(),
        body_file: Some("inspected".to_owned()),
        ..Route::default()
    };
    server.serve(folder.path(), vec![route]);
    let inspected = stage.chromium.browser().open_window(&server.url("inspected")).await.unwrap();
    let terminal = Terminal::open(&stage, &inspected).await;
    let front = stage.chromium.browser().open_window("about:blank").await.unwrap();

    terminal.enter("what is here").await;
    let turn = stage.cli.prompt("what is here").await.unwrap();
    assert!(turn.text.contains("canary-inspected"), "{}", turn.text);
    turn.delta("m", "A **heading**");
    terminal.prints("A heading").await;
    turn.end("");
    terminal.until("document.querySelector('.answer strong')?.textContent === 'heading'").await;
    terminal.until("document.querySelector('#state').dataset.state === 'ready'").await;

    for (line, printed) in [
        ("/title", "Inspected"),
        ("/url", "/inspected"),
        ("/dom h1", "canary-inspected"),
        ("/snapshot", "[1]<button>Press"),
        ("/eval await Promise.resolve(6 * 7)", "42"),
        ("/tabs", "about:blank"),
        ("/console", "recordedSince"),
        ("/net", "total_buffered"),
        ("/perf", "domContentLoaded"),
        ("/version", "extension 0."),
        ("/help", "/snapshot"),
        ("/nonsense", "There is no command /nonsense"),
        ("/eval", "/eval needs something"),
        ("/cancel", "Nothing runs"),
        ("/exit", "closes with DevTools"),
    ] {
        terminal.enter("/clear").await;
        terminal.until("document.querySelector('#log').childElementCount === 0").await;
        terminal.enter(line).await;
        terminal.prints(printed).await;
        terminal.until("document.querySelector('#stop').hidden").await;
    }
    assert_eq!(stage.cli.requests("session.send").len(), 1, "a command went to the model");

    terminal.enter("/js").await;
    terminal.until("document.querySelector('#sign').textContent === 'js>'").await;
    terminal.enter("({ deep: { deeper: [1, 2] } })").await;
    terminal.until("document.querySelector('details.json')").await;
    terminal.value("document.querySelector('details.json').open = true").await;
    terminal
        .until("document.querySelector('details.json details summary')?.textContent.includes('deeper')")
        .await;
    terminal.enter("const a = 5; a + 1").await;
    terminal.prints("6").await;
    terminal.enter("/js").await;
    terminal.until("document.querySelector('#sign').textContent === '>'").await;
    picture(&terminal.front, "devtools").await;
    front.close().await.unwrap();
    stage.close().await;
}

#[tokio::test]
async fn line_keeps_its_history_completes_commands_and_stops() {
    let stage = Stage::open().await;
    let inspected = stage.chromium.browser().open_window("about:blank").await.unwrap();
    let terminal = Terminal::open(&stage, &inspected).await;
    terminal.enter("write a book").await;
    let turn = stage.cli.prompt("write a book").await.unwrap();
    turn.delta("m", "Chapter one");
    terminal.prints("Chapter one").await;
    terminal.key("Escape").await;
    terminal.prints("Stopped.").await;
    terminal.until("document.querySelector('#state').dataset.state === 'ready'").await;

    let line = "document.querySelector('#line').value";
    terminal.key("ArrowUp").await;
    assert_eq!(terminal.value(line).await, "write a book");
    terminal.key("ArrowDown").await;
    assert_eq!(terminal.value(line).await, "");
    let type_it = "{ const field = document.querySelector('#line'); field.value = '/res'; field.dispatchEvent(new Event('input')); }";
    terminal.value(type_it).await;
    assert_eq!(terminal.value("document.querySelectorAll('#offers li').length").await, 2);
    terminal.key("ArrowDown").await;
    terminal.key("ArrowDown").await;
    terminal.key("Tab").await;
    assert_eq!(terminal.value(line).await, "/resume ");

    let chat = "chrome.storage.session.get(null).then((all) => Object.entries(all).find(([key]) => key.startsWith('devtools.'))[1])";
    let first = terminal.value(chat).await;
    terminal.value("{ window.isOld = true; location.reload(); }").await;
    terminal.until("!window.isOld && document.querySelector('#state')?.dataset.state === 'ready'").await;
    assert_eq!(terminal.value(chat).await, first, "the chat of the tab goes on");
    terminal.key("ArrowUp").await;
    assert_eq!(terminal.value(line).await, "write a book", "the history outlives the page");
    terminal.enter("/new").await;
    terminal.prints("A new chat").await;
    assert_ne!(terminal.value(chat).await, first);
    stage.close().await;
}
