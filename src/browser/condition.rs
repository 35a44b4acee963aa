//! Conditions of the model's own, in the page's own world: code that may look and change nothing.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::evaluate::{described, is_ended, is_unreadable, plain};
use super::page::PageError;
use super::refusal::{ActError, Class, Refusal};
use super::wait::LOOK_EVERY;
use crate::page;
use crate::protocol::TabId;

/// How long one look at a condition may take.
const ONE_LOOK: Duration = Duration::from_secs(1);

/// Remote objects of one look, released together.
const OBJECTS: &str = "browy-condition";

/// What must become true.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// An expression, or a function that takes `arg`.
    pub code: String,
    /// What the function gets, as data.
    pub arg: Value,
}

impl Browser {
    /// Waits until the condition's value is a true one, and returns it as text.
    pub(super) async fn until_true(
        &self,
        cancel: &CancellationToken,
        tab: TabId,
        condition: &Condition,
    ) -> Result<String, ActError> {
        let target = Target::tab(tab);
        loop {
            let looked = self.look_at(cancel, &target, condition).await.map_err(PageError::from);
            let release = json!({ "objectGroup": OBJECTS });
            let released =
                self.context.cdp_within(cancel, &target, "Runtime.releaseObjectGroup", release, ONE_LOOK);
            if let Err(error) = released.await {
                tracing::debug!(%error, "nothing to release");
            }
            match looked {
                Ok(answer) => {
                    if let Some(value) = judged(&answer)? {
                        return Ok(super::text::clean(&value, 200));
                    }
                }
                // The page is on its way to another one.
                Err(PageError::WorldGone) => {}
                Err(PageError::Cdp(CdpError::Refused(words))) if is_ended(&words) => {
                    return Err(slow().into());
                }
                // A page that is busy may still come to it.
                Err(PageError::Cdp(CdpError::Timeout { .. })) => {}
                Err(other) => return Err(other.into()),
            }
            sleep(LOOK_EVERY).await;
        }
    }

    async fn look_at(
        &self,
        cancel: &CancellationToken,
        target: &Target,
        condition: &Condition,
    ) -> Result<Value, CdpError> {
        let within = ONE_LOOK + LOOK_EVERY;
        let params = json!({
            "expression": condition.code,
            "throwOnSideEffect": true,
            "objectGroup": OBJECTS,
            "silent": true,
            "timeout": u64::try_from(ONE_LOOK.as_millis()).unwrap_or(u64::MAX),
        });
        let answer = self.context.cdp_within(cancel, target, "Runtime.evaluate", params, within).await?;
        let Some(function) = answer
            .get("result")
            .filter(|result| result.get("type").and_then(Value::as_str) == Some("function"))
            .and_then(|result| result.get("objectId"))
        else {
            return Ok(answer);
        };
        let params = json!({
            "objectId": function,
            "functionDeclaration": page::TEST,
            "arguments": [{ "value": condition.arg }],
            "throwOnSideEffect": true,
            "objectGroup": OBJECTS,
            "silent": true,
        });
        self.context.cdp_within(cancel, target, "Runtime.callFunctionOn", params, within).await
    }
}

fn slow() -> Refusal {
    let error = format!(
        "One look at `function` took longer than {} ms and was ended. Give it less to do.",
        ONE_LOOK.as_millis()
    );
    Refusal::new(Class::Timeout, error)
}

/// The value as text when it is a true one. What cannot ever become true is refused; what was thrown may be
/// otherwise in a moment, as on a page that is not there yet.
fn judged(answer: &Value) -> Result<Option<String>, Refusal> {
    if let Some(details) = answer.get("exceptionDetails") {
        let words = described(details.get("exception").unwrap_or(&Value::Null));
        let first = super::text::clean(words.lines().next().unwrap_or_default(), 300);
        if words.contains("Possible side-effect") {
            let error = "`function` may only look: it calls something that could change the page. Use selector, \
                         text or plain properties, or evaluate_js.";
            return Err(Refusal::new(Class::BadArgument, error));
        }
        if is_ended(&words) || is_ended(details.get("text").and_then(Value::as_str).unwrap_or_default()) {
            return Err(slow());
        }
        if is_unreadable(details) {
            return Err(Refusal::new(Class::BadArgument, format!("`function` cannot be read: {first}")));
        }
        return Ok(None);
    }
    let result = answer.get("result").unwrap_or(&Value::Null);
    if result.get("subtype").and_then(Value::as_str) == Some("promise") {
        let error =
            "`function` must give a value at once, and gives a promise. Leave `async` and `await` out.";
        return Err(Refusal::new(Class::BadArgument, error));
    }
    Ok(is_true(result).then(|| plain(result).unwrap_or_else(|| described(result))))
}

/// As JavaScript takes values for true.
fn is_true(result: &Value) -> bool {
    let value = result.get("value");
    match result.get("type").and_then(Value::as_str).unwrap_or("undefined") {
        "undefined" => false,
        "boolean" => value == Some(&Value::Bool(true)),
        "string" => value.and_then(Value::as_str).is_some_and(|text| !text.is_empty()),
        "number" | "bigint" => match result.get("unserializableValue").and_then(Value::as_str) {
            Some(words) => !matches!(words, "NaN" | "-0" | "0n"),
            None => value.and_then(Value::as_f64).is_some_and(|number| number != 0.0),
        },
        "object" => result.get("subtype").and_then(Value::as_str) != Some("null"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_true_as_in_javascript() {
        for value in [
            json!({ "type": "undefined" }),
            json!({ "type": "object", "subtype": "null", "value": null }),
            json!({ "type": "boolean", "value": false }),
            json!({ "type": "string", "value": "" }),
            json!({ "type": "number", "value": 0 }),
            json!({ "type": "number", "unserializableValue": "NaN" }),
            json!({ "type": "bigint", "unserializableValue": "0n" }),
        ] {
            assert!(!is_true(&value), "{value}");
        }
        for value in [
            json!({ "type": "boolean", "value": true }),
            json!({ "type": "string", "value": "0" }),
            json!({ "type": "number", "value": -1 }),
            json!({ "type": "number", "unserializableValue": "Infinity" }),
            json!({ "type": "object", "objectId": "1" }),
        ] {
            assert!(is_true(&value), "{value}");
        }
    }

    #[test]
    fn what_a_page_throws_while_it_is_not_ready_is_waited_out() {
        let thrown = |words: &str| json!({ "exceptionDetails": { "exception": { "description": words } } });
        assert_eq!(judged(&thrown("TypeError: x is null\n    at <anonymous>:1:1")), Ok(None));
        for words in
            ["EvalError: Possible side-effect in debug-evaluate", "SyntaxError: Unexpected token ')'"]
        {
            assert_eq!(judged(&thrown(words)).unwrap_err().class, Class::BadArgument);
        }
    }
}
