//! The demo from Enter to the verdict.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Context;
use serde::Serialize;
use serde_json::json;
use tokio::time::Instant;

use super::check::{Verdict, check};
use super::picture;
use super::scenario::Scenario;
use super::stage::{Plan, Stage};
use super::timeline::{Moment, watch};
use crate::chromium::Page;

/// What is typed into the side panel.
pub const SENTENCE: &str =
    "Fill in the submission form in the other tab from this paper, but don't submit it.";

/// The result of one demo.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Everything is filled in, and nothing was submitted.
    pub ok: bool,
    /// The seed.
    pub seed: u64,
    /// `scripted` or `live`.
    pub model: &'static str,
    /// From Enter to the last word, in milliseconds.
    pub took_ms: u64,
    /// The steps.
    pub timeline: Vec<Moment>,
    /// The agent's last words.
    pub answer: String,
    /// Why the turn failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the form holds.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Where the picture is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub screenshot: Option<PathBuf>,
}

/// Types the sentence, waits for the agent, checks the form and takes the picture.
///
/// # Errors
/// When the browser fails; a form that is not filled is no error but a report that says so.
pub async fn play(
    plan: &Plan,
    scenario: &Scenario,
    stage: &Stage,
    mut tell: impl FnMut(&Moment),
) -> anyhow::Result<Report> {
    type_sentence(&stage.panel).await.context("cannot type into the side panel")?;
    let start = Instant::now();
    stage.panel.press_enter().await?;
    let mut timeline = Vec::new();
    let ended = watch(&stage.panel, start, |moment| {
        tell(&moment);
        timeline.push(moment);
    })
    .await?;
    let verdict = check(&stage.form, scenario).await.context("cannot read the form")?;
    let picture = picture::take(stage, &scenario.paper.title, &plan.screenshot).await;
    // The verdict stands without a picture.
    let screenshot = match picture {
        Ok(()) => Some(plan.screenshot.clone()),
        Err(error) => {
            tracing::warn!(error = format!("{error:#}"), "no picture");
            None
        }
    };
    Ok(Report {
        ok: verdict.passed() && ended.error.is_none(),
        seed: plan.seed,
        model: if plan.live { "live" } else { "scripted" },
        took_ms: u64::try_from(ended.took.as_millis()).unwrap_or(u64::MAX),
        timeline,
        answer: ended.answer,
        error: ended.error,
        verdict,
        screenshot,
    })
}

/// With real key events, one for each character.
async fn type_sentence(panel: &Page) -> anyhow::Result<()> {
    panel.evaluate("document.querySelector('#composer').focus()").await?;
    for character in SENTENCE.chars() {
        let text = character.to_string();
        panel.send("Input.dispatchKeyEvent", json!({ "type": "keyDown", "key": text, "text": text })).await?;
        panel.send("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": text })).await?;
    }
    let typed = format!("document.querySelector('#composer').value === {}", json!(SENTENCE));
    panel.wait_for(&typed, Duration::from_secs(5)).await?;
    Ok(())
}
