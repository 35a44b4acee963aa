//! `accessibility_snapshot`: the page as a screen reader is told of it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::fenced;
use crate::browser::TreeOptions;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Nodes of one answer unless the caller says otherwise, and the most that it may say.
const NODES: u32 = 200;
const MOST: u32 = 2_000;

/// See [`Tool::SPEC`].
pub struct AccessibilitySnapshot;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// CSS selector of the part to read; the whole page when absent.
    selector: Option<String>,
    /// Nodes the answer may have; 200 when absent, 2,000 at most.
    max_nodes: Option<u32>,
}

impl Tool for AccessibilitySnapshot {
    const SPEC: ToolSpec = ToolSpec {
        name: "accessibility_snapshot",
        title: "Accessibility tree",
        description: "Read the browser's accessibility tree, frames included: one node a line, indented, with role, name, value and states, and the [number] of what can be acted on. For checking how a page speaks to screen readers; to act, inspect_page is shorter.",
        category: Category::Inspect,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let most = args.max_nodes.unwrap_or(NODES).clamp(1, MOST);
        let options = TreeOptions {
            selector: args.selector.filter(|selector| !selector.trim().is_empty()),
            most: usize::try_from(most).unwrap_or(usize::MAX),
        };
        let tree = cx.browser.accessible_tree(&cx.cancel, &options).await?;
        let mut out = fenced("accessibility_tree", &tree.text);
        if tree.shown == 0 {
            out.push_str("\nThere is nothing in it.");
        }
        if tree.late {
            out.push_str(&format!(
                "\nReading stopped after 7 s with {} nodes; read parts of it with a selector.",
                tree.shown
            ));
        } else if tree.cut {
            out.push_str(&format!(
                "\nThese are the first {} nodes; read parts with a selector, or more with max_nodes.",
                tree.shown
            ));
        }
        Ok(ToolOutput::text(out))
    }
}
