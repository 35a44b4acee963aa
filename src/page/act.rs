//! The acting functions: finding a point to press, watching what a press does, filling fields, choosing.

use super::PageFunction;

/// The part of the page library that acts. A world reaches the documents of its same-origin frames too: so
/// the functions are made once per document, and every name that depends on the document is taken from its
/// own window.
macro_rules! library {
    () => {
        concat!(
            "\nfunction actingKit(view) {\nconst { document, location, scrollBy, getComputedStyle, getSelection, ",
            "addEventListener, removeEventListener, setTimeout, requestAnimationFrame, InputEvent, Event, MessageChannel, ",
            "MutationObserver } = view;\n",
            include_str!("act/lib.js"),
            include_str!("act/listlib.js"),
            include_str!("act/aim.js"),
            include_str!("act/reach.js"),
            include_str!("act/guard.js"),
            include_str!("act/silent.js"),
            include_str!("act/watch.js"),
            include_str!("act/field.js"),
            include_str!("act/choose.js"),
            include_str!("act/list.js"),
            include_str!("act/waiting.js"),
            include_str!("act/scroll.js"),
            include_str!("act/submit.js"),
            include_str!("act/give.js"),
            include_str!("act/hover.js"),
            include_str!("act/dragging.js"),
            "\nreturn { aim, reach, watch, field, choose, list, waiting, scroll: scrollBox, submit, give, hover, dragging };\n}\n",
            include_str!("act/enter.js"),
        )
    };
}
pub(super) use library;

/// Calls one of the acting functions for an element: `(slot, name, arguments)`.
pub const ACT: PageFunction = super::function("act");

/// Whether something is in a document or the same-origin ones inside it: `(arguments)`.
pub const WAITING: PageFunction = super::function("waiting");

/// Arms, reads or stops a watch of `ACT`'s `watch`: `(arguments)`.
pub const WATCHING: PageFunction = super::function("watching");
