//! What a site keeps in the browser, what listens in its page, and how large the page believes its window to be.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use url::Url;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use super::view::ViewError;
use crate::page::{PageFunction, function};
use crate::protocol::TabId;

/// How long one command may take.
const COMMAND: Duration = Duration::from_secs(10);

/// One cookie. Its value is the person's secret.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cookie {
    /// Name.
    pub name: String,
    /// Value.
    pub value: String,
    /// Whom it is sent to.
    pub domain: String,
    /// Where it is sent to.
    pub path: String,
    /// When it ends, s since 1970; negative when with the browser.
    #[serde(default)]
    pub expires: f64,
    /// Not for scripts.
    #[serde(default)]
    pub http_only: bool,
    /// Only over https.
    #[serde(default)]
    pub secure: bool,
    /// Strict, Lax, None; empty when it says nothing.
    #[serde(default)]
    pub same_site: String,
}

/// A cookie to be.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in cookies")]
pub struct NewCookie {
    pub name: String,
    pub value: String,
    pub url: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    pub secure: bool,
    pub http_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_site: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<f64>,
}

/// What scripts of a site keep.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Stored {
    /// The browser lets this page keep nothing.
    pub denied: bool,
    /// Area (`local`, `session`), key, head of the value, characters of the whole value.
    pub entries: Vec<(String, String, String, u64)>,
    /// How many there are in all.
    pub total: usize,
    /// Names and versions of databases.
    pub databases: Vec<(String, u64)>,
}

/// What listens on an element.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "named as in the browser")]
pub struct Listener {
    pub r#type: String,
    #[serde(default)]
    pub use_capture: bool,
    #[serde(default)]
    pub passive: bool,
    #[serde(default)]
    pub once: bool,
    #[serde(default)]
    pub script_id: String,
    /// Counted from 0.
    #[serde(default)]
    pub line_number: u64,
    /// Counted from 0.
    #[serde(default)]
    pub column_number: u64,
}

/// A window of another size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewport {
    /// CSS px.
    pub width: u32,
    /// CSS px.
    pub height: u32,
    /// Pixels of the screen in one CSS px.
    pub scale: f64,
    /// As on a telephone: touch, and the page's own `viewport`.
    pub mobile: bool,
}

impl Browser {
    /// The address of the held tab, from the browser and not from the page.
    ///
    /// # Errors
    /// See [`ActError`]; [`Class::NotAllowed`] for what is no web page.
    pub async fn page_address(&self, cancel: &CancellationToken) -> Result<Url, ActError> {
        let tab = self.held(cancel).await?;
        let tabs = self.context.tabs(cancel).await?;
        let info = tabs.into_iter().find(|info| info.tab_id == tab);
        info.and_then(|info| Url::parse(&info.url).ok())
            .filter(|url| matches!(url.scheme(), "http" | "https"))
            .ok_or_else(|| {
                Refusal::new(Class::NotAllowed, "The tab shows no web page (http: or https:).").into()
            })
    }

