//! Scrolling the page, boxes in it, and elements into view.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use crate::page::{ACT, PageFunction, function};

/// How long a page may take to move something after a scroll (headers, lists that build their rows).
const SETTLES: Duration = Duration::from_millis(60);

/// The longest scrolling to the end.
const TO_END: Duration = Duration::from_secs(30);

const PAGE: PageFunction = function("scrollPage");

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named by what they are")]
pub enum Direction {
    Up,
    Down,
    Left,
    Right,
}

/// What is scrolled.
#[derive(Clone)]
pub enum ScrollPlace {
    /// The page, or its largest box when the page itself does not scroll.
    Page,
    /// The box that this element is, or is in.
    Box(Box<Element>),
}

/// How far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scroll {
    /// Sizes of the box.
    Pages(Direction, f64),
    /// CSS px.
    By(f64, f64),
}

/// Where that led.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scrolled {
    /// The words of results.
    pub words: Map<String, Value>,
    /// Anything moved.
    pub moved: bool,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Told {
    Refused {
        class: Class,
        error: String,
    },
    Missing {
        #[serde(rename = "missing")]
        _missing: bool,
    },
    At(Map<String, Value>),
}

impl Browser {
    async fn scroll_op(
        &self,
        cancel: &CancellationToken,
        place: &ScrollPlace,
        args: &Value,
    ) -> Result<Map<String, Value>, ActError> {
        let told = match place {
            ScrollPlace::Page => self.call_top(cancel, PAGE, std::slice::from_ref(args)).await?,
            ScrollPlace::Box(element) => element.call(cancel, ACT, &[json!("scroll"), args.clone()]).await?,
        };
        at(told)
    }

    /// Brings an element into view.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn scroll_to(
        &self,
        cancel: &CancellationToken,
        element: Element,
    ) -> Result<Scrolled, ActError> {
        let place = ScrollPlace::Box(Box::new(element));
        let words = self.scroll_op(cancel, &place, &json!({ "op": "view" })).await?;
        Ok(scrolled(words, None))
    }

    /// Brings what a CSS selector finds into view, in any frame or shadow root.
    ///
    /// # Errors
    /// [`Class::Gone`] when nothing fits; else see [`ActError`].
    pub async fn scroll_to_selector(
        &self,
        cancel: &CancellationToken,
        selector: &str,
    ) -> Result<Scrolled, ActError> {
        let args = [json!({ "op": "view" }), json!(selector)];
        for (_, told) in self.call_frames::<Told>(cancel, PAGE, &args).await? {
            if !matches!(told, Told::Missing { .. }) {
                return Ok(scrolled(at(told)?, None));
            }
        }
        let wanted = super::text::quoted(selector, 120);
        Err(Refusal::new(Class::Gone, format!("Nothing on the page matches the selector {wanted}.")).into())
    }

    /// Scrolls once.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn scroll_by(
        &self,
        cancel: &CancellationToken,
        place: &ScrollPlace,
        scroll: Scroll,
    ) -> Result<Scrolled, ActError> {
        let way = match scroll {
            Scroll::By(x, y) => json!({ "dx": x, "dy": y }),
            Scroll::Pages(Direction::Up, pages) => json!({ "pagesY": -pages }),
            Scroll::Pages(Direction::Down, pages) => json!({ "pagesY": pages }),
            Scroll::Pages(Direction::Left, pages) => json!({ "pagesX": -pages }),
            Scroll::Pages(Direction::Right, pages) => json!({ "pagesX": pages }),
        };
        let with = |op: &str| {
            let mut args = way.clone();
            args["op"] = json!(op);
            args
        };
        let before = self.scroll_op(cancel, place, &with("read")).await?;
        self.scroll_op(cancel, place, &with("by")).await?;
        pause(cancel, SETTLES).await?;
        let after = self.scroll_op(cancel, place, &with("read")).await?;
        Ok(scrolled(after, Some(&before)))
    }

    /// Scrolls down until nothing more is loaded: after `most` steps, or 30 s, at the latest. `step`: how long
    /// the page may take to load more.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn scroll_to_end(
        &self,
        cancel: &CancellationToken,
        place: &ScrollPlace,
        most: u32,
        step: Duration,
    ) -> Result<Scrolled, ActError> {
        let started = Instant::now();
        let read = json!({ "op": "read" });
        let before = self.scroll_op(cancel, place, &read).await?;
        let (mut steps, mut same, mut reason) = (0, 0, "max_steps");
        let mut last = before.clone();
        while steps < most {
            self.scroll_op(cancel, place, &json!({ "op": "end" })).await?;
            steps += 1;
            pause(cancel, step).await?;
            let now = self.scroll_op(cancel, place, &read).await?;
            same = if now.get("height") == last.get("height") { same + 1 } else { 0 };
            last = now;
            if same >= 2 {
                reason = "stable";
                break;
            }
            if started.elapsed() + step > TO_END {
                reason = "time";
                break;
            }
        }
        let mut scrolled = scrolled(last, Some(&before));
        let height = scrolled.words.remove("height");
        scrolled.words.insert("steps".to_owned(), json!(steps));
        scrolled.words.insert("final_height".to_owned(), json!(height));
        scrolled.words.insert("reason".to_owned(), json!(reason));
        if reason != "stable" {
            scrolled.words.insert("hint".to_owned(), json!("More may follow; call it again to go on."));
        }
        Ok(scrolled)
    }
}

async fn pause(cancel: &CancellationToken, time: Duration) -> Result<(), ActError> {
    tokio::select! {
        () = cancel.cancelled() => Err(ActError::Cancelled),
        () = sleep(time) => Ok(()),
    }
}

fn at(told: Told) -> Result<Map<String, Value>, ActError> {
    match told {
        Told::Refused { class, error } => Err(Refusal::new(class, super::text::clean(&error, 400)).into()),
        Told::Missing { .. } => Err(Refusal::new(Class::Gone, "Nothing to scroll to.").into()),
        Told::At(words) => Ok(words),
    }
}

fn scrolled(mut words: Map<String, Value>, before: Option<&Map<String, Value>>) -> Scrolled {
    let moved = match before {
        Some(before) => ["scrollX", "scrollY"].iter().any(|key| before.get(*key) != words.get(*key)),
        None => words.get("moved") == Some(&Value::Bool(true)),
    };
    words.insert("moved".to_owned(), json!(moved));
    match words.get("container") {
        Some(Value::String(container)) => {
            let container = super::text::clean(container, 120);
            words.insert("container".to_owned(), json!(container));
        }
        _ => {
            words.remove("container");
        }
    }
    // Pages that end where they begin are not worth a word.
    for side in ["pagesLeft", "pagesRight"] {
        if words.get(side).and_then(Value::as_f64) == Some(0.0) {
            words.remove(side);
        }
    }
    if !moved && before.is_some() {
        words.insert("hint".to_owned(), json!("Nothing moved: this is the end in that direction."));
    }
    Scrolled { words, moved }
}
