//! The words that messages choose from.

use serde::{Deserialize, Serialize};

/// What a question is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "named by their wire words")]
pub enum AskKind {
    AwaitUser,
    Question,
    Approval,
}

/// Why there is no answer. Append-only; the first five are Browy's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "docs/protocol.md explains each code")]
pub enum ErrorCode {
    Auth,
    Aborted,
    Internal,
    NoCapability,
    Busy,
    CliMissing,
    CliFailed,
    Offline,
    Quota,
    Model,
    Budget,
    Timeout,
    Interrupted,
    NotReady,
    Unsupported,
    NoLicense,
    RateLimit,
}
