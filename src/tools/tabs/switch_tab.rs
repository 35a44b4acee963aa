//! `switch_tab`: work on another tab.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::text::clean;
use crate::browser::{ActError, Class, Refusal};
use crate::protocol::TabId;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct SwitchTab;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The tab's id: `index` of list_tabs, `tabId` of other results.
    index: i64,
}

impl Tool for SwitchTab {
    const SPEC: ToolSpec = ToolSpec {
        name: "switch_tab",
        title: "Switch tab",
        description: "Bring a tab to the front and work on it from now on. Element numbers of the other tab do not count there; look at it with inspect_page.",
        category: Category::Tabs,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesBrowser,
        timeout: Duration::from_secs(20),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(switch(cx, TabId(args.index)).await)
    }
}

async fn switch(cx: &ToolCx, wanted: TabId) -> Result<Map<String, Value>, ActError> {
    let context = &cx.browser.context;
    let wanted = context.current(wanted);
    if context.inspected().is_some_and(|inspected| inspected != wanted) {
        return Err(Refusal::new(
            Class::NotAllowed,
            "This panel belongs to the tab that its DevTools inspect, and stays there. Ask the person to use the \
             side panel for other tabs.",
        )
        .into());
    }
    let tabs = context.tabs(&cx.cancel).await?;
    if !tabs.iter().any(|tab| tab.tab_id == wanted) {
        return Err(Refusal::new(
            Class::Closed,
            format!("There is no tab {wanted} any more. Call list_tabs for those there are."),
        )
        .into());
    }
    let tab = context.activate_tab(&cx.cancel, wanted).await?;
    context.pin(&tab);
    let mut words = Map::new();
    words.insert("index".to_owned(), json!(tab.tab_id));
    words.insert("title".to_owned(), json!(clean(&tab.title, 200)));
    words.insert("url".to_owned(), json!(tab.url));
    Ok(words)
}
