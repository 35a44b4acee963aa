//! The person's word on one call.

use std::time::Duration;

use serde_json::Value;

use super::{AskError, AskPurpose, Question, ReplyAnswer, ToolCx};
use crate::browser::{ActError, Class, Refusal};

/// How long the person may think about it.
const EXPIRES: Duration = Duration::from_secs(120);

/// What the person is asked to allow, and what is said when they do not.
pub(super) struct Wish<'a> {
    /// The tool.
    pub tool: &'a str,
    /// What it would do, exactly.
    pub args: Value,
    /// The same for people.
    pub message: String,
    /// What is not done without their word: "this file … be given away".
    pub what: &'a str,
    /// What the model should do instead.
    pub instead: &'a str,
}

/// Asks. Nothing but a clear yes is one.
///
/// # Errors
/// [`Class::NotAllowed`] when the person says no, nothing, or cannot be asked.
pub(super) async fn allowed(cx: &ToolCx, wish: Wish<'_>) -> Result<(), ActError> {
    let Wish { tool, args, message, what, instead } = wish;
    let question = Question {
        purpose: AskPurpose::Approval { tool: tool.to_owned(), args },
        message,
        choices: Vec::new(),
        allow_text: false,
        expires: EXPIRES,
    };
    let no = |why: String| Refusal::new(Class::NotAllowed, format!("{why} {instead}"));
    match cx.ask.ask(question, &cx.cancel).await {
        Ok(reply) if matches!(reply.answer, ReplyAnswer::Allow | ReplyAnswer::AllowAlways) => Ok(()),
        Ok(_) => Err(no(format!("The person does not want {what}.")).into()),
        Err(AskError::Expired) => Err(no(format!("Nobody allowed {what}.")).into()),
        Err(AskError::NoPerson) => {
            Err(no(format!("Only the person may allow {what}, and this panel cannot ask.")).into())
        }
        Err(AskError::Cancelled) => Err(ActError::Cancelled),
    }
}
