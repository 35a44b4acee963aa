//! `scroll`: moving through a page.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::browser::{ActError, Class, Direction, Refusal, Scroll as By, ScrollPlace};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct Scroll;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// by (when absent, if a direction, x or y is given), to, or to_end.
    mode: Option<Mode>,
    /// Number of the box to scroll, or with mode to of the element to bring into view.
    index: Option<u32>,
    /// For mode to: CSS selector of the element to bring into view.
    selector: Option<String>,
    /// up, down, left or right.
    direction: Option<Way>,
    /// How many pages; 1 when absent, parts like 0.5 too.
    amount: Option<f64>,
    /// For mode by: CSS px to the right.
    x: Option<f64>,
    /// For mode by: CSS px down.
    y: Option<f64>,
    /// For mode to_end: steps at most; 10 when absent, 50 at most.
    max_steps: Option<u32>,
    /// For mode to_end: how long the page may load after each step, ms; 600 when absent.
    step_ms: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Mode {
    By,
    To,
    ToEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Way {
    Up,
    Down,
    Left,
    Right,
}

impl Tool for Scroll {
    const SPEC: ToolSpec = ToolSpec {
        name: "scroll",
        title: "Scroll",
        description: "Scroll the page, or the box `index` is in: by pages in a direction, by px (x, y), to an element (mode to with index or selector), or to the end of a list that loads more (mode to_end). Tells the position and whether anything moved.",
        category: Category::Interact,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(scroll(cx, args).await)
    }
}

async fn scroll(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let (browser, cancel) = (&cx.browser, &cx.cancel);
    let selector = args.selector.as_deref().map(str::trim).filter(|selector| !selector.is_empty());
    let moves = args.direction.is_some() || args.x.is_some() || args.y.is_some() || args.amount.is_some();
    let mode = args.mode.unwrap_or(match (moves, args.index.is_some() || selector.is_some()) {
        (false, true) => Mode::To,
        _ => Mode::By,
    });
    let element = match args.index {
        Some(index) => Some(browser.element(cancel, index).await?),
        None => None,
    };
    let place =
        |element: Option<_>| element.map_or(ScrollPlace::Page, |found| ScrollPlace::Box(Box::new(found)));
    let scrolled = match (mode, element, selector) {
        (Mode::To, Some(element), _) => browser.scroll_to(cancel, element).await?,
        (Mode::To, None, Some(selector)) => browser.scroll_to_selector(cancel, selector).await?,
        (Mode::To, None, None) => {
            return Err(bad("With mode to, give index or selector of the element to bring into view."));
        }
        (Mode::ToEnd, element, _) => {
            let steps = args.max_steps.unwrap_or(10).clamp(1, 50);
            let step = Duration::from_millis(args.step_ms.unwrap_or(600).clamp(100, 3_000));
            browser.scroll_to_end(cancel, &place(element), steps, step).await?
        }
        (Mode::By, element, _) => browser.scroll_by(cancel, &place(element), way(&args)?).await?,
    };
    Ok(scrolled.words)
}

fn way(args: &Args) -> Result<By, ActError> {
    let far = |value: f64| value.is_finite() && value.abs() <= 10_000_000.0;
    if args.direction.is_none() && (args.x.is_some() || args.y.is_some()) {
        let (x, y) = (args.x.unwrap_or(0.0), args.y.unwrap_or(0.0));
        if !far(x) || !far(y) {
            return Err(bad("`x` and `y` are numbers of CSS px."));
        }
        return Ok(By::By(x, y));
    }
    let pages = args.amount.unwrap_or(1.0);
    if !(far(pages) && pages > 0.0 && pages <= 1_000.0) {
        return Err(bad("`amount` is a number of pages: more than 0, at most 1000."));
    }
    let direction = match args.direction.unwrap_or(Way::Down) {
        Way::Up => Direction::Up,
        Way::Down => Direction::Down,
        Way::Left => Direction::Left,
        Way::Right => Direction::Right,
    };
    Ok(By::Pages(direction, pages))
}

fn bad(error: &str) -> ActError {
    Refusal::new(Class::BadArgument, error).into()
}
