//! `handle_dialog`: the answer to an open dialog.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::ActError;
use crate::browser::text::clean;
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct HandleDialog;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// accept (OK, leave the page) or dismiss (Cancel, stay).
    action: Action,
    /// For a prompt: what to enter; what the prompt offers when absent.
    text: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Accept,
    Dismiss,
}

impl Tool for HandleDialog {
    const SPEC: ToolSpec = ToolSpec {
        name: "handle_dialog",
        title: "Answer a dialog",
        description: "Answer the dialog (alert, confirm, prompt, leave-page question) that is open in the tab; results of other tools name it as `dialog`. A question for a password (auth) can only be dismissed. Tells what came of it: where the page ended, the next dialog.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(handle(cx, args).await)
    }
}

async fn handle(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let accept = args.action == Action::Accept;
    let answered = cx.browser.answer_dialog(&cx.cancel, accept, args.text.as_deref()).await?;
    let mut words = answered.after.words();
    words.remove("navigation");
    words.insert(
        "handled".to_owned(),
        json!({ "type": answered.dialog.kind, "message": clean(&answered.dialog.message, 400) }),
    );
    if let Some(next) = &answered.after.dialog {
        let hint = format!("Another dialog ({}) is open now; answer it too.", next.kind);
        words.insert("hint".to_owned(), json!(hint));
    } else if answered.after.url_changed {
        let hint = "The page is another one now; call inspect_page before the next act.";
        words.insert("hint".to_owned(), json!(hint));
    }
    Ok(words)
}
