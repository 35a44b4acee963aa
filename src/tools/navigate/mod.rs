//! Where a page goes, and waiting for it.

mod go_back;
mod go_forward;
#[allow(clippy::module_inception, reason = "the tool is called like its category")]
mod navigate;
mod reload;
mod wait_for;

use serde_json::{Map, Value};
use url::Url;

use super::{ErasedTool, ToolCx};
use crate::browser::{ActError, Arrival, Class, Refusal, Step};
use crate::protocol::TabId;

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] =
    &[&navigate::Navigate, &go_back::GoBack, &go_forward::GoForward, &reload::Reload, &wait_for::WaitFor];

/// The tab worked on.
async fn held(cx: &ToolCx) -> Result<TabId, ActError> {
    let none = || Refusal::new(Class::Closed, "There is no tab to work on. Call list_tabs.");
    Ok(cx.browser.tab(&cx.cancel).await?.ok_or_else(none)?)
}

async fn step(cx: &ToolCx, step: Step) -> Result<Map<String, Value>, ActError> {
    let tab = held(cx).await?;
    Ok(arrived(cx, cx.browser.step(&cx.cancel, tab, step).await?))
}

async fn once_more(cx: &ToolCx) -> Result<Map<String, Value>, ActError> {
    let tab = held(cx).await?;
    Ok(arrived(cx, cx.browser.reload(&cx.cancel, tab).await?))
}

/// The panel is told the tab's new address.
fn arrived(cx: &ToolCx, arrival: Arrival) -> Map<String, Value> {
    if let Some(tab) = &arrival.tab {
        cx.browser.context.pin(tab);
    }
    arrival.words()
}

/// Opens a tab and sends it to the address. `switch`: it is the one worked on from now on, also when its page
/// does not come.
pub(super) async fn arrive(cx: &ToolCx, url: &Url, switch: bool) -> Result<Map<String, Value>, ActError> {
    let context = &cx.browser.context;
    // Empty first: whatever the page does while it loads is seen then.
    let tab = context.new_tab(&cx.cancel, None, switch).await?;
    if switch {
        context.pin(&tab);
    }
    if url.as_str() == "about:blank" {
        return Ok(Arrival { tab: Some(tab), ..Arrival::default() }.words());
    }
    let arrival = cx.browser.go(&cx.cancel, tab.tab_id, url.as_str()).await.map_err(|error| match error {
        ActError::Refused(refusal) => ActError::Refused(refusal.with("tabId", tab.tab_id.0)),
        ActError::Cancelled => ActError::Cancelled,
    })?;
    if let Some(tab) = arrival.tab.as_ref().filter(|_| switch) {
        context.pin(tab);
    }
    Ok(arrival.words())
}
