//! Large and deep pages: everything is found, in one pass, and no text is cut inside a character.

use serde_json::json;
use unicode_segmentation::UnicodeSegmentation;

use crate::support::cdp_wire::Stage;

/// A page whose parts are made by a script, and how many elements it holds.
async fn stage(script: &str) -> Stage {
    Stage::open(&format!("<!doctype html><title>Scale</title><main></main><script>const main = document.querySelector('main');{script}</script>")).await
}

async fn whole_view(stage: &Stage) -> String {
    stage.call("inspect_page", json!({ "budget": 20_000 })).await.text
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deep_nesting_ten_frames_and_closed_roots_are_all_read() {
    let stage = stage(
        "let at = main;
         for (let level = 0; level < 2000; level++) at = at.appendChild(document.createElement('div'));
         at.innerHTML = '<button>At the bottom</button>';
         for (let n = 0; n < 10; n++) {
           const frame = main.appendChild(document.createElement('iframe'));
           frame.contentDocument.body.innerHTML = `<button>In frame ${n}.</button>`;
           main.appendChild(document.createElement('x-shut')).attachShadow({ mode: 'closed' }).innerHTML = `<button>In root ${n}.</button>`;
         }",
    )
    .await;
    let view = whole_view(&stage).await;
    assert!(view.contains("At the bottom"), "{view}");
    for n in 0..10 {
        assert!(
            view.contains(&format!("In frame {n}.")) && view.contains(&format!("In root {n}.")),
            "{view}"
        );
    }
    for label in ["At the bottom", "In frame 7.", "In root 7."] {
        let index = stage.index(label).await;
        let clicked = stage.json("click_index", json!({ "index": index })).await;
        assert_eq!(clicked["success"], true, "{label}: {clicked}");
    }
    stage.close().await;
}

/// Time depends on the machine; that nothing is looked at twice does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_fifty_thousand_elements_is_looked_at_once() {
    let stage = stage(
        "let html = '';
         for (let n = 0; n < 5000; n++) html += `<section><h3>${n}</h3><p>Words</p><ul><li>a</li><li>b</li></ul><a href=#${n}>Open</a><b><i>c</i></b><span>d</span></section>`;
         main.innerHTML = html;",
    )
    .await;
    let view = stage.call("inspect_page", json!({})).await.text;
    // `head` and what is in it are no part of what is shown, nor is the script.
    let shown = stage.eval("document.querySelectorAll('html, body, body *:not(script)').length").await;
    assert!(shown.as_u64().unwrap() >= 50_000, "{shown}");
    assert!(view.contains(&format!("elements={shown}\n")), "{shown} in {}", &view[..300]);
    stage.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn long_texts_are_cut_between_graphemes() {
    let parts = ["👩‍👩‍👧‍👦", "漢字", "🇩🇪", "が", "👋🏽", "한글", "1️⃣", "क्षि"];
    let text: String = parts.iter().cycle().take(20_000 / 9).copied().collect();
    assert!(text.len() >= 20_000, "{}", text.len());
    let stage = stage(&format!(
        "const text = {};
         main.innerHTML = '<h1></h1><button></button><input><p></p>';
         main.querySelector('h1').textContent = main.querySelector('button').textContent = main.querySelector('p').textContent = text;
         main.querySelector('input').value = text;",
        serde_json::to_string(&text).unwrap()
    ))
    .await;
    let whole: Vec<&str> = text.graphemes(true).collect();
    let view = whole_view(&stage).await;
    let read = stage.call("extract_text", json!({})).await.text;
    let mut cuts = 0;
    for line in view.lines().chain(read.lines()).filter(|line| line.contains(parts[0])) {
        let from = line.find(parts[0]).unwrap();
        let kept = line[from..].split(['…', '<', '"']).next().unwrap();
        let kept: Vec<&str> = kept.trim_end().graphemes(true).collect();
        assert_eq!(kept[..], whole[..kept.len()], "{line}");
        if kept.len() < whole.len() {
            let marked = kept.concat() + "…";
            // Names are keys as well and cut as they are; a text that goes on says so after it.
            let shown = line.contains("<input") || line.contains("<h1");
            assert!(!shown || line.contains(&marked), "the cut is not marked: {line}");
            cuts += 1;
        }
    }
    assert!(cuts >= 3, "{view}\n{read}");
    stage.close().await;
}
