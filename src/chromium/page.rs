//! An attached target: a tab, the side panel, a worker, a frame of another site.

use std::path::Path;
use std::time::Duration;

use base64::Engine as _;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Browser, ChromiumError};

/// How often a condition is asked for.
const POLL: Duration = Duration::from_millis(50);

/// An attached target. Dropping it leaves the target as it is; [`Page::close`] closes it.
#[derive(Debug, Clone)]
pub struct Page {
    browser: Browser,
    target: String,
    session: String,
}

impl Page {
    pub(super) fn new(browser: Browser, target: String, session: String) -> Self {
        Self { browser, target, session }
    }

    /// The target's id.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The flat session, as [`Browser::send`] takes it.
    pub fn session(&self) -> &str {
        &self.session
    }

    /// The browser it belongs to.
    pub fn browser(&self) -> &Browser {
        &self.browser
    }

    /// Sends one command to this target.
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn send(&self, method: &str, params: Value) -> Result<Value, ChromiumError> {
        self.browser.send(Some(&self.session), method, params).await
    }

    /// The value of an expression; a promise is waited for.
    ///
    /// # Errors
    /// [`ChromiumError::Threw`] when the page's code throws, and as [`Browser::send`].
    pub async fn evaluate(&self, expression: &str) -> Result<Value, ChromiumError> {
        self.evaluate_with(expression, false).await
    }

    /// As [`Page::evaluate`], with the activation that a person's click gives.
    ///
    /// # Errors
    /// As [`Page::evaluate`].
    pub async fn evaluate_as_person(&self, expression: &str) -> Result<Value, ChromiumError> {
        self.evaluate_with(expression, true).await
    }

    async fn evaluate_with(&self, expression: &str, gesture: bool) -> Result<Value, ChromiumError> {
        let params = json!({
            "expression": expression,
            "awaitPromise": true,
            "returnByValue": true,
            "userGesture": gesture,
        });
        let mut answer = self.send("Runtime.evaluate", params).await?;
        if let Some(thrown) = answer.get("exceptionDetails") {
            let text = thrown["exception"]["description"].as_str().or(thrown["text"].as_str());
            return Err(ChromiumError::Threw(text.unwrap_or("no description").to_owned()));
        }
        Ok(answer["result"]["value"].take())
    }

    /// Waits until an expression is truthy. A page that navigates or throws meanwhile is asked again.
    ///
    /// # Errors
    /// [`ChromiumError::NotInTime`] with what the last try gave; [`ChromiumError::Gone`] at once.
    pub async fn wait_for(&self, expression: &str, limit: Duration) -> Result<(), ChromiumError> {
        let question = format!("!!({expression}\n)");
        let end = Instant::now() + limit;
        let mut last = None;
        loop {
            // An open dialog holds the answer back; the limit holds for that too.
            match tokio::time::timeout_at(end, self.evaluate(&question)).await {
                Ok(Ok(Value::Bool(true))) => return Ok(()),
                Ok(Err(error @ ChromiumError::Gone(_))) => return Err(error),
                Ok(Ok(value)) => last = Some(value.to_string()),
                Ok(Err(error)) => last = Some(error.to_string()),
                Err(_) => {}
            }
            if Instant::now() + POLL >= end {
                return Err(ChromiumError::NotInTime { what: expression.to_owned(), limit, last });
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Goes to an address and waits until its document is complete.
    ///
    /// # Errors
    /// [`ChromiumError::Refused`] with the browser's network error, [`ChromiumError::NotInTime`], and as
    /// [`Browser::send`].
    pub async fn navigate(&self, url: &str, limit: Duration) -> Result<(), ChromiumError> {
        let answer = self.send("Page.navigate", json!({ "url": url })).await?;
        if let Some(error) = answer["errorText"].as_str() {
            return Err(ChromiumError::Refused {
                method: format!("navigate {url}"),
                code: 0,
                message: error.to_owned(),
            });
        }
        self.wait_loaded(url, limit).await
    }

    /// Waits until the document of `url` is complete. The address may change on the way; only the blank first
    /// document does not count (unless it is what was asked for).
    pub(super) async fn wait_loaded(&self, url: &str, limit: Duration) -> Result<(), ChromiumError> {
        let blank = url.is_empty() || url.starts_with("about:blank");
        let ready = if blank {
            "document.readyState === 'complete'"
        } else {
            "document.readyState === 'complete' && location.href !== 'about:blank'"
        };
        self.wait_for(ready, limit).await
    }

    /// Types text where the focus is, as an input method would.
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn insert_text(&self, text: &str) -> Result<(), ChromiumError> {
        self.send("Input.insertText", json!({ "text": text })).await.map(drop)
    }

    /// Presses and releases Enter.
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn press_enter(&self) -> Result<(), ChromiumError> {
        let key =
            json!({ "type": "rawKeyDown", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13 });
        self.send("Input.dispatchKeyEvent", key).await?;
        let key = json!({ "type": "char", "key": "Enter", "code": "Enter", "text": "\r" });
        self.send("Input.dispatchKeyEvent", key).await?;
        let key = json!({ "type": "keyUp", "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13 });
        self.send("Input.dispatchKeyEvent", key).await.map(drop)
    }

    /// A picture of what the target shows, as PNG.
    ///
    /// # Errors
    /// As [`Browser::send`], and [`ChromiumError::Write`].
    pub async fn screenshot(&self, file: &Path) -> Result<(), ChromiumError> {
        let answer = self.send("Page.captureScreenshot", json!({ "format": "png" })).await?;
        let data = answer["data"].as_str().unwrap_or_default();
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(data)
            .map_err(|_| ChromiumError::Answer { method: "Page.captureScreenshot", field: "data" })?;
        std::fs::write(file, bytes).map_err(|source| ChromiumError::Write { path: file.to_owned(), source })
    }

    /// The window it is in; the same number as `windowId` in extensions.
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn window_id(&self) -> Result<i64, ChromiumError> {
        let params = json!({ "targetId": self.target });
        let answer = self.browser.send(None, "Browser.getWindowForTarget", params).await?;
        answer["windowId"]
            .as_i64()
            .ok_or(ChromiumError::Answer { method: "Browser.getWindowForTarget", field: "windowId" })
    }

    /// Leaves the target without closing it.
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn detach(&self) -> Result<(), ChromiumError> {
        let params = json!({ "sessionId": self.session });
        self.browser.send(None, "Target.detachFromTarget", params).await.map(drop)
    }

    /// Closes the target.
    ///
    /// # Errors
    /// As [`Browser::send`].
    pub async fn close(&self) -> Result<(), ChromiumError> {
        self.browser.send(None, "Target.closeTarget", json!({ "targetId": self.target })).await.map(drop)
    }
}
