//! `await_user`: wait until the person has done something.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::{
    AskError, AskPurpose, Category, Effect, Exposure, Question, ReplyAnswer, Tool, ToolCx, ToolError,
    ToolOutput, ToolSpec,
};

/// How long the person has.
const EXPIRES: Duration = Duration::from_secs(600);

/// Characters of the request that are shown.
const MESSAGE_CAP: usize = 2_000;

/// See [`Tool::SPEC`].
pub struct AwaitUser;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// What the person shall do, in their language, in one or two sentences.
    message: String,
}

impl Tool for AwaitUser {
    const SPEC: ToolSpec = ToolSpec {
        name: "await_user",
        title: "Wait for you",
        description: "Ask the person to do something only they can or should do (sign in, enter a password or code, solve a captcha, decide), and wait until it is done or skipped. Look again then.",
        category: Category::Human,
        exposure: Exposure::Always,
        effect: Effect::ReadOnly,
        // Ten minutes of waiting, and a little for the way.
        timeout: Duration::from_secs(615),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let message: String = args.message.trim().chars().take(MESSAGE_CAP).collect();
        if message.is_empty() {
            return Err(ToolError::Model(
                "await_user: `message` must say what the person shall do.".to_owned(),
            ));
        }
        let question = Question {
            purpose: AskPurpose::AwaitUser,
            message: message.clone(),
            choices: Vec::new(),
            allow_text: true,
            expires: EXPIRES,
        };
        match cx.ask.ask(question, &cx.cancel).await {
            Ok(reply) => {
                let answer = match reply.answer {
                    ReplyAnswer::Skip | ReplyAnswer::Deny => "skip",
                    ReplyAnswer::Done
                    | ReplyAnswer::Allow
                    | ReplyAnswer::AllowAlways
                    | ReplyAnswer::Choice => "done",
                };
                let mut words = json!({ "success": true, "answer": answer });
                if let Some(text) = reply.text.filter(|text| !text.trim().is_empty()) {
                    words["text"] = json!(text);
                }
                words["hint"] = json!(if answer == "done" {
                    "Look at the page again before you go on."
                } else {
                    "The person skipped this. Go on without it, or say that it cannot be done so."
                });
                Ok(ToolOutput::json(&words))
            }
            // Without a card, the request goes to the person as the answer of this turn.
            Err(AskError::NoPerson) => Ok(ToolOutput::json(&json!({
                "success": true,
                "awaiting_user": true,
                "message": message,
                "hint": "This panel cannot wait. Stop here: end your answer with this request to the person, call no more tools, and go on when they write again.",
            }))),
            Err(AskError::Expired) => Ok(ToolOutput::json(&json!({
                "success": false,
                "class": "timeout",
                "error": "Nobody answered within 10 minutes. End here and tell the person what is still to be done.",
            }))),
            Err(AskError::Cancelled) => Err(ToolError::Cancelled),
        }
    }
}
