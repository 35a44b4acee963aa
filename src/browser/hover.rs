//! The mouse at rest on an element, and what comes up because of it.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::finding::Named;
use super::keys::Modifiers;
use super::observe::{Patience, Watch};
use super::press::Press;
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use super::text::clean;
use crate::page::ACT;

/// How long menus and tooltips may take to come up.
const COMES_UP: Duration = Duration::from_millis(900);

/// How often an element that moves is followed.
const FOLLOWS: u32 = 4;

/// Between two looks; what came up is told once it is the same in two of them.
const LOOK_EVERY: Duration = Duration::from_millis(60);

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
struct Hovered {
    over: bool,
    appeared: Vec<Appeared>,
    tooltip: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default)]
struct Appeared {
    what: String,
    text: String,
    inside: Vec<Named>,
}

impl Browser {
    /// Moves the real mouse onto an element and waits for what comes up. Returns the words of the result.
    ///
    /// # Errors
    /// [`ActError`]: the element is hidden, covered, gone, ….
    pub async fn hover(
        &self,
        cancel: &CancellationToken,
        element: &Element,
    ) -> Result<Map<String, Value>, ActError> {
        let tab = element.target.tab;
        self.prepare(cancel, tab).await?;
        let press = Press::default();
        let mut at = self.aim_patiently(cancel, element, &press).await?;
        let mut watch = Watch::start(self, cancel, element, None).await?;
        watch.arm(cancel, false).await?;
        let _: Value = element.call(cancel, ACT, &[json!("hover"), json!({ "op": "before" })]).await?;
        // Number and fingerprint once more: scrolling to it may have made another thing of it.
        self.element(cancel, element.index).await?;
        // A mouse comes from somewhere: some pages wait for a second move.
        for point in [(at.0 - 2.0, at.1 - 1.0), at] {
            self.move_mouse(cancel, tab, point, Modifiers::default()).await?;
        }
        // What the mouse left behind may have closed, and moved everything.
        for _ in 0..FOLLOWS {
            let now = match self.aim(cancel, element, &press, false).await {
                Err(ActError::Refused(_)) => break,
                other => other?,
            };
            if (now.0 - at.0).abs() < 1.5 && (now.1 - at.1).abs() < 1.5 {
                break;
            }
            at = now;
            self.move_mouse(cancel, tab, at, Modifiers::default()).await?;
        }
        let hovered = self.comes_up(cancel, element).await?;
        let observed = watch.settle(cancel, Patience::Brief).await?;
        let mut words = observed.words();
        if !hovered.over && observed.dialog.is_none() && !observed.url_changed && !observed.closed {
            return Err(Refusal::new(
                Class::Covered,
                "The mouse is where the element was, but the page moved it away or laid something over it. Look \
                 again and retry.",
            )
            .into());
        }
        self.tell_appeared(cancel, element, hovered, &mut words).await?;
        Ok(words)
    }

    async fn comes_up(&self, cancel: &CancellationToken, element: &Element) -> Result<Hovered, ActError> {
        let started = Instant::now();
        let mut last = Hovered::default();
        loop {
            let now: Hovered = element.call(cancel, ACT, &[json!("hover"), json!({ "op": "after" })]).await?;
            let anything = !now.appeared.is_empty() || now.tooltip.is_some();
            if (anything && now == last) || started.elapsed() >= COMES_UP {
                return Ok(now);
            }
            last = now;
            tokio::select! {
                () = cancel.cancelled() => return Err(ActError::Cancelled),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    async fn tell_appeared(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        hovered: Hovered,
        words: &mut Map<String, Value>,
    ) -> Result<(), ActError> {
        words.insert("tag".to_owned(), json!(element.fingerprint.tag));
        if let Some(tooltip) = &hovered.tooltip {
            words.insert("tooltip".to_owned(), json!(clean(tooltip, 200)));
        }
        let mut appeared = Vec::new();
        for Appeared { what, text, inside } in hovered.appeared {
            let mut told = json!({ "what": clean(&what, 120) });
            if !text.is_empty() {
                told["text"] = json!(clean(&text, 300));
            }
            let inside = self.named(cancel, &element.frame_world(), inside).await?;
            if !inside.is_empty() {
                told["elements"] = json!(inside);
            }
            appeared.push(told);
        }
        if !appeared.is_empty() {
            let hint = "It stays for as long as the mouse does: act on what appeared before anything else.";
            words.insert("hint".to_owned(), json!(hint));
            words.insert("appeared".to_owned(), json!(appeared));
        } else if hovered.tooltip.is_some() {
            words.remove("hint");
        }
        Ok(())
    }
}
