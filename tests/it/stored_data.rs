//! What Browy keeps is shown to the person and deleted when they say so, and nothing else is.

use browy::data::files::Files;
use browy::data::notes::Notes;
use browy::paths::Paths;
use serde_json::{Value, json};

use crate::support::fake_panel::FakeBrowser;
use crate::support::world::World;

async fn ask(browser: &mut FakeBrowser, mut request: Value) -> Value {
    let wanted = format!("{}.result", request["type"].as_str().unwrap());
    request["requestId"] = json!("r");
    browser.send(request);
    let kind = |message: &_| serde_json::to_value(message).unwrap()["type"] == wanted;
    let answer = serde_json::to_value(browser.until(kind).await).unwrap();
    assert_eq!(answer["requestId"], "r");
    answer
}

#[tokio::test]
async fn notes_and_files_are_shown_and_deleted_one_by_one() {
    let mut world = World::new();
    let paths = Paths::below(world.home.path());
    let note =
        |value: &str| serde_json::from_value(json!({ "value": value, "origin": "https://a.test" })).unwrap();
    Notes::below(&paths).set("first", note("one")).unwrap();
    Notes::below(&paths).set("second", note("two")).unwrap();
    Files::below(&paths).save("folder/kept.txt", b"kept").unwrap();
    Files::below(&paths).save("gone.txt", b"gone").unwrap();
    let outside = world.home.path().join("outside.txt");
    std::fs::write(&outside, "outside").unwrap();

    let mut browser = world.browser().await;
    let listed = ask(&mut browser, json!({ "type": "data.list" })).await;
    let value = |key: &str| {
        listed["notes"].as_array().unwrap().iter().find(|note| note["key"] == key).unwrap().clone()
    };
    assert_eq!(
        (&value("first")["value"], &value("first")["origin"]),
        (&json!("one"), &json!("https://a.test"))
    );
    assert!(value("second")["updated"].as_u64() > Some(1_600_000_000_000));
    let files: Vec<_> =
        listed["files"].as_array().unwrap().iter().map(|file| file["name"].as_str().unwrap()).collect();
    assert_eq!(files, ["folder/kept.txt", "gone.txt"]);
    assert_eq!((&listed["more"], listed.get("error")), (&json!(false), None));

    let delete = |kind: &str, name: &str| json!({ "type": "data.delete", "kind": kind, "name": name });
    assert_eq!(ask(&mut browser, delete("note", "first")).await["ok"], true);
    assert_eq!(ask(&mut browser, delete("note", "first")).await["ok"], true, "it is as wanted");
    assert_eq!(ask(&mut browser, delete("file", "gone.txt")).await["ok"], true);
    for name in ["../../outside.txt", outside.to_str().unwrap(), "", ".", "nowhere.txt"] {
        let refused = ask(&mut browser, delete("file", name)).await;
        assert!(refused["ok"] == false && refused["error"].as_str().unwrap().len() > 5, "{refused}");
    }
    assert!(outside.exists());
    let listed = ask(&mut browser, json!({ "type": "data.list" })).await;
    assert_eq!(listed["notes"].as_array().unwrap().len(), 1);
    assert_eq!(listed["files"][0]["name"], "folder/kept.txt");
}

#[tokio::test]
async fn what_cannot_be_read_is_said_beside_what_can() {
    let mut world = World::new();
    let paths = Paths::below(world.home.path());
    Files::below(&paths).save("there.txt", b"there").unwrap();
    std::fs::create_dir_all(paths.data().join("notes.json")).unwrap();
    let mut browser = world.browser().await;
    let listed = ask(&mut browser, json!({ "type": "data.list" })).await;
    assert!(listed["error"].as_str().unwrap().contains("notes"), "{listed}");
    assert_eq!(listed["files"][0]["name"], "there.txt");
}

#[tokio::test]
async fn tools_of_the_cli_are_listed_with_ours_and_are_off() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    let tools = |answer: &Value| answer["tools"].as_array().unwrap().clone();
    let listed = tools(&ask(&mut browser, json!({ "type": "tools.list" })).await);
    let bash = listed.iter().find(|tool| tool["name"] == "bash").unwrap();
    assert_eq!((&bash["category"], &bash["enabled"]), (&json!("cli"), &json!(false)));
    assert!(!listed.iter().any(|tool| tool["name"] == "sql"), "what can never be on is not offered");
    browser.send(json!({
        "type": "session.start", "sessionId": "sp-1", "capabilities": [], "enabledHostTools": ["bash"],
    }));
    let listed = tools(&ask(&mut browser, json!({ "type": "tools.list", "sessionId": "sp-1" })).await);
    let on: Vec<_> =
        listed.iter().filter(|tool| tool["category"] == "cli" && tool["enabled"] == true).collect();
    assert_eq!(on.len(), 1);
}
