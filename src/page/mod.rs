//! JavaScript that runs inside pages.
//!
//! One script, [`LIBRARY`], is evaluated once in the isolated world of each frame and yields a registry
//! object that only the host holds. Afterwards everything is a call of one of its functions by name
//! ([`CALL`]), with arguments as data. Nothing else is ever sent as source ([`SOURCES`]).
//!
//! The files below `lib/` share one scope, in this order; each may use what stands before it. A function
//! becomes callable by `registry.define("name", function)` or, when its first argument is an element that
//! the host names by its slot, by `registry.defineFor("name", function)`.

mod act;

pub use act::{ACT, WAITING, WATCHING};

/// The page library: evaluates to the registry.
pub const LIBRARY: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("lib/registry.js"),
    include_str!("lib/dom.js"),
    include_str!("lib/flat.js"),
    include_str!("lib/secret.js"),
    include_str!("lib/names.js"),
    include_str!("lib/geometry.js"),
    include_str!("lib/restless.js"),
    include_str!("lib/walk.js"),
    include_str!("lib/describe.js"),
    include_str!("lib/things.js"),
    include_str!("lib/snapshot.js"),
    include_str!("lib/points.js"),
    include_str!("lib/places.js"),
    include_str!("lib/reading.js"),
    include_str!("lib/form.js"),
    include_str!("lib/focus.js"),
    include_str!("lib/telling.js"),
    include_str!("lib/finding.js"),
    include_str!("lib/markup.js"),
    act::library!(),
    include_str!("lib/giving.js"),
    include_str!("lib/pdf.js"),
    include_str!("lib/storage.js"),
    include_str!("lib/replay.js"),
    "\nreturn registry;\n})()",
);

/// The name by which [`LIBRARY`] calls the host, in its own world only (`Runtime.addBinding`). What it says: `print`
/// when the print window opens, `printed` when it is closed.
pub const TELL: &str = "browyTell";

/// Calls one registered function: `this` is the registry, the arguments are its name and its arguments.
pub const CALL: &str = include_str!("call.js");

/// Hands out a registered element itself, for DevTools commands that want an object.
pub const ELEMENT: &str = include_str!("element.js");

/// Writes a value of the page's own world as text; `this` is the value.
pub const SHOW: &str = include_str!("show.js");

/// Calls a condition that the model wrote as a function; `this` is the function, the argument is data.
pub const TEST: &str = include_str!("test.js");

/// Keeps documents that come in the midst of several clicks from getting the rest of them.
pub const SHIELD: &str = include_str!("shield.js");

/// Every source that is ever sent to a page, but for the code that the model gives to `evaluate_js` and, when that is
/// switched on, to `wait_for`.
pub const SOURCES: &[&str] = &[LIBRARY, CALL, ELEMENT, SHOW, TEST, SHIELD];

/// The name of a function that [`LIBRARY`] registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageFunction(&'static str);

impl PageFunction {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.0
    }
}

/// Names a function of [`LIBRARY`]. A test checks that every name used in the sources is registered.
pub const fn function(name: &'static str) -> PageFunction {
    PageFunction(name)
}
