//! What several tests need.

pub mod copilot;
pub mod model_server;
