//! A real press on an element: found, brought into view, checked for what lies over it, watched.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::input::Button;
use super::keys::Modifiers;
use super::observe::{Became, Observed, Patience, Watch};
use super::page::WORLD_NAME;
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use crate::page::{self, ACT};

/// How often a point is looked for again while the page moves or something lies over it for a moment.
const TRIES: u32 = 6;

/// How long a small command around several clicks may take.
const SHIELDED: Duration = Duration::from_secs(1);

/// Between two tries.
const BETWEEN: Duration = Duration::from_millis(50);

/// How to press.
#[derive(Debug, Clone, PartialEq)]
pub struct Press {
    /// The button.
    pub button: Button,
    /// 2 is a double click. At most 3.
    pub count: u8,
    /// Held keys.
    pub modifiers: Modifiers,
    /// Where, in CSS px from the element's top left; `None`: wherever it is free.
    pub offset: Option<(f64, f64)>,
    /// Press this option of the element's own list instead.
    pub option: Option<String>,
    /// How long its effects are waited for.
    pub patience: Patience,
}

impl Default for Press {
    fn default() -> Self {
        Self {
            button: Button::Left,
            count: 1,
            modifiers: Modifiers::default(),
            offset: None,
            option: None,
            patience: Patience::Settle,
        }
    }
}

/// What the page functions `aim` and `reach` answer.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Aimed {
    Refused {
        class: Class,
        error: String,
        #[serde(default)]
        by: Option<String>,
    },
    At {
        x: f64,
        y: f64,
    },
}

impl Browser {
    /// Presses an element with the real mouse. It is never pressed somewhere else: the point is checked right
    /// before, and a press that the page moved away under is stopped inside the page.
    ///
    /// # Errors
    /// [`ActError`]: the element is disabled, hidden, covered, gone, ….
    pub async fn press(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        press: &Press,
    ) -> Result<Observed, ActError> {
        let tab = element.target.tab;
        self.prepare(cancel, tab).await?;
        let mut at = self.aim_patiently(cancel, element, press).await?;
        let mut watch =
            Watch::start_press(self, cancel, element, press.option.as_deref(), press.count).await?;
        self.move_mouse(cancel, tab, at, press.modifiers).await?;
        // Scrolling and hovering move things: the point must still hold when the button goes down.
        for _ in 0..TRIES {
            let again = self.aim(cancel, element, press, false).await;
            let again = match again {
                Ok(again) => again,
                Err(ActError::Refused(_)) => self.aim_patiently(cancel, element, press).await?,
                Err(other) => return Err(other),
            };
            let still = (again.0 - at.0).abs() < 1.5 && (again.1 - at.1).abs() < 1.5;
            at = again;
            if still {
                break;
            }
            self.move_mouse(cancel, tab, at, press.modifiers).await?;
        }
        // Number and fingerprint once more: a page may have made another thing of it since.
        self.element(cancel, element.index).await?;
        self.intercept_chooser(cancel, element, true).await;
        watch.arm(cancel, true).await?;
        let pressed = self.press_all(cancel, element, press, at, &mut watch).await;
        let observed = match &pressed {
            Err(CdpError::Cancelled) => Err(ActError::Cancelled),
            // Anything else most likely came after the button went down: a dialog, a navigation, a closed tab.
            Ok(_) | Err(_) => watch.settle(cancel, press.patience).await,
        };
        // Also after Stop: the person's own file choosers must open again.
        self.intercept_chooser(&CancellationToken::new(), element, false).await;
        let mut observed = observed?;
        let made = *pressed.as_ref().unwrap_or(&press.count);
        observed.note_strayed(made, press.count);
        if let Some(refusal) = half_done(&observed, press.count) {
            return Err(refusal.into());
        }
        observed.clicks_made = (made < press.count).then_some(made);
        match (observed.landed, pressed) {
            (Some(false), _) => Err(landed_elsewhere(&observed.landed_on).into()),
            (None, _) if observed.in_frame.is_some() && observed.dialog.is_none() => {
                Err(went_into_frame(&observed).into())
            }
            (None, Err(error)) if !observed.anything() => Err(error.into()),
            (None, Ok(_)) if !observed.anything() => Err(Refusal::new(
                Class::Covered,
                "The press did not reach the element's document, and nothing changed. Look again and retry.",
            )
            .into()),
            _ => Ok(observed),
        }
    }

