//! `get_event_listeners`: what listens on one element.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::{ActError, Class, Listener, Refusal};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct GetEventListeners;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the element in the newest page view.
    index: Option<u32>,
    /// Instead of index: CSS selector; of several the only one that is shown.
    selector: Option<String>,
}

impl Tool for GetEventListeners {
    const SPEC: ToolSpec = ToolSpec {
        name: "get_event_listeners",
        title: "Event listeners",
        description: "List what listens on one element itself: type, whether it captures, is passive, runs once, and where its code stands. Listeners of its ancestors are not among them.",
        category: Category::Inspect,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(listeners(cx, &args).await)
    }
}

async fn listeners(cx: &ToolCx, args: &Args) -> Result<Map<String, Value>, ActError> {
    let element = match (args.index, &args.selector) {
        (Some(index), None) => cx.browser.element(&cx.cancel, index).await?,
        (None, Some(selector)) => cx.browser.find_one(&cx.cancel, selector, false, "this tool").await?,
        _ => return Err(Refusal::new(Class::BadArgument, "Give `index` or `selector`.").into()),
    };
    let found = cx.browser.listeners(&cx.cancel, &element).await?;
    let mut words = Map::new();
    words.insert("element".to_owned(), json!(element.fingerprint.describe()));
    words.insert("count".to_owned(), json!(found.len()));
    words.insert("listeners".to_owned(), found.iter().take(100).map(line).collect());
    Ok(words)
}

/// `click passive once (script#12:3:5)`.
fn line(listener: &Listener) -> String {
    let mut line = listener.r#type.chars().take(60).collect::<String>();
    for (is, word) in
        [(listener.use_capture, "capture"), (listener.passive, "passive"), (listener.once, "once")]
    {
        if is {
            line.push(' ');
            line.push_str(word);
        }
    }
    let (script, at, column) = (&listener.script_id, listener.line_number + 1, listener.column_number + 1);
    format!("{line} (script#{script}:{at}:{column})")
}
