//! `browy demo`: the whole chain on two pages that nobody has seen before.

mod form;
mod kind;
mod model;
mod pages;
mod paper;
mod rng;
mod scenario;
mod serve;
mod topics;
mod wording;

