//! Whatever a page does between the view and the end of a click: no event of the press gets as far as another
//! element, and a click that does not happen says why. `BROWY_MUTATIONS` says how many rounds (default 50),
//! `BROWY_SEED` repeats a run.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::cdp_wire::Stage;

/// Classes that tell why an element was not clicked.
const CLASSES: [&str; 7] =
    ["stale", "gone", "covered", "disabled", "hidden", "navigated", "blocked_by_dialog"];

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Rounds that once went wrong: an element of an open root was put elsewhere under the button, the control of a label
/// was taken out or drawn anew before the press, the release over another button of a closed root.
const ONCE_WRONG: [u64; 5] = [3_548_735_729, 1_526_058_634, 1_526_059_087, 1_526_059_298, 1_526_059_725];

/// The seeds of a run. Asked for a number of rounds it takes fresh ones; the default run is the same every time.
fn seeds() -> Vec<u64> {
    let fresh = || u64::from(u32::from_le_bytes(uuid::Uuid::new_v4().as_bytes()[..4].try_into().unwrap()));
    let (first, rounds) = match (number("BROWY_SEED"), number("BROWY_MUTATIONS")) {
        (Some(seed), rounds) => (seed, rounds.unwrap_or(50)),
        (None, Some(rounds)) => (fresh(), rounds),
        (None, None) => return ONCE_WRONG.into_iter().chain(1..=45).collect(),
    };
    (0..rounds).map(|at| first.wrapping_add(at)).collect()
}

/// One view, what the page does then, and one click.
///
/// # Errors
/// What went wrong, with the page's own record of it.
async fn round(stage: &Stage, seed: u64) -> Result<String, String> {
    let prepared = stage.eval(&format!("prepare({seed})")).await;
    let label = prepared["label"].as_str().unwrap();
    let index = stage.index(label).await;
    stage.eval("between()").await;
    if prepared["press"] == true {
        stage.before_press("pressed()");
    }
    let result = stage.json("click_index", json!({ "index": index })).await;
    let verdict = stage.eval("verdict()").await;
    judge(&result, &verdict).map_err(|why| format!("BROWY_SEED={seed}: {why}\n{result}\n{verdict}"))
}

fn judge(result: &Value, verdict: &Value) -> Result<String, String> {
    if verdict["wrong"].as_array().is_none_or(|wrong| !wrong.is_empty()) {
        return Err("an event reached another element".to_owned());
    }
    let clicks = verdict["clicks"].as_u64().unwrap_or_default();
    if result["success"] == true {
        let told = result["clicked"] == false;
        let log = verdict["log"].to_string();
        return match clicks {
            1 if !told => Ok("clicked".to_owned()),
            // It went away under the press, which may be the effect of the press.
            0 if told || log.contains("mousedown") || log.contains("pointerdown") => Ok("pressed".to_owned()),
            _ => Err(format!("a success with {clicks} clicks")),
        };
    }
    let class = result["class"].as_str().unwrap_or_default();
    if !CLASSES.contains(&class) || result["error"].as_str().is_none_or(str::is_empty) {
        return Err("a refusal that does not say why".to_owned());
    }
    if clicks > 0 {
        return Err(format!("a refusal with {clicks} clicks"));
    }
    Ok(class.to_owned())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_wrong_element_is_clicked_whatever_the_page_does() {
    let seeds = seeds();
    let rounds = seeds.len() as u64;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mutations");
    let stage = Stage::of_folder(folder, "page.html", &[]).await;
    let mut outcomes: BTreeMap<String, u32> = BTreeMap::new();
    let mut failures = Vec::new();
    for &seed in &seeds {
        match round(&stage, seed).await {
            Ok(outcome) => *outcomes.entry(outcome).or_default() += 1,
            Err(failure) => failures.push(failure),
        }
    }
    stage.close().await;
    println!("BROWY_SEED={}: {rounds} rounds, {outcomes:?}", seeds[0]);
    assert!(failures.is_empty(), "{} of {rounds} rounds:\n{}", failures.len(), failures.join("\n\n"));
    // A run in which everything is refused, or nothing, would prove little.
    if rounds >= 100 {
        let clicked = u64::from(*outcomes.get("clicked").unwrap_or(&0));
        assert!(clicked * 5 >= rounds && clicked * 20 <= rounds * 19, "{outcomes:?}");
    }
}
