//! Tests in a real browser: the extension, the side panel, the host.

#[path = "../it/support/mod.rs"]
mod support;

mod launch;
