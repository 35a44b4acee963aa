//! `submit_form`: sending a filled form.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::ActError;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct SubmitForm;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of the form, or of any field or button in it.
    index: u32,
}

impl Tool for SubmitForm {
    const SPEC: ToolSpec = ToolSpec {
        name: "submit_form",
        title: "Submit a form",
        description: "Send the form that a numbered element belongs to, with a real press on its button, and tell what came of it. Only that form, never another. When the browser refuses it, `invalid` lists the fields and why; with several buttons, `candidates` lists them.",
        category: Category::Forms,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(submit(cx, args).await)
    }
}

async fn submit(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let element = cx.browser.element(&cx.cancel, args.index).await?;
    let submitted = cx.browser.submit(&cx.cancel, &element).await?;
    let mut words = submitted.observed.words();
    words.insert("via".to_owned(), json!(submitted.via));
    if let Some(text) = submitted.text {
        words.insert("text".to_owned(), json!(text));
    }
    if !submitted.invalid.is_empty() {
        words.insert("invalid".to_owned(), json!(submitted.invalid));
        let hint = "The page marks fields as wrong (`invalid`); correct them and submit again.";
        words.insert("hint".to_owned(), json!(hint));
    }
    Ok(words)
}
