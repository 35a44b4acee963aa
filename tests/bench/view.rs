//! A whole page view, through host and extension in a real browser, against the page script alone; and what a
//! large page costs against a small one.

use std::time::{Duration, Instant};

use browy::chromium::Page;
use browy::page;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::pairs::{Pairs, ratio_of, shown};
use crate::support::chromium::{full_stack, panel_ready, send_prompt};
use crate::support::fake_cli::{FakeCli, LIMIT, Turn};
use crate::support::page_server::PageServer;
use crate::table::{Row, Table, ratio};

/// Views of each page.
const VIEWS: usize = 15;

/// A small page, the smallest that must be at most twice the script, and the largest.
const SIZES: [usize; 3] = [100, 5_000, 50_000];

/// Cards, deep nesting, frames and closed roots, as many as the size allows.
const PAGE: &str = include_str!("view.html");

pub fn measure(table: &mut Table) {
    let [small, middle, large] = Runtime::new().unwrap().block_on(views());
    let script = "page script alone";
    let added = small.added_ms();
    let row = Row::of("page view, 100 nodes", &small, script);
    table.push(
        Row { ratio: format!("{} (adds {added:.1} ms)", row.ratio), ..row }
            .target("adds ≤ 12 ms", added <= 12.0),
    );
    let row = Row::of("page view, 5,000 nodes", &middle, script);
    table.push(row.target("≤ 2 ×", middle.ratio() <= 2.0));
    let row = Row::of("page view, 50,000 nodes", &large, script);
    table.push(row.target("≤ 2 ×", large.ratio() <= 2.0));
    table.push(Row::limit("the same, as time", &large, "≤ 600 ms", 600));
    let each = |pairs: &Pairs, nodes: u32| pairs.ours() / nodes;
    let growth = ratio_of(each(&large, 50_000), each(&middle, 5_000));
    let row = Row {
        what: "the same for each node",
        ours: shown(each(&large, 50_000)),
        baseline: format!("{} of 5,000", shown(each(&middle, 5_000))),
        ratio: ratio(growth),
        ..Row::default()
    };
    table.push(row.target("≤ 1.5 × (linear)", growth <= 1.5));
}

async fn views() -> [Pairs; 3] {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("view.html"), PAGE).unwrap();
    let server = PageServer::start(folder.path()).await;
    let cli = FakeCli::listen().await;
    let chromium = full_stack(&cli, &[]).await.unwrap();
    let mut measured = Vec::new();
    for nodes in SIZES {
        let address = server.url(&format!("view.html?{nodes}"));
        let page = chromium.browser().open_window(&address).await.unwrap();
        let panel = chromium.browser().open_side_panel(&page).await.unwrap();
        panel_ready(&panel).await.unwrap();
        page.wait_for("document.documentElement.dataset.built", LIMIT).await.unwrap();
        let prompt = format!("Look {nodes}");
        send_prompt(&panel, &prompt).await.unwrap();
        let turn = cli.prompt(&prompt).await.unwrap();
        let script = Script::load(&page).await;
        // The first of each kind finds nothing in place.
        whole(&turn, nodes).await;
        script.run().await;
        let mut pairs = Pairs::default();
        for _ in 0..VIEWS {
            let ours = whole(&turn, nodes).await;
            pairs.push(ours, script.run().await);
        }
        measured.push(pairs);
        turn.end("Looked.");
    }
    chromium.close().await;
    measured.try_into().unwrap_or_else(|_| panic!("three sizes"))
}

/// From the model's call to the answer that it reads.
async fn whole(turn: &Turn, nodes: usize) -> Duration {
    let start = Instant::now();
    let answer = turn.call("inspect_page", json!({}), LIMIT).await.unwrap();
    let elapsed = start.elapsed();
    let counted = answer.text.split("elements=").nth(1).and_then(|rest| rest.split('\n').next());
    let counted: usize = counted.and_then(|count| count.parse().ok()).unwrap_or_default();
    assert!(counted * 10 >= nodes * 9 && counted * 10 <= nodes * 13 + 200, "{counted} of {nodes}");
    elapsed
}

/// The page script in a world of its own, as the host puts it there.
struct Script<'p> {
    page: &'p Page,
    registry: Value,
}

impl<'p> Script<'p> {
    async fn load(page: &'p Page) -> Self {
        let tree = page.send("Page.getFrameTree", json!({})).await.unwrap();
        let frame = &tree["frameTree"]["frame"]["id"];
        let made = json!({ "frameId": frame, "worldName": "bench" });
        let world = page.send("Page.createIsolatedWorld", made).await.unwrap();
        let library = json!({ "contextId": world["executionContextId"], "expression": page::LIBRARY });
        let library = page.send("Runtime.evaluate", library).await.unwrap();
        Self { page, registry: library["result"]["objectId"].clone() }
    }

    /// One snapshot, from the command to its answer over the browser's own DevTools pipe.
    async fn run(&self) -> Duration {
        let options = json!({
            "seen": null, "from": 0, "region": 0, "filter": "", "whole": false, "most": 375, "probe": false,
        });
        let params = json!({
            "objectId": self.registry, "functionDeclaration": page::CALL, "returnByValue": true,
            "arguments": [{ "value": "snapshot" }, { "value": options }],
        });
        let start = Instant::now();
        let answer = self.page.send("Runtime.callFunctionOn", params).await.unwrap();
        let elapsed = start.elapsed();
        let text = answer["result"]["value"].as_str().unwrap_or_default();
        assert!(text.contains("\"entries\""), "{answer}");
        elapsed
    }
}
