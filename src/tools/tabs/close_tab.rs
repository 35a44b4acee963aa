//! `close_tab`: one tab less.

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
pub struct CloseTab;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The tab's id: `index` of list_tabs, `tabId` of other results; the tab you work on when absent.
    index: Option<i64>,
}

impl Tool for CloseTab {
    const SPEC: ToolSpec = ToolSpec {
        name: "close_tab",
        title: "Close a tab",
        description: "Close a tab, the one you work on when index is absent, and check that it is gone. Tells which tab you work on next (`held`).",
        category: Category::Tabs,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesBrowser,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(close(cx, args).await)
    }
}

async fn close(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let (browser, cancel) = (&cx.browser, &cx.cancel);
    let context = &browser.context;
    if context.inspected().is_some() {
        return Err(Refusal::new(
            Class::NotAllowed,
            "This panel belongs to the tab that its DevTools inspect. Ask the person to close tabs.",
        )
        .into());
    }
    let held = browser.tab(cancel).await?;
    let gone =
        || Refusal::new(Class::Closed, "There is no such tab any more. Call list_tabs for those there are.");
    let wanted = args.index.map(|index| context.current(TabId(index))).or(held).ok_or_else(gone)?;
    let tabs = context.tabs(cancel).await?;
    let tab = tabs.iter().find(|tab| tab.tab_id == wanted).ok_or_else(gone)?;
    if tabs.iter().filter(|other| other.window_id == tab.window_id).count() == 1 {
        return Err(Refusal::new(
            Class::NotAllowed,
            "This is the last tab of its window, which would close with it. Open another tab first (new_tab).",
        )
        .into());
    }
    browser.close_tab(cancel, wanted).await?;
    let mut words = Map::new();
    words.insert("closed".to_owned(), line(tab.tab_id, &tab.title, &tab.url));
    words.insert("remaining".to_owned(), json!(context.tabs(cancel).await?.len()));
    if held == Some(wanted) {
        let next = context.active_tab(cancel).await?;
        if let Some(next) = &next {
            context.pin(next);
            words.insert("held".to_owned(), line(next.tab_id, &next.title, &next.url));
        }
    } else if let Some(kept) = tabs.iter().find(|tab| Some(tab.tab_id) == held) {
        words.insert("held".to_owned(), line(kept.tab_id, &kept.title, &kept.url));
    }
    Ok(words)
}

fn line(tab: TabId, title: &str, url: &str) -> Value {
    json!({ "index": tab, "title": clean(title, 120), "url": url })
}
