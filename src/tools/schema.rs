//! JSON schemas as models handle them well: flat, closed, every property described.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of `T`, inlined, without `$schema`, `title` and null unions.
pub fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    if let Value::Object(root) = &mut schema {
        // What the type is called tells the model nothing; the tool has a description of its own.
        root.remove("description");
    }
    schema
}

fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if object.get("title").is_some_and(Value::is_string) {
                object.remove("title");
            }
            object.remove("default");
            // An optional property is absent, never null.
            if let Some(Value::Array(types)) = object.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [only] = types.as_slice() {
                    let only = only.clone();
                    object.insert("type".to_owned(), only);
                }
            }
            if let Some(Value::Array(words)) = object.get_mut("enum") {
                words.retain(|word| !word.is_null());
            }
            if object.get("type").is_some_and(|kind| kind == "object") {
                object.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
                object.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            if object.get("format").and_then(Value::as_str).is_some_and(|format| {
                format.starts_with("uint")
                    || format.starts_with("int")
                    || format == "double"
                    || format == "float"
            }) {
                object.remove("format");
            }
            // That a number of things is not negative needs no saying, and costs tokens in every field.
            if object.get("minimum").and_then(Value::as_u64) == Some(0) {
                object.remove("minimum");
            }
            object.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        _ => {}
    }
}
