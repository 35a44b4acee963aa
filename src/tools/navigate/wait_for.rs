//! `wait_for`: time, an element, a text, an address, a quiet network.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::{ActError, Class, Condition, Presence, Refusal, Until};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec, by_name};

/// The longest wait of one call, ms.
const MOST_MS: u64 = 60_000;

/// How long a condition is waited for unless asked otherwise, ms.
const USUAL_MS: u64 = 10_000;

/// Bytes of a condition.
const LONGEST: usize = 4_000;

/// See [`Tool::SPEC`].
pub struct WaitFor;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Just wait this many ms, 60000 at most.
    ms: Option<u64>,
    /// Wait for an element that this CSS selector finds, in any frame or open shadow root.
    selector: Option<String>,
    /// Wait for a text that can be seen on the page.
    text: Option<String>,
    /// For selector and text: visible (when absent), gone, or attached (in the page, even if not drawn).
    state: Option<State>,
    /// Wait until the tab's address contains this.
    url_contains: Option<String>,
    /// true: wait until the page is loaded and none of its requests was open for 500 ms.
    network_idle: Option<bool>,
    /// Wait until this JavaScript is true in the page: an expression, or a function that gets arg. It may only look, and needs evaluate_js to be on.
    function: Option<String>,
    /// What function gets, as JSON or plain text.
    arg: Option<String>,
    /// true: wait until a dialog is open (alert, confirm, prompt, leave-page question, print, password).
    dialog: Option<bool>,
    /// true: wait until a download that this tab began is complete.
    download: Option<bool>,
    /// How long a condition is waited for, ms; 10000 when absent, 60000 at most.
    timeout_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum State {
    Visible,
    Attached,
    Gone,
}

impl Tool for WaitFor {
    const SPEC: ToolSpec = ToolSpec {
        name: "wait_for",
        title: "Wait",
        description: "Wait for a condition: selector, text, url_contains, network_idle, function, dialog or download; or for a time (ms). Give one of them; 60 s at most. Other tools already wait for what they cause, so call it only for what takes longer.",
        category: Category::Navigate,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(75),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(wait(cx, args).await)
    }
}

async fn wait(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let within = Duration::from_millis(args.timeout_ms.unwrap_or(USUAL_MS).min(MOST_MS));
    let mut words = Map::new();
    let presence = match args.state.unwrap_or(State::Visible) {
        State::Visible => Presence::Visible,
        State::Attached => Presence::Attached,
        State::Gone => Presence::Gone,
    };
    // The first of these that was given, in Browy's order.
    let until = if let Some(ms) = args.ms {
        let ms = ms.min(MOST_MS);
        words.insert("waited_ms".to_owned(), json!(ms));
        Until::Passed(Duration::from_millis(ms))
    } else if let Some(selector) = filled(args.selector) {
        words.insert("condition".to_owned(), json!("selector"));
        words.insert("selector".to_owned(), json!(selector));
        Until::Selector(selector, presence)
    } else if let Some(text) = filled(args.text) {
        words.insert("condition".to_owned(), json!("text"));
        words.insert("text".to_owned(), json!(text));
        Until::Text(text, presence)
    } else if let Some(part) = filled(args.url_contains) {
        words.insert("condition".to_owned(), json!("url_contains"));
        words.insert("url_contains".to_owned(), json!(part));
        Until::UrlContains(part)
    } else if args.network_idle == Some(true) {
        words.insert("condition".to_owned(), json!("network_idle"));
        Until::NetworkIdle
    } else if let Some(code) = filled(args.function) {
        words.insert("condition".to_owned(), json!("function"));
        Until::Function(condition(cx, code, args.arg)?)
    } else if args.dialog == Some(true) {
        words.insert("condition".to_owned(), json!("dialog"));
        Until::Dialog
    } else if args.download == Some(true) {
        words.insert("condition".to_owned(), json!("download"));
        Until::Download
    } else {
        return Err(Refusal::new(
            Class::BadArgument,
            "Say what to wait for: selector, text, url_contains, network_idle, function, dialog, download, or a \
             time in ms.",
        )
        .into());
    };
    let waited = cx.browser.wait_until(&cx.cancel, &until, within).await?;
    words.insert("elapsed_ms".to_owned(), json!(u64::try_from(waited.took.as_millis()).unwrap_or(u64::MAX)));
    words.extend(waited.found);
    Ok(words)
}

/// Code in the page is `evaluate_js`'s to run, whatever it is for.
fn condition(cx: &ToolCx, code: String, arg: Option<String>) -> Result<Condition, Refusal> {
    if !by_name("evaluate_js").is_some_and(|tool| cx.policy.allows(&tool.spec())) {
        return Err(Refusal::new(
            Class::NotAllowed,
            "evaluate_js is switched off, so `function` is too. Wait for a selector, a text or an address.",
        ));
    }
    if code.len() > LONGEST {
        return Err(Refusal::new(Class::BadArgument, format!("`function` is longer than {LONGEST} bytes.")));
    }
    let arg = arg.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or(Value::String(text)));
    Ok(Condition { code, arg })
}

fn filled(text: Option<String>) -> Option<String> {
    text.filter(|text| !text.trim().is_empty())
}
