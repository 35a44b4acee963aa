//! What is lent to a tool call.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::policy::ToolPolicy;
use crate::browser::Browser;
use crate::paths::Paths;

/// Everything a tool may use.
pub struct ToolCx {
    /// The session's browser.
    pub browser: Arc<Browser>,
    /// The person.
    pub ask: Arc<dyn Ask>,
    /// Where files go.
    pub paths: Paths,
    /// Which tools are on in this session: one that can do another's work must not when that is off.
    pub policy: ToolPolicy,
    /// Cancelled by Stop, by the panel's end and by the tool's own deadline.
    pub cancel: CancellationToken,
}

/// What must be asked of a person. Implemented by the runner.
#[async_trait]
pub trait Ask: Send + Sync {
    /// Shows the question and waits for the answer. The turn's clock stands still meanwhile.
    ///
    /// # Errors
    /// See [`AskError`].
    async fn ask(&self, question: Question, cancel: &CancellationToken) -> Result<Reply, AskError>;
}

/// One question.
#[derive(Debug, Clone)]
pub struct Question {
    /// What it is for.
    pub purpose: AskPurpose,
    /// The request, in the model's words for `AwaitUser`, in ours for `Approval`.
    pub message: String,
    /// Answers to choose from.
    pub choices: Vec<String>,
    /// Whether the person may type an answer.
    pub allow_text: bool,
    /// How long it stays open; unanswered means no.
    pub expires: Duration,
}

/// What a question is for.
#[derive(Debug, Clone)]
pub enum AskPurpose {
    /// The person shall do something (sign in, solve a captcha), then say so.
    AwaitUser,
    /// The person shall say something.
    Question,
    /// The person shall allow one call.
    Approval {
        /// The tool.
        tool: String,
        /// Its exact arguments.
        args: Value,
    },
}

/// The person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// The button.
    pub answer: ReplyAnswer,
    /// The text, if any.
    pub text: Option<String>,
}

/// The buttons of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named by their buttons")]
pub enum ReplyAnswer {
    Done,
    Skip,
    Allow,
    AllowAlways,
    Deny,
    Choice,
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AskError {
    /// The client cannot show questions.
    #[error("this panel cannot show questions")]
    NoPerson,
    /// Nobody answered in time.
    #[error("nobody answered in time")]
    Expired,
    /// The turn was stopped.
    #[error("stopped")]
    Cancelled,
}
