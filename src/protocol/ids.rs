//! Identifiers on the wire. Newtypes, so that a tab cannot be passed where a call is meant.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(test, derive(ts_rs::TS))]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The identifier as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned())
            }
        }
    };
}

text_id! {
    /// One chat, as the panel names it (`sp-…`, `dt-…`); also the Copilot session id.
    SessionId
}
text_id! {
    /// One request to the extension or one tool call; 122 random bits, so it cannot be guessed.
    CallId
}
text_id! {
    /// One turn, named by the client that sent the prompt.
    TurnId
}
text_id! {
    /// One question to the person.
    AskId
}
text_id! {
    /// A flat DevTools session of a child target (cross-origin frame, worker) inside a tab.
    CdpSessionId
}

impl CallId {
    /// A fresh random id.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }
}

impl AskId {
    /// A fresh random id.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }
}

impl TurnId {
    /// A fresh random id, for clients that name no turn.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }
}

/// `chrome.tabs.Tab.id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(transparent)]
pub struct TabId(#[cfg_attr(test, ts(type = "number"))] pub i64);

impl fmt::Display for TabId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
