//! What the model is shown when a turn begins: the tab in front and its page.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::agent::prompt::{Context, TabContext};
use crate::browser::{Browser, CdpError, PageView, ViewOptions};
use crate::protocol::TabInfo;

/// All of it may take this long; what is not known by then is left out.
const READ_TIMEOUT: Duration = Duration::from_secs(8);

/// Stands for a view that says the same as the last one in the chat.
const UNCHANGED: &str =
    "Same as the last page view above, numbers included. Text that it does not list may have changed.";

/// Pins the tab in front (a bound session keeps its own) and reads it. Never fails: what cannot be
/// read is said. `shown`: the [`digest`](crate::browser::PageView::digest) of the last view in the chat, and then that
/// of this one.
pub(super) async fn read(
    browser: &Browser,
    cancel: &CancellationToken,
    recent_actions: Vec<String>,
    notes: Vec<String>,
    shown: &mut Option<u64>,
) -> Context {
    let mut context = Context { recent_actions, notes, ..Context::default() };
    let before = shown.take();
    let (count, page) = tokio::join!(
        tokio::time::timeout(READ_TIMEOUT, browser.context.tabs(cancel)),
        tokio::time::timeout(READ_TIMEOUT, read_page(browser, cancel, &mut context, before, shown)),
    );
    if page.is_err() {
        context.notes.push("the page did not answer in time".to_owned());
    }
    context.tab_count = count.ok().and_then(Result::ok).map(|tabs| tabs.len());
    context
}

async fn read_page(
    browser: &Browser,
    cancel: &CancellationToken,
    context: &mut Context,
    before: Option<u64>,
    shown: &mut Option<u64>,
) {
    let tab = match tab(browser, cancel).await {
        Ok(Some(tab)) => tab,
        Ok(None) => return,
        Err(error) => {
            context.notes.push(format!("the browser did not say which tab is in front: {error}"));
            return;
        }
    };
    browser.context.pin(&tab);
    context.tab = Some(TabContext { title: tab.title, url: tab.url, ..TabContext::default() });
    // In place before the page answers, so that a slow page still leaves the tab's title and address.
    let view = browser.snapshot(cancel, &ViewOptions::default()).await;
    if let (Ok(view), Some(tab)) = (&view, context.tab.as_mut()) {
        let facts = &view.facts;
        tab.viewport = Some(facts.viewport);
        tab.scroll = Some((facts.scroll_y, facts.scroll_max));
        tab.ready = Some(facts.ready_state.clone());
        tab.selection = Some(facts.selection.clone());
    }
    *shown = view.as_ref().ok().map(|view| view.digest);
    let unchanged = before.is_some() && *shown == before;
    let text = |view: PageView| if unchanged { UNCHANGED.to_owned() } else { view.text };
    context.page_view = Some(view.map(text).map_err(|error| error.to_string()));
}

async fn tab(browser: &Browser, cancel: &CancellationToken) -> Result<Option<TabInfo>, CdpError> {
    match browser.context.inspected() {
        Some(bound) => {
            let tabs = browser.context.tabs(cancel).await?;
            Ok(tabs.into_iter().find(|tab| tab.tab_id == bound))
        }
        None => browser.context.active_tab(cancel).await,
    }
}
