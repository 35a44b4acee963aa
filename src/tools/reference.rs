//! `docs/tools.md`: the list of tools, made from the registry.

use std::fmt::Write;

use serde_json::Value;

use super::{Effect, ErasedTool, Exposure};

/// The page, as Markdown.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Tools\n\nWhat the model can call. Made from the registry by `UPDATE=1 cargo test --test it \
         tool_reference_is_current`; do not edit.\n",
    );
    let mut category = "";
    for tool in super::all() {
        let spec = tool.spec();
        if spec.category.name() != category {
            category = spec.category.name();
            let _ = write!(out, "\n## {category}\n");
        }
        let _ = write!(
            out,
            "\n### {}\n\n{}\n\n{} · {} · at most {} s\n",
            spec.name,
            spec.description,
            exposure(spec.exposure),
            effect(spec.effect),
            spec.timeout.as_secs()
        );
        arguments(&mut out, tool);
    }
    out
}

fn arguments(out: &mut String, tool: &dyn ErasedTool) {
    let schema = tool.parameters();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(properties) = schema["properties"].as_object().filter(|all| !all.is_empty()) else { return };
    out.push_str("\n| argument | type | |\n|---|---|---|\n");
    for (name, property) in properties {
        let mark = if required.contains(&name.as_str()) { " (required)" } else { "" };
        let _ = writeln!(out, "| `{name}`{mark} | {} | {} |", kind(property), description(property));
        for (inner, property) in property["items"]["properties"].as_object().into_iter().flatten() {
            let _ = writeln!(out, "| `{name}[].{inner}` | {} | {} |", kind(property), description(property));
        }
    }
}

fn kind(property: &Value) -> String {
    match (property["enum"].as_array(), property["type"].as_str()) {
        (Some(words), _) => words.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        (None, Some("array")) => {
            format!("list of {}", property["items"]["type"].as_str().unwrap_or("values"))
        }
        (None, kind) => kind.unwrap_or("any").to_owned(),
    }
}

fn description(property: &Value) -> String {
    property["description"].as_str().unwrap_or_default().replace('\n', " ").replace('|', "\\|")
}

fn exposure(exposure: Exposure) -> &'static str {
    match exposure {
        Exposure::Always => "always on",
        Exposure::DefaultOn => "on",
        Exposure::DefaultOff => "off until switched on",
    }
}

fn effect(effect: Effect) -> &'static str {
    match effect {
        Effect::ReadOnly => "changes nothing",
        Effect::ChangesPage => "changes the page",
        Effect::ChangesBrowser => "changes the browser",
        Effect::ReachesComputer => "reaches files or programs of this machine",
    }
}
