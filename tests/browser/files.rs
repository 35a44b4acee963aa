//! Files for pages through an extension as a store installs it: without access to file addresses.

use browy::chromium::EXTENSION_ID;
use serde_json::{Value, json};

use crate::stage::{SOON, Stage};
use crate::support::chromium::panel_ready;
use crate::support::page_server::{PageServer, Route};

const PAGE: &str = "<!doctype html><title>Files</title><label>Paper <input id=box type=file></label>
    <div id=zone role=button tabindex=0 style='width:200px;height:50px;border:1px dashed'>Drop it here</div>
    <script>var got = [];
    box.onchange = async () => got.push('field ' + await box.files[0].text());
    zone.ondragover = e => e.preventDefault();
    zone.ondrop = async e => { e.preventDefault(); got.push('zone ' + await e.dataTransfer.files[0].text()); };</script>";

#[tokio::test]
async fn extension_without_access_to_files_gives_them_all_the_same() {
    let stage = Stage::open().await;
    let browser = stage.chromium.browser();
    let settings = browser.open("chrome://extensions").await.unwrap();
    settings
        .wait_for("typeof chrome?.developerPrivate?.updateExtensionConfiguration === 'function'", SOON)
        .await
        .unwrap();
    let off = format!(
        "chrome.developerPrivate.updateProfileConfiguration({{ inDeveloperMode: true }})
          .then(() => chrome.developerPrivate.updateExtensionConfiguration({{ extensionId: '{EXTENSION_ID}', fileAccess: false }}))
          .then(() => null)"
    );
    settings.evaluate(&off).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let server = PageServer::start(folder.path()).await;
    server.serve(
        folder.path(),
        vec![
            serde_json::from_value::<Route>(
                json!({ "path": "/", "headers": { "Content-Type": "text/html" }, "body": PAGE }),
            )
            .unwrap(),
        ],
    );
    let page = browser.open_window(&server.url("")).await.unwrap();
    page.wait_for("typeof got === 'object'", SOON).await.unwrap();
    let panel = browser.open_side_panel(&page).await.unwrap();
    panel_ready(&panel).await.unwrap();
    let allowed = panel
        .evaluate("new Promise(done => chrome.extension.isAllowedFileSchemeAccess(done))")
        .await
        .unwrap();
    assert_eq!(allowed, false, "the extension still has access to files");
    crate::support::chromium::send_prompt(&panel, "give it away").await.unwrap();
    let turn = stage.cli.prompt("give it away").await.unwrap();
    let call = async |tool: &str, args: Value| {
        let id = turn.start_call(tool, args);
        turn.answer_of(&id, SOON).await.unwrap().text
    };
    let saved = call("save_file", json!({ "filename": "paper.txt", "content": "paper for you" })).await;
    let saved: Value = serde_json::from_str(&saved).unwrap();
    for (selector, via) in [("#box", "field"), ("#zone", "drop")] {
        let given = call("upload_file", json!({ "selector": selector, "path": saved["path"] })).await;
        let given: Value = serde_json::from_str(&given).unwrap();
        assert_eq!((&given["success"], &given["via"]), (&json!(true), &json!(via)), "{given}");
    }
    page.wait_for("got.length === 2", SOON).await.unwrap();
    assert_eq!(page.evaluate("got.join()").await.unwrap(), "field paper for you,zone paper for you");
    turn.end("given");
    stage.close().await;
}

#[tokio::test]
async fn download_file_saves_what_the_server_gives_and_says_where() {
    let stage = Stage::open().await;
    let browser = stage.chromium.browser();
    let folder = tempfile::tempdir().unwrap();
    let server = PageServer::start(folder.path()).await;
    let route = |path: &str, headers: Value, body: &str| {
        serde_json::from_value::<Route>(json!({ "path": path, "headers": headers, "body": body })).unwrap()
    };
    server.serve(
        folder.path(),
        vec![
            route("/", json!({ "Content-Type": "text/html" }), PAGE),
            route("/export", json!({ "Content-Type": "text/csv", "Content-Disposition": "attachment; filename=\"../../figures.csv\"" }), "jan 10"),
            route("/tool", json!({ "Content-Type": "application/octet-stream" }), "MZ"),
        ],
    );
    let page = browser.open_window(&server.url("")).await.unwrap();
    page.wait_for("typeof got === 'object'", SOON).await.unwrap();
    let panel = browser.open_side_panel(&page).await.unwrap();
    panel_ready(&panel).await.unwrap();
    crate::support::chromium::send_prompt(&panel, "fetch it").await.unwrap();
    let turn = stage.cli.prompt("fetch it").await.unwrap();
    let call = async |tool: &str, args: Value| -> Value {
        let id = turn.start_call(tool, args);
        serde_json::from_str(&turn.answer_of(&id, SOON).await.unwrap().text).unwrap()
    };
    let downloads = stage.chromium.downloads();
    // The server's name, the model's name, and one that is taken.
    for (args, name) in [
        (json!({ "url": "/export" }), "figures.csv"),
        (json!({ "url": server.url("export"), "filename": "mine.csv" }), "mine.csv"),
        (json!({ "url": "/export", "filename": "mine.csv" }), "mine (1).csv"),
        (json!({ "url": "/tool", "filename": "tool.sh" }), "tool.sh.download"),
    ] {
        let told = call("download_file", args.clone()).await;
        let path =
            std::path::PathBuf::from(told["path"].as_str().unwrap_or_else(|| panic!("{args}: {told}")));
        // What leads elsewhere in the server's name is made harmless by the browser.
        assert!(
            path.parent() == Some(&*downloads) && told["path"].as_str().unwrap().ends_with(name),
            "{args}: {told}"
        );
        assert!(std::fs::read(&path).unwrap() == b"jan 10" || name.starts_with("tool"), "{args}");
    }
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data:text/plain,x",
        "blob:http://127.0.0.1/x",
        "chrome://version",
    ] {
        assert_eq!(call("download_file", json!({ "url": url })).await["class"], "not_allowed", "{url}");
    }
    let refused = call("download_file", json!({ "url": "/export", "filename": "../x.csv" })).await;
    assert_eq!(refused["class"], "bad_argument", "{refused}");
    assert_eq!(std::fs::read_dir(&downloads).unwrap().count(), 4);
    // What the tool downloaded may be given to a page without asking.
    let given = call("upload_file", json!({ "selector": "#box", "path": downloads.join("mine.csv") })).await;
    assert_eq!(given["success"], true, "{given}");
    page.wait_for("got.join() === 'field jan 10'", SOON).await.unwrap();
    turn.end("fetched");
    stage.close().await;
}
