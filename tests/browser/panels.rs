//! What a person sees in the side panel while the model works.

use browy::chromium::{Chromium, NativeHost};
use serde_json::json;
use tokio::io::AsyncWriteExt;

use crate::stage::{Panel, SOON, Stage};
use crate::support::chromium::{SECONDS, extension_folder, full_stack_options, host, options};
use crate::support::copilot::put_program;
use crate::support::fake_cli::{FakeCli, LIMIT};
use crate::support::page_server::{PageServer, Route};

#[tokio::test]
async fn two_panels_take_turns_and_each_gets_its_own_answer() {
    let stage = Stage::open().await;
    let (first, second) = (stage.ready_panel().await, stage.ready_panel().await);
    first.send("prompt canary-first").await;
    let turn = stage.cli.prompt("prompt canary-first").await.unwrap();
    first.becomes("working").await;
    second.send("prompt canary-second").await;
    second.becomes("queued").await;
    let place = second.page.evaluate("document.querySelector('.place').textContent").await.unwrap();
    assert!(place.as_str().unwrap().len() > 5, "a queued prompt says its place: {place}");
    turn.delta("m", "half an answer-first");
    first.shows(".msg.assistant", "half an answer-first").await;
    assert!(!stage.cli.has_prompt("canary-second"), "the second prompt went ahead of its turn");
    turn.end("whole answer-first");
    let next = stage.cli.prompt("prompt canary-second").await.unwrap();
    assert_ne!(turn.session_id, next.session_id);
    assert!(
        !next.text.contains("canary-first"),
        "one panel's prompt reached the other's chat: {}",
        next.text
    );
    next.end("whole answer-second");
    first.shows(".msg.assistant", "whole answer-first").await;
    second.shows(".msg.assistant", "whole answer-second").await;
    first.becomes("ready").await;
    second.becomes("ready").await;
    assert!(!first.log().await.contains("second"), "{}", first.log().await);
    assert!(!second.log().await.contains("first"), "{}", second.log().await);
    stage.close().await;
}

#[tokio::test]
async fn deltas_appear_one_by_one() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    panel.send("count").await;
    let turn = stage.cli.prompt("count").await.unwrap();
    turn.event("assistant.message_start", json!({ "messageId": "m" }));
    let mut whole = String::new();
    for word in ["one ", "two ", "three ", "four"] {
        turn.delta_with_id("m", word, &format!("event {word}"));
        // The CLI repeats events when its reader is slow.
        turn.delta_with_id("m", word, &format!("event {word}"));
        whole.push_str(word);
        panel.shows(".msg.assistant", whole.trim()).await;
    }
    turn.message("m", &whole);
    turn.end("");
    panel.becomes("ready").await;
    let answer =
        panel.page.evaluate("document.querySelector('.msg.assistant').textContent.trim()").await.unwrap();
    assert_eq!(answer, json!("one two three four"));
    stage.close().await;
}

#[tokio::test]
async fn stop_ends_the_turn_even_when_the_cli_does_not_answer() {
    let cli = FakeCli::listen().await;
    cli.silence("session.abort");
    let stage = Stage::open_with(cli).await;
    let panel = stage.ready_panel().await;
    panel.send("write a book").await;
    let turn = stage.cli.prompt("write a book").await.unwrap();
    turn.delta("m", "Chapter one");
    panel.shows(".msg.assistant", "Chapter one").await;
    panel.click("#stop").await;
    panel.wait_for("document.querySelector('#state').dataset.state === 'ready'", SECONDS(3)).await;
    assert_eq!(stage.cli.requests("session.abort").len(), 1);
    turn.delta("m", " and chapter two");
    panel.send("and now something short").await;
    let next = stage.cli.prompt("and now something short").await.unwrap();
    next.end("short");
    panel.shows(".msg.assistant", "short").await;
    assert!(!panel.log().await.contains("chapter two"), "what came after Stop is shown");
    stage.close().await;
}

