//! `set_viewport`: a window of another size for the turn.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::{ActError, Class, Refusal, Viewport};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct SetViewport;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// CSS px, 200 to 4000; 1280 when absent.
    width: Option<u32>,
    /// CSS px, 200 to 4000; 800 when absent.
    height: Option<u32>,
    /// Pixels of the screen in one CSS px, 0.5 to 4; 1 when absent.
    device_scale_factor: Option<f64>,
    /// As on a telephone: touch, and the page's own viewport settings.
    mobile: Option<bool>,
    /// true: the window's own size again.
    reset: Option<bool>,
}

impl Tool for SetViewport {
    const SPEC: ToolSpec = ToolSpec {
        name: "set_viewport",
        title: "Window size",
        description: "Let the page believe in a window of another size, to see how it looks on a telephone or a large screen. Ends with the turn, or with `reset`.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(set(cx, &args).await)
    }
}

async fn set(cx: &ToolCx, args: &Args) -> Result<Map<String, Value>, ActError> {
    let viewport = wanted(args)?;
    cx.browser.set_viewport(&cx.cancel, viewport).await?;
    let mut words = Map::new();
    match viewport {
        None => words.insert("reset".to_owned(), json!(true)),
        Some(Viewport { width, height, scale, mobile }) => {
            words.insert("width".to_owned(), json!(width));
            words.insert("height".to_owned(), json!(height));
            words.insert("device_scale_factor".to_owned(), json!(scale));
            words.insert("mobile".to_owned(), json!(mobile))
        }
    };
    Ok(words)
}

/// `None`: its own again.
fn wanted(args: &Args) -> Result<Option<Viewport>, Refusal> {
    if args.reset == Some(true) {
        return Ok(None);
    }
    let (width, height) = (args.width.unwrap_or(1_280), args.height.unwrap_or(800));
    let scale = args.device_scale_factor.unwrap_or(1.0);
    if ![width, height].iter().all(|side| (200..=4_000).contains(side)) || !(0.5..=4.0).contains(&scale) {
        let error = "`width` and `height` are 200 to 4000, `device_scale_factor` is 0.5 to 4.";
        return Err(Refusal::new(Class::BadArgument, error));
    }
    Ok(Some(Viewport { width, height, scale, mobile: args.mobile.unwrap_or(false) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_bounds() {
        let read = |args: Value| wanted(&serde_json::from_value(args).unwrap());
        assert_eq!(read(json!({ "reset": true, "width": 1 })), Ok(None));
        let usual = Viewport { width: 1_280, height: 800, scale: 1.0, mobile: false };
        assert_eq!(read(json!({})), Ok(Some(usual)));
        for wrong in
            [json!({ "width": 199 }), json!({ "height": 4_001 }), json!({ "device_scale_factor": 9 })]
        {
            assert!(read(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
