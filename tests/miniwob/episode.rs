//! One browser, and an episode of each task in it.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::play::{Play, Played};
use crate::support::cdp_wire::Stage;
use crate::table::{TASKS, Way};

/// The `html` folder of the unpacked wheel.
pub fn pages() -> PathBuf {
    let folder = std::env::var_os("BROWY_MINIWOB_PAGES").expect("`tests/run miniwob` gets the pages");
    PathBuf::from(folder)
}

/// The stage's address of a task page.
fn address(stage: &Stage, task: &str) -> String {
    stage.server.url(&format!("miniwob/{task}.html"))
}

/// Opens a task's page and begins an episode with this seed.
async fn begin(stage: &Stage, task: &str, seed: u32) -> Result<(), String> {
    let told = stage.call("navigate", json!({ "url": address(stage, task), "new_tab": false })).await;
    if !told.ok {
        return Err(told.text);
    }
    let start = format!(
        "core.EPISODE_MAX_TIME = 600000; Math.seedrandom('browy-{seed}'); core.cover_div.click(); WOB_TASK_READY"
    );
    stage.eval(&start).await;
    Ok(())
}

/// What the page itself says of the episode: the reward, when it is over.
async fn reward(stage: &Stage) -> Option<f64> {
    let state = stage.eval("[WOB_DONE_GLOBAL, WOB_RAW_REWARD_GLOBAL]").await;
    (state[0] == Value::Bool(true)).then(|| state[1].as_f64()).flatten()
}

async fn episode(stage: &Stage, task: &str, way: &Way, seed: u32) -> Played {
    let Way::Solved(oracle) = way else { return Ok(()) };
    begin(stage, task, seed).await?;
    let played = oracle(Play::new(stage)).await;
    let reward = reward(stage).await;
    match (played, reward) {
        (_, Some(reward)) if reward > 0.0 => Ok(()),
        (Err(why), _) => Err(why),
        (Ok(()), Some(reward)) => Err(format!("the reward is {reward}")),
        (Ok(()), None) => {
            let view = stage.call("inspect_page", json!({})).await.text;
            Err(format!("the episode goes on; the page is\n{view}"))
        }
    }
}

/// Tasks of the environment, or all.
fn wanted(task: &str) -> bool {
    std::env::var("BROWY_MINIWOB_TASKS").map_or(true, |names| names.split(',').any(|name| name == task))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_are_solved_through_the_tools() {
    let seeds: u32 = std::env::var("BROWY_MINIWOB").map_or(1, |count| count.parse().unwrap());
    let stage = Stage::of_folder(pages(), "miniwob/click-test.html", &[]).await;
    let mut failed = Vec::new();
    for (task, way) in TASKS {
        if !wanted(task) {
            continue;
        }
        if std::env::var_os("BROWY_MINIWOB_DUMP").is_some() {
            begin(&stage, task, 1).await.unwrap();
            let query = stage.call("extract_text", json!({ "selector": "#query" })).await.text;
            let view = stage.call("inspect_page", json!({ "budget": 2500 })).await.text;
            println!("##### {task}\n{query}\n{view}");
            continue;
        }
        for seed in 1..=seeds {
            let began = std::time::Instant::now();
            let played = episode(&stage, task, way, seed).await;
            println!("{task} {seed}: {} ms", began.elapsed().as_millis());
            if let Err(why) = played {
                println!("{task} {seed}: FAILED: {why}");
                failed.push(format!("{task} with seed {seed}: {why}"));
            }
        }
    }
    stage.close().await;
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n\n"));
}

#[test]
fn every_page_is_in_the_table_once() {
    let mut pages: Vec<String> = std::fs::read_dir(pages().join("miniwob"))
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().file_name().to_str()?.strip_suffix(".html")?.to_owned()))
        .collect();
    pages.sort();
    let listed: Vec<&str> = TASKS.iter().map(|(task, _)| *task).collect();
    assert_eq!(listed, pages);
}

#[test]
fn at_least_ninety_are_solved_and_the_others_are_told_with_reasons() {
    let docs = include_str!("../../docs/testing.md");
    let mut solved = 0;
    for (task, way) in TASKS {
        match way {
            Way::Solved(_) => solved += 1,
            Way::Unsolved(why) => {
                let line =
                    docs.lines().find(|line| line.starts_with("- ") && line.contains(&format!("`{task}`")));
                assert!(line.is_some_and(|line| line.contains(why)), "docs/testing.md lacks {task}: {why}");
            }
        }
    }
    assert!(solved >= 90, "{solved} are solved");
    assert!(
        docs.contains(&format!("{solved} of its {} pages", TASKS.len())),
        "docs/testing.md: {solved} are solved"
    );
}