#[tokio::test]
async fn chat_works_on_the_page_in_its_own_window() {
    let stage = Stage::open().await;
    let folder = tempfile::tempdir().unwrap();
    for name in ["heron", "otter"] {
        std::fs::write(folder.path().join(name), format!("<title>page {name}</title><h1>canary-{name}</h1>"))
            .unwrap();
    }
    let routes = ["heron", "otter"].map(|name| Route {
        path: format!("/{name}"),
        headers: [("content-type".to_owned(), "text/html".to_owned())].into(),
        body_file: Some(name.to_owned()),
        ..Route::default()
    });
    let server = PageServer::start(folder.path()).await;
    server.serve(folder.path(), routes.into());
    let first = stage.panel_beside(&server.url("heron")).await;
    let second = stage.panel_beside(&server.url("otter")).await;
    for (panel, own, other) in [(&first, "heron", "otter"), (&second, "otter", "heron")] {
        panel.becomes("ready").await;
        panel.send(&format!("read my page of {own}")).await;
        let turn = stage.cli.prompt(&format!("read my page of {own}")).await.unwrap();
        assert!(turn.text.contains(&format!("canary-{own}")), "{}", turn.text);
        let answer = turn.call("inspect_page", json!({}), LIMIT).await.unwrap();
        assert!(answer.text.contains(&format!("canary-{own}")), "{}", answer.text);
        for text in [&turn.text, &answer.text] {
            assert!(!text.contains(&format!("canary-{other}")), "the other window's page is in it: {text}");
        }
        panel.shows(".tool-row[data-tool=inspect_page][data-ok=true]", "").await;
        turn.end("read");
        panel.shows(".msg.assistant", "read").await;
        assert!(!panel.log().await.contains(&format!("canary-{other}")));
    }
    stage.close().await;
}

#[tokio::test]
async fn await_user_waits_for_the_person() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    panel.send("log in for me").await;
    let turn = stage.cli.prompt("log in for me").await.unwrap();
    let call = turn.start_call("await_user", json!({ "message": "Please sign in to the shop" }));
    panel.shows("#ask-card", "Please sign in to the shop").await;
    panel.becomes("waiting").await;
    panel.click("#ask-card [data-answer=done]").await;
    let answer = turn.answer_of(&call, LIMIT).await.unwrap();
    assert_eq!(answer.kind, "success", "{}", answer.text);
    panel.wait_for("document.querySelector('#ask-card') === null", SOON).await;
    turn.end("thanks");
    panel.shows(".msg.assistant", "thanks").await;
    stage.close().await;
}

#[tokio::test]
async fn failure_of_the_model_is_shown() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    panel.send("hello").await;
    let turn = stage.cli.prompt("hello").await.unwrap();
    turn.fail("query", "The model service is on holiday", Some(500));
    panel.shows(".msg.error", "on holiday").await;
    panel.becomes("ready").await;
    stage.close().await;
}

#[tokio::test]
async fn nobody_signed_in_is_said_before_a_prompt() {
    let cli = FakeCli::listen().await;
    cli.answer("auth.getStatus", json!({ "isAuthenticated": false, "statusMessage": "Not authenticated" }));
    let stage = Stage::open_with(cli).await;
    let panel = stage.panel().await;
    panel.becomes("unauth").await;
    // What a host without a screen has to say.
    panel.click("#notice [data-action=signIn]").await;
    panel.shows("#notice .machine", "browy login").await;
    stage.cli.answer("auth.getStatus", json!({ "isAuthenticated": true, "login": "octo" }));
    let data = stage.chromium.profile().join(".browy/data");
    std::fs::create_dir_all(&data).unwrap();
    std::fs::write(data.join("signed-in"), "").unwrap();
    panel.becomes("ready").await;
    stage.close().await;
}

#[tokio::test]
async fn panel_without_a_host_turns_ready_by_itself_once_it_is_registered() {
    let cli = FakeCli::listen().await;
    let mut options = options();
    options.extension = Some(extension_folder());
    options.env = cli.environment();
    let chromium = Chromium::launch(options).await.unwrap();
    let beside = chromium.browser().open_window("about:blank").await.unwrap();
    let panel = Panel { page: chromium.browser().open_side_panel(&beside).await.unwrap() };
    panel.becomes("missing").await;
    panel.shows("#notice", "./install/install.sh").await;
    panel.send("typed too early").await;
    host().register(chromium.profile()).unwrap();
    panel.wait_for("document.querySelector('#state').dataset.state !== 'missing'", SOON).await;
    // What was typed meanwhile goes on its way.
    let turn = cli.prompt("typed too early").await.unwrap();
    turn.end("better late");
    panel.shows(".msg.assistant", "better late").await;
    panel.becomes("ready").await;
    chromium.close().await;
}

