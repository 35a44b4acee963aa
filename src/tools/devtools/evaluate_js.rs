//! `evaluate_js`: code of the model's own.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Map;

use crate::browser::text::clean_lines;
use crate::browser::{ActError, Class, Refusal, Script};
use crate::tools::answer::{answer, fenced};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct EvaluateJs;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The code.
    code: String,
    /// Number of an element in the newest page view that the code gets as `element`.
    index: Option<u32>,
    /// How long it may take, promises included, ms; 10000 when absent, 60000 at most.
    timeout_ms: Option<u64>,
}

/// How long code may take unless asked otherwise, ms.
const USUAL_MS: u64 = 10_000;

/// The longest that one call may ask for, ms.
const MOST_MS: u64 = 60_000;

/// Characters of one answer.
const LONGEST: usize = 6_000;

impl Tool for EvaluateJs {
    const SPEC: ToolSpec = ToolSpec {
        name: "evaluate_js",
        title: "Run JavaScript",
        description: "Run JavaScript in the page, as in its console: the value of the last expression is the result, `await` works, `return` too. With index, that element is `element`, and the code is one expression or has a `return`. For what no other tool does; acts of people are done by the other tools.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(75),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        match evaluate(cx, &args).await {
            Ok(text) => Ok(ToolOutput::text(shown(&text, &args))),
            Err(error) => answer(Err::<Map<_, _>, _>(error)),
        }
    }
}

async fn evaluate(cx: &ToolCx, args: &Args) -> Result<String, ActError> {
    if args.code.trim().is_empty() {
        return Err(Refusal::new(Class::BadArgument, "`code` is empty.").into());
    }
    let element = match args.index {
        Some(index) => Some(cx.browser.element(&cx.cancel, index).await?),
        None => None,
    };
    let within = Duration::from_millis(args.timeout_ms.unwrap_or(USUAL_MS).clamp(1, MOST_MS));
    cx.browser.run_script(&cx.cancel, Script { code: &args.code, within }, element.as_ref()).await
}

/// The page may have written anything into the value: it stands between tags that no page can write.
fn shown(text: &str, args: &Args) -> String {
    let total = text.chars().count();
    let head: String = text.chars().take(LONGEST).collect();
    let mut out = fenced("js_result", &clean_lines(&head));
    if total > LONGEST {
        out.push_str(&format!("\nThe first {LONGEST} of {total} characters; return less."));
    }
    if text == "undefined" && args.index.is_some() && !args.code.contains("return") {
        out.push_str("\nWith index, hand the value of several statements back with `return`.");
    }
    out
}
