//! Code of the model's own, in the page's own world: the one place where source text comes from outside.

use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::page::{PAGE_TIMEOUT, PageError};
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use crate::page;

/// Remote objects of one run, released together.
const OBJECTS: &str = "browy-evaluate";

/// Characters that the page may send of one value; the tool shows fewer.
const MOST: usize = 20_000;

/// How much later than the browser's own deadline a run is given up.
const SLACK: Duration = Duration::from_millis(500);

/// Code to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Script<'a> {
    /// Its text.
    pub code: &'a str,
    /// How long it may take, promises included.
    pub within: Duration,
}

/// How the code is put to the browser.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As typed into a console: the value of the last expression, `await` at the top.
    Console,
    /// One expression with `element`.
    Expression,
    /// Statements with `return`.
    Body,
}

impl Form {
    /// Lines that stand before the code's first one.
    fn lines_before(self) -> u64 {
        match self {
            Self::Console => 0,
            Self::Expression | Self::Body => 1,
        }
    }
}

/// What the browser answered: a value, or what the code threw.
enum Ran {
    Value(Value),
    Threw { details: Value, form: Form },
}

impl Browser {
    /// Runs code in the held tab, or in the frame of `element`, which it gets as `element`. Returns the value of
    /// its last expression, or what it returns, as text.
    ///
    /// # Errors
    /// [`Class::Rejected`] with what the code threw; [`Class::Timeout`] at the deadline; else see [`ActError`].
    pub async fn run_script(
        &self,
        cancel: &CancellationToken,
        script: Script<'_>,
        element: Option<&Element>,
    ) -> Result<String, ActError> {
        let tab = self.tab(cancel).await?.ok_or(super::view::ViewError::NoTab)?;
        self.prepare(cancel, tab).await?;
        let target = element.map_or_else(|| Target::tab(tab), |element| element.target.clone());
        let ran = match element {
            None => self.run_in_tab(cancel, &target, script).await,
            Some(element) => self.run_on(cancel, element, script).await,
        };
        let result = match ran {
            Ok(Ran::Value(value)) => self.shown(cancel, &target, &value).await,
            Ok(Ran::Threw { details, form }) => {
                Err(self.thrown(cancel, &target, &details, form).await.into())
            }
            Err(error) => Err(failure(error, script.within)),
        };
        // Nothing is lost when the page is gone: its objects went with it.
        let release = json!({ "objectGroup": OBJECTS });
        let done =
            self.context.cdp_within(cancel, &target, "Runtime.releaseObjectGroup", release, PAGE_TIMEOUT);
        let _ = done.await;
        result
    }

    async fn run_in_tab(
        &self,
        cancel: &CancellationToken,
        target: &Target,
        script: Script<'_>,
    ) -> Result<Ran, PageError> {
        for form in [Form::Console, Form::Body] {
            let expression = match form {
                Form::Body => format!("(async () => {{\n{}\n}})()", script.code),
                Form::Console | Form::Expression => script.code.to_owned(),
            };
            let params = json!({
                "expression": expression,
                "replMode": form == Form::Console,
                "awaitPromise": true,
                "userGesture": true,
                "objectGroup": OBJECTS,
                // Ends a loop that never ends; a promise that never settles is ours to give up.
                "timeout": u64::try_from(script.within.as_millis()).unwrap_or(u64::MAX),
            });
            let ran = self.answer_of(cancel, target, "Runtime.evaluate", params, script, form).await?;
            match &ran {
                // Found while reading the code: none of it has run.
                Ran::Threw { details, .. } if form == Form::Console && is_return_outside(details) => {}
                _ => return Ok(ran),
            }
        }
        Err(PageError::Malformed("the code was not run".to_owned()))
    }

    async fn run_on(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        script: Script<'_>,
    ) -> Result<Ran, PageError> {
        let object = self.in_page_world(cancel, element).await?;
        let code = script.code.trim_end().trim_end_matches(';');
        for form in [Form::Expression, Form::Body] {
            let declaration = match form {
                Form::Expression => format!("async function (element) {{ return (\n{code}\n); }}"),
                Form::Body | Form::Console => format!("async function (element) {{\n{}\n}}", script.code),
            };
            let params = json!({
                "objectId": object,
                "functionDeclaration": declaration,
                "arguments": [{ "objectId": object }],
                "awaitPromise": true,
                "userGesture": true,
                "objectGroup": OBJECTS,
            });
            let ran = self
                .answer_of(cancel, &element.target, "Runtime.callFunctionOn", params, script, form)
                .await?;
            match &ran {
                Ran::Threw { details, .. } if form == Form::Expression && is_unreadable(details) => {}
                _ => return Ok(ran),
            }
        }
        Err(PageError::Malformed("the code was not run".to_owned()))
    }