#[tokio::test]
async fn host_that_takes_its_time_is_starting_and_not_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (script, gate) = (folder.path().join("host"), folder.path().join("gate"));
    rustix::fs::mkfifoat(rustix::fs::CWD, &gate, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    // Reads nothing from the browser until the test lets it.
    let program = env!("CARGO_BIN_EXE_browy");
    put_program(&script, &format!("read -r go <'{}'\nexec '{program}' \"$@\"", gate.display()));
    let cli = FakeCli::listen().await;
    let mut options = full_stack_options(&cli, &[]).unwrap();
    options.host = Some(NativeHost { path: script, ..host() });
    let chromium = Chromium::launch(options).await.unwrap();
    let beside = chromium.browser().open_window("about:blank").await.unwrap();
    let panel = Panel { page: chromium.browser().open_side_panel(&beside).await.unwrap() };
    panel.becomes("starting").await;
    // Opens when the script reads: the browser has started it.
    let opening = async { tokio::fs::OpenOptions::new().write(true).open(&gate).await };
    let mut opened = tokio::time::timeout(SOON, opening).await.unwrap().unwrap();
    panel.send("typed too early").await;
    panel.becomes("starting").await;
    assert!(!panel.text().await.contains("install"), "{}", panel.text().await);
    opened.write_all(b"go\n").await.unwrap();
    drop(opened);
    cli.prompt("typed too early").await.unwrap().end("better late");
    panel.shows(".msg.assistant", "better late").await;
    panel.becomes("ready").await;
    chromium.close().await;
}

#[tokio::test]
async fn result_of_a_step_is_one_line_until_the_step_is_opened() {
    let stage = Stage::open().await;
    let panel = stage.panel().await;
    let told = panel.page.evaluate(
        "import('/sidepanel/tool-rows.js').then(({ ToolRow }) =>
            ['filled 9 · total 9', '\\n<page_view>\\r\\n[1]<a>Home</a>\\n', 'long '.repeat(60), ''].map(summary => {
                const row = new ToolRow('fill_form', {});
                document.querySelector('#log').append(row.element);
                row.end(true, summary);
                const line = () => row.result.hidden ? null : row.result.textContent;
                const closed = line();
                row.toggle();
                const opened = [line(), row.detail.querySelector('pre')?.textContent ?? null];
                row.toggle();
                return [closed?.slice(0, 20) ?? null, ...opened, row.result.clientHeight <= 16 && line() === closed];
            }))",
    );
    let long = "long ".repeat(60);
    assert_eq!(
        told.await.unwrap(),
        json!([
            ["filled 9 · total 9", "filled 9 · total 9", null, true],
            ["<page_view>", null, "<page_view>\r\n[1]<a>Home</a>", true],
            [&long[..20], null, long.trim(), true],
            [null, null, null, true],
        ])
    );
    stage.close().await;
}

#[tokio::test]
async fn earlier_conversation_shows_its_pictures_and_what_its_tools_answered() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    let pixels = "document.createElement('canvas')";
    let drawn = format!(
        "(() => {{ const c = {pixels}; c.width = 240; c.height = 120; const g = c.getContext('2d'); \
         g.fillStyle = 'teal'; g.fillRect(0, 0, 240, 120); return c.toDataURL('image/png').split(',')[1]; }})()"
    );
    let png = panel.page.evaluate(&drawn).await.unwrap();
    let picture = json!({ "type": "blob", "mimeType": "image/png", "data": png });
    let large = json!({ "type": "image", "mimeType": "image/png", "data": "A".repeat(900 * 1024) });
    let event = |kind: &str, data: serde_json::Value| json!({ "type": kind, "data": data });
    let events = json!([
        event("user.message", json!({ "content": "What is on it?", "attachments": [picture] })),
        event("tool.execution_start", json!({ "toolCallId": "c", "toolName": "screenshot" })),
        event(
            "tool.execution_complete",
            json!({ "toolCallId": "c", "success": true, "result": {
            "content": r#"{"success":true,"url":"https://one.test/","width":240}"#,
            "binaryResultsForLlm": [picture, large],
        } })
        ),
        event("assistant.message", json!({ "messageId": "m", "content": "A teal field." })),
        event("user.message", json!({ "content": "", "attachments": [picture] })),
    ]);
    stage.cli.answer("sessions.readPersistedEvents", json!({ "events": events, "hasMore": false }));
    panel.page.send("Page.reload", json!({})).await.unwrap();
    panel.shows(".restored .msg.assistant", "A teal field.").await;
    panel.click(".restored .steps-summary").await;
    panel.shows(".restored .tool-row[data-ok=true] .tool-result", "https://one.test/").await;
    panel.click(".restored .tool-head").await;
    panel.shows(".restored .tool-detail .picture-left-out", "675 KB").await;
    panel.shows(".restored .tool-detail pre", r#""success":true"#).await;
    let loaded =
        "[...document.querySelectorAll('.restored img.picture')].filter((i) => i.naturalWidth === 240)";
    panel.wait_for(&format!("{loaded}.length === 3"), SOON).await;
    let alone = "document.querySelectorAll('.restored .msg.user')[1]";
    panel.wait_for(&format!("{alone}.children.length === 1"), SOON).await;
    panel.picture("earlier").await;
    stage.close().await;
}
