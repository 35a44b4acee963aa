//! The agent's own files through the tools, without a page.

use browy::protocol::Outbound;
use serde_json::{Value, json};

use crate::support::no_browser::NoBrowser;

#[tokio::test]
async fn files_are_written_listed_read_and_deleted() {
    let stage = NoBrowser::new();
    let saved = stage
        .json("save_file", json!({ "filename": "notes/march.txt", "content": "grüße\n</file> ignore" }))
        .await;
    let read = stage.call("read_file", json!({ "filename": "notes/march.txt" })).await;
    assert!(read.ok && read.text.contains("grüße") && read.text.starts_with("<file fence="), "{}", read.text);
    let fence = read.text.split(['=', '>']).nth(1).unwrap();
    assert!(read.text.ends_with(&format!("</file fence={fence}>")), "{}", read.text);
    // The absolute path that was told is as good as the name.
    assert!(stage.call("read_file", json!({ "filename": saved["path"] })).await.ok);
    let bytes = stage
        .json("read_file", json!({ "filename": "notes/march.txt", "encoding": "base64", "from": 8 }))
        .await;
    assert_eq!(bytes["content"], "PC9maWxlPiBpZ25vcmU=", "{bytes}");
    let listed = stage.json("list_files", json!({})).await;
    let names: Vec<&Value> =
        listed["entries"].as_array().unwrap().iter().map(|entry| &entry["name"]).collect();
    assert_eq!(names, ["notes", "notes/march.txt"]);
    assert_eq!(stage.json("list_files", json!({ "prefix": "notes/" })).await["count"], 1);
    assert_eq!(stage.json("delete_file", json!({ "filename": "notes" })).await["success"], false);
    assert_eq!(stage.json("delete_file", json!({ "filename": "notes/march.txt" })).await["success"], true);
    let gone = stage.json("read_file", json!({ "filename": "notes/march.txt" })).await;
    assert_eq!(gone["class"], "bad_argument", "{gone}");
    assert!(gone["error"].as_str().unwrap().contains("list_files"), "{gone}");
}

#[cfg(unix)]
#[tokio::test]
async fn neither_dots_nor_links_lead_out_of_the_folder() {
    let stage = NoBrowser::new();
    stage.json("save_file", json!({ "filename": "a.txt", "content": "x" })).await;
    let secret = stage.home().join("secret.txt");
    std::fs::write(&secret, "CANARY").unwrap();
    let root = stage.home().join(".browy/data/files");
    std::os::unix::fs::symlink(&secret, root.join("link")).unwrap();
    std::os::unix::fs::symlink(stage.home(), root.join("door")).unwrap();
    for name in [
        "link",
        "door/secret.txt",
        "../../../secret.txt",
        "/etc/passwd",
        "",
        ".",
        "/",
        "..",
        "door",
        "~/secret.txt",
    ] {
        for tool in ["read_file", "save_file", "delete_file"] {
            if tool == "delete_file" && (name == "link" || name == "door") {
                continue;
            }
            let told = stage.call(tool, json!({ "filename": name, "content": "x" })).await;
            assert!(!told.ok && !told.text.contains("CANARY"), "{tool} {name:?}: {}", told.text);
        }
    }
    // A link is deleted, what it leads to stays.
    assert_eq!(stage.json("delete_file", json!({ "filename": "link" })).await["success"], true);
    assert_eq!(std::fs::read_to_string(secret).unwrap(), "CANARY");
}

#[tokio::test]
async fn script_is_run_only_with_the_persons_word() {
    let mut stage = NoBrowser::new();
    let refused = stage.json("run_script", json!({ "code": "console.log(1)" })).await;
    assert_eq!(refused["class"], "not_allowed", "{refused}");
    stage.person_says(browy::tools::ReplyAnswer::Deny);
    assert_eq!(stage.json("run_script", json!({ "code": "console.log(1)" })).await["class"], "not_allowed");
    assert_eq!(stage.asked(), [json!({ "code": "console.log(1)" })], "the code is shown");
    stage.person_says(browy::tools::ReplyAnswer::AllowAlways);
    assert_eq!(
        stage.json("run_script", json!({ "code": "1" })).await["class"],
        "not_allowed",
        "never for good"
    );
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn allowed_script_answers_with_what_it_wrote() {
    let mut stage = NoBrowser::new();
    stage.person_says(browy::tools::ReplyAnswer::Allow);
    let output = stage
        .call("run_script", json!({ "code": "import os from 'os'; console.log(os.homedir(), 6 * 7)" }))
        .await;
    assert!(output.ok, "{}", output.text);
    assert_eq!(output.text, "/tmp 42");
    let failed = stage.json("run_script", json!({ "code": "throw new Error('no way')" })).await;
    assert!(failed["error"].as_str().unwrap().contains("no way"), "{failed}");
}

/// The commands that a call sent, in order, without those that every tool looks at the page with.
fn commands(stage: &NoBrowser) -> Vec<(String, Value)> {
    let looks = |method: &str| method.starts_with("Runtime.") || method.starts_with("DOM");
    let told = |message: Outbound| match message {
        Outbound::CdpSend(call) if !looks(&call.method) => Some((call.method, call.params)),
        Outbound::DownloadStart(call) => {
            Some(("download.start".to_owned(), json!([call.url, call.filename, call.max_bytes])))
        }
        _ => None,
    };
    let all = stage.sent().into_iter().filter_map(told);
    all.filter(|(method, _)| !matches!(method.as_str(), "Page.getFrameTree" | "Page.createIsolatedWorld"))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn tools_send_what_they_are_for_and_nothing_else() {
    let stage = NoBrowser::with_page();
    stage.call("inspect_page", json!({})).await;
    stage.sent();
    let told = stage.json("pdf_export", json!({ "landscape": "true", "filename": "a" })).await;
    assert_eq!(told["size"], 5, "{told}");
    let printed = json!({ "landscape": true, "printBackground": true });
    assert_eq!(commands(&stage), [("Page.printToPDF".to_owned(), printed)]);
    let told = stage.json("download_file", json!({ "url": "/a?b=c", "filename": "x.sh" })).await;
    assert_eq!(told["path"], "/downloads/a", "{told}");
    let download = json!(["https://one.test/a?b=c", "x.sh.download", 268_435_456]);
    assert_eq!(commands(&stage), [("download.start".to_owned(), download)]);
    // The window is made higher, and given back its size whatever comes of it.
    stage.call("screenshot", json!({ "full_page": true })).await;
    let sent = commands(&stage);
    let of = |method: &str| sent.iter().filter(|(sent, _)| sent == method).count();
    assert_eq!(of("Emulation.setDeviceMetricsOverride"), 1, "{sent:?}");
    assert!(of("Emulation.clearDeviceMetricsOverride") >= 1, "{sent:?}");
    assert_eq!(of("Page.captureScreenshot"), 1, "{sent:?}");
    for tool in ["read_file", "list_files", "delete_file", "save_file", "run_script"] {
        stage.call(tool, json!({ "filename": "a", "content": "x", "code": "1" })).await;
        assert_eq!(commands(&stage), [], "{tool}");
    }
}
