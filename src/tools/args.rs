//! Arguments as models really send them.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// Reads arguments, guided by the schema: numbers and booleans given as strings, numbers given
/// where text is wanted, and lists given as JSON text are accepted; `null` means absent.
///
/// # Errors
/// One sentence that names the argument and what is expected.
pub fn parse<T: DeserializeOwned + JsonSchema>(mut args: Value) -> Result<T, String> {
    let schema = super::schema::of::<T>();
    if args.is_null() {
        args = Value::Object(Map::new());
    }
    if let Value::String(text) = &args
        && let Ok(parsed @ Value::Object(_)) = serde_json::from_str(text)
    {
        args = parsed;
    }
    coerce(&mut args, &schema);
    let properties = schema.get("properties").and_then(Value::as_object);
    let expected: Vec<&str> = properties.into_iter().flat_map(|all| all.keys().map(String::as_str)).collect();
    // An argument that is not read would be one that the model believes to have an effect.
    let unknown =
        |given: &Map<String, Value>| given.keys().find(|key| !expected.contains(&key.as_str())).cloned();
    let read = match args.as_object().map(unknown) {
        Some(None) => serde_json::from_value(args).map_err(|error| error.to_string()),
        Some(Some(key)) => Err(format!("there is no argument {key:?}")),
        // A list would be read as the arguments in some order.
        None => Err("the arguments are no object".to_owned()),
    };
    read.map_err(|error| {
        let expected = if expected.is_empty() { "none".to_owned() } else { expected.join(", ") };
        format!("{error}. Expected arguments: {expected}.")
    })
}

fn coerce(value: &mut Value, schema: &Value) {
    let kind = schema.get("type").and_then(Value::as_str);
    match (kind, &mut *value) {
        (Some("integer"), Value::String(text)) => {
            if let Ok(number) = text.trim().parse::<i64>() {
                *value = number.into();
            }
        }
        (Some("integer"), Value::Number(number)) => {
            // 3.0 is 3; 1.5 stays and is refused.
            if let Some(float) = number.as_f64()
                && number.as_i64().is_none()
                && float.fract() == 0.0
                && float.abs() < 9e15
            {
                #[allow(clippy::cast_possible_truncation, reason = "checked to be a whole number in range")]
                let whole = float as i64;
                *value = whole.into();
            }
        }
        (Some("number"), Value::String(text)) => {
            if let Some(number) = text.trim().parse::<f64>().ok().and_then(serde_json::Number::from_f64) {
                *value = Value::Number(number);
            }
        }
        (Some("boolean"), Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => *value = Value::Bool(true),
            "false" | "no" | "0" => *value = Value::Bool(false),
            _ => {}
        },
        (Some("string"), Value::Number(number)) => *value = Value::String(number.to_string()),
        (Some("string"), Value::Bool(flag)) => *value = Value::String(flag.to_string()),
        (Some("array"), Value::String(text)) => {
            if let Ok(parsed @ Value::Array(_)) = serde_json::from_str(text) {
                *value = parsed;
            }
        }
        _ => {}
    }
    match value {
        Value::Object(object) => {
            object.retain(|_, value| !value.is_null());
            if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
                for (key, value) in object.iter_mut() {
                    if let Some(schema) = properties.get(key) {
                        coerce(value, schema);
                    }
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| coerce(item, schema));
            }
        }
        _ => {}
    }
}
