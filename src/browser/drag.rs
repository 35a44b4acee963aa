//! Dragging with the real mouse: the button is held all the way. What the browser itself would carry (HTML5 drag
//! and drop) is taken from it and carried by the same mouse, because the system's own drag cannot be steered.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::broadcast::{self, error::TryRecvError};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::extension_context::BrowserEvent;
use super::keys::Modifiers;
use super::observe::{Patience, Watch};
use super::press::{Press, landed_elsewhere};
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use super::text::clean;
use crate::page::ACT;
use crate::protocol::TabId;

/// Moves from one end to the other.
const STEPS: u32 = 14;

/// How long the browser may take to say that it would carry something itself.
const CARRIES: Duration = Duration::from_millis(400);

/// How long the mouse rests over the target, twice: pages look only now and then where it is.
const RESTS: Duration = Duration::from_millis(40);

/// How long one command of a drag may take.
const STEP_TIMEOUT: Duration = Duration::from_secs(5);

/// Where something is dragged.
#[derive(Debug, Clone)]
pub enum DragTo {
    /// Onto an element.
    Element(Box<Element>),
    /// So many CSS px to the right and down.
    By(f64, f64),
}

/// What the page says of a drag.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Dragged {
    moved: Option<[f64; 2]>,
    place: Option<Standing>,
    effect: Option<String>,
    dropped: bool,
}

#[derive(Debug, Deserialize)]
struct Standing {
    at: u32,
    of: u32,
    into: Option<String>,
}

/// A drag under way.
struct Way<'a> {
    browser: &'a Browser,
    cancel: &'a CancellationToken,
    tab: TabId,
    events: broadcast::Receiver<BrowserEvent>,
    at: (f64, f64),
    /// The ends are in pages of different processes.
    crosses: bool,
    /// What the browser would carry.
    data: Option<Value>,
}

impl Browser {
    /// Drags an element with the left button. Returns the words of the result.
    ///
    /// # Errors
    /// [`ActError`]: either end is hidden, covered, gone, …, or the page let the drop fail.
    pub async fn drag(
        &self,
        cancel: &CancellationToken,
        from: &Element,
        to: &DragTo,
    ) -> Result<Map<String, Value>, ActError> {
        let tab = from.target.tab;
        self.prepare(cancel, tab).await?;
        let (start, end) = self.ends(cancel, from, to).await?;
        let mut watch = Watch::start_press(self, cancel, from, None, 0).await?;
        let carried = self.dragging(cancel, from, "before").await?;
        let carried = carried.get("carried") == Some(&Value::Bool(true));
        self.move_mouse(cancel, tab, start, Modifiers::default()).await?;
        let start = self.aim(cancel, from, &Press::default(), false).await?;
        // Numbers and fingerprints once more: a page may have made other things of them since.
        self.element(cancel, from.index).await?;
        if let DragTo::Element(to) = to {
            self.element(cancel, to.index).await?;
            self.dragging(cancel, to, "before").await?;
        }
        // A page in another process hears of what is carried only once it is said to have come in.
        let crosses = matches!(to, DragTo::Element(to) if to.target != from.target);
        watch.arm(cancel, true).await?;
        self.intercept_drags(cancel, tab, true).await?;
        let mut way = Way {
            browser: self,
            cancel,
            tab,
            crosses,
            events: self.context.subscribe(),
            at: start,
            data: None,
        };
        let pulled = way.pull(&watch, to, end, carried).await;
        // Also after Stop: neither a held button nor a caught drag may be left behind.
        let always = CancellationToken::new();
        let (at, data) = (way.at, way.data);
        if pulled.is_err() && data.is_some() {
            let _ = self.carry(&always, tab, "dragCancel", at, data.as_ref()).await;
        }
        let released = self.hold_mouse(&always, tab, at, false).await;
        let _ = self.intercept_drags(&always, tab, false).await;
        pulled?;
        if let Err(error) = released {
            // Most likely a dialog that the drop opened, or a page that went.
            tracing::debug!(%error, "the button was let go of without an answer");
        }
        let observed = watch.settle(cancel, Patience::Settle).await?;
        let mut words = observed.words();
        words.insert("tag".to_owned(), json!(from.fingerprint.tag));
        if observed.dialog.is_some() || observed.url_changed || observed.closed {
            return Ok(words);
        }
        // Either end may be gone by now: a drop moves things.
        let mut dragged: Dragged = from.call(cancel, ACT, &after()).await.unwrap_or_default();
        if let DragTo::Element(to) = to {
            dragged.dropped |= to.call::<Dragged>(cancel, ACT, &after()).await.is_ok_and(|to| to.dropped);
        }
        tell(&mut words, dragged, data.is_some())?;
        Ok(words)
    }

