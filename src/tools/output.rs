//! What a tool hands back.

use serde_json::Value;

/// Text for the model, pictures for the model, and whether it worked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// What the model reads.
    pub text: String,
    /// What the model sees.
    pub pictures: Vec<Picture>,
    /// Whether the call did what it was asked to; a failed one says why in the text.
    pub ok: bool,
    /// Tools that the model may call from now on.
    pub reveals: Vec<&'static str>,
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// For example `image/jpeg`.
    pub mime_type: String,
    /// Base64 of its bytes.
    pub base64: String,
}

impl ToolOutput {
    /// Plain text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), pictures: Vec::new(), ok: true, reveals: Vec::new() }
    }

    /// A call that failed, and why.
    pub fn failed(text: impl Into<String>) -> Self {
        Self { ok: false, ..Self::text(text) }
    }

    /// A JSON result; `success: false` in it makes the call a failed one.
    pub fn json(value: &Value) -> Self {
        let ok = value.get("success").and_then(Value::as_bool).unwrap_or(true);
        Self { text: value.to_string(), pictures: Vec::new(), ok, reveals: Vec::new() }
    }
}
