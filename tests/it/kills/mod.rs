//! Kill −9 of the host or the CLI, and the end of the browser, at random moments of a turn: a second later no process
//! of ours is left, whatever was acknowledged is there, and the next turn works. One home is kept through all of it.
//! Every process carries a mark in its environment; `BROWY_KILLS` says how many kills of each (default 50),
//! `BROWY_SEED` repeats a run.

mod story;

use std::time::Duration;

use browy::chromium::Chromium;
use serde_json::json;

use crate::support::beside::Beside;
use crate::support::chromium::{full_stack_options, panel_ready, send_prompt};
use crate::support::dice::{Dice, count, seed};
use crate::support::fake_cli::{FakeCli, LIMIT};
use crate::support::host::Host;
use crate::support::processes::{Mark, kill};
use story::{Plan, Story};

/// How soon everything must be gone.
const GONE: Duration = Duration::from_secs(1);

/// Turns of the fake model last about half as long, so that some kills come right after them.
const TURN: Duration = Duration::from_millis(60);

/// What a start and a turn take.
const START: Duration = Duration::from_millis(200);

fn kills() -> u64 {
    count("BROWY_KILLS", 50)
}

/// How a host ends.
#[derive(Clone, Copy, PartialEq)]
enum Death {
    Killed,
    /// Its browser is closed or killed.
    EndOfInput,
}

/// A host whose CLI has a child, and now and then ignores every polite request.
async fn host(story: &mut Story) -> (Host, Beside) {
    let cli = FakeCli::listen().await;
    cli.with_child();
    if story.dice.next(3) == 0 {
        cli.stubborn();
    }
    let mut host = Host::start_in(story.home.clone(), cli);
    let browser = Beside::of(&mut host);
    (host, browser)
}

/// The next turn after whatever came before, then one that is cut off with its host.
async fn cut_off_with_the_host(story: &mut Story, death: Death) -> Result<(), String> {
    let (mut host, mut browser) = host(story).await;
    browser.opens("sp-first");
    story.whole_turn(&mut browser, &host.cli.clone()).await?;
    let left = story.leftovers();
    if !left.is_empty() {
        return Err(format!("half-written files stay after a save: {left:?}"));
    }
    let plan = story.next_turn();
    let moment = if story.dice.next(8) == 0 {
        // This one has a start in it.
        end(&mut host, &mut browser, Death::EndOfInput).await?;
        (host, browser) = self::host(story).await;
        browser.opens(&plan.chat);
        story.moment(START)
    } else {
        browser.starts(&plan.chat);
        story.moment(TURN)
    };
    browser.prompts(&plan.chat, &plan.turn, &plan.words);
    let cli = host.cli.clone();
    let _ = tokio::time::timeout(moment, async {
        Story::doomed_turn(&plan, &cli).await?;
        browser.ending(&plan.turn).await
    })
    .await;
    let what = format!(
        "{} after {moment:?} of {}",
        if death == Death::Killed { "killed" } else { "left" },
        plan.turn
    );
    end(&mut host, &mut browser, death).await.map_err(|why| format!("{what}: {why}"))?;
    story.cut(plan, &browser, &cli);
    Ok(())
}

/// Ends the host, hears its last words, and waits until nothing of it is left.
async fn end(host: &mut Host, browser: &mut Beside, death: Death) -> Result<(), String> {
    match death {
        Death::Killed => kill(host.pid()),
        Death::EndOfInput => browser.closes(),
    }
    let ended = tokio::time::timeout(GONE, host.child.wait()).await;
    ended.map_err(|_| "the host goes on after the end of its input")?.map_err(|error| error.to_string())?;
    browser.rest().await;
    gone(&host.mark, "afterwards").await?;
    // What the CLI said before its end is all here when its end is.
    if !host.cli.pids().is_empty() {
        host.cli.wait_for("the end of the CLI", LIMIT, |event| event["event"] == "gone").await?;
    }
    Ok(())
}

/// A CLI and the process that it started.
#[derive(Debug, Clone, Copy)]
struct Pair {
    cli: i32,
    child: i32,
}

impl Pair {
    /// The newest that told of itself since the last [`FakeCli::forget`].
    async fn newest(cli: &FakeCli) -> Result<Self, String> {
        cli.wait_for("its child", LIMIT, |event| event["event"] == "spawned").await?;
        let last = |kind: &str| {
            let events = cli.events();
            let pid = events.iter().rev().find(|event| event["event"] == kind)?["pid"].as_i64()?;
            i32::try_from(pid).ok()
        };
        Ok(Self { cli: last("hello").ok_or("no CLI")?, child: last("spawned").ok_or("no child")? })
    }

