//! Integration tests: one binary, one module per layer or theme.

mod conversations;
mod support;
