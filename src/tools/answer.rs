//! Results of acts as the model reads them: JSON with `success`, and on failure `class` and `error`.

use serde_json::{Map, Value, json};

use super::{ToolError, ToolOutput};
use crate::browser::{ActError, Class, Refusal};

/// What a call answers: the words of a success, or the refusal.
///
/// # Errors
/// [`ToolError::Cancelled`] after Stop.
pub(super) fn answer(result: Result<Map<String, Value>, ActError>) -> Result<ToolOutput, ToolError> {
    match result {
        Ok(words) => Ok(succeeded(words)),
        Err(ActError::Refused(refusal)) => Ok(refused(&refusal)),
        Err(ActError::Cancelled) => Err(ToolError::Cancelled),
    }
}

/// A success with these words.
pub(super) fn succeeded(mut words: Map<String, Value>) -> ToolOutput {
    words.insert("success".to_owned(), json!(true));
    ToolOutput::json(&Value::Object(words))
}

/// A failure.
pub(super) fn refused(refusal: &Refusal) -> ToolOutput {
    let mut words = refusal_words(refusal);
    words.insert("success".to_owned(), json!(false));
    ToolOutput::json(&Value::Object(words))
}

/// `class`, `error` and what belongs to the class.
pub(super) fn refusal_words(refusal: &Refusal) -> Map<String, Value> {
    let mut words = refusal.details.clone();
    words.insert("class".to_owned(), json!(refusal.class));
    words.insert("error".to_owned(), json!(refusal.error));
    words
}

/// Arguments that cannot be used, in the same words as every other refusal.
pub(super) fn bad_argument(error: &str) -> ToolError {
    ToolError::Model(json!({ "success": false, "class": Class::BadArgument, "error": error }).to_string())
}

/// Page text between tags that no page can write: the fence is new in every call.
pub(super) fn fenced(tag: &str, body: &str) -> String {
    let fence = uuid::Uuid::new_v4().simple();
    format!("<{tag} fence={fence}>\n{}\n</{tag} fence={fence}>", body.trim_end())
}
