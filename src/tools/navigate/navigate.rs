//! `navigate`: another address.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::{arrive, arrived};
use crate::browser::{ActError, Class, Refusal, address};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct Navigate;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The address; relative to the page now when it begins with / or ?.
    url: String,
    /// true: in a new tab; false: in this tab; absent: by the site.
    new_tab: Option<bool>,
}

impl Tool for Navigate {
    const SPEC: ToolSpec = ToolSpec {
        name: "navigate",
        title: "Go to an address",
        description: "Open an address (http or https) and wait until its page is there. An address of the same site opens in the tab you work on, another one in a new tab, which you work on then; new_tab true or false says otherwise. Tells status, download or dialog.",
        category: Category::Navigate,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesBrowser,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(navigate(cx, args).await)
    }
}

async fn navigate(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let (browser, cancel) = (&cx.browser, &cx.cancel);
    let context = &browser.context;
    let held = browser.tab(cancel).await?;
    let now = context.tabs(cancel).await?.into_iter().find(|tab| Some(tab.tab_id) == held);
    let url = address(&args.url, now.as_ref().map(|tab| tab.url.as_str()))?;
    if context.inspected().is_some() && args.new_tab == Some(true) {
        return Err(Refusal::new(
            Class::NotAllowed,
            "This panel belongs to the tab that its DevTools inspect, and stays there. Leave new_tab out.",
        )
        .into());
    }
    if args.new_tab == Some(false) && now.is_none() {
        return Err(Refusal::new(
            Class::Closed,
            "The tab you worked on was closed. Call list_tabs, or leave new_tab out for a new one.",
        )
        .into());
    }
    let here = match (args.new_tab, &now) {
        _ if context.inspected().is_some() => true,
        (Some(new_tab), Some(_)) => !new_tab,
        (None, Some(tab)) => is_same_site(&tab.url, &url),
        (_, None) => false,
    };
    let mut words = match now.filter(|_| here) {
        Some(tab) => arrived(cx, browser.go(cancel, tab.tab_id, url.as_str()).await?),
        None => arrive(cx, &url, true).await?,
    };
    words.insert("newTab".to_owned(), json!(!here));
    Ok(words)
}

/// A blank tab is nobody's.
fn is_same_site(now: &str, next: &Url) -> bool {
    now == "about:blank" || Url::parse(now).is_ok_and(|now| now.host() == next.host())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_host_stays_in_its_tab() {
        let next = Url::parse("https://example.org/b").unwrap();
        assert!(is_same_site("http://example.org:8080/a", &next));
        assert!(is_same_site("about:blank", &next));
        assert!(!is_same_site("https://www.example.org/", &next));
        assert!(!is_same_site("chrome://newtab/", &next));
    }
}