    /// All clicks of a press, as long as they reach the element. Returns how many were made.
    async fn press_all(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        press: &Press,
        at: (f64, f64),
        watch: &mut Watch<'_>,
    ) -> Result<u8, CdpError> {
        let tab = element.target.tab;
        let one = |click| self.press_mouse(cancel, tab, at, press.button, press.modifiers, click);
        if press.count == 1 {
            return one(1).await.map(|()| 1);
        }
        let shields = self.shield(cancel, element).await;
        let mut made = 0;
        let mut pressed = Ok(());
        while pressed.is_ok() && made < press.count {
            if made > 0 && !(watch.may_go_on(cancel).await && self.is_free(cancel, element, press, at).await)
            {
                break;
            }
            made += 1;
            pressed = one(made).await;
        }
        for (target, identifier) in shields {
            let params = json!({ "identifier": identifier });
            let method = "Page.removeScriptToEvaluateOnNewDocument";
            // Also after Stop. A page with a dialog does it once that is answered.
            let always = CancellationToken::new();
            if let Err(error) = self.context.cdp_within(&always, &target, method, params, SHIELDED).await {
                tracing::debug!(%error, "new documents still ignore presses for a moment");
            }
        }
        pressed.map(|()| made)
    }

    /// Documents that come from now on do not take presses in their first moment. What to undo that with.
    async fn shield(&self, cancel: &CancellationToken, element: &Element) -> Vec<(Target, Value)> {
        let mut targets = vec![Target::tab(element.target.tab)];
        targets.extend(element.target.session.is_some().then(|| element.target.clone()));
        let mut shields = Vec::new();
        for target in targets {
            let params = json!({ "source": page::SHIELD, "worldName": WORLD_NAME });
            let method = "Page.addScriptToEvaluateOnNewDocument";
            match self.context.cdp_within(cancel, &target, method, params, SHIELDED).await {
                Ok(answer) => {
                    shields.push((target, answer.get("identifier").cloned().unwrap_or_default()));
                }
                Err(error) => tracing::debug!(%error, "new documents take presses"),
            }
        }
        shields
    }

    /// Whether nothing came over the element in the frames around its own.
    async fn is_free(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        press: &Press,
        at: (f64, f64),
    ) -> bool {
        match self.aim(cancel, element, press, false).await {
            Ok(again) => {
                let same = (again.0 - at.0).abs() < 1.5 && (again.1 - at.1).abs() < 1.5;
                same || element.hops.is_empty()
            }
            Err(_) => false,
        }
    }

    /// A file chooser of the system cannot be answered by anybody but the person, and blocks the tab: while
    /// pressing, the page gets none and the result says that a file is wanted.
    async fn intercept_chooser(&self, cancel: &CancellationToken, element: &Element, enabled: bool) {
        const COMMAND: Duration = Duration::from_secs(1);
        let tab = Target::tab(element.target.tab);
        // A frame of another site asks through its own target.
        let own = (element.target != tab).then_some(&element.target);
        for target in [Some(&tab), own].into_iter().flatten() {
            let send = |method, params| self.context.cdp_within(cancel, target, method, params, COMMAND);
            if own == Some(target)
                && enabled
                && let Err(error) = send("Page.enable", json!({})).await
            {
                tracing::debug!(%error, "a frame's events are not reported");
            }
            let params = json!({ "enabled": enabled });
            if let Err(error) = send("Page.setInterceptFileChooserDialog", params).await {
                tracing::debug!(%error, "file choosers are not intercepted");
            }
        }
    }

