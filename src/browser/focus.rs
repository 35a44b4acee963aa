//! Which element has the keyboard, through shadow roots and frames of every origin.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::page::{PAGE_TIMEOUT, PageError};
use super::refs::{Element, Fingerprint};
use super::refusal::{ActError, Class, Refusal};
use super::seer::{Found, FrameWorld};
use crate::page::{PageFunction, function};

/// Frames inside frames that are followed.
const DEEPEST: usize = 10;

/// The element that keys go to.
#[derive(Clone)]
pub struct Focus {
    /// It; the body when nothing has the focus.
    pub element: Element,
    /// Passwords, card numbers, one-time codes: the person's alone.
    pub secret: bool,
    /// Nothing in particular has the focus.
    pub nothing: bool,
}

#[derive(Deserialize)]
struct Active {
    slot: u32,
    fingerprint: Fingerprint,
    secret: bool,
    foreign: bool,
    nothing: bool,
}

impl Browser {
    /// The element that keys go to now.
    ///
    /// # Errors
    /// [`Class::NotAllowed`] when it is in a frame that cannot be read, so that nobody knows what keys do
    /// there; else see [`ActError`].
    pub async fn focus(&self, cancel: &CancellationToken) -> Result<Focus, ActError> {
        const FOCUSED: PageFunction = function("focused");
        let mut frames = self.worlds(cancel, false).await?;
        let mut at = frames.pop().ok_or_else(unreadable)?;
        let mut all: Option<Vec<FrameWorld>> = None;
        for _ in 0..DEEPEST {
            let active: Option<Active> = at.world.call(&self.context, cancel, FOCUSED, &[]).await?;
            let active = active.ok_or_else(unreadable)?;
            if active.foreign {
                let frame = self.frame_shown_by(cancel, &at, active.slot).await?;
                if all.is_none() {
                    all = Some(self.worlds(cancel, true).await?);
                }
                at = all
                    .iter()
                    .flatten()
                    .find(|world| world.world.frame == frame)
                    .cloned()
                    .ok_or_else(unreadable)?;
                continue;
            }
            let found = Found {
                world: at.world.id,
                slot: active.slot,
                fingerprint: active.fingerprint,
                origin: at.origin.clone(),
            };
            let index = self.number(cancel, vec![found]).await?.pop().ok_or_else(unreadable)?;
            let element = self.element(cancel, index).await?;
            return Ok(Focus { element, secret: active.secret, nothing: active.nothing });
        }
        Err(unreadable().into())
    }

    async fn frame_shown_by(
        &self,
        cancel: &CancellationToken,
        at: &FrameWorld,
        slot: u32,
    ) -> Result<Arc<str>, ActError> {
        let object = at.world.object(&self.context, cancel, slot).await?;
        let params = json!({ "objectId": &*object, "depth": 0 });
        let node = self
            .context
            .cdp_within(cancel, &at.world.target, "DOM.describeNode", params, PAGE_TIMEOUT)
            .await
            .map_err(PageError::from)?;
        let frame = node.pointer("/node/frameId").and_then(Value::as_str);
        frame.map(Arc::from).ok_or_else(|| unreadable().into())
    }
}

fn unreadable() -> Refusal {
    Refusal::new(
        Class::NotAllowed,
        "The keyboard is in a part of the page that cannot be read, so no keys are sent there. Click the element \
         that is meant first.",
    )
}
