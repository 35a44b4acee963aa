//! Where a page goes, and waiting for it.

#[allow(clippy::module_inception, reason = "the tool is called like its category")]
mod navigate;
mod wait_for;

use serde_json::{Map, Value};
use url::Url;

use super::{ErasedTool, ToolCx};
use crate::browser::{ActError, Arrival};

/// The tools of this category, in the order the model sees them.
pub(super) const TOOLS: &[&dyn ErasedTool] = &[&navigate::Navigate, &wait_for::WaitFor];

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
