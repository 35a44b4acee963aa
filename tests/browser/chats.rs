//! The drawer of chats: found, opened with their whole transcript, renamed, deleted, taken back.

use serde_json::{Value, json};

use crate::stage::{Panel, SOON, Stage};
use crate::support::fake_cli::LIMIT;

async fn says(stage: &Stage, panel: &Panel, words: &str) {
    panel.send(words).await;
    stage.cli.prompt(words).await.unwrap().end("answered");
    panel.becomes("ready").await;
}

async fn titles(panel: &Panel) -> Value {
    let titles = "[...document.querySelectorAll('.chat-title')].map((title) => title.textContent)";
    panel.page.evaluate(titles).await.unwrap()
}

async fn press(panel: &Panel, selector: &str, key: &str) {
    let press = format!(
        "document.querySelector('{selector}').dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
    );
    panel.page.evaluate_as_person(&press).await.unwrap();
}

/// A picture and a text file, as a paste brings them.
const PASTE: &str = "(async () => {
    const canvas = new OffscreenCanvas(40, 30);
    canvas.getContext('2d').fillRect(0, 0, 40, 30);
    const files = new DataTransfer();
    files.items.add(new File([await canvas.convertToBlob({ type: 'image/png' })], 'plan.png', { type: 'image/png' }));
    files.items.add(new File(['one line'], 'list.txt', { type: 'text/plain' }));
    files.items.add(new File([new Uint8Array([0, 1, 255])], 'program.bin'));
    const paste = new ClipboardEvent('paste', { clipboardData: files, bubbles: true, cancelable: true });
    document.querySelector('#composer').dispatchEvent(paste);
})()";

#[tokio::test]
async fn pasted_files_go_with_the_message_and_what_is_no_text_is_told() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    panel.page.evaluate(PASTE).await.unwrap();
    panel.wait_for("document.querySelectorAll('.chip').length === 2", SOON).await;
    panel.shows(".note", "program.bin is neither").await;
    panel.picture("attachments").await;
    panel.click("#send").await;
    let turn = stage.cli.prompt("one line").await.unwrap();
    assert!(turn.text.contains("list.txt"), "{}", turn.text);
    let sent = &stage.cli.requests("session.send")[0]["attachments"];
    assert_eq!((sent.as_array().unwrap().len(), &sent[0]["mimeType"]), (1, &json!("image/png")));
    turn.end("seen");
    panel.becomes("ready").await;
    panel.shows(".msg.user", "list.txt").await;
    panel.wait_for("document.querySelector('.msg.user img.picture').naturalWidth === 40", SOON).await;
    assert_eq!(panel.page.evaluate("document.querySelectorAll('.chip').length").await.unwrap(), 0);
    // One can be taken out again.
    panel.page.evaluate(PASTE).await.unwrap();
    panel.click(".chip-remove").await;
    panel.wait_for("document.querySelectorAll('.chip').length === 1", SOON).await;
    stage.close().await;
}

#[tokio::test]
async fn chats_are_found_opened_renamed_deleted_and_taken_back() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    says(&stage, &panel, "about herons").await;
    panel.click("#new-chat").await;
    panel.becomes("ready").await;
    says(&stage, &panel, "about otters").await;

    panel.click("#open-chats").await;
    panel.shows(".chat-title", "about herons").await;
    assert_eq!(titles(&panel).await, json!(["about otters", "about herons"]), "newest first");
    panel.shows(".current .chat-about", "this one").await;
    panel.picture("chats").await;
    let search = |words: &str| {
        format!(
            "{{ const field = document.querySelector('#chats-search'); field.value = '{words}'; field.dispatchEvent(new Event('input')); }}"
        )
    };
    panel.page.evaluate(&search("HERON")).await.unwrap();
    assert_eq!(titles(&panel).await, json!(["about herons"]));
    panel.page.evaluate(&search("walrus")).await.unwrap();
    panel.shows("#chats-state", "No chat has these words").await;
    panel.page.evaluate(&search("")).await.unwrap();

    panel.click(".chats-list li:not(.current) .icon:nth-of-type(2)").await;
    panel.page.evaluate("document.querySelector('.chats-list input').value = 'Grey birds'").await.unwrap();
    press(&panel, ".chats-list input", "Enter").await;
    panel.shows(".chat-title", "Grey birds").await;

    panel.click(".chats-list .current .icon:last-of-type").await;
    panel.shows("#chats-gone", "about otters").await;
    assert_eq!(titles(&panel).await, json!(["Grey birds"]));
    panel.click("#chats-undo").await;
    assert_eq!(titles(&panel).await, json!(["about otters", "Grey birds"]), "taken back");
    panel.click(".chats-list .current .icon:last-of-type").await;
    panel.click("#chats-close").await;
    panel.shows("#title", "New chat").await;
    let deleted = |event: &Value| event["frame"]["method"] == "session.delete";
    stage.cli.wait_for("the chat is deleted", LIMIT, deleted).await.unwrap();

    // Two hundred lines come at first, the others when they are asked for.
    let line =
        |number: usize| json!({ "type": "user.message", "data": { "content": format!("line {number}.") } });
    let events: Vec<_> = (0..230).map(line).collect();
    stage.cli.answer("sessions.readPersistedEvents", json!({ "events": events, "hasMore": false }));
    panel.click("#open-chats").await;
    panel.click(".chat-open").await;
    panel.shows("#title", "Grey birds").await;
    panel.shows(".restored", "line 229.").await;
    assert!(!panel.log().await.contains("line 29."));
    panel.click(".earlier").await;
    panel.shows(".restored", "line 0.").await;
    let lines = "[...document.querySelectorAll('.restored .words')].map((line) => line.textContent)";
    let shown = panel.page.evaluate(lines).await.unwrap();
    let all: Vec<String> = (0..230).map(|number| format!("line {number}.")).collect();
    assert_eq!(shown, json!(all), "each line once, in order");
    assert_eq!(panel.page.evaluate("document.querySelectorAll('.earlier').length").await.unwrap(), 0);
    says(&stage, &panel, "and now?").await;
    stage.close().await;
}
