//! Starting and ending the browser.

use std::ffi::OsString;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use serde_json::json;
use tokio::process::{Child, Command};

use super::profile::Profile;
use super::{Browser, ChromiumError, NativeHost};

/// How long the browser may take to answer its first command; cold disks are slow.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long it may take to end when it is asked to.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Every window brings two pages for suggestions in its address field, which cost a third of a test's time and are never
/// seen without a window.
const OMNIBOX_PAGES_OFF: &str =
    "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup";

/// What to start, and how.
#[derive(Debug, Clone)]
pub struct LaunchOptions {
    /// The browser's program.
    pub program: PathBuf,
    /// Folder of an unpacked extension to load.
    pub extension: Option<PathBuf>,
    /// A host to register in the profile.
    pub host: Option<NativeHost>,
    /// Without a window.
    pub headless: bool,
    /// Width and height of a window, in CSS pixels.
    pub window: (u32, u32),
    /// Hides the "started debugging this browser" bar. Real users have it.
    pub hide_debugging_bar: bool,
    /// More switches; they win over ours.
    pub flags: Vec<String>,
    /// Variables for the browser and the host it starts; `None` takes one away. `HOME` is the profile.
    pub env: Vec<(OsString, Option<OsString>)>,
}

impl LaunchOptions {
    /// A headless browser of 1280 × 800 without an extension.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            extension: None,
            host: None,
            headless: true,
            window: (1280, 800),
            hide_debugging_bar: true,
            flags: Vec::new(),
            env: Vec::new(),
        }
    }
}

/// A running browser. Dropping it kills the browser and removes the profile; [`Chromium::close`] does so in
/// an orderly way.
#[derive(Debug)]
pub struct Chromium {
    browser: Browser,
    // Before the profile: fields are dropped in order, and a browser that still runs would fill it again.
    child: OwnedChild,
    profile: Profile,
    sandboxed: bool,
    extension: Option<String>,
}

impl Chromium {
    /// Starts the browser, loads the extension and waits until both answer.
    ///
    /// # Errors
    /// When the profile cannot be written, the program does not start, ends at once, or refuses the extension.
    pub async fn launch(options: LaunchOptions) -> Result<Self, ChromiumError> {
        let mut this = Self::start(&options, false).await?;
        let Some(extension) = &options.extension else { return Ok(this) };
        match this.load(extension).await {
            // Browsers before this command still listen to the switch.
            Err(error) if error.is_unknown_method() => {
                this.close().await;
                this = Self::start(&options, true).await?;
            }
            Err(error) => return Err(error),
            Ok(id) => this.extension = Some(id),
        }
        Ok(this)
    }

    async fn start(options: &LaunchOptions, load_by_switch: bool) -> Result<Self, ChromiumError> {
        let start = |source| ChromiumError::Start { path: options.program.clone(), source };
        let profile = Profile::create()?;
        if let Some(host) = &options.host {
            host.register(profile.path())?;
        }
        let sandboxed = !rustix::process::geteuid().is_root();
        let (child_in, ours_out) = std::io::pipe().map_err(start)?;
        let (ours_in, child_out) = std::io::pipe().map_err(start)?;
        let mut command = Command::new(&options.program);
        command.args(switches(options, profile.path(), sandboxed, load_by_switch));
        command.current_dir(profile.path()).env("HOME", profile.path());
        // These move the profile's neighbours (crash reports, caches, registrations) out of HOME again.
        for name in ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "CHROME_CONFIG_HOME", "CHROME_USER_DATA_DIR"] {
            command.env_remove(name);
        }
        for (name, value) in &options.env {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        let log = File::create(profile.log()).map_err(start)?;
        command.stdin(Stdio::null()).stdout(log.try_clone().map_err(start)?).stderr(log);
        // A group of its own, so that the last resort reaches everything it started.
        command.process_group(0).kill_on_drop(true);
        command
            .fd_mappings(vec![
                FdMapping { parent_fd: OwnedFd::from(child_in), child_fd: 3 },
                FdMapping { parent_fd: OwnedFd::from(child_out), child_fd: 4 },
            ])
            .map_err(|_| start(std::io::Error::other("file descriptors collide")))?;
        let child = OwnedChild { child: command.spawn().map_err(start)? };
        // The command holds the child's ends; while they are open here, the browser's end is never seen.
        drop(command);
        let browser = Browser::connect(OwnedFd::from(ours_out), OwnedFd::from(ours_in)).map_err(start)?;
        let this = Self { browser, child, profile, sandboxed, extension: None };
        match this.browser.send_within(START_LIMIT, None, "Browser.getVersion", json!({})).await {
            Ok(_) => Ok(this),
            Err(ChromiumError::Gone(_)) => {
                Err(ChromiumError::EndedEarly { path: options.program.clone(), log: this.profile.log_tail() })
            }
            Err(error) => Err(error),
        }
    }

