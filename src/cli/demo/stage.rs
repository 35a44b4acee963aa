//! Everything the demo needs around it: a home of its own, the extension, a browser, two pages, a model.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use include_dir::{Dir, include_dir};
use serde_json::json;
use tempfile::TempDir;

use super::kind::Kind;
use super::model;
use super::pages;
use super::scenario::Scenario;
use super::serve::Server;
use super::timeline::look;
use crate::chromium::{Chromium, EXTENSION_ID, LaunchOptions, NativeHost, Page, find};
use crate::config::{Config, Provider};
use crate::paths::Paths;

/// The extension as it was when this program was built.
static EXTENSION: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/extension");

/// Window of the demo: the whole form fits beside the panel.
const WINDOW: (u32, u32) = (1460, 1440);
/// How long a page of our own may take to load.
const PAGE_LIMIT: Duration = Duration::from_secs(20);
/// How long host and CLI may take; the CLI unpacks 235 MB on its very first run.
const READY_LIMIT: Duration = Duration::from_secs(60);

/// What to play, and how.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Picks paper and form.
    pub seed: u64,
    /// With the person's signed-in Copilot instead of the scripted model.
    pub live: bool,
    /// Without a window.
    pub headless: bool,
    /// The browser's program; absent = the first that is found.
    pub browser: Option<PathBuf>,
    /// The program that the browser starts as the host; absolute.
    pub host: PathBuf,
    /// The Copilot CLI.
    pub cli: PathBuf,
    /// The folder into whose `pkg` the CLI unpacks itself, 235 MB once.
    pub package_cache: PathBuf,
    /// The `COPILOT_HOME` with the person's sign-in; used only with `live`.
    pub copilot_home: PathBuf,
    /// Where the picture goes.
    pub screenshot: PathBuf,
    /// The whole demo may take this long.
    pub limit: Duration,
    /// A field whose value the form silently removes again, so that a test can see the demo fail.
    pub take_back: Option<Kind>,
}

/// The set-up demo. Dropping it ends everything; [`Stage::close`] does so in an orderly way.
pub struct Stage {
    /// The browser's program.
    pub program: PathBuf,
    /// The browser.
    pub chromium: Chromium,
    /// The form's tab.
    pub form: Page,
    /// The side panel.
    pub panel: Page,
    _pages: Server,
    _model: Option<Server>,
    // Last: the host writes into it until the browser is gone.
    _home: TempDir,
}

impl Stage {
    /// Builds it up to a side panel that is ready.
    ///
    /// # Errors
    /// With what was tried and what to do.
    pub async fn build(plan: &Plan, scenario: &Scenario) -> anyhow::Result<Self> {
        let home = tempfile::Builder::new()
            .prefix("browy-demo-")
            .tempdir()
            .context("cannot make a temporary folder")?;
        let extension = home.path().join("extension");
        EXTENSION.extract(&extension).context("cannot unpack the extension")?;
        let model =
            if plan.live { None } else { Some(model::start().await.context("cannot serve the model")?) };
        let env = environment(plan, home.path());
        if let Some(model) = &model {
            settings(home.path(), model)?;
        }
        let pages = pages::serve(scenario, plan.take_back).await.context("cannot serve the pages")?;
        let program = match &plan.browser {
            Some(program) => program.clone(),
            None => find::browser()?.path,
        };
        let mut options = LaunchOptions::new(&program);
        options.extension = Some(extension);
        options.host = Some(NativeHost {
            name: crate::cli::install::HOST_NAME.to_owned(),
            path: plan.host.clone(),
            origins: vec![format!("chrome-extension://{EXTENSION_ID}/")],
        });
        options.headless = plan.headless;
        options.window = WINDOW;
        options.env = env;
        if plan.headless {
            options.flags.push("--hide-scrollbars".to_owned());
        }
        let chromium = Chromium::launch(options).await?;
        let (form, panel) = open(&chromium, &pages.base()).await?;
        Ok(Self { program, chromium, form, panel, _pages: pages, _model: model, _home: home })
    }

