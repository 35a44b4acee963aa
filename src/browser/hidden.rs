//! What no picture of a page may show: fields with secrets, and frames that nobody can look into. Where they stand is
//! read from the page; painting over them is done in the picture, so the page never changes.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::page::WorldId;
use super::refusal::ActError;
use super::seer::FrameWorld;
use crate::page::{PageFunction, function};

const PLACES: PageFunction = function("secretPlaces");

/// A box that is painted over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hidden {
    who: (WorldId, u32),
    /// Left, top, right, bottom in CSS px of the tab's viewport.
    pub(super) edges: [f64; 4],
}

/// Slot, then left, top, right, bottom in the viewport of the world's own document.
type Place = (u32, f64, f64, f64, f64);

#[derive(Debug, Deserialize)]
struct Places {
    boxes: Vec<Place>,
    frames: Vec<Place>,
}

/// How a world's viewport lies in the tab's.
#[derive(Debug, Clone, Copy)]
struct Lie {
    x: f64,
    y: f64,
    scale: f64,
}

impl Lie {
    fn out(self, (slot, left, top, right, bottom): Place, world: WorldId) -> Hidden {
        let x = |value: f64| self.x + value * self.scale;
        let y = |value: f64| self.y + value * self.scale;
        Hidden { who: (world, slot), edges: [x(left), y(top), x(right), y(bottom)] }
    }
}

impl Browser {
    /// Everything that has to be painted over, whether it is in view or not.
    pub(super) async fn hidden(&self, cancel: &CancellationToken) -> Result<Vec<Hidden>, ActError> {
        let answers = self.call_frames::<Places>(cancel, PLACES, &[]).await?;
        let known: HashSet<(WorldId, u32)> = answers
            .iter()
            .filter_map(|(frame, _)| frame.hops.first().map(|hop| (hop.world.id, hop.slot)))
            .collect();
        let mut all = Vec::new();
        for (frame, places) in answers {
            let unseen = |place: &&Place| !known.contains(&(frame.world.id, place.0));
            let boxes: Vec<Place> =
                places.boxes.iter().chain(places.frames.iter().filter(unseen)).copied().collect();
            if boxes.is_empty() {
                continue;
            }
            let lie = self.lie(cancel, &frame).await?;
            all.extend(boxes.into_iter().map(|place| lie.out(place, frame.world.id)));
        }
        Ok(all)
    }

    async fn lie(&self, cancel: &CancellationToken, frame: &FrameWorld) -> Result<Lie, ActError> {
        if frame.hops.is_empty() {
            return Ok(Lie { x: 0.0, y: 0.0, scale: 1.0 });
        }
        let ([x, y], [far, _]) = (
            self.outwards(cancel, frame, [0.0, 0.0]).await?,
            self.outwards(cancel, frame, [100.0, 0.0]).await?,
        );
        Ok(Lie { x, y, scale: (far - x) / 100.0 })
    }

    async fn outwards(
        &self,
        cancel: &CancellationToken,
        frame: &FrameWorld,
        mut at: [f64; 2],
    ) -> Result<[f64; 2], ActError> {
        for hop in &frame.hops {
            let args = [json!(hop.slot), json!(at[0]), json!(at[1])];
            at = hop.world.call(&self.context, cancel, function("throughFrame"), &args).await?;
        }
        Ok(at)
    }
}

/// What covers both, for things that moved while the picture was taken.
pub(super) fn hull(before: &[Hidden], after: &[Hidden]) -> Vec<Hidden> {
    let mut all = before.to_vec();
    for one in after {
        match all.iter_mut().find(|other| other.who == one.who) {
            Some(Hidden { edges: [left, top, right, bottom], .. }) => {
                let [other_left, other_top, other_right, other_bottom] = one.edges;
                (*left, *top) = (left.min(other_left), top.min(other_top));
                (*right, *bottom) = (right.max(other_right), bottom.max(other_bottom));
            }
            None => all.push(*one),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_moved_is_covered_from_where_it_was_to_where_it_is() {
        let at = |slot, left: f64| {
            Lie { x: 10.0, y: 0.0, scale: 2.0 }.out((slot, left, 0.0, left + 5.0, 5.0), WorldId(1))
        };
        let covered = hull(&[at(1, 0.0), at(2, 50.0)], &[at(1, 20.0), at(3, 90.0)]);
        let edges: Vec<[f64; 4]> = covered.iter().map(|hidden| hidden.edges).collect();
        assert_eq!(edges, [[10.0, 0.0, 60.0, 10.0], [110.0, 0.0, 120.0, 10.0], [190.0, 0.0, 200.0, 10.0]]);
    }
}
