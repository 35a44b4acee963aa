//! A click that is aimed, checked and watched, through host and extension in a real browser, against the three
//! raw mouse events.

use std::time::{Duration, Instant};

use browy::chromium::Page;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::pairs::Pairs;
use crate::support::chromium::{full_stack, panel_ready, send_prompt};
use crate::support::fake_cli::{FakeCli, LIMIT, Turn};
use crate::support::page_server::PageServer;
use crate::table::{Row, Table};

/// Clicks of each kind.
const CLICKS: usize = 30;

/// Every click changes the page, so that there is something to verify.
const PAGE: &str = "<!doctype html><title>Clicks</title><button id=b>Count</button><output id=o>0</output>\
    <script>b.onclick = () => { o.textContent = Number(o.textContent) + 1 }</script>";

pub fn measure(table: &mut Table) {
    let pairs = Runtime::new().unwrap().block_on(clicks());
    table.push(Row::of("click to verified result", &pairs, "three raw mouse events"));
    table.push(Row::limit("the same, as time", &pairs, "≤ 150 ms", 150));
}

async fn clicks() -> Pairs {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("clicks.html"), PAGE).unwrap();
    let server = PageServer::start(folder.path()).await;
    let cli = FakeCli::listen().await;
    let chromium = full_stack(&cli, &[]).await.unwrap();
    let page = chromium.browser().open_window(&server.url("clicks.html")).await.unwrap();
    let panel = chromium.browser().open_side_panel(&page).await.unwrap();
    panel_ready(&panel).await.unwrap();
    send_prompt(&panel, "Click").await.unwrap();
    let turn = cli.prompt("Click").await.unwrap();
    let view = turn.call("inspect_page", json!({}), LIMIT).await.unwrap().text;
    let index = number_of(&view, "Count").unwrap_or_else(|| panic!("no button in: {view}"));
    // The first of each kind finds nothing in place.
    tool_click(&turn, index).await;
    raw_click(&page).await;
    let mut pairs = Pairs::default();
    for _ in 0..CLICKS {
        let verified = tool_click(&turn, index).await;
        pairs.push(verified, raw_click(&page).await);
    }
    let counted = page.evaluate("Number(o.textContent)").await.unwrap();
    assert_eq!(counted, json!(2 * (CLICKS + 1)), "every click has counted once");
    turn.end("Clicked.");
    chromium.close().await;
    pairs
}

/// From the model's call to the answer that it reads.
async fn tool_click(turn: &Turn, index: u32) -> Duration {
    let start = Instant::now();
    let answer = turn.call("click_index", json!({ "index": index }), LIMIT).await.unwrap();
    let elapsed = start.elapsed();
    let result: Value = serde_json::from_str(&answer.text).unwrap();
    assert_eq!((&result["success"], &result["domChanged"]), (&json!(true), &json!(true)), "{result}");
    elapsed
}

/// Moved, pressed, released, each answered, over the browser's own DevTools pipe. Nothing is looked at.
async fn raw_click(page: &Page) -> Duration {
    let at =
        "(() => { const r = b.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2] })()";
    let at = page.evaluate(at).await.unwrap();
    let start = Instant::now();
    for (kind, button, held) in
        [("mouseMoved", "none", 0), ("mousePressed", "left", 1), ("mouseReleased", "left", 0)]
    {
        let params = json!({
            "type": kind, "x": at[0], "y": at[1], "button": button, "buttons": held, "clickCount": 1,
        });
        page.send("Input.dispatchMouseEvent", params).await.unwrap();
    }
    start.elapsed()
}

/// The number in the view's line with these words.
fn number_of(view: &str, words: &str) -> Option<u32> {
    let line = view.lines().find(|line| line.contains(words) && line.contains('['))?;
    let (_, rest) = line.split_once('[')?;
    rest.trim_start_matches(['*', '~']).split(']').next()?.parse().ok()
}
