//! Why a frame's body could not become a message.

/// One inbound message was dropped; the port stays open.
#[derive(Debug, thiserror::Error)]
pub enum ProtocolError {
    /// The body is not JSON.
    #[error("the message is not JSON: {0}")]
    NotJson(String),
    /// The body is JSON, but no object with a `type`.
    #[error("the message is no object with a `type`")]
    NoType,
    /// A type that this version does not know.
    #[error("unknown message type `{0}`")]
    UnknownType(String),
    /// A known type with a field that is missing or of the wrong kind.
    #[error("bad `{kind}` message: {detail}")]
    BadField {
        /// The message's type.
        kind: String,
        /// What is wrong with it.
        detail: String,
        /// The session it named, if it named one, so that the answer reaches the right panel.
        session_id: Option<super::SessionId>,
        /// The call it answered, if it answered one, so that the call can end at once.
        call_id: Option<super::CallId>,
    },
}
