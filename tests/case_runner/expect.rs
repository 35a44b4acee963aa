//! What a tool's answer must look like.

use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Expect {
    /// A part of the JSON answer; `"*"` is any value.
    pub json: Option<Value>,
    /// What must not be a part of it.
    pub not_json: Option<Value>,
    #[serde(default)]
    pub contains: Texts,
    #[serde(default)]
    pub absent: Texts,
    /// Regular expressions on the whole text.
    #[serde(default)]
    pub matches: Texts,
    /// Regular expression on the tool's error.
    pub error: Option<String>,
    pub max_chars: Option<usize>,
    pub max_ms: Option<u64>,
    /// One of these must hold besides.
    #[serde(default)]
    pub any_of: Vec<Expect>,
}

/// One text or a list of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Default for Texts {
    fn default() -> Self {
        Self::Many(Vec::new())
    }
}

impl Texts {
    fn as_slice(&self) -> &[String] {
        match self {
            Self::One(text) => std::slice::from_ref(text),
            Self::Many(texts) => texts,
        }
    }
}

/// A tool's answer as the model reads it.
pub struct Answer<'a> {
    pub text: &'a str,
    /// The tool failed.
    pub failed: bool,
    pub took_ms: u64,
}

impl Answer<'_> {
    /// The JSON that the text is or begins with.
    pub fn json(&self) -> Option<Value> {
        let text = self.text.trim_start();
        if !text.starts_with(['{', '[']) {
            return None;
        }
        // A view line starts with a bracket too: `[3]<a>` is not the list of 3.
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        let value = values.next()?.ok()?;
        let rest = &text[values.byte_offset()..];
        (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some(value)
    }

    fn error(&self) -> Option<String> {
        let named = self.json().and_then(|json| json["error"].as_str().map(str::to_owned));
        named.or_else(|| self.failed.then(|| self.text.to_owned()))
    }
}

impl Expect {
    pub fn is_empty(&self) -> bool {
        self.json.is_none()
            && self.not_json.is_none()
            && self.error.is_none()
            && self.max_chars.is_none()
            && self.any_of.is_empty()
            && [&self.contains, &self.absent, &self.matches].iter().all(|texts| texts.as_slice().is_empty())
    }

    /// # Errors
    /// Says the first thing that does not hold.
    pub fn check(&self, answer: &Answer<'_>) -> Result<(), String> {
        let json = answer.json();
        if let Some(wanted) = &self.json {
            let json = json.as_ref().ok_or("the answer is not JSON")?;
            subset(wanted, json, "")?;
        }
        if let (Some(unwanted), Some(json)) = (&self.not_json, &json)
            && subset(unwanted, json, "").is_ok()
        {
            return Err(format!("matches what it must not: {unwanted}"));
        }
        for text in self.contains.as_slice() {
            if !answer.text.contains(text) {
                return Err(format!("does not contain {text:?}"));
            }
        }
        for text in self.absent.as_slice() {
            if answer.text.contains(text) {
                return Err(format!("contains {text:?}"));
            }
        }
        for pattern in self.matches.as_slice() {
            if !regex(pattern)?.is_match(answer.text) {
                return Err(format!("does not match /{pattern}/"));
            }
        }
        self.check_error(answer)?;
        self.check_limits(answer)?;
        if self.any_of.is_empty() {
            return Ok(());
        }
        let reasons: Vec<String> = self.any_of.iter().filter_map(|other| other.check(answer).err()).collect();
        if reasons.len() == self.any_of.len() {
            return Err(format!("none of `anyOf` holds: {}", reasons.join("; ")));
        }
        Ok(())
    }

    fn check_error(&self, answer: &Answer<'_>) -> Result<(), String> {
        let Some(pattern) = &self.error else { return Ok(()) };
        let error = answer.error().ok_or("the tool did not fail")?;
        if regex(pattern)?.is_match(&error) {
            return Ok(());
        }
        Err(format!("the error does not match /{pattern}/: {error}"))
    }

    fn check_limits(&self, answer: &Answer<'_>) -> Result<(), String> {
        let chars = answer.text.chars().count();
        if let Some(most) = self.max_chars
            && chars > most
        {
            return Err(format!("has {chars} characters, at most {most} are allowed"));
        }
        if let Some(most) = self.max_ms
            && answer.took_ms > most
        {
            return Err(format!("took {} ms, at most {most} are allowed", answer.took_ms));
        }
        Ok(())
    }
}

pub fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| format!("bad expression in the case: {error}"))
}

/// Whether `wanted` is a part of `found`: objects by key, arrays element by element from the start.
fn subset(wanted: &Value, found: &Value, path: &str) -> Result<(), String> {
    let here = if path.is_empty() { "the answer" } else { path };
    match (wanted, found) {
        (Value::String(any), _) if any == "*" => Ok(()),
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, wanted) in wanted {
                let found = found.get(key).ok_or_else(|| format!("{here} has no {key:?}"))?;
                subset(wanted, found, &format!("{path}.{key}"))?;
            }
            Ok(())
        }
        (Value::Array(wanted), Value::Array(found)) => {
            for (index, wanted) in wanted.iter().enumerate() {
                let found =
                    found.get(index).ok_or_else(|| format!("{here} has only {} elements", found.len()))?;
                subset(wanted, found, &format!("{path}[{index}]"))?;
            }
            Ok(())
        }
        _ if same(wanted, found) => Ok(()),
        _ => Err(format!("{here} is {found}, not {wanted}")),
    }
}

/// Equal values; 1 and 1.0 are the same number.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left == right || left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, left)| right.get(key).is_some_and(|right| same(left, right)))
        }
        _ => left == right,
    }
}
