//! The browser itself: starting, pages, the real side panel, ending.

use std::path::Path;

use browy::chromium::{Chromium, ChromiumError, EXTENSION_ID};
use serde_json::json;

use crate::support::chromium::{SECONDS, options, with_extension};
use crate::support::page_server::PageServer;

#[tokio::test]
async fn page_is_opened_evaluated_and_pictured() {
    let chromium = Chromium::launch(options()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.html"), "<title>{{port}}</title><p>hello</p>").unwrap();
    let server = PageServer::start(folder.path()).await;
    let page = chromium.browser().open(&server.url("a.html")).await.unwrap();
    assert_eq!(page.evaluate("document.title").await.unwrap(), json!(server.port().to_string()));
    assert_eq!(page.evaluate("new Promise(r => setTimeout(r, 1, 7))").await.unwrap(), json!(7));
    let thrown = page.evaluate("missing()").await.unwrap_err();
    assert!(thrown.to_string().contains("missing is not defined"), "{thrown}");
    let late = page.wait_for("document.title === 'never'", SECONDS(1)).await.unwrap_err();
    assert!(matches!(late, ChromiumError::NotInTime { .. }), "{late}");
    let picture = folder.path().join("a.png");
    page.screenshot(&picture).await.unwrap();
    assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG"));
    let profile = chromium.profile().to_owned();
    chromium.close().await;
    assert!(!profile.exists(), "the profile is left");
}

#[tokio::test]
async fn side_panel_opens_in_each_of_two_windows() {
    let chromium = with_extension().await;
    assert_eq!(chromium.extension_id(), Some(EXTENSION_ID));
    let first = chromium.browser().open_window("about:blank").await.unwrap();
    let second = chromium.browser().open_window("about:blank").await.unwrap();
    assert_ne!(first.window_id().await.unwrap(), second.window_id().await.unwrap());
    for page in [&first, &second] {
        let panel = chromium.browser().open_side_panel(page).await.unwrap();
        let window = panel.evaluate("chrome.windows.getCurrent().then(w => w.id)").await.unwrap();
        assert_eq!(window, json!(page.window_id().await.unwrap()));
        panel.wait_for("document.querySelector('#composer') !== null", SECONDS(5)).await.unwrap();
    }
    chromium.close().await;
}

#[tokio::test]
async fn browser_and_profile_end_with_their_owner() {
    let chromium = Chromium::launch(options()).await.unwrap();
    let pid = chromium.pid().unwrap();
    let profile = chromium.profile().to_owned();
    drop(chromium);
    assert!(!profile.exists());
    // A killed child may still be waiting to be reaped: it has no memory then.
    let status = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("statm"));
    assert!(status.is_err() || status.is_ok_and(|s| s.starts_with("0 ")), "the browser runs on");
}
