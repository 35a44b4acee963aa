//! What the host knows of the browser: one [`Browser`] per panel session.

pub mod cdp;
mod extension_context;

use std::sync::Arc;

pub use cdp::{CdpError, Target};
pub use extension_context::{BrowserEvent, ExtensionContext, Wire, WireError};

/// The browser as one session sees it. Tools get this and nothing else of the browser.
pub struct Browser {
    /// Requests to the extension, the pinned tab, and events.
    pub context: Arc<ExtensionContext>,
}

impl Browser {
    /// The browser behind `context`.
    pub fn new(context: Arc<ExtensionContext>) -> Self {
        Self { context }
    }
}
