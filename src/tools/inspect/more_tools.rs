//! `more_tools`: the tools that few tasks need.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::tools::answer::bad_argument;
use crate::tools::first::{MORE_TOOLS, is_first};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct MoreTools;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The group, or the name of one tool.
    group: String,
}

impl Tool for MoreTools {
    const SPEC: ToolSpec = ToolSpec {
        name: MORE_TOOLS,
        title: "More tools",
        description: "Get more tools; they can be called in your next step. Groups: inspect (find text, HTML, DOM, PDF text, accessibility tree), interact (drag, focus, key by key, upload, by CSS selector), navigate (back, forward, reload), tabs (close), devtools (console, network, cookies, storage, JavaScript, viewport, marks), files (save, read, PDF, download), memory (notes).",
        category: Category::Inspect,
        exposure: Exposure::Always,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let wanted = args.group.trim().to_ascii_lowercase();
        let hidden = || cx.policy.allowed().map(|tool| tool.spec()).filter(|spec| !is_first(spec.name));
        let meant = |spec: &ToolSpec| spec.name == wanted || spec.category.name() == wanted;
        let reveals: Vec<&'static str> = hidden().filter(meant).map(|spec| spec.name).collect();
        if reveals.is_empty() {
            let mut groups: Vec<&str> = hidden().map(|spec| spec.category.name()).collect();
            groups.dedup();
            return Err(bad_argument(&format!(
                "There is no such group, or its tools are there or switched off. Groups: {}.",
                groups.join(", ")
            )));
        }
        let mut output = ToolOutput::json(&json!({ "success": true, "tools": reveals }));
        output.reveals = reveals;
        Ok(output)
    }
}