    /// Ends the browser, and with it the host and the CLI.
    pub async fn close(self) {
        self.chromium.close().await;
    }
}

async fn open(chromium: &Chromium, base: &str) -> anyhow::Result<(Page, Page)> {
    let browser = chromium.browser();
    // The blank tab of the start becomes the paper's.
    let first = browser
        .wait_for_target("the first tab", PAGE_LIMIT, |target| {
            target.kind == "page" && target.url == "about:blank"
        })
        .await?;
    let paper = browser.attach(&first.id).await?;
    paper.navigate(&format!("{base}/paper"), PAGE_LIMIT).await?;
    let form = browser.open(&format!("{base}/submit")).await?;
    form.wait_for("document.querySelector('iframe').contentDocument?.querySelector('input')", PAGE_LIMIT)
        .await?;
    let panel = browser.open_side_panel(&paper).await?;
    to_front(&paper).await?;
    ready(&panel).await?;
    Ok((form, panel))
}

/// Brings a tab to the front.
///
/// # Errors
/// When the browser refuses.
pub async fn to_front(page: &Page) -> anyhow::Result<()> {
    page.send("Page.bringToFront", json!({})).await?;
    Ok(())
}

/// States of the panel that do not pass by themselves.
const STUCK: &str = "['exited', 'missing', 'forbidden', 'unauth', 'error']";

async fn ready(panel: &Page) -> anyhow::Result<()> {
    let settled = format!(
        "((state) => state === 'ready' || {STUCK}.includes(state))(document.querySelector('#state')?.dataset.state)"
    );
    let waited = panel.wait_for(&settled, READY_LIMIT).await;
    let shown = look(panel).await?;
    if shown.state == "ready" {
        return Ok(());
    }
    let when = if waited.is_ok() { String::new() } else { format!(" within {} s", READY_LIMIT.as_secs()) };
    bail!("the side panel did not get ready{when}. It says: {}. {}", shown.word, shown.notice);
}

/// The settings that lead to the scripted model.
fn settings(home: &Path, model: &Server) -> anyhow::Result<()> {
    let provider = Provider {
        base_url: format!("{}/v1", model.base()),
        model: model::MODEL.to_owned(),
        api_key: Some("demo".to_owned()),
        ..Provider::default()
    };
    let config = Config { provider: Some(provider), ..Config::default() };
    let file = Paths::below(home).config();
    let text = toml::to_string(&config).context("cannot write the settings")?;
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Variables of the browser, which the host and the CLI inherit.
fn environment(plan: &Plan, home: &Path) -> Vec<(OsString, Option<OsString>)> {
    let copilot_home = if plan.live { plan.copilot_home.clone() } else { home.join(".copilot") };
    let mut env: Vec<(OsString, Option<OsString>)> = vec![
        ("HOME".into(), Some(home.into())),
        ("COPILOT_CLI_PATH".into(), Some(plan.cli.clone().into())),
        ("COPILOT_PKG_CACHE_HOME".into(), Some(plan.package_cache.clone().into())),
        ("COPILOT_HOME".into(), Some(copilot_home.into())),
    ];
    if !plan.live {
        // The person's sign-in stays out of it.
        for name in ["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN"] {
            env.push((name.into(), None));
        }
    }
    env
}

/// The folder whose `pkg` the person's own CLI unpacks itself into.
pub fn package_cache(user: &Paths) -> PathBuf {
    for name in ["COPILOT_PKG_CACHE_HOME", "COPILOT_CACHE_HOME"] {
        if let Some(folder) = std::env::var_os(name).filter(|folder| !folder.is_empty()) {
            return folder.into();
        }
    }
    let caches = match directories::BaseDirs::new() {
        Some(dirs) => dirs.cache_dir().to_owned(),
        None => user.home().join(".cache"),
    };
    caches.join("copilot")
}