    pub(super) async fn aim_patiently(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        press: &Press,
    ) -> Result<(f64, f64), ActError> {
        let mut tries = 0;
        loop {
            match self.aim(cancel, element, press, true).await {
                // A toast or a closing menu may be gone in a moment.
                Err(ActError::Refused(refusal)) if refusal.class == Class::Covered && tries < TRIES => {
                    tries += 1;
                    tokio::select! {
                        () = cancel.cancelled() => return Err(ActError::Cancelled),
                        () = tokio::time::sleep(BETWEEN) => {}
                    }
                }
                other => return other,
            }
        }
    }

    /// A free point of the element in the tab's viewport, through all frames around it.
    pub(super) async fn aim(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        press: &Press,
        scroll: bool,
    ) -> Result<(f64, f64), ActError> {
        let offset = press.offset.map(|(x, y)| json!({ "x": x, "y": y }));
        let mut args = json!({ "scroll": scroll });
        if let Some(offset) = offset {
            args["offset"] = offset;
        }
        if let Some(option) = &press.option {
            args["option"] = json!(option);
        }
        let mut at = point(element.call(cancel, ACT, &[json!("aim"), args]).await?)?;
        for hop in &element.hops {
            let args: [Value; 3] =
                [json!(hop.slot), json!("reach"), json!({ "x": at.0, "y": at.1, "scroll": scroll })];
            at = point(hop.world.call(&self.context, cancel, ACT, &args).await?)?;
        }
        Ok(at)
    }
}

fn point(aimed: Aimed) -> Result<(f64, f64), ActError> {
    match aimed {
        Aimed::At { x, y } => Ok((x, y)),
        Aimed::Refused { class, error, by } => {
            let refusal = Refusal::new(class, super::text::clean(&error, 400));
            Err(match by {
                Some(by) => refusal.with("by", super::text::clean(&by, 160)),
                None => refusal,
            }
            .into())
        }
    }
}

pub(super) fn landed_elsewhere(on: &str) -> Refusal {
    let by = super::text::clean(on, 160);
    Refusal::new(
        Class::Covered,
        format!(
            "The page moved at the last moment: the press would have landed on {by} and was stopped. Look again \
             and retry."
        ),
    )
    .with("by", by)
}

/// A frame of another site cannot be kept from what it gets.
fn went_into_frame(observed: &Observed) -> Refusal {
    let by = super::text::clean(observed.in_frame.as_deref().unwrap_or_default(), 160);
    let error = format!(
        "A frame came over the element at the last moment, and the press went into it: {by}. The element was not \
         pressed. Call inspect_page to see what the frame made of it."
    );
    Refusal::new(Class::Covered, error).with("by", by)
}

/// The press began on the element, and the page moved it away before all of it was done.
fn half_done(observed: &Observed, count: u8) -> Option<Refusal> {
    let missed = observed.missed.as_ref()?;
    // A dialog, a new page or tab came of what was delivered: that is what has to be told.
    if observed.dialog.is_some() || observed.closed || observed.clicks >= u32::from(count) {
        return None;
    }
    let by = super::text::clean(&missed.on, 160);
    let (class, what) = match missed.was {
        Became::Covered => (Class::Covered, "something else came over the element"),
        Became::Moved => (Class::Covered, "the page moved the element away"),
        Became::Gone => (Class::Gone, "the element went away"),
        Became::Replaced => (Class::Stale, "the page replaced the element"),
    };
    let done = observed.clicks;
    let error = match (done, missed.was) {
        // A list that opens or closes as soon as the button goes down has done its work.
        (0, Became::Covered) => return None,
        (0, Became::Gone | Became::Replaced) if observed.anything() => return None,
        (0, _) => format!(
            "The button went down on it, then {what}: the click would have landed on {by} and was stopped, so it \
             was not clicked. Call inspect_page and retry."
        ),
        _ => format!(
            "Only {done} of {count} clicks reached it, then {what}: the rest would have landed on {by} and was \
             stopped. Call inspect_page to see what the first did."
        ),
    };
    Some(Refusal::new(class, error).with("by", by).with("clicks", done))
}