    async fn dragging(
        &self,
        cancel: &CancellationToken,
        from: &Element,
        op: &str,
    ) -> Result<Map<String, Value>, ActError> {
        Ok(from.call(cancel, ACT, &[json!("dragging"), json!({ "op": op })]).await?)
    }

    /// Both ends in the tab's viewport. `None` for the second: it comes into view only when the first goes out.
    async fn ends(
        &self,
        cancel: &CancellationToken,
        from: &Element,
        to: &DragTo,
    ) -> Result<((f64, f64), Option<(f64, f64)>), ActError> {
        let press = Press::default();
        let start = self.aim_patiently(cancel, from, &press).await?;
        let to = match to {
            DragTo::By(dx, dy) => return Ok((start, Some((start.0 + dx, start.1 + dy)))),
            DragTo::Element(to) => to,
        };
        if let Ok(end) = self.aim(cancel, to, &press, false).await {
            return Ok((start, Some(end)));
        }
        let end = self.aim_patiently(cancel, to, &press).await?;
        match self.aim(cancel, from, &press, false).await {
            Ok(start) => Ok((start, Some(end))),
            Err(ActError::Cancelled) => Err(ActError::Cancelled),
            Err(_) => Ok((self.aim_patiently(cancel, from, &press).await?, None)),
        }
    }

    async fn intercept_drags(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        enabled: bool,
    ) -> Result<(), CdpError> {
        let params = json!({ "enabled": enabled });
        let target = Target::tab(tab);
        self.context
            .cdp_within(cancel, &target, "Input.setInterceptDrags", params, STEP_TIMEOUT)
            .await
            .map(drop)
    }

    async fn carry(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        kind: &str,
        at: (f64, f64),
        data: Option<&Value>,
    ) -> Result<(), CdpError> {
        let params = json!({ "type": kind, "x": at.0, "y": at.1, "data": data });
        let target = Target::tab(tab);
        self.context
            .cdp_within(cancel, &target, "Input.dispatchDragEvent", params, STEP_TIMEOUT)
            .await
            .map(drop)
    }
}

