//! One browser for a test, and side panels as a person sees them.

use std::time::Duration;

use browy::chromium::{Chromium, Page};
use serde_json::json;

use crate::support::chromium::{SECONDS, full_stack_options, panel_ready, panel_state, send_prompt};
use crate::support::fake_cli::FakeCli;
use crate::support::processes::Mark;

/// What must come; a busy machine may take its time.
pub const SOON: Duration = Duration::from_secs(60);

pub struct Stage {
    pub chromium: Chromium,
    pub cli: FakeCli,
    pub mark: Mark,
}

impl Stage {
    pub async fn open() -> Self {
        Self::open_with(FakeCli::listen().await).await
    }

    pub async fn open_with(cli: FakeCli) -> Self {
        let mark = Mark::new();
        let mut options = full_stack_options(&cli, &[]).unwrap();
        options.env.push((Mark::NAME.into(), Some(mark.value().into())));
        // No terminal opens on the screen of whoever runs the tests.
        options.env.extend(["DISPLAY", "WAYLAND_DISPLAY"].map(|name| (name.into(), None)));
        let chromium = Chromium::launch(options).await.unwrap();
        Self { chromium, cli, mark }
    }

    /// A new window with a blank page, and its side panel, not yet ready.
    pub async fn panel(&self) -> Panel {
        self.panel_beside("about:blank").await
    }

    /// A new window with a page, and its side panel, not yet ready.
    pub async fn panel_beside(&self, url: &str) -> Panel {
        let beside = self.chromium.browser().open_window(url).await.unwrap();
        let page = self.chromium.browser().open_side_panel(&beside).await.unwrap();
        Panel { page }
    }

    pub async fn ready_panel(&self) -> Panel {
        let panel = self.panel().await;
        if let Err(error) = panel_ready(&panel.page).await {
            panic!("{error}\npanel: {}\nbrowser: {}", panel.text().await, self.chromium.log_tail());
        }
        panel
    }

    /// Ends the extension's worker, as Chrome does when it likes.
    pub async fn stop_worker(&self) {
        let worker = self
            .chromium
            .browser()
            .wait_for_target("the worker runs", SOON, |target| target.kind == "service_worker")
            .await
            .unwrap();
        let params = json!({ "targetId": worker.id });
        self.chromium.browser().send(None, "Target.closeTarget", params).await.unwrap();
    }

    /// Closes the browser; nothing of the test may be left.
    pub async fn close(self) {
        self.chromium.close().await;
        if let Err(left) = self.mark.all_gone(SECONDS(5)).await {
            panic!("left: {left:#?}");
        }
    }
}

pub struct Panel {
    pub page: Page,
}

/// A picture for whoever wants to look: `BROWY_SHOT` names the folder.
pub async fn picture(page: &Page, name: &str) {
    if let Some(folder) = std::env::var_os("BROWY_SHOT") {
        page.screenshot(&std::path::Path::new(&folder).join(format!("{name}.png"))).await.unwrap();
    }
}

impl Panel {
    pub async fn send(&self, text: &str) {
        send_prompt(&self.page, text).await.unwrap();
    }

    /// See [`picture`].
    pub async fn picture(&self, name: &str) {
        picture(&self.page, name).await;
    }

    /// Everything the panel shows.
    pub async fn text(&self) -> String {
        let text = self.page.evaluate("document.body.innerText").await;
        text.ok().and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Everything in the conversation, folded steps too.
    pub async fn log(&self) -> String {
        let text = self.page.evaluate("document.querySelector('#log').textContent").await.unwrap();
        text.as_str().unwrap().to_owned()
    }

    pub async fn becomes(&self, state: &str) {
        if let Err(error) = panel_state(&self.page, state, SOON).await {
            panic!("{error}\npanel: {}", self.text().await);
        }
    }

    /// Waits until the conversation contains a text.
    pub async fn shows(&self, selector: &str, text: &str) {
        let text = json!(text);
        let condition =
            format!("[...document.querySelectorAll('{selector}')].some(e => e.textContent.includes({text}))");
        if let Err(error) = self.page.wait_for(&condition, SOON).await {
            panic!("{error}\npanel: {}", self.text().await);
        }
    }

    pub async fn click(&self, selector: &str) {
        self.shows(selector, "").await;
        let click = format!("document.querySelector('{selector}').click()");
        self.page.evaluate_as_person(&click).await.unwrap();
    }

    /// Waits until something is there, with a limit of its own.
    pub async fn wait_for(&self, condition: &str, limit: Duration) {
        if let Err(error) = self.page.wait_for(condition, limit).await {
            panic!("{error}\npanel: {}", self.text().await);
        }
    }
}
