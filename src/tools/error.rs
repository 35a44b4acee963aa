//! Who must hear about a failed call.

/// Why a tool has no output.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    /// For the model: what was wrong and what to do next. The turn goes on.
    #[error("{0}")]
    Model(String),
    /// Stop, or the panel is gone.
    #[error("stopped")]
    Cancelled,
    /// For the person: the turn cannot go on.
    #[error("{0}")]
    Fatal(String),
}

impl From<crate::browser::CdpError> for ToolError {
    fn from(error: crate::browser::CdpError) -> Self {
        use crate::browser::CdpError;
        match error {
            CdpError::Cancelled => Self::Cancelled,
            other => Self::Model(other.to_string()),
        }
    }
}

impl From<crate::browser::PageError> for ToolError {
    fn from(error: crate::browser::PageError) -> Self {
        match error {
            crate::browser::PageError::Cdp(error) => error.into(),
            other => Self::Model(other.to_string()),
        }
    }
}

impl From<crate::browser::RefError> for ToolError {
    fn from(error: crate::browser::RefError) -> Self {
        match error {
            crate::browser::RefError::Page(error) => error.into(),
            other => Self::Model(other.to_string()),
        }
    }
}

impl From<crate::browser::ViewError> for ToolError {
    fn from(error: crate::browser::ViewError) -> Self {
        use crate::browser::{CdpError, PageError, ViewError};
        match error {
            ViewError::Page(PageError::Cdp(CdpError::Cancelled)) => Self::Cancelled,
            ViewError::Ref(error) => error.into(),
            other => Self::Model(other.to_string()),
        }
    }
}
