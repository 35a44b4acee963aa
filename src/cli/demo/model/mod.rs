//! The scripted model: it reads labels and papers, and knows no answers.

pub mod facts;
pub mod labels;
