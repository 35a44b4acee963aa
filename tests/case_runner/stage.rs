//! A browser with the real extension and host, whose CLI is ours.

use std::path::PathBuf;
use std::time::Duration;

use browy::chromium::{Chromium, ChromiumError, EXTENSION_ID, Page};
use browy::tools::Exposure;
use serde_json::{Map, json};

use crate::support::chromium::{full_stack, panel_ready};
use crate::support::fake_cli::FakeCli;

pub struct Stage {
    pub chromium: Chromium,
    pub cli: FakeCli,
    /// Targets that were there before the first case.
    baseline: Vec<String>,
}

impl Stage {
    pub async fn open(flags: &[String]) -> Result<Self, String> {
        let cli = FakeCli::listen().await;
        let chromium = full_stack(&cli, flags).await.map_err(|error| error.to_string())?;
        switch_all_tools_on(&chromium).await.map_err(|error| error.to_string())?;
        let targets = chromium.browser().targets().await.map_err(|error| error.to_string())?;
        let baseline = targets.into_iter().map(|target| target.id).collect();
        Ok(Self { chromium, cli, baseline })
    }

    /// Opens a window on the page, and the side panel in it.
    pub async fn enter(&self, url: &str) -> Result<(Page, Page), String> {
        let browser = self.chromium.browser();
        let page = browser.start_window(url).await.map_err(|error| error.to_string())?;
        // A page may never be complete, or hold everything up with a dialog; that is its case's business.
        let ready = "document.readyState === 'complete' && location.href !== 'about:blank'";
        let _ = page.wait_for(ready, Duration::from_secs(10)).await;
        let panel = browser.open_side_panel(&page).await.map_err(|error| error.to_string())?;
        panel_ready(&panel).await.map_err(|error| format!("the panel does not turn ready: {error}"))?;
        Ok((page, panel))
    }

    /// Closes everything that a case opened. `false`: something is left.
    pub async fn clear(&self) -> bool {
        for _ in 0..20 {
            let Ok(targets) = self.chromium.browser().targets().await else { return false };
            let left: Vec<_> =
                targets.iter().filter(|t| t.kind == "page" && !self.baseline.contains(&t.id)).collect();
            if left.is_empty() {
                return true;
            }
            for target in left {
                let params = json!({ "targetId": target.id });
                let _ = self.chromium.browser().send(None, "Target.closeTarget", params).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        false
    }

    pub async fn close(self) {
        self.chromium.close().await;
    }

    /// Folders whose files a case may look at.
    pub fn folders(&self) -> [PathBuf; 3] {
        let data = browy::paths::Paths::below(self.chromium.profile()).data();
        [data.join("files"), data, self.chromium.downloads()]
    }

    /// The end of the host's and the browser's log, with `CASES_LOG=1`.
    pub fn log_when_asked(&self) -> String {
        if std::env::var_os("CASES_LOG").is_none() {
            return String::new();
        }
        let host = std::fs::read_to_string(browy::paths::Paths::below(self.chromium.profile()).log());
        let host = host.unwrap_or_default();
        let lines: Vec<&str> = host.lines().collect();
        let tail = lines[lines.len().saturating_sub(40)..].join("\n");
        format!("\nhost log:\n{tail}\nbrowser log:\n{}", self.chromium.log_tail())
    }
}

/// As the options page does it: what is off by default is stored as on.
async fn switch_all_tools_on(chromium: &Chromium) -> Result<(), ChromiumError> {
    let off =
        browy::tools::all().map(|tool| tool.spec()).filter(|spec| spec.exposure == Exposure::DefaultOff);
    let tools: Map<_, _> = off.map(|spec| (spec.name.to_owned(), json!(true))).collect();
    let page = chromium
        .browser()
        .start_background_tab(&format!("chrome-extension://{EXTENSION_ID}/manifest.json"))
        .await?;
    page.wait_for("typeof chrome?.storage?.local?.set === 'function'", Duration::from_secs(15)).await?;
    let settings = json!({ "settings": { "tools": tools } });
    page.evaluate(&format!("chrome.storage.local.set({settings}).then(() => null)")).await?;
    page.close().await
}
