//! Plays case files through the whole stack: the real browser, extension and host, with a fake CLI that hands
//! the tool calls over. `cargo test --test cases -- [DIR|FILE …]`, default `tests/cases`.

#![allow(clippy::print_stdout, reason = "the report is this program's purpose")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "test code outside test functions")]

mod bind;
mod case;
mod expect;
mod frames;
mod play;
mod stage;
#[path = "../it/support/mod.rs"]
mod support;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use case::{Case, Located};
use stage::Stage;

/// No case needs this long; one that does hangs.
const CASE_LIMIT: Duration = Duration::from_secs(300);

/// More browsers at once than this only wait for one another.
const MOST_LANES: usize = 3;

fn main() -> ExitCode {
    let mut roots: Vec<PathBuf> = std::env::args_os()
        .skip(1)
        .map(PathBuf::from)
        .filter(|arg| !arg.to_string_lossy().starts_with('-'))
        .collect();
    if roots.is_empty() {
        roots.push(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join("cases"));
    }
    let mut cases = Vec::new();
    for root in &roots {
        match case::find(root) {
            Ok(found) => cases.extend(found),
            Err(error) => {
                println!("cannot read {}: {error}", root.display());
                return ExitCode::from(2);
            }
        }
    }
    let lanes = match lanes() {
        Ok(lanes) => lanes.min(cases.len().max(1)),
        Err(error) => {
            println!("{error}");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (passed, failed) = runtime.block_on(run_all(cases, lanes));
    println!("{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How many browsers play at once: `BROWY_CASE_LANES`, else one more than processors, up to [`MOST_LANES`]: a case
/// often only waits.
fn lanes() -> Result<usize, String> {
    let Some(set) = std::env::var_os("BROWY_CASE_LANES") else {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        return Ok((processors + 1).min(MOST_LANES));
    };
    let number = set.to_str().and_then(|text| text.parse().ok()).filter(|lanes| (1..=16).contains(lanes));
    number.ok_or_else(|| "BROWY_CASE_LANES is a number from 1 to 16".to_owned())
}

/// A case that is over.
struct Played {
    index: usize,
    took: Duration,
    outcome: Result<(), String>,
}

/// Each lane takes the next case as soon as it is free; the lines come in the order of the cases all the same.
async fn run_all(cases: Vec<Located>, lanes: usize) -> (usize, usize) {
    let cases = Arc::new(cases);
    let next = Arc::new(AtomicUsize::new(0));
    let (over, mut played) = mpsc::unbounded_channel();
    let mut running = JoinSet::new();
    for _ in 0..lanes {
        running.spawn(lane(Arc::clone(&cases), Arc::clone(&next), over.clone()));
    }
    drop(over);
    let (mut passed, mut failed) = (0, 0);
    let mut waiting = BTreeMap::new();
    while let Some(done) = played.recv().await {
        waiting.insert(done.index, done);
        while let Some(done) = waiting.remove(&(passed + failed)) {
            if report(&cases[done.index], &done) {
                passed += 1;
            } else {
                failed += 1;
            }
        }
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
    (passed, failed)
}

/// One browser, in which case follows upon case.
async fn lane(cases: Arc<Vec<Located>>, next: Arc<AtomicUsize>, over: mpsc::UnboundedSender<Played>) {
    let mut shared: Option<Stage> = None;
    loop {
        let index = next.fetch_add(1, Ordering::Relaxed);
        let Some(located) = cases.get(index) else { break };
        let began = Instant::now();
        let outcome = match &located.case {
            Ok(case) => run_case(located, case, &mut shared).await,
            Err(error) => Err(format!("the case cannot be read: {error}")),
        };
        let _ = over.send(Played { index, took: began.elapsed(), outcome });
    }
    if let Some(stage) = shared {
        stage.close().await;
    }
}

/// Prints the line of a case; whether it passed.
fn report(located: &Located, played: &Played) -> bool {
    let seconds = played.took.as_secs_f64();
    let title = located.case.as_ref().map_or("", |case| &case.title);
    let Err(report) = &played.outcome else {
        println!("ok    {}  {title}  ({seconds:.1} s)", located.name);
        return true;
    };
    println!("FAIL  {}  {title}  ({seconds:.1} s)", located.name);
    report.lines().for_each(|line| println!("      {line}"));
    false
}

/// Plays a case in the shared browser, or in one of its own when it wants switches.
async fn run_case(located: &Located, case: &Case, shared: &mut Option<Stage>) -> Result<(), String> {
    if !case.flags.is_empty() {
        let stage = Stage::open(&case.flags).await?;
        let outcome = play_all(located, case, &stage).await;
        stage.close().await;
        return outcome;
    }
    let stage = match shared.take() {
        Some(stage) => stage,
        None => Stage::open(&[]).await?,
    };
    let outcome = play_all(located, case, &stage).await;
    // A browser that cannot be cleared would spoil the next case.
    if stage.clear().await {
        *shared = Some(stage);
    } else {
        stage.close().await;
    }
    outcome
}

async fn play_all(located: &Located, case: &Case, stage: &Stage) -> Result<(), String> {
    let mut bindings = bind::Bindings::default();
    let lists = [("steps", Some(&case.steps)), ("twin", case.twin.as_ref())];
    for (list, steps) in lists.into_iter().filter_map(|(list, steps)| Some((list, steps?))) {
        let play = play::play(located, case, stage, list, steps, &mut bindings);
        match tokio::time::timeout(CASE_LIMIT, play).await {
            Ok(outcome) => outcome.map_err(|report| format!("{report}{}", stage.log_when_asked()))?,
            Err(_) => return Err(format!("not over after {CASE_LIMIT:?}")),
        }
        if list == "steps" && case.twin.is_some() {
            stage.clear().await;
        }
    }
    Ok(())
}
