//! `drag`: an element pulled with the mouse.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::browser::{ActError, Class, DragTo, Refusal};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct Drag;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of what is dragged: the element, or its handle.
    from: u32,
    /// Number of the element to drop it on.
    to: Option<u32>,
    /// Instead of to: CSS px to the right.
    dx: Option<f64>,
    /// Instead of to: CSS px down.
    dy: Option<f64>,
}

impl Tool for Drag {
    const SPEC: ToolSpec = ToolSpec {
        name: "drag",
        title: "Drag",
        description: "Drag a numbered element with the real mouse, onto another one (`to`) or by `dx`, `dy`: sliders, sortable lists, drag and drop. `position` tells its place in the list afterwards, `moved` how far it moved.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(drag(cx, args).await)
    }
}

async fn drag(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let bad = |error: &str| ActError::from(Refusal::new(Class::BadArgument, error));
    let far = |value: f64| value.is_finite() && value.abs() <= 20_000.0;
    let (dx, dy) = (args.dx.unwrap_or(0.0), args.dy.unwrap_or(0.0));
    let by = args.dx.is_some() || args.dy.is_some();
    if by == args.to.is_some() || !far(dx) || !far(dy) || (by && dx == 0.0 && dy == 0.0) {
        return Err(bad("Give either `to`, the number of another element, or `dx` and `dy` in CSS px."));
    }
    let from = cx.browser.element(&cx.cancel, args.from).await?;
    let to = match args.to {
        Some(to) if to == args.from => return Err(bad("`from` and `to` are the same element.")),
        Some(to) => DragTo::Element(Box::new(cx.browser.element(&cx.cancel, to).await?)),
        None => DragTo::By(dx, dy),
    };
    cx.browser.drag(&cx.cancel, &from, &to).await
}
