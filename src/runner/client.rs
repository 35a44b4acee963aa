//! The way to one client, and to one session of it.

use std::collections::HashSet;
use std::sync::Arc;

use tokio::sync::watch;

use crate::browser::{Wire, WireError};
use crate::protocol::Outbound;
use crate::transport::link::{Outbox, SendError};

/// Names a client within this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientId(pub(super) u64);

/// What a client announced in `hello`.
#[derive(Debug, Clone, Default)]
pub(super) struct Capabilities(Arc<HashSet<String>>);

impl Capabilities {
    pub fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self(Arc::new(names.into_iter().collect()))
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

/// A session's way to its panel. The panel may reconnect; everybody who holds this reaches the new one.
///
/// A new message goes out only where both the client and the panel announced its capability.
pub(super) struct SessionWire {
    line: watch::Sender<Line>,
}

/// One connection of a session.
#[derive(Clone)]
pub(super) struct Line {
    pub outbox: Outbox,
    pub client: Capabilities,
    pub session: Capabilities,
}

impl SessionWire {
    pub fn new(line: Line) -> Self {
        Self { line: watch::Sender::new(line) }
    }

    /// Puts a new connection in place of the old one.
    pub fn reconnect(&self, line: Line) {
        self.line.send_replace(line);
    }

    /// Waits while too much is queued for the client. A client that is gone never makes one wait.
    pub async fn ready(&self) {
        let outbox = self.line.borrow().outbox.clone();
        let _ = outbox.ready().await;
    }
}

impl Wire for SessionWire {
    fn send(&self, message: Outbound) -> Result<(), WireError> {
        self.line.borrow().outbox.send(message).map_err(|error| match error {
            SendError::Closed => WireError::Closed,
            SendError::TooLarge { bytes } => WireError::TooLarge { bytes },
        })
    }

    fn has(&self, capability: &str) -> bool {
        let line = self.line.borrow();
        line.client.has(capability) && line.session.has(capability)
    }
}