    /// The element as an object of the page's own world.
    pub(super) async fn in_page_world(
        &self,
        cancel: &CancellationToken,
        element: &Element,
    ) -> Result<String, PageError> {
        let send =
            |method, params| self.context.cdp_within(cancel, &element.target, method, params, PAGE_TIMEOUT);
        let own = element.object_id(cancel).await?;
        let node = send("DOM.describeNode", json!({ "objectId": &*own, "depth": 0 })).await?;
        let id = node.pointer("/node/backendNodeId").and_then(Value::as_i64);
        let params = json!({ "backendNodeId": id, "objectGroup": OBJECTS });
        let found = send("DOM.resolveNode", params).await?;
        let object = found.pointer("/object/objectId").and_then(Value::as_str);
        object.map(str::to_owned).ok_or(PageError::ElementGone)
    }

    async fn answer_of(
        &self,
        cancel: &CancellationToken,
        target: &Target,
        method: &'static str,
        params: Value,
        script: Script<'_>,
        form: Form,
    ) -> Result<Ran, PageError> {
        let answer = self.context.cdp_within(cancel, target, method, params, script.within + SLACK).await?;
        Ok(match answer.get("exceptionDetails") {
            Some(details) => Ran::Threw { details: details.clone(), form },
            None => Ran::Value(answer.get("result").cloned().unwrap_or_default()),
        })
    }

    /// A value as text.
    async fn shown(
        &self,
        cancel: &CancellationToken,
        target: &Target,
        value: &Value,
    ) -> Result<String, ActError> {
        if let Some(plain) = plain(value) {
            return Ok(plain);
        }
        let params = json!({
            "objectId": value.get("objectId"),
            "functionDeclaration": page::SHOW,
            "arguments": [{ "value": MOST }],
            "returnByValue": true,
            "silent": true,
        });
        let answer = self
            .context
            .cdp_within(cancel, target, "Runtime.callFunctionOn", params, PAGE_TIMEOUT)
            .await
            .map_err(PageError::from)?;
        let text = answer.pointer("/result/value").and_then(Value::as_str).map(str::to_owned);
        Ok(text.unwrap_or_else(|| described(value)))
    }

    async fn thrown(
        &self,
        cancel: &CancellationToken,
        target: &Target,
        details: &Value,
        form: Form,
    ) -> Refusal {
        let exception = details.get("exception").cloned().unwrap_or_default();
        if is_ended(&described(&exception)) || is_ended(details["text"].as_str().unwrap_or_default()) {
            return Refusal::new(Class::Timeout, "The code ran into its time limit and was ended.");
        }
        let is_error = exception.get("subtype").and_then(Value::as_str) == Some("error");
        let words = if is_error {
            described(&exception).lines().next().unwrap_or_default().to_owned()
        } else {
            // Anything can be thrown.
            match self.shown(cancel, target, &exception).await {
                Ok(shown) => format!("The code threw {shown}"),
                Err(_) => described(&exception),
            }
        };
        let words = super::text::clean(&words, 2_000);
        let refusal = Refusal::new(Class::Rejected, format!("{words}{}", place(details, form)));
        if words.contains("Illegal return statement") {
            return refusal
                .with("hint", "Leave `return` out: the value of the last expression is the result.");
        }
        refusal
    }
}

/// Where it was thrown: a line of the code, or of a script of the page. The stack knows best; an error found while
/// reading the code has none.
fn place(details: &Value, form: Form) -> String {
    let exception = details.get("exception").cloned().unwrap_or_default();
    let own = |line: u64| format!(" (line {})", line.saturating_sub(form.lines_before()).max(1));
    match top_of_stack(&described(&exception)) {
        Some((script, line)) if script.ends_with("<anonymous>") => own(line),
        Some((script, line)) => format!(" ({}:{line})", super::text::clean(&script, 120)),
        None => {
            details.get("lineNumber").and_then(Value::as_u64).map(|line| own(line + 1)).unwrap_or_default()
        }
    }
}

