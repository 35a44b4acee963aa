//! An own model provider instead of GitHub Copilot.

use serde_json::{Value, json};

use super::wire;
use crate::config::Provider;

/// The provider as the CLI wants it. The key travels in the message, never in an argument or variable.
pub fn on_wire(provider: &Provider) -> wire::Provider<'_> {
    wire::Provider {
        r#type: "openai",
        wire_api: "completions",
        base_url: &provider.base_url,
        api_key: provider.api_key.as_deref().filter(|key| !key.is_empty()),
    }
}

/// What the CLI cannot know of a foreign model. Without `vision` it drops every picture silently.
pub fn capabilities() -> Value {
    json!({"supports": {"vision": true}})
}
