//! Opening the real side panel of Browy's extension.

use std::time::Duration;

use super::{Browser, ChromiumError, Page};

/// The extension's id; follows from the `key` in its manifest.
pub const EXTENSION_ID: &str = "jgkgphpbigilgffedfkcdbfknedodmkn";

/// The side panel's page within the extension.
pub const SIDE_PANEL_PAGE: &str = "sidepanel/sidepanel.html";

const LIMIT: Duration = Duration::from_secs(15);

/// The whole address of the side panel's page.
pub fn side_panel_url() -> String {
    format!("chrome-extension://{EXTENSION_ID}/{SIDE_PANEL_PAGE}")
}

impl Browser {
    /// Opens the side panel in the window of `beside` and waits until it has slid open. An extension may open
    /// its panel only on a person's act, and only from a page of its own: a background tab with a plain file of
    /// the extension serves for that and is closed again. The page in front notices nothing of it.
    ///
    /// # Errors
    /// When the panel does not open within 15 s, and as [`Browser::send`].
    pub async fn open_side_panel(&self, beside: &Page) -> Result<Page, ChromiumError> {
        let window = beside.window_id().await?;
        let before: Vec<String> = self.panels().await?;
        let helper =
            self.start_background_tab(&format!("chrome-extension://{EXTENSION_ID}/manifest.json")).await?;
        helper.wait_for("typeof chrome?.sidePanel?.open === 'function'", LIMIT).await?;
        let opened =
            helper.evaluate_as_person(&format!("chrome.sidePanel.open({{ windowId: {window} }})")).await;
        let closed = helper.close().await;
        opened?;
        closed?;
        let target = self
            .wait_for_target("the side panel opens", LIMIT, |target| {
                target.kind == "page" && target.url == side_panel_url() && !before.contains(&target.id)
            })
            .await?;
        let panel = self.attach(&target.id).await?;
        panel.wait_for("document.readyState === 'complete' && innerWidth >= 300", LIMIT).await?;
        Ok(panel)
    }

    async fn panels(&self) -> Result<Vec<String>, ChromiumError> {
        let url = side_panel_url();
        Ok(self.targets().await?.into_iter().filter(|t| t.url == url).map(|t| t.id).collect())
    }
}
