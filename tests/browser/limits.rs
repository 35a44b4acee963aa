//! What the browser's port does not survive unless the host keeps to its limits.

use crate::stage::Stage;

/// Chrome closes the port over one message of more than 1,048,576 bytes.
#[tokio::test]
async fn answer_longer_than_a_message_may_be_does_not_cost_the_port() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    let host = pids(&stage);
    panel.send("write a book").await;
    let turn = stage.cli.prompt("write a book").await.unwrap();
    // Characters of one, two and four bytes and escaped ones, so that the cut falls anywhere; lines of code,
    // because the panel takes its time with prose of this length.
    let book = format!("```\n{}```\nThe end.", "é😀 \"a\\\n".repeat(110_000));
    assert!(book.len() > 1_048_576);
    turn.end(&book);
    panel.shows(".msg.assistant", "The end.").await;
    panel.becomes("ready").await;
    panel.send("still there?").await;
    stage.cli.prompt("still there?").await.unwrap().end("still here");
    panel.shows(".msg.assistant", "still here").await;
    assert_eq!(pids(&stage), host, "the host was started anew");
    stage.close().await;
}

fn pids(stage: &Stage) -> Vec<i32> {
    stage.mark.hosts().iter().map(|host| host.pid).collect()
}
