//! What the model sees of real pages, in a real browser.

use browy::browser::{PageView, RefError, ViewOptions};
use serde_json::json;

use crate::support::cdp_wire::Stage;

async fn view(stage: &Stage) -> PageView {
    view_of(stage, ViewOptions::default()).await
}

async fn view_of(stage: &Stage, options: ViewOptions) -> PageView {
    stage.cx.browser.snapshot(&stage.cx.cancel, &options).await.unwrap()
}

/// The lines without the statistics.
fn lines(view: &PageView) -> Vec<&str> {
    view.text.lines().filter(|line| line.starts_with(['[', '<', '…'])).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controls_of_every_kind_are_listed() {
    let stage = Stage::open(include_str!("view/controls.html")).await;
    insta::assert_snapshot!(view(&stage).await.text);
    stage.close().await;
}
