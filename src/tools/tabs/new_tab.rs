//! `new_tab`: one more tab.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use crate::browser::{ActError, Class, Refusal, address};
use crate::tools::answer::answer;
use crate::tools::navigate::arrive;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct NewTab;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The address; an empty tab when absent.
    url: Option<String>,
    /// true (when absent): work in it from now on; false: open it behind, and stay.
    switch: Option<bool>,
}

impl Tool for NewTab {
    const SPEC: ToolSpec = ToolSpec {
        name: "new_tab",
        title: "New tab",
        description: "Open a new tab, with an address (http or https) if given, and wait until its page is there. You work in it from now on unless switch is false. Tells its tabId.",
        category: Category::Tabs,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesBrowser,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(open(cx, args).await)
    }
}

async fn open(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let context = &cx.browser.context;
    if context.inspected().is_some() {
        return Err(Refusal::new(
            Class::NotAllowed,
            "This panel belongs to the tab that its DevTools inspect, and stays there. Use navigate.",
        )
        .into());
    }
    let typed = args.url.as_deref().map(str::trim).filter(|url| !url.is_empty()).unwrap_or("about:blank");
    // What is in front now may be another tab in a moment; the one worked on is settled before.
    let held = cx.browser.tab(&cx.cancel).await?;
    let base = context.tabs(&cx.cancel).await?.into_iter().find(|tab| Some(tab.tab_id) == held);
    let url: Url = address(typed, base.as_ref().map(|tab| tab.url.as_str()))?;
    let switch = args.switch.unwrap_or(true);
    let mut words = arrive(cx, &url, switch).await?;
    words.insert("switched".to_owned(), json!(switch));
    if !switch && !words.contains_key("hint") {
        words.insert(
            "hint".to_owned(),
            json!("You still work on the tab from before; switch_tab goes there."),
        );
    }
    Ok(words)
}
