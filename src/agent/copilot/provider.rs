//! An own model provider instead of GitHub Copilot.

use serde_json::{Value, json};

use super::wire;
use crate::config::{Provider, ProviderKind};

/// The provider as the CLI wants it. The key travels in the message, never in an argument or variable.
pub fn on_wire(provider: &Provider) -> wire::Provider<'_> {
    wire::Provider {
        r#type: provider.kind.name(),
        // Anthropic has one format only.
        wire_api: (provider.kind != ProviderKind::Anthropic).then_some("completions"),
        azure: provider
            .api_version
            .as_deref()
            .filter(|_| provider.kind == ProviderKind::Azure)
            .map(|api_version| wire::Azure { api_version }),
        base_url: &provider.base_url,
        api_key: provider.api_key.as_deref().filter(|key| !key.is_empty()),
    }
}

/// What the CLI cannot know of a foreign model. Without `vision` it drops every picture silently.
pub fn capabilities() -> Value {
    json!({"supports": {"vision": true}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_told_in_the_clis_words() {
        let provider = |kind| Provider {
            kind,
            base_url: "https://x.example/v1".into(),
            model: "m".into(),
            api_key: Some("k".into()),
            api_version: Some("2026-01-01".into()),
        };
        for (kind, wanted) in [
            (ProviderKind::Openai, json!({"type": "openai", "wireApi": "completions"})),
            (ProviderKind::Azure, json!({"type": "azure", "wireApi": "completions"})),
            (ProviderKind::Anthropic, json!({"type": "anthropic", "wireApi": null})),
        ] {
            let provider = provider(kind);
            let sent = serde_json::to_value(on_wire(&provider)).unwrap();
            assert_eq!((&sent["type"], &sent["wireApi"]), (&wanted["type"], &wanted["wireApi"]));
            assert_eq!((&sent["baseUrl"], &sent["apiKey"]), (&json!("https://x.example/v1"), &json!("k")));
            let version = (kind == ProviderKind::Azure).then_some("2026-01-01");
            assert_eq!(sent.pointer("/azure/apiVersion").and_then(Value::as_str), version);
        }
    }
}
