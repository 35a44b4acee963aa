//! The browser itself: starting, pages, the real side panel, ending.

use std::path::Path;

use browy::chromium::{Chromium, ChromiumError, EXTENSION_ID};
use serde_json::json;

use crate::support::chromium::{SECONDS, extension_folder, options, with_extension};
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

/// What the browser has against the unpacked extension in `folder`: errors of its manifest and of its code.
async fn complaints(folder: &Path) -> Vec<String> {
    let mut options = options();
    options.extension = Some(folder.to_owned());
    let chromium = Chromium::launch(options).await.unwrap();
    let page = chromium.browser().open_window("chrome://extensions").await.unwrap();
    let there = "typeof chrome?.developerPrivate?.getExtensionsInfo === 'function'";
    page.wait_for(there, SECONDS(20)).await.unwrap();
    let found = page
        .evaluate(
            "chrome.developerPrivate.updateProfileConfiguration({ inDeveloperMode: true })
               .then(() => chrome.developerPrivate.getExtensionsInfo())
               .then(all => all.filter(one => one.location === 'UNPACKED')
                 .map(one => [one.id, ...one.manifestErrors, ...one.runtimeErrors, ...one.runtimeWarnings].map(x => x.message ?? x)))",
        )
        .await
        .unwrap();
    chromium.close().await;
    let [one] = &found.as_array().unwrap()[..] else { panic!("{found}") };
    one.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn browser_has_nothing_against_the_extension() {
    assert_eq!(complaints(&extension_folder()).await, [EXTENSION_ID]);
    // It is asked rightly: a wrong one is found out.
    let folder = tempfile::tempdir().unwrap();
    let manifest = json!({
        "manifest_version": 3, "name": "x", "version": "1", "no_such_key": true, "permissions": ["no_such_permission"],
    });
    std::fs::write(folder.path().join("manifest.json"), manifest.to_string()).unwrap();
    let found = complaints(folder.path()).await;
    assert!(found.iter().any(|text| text.contains("no_such_permission")), "{found:?}");
}
