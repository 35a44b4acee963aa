//! DevTools commands: where they go, which may be sent, how they fail.

use std::time::Duration;

use super::dialogs::Dialog;
use crate::protocol::{CdpSessionId, TabId};

/// Where a command goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Target {
    /// The tab.
    pub tab: TabId,
    /// A child target inside it (cross-origin frame); `None` = the tab itself.
    pub session: Option<CdpSessionId>,
}

impl Target {
    /// The tab itself.
    pub fn tab(tab: TabId) -> Self {
        Self { tab, session: None }
    }
}

/// How long a command may take unless a tool says otherwise.
pub const CDP_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the extension may take for a request about tabs.
pub const TAB_TIMEOUT: Duration = Duration::from_secs(15);

/// Every DevTools method that this program sends. Anything else is refused before it leaves,
/// so a new method is a line here that a reviewer sees.
pub const ALLOWED_METHODS: &[&str] = &[
    "Accessibility.disable",
    "Accessibility.enable",
    "Accessibility.getChildAXNodes",
    "Accessibility.getPartialAXTree",
    "Accessibility.getRootAXNode",
    "Console.disable",
    "Console.enable",
    "DOM.describeNode",
    "DOM.disable",
    "DOM.enable",
    "DOM.getContentQuads",
    "DOM.getFrameOwner",
    "DOM.resolveNode",
    "DOM.scrollIntoViewIfNeeded",
    "DOM.setFileInputFiles",
    "DOMDebugger.getEventListeners",
    "Emulation.clearDeviceMetricsOverride",
    "Emulation.setDeviceMetricsOverride",
    "Emulation.setFocusEmulationEnabled",
    "Emulation.setTouchEmulationEnabled",
    "Fetch.continueRequest",
    "Fetch.disable",
    "Fetch.enable",
    "Fetch.failRequest",
    "IO.close",
    "IO.read",
    "Input.dispatchDragEvent",
    "Input.dispatchKeyEvent",
    "Input.dispatchMouseEvent",
    "Input.insertText",
    "Inspector.enable",
    "Input.setInterceptDrags",
    "Log.enable",
    "Network.deleteCookies",
    "Network.disable",
    "Network.enable",
    "Network.getCookies",
    "Network.getRequestPostData",
    "Network.getResponseBody",
    "Network.loadNetworkResource",
    "Network.setCookie",
    "Page.addScriptToEvaluateOnNewDocument",
    "Page.bringToFront",
    "Page.captureScreenshot",
    "Page.close",
    "Page.createIsolatedWorld",
    "Page.disable",
    "Page.enable",
    "Page.getFrameTree",
    "Page.getLayoutMetrics",
    "Page.getNavigationHistory",
    "Page.handleJavaScriptDialog",
    "Page.navigate",
    "Page.navigateToHistoryEntry",
    "Page.printToPDF",
    "Page.reload",
    "Page.removeScriptToEvaluateOnNewDocument",
    "Page.setInterceptFileChooserDialog",
    "Page.setWebLifecycleState",
    "Page.stopLoading",
    "Runtime.addBinding",
    "Runtime.callFunctionOn",
    "Runtime.disable",
    "Runtime.enable",
    "Runtime.evaluate",
    "Runtime.getProperties",
    "Runtime.releaseObject",
    "Runtime.releaseObjectGroup",
    "Target.setAutoAttach",
];

/// Why a command has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CdpError {
    /// The browser or the extension refused; its words.
    #[error("{0}")]
    Refused(String),
    /// No answer in time.
    #[error("the browser did not answer {method} within {} s", .after.as_secs())]
    Timeout {
        /// What was asked.
        method: String,
        /// How long was waited.
        after: Duration,
    },
    /// The connection to the extension is gone.
    #[error("the connection to the browser is gone")]
    Closed,
    /// The call was cancelled (Stop, closed panel).
    #[error("stopped")]
    Cancelled,
    /// The answer is not what the method promises.
    #[error("the browser's answer to {method} makes no sense: {detail}")]
    Malformed {
        /// What was asked.
        method: String,
        /// What is wrong.
        detail: String,
    },
    /// A dialog is open in the tab, so its page answers nothing.
    #[error(
        "a dialog of the page is open ({}: {:?}); it must be answered before anything else can be done here",
        .0.kind,
        .0.message
    )]
    Dialog(Dialog),
    /// The page of the tab crashed, so it answers nothing.
    #[error("the page of this tab crashed; reload loads it again")]
    Crashed,
    /// A method outside [`ALLOWED_METHODS`].
    #[error("{0} is not a method that Browy sends")]
    NotAllowed(String),
}
