//! `list_tabs`: the tabs there are.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::ActError;
use crate::browser::text::clean;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Characters of a title, of an address.
const TITLE_CAP: usize = 120;
const URL_CAP: usize = 300;

/// See [`Tool::SPEC`].
pub struct ListTabs;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {}

impl Tool for ListTabs {
    const SPEC: ToolSpec = ToolSpec {
        name: "list_tabs",
        title: "List tabs",
        description: "List the open tabs. `index` is the tab's own id: it stays the same however tabs move, and switch_tab takes it. `held` marks the tab you work on, `active` the one in front of its window.",
        category: Category::Tabs,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(20),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, _: Args) -> Result<ToolOutput, ToolError> {
        answer(list(cx).await)
    }
}

async fn list(cx: &ToolCx) -> Result<Map<String, Value>, ActError> {
    let context = &cx.browser.context;
    let tabs = context.tabs(&cx.cancel).await?;
    // The panel's window is the one whose tab the extension takes for the active one.
    let front = context.active_tab(&cx.cancel).await?;
    let held = context.pinned().or(front.as_ref().map(|tab| tab.tab_id));
    let home = front.and_then(|tab| tab.window_id);
    let listed: Vec<Value> = tabs
        .iter()
        .map(|tab| {
            let mut line = json!({
                "index": tab.tab_id,
                "title": clean(&tab.title, TITLE_CAP),
                "url": tab.url.chars().take(URL_CAP).collect::<String>(),
            });
            if tab.active {
                line["active"] = json!(true);
            }
            if held == Some(tab.tab_id) {
                line["held"] = json!(true);
            }
            if let (Some(home), Some(window)) = (home, tab.window_id)
                && home != window
            {
                line["window"] = json!(format!("other ({window})"));
            }
            line
        })
        .collect();
    let mut words = Map::new();
    words.insert("count".to_owned(), json!(listed.len()));
    words.insert("tabs".to_owned(), json!(listed));
    Ok(words)
}
