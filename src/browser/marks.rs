//! The numbers of what can be seen now, with the places where they stand; and a look that leaves no trace.

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::look::{Sight, Wanted, reference};
use super::page::PageError;
use super::seer::{Request, Seer};
use super::view::{Entry, ViewError};
use crate::protocol::TabId;

/// Entries that one frame may send.
const MOST: usize = 400;

/// A numbered element that can be seen.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Its number.
    pub index: u32,
    /// What of it can be seen: left, top, right, bottom in CSS px of the tab's viewport.
    pub edges: [f64; 4],
    /// Its content is the person's alone, and is painted over in pictures.
    pub secret: bool,
    /// It can be seen, but not acted on: something lies over it, or it is inert.
    pub blocked: bool,
}

/// How a frame's viewport lies in the tab's.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Lie {
    x: f64,
    y: f64,
    scale: f64,
}

impl Lie {
    fn inside(self, [x, y, scale]: [f64; 3]) -> Self {
        Self { x: self.x + x * self.scale, y: self.y + y * self.scale, scale: self.scale * scale }
    }

    fn out(self, [left, top, right, bottom]: [f64; 4]) -> [f64; 4] {
        [
            self.x + left * self.scale,
            self.y + top * self.scale,
            self.x + right * self.scale,
            self.y + bottom * self.scale,
        ]
    }
}

impl Browser {
    /// What can be seen and acted on now, in the order of the page view and with its numbers.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn marks(&self, cancel: &CancellationToken) -> Result<Vec<Mark>, ViewError> {
        self.ask_marks(cancel, true).await
    }

    /// `numbered`: else nothing is told, and no number given.
    pub(super) async fn ask_marks(
        &self,
        cancel: &CancellationToken,
        numbered: bool,
    ) -> Result<Vec<Mark>, ViewError> {
        let tab = self.tab(cancel).await.map_err(PageError::from)?.ok_or(ViewError::NoTab)?;
        let (reply, answer) = oneshot::channel();
        self.ask(cancel, Request::Marks { tab, numbered, cancel: cancel.clone(), reply }, answer).await?
    }
}

impl Seer {
    pub(super) async fn marks(
        &mut self,
        tab: TabId,
        numbered: bool,
        cancel: &CancellationToken,
    ) -> Result<Vec<Mark>, ViewError> {
        let wanted = Wanted { most: MOST, peek: true, opens: !numbered, ..Wanted::default() };
        let sight = match self.gather(tab, &wanted, cancel).await {
            Err(PageError::WorldGone) => {
                if let Some(frames) = self.tabs.get_mut(&tab) {
                    frames.forget_root();
                }
                self.gather(tab, &wanted, cancel).await?
            }
            other => other?,
        };
        Ok(if numbered { self.mark(tab, &sight) } else { Vec::new() })
    }

    fn mark(&mut self, tab: TabId, sight: &Sight) -> Vec<Mark> {
        let mut marks = Vec::new();
        // A frame stands behind the one that shows it in the list.
        let mut lies = vec![None; sight.seen.len()];
        if let Some(first) = lies.first_mut() {
            *first = Some(Lie { x: 0.0, y: 0.0, scale: 1.0 });
        }
        for (at, seen) in sight.seen.iter().enumerate() {
            let Some(lie) = lies.get(at).copied().flatten() else { continue };
            for frame in &seen.view.frames {
                let child = sight.children.get(&(at, frame.slot)).and_then(|child| lies.get_mut(*child));
                if let Some(child) = child {
                    *child = Some(lie.inside(frame.at));
                }
            }
            for entry in &seen.view.entries {
                let Some(edges) = entry.edges else { continue };
                let blocked = entry.is_blocked();
                let secret = entry.words.iter().any(|word| word == "secret");
                if entry.kind != Entry::ELEMENT || entry.is_off_screen() || (blocked && !secret) {
                    continue;
                }
                let index = self.refs.number(reference(tab, seen.world.id, entry, seen.origin.as_deref()));
                marks.push(Mark { index, edges: lie.out(edges), secret, blocked });
            }
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_go_through_frames_with_their_scale() {
        let outer = Lie { x: 0.0, y: 0.0, scale: 1.0 };
        let frame = outer.inside([100.0, 50.0, 0.5]).inside([20.0, 10.0, 1.0]);
        assert_eq!(frame.out([0.0, 0.0, 40.0, 20.0]), [110.0, 55.0, 130.0, 65.0]);
    }
}
