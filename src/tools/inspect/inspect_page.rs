//! `inspect_page`: the page as a numbered list.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::fenced;
use crate::browser::{DEFAULT_BUDGET, ViewOptions};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Fewest and most tokens that one view may be asked for.
const BUDGET: std::ops::RangeInclusive<u32> = 200..=20_000;

/// See [`Tool::SPEC`].
pub struct InspectPage;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Continue after the element of this number; 0 = from the top of the page.
    from: Option<u32>,
    /// Only entries whose role, name or text contains this, over the whole page.
    filter: Option<String>,
    /// Only what is inside the element of this number.
    region: Option<u32>,
    /// Only what changed since the last view of the same page.
    delta: Option<bool>,
    /// Tokens the answer may take, 200 to 20,000; about 3,000 when absent.
    budget: Option<u32>,
}

impl Tool for InspectPage {
    const SPEC: ToolSpec = ToolSpec {
        name: "inspect_page",
        title: "Look at the page",
        description: "See the page as it is now: everything that can be acted on as [number]<tag …>name</tag>, with states and values, and headings, alerts and dialogs without a number; ~ = needs scrolling, * = new since the last view. Numbers stay the same while the document lives. Running text is not in it: use extract_text.",
        category: Category::Inspect,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let budget = args.budget.map_or(DEFAULT_BUDGET, |tokens| {
            usize::try_from(tokens.clamp(*BUDGET.start(), *BUDGET.end())).unwrap_or(DEFAULT_BUDGET)
        });
        let options = ViewOptions {
            from: args.from,
            filter: args.filter.filter(|filter| !filter.trim().is_empty()),
            region: args.region,
            delta: args.delta.unwrap_or(false),
            budget,
        };
        let view = cx.browser.snapshot(&cx.cancel, &options).await?;
        Ok(ToolOutput::text(fenced("page_view", &view.text)))
    }
}