    async fn load(&self, extension: &Path) -> Result<String, ChromiumError> {
        let folder = extension
            .canonicalize()
            .map_err(|source| ChromiumError::Profile { path: extension.to_owned(), source })?;
        let answer = self.browser.send(None, "Extensions.loadUnpacked", json!({ "path": folder })).await?;
        let id = answer["id"].as_str();
        id.map(str::to_owned).ok_or(ChromiumError::Answer { method: "Extensions.loadUnpacked", field: "id" })
    }

    /// The connection to it.
    pub fn browser(&self) -> &Browser {
        &self.browser
    }

    /// Its user-data folder, which is also its `HOME` and that of the host it starts.
    pub fn profile(&self) -> &Path {
        self.profile.path()
    }

    /// Where downloads go.
    pub fn downloads(&self) -> PathBuf {
        self.profile.downloads()
    }

    /// `false`: the browser runs without its sandbox, because root cannot have one. Tell the person.
    pub fn sandboxed(&self) -> bool {
        self.sandboxed
    }

    /// The id of the loaded extension; absent too when an old browser loaded it by switch.
    pub fn extension_id(&self) -> Option<&str> {
        self.extension.as_deref()
    }

    /// The process id of the browser; absent once it has ended.
    pub fn pid(&self) -> Option<u32> {
        self.child.child.id()
    }

    /// The end of what the browser and the host wrote on stderr.
    pub fn log_tail(&self) -> String {
        self.profile.log_tail()
    }

    /// Waits until the browser has ended by itself (the person closed it), at most `limit`.
    pub async fn wait_ended(&mut self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.child.child.wait()).await.is_ok()
    }

    /// Ends the browser: asks it, closes the pipe, kills it; then removes the profile. Takes at most 15 s.
    pub async fn close(self) {
        let Self { browser, mut child, profile, .. } = self;
        let _ = browser.send_within(Duration::from_secs(2), None, "Browser.close", json!({})).await;
        drop(browser);
        if tokio::time::timeout(END_LIMIT, child.child.wait()).await.is_err() {
            child.kill_group();
            let _ = tokio::time::timeout(END_LIMIT, child.child.wait()).await;
        }
        profile.remove().await;
    }
}

/// Kills the whole group when it is dropped unreaped.
#[derive(Debug)]
struct OwnedChild {
    child: Child,
}

impl OwnedChild {
    fn kill_group(&self) {
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for OwnedChild {
    fn drop(&mut self) {
        self.kill_group();
    }
}

fn switches(options: &LaunchOptions, profile: &Path, sandboxed: bool, load_by_switch: bool) -> Vec<OsString> {
    let mut switches: Vec<OsString> = [
        "--remote-debugging-pipe",
        "--enable-unsafe-extension-debugging",
        "--no-first-run",
        "--no-default-browser-check",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--enable-logging=stderr",
    ]
    .map(OsString::from)
    .into();
    if !sandboxed {
        switches.push("--no-sandbox".into());
    }
    if options.headless {
        switches.extend(["--headless=new", "--disable-gpu", OMNIBOX_PAGES_OFF].map(OsString::from));
    }
    if options.hide_debugging_bar {
        switches.push("--silent-debugger-extension-api".into());
    }
    switches.push(with_path("--user-data-dir=", profile));
    if let Some(extension) = options.extension.as_deref().filter(|_| load_by_switch) {
        let folder = extension.canonicalize().unwrap_or_else(|_| extension.to_owned());
        switches.push(with_path("--load-extension=", &folder));
    }
    let (width, height) = options.window;
    switches.push(format!("--window-size={width},{height}").into());
    // The last of two equal switches counts.
    switches.extend(options.flags.iter().map(OsString::from));
    switches.push("about:blank".into());
    switches
}

fn with_path(switch: &str, path: &Path) -> OsString {
    let mut switch = OsString::from(switch);
    switch.push(path);
    switch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_flags_come_last_and_root_goes_without_a_sandbox() {
        let mut options = LaunchOptions::new("/usr/bin/chromium");
        options.flags.push("--window-size=10,10".to_owned());
        let root = switches(&options, Path::new("/p"), false, false);
        assert_eq!(root[root.len() - 2..], ["--window-size=10,10", "about:blank"]);
        assert!(root.contains(&"--no-sandbox".into()));
        let person = switches(&options, Path::new("/p"), true, false);
        assert!(!person.contains(&"--no-sandbox".into()));
    }
}
