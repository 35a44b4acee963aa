//! Argument types that models write in more than one way.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// One value or several: text, a number, a boolean, a list of them, or a list as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOrMany(pub Vec<String>);

impl OneOrMany {
    /// As one text; several are joined by commas.
    pub fn joined(&self) -> Cow<'_, str> {
        match self.0.as_slice() {
            [only] => Cow::Borrowed(only),
            many => Cow::Owned(many.join(", ")),
        }
    }
}

fn plain(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wrong = || serde::de::Error::custom("expected a text, or a list of texts");
        let items = match Value::deserialize(deserializer)? {
            Value::String(text) => match serde_json::from_str::<Value>(&text) {
                Ok(Value::Array(items)) if text.trim_start().starts_with('[') => items,
                _ => return Ok(Self(vec![text])),
            },
            Value::Array(items) => items,
            single => return plain(single).map(|text| Self(vec![text])).ok_or_else(wrong),
        };
        items.into_iter().map(plain).collect::<Option<Vec<_>>>().map(Self).ok_or_else(wrong)
    }
}

impl JsonSchema for OneOrMany {
    fn schema_name() -> Cow<'static, str> {
        "OneOrMany".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// A point: `"12,30"`, `{"x": 12, "y": 30}` or `[12, 30]`, in CSS px.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Offset {
    /// To the right.
    pub x: f64,
    /// Down.
    pub y: f64,
}

impl<'de> Deserialize<'de> for Offset {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pair = match Value::deserialize(deserializer)? {
            Value::Object(object) => (object.get("x").and_then(number), object.get("y").and_then(number)),
            Value::Array(items) => (items.first().and_then(number), items.get(1).and_then(number)),
            Value::String(text) => match serde_json::from_str::<Value>(&text) {
                Ok(Value::Object(object)) => {
                    (object.get("x").and_then(number), object.get("y").and_then(number))
                }
                _ => match text.split_once(',') {
                    Some((x, y)) => (x.trim().parse().ok(), y.trim().parse().ok()),
                    None => (None, None),
                },
            },
            _ => (None, None),
        };
        match pair {
            (Some(x), Some(y)) if f64::is_finite(x) && f64::is_finite(y) => Ok(Self { x, y }),
            _ => Err(serde::de::Error::custom("expected a point like \"12,30\"")),
        }
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

impl JsonSchema for Offset {
    fn schema_name() -> Cow<'static, str> {
        "Offset".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn many(value: Value) -> Vec<String> {
        serde_json::from_value::<OneOrMany>(value).unwrap().0
    }

    #[test]
    fn one_value_or_several_in_any_spelling() {
        assert_eq!(many(json!("Basic")), ["Basic"]);
        assert_eq!(many(json!(2031)), ["2031"]);
        assert_eq!(many(json!(true)), ["true"]);
        assert_eq!(many(json!(["a", 2])), ["a", "2"]);
        assert_eq!(many(json!("[\"a\", \"b\"]")), ["a", "b"]);
        assert_eq!(many(json!("[draft")), ["[draft"]);
        assert!(serde_json::from_value::<OneOrMany>(json!({ "a": 1 })).is_err());
        assert!(serde_json::from_value::<OneOrMany>(json!([["a"]])).is_err());
    }

    #[test]
    fn zero_is_a_coordinate() {
        for value in [json!({ "x": 0, "y": 0 }), json!("0,0"), json!([0, 0]), json!("{\"x\":0,\"y\":0}")] {
            assert_eq!(serde_json::from_value::<Offset>(value).unwrap(), Offset { x: 0.0, y: 0.0 });
        }
        assert!(serde_json::from_value::<Offset>(json!("12")).is_err());
    }
}
