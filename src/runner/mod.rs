//! Sessions, the turn queue, and one turn from start to ending.

mod lane;
mod queue;