/// Script and line of an error's first stack line: `    at f (http://a/app.js:10:3)`.
fn top_of_stack(description: &str) -> Option<(String, u64)> {
    let (_, rest) = description.split_once("\n    at ")?;
    let first = rest.lines().next()?.trim_end_matches(')');
    let first = first.rsplit_once('(').map_or(first, |(_, place)| place);
    let (place, _column) = first.rsplit_once(':')?;
    let (script, line) = place.rsplit_once(':')?;
    Some((script.to_owned(), line.parse().ok()?))
}

pub(super) fn described(value: &Value) -> String {
    let known = value.get("description").or_else(|| value.get("value"));
    match known {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => "an object".to_owned(),
    }
}

/// Text of values that are no objects.
pub(super) fn plain(value: &Value) -> Option<String> {
    if let Some(text) = value.get("unserializableValue").and_then(Value::as_str) {
        return Some(text.to_owned());
    }
    match value.get("type").and_then(Value::as_str)? {
        "undefined" => Some("undefined".to_owned()),
        "object" if value.get("subtype").and_then(Value::as_str) == Some("null") => Some("null".to_owned()),
        "object" | "function" => None,
        "string" => value.get("value").and_then(Value::as_str).map(str::to_owned),
        _ => Some(described(value)),
    }
}

/// A `return` outside of a function: the reader's word for it, which no running code has.
fn is_return_outside(details: &Value) -> bool {
    let exception = details.get("exception").cloned().unwrap_or_default();
    described(&exception).starts_with("SyntaxError: Illegal return statement")
}

/// A syntax error of the code itself has no stack: nothing ran.
pub(super) fn is_unreadable(details: &Value) -> bool {
    let exception = details.get("exception").cloned().unwrap_or_default();
    let words = described(&exception);
    words.starts_with("SyntaxError") && !words.contains("\n    at ")
}

pub(super) fn is_ended(words: &str) -> bool {
    words.contains("Execution was terminated") || words.contains("Script execution was interrupted")
}

fn failure(error: PageError, within: Duration) -> ActError {
    match error {
        PageError::Cdp(CdpError::Timeout { .. }) => Refusal::new(
            Class::Timeout,
            format!(
                "The code was not done after {} ms; what it started may go on. Give it less to do, or more time \
                 with timeout_ms.",
                within.as_millis()
            ),
        )
        .into(),
        PageError::Cdp(CdpError::Refused(words)) if is_ended(&words) => Refusal::new(
            Class::Timeout,
            format!("The code ran for {} ms and was ended. Look for a loop that never ends.", within.as_millis()),
        )
        .into(),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_values_are_themselves() {
        let show = |value: Value| plain(&value).unwrap();
        assert_eq!(show(json!({ "type": "undefined" })), "undefined");
        assert_eq!(show(json!({ "type": "object", "subtype": "null", "value": null })), "null");
        assert_eq!(show(json!({ "type": "string", "value": "a \"b\"" })), "a \"b\"");
        assert_eq!(show(json!({ "type": "number", "value": 3, "description": "3" })), "3");
        assert_eq!(show(json!({ "type": "number", "unserializableValue": "NaN" })), "NaN");
        assert_eq!(show(json!({ "type": "bigint", "unserializableValue": "9n" })), "9n");
        assert_eq!(show(json!({ "type": "boolean", "value": false })), "false");
        assert_eq!(plain(&json!({ "type": "object", "objectId": "1" })), None);
    }

    #[test]
    fn syntax_error_that_running_code_threw_is_not_taken_for_one_of_the_code() {
        let thrown = |words: &str| json!({ "exception": { "subtype": "error", "description": words } });
        assert!(is_unreadable(&thrown("SyntaxError: Unexpected token 'const'")));
        assert!(!is_unreadable(&thrown("SyntaxError: Unexpected token\n    at JSON.parse (<anonymous>)")));
    }

    #[test]
    fn lines_are_those_of_the_code() {
        let at = |words: &str| json!({ "lineNumber": 4, "exception": { "description": words } });
        let own = at("ReferenceError: b\n    at <anonymous>:2:1");
        assert_eq!(place(&own, Form::Console), " (line 2)");
        assert_eq!(place(&own, Form::Body), " (line 1)");
        assert_eq!(
            place(&at("Error: x\n    at f (<anonymous>:3:9)\n    at <anonymous>:1:1"), Form::Console),
            " (line 3)"
        );
        assert_eq!(place(&at("SyntaxError: Unexpected token"), Form::Console), " (line 5)");
        let page = at("TypeError: x\n    at go (http://a/app.js:10:3)\n    at <anonymous>:1:1");
        assert_eq!(place(&page, Form::Console), " (http://a/app.js:10)");
    }
}
