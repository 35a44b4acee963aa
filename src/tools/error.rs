//! Who must hear about a failed call.

use crate::browser::{ActError, CdpError, PageError, RefError, ViewError};

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

impl From<ActError> for ToolError {
    /// In the words that every refusal of an act has: JSON with `success`, `class` and `error`.
    fn from(error: ActError) -> Self {
        match error {
            ActError::Cancelled => Self::Cancelled,
            ActError::Refused(refusal) => Self::Model(super::answer::refused(&refusal).text),
        }
    }
}

macro_rules! through_act_error {
    ($($error:ty),*) => {
        $(impl From<$error> for ToolError {
            fn from(error: $error) -> Self {
                ActError::from(error).into()
            }
        })*
    };
}

through_act_error!(CdpError, PageError, RefError, ViewError);
