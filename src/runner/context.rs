//! What the model is shown when a turn begins: the tab in front and its page.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::prompt::{Context, TabContext};
use crate::browser::Browser;
use crate::protocol::TabInfo;

/// All of it may take this long; what is not known by then is left out.
const READ_TIMEOUT: Duration = Duration::from_secs(8);

/// Pins the tab in front (a bound session keeps its own) and reads it. Never fails: what cannot be
/// read is said.
pub(super) async fn read(
    browser: &Browser,
    cancel: &CancellationToken,
    recent_actions: Vec<String>,
    notes: Vec<String>,
) -> Context {
    let mut context = Context { recent_actions, notes, ..Context::default() };
    if tokio::time::timeout(READ_TIMEOUT, fill(browser, cancel, &mut context)).await.is_err() {
        context.notes.push("the page did not answer in time".to_owned());
    }
    context
}

async fn fill(browser: &Browser, cancel: &CancellationToken, context: &mut Context) {
    let (active, tabs) = tokio::join!(browser.context.active_tab(cancel), browser.context.tabs(cancel));
    context.tab_count = tabs.as_ref().ok().map(Vec::len);
    let tab = match (browser.context.inspected(), active) {
        (Some(bound), _) => tabs.ok().and_then(|tabs| tabs.into_iter().find(|tab| tab.tab_id == bound)),
        (None, Ok(tab)) => tab,
        (None, Err(error)) => {
            context.notes.push(format!("the browser did not say which tab is in front: {error}"));
            None
        }
    };
    let Some(tab) = tab else { return };
    browser.context.pin(&tab);
    context.tab =
        Some(TabContext { title: tab.title.clone(), url: tab.url.clone(), ..TabContext::default() });
    read_page(browser, cancel, &tab, context).await;
}

async fn read_page(_browser: &Browser, _cancel: &CancellationToken, _tab: &TabInfo, _context: &mut Context) {}
