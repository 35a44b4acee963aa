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

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use case::{Case, Located};
use stage::Stage;

/// No case needs this long; one that does hangs.
const CASE_LIMIT: Duration = Duration::from_secs(300);

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
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let (passed, failed) = runtime.block_on(run_all(&cases));
    println!("{passed} passed, {failed} failed");
    if failed == 0 && passed > 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

async fn run_all(cases: &[Located]) -> (usize, usize) {
    let (mut passed, mut failed) = (0, 0);
    let mut shared: Option<Stage> = None;
    for located in cases {
        let began = Instant::now();
        let outcome = match &located.case {
            Ok(case) => run_case(located, case, &mut shared).await,
            Err(error) => Err(format!("the case cannot be read: {error}")),
        };
        let seconds = began.elapsed().as_secs_f64();
        let title = located.case.as_ref().map_or("", |case| &case.title);
        match outcome {
            Ok(()) => {
                passed += 1;
                println!("ok    {}  {title}  ({seconds:.1} s)", located.name);
            }
            Err(report) => {
                failed += 1;
                println!("FAIL  {}  {title}  ({seconds:.1} s)", located.name);
                report.lines().for_each(|line| println!("      {line}"));
            }
        }
    }
    if let Some(stage) = shared {
        stage.close().await;
    }
    (passed, failed)
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
