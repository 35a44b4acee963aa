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
    // Characters of one, two and four bytes and escaped ones, so that the cut falls anywhere.
    let book = format!("{}The end.", "é😀 \"a\\\n".repeat(110_000));
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

/// The panel is one thread: while it puts much on the page at once, it neither scrolls nor takes a key. What it puts
/// there is counted, since how long that takes depends on the machine.
#[tokio::test]
async fn panel_stays_usable_while_a_long_paragraph_is_written() {
    const SENTENCE: &str =
        "The *quick* brown fox, see `code` and **bold**, jumps over [a dog](https://dog.example/) again. ";
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    for (name, length) in [("short book", 100_000), ("long book", 1_300_000)] {
        let sentences = length / SENTENCE.len();
        let last = format!("The end of the {name}.");
        let text = format!("{}{last}", SENTENCE.repeat(sentences));
        panel.page.evaluate(WATCH).await.unwrap();
        panel.send(name).await;
        let turn = stage.cli.prompt(name).await.unwrap();
        for (at, piece) in text.as_bytes().chunks(2_000).enumerate() {
            turn.delta("m", std::str::from_utf8(piece).unwrap());
            if at % 100 == 10 {
                panel.shows(".turn:last-child .msg.assistant", "brown fox").await;
            }
        }
        turn.message("m", &text);
        turn.end("");
        panel.shows(".turn:last-child .msg.assistant:not(.streaming)", &last).await;
        panel.becomes("ready").await;
        let count = panel.page.evaluate("({ ...watched, bold: bold() })").await.unwrap();
        let number = |name: &str| count[name].as_f64().unwrap_or(f64::MAX);
        assert!(number("most") < 40_000.0, "{name}: {count}");
        assert!(number("all") < 6.0 * length as f64, "{name}: {count}");
        assert!(number("longest") < 3_000.0, "{name}: {count}");
        // Where the paragraph was cut, no more than a mark may be lost.
        assert!(number("bold") >= sentences as f64 * 0.98, "{name}: {count}, {sentences} sentences");
    }
    stage.close().await;
}

/// Counts from now on what is put on the page: the characters of one task at `most` and of `all`, and the longest
/// task in ms.
const WATCH: &str = "{
    window.watching?.forEach(each => each.disconnect());
    window.watched = { most: 0, all: 0, longest: 0 };
    window.bold = () => document.querySelectorAll('.turn:last-child .msg.assistant strong').length;
    const placed = new MutationObserver(records => {
        const nodes = new Set(records.flatMap(record => [...record.addedNodes]));
        const size = [...nodes].reduce((sum, node) => sum + node.textContent.length, 0);
        watched.all += size;
        watched.most = Math.max(watched.most, size);
    });
    placed.observe(document.body, { subtree: true, childList: true });
    const tasks = new PerformanceObserver(list => {
        for (const { duration } of list.getEntries()) watched.longest = Math.max(watched.longest, duration);
    });
    tasks.observe({ type: 'longtask' });
    window.watching = [placed, tasks];
    }";

/// What is too long for one block goes on in another of its kind, and nothing is lost.
#[tokio::test]
async fn long_blocks_keep_their_kind() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    let told = panel.page.evaluate(include_str!("long_blocks.js")).await.unwrap();
    assert_eq!(
        told,
        serde_json::json!({
            "code": [1, true, "it"], "openCode": [1, true], "items": 2_000, "numbered": true, "rows": 1_500, "head": "name",
            "word": 50_000, "short": true,
        }),
    );
    stage.close().await;
}

/// A page can dictate such text: what the agent does after it must stay visible, and the turn must end.
#[tokio::test]
async fn text_that_breaks_the_parser_hides_nothing() {
    let stage = Stage::open().await;
    let panel = stage.ready_panel().await;
    for (name, hostile) in [("quotes", ">".repeat(5_000)), ("lists", "- ".repeat(3_000))] {
        panel.send(name).await;
        let turn = stage.cli.prompt(name).await.unwrap();
        turn.delta("m", &hostile);
        turn.start_call("list_tabs", serde_json::json!({}));
        panel.shows(".turn:last-child .tool-row[data-tool=list_tabs]", "").await;
        turn.end("The last word.");
        panel.shows(".turn:last-child .msg.assistant", "The last word.").await;
        panel.becomes("ready").await;
    }
    stage.close().await;
}

fn pids(stage: &Stage) -> Vec<i32> {
    stage.mark.hosts().iter().map(|host| host.pid).collect()
}
