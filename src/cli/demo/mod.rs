//! `browy demo`: the whole chain on two pages that nobody has seen before.
//!
//! | module | what it is |
//! |---|---|
//! | `scenario`, `layout`, `topics`, `wording`, `rng` | paper and form of a seed, and what belongs into each field |
//! | `paper`, `form`, `pages`, `serve` | the two pages, served on loopback |
//! | `model` | the scripted model behind an OpenAI-compatible endpoint; knows no answers |
//! | `stage` | a temporary home, a browser with extension and host, the side panel |
//! | `play`, `timeline` | the sentence is typed; what the panel shows is told |
//! | `check`, `picture`, `report` | what the form really holds; the picture; what is printed |

mod check;
mod form;
mod kind;
mod layout;
mod model;
mod pages;
mod paper;
mod picture;
mod play;
mod report;
mod rng;
mod scenario;
mod serve;
mod stage;
mod timeline;
mod topics;
mod wording;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::Args;
use tokio::time::{Instant, timeout_at};

use crate::agent::copilot::{Environment, locate};
use crate::config::Config;
use crate::paths::Paths;

pub use check::{FieldVerdict, Verdict, check};
pub use kind::Kind;
pub use layout::{Answer, Control, Field};
pub use pages::serve as serve_pages;
pub use play::Report;
pub use scenario::Scenario;
pub use serve::Server;
pub use stage::Plan;
pub use timeline::{Moment, MomentKind};

use report::Output;
use stage::{Stage, package_cache};

/// Longest time from start to verdict.
pub const LIMIT: Duration = Duration::from_secs(180);
/// Exit code after Ctrl-C, as shells have it.
const INTERRUPTED: u8 = 130;
/// A browser that is kept open is waited for this long.
const KEEP_LIMIT: Duration = Duration::from_secs(12 * 60 * 60);

/// What `browy demo` takes.
#[derive(Debug, Clone, Args)]
pub struct DemoArgs {
    /// Picks the paper, the form's wording and the order of its fields
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Use your signed-in GitHub Copilot instead of the scripted model
    #[arg(long)]
    pub live: bool,
    /// Open no window (the default where there is no display)
    #[arg(long)]
    pub headless: bool,
    /// The browser to use; otherwise the first Chromium-family browser that is found
    #[arg(long, value_name = "PATH")]
    pub browser: Option<PathBuf>,
    /// Where the picture goes [default: ~/.browy/demo-N.png]
    #[arg(long, value_name = "FILE")]
    pub screenshot: Option<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    pub json: bool,
    /// Leave the browser open until you close it or press Ctrl-C
    #[arg(long)]
    pub keep: bool,
}

/// Plays the demo and prints what happens.
///
/// # Errors
/// When something that the demo needs is missing or fails; the error says what to do.
pub async fn run(args: DemoArgs) -> anyhow::Result<ExitCode> {
    let user = Paths::of_user()?;
    let config = Config::load(&user)?;
    let no_display = no_display();
    let screenshot = match &args.screenshot {
        Some(file) => std::path::absolute(file).with_context(|| format!("cannot use {}", file.display()))?,
        None => user.browy().join(format!("demo-{}.png", args.seed)),
    };
    let plan = Plan {
        seed: args.seed,
        live: args.live,
        headless: args.headless || no_display,
        browser: args.browser.clone(),
        host: std::env::current_exe().context("cannot find this program's own file")?,
        // As the host would find it in the person's own home.
        cli: locate(&Environment::of_process(), config.cli_path.as_deref(), &user)?.program,
        package_cache: package_cache(&user),
        copilot_home: std::env::var_os("COPILOT_HOME")
            .map_or_else(|| user.home().join(".copilot"), PathBuf::from),
        screenshot,
        limit: LIMIT,
        take_back: None,
    };
    let output = if args.json { Output::Json } else { Output::text() };
    output.beginning(&plan, no_display && !args.headless);
    let played = tokio::select! {
        played = act(&plan, args.keep, output) => played,
        () = interrupted() => {
            // Dropping the other branch has ended the browser, and with it the host and the CLI.
            eprintln!("browy demo: stopped");
            return Ok(ExitCode::from(INTERRUPTED));
        }
    };
    Ok(if played?.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Plays a plan without printing. The whole takes at most [`Plan::limit`] and the time to close.
///
/// # Errors
/// As [`run`].
pub async fn rehearse(plan: &Plan) -> anyhow::Result<Report> {
    act(plan, false, Output::Silent).await
}

async fn act(plan: &Plan, keep: bool, output: Output) -> anyhow::Result<Report> {
    let scenario = Scenario::new(plan.seed);
    let begun = Instant::now();
    let end = begun + plan.limit;
    let late = || format!("the demo took longer than {} s", plan.limit.as_secs());
    let mut stage = timeout_at(end, Stage::build(plan, &scenario)).await.with_context(late)??;
    output.ready(&stage, begun.elapsed());
    let played = timeout_at(end, play::play(plan, &scenario, &stage, |moment| output.moment(moment)));
    let played = match played.await {
        Ok(Ok(report)) => Ok(report),
        Ok(Err(error)) => Err(broken(&format!("{error:#}"), &stage)),
        Err(_) => Err(broken(&late(), &stage)),
    };
    if let Ok(report) = &played {
        output.end(report);
        output.whole(report)?;
        if keep {
            output.kept();
            stage.chromium.wait_ended(KEEP_LIMIT).await;
        }
    }
    stage.close().await;
    played
}

fn broken(why: &str, stage: &Stage) -> anyhow::Error {
    anyhow::anyhow!("{why}\nThe end of the browser's log:\n{}", stage.chromium.log_tail())
}

/// Whether a window could not be shown.
fn no_display() -> bool {
    let empty = |name: &str| std::env::var_os(name).is_none_or(|value| value.is_empty());
    cfg!(target_os = "linux") && empty("DISPLAY") && empty("WAYLAND_DISPLAY")
}

/// Ctrl-C, or a polite request to end.
async fn interrupted() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = tokio::signal::ctrl_c() => {}
                _ = terminate.recv() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
