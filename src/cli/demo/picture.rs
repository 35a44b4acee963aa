//! The picture: page and side panel in one window, as a person sees them. A browser without a window
//! can only take pictures of one of them at a time.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use hyper::StatusCode;
use serde_json::{Value, json};

use super::pages::escape;
use super::serve::{Server, whole};
use super::stage::{Stage, to_front};
use super::{form, paper};
use crate::chromium::Page;

const CSS: &str = include_str!("pages/picture.css");
/// Pixels per CSS pixel, so that text stays sharp when the picture is shown smaller.
const SCALE: f64 = 1.5;
const LIMIT: Duration = Duration::from_secs(10);

/// Typing has scrolled the page and its long fields.
const TO_THE_TOP: &str = "document.activeElement?.blur(); scrollTo(0, 0); \
    document.querySelectorAll('textarea').forEach((one) => (one.scrollTop = 0));";
/// Unfolds the steps and shows their beginning and the answer, where both fit.
const SHOW_STEPS: &str =
    "document.querySelectorAll('.steps-summary[aria-expanded=false]').forEach((one) => one.click())";
const PAINTED: &str =
    "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))";

/// Takes the picture of form and panel.
///
/// # Errors
/// When the browser does not give one or the file cannot be written.
pub async fn take(stage: &Stage, paper_title: &str, file: &Path) -> anyhow::Result<()> {
    to_front(&stage.form).await?;
    stage.form.evaluate(TO_THE_TOP).await?;
    stage.panel.evaluate(SHOW_STEPS).await?;
    let mut shots = Vec::new();
    for page in [&stage.form, &stage.panel] {
        hide_scrollbars(page, true).await?;
        let picture = shot(page).await;
        hide_scrollbars(page, false).await?;
        shots.push(picture?);
    }
    let panel = shots.pop().unwrap_or_default();
    let page = shots.pop().unwrap_or_default();
    let whole = compose(stage, paper_title, page, panel).await?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    std::fs::write(file, whole).with_context(|| format!("cannot write {}", file.display()))
}

/// For the moment of the picture.
async fn hide_scrollbars(page: &Page, hidden: bool) -> anyhow::Result<()> {
    let width = if hidden { "none" } else { "" };
    page.evaluate(&format!("document.documentElement.style.scrollbarWidth = '{width}'")).await?;
    Ok(())
}

/// A target as PNG, in its own size.
async fn shot(page: &Page) -> anyhow::Result<Bytes> {
    let size = page.evaluate("[innerWidth, innerHeight]").await?;
    painted(page).await;
    let clip = json!({ "x": 0, "y": 0, "width": size[0], "height": size[1], "scale": SCALE });
    capture(page, json!({ "format": "png", "clip": clip, "captureBeyondViewport": false })).await
}

/// An animation frame of a page in the background may never come; the picture is taken anyway.
async fn painted(page: &Page) {
    let _ = tokio::time::timeout(Duration::from_secs(1), page.evaluate(PAINTED)).await;
}

async fn capture(page: &Page, what: Value) -> anyhow::Result<Bytes> {
    let answer = page.send("Page.captureScreenshot", what).await?;
    let data = answer["data"].as_str().unwrap_or_default();
    let bytes = STANDARD.decode(data).context("the browser's picture is no base64")?;
    if bytes.is_empty() {
        bail!("the browser gave an empty picture");
    }
    Ok(bytes.into())
}

/// Draws a window around the two pictures, in a tab of its own that is closed again.
async fn compose(stage: &Stage, paper_title: &str, page: Bytes, panel: Bytes) -> anyhow::Result<Bytes> {
    let html = window(paper_title);
    let server = Server::start(move |request| {
        let answer = match request.uri().path() {
            "/page.png" => whole(StatusCode::OK, "image/png", page.clone()),
            "/panel.png" => whole(StatusCode::OK, "image/png", panel.clone()),
            _ => whole(StatusCode::OK, "text/html; charset=utf-8", html.clone()),
        };
        async move { answer }
    })
    .await
    .context("cannot serve the picture's frame")?;
    let tab = stage.chromium.browser().open(&server.base()).await?;
    let picture = async {
        tab.wait_for("[...document.images].every((one) => one.complete && one.naturalWidth > 0)", LIMIT)
            .await?;
        let size = tab.evaluate("[document.body.offsetWidth, document.body.offsetHeight]").await?;
        let metrics =
            json!({ "width": size[0], "height": size[1], "deviceScaleFactor": SCALE, "mobile": false });
        tab.send("Emulation.setDeviceMetricsOverride", metrics).await?;
        painted(&tab).await;
        capture(&tab, json!({ "format": "png" })).await
    }
    .await;
    let closed = tab.close().await;
    let picture = picture?;
    closed?;
    to_front(&stage.form).await?;
    Ok(picture)
}

fn window(paper_title: &str) -> String {
    // The pictures are as large as they were shown; the browser scales them down again.
    let fit = "onload=\"this.width = this.naturalWidth / window.scale\"";
    format!(
        r##"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Browy demo</title><style>{CSS}</style><script>window.scale = {SCALE};</script></head>
<body><div class="window">
<div class="tabs"><div class="lights"><i></i><i></i><i></i></div>
<div class="tab"><i style="background:#12332f"></i><span>{paper} · {site}</span></div>
<div class="tab front"><i style="background:#3f51b5"></i><span>Submit a manuscript · {journal}</span></div></div>
<div class="address"><svg viewBox="0 0 16 16"><path d="M10 3 5 8l5 5"/></svg><svg viewBox="0 0 16 16"><path d="m6 3 5 5-5 5"/></svg><svg viewBox="0 0 16 16"><path d="M13 8a5 5 0 1 1-1.6-3.7M13 2.5v3h-3"/></svg><b>127.0.0.1/submit</b></div>
<div class="views"><img src="/page.png" {fit} alt=""><img src="/panel.png" {fit} alt=""></div>
</div></body></html>
"##,
        paper = escape(paper_title),
        site = paper::SITE,
        journal = form::JOURNAL,
    )
}