    /// Waits until both are gone, though the host lives.
    async fn dies(self, host: &Host) -> Result<(), String> {
        let end = tokio::time::Instant::now() + GONE;
        loop {
            let mut living = host.mark.living();
            living.retain(|marked| [self.cli, self.child].contains(&marked.pid));
            if living.is_empty() {
                return Ok(());
            }
            if tokio::time::Instant::now() > end {
                return Err(format!("left {living:#?}"));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// Plays the model's part, and goes on for ever.
async fn play(plan: &Plan, cli: &FakeCli) {
    let _ = Story::doomed_turn(plan, cli).await;
    std::future::pending().await
}

/// Kills the CLI under a host that lives: in a turn, at rest, or while it starts. Gives the next CLI.
async fn cut_off_with_the_cli(
    story: &mut Story,
    host: &Host,
    browser: &mut Beside,
    old: Pair,
) -> Result<Pair, String> {
    let cli = host.cli.clone();
    cli.forget();
    let how = story.dice.next(8);
    if how == 0 {
        // At rest: the next turn does not even notice.
        kill(old.cli);
        story.whole_turn(browser, &cli).await.map_err(|why| format!("killed at rest: {why}"))?;
        old.dies(host).await?;
        return Pair::newest(&cli).await;
    }
    let plan = story.next_turn();
    browser.starts(&plan.chat);
    let moment = story.moment(TURN);
    if how == 1 {
        kill(old.cli);
        browser.prompts(&plan.chat, &plan.turn, &plan.words);
        // The prompt may have met the dying one.
        tokio::select! {
            () = cli.started(1) => {
                let _ = tokio::time::timeout(moment / 2, play(&plan, &cli)).await;
                kill(i32::try_from(cli.pids()[0]).unwrap());
            }
            _ = browser.ending(&plan.turn) => {}
        }
    } else {
        browser.prompts(&plan.chat, &plan.turn, &plan.words);
        let _ = tokio::time::timeout(moment, play(&plan, &cli)).await;
        kill(old.cli);
    }
    let what =
        format!("{} after {moment:?} of {}", if how == 1 { "start killed" } else { "killed" }, plan.turn);
    old.dies(host).await.map_err(|why| format!("{what}: {why}"))?;
    // A prompt that came just before the kill gets the next CLI.
    let ending = tokio::select! {
        ending = browser.ending(&plan.turn) => ending.map_err(|why| format!("{what}: {why}"))?,
        () = play(&plan, &cli) => unreachable!(),
    };
    let prompts = cli.events().iter().filter(|event| event["event"] == "prompt").count();
    if prompts > 1 {
        return Err(format!("{what}: the prompt was given {prompts} times"));
    }
    story.cut(plan.clone(), browser, &cli);
    match ending["code"].as_str() {
        None => {}
        Some("interrupted") => story.torn = Some(plan.chat),
        Some("cli_failed") if how == 1 => {}
        _ => return Err(format!("{what}: {ending}")),
    }
    story.whole_turn(browser, &cli).await.map_err(|why| format!("{what}: {why}"))?;
    Pair::newest(&cli).await
}

async fn gone(mark: &Mark, what: &str) -> Result<(), String> {
    let gone = mark.all_gone(GONE).await;
    gone.map_err(|left| {
        left.iter().for_each(|marked| kill(marked.pid));
        format!("{what}: left {left:#?}")
    })
}

/// Without this the others would pass on processes they do not see.
#[tokio::test]
async fn mark_reaches_the_host_the_cli_and_what_the_cli_starts() {
    let cli = FakeCli::listen().await;
    cli.with_child();
    let mut host = Host::start_with(cli);
    Pair::newest(&host.cli).await.unwrap();
    for program in ["browy", "fake-copilot", "sleep"] {
        assert_eq!(host.mark.running(program).len(), 1, "{program}: {:#?}", host.mark.living());
    }
    host.close();
    host.child.wait().await.unwrap();
    gone(&host.mark, "end of input").await.unwrap();
}

/// Plays `rounds` kills of hosts in one home, and a last turn after them.
async fn hosts_end(death: Death, rounds: u64) {
    let seed = seed();
    let mut story = Story::begin(Dice(seed));
    for round in 0..rounds {
        let outcome = cut_off_with_the_host(&mut story, death).await;
        outcome.unwrap_or_else(|why| panic!("BROWY_SEED={seed}, round {round} of {rounds}: {why}"));
    }
    let (mut host, mut browser) = host(&mut story).await;
    browser.opens("sp-first");
    let last = story.whole_turn(&mut browser, &host.cli.clone()).await;
    last.unwrap_or_else(|why| panic!("BROWY_SEED={seed}, after {rounds} rounds: {why}"));
    end(&mut host, &mut browser, Death::EndOfInput).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_hosts_leave_nothing_lose_nothing_and_the_next_turn_works() {
    hosts_end(Death::Killed, kills()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn browsers_that_end_in_a_turn_leave_nothing_lose_nothing_and_the_next_turn_works() {
    hosts_end(Death::EndOfInput, (kills() / 5).max(1)).await;
}

fn open_files(host: &Host) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", host.pid())).unwrap().count()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn killed_clis_leave_nothing_lose_nothing_and_the_next_turn_works() {
    let seed = seed();
    let mut story = Story::begin(Dice(seed));
    let (mut host, mut browser) = host(&mut story).await;
    browser.opens("sp-first");
    // Until its first turn the CLI is not at rest but starting.
    story.whole_turn(&mut browser, &host.cli.clone()).await.unwrap();
    let mut pair = Pair::newest(&host.cli).await.unwrap();
    let mut held_then = None;
    for round in 0..kills() {
        if round == 5 {
            held_then = Some(open_files(&host));
        }
        let outcome = cut_off_with_the_cli(&mut story, &host, &mut browser, pair).await;
        pair = outcome.unwrap_or_else(|why| panic!("BROWY_SEED={seed}, round {round} of {}: {why}", kills()));
        browser.told.clear();
    }
    assert!(matches!(host.child.try_wait(), Ok(None)), "BROWY_SEED={seed}: the host ended too");
    // A CLI leaves nothing in the host either.
    if let Some(then) = held_then {
        let end = tokio::time::Instant::now() + LIMIT;
        while open_files(&host) > then && tokio::time::Instant::now() < end {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        assert!(
            open_files(&host) <= then,
            "BROWY_SEED={seed}: {then} open files, then {}",
            open_files(&host)
        );
    }
    end(&mut host, &mut browser, Death::EndOfInput).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_after_a_killed_browser() {
    let seed = seed();
    let mut dice = Dice(seed);
    let mut failures = Vec::new();
    // A browser takes ten times as long as a host: one for twenty-five.
    let rounds = (kills() / 25).max(1);
    for _ in 0..rounds {
        let (cli, mark) = (FakeCli::listen().await, Mark::new());
        cli.with_child();
        let mut options = full_stack_options(&cli, &[]).unwrap();
        options.env.push((Mark::NAME.into(), Some(mark.value().into())));
        let chromium = Chromium::launch(options).await.unwrap();
        let beside = chromium.browser().open_window("about:blank").await.unwrap();
        let panel = chromium.browser().open_side_panel(&beside).await.unwrap();
        panel_ready(&panel).await.unwrap();
        send_prompt(&panel, "work on").await.unwrap();
        let moment = Duration::from_micros(dice.next(300_000));
        if let Ok(Ok(turn)) =
            tokio::time::timeout(moment.max(Duration::from_millis(1)), cli.prompt("work on")).await
        {
            turn.start_call("inspect_page", json!({}));
        }
        kill(i32::try_from(chromium.pid().unwrap()).unwrap());
        // Chromium's own helpers are not ours to judge; ours are the host, its guard, the CLI and its child.
        let ours =
            |command: &str| ["browy ", "fake-copilot", "sleep 600"].iter().any(|name| command.contains(name));
        let end = tokio::time::Instant::now() + GONE;
        loop {
            let left: Vec<_> = mark.living().into_iter().filter(|marked| ours(&marked.command)).collect();
            if left.is_empty() {
                break;
            }
            if tokio::time::Instant::now() > end {
                failures.push(format!("browser killed after {moment:?}: left {left:#?}"));
                left.iter().for_each(|marked| kill(marked.pid));
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop(chromium);
    }
    assert!(failures.is_empty(), "BROWY_SEED={seed}: {failures:#?}");
}

/// The real CLI, when the run has one (`COPILOT_CLI_PATH`, which `tests/run` sets).
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_the_real_cli_after_a_killed_host() {
    let path =
        std::env::var_os("COPILOT_CLI_PATH").expect("COPILOT_CLI_PATH names the real CLI; tests/run sets it");
    let mut dice = Dice(seed());
    for _ in 0..(kills() / 25).max(1) {
        let variables = [
            ("COPILOT_CLI_PATH".into(), Some(path.clone())),
            ("COPILOT_GITHUB_TOKEN".into(), None),
            ("GH_TOKEN".into(), None),
            ("GITHUB_TOKEN".into(), None),
        ];
        let mut host = Host::start_with_variables(&variables).await;
        host.hello().await;
        host.send(json!({ "type": "session.start", "sessionId": "sp-kill", "capabilities": [] })).await;
        let ready = tokio::time::timeout(LIMIT, host.wait_for("sdk.ready"));
        if dice.next(2) == 0 {
            ready.await.expect("the real CLI starts");
        } else {
            let moment = Duration::from_millis(dice.next(1500));
            let _ = tokio::time::timeout(moment, ready).await;
        }
        kill(host.pid());
        host.child.wait().await.unwrap();
        gone(&host.mark, "real CLI, host killed").await.unwrap();
    }
}
