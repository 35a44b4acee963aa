//! What ends, what goes on and what starts again when one of the parts ends.

use serde_json::json;

use crate::stage::{SOON, Stage};
use crate::support::chromium::{panel_ready, send_prompt};
use crate::support::fake_cli::{LIMIT, Turn};
use crate::support::page_server::PageServer;
use crate::support::processes::kill;

#[tokio::test]
async fn stopped_worker_ends_the_turn_and_the_panel_comes_back_with_one_host() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    panel.send("a long one").await;
    let turn = stage.cli.prompt("a long one").await.unwrap();
    turn.delta("m", "begun");
    panel.shows(".msg.assistant", "begun").await;
    let before = stage.mark.hosts();
    assert_eq!(before.len(), 1, "{before:?}");
    stage.stop_worker().await;
    panel.shows(".msg.error", "").await;
    panel.becomes("ready").await;
    let after = stage.mark.hosts();
    assert_eq!(after.len(), 1, "one host stays: {after:?}");
    assert_ne!(before[0].pid, after[0].pid);
    panel.send("once more").await;
    stage.cli.prompt("once more").await.unwrap().end("here");
    panel.shows(".msg.assistant", "here").await;
    stage.close().await;
}

#[tokio::test]
async fn closed_panel_ends_its_turn_and_lets_the_next_one_go() {
    let stage = Stage::open().await;
    let (first, second) = (stage.ready_panel().await, stage.ready_panel().await);
    first.send("mine first").await;
    let turn = stage.cli.prompt("mine first").await.unwrap();
    second.send("mine second").await;
    second.becomes("queued").await;
    first.page.close().await.unwrap();
    turn.aborted(LIMIT).await.unwrap();
    stage.cli.prompt("mine second").await.unwrap().end("yours");
    second.shows(".msg.assistant", "yours").await;
    stage.close().await;
}

#[tokio::test]
async fn cli_that_ends_in_a_turn_is_told_and_the_next_prompt_starts_another() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    panel.send("first words").await;
    let turn = stage.cli.prompt("first words").await.unwrap();
    stage.cli.exit(4);
    panel.shows(".msg.error", "").await;
    panel.send("second words").await;
    let next = stage.cli.prompt("second words").await.unwrap();
    assert_eq!(turn.session_id, next.session_id, "the chat goes on");
    assert_eq!(stage.cli.requests("session.resume").len(), 1, "the chat was opened anew instead of resumed");
    next.end("back again");
    panel.shows(".msg.assistant", "back again").await;
    stage.close().await;
}

#[tokio::test]
async fn killed_host_comes_back() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    let host = stage.mark.hosts();
    kill(host[0].pid);
    panel.wait_for("document.querySelector('#state').dataset.state !== 'ready'", SOON).await;
    panel.becomes("ready").await;
    panel.send("still there?").await;
    stage.cli.prompt("still there?").await.unwrap().end("yes");
    panel.shows(".msg.assistant", "yes").await;
    stage.close().await;
}

#[tokio::test]
async fn frames_of_other_extensions_are_put_back_when_the_debugger_leaves() {
    let folder = tempfile::tempdir().unwrap();
    // Not installed: its frame holds an error page, which the browser guards just the same.
    let page = "<title>p</title><h1>Parcel</h1>
        <iframe src='chrome-extension://bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb/panel.html' title=Coupons></iframe>";
    std::fs::write(folder.path().join("p.html"), page).unwrap();
    let server = PageServer::start(folder.path()).await;
    let stage = Stage::open().await;
    let beside = stage.chromium.browser().open_window(&server.url("p.html")).await.unwrap();
    let panel = stage.chromium.browser().open_side_panel(&beside).await.unwrap();
    panel_ready(&panel).await.unwrap();
    send_prompt(&panel, "what is there?").await.unwrap();
    let turn = stage.cli.prompt("what is there?").await.unwrap();
    let seen = turn.answer_of(&turn.start_call("inspect_page", json!({})), LIMIT).await.unwrap();
    assert!(seen.text.contains("Parcel") && seen.text.contains("Coupons"), "{}", seen.text);
    beside.wait_for("frames[0].location.href === 'about:blank'", SOON).await.unwrap();
    panel.close().await.unwrap();
    let guarded = "(() => { try { return !frames[0].location.href; } catch { return true; } })()";
    beside.wait_for(guarded, SOON).await.unwrap();
    stage.close().await;
}

#[tokio::test]
async fn page_is_shown_again_only_when_it_changed_or_the_model_may_have_lost_it() {
    let folder = tempfile::tempdir().unwrap();
    let page = "<!doctype html><title>p</title><h1>Parcel</h1><button>Track</button>";
    std::fs::write(folder.path().join("p.html"), page).unwrap();
    let server = PageServer::start(folder.path()).await;
    let stage = Stage::open().await;
    let beside = stage.chromium.browser().open_window(&server.url("p.html")).await.unwrap();
    let panel = stage.chromium.browser().open_side_panel(&beside).await.unwrap();
    panel_ready(&panel).await.unwrap();
    let ask = async |words: &str| {
        send_prompt(&panel, words).await.unwrap();
        stage.cli.prompt(words).await.unwrap()
    };
    // The words are in the panel only when the turn has ended.
    let end = async |turn: Turn, words: &str| {
        turn.end(words);
        let done = format!(
            "document.querySelector('#state').dataset.state === 'ready' && document.body.innerText.includes('{words}')"
        );
        panel.wait_for(&done, SOON).await.unwrap();
    };
    let whole = |turn: &Turn| turn.text.contains("<button>Track</button>");
    let left_out = |turn: &Turn| !whole(turn) && turn.text.contains("Same as the last page view above");

    let turn = ask("first question").await;
    assert!(whole(&turn), "{}", turn.text);
    end(turn, "one answer").await;
    let turn = ask("second question").await;
    assert!(left_out(&turn), "{}", turn.text);
    end(turn, "two answers").await;

    beside.evaluate("document.querySelector('h1').outerHTML += '<button>Call back</button>'").await.unwrap();
    let turn = ask("third question").await;
    assert!(whole(&turn) && turn.text.contains("Call back"), "{}", turn.text);
    turn.event("session.compaction_start", json!({}));
    end(turn, "three answers").await;
    let turn = ask("fourth question").await;
    assert!(whole(&turn), "summed up, and not shown again: {}", turn.text);
    turn.fail("query", "no", None);
    panel.wait_for("document.querySelector('#state').dataset.state === 'ready'", SOON).await.unwrap();
    let turn = ask("fifth question").await;
    assert!(whole(&turn), "after a turn that failed: {}", turn.text);
    end(turn, "five answers").await;

    stage.cli.exit(4);
    panel.wait_for("document.querySelector('#state').dataset.state === 'error'", SOON).await.unwrap();
    let turn = ask("sixth question").await;
    assert!(whole(&turn), "a CLI that died may have lost it: {}", turn.text);
    end(turn, "six answers").await;
    stage.close().await;
}