impl Way<'_> {
    /// From the press to the place where it is let go of; what is carried is dropped there.
    async fn pull(
        &mut self,
        watch: &Watch<'_>,
        to: &DragTo,
        end: Option<(f64, f64)>,
        carried: bool,
    ) -> Result<(), ActError> {
        let browser = self.browser;
        browser.hold_mouse(self.cancel, self.tab, self.at, true).await?;
        if let Some(seen) = watch.reading(self.cancel).await?.filter(|seen| seen.landed == Some(false)) {
            return Err(landed_elsewhere(&seen.landed_on).into());
        }
        let start = self.at;
        let aim = end.unwrap_or((start.0, start.1 + 12.0));
        // Small steps first: a drag begins after a few pixels, and nothing may be passed over until then.
        for share in [3.0, 7.0, 12.0] {
            let far = (aim.0 - start.0).hypot(aim.1 - start.1).max(1.0);
            let part = (share / far).min(1.0);
            self.step((start.0 + (aim.0 - start.0) * part, start.1 + (aim.1 - start.1) * part)).await?;
        }
        if carried && self.data.is_none() {
            self.wait_for_data().await?;
        }
        if self.data.is_some() {
            browser.carry(self.cancel, self.tab, "dragEnter", self.at, self.data.as_ref()).await?;
        }
        let end = match (end, to) {
            (Some(end), _) => end,
            (None, DragTo::Element(to)) => {
                browser.scroll_to(self.cancel, (**to).clone()).await?;
                browser.aim(self.cancel, to, &Press::default(), false).await?
            }
            (None, DragTo::By(..)) => self.at,
        };
        let begin = self.at;
        for step in 1..=STEPS {
            let part = f64::from(step) / f64::from(STEPS);
            self.step((begin.0 + (end.0 - begin.0) * part, begin.1 + (end.1 - begin.1) * part)).await?;
        }
        if self.crosses && self.data.is_some() {
            browser.carry(self.cancel, self.tab, "dragEnter", end, self.data.as_ref()).await?;
        }
        for _ in 0..2 {
            tokio::select! {
                () = self.cancel.cancelled() => return Err(ActError::Cancelled),
                () = sleep(RESTS) => {}
            }
            self.step(end).await?;
        }
        if self.data.is_some() {
            browser.carry(self.cancel, self.tab, "drop", end, self.data.as_ref()).await?;
        }
        Ok(())
    }

    async fn step(&mut self, at: (f64, f64)) -> Result<(), ActError> {
        self.at = at;
        if self.data.is_some() {
            self.browser.carry(self.cancel, self.tab, "dragOver", at, self.data.as_ref()).await?;
            return Ok(());
        }
        self.browser.pull_mouse(self.cancel, self.tab, at).await?;
        self.take_data();
        Ok(())
    }

    /// What the browser says it would carry, if it said so already.
    fn take_data(&mut self) {
        loop {
            match self.events.try_recv() {
                Ok(event) => self.note(&event),
                Err(TryRecvError::Lagged(_)) => {}
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    fn note(&mut self, event: &BrowserEvent) {
        if let BrowserEvent::Cdp(event) = event
            && event.tab_id == Some(self.tab)
            && event.method == "Input.dragIntercepted"
        {
            self.data = event.params.get("data").cloned();
        }
    }

    async fn wait_for_data(&mut self) -> Result<(), ActError> {
        let until = Instant::now() + CARRIES;
        while self.data.is_none() {
            tokio::select! {
                () = self.cancel.cancelled() => return Err(ActError::Cancelled),
                () = tokio::time::sleep_until(until) => return Ok(()),
                event = self.events.recv() => match event {
                    Ok(event) => self.note(&event),
                    Err(broadcast::error::RecvError::Lagged(_)) => {}
                    Err(broadcast::error::RecvError::Closed) => return Err(CdpError::Closed.into()),
                },
            }
        }
        Ok(())
    }
}

fn after() -> [Value; 2] {
    [json!("dragging"), json!({ "op": "after" })]
}

fn tell(words: &mut Map<String, Value>, dragged: Dragged, carried: bool) -> Result<(), ActError> {
    let changed = |words: &Map<String, Value>| {
        ["domChanged", "elementStateChanged", "modalAppeared", "download"].iter().any(|word| {
            words.get(*word).is_some_and(|value| *value != Value::Bool(false) && !value.is_null())
        })
    };
    // What was taken is told with how it was taken; an element that the drop replaced hears nothing any more.
    // What was taken is told with how it was taken. An element that the drop replaced hears nothing any more, and
    // one of another process never does.
    let taken = dragged.dropped || matches!(dragged.effect.as_deref(), Some("copy" | "move" | "link"));
    if carried && !taken && !changed(words) {
        return Err(Refusal::new(
            Class::Rejected,
            "It was carried there and dropped, but what lies there does not take it. Choose another target.",
        )
        .into());
    }
    if let Some([dx, dy]) = dragged.moved {
        words.insert("moved".to_owned(), json!({ "dx": dx, "dy": dy }));
    }
    if let Some(place) = dragged.place {
        let mut told = json!({ "at": place.at, "of": place.of });
        if let Some(into) = place.into {
            told["into"] = json!(clean(&into, 120));
        }
        words.insert("position".to_owned(), told);
    }
    Ok(())
}