    /// Cookies that are sent to this address.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn cookies(&self, cancel: &CancellationToken, url: &Url) -> Result<Vec<Cookie>, ActError> {
        let answer = self.ask_tab(cancel, "Network.getCookies", json!({ "urls": [url.as_str()] })).await?;
        let cookies = answer.get("cookies").cloned().unwrap_or_default();
        serde_json::from_value(cookies).map_err(|error| {
            let detail = error.to_string();
            CdpError::Malformed { method: "Network.getCookies".to_owned(), detail }.into()
        })
    }

    /// Sets a cookie; `false`: the browser does not take it.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn set_cookie(&self, cancel: &CancellationToken, cookie: &NewCookie) -> Result<bool, ActError> {
        let answer = self.ask_tab(cancel, "Network.setCookie", json!(cookie)).await?;
        Ok(answer.get("success").and_then(Value::as_bool) != Some(false))
    }

    /// Removes a cookie by its name and place.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn delete_cookie(
        &self,
        cancel: &CancellationToken,
        cookie: &NewCookie,
    ) -> Result<(), ActError> {
        let mut place = Map::new();
        place.insert("name".to_owned(), json!(cookie.name));
        match &cookie.domain {
            Some(domain) => place.insert("domain".to_owned(), json!(domain)),
            None => place.insert("url".to_owned(), json!(cookie.url)),
        };
        if let Some(path) = &cookie.path {
            place.insert("path".to_owned(), json!(path));
        }
        self.ask_tab(cancel, "Network.deleteCookies", Value::Object(place)).await.map(drop)
    }

    /// What the page's site keeps; without what secret fields of the page hold now.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn stored(
        &self,
        cancel: &CancellationToken,
        kind: &str,
        key: Option<&str>,
    ) -> Result<Stored, ViewError> {
        const READ: PageFunction = function("storageRead");
        self.call_top(cancel, READ, &[json!(kind), json!(key)]).await
    }

    /// Sets (`Some`) or removes a key, or removes all keys of an area. How many keys the area has then; `None`: the
    /// browser does not let the page keep it.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn store(
        &self,
        cancel: &CancellationToken,
        area: &str,
        key: Option<&str>,
        value: Option<&str>,
    ) -> Result<Option<usize>, ViewError> {
        const WRITE: PageFunction = function("storageWrite");
        self.call_top(cancel, WRITE, &[json!(area), json!(key), json!(value)]).await
    }

    /// What listens on this element itself.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn listeners(
        &self,
        cancel: &CancellationToken,
        element: &Element,
    ) -> Result<Vec<Listener>, ActError> {
        let object = self.in_page_world(cancel, element).await?;
        let send = |method, params| self.context.cdp_within(cancel, &element.target, method, params, COMMAND);
        let told = send("DOMDebugger.getEventListeners", json!({ "objectId": object })).await;
        let _ = send("Runtime.releaseObject", json!({ "objectId": object })).await;
        let listeners = told?.get("listeners").cloned().unwrap_or_default();
        Ok(serde_json::from_value(listeners).unwrap_or_default())
    }

    /// Gives the page a window of another size until the turn ends; `None`: its own again.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn set_viewport(
        &self,
        cancel: &CancellationToken,
        viewport: Option<Viewport>,
    ) -> Result<(), ActError> {
        let tab = self.held(cancel).await?;
        let Some(Viewport { width, height, scale, mobile }) = viewport else {
            self.context.restore_viewports(Some(tab));
            return Ok(());
        };
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile });
        self.context.note_viewport(tab, size.clone());
        self.ask_tab(cancel, "Emulation.setDeviceMetricsOverride", size).await?;
        let touch = json!({ "enabled": mobile });
        self.ask_tab(cancel, "Emulation.setTouchEmulationEnabled", touch).await.map(drop)
    }

    /// What was only for the turn ends with it. Nobody waits.
    pub fn end_turn(&self) {
        self.context.restore_viewports(None);
    }

    async fn held(&self, cancel: &CancellationToken) -> Result<TabId, ActError> {
        Ok(self.tab(cancel).await?.ok_or(ViewError::NoTab)?)
    }

    async fn ask_tab(
        &self,
        cancel: &CancellationToken,
        method: &'static str,
        params: Value,
    ) -> Result<Value, ActError> {
        let target = Target::tab(self.held(cancel).await?);
        Ok(self.context.cdp_within(cancel, &target, method, params, COMMAND).await?)
    }
}

impl super::ExtensionContext {
    fn note_viewport(&self, tab: TabId, size: Value) {
        self.viewports.send_modify(|tabs| {
            tabs.insert(tab, size);
        });
    }

    /// The size that the tab's page was given for this turn, as the browser takes it.
    pub(super) fn given_viewport(&self, tab: TabId) -> Option<Value> {
        self.viewports.borrow().get(&tab).cloned()
    }

    /// The command that gives a page the window back that it has in this turn.
    pub(super) fn window_again(&self, tab: TabId) -> (&'static str, Value) {
        match self.given_viewport(tab) {
            Some(size) => ("Emulation.setDeviceMetricsOverride", size),
            None => ("Emulation.clearDeviceMetricsOverride", json!({})),
        }
    }

    /// Gives pages their own windows again: of this tab, or of all.
    fn restore_viewports(&self, only: Option<TabId>) {
        let mut tabs = Vec::new();
        self.viewports.send_if_modified(|all| {
            tabs.extend(all.keys().copied().filter(|tab| only.is_none_or(|only| only == *tab)));
            all.retain(|tab, _| !tabs.contains(tab));
            false
        });
        for tab in tabs {
            let target = Target::tab(self.current(tab));
            self.tell(&target, "Emulation.clearDeviceMetricsOverride", json!({}));
            self.tell(&target, "Emulation.setTouchEmulationEnabled", json!({ "enabled": false }));
        }
    }
}
