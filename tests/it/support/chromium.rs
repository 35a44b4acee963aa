//! A browser with the real extension, and what a person does in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use browy::chromium::{Chromium, ChromiumError, EXTENSION_ID, LaunchOptions, NativeHost, Page, find};

use super::fake_cli::{FakeCli, LIMIT};

pub const SECONDS: fn(u64) -> Duration = Duration::from_secs;

/// The name of our host.
pub const HOST_NAME: &str = "com.browy.host";

/// The extension as it is in the project.
pub fn extension_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("extension")
}

/// A headless browser on this machine; the test fails where there is none.
pub fn options() -> LaunchOptions {
    LaunchOptions::new(find::browser().unwrap().path)
}

/// A browser with the extension and no host.
pub async fn with_extension() -> Chromium {
    let mut options = options();
    options.extension = Some(extension_folder());
    Chromium::launch(options).await.unwrap()
}

/// The host that was built with the tests.
pub fn host() -> NativeHost {
    NativeHost {
        name: HOST_NAME.to_owned(),
        path: PathBuf::from(env!("CARGO_BIN_EXE_browy")),
        origins: vec![format!("chrome-extension://{EXTENSION_ID}/")],
    }
}

/// Extension, host and fake CLI; switches besides.
pub fn full_stack_options(cli: &FakeCli, flags: &[String]) -> Result<LaunchOptions, ChromiumError> {
    let mut options = LaunchOptions::new(find::browser()?.path);
    options.extension = Some(extension_folder());
    options.host = Some(host());
    options.env = cli.environment();
    options.flags = flags.to_vec();
    Ok(options)
}

/// A browser of [`full_stack_options`].
pub async fn full_stack(cli: &FakeCli, flags: &[String]) -> Result<Chromium, ChromiumError> {
    Chromium::launch(full_stack_options(cli, flags)?).await
}

/// Waits until the panel says `state`.
pub async fn panel_state(panel: &Page, state: &str, limit: Duration) -> Result<(), ChromiumError> {
    panel.wait_for(&format!("document.querySelector('#state')?.dataset.state === '{state}'"), limit).await
}

/// Waits until the panel takes prompts.
pub async fn panel_ready(panel: &Page) -> Result<(), ChromiumError> {
    panel_state(panel, "ready", LIMIT).await
}

/// Types a prompt and presses Enter.
pub async fn send_prompt(panel: &Page, text: &str) -> Result<(), ChromiumError> {
    panel.evaluate_as_person("document.querySelector('#composer').focus()").await?;
    panel.insert_text(text).await?;
    panel.press_enter().await?;
    panel.wait_for("document.querySelector('#composer').value === ''", SECONDS(10)).await
}
