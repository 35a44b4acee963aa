//! The list of tools: names, files, schemas, and what the model is told.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn names_are_unique_and_snake_case() {
    let mut seen = BTreeSet::new();
    for tool in browy::tools::all() {
        let name = tool.spec().name;
        let plain = name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
            && !name.ends_with('_')
            && !name.contains("__");
        assert!(plain, "{name} is not snake_case");
        assert!(seen.insert(name), "{name} is there twice");
    }
    assert!(!seen.is_empty(), "no tools are registered");
}

#[test]
fn files_folders_and_registrations_agree() {
    let registered: BTreeSet<PathBuf> = browy::tools::all()
        .map(|tool| {
            let spec = tool.spec();
            Path::new("src/tools").join(spec.category.name()).join(format!("{}.rs", spec.name))
        })
        .collect();
    let mut written = BTreeSet::new();
    for folder in std::fs::read_dir(root().join("src/tools")).unwrap() {
        let folder = folder.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&folder).unwrap() {
            let file = file.unwrap().path();
            let is_rust = file.extension().is_some_and(|extension| extension == "rs");
            if is_rust && std::fs::read_to_string(&file).unwrap().contains("impl Tool for ") {
                written.insert(file.strip_prefix(root()).unwrap().to_owned());
            }
        }
    }
    assert_eq!(registered, written, "left: registered; right: files that hold a tool");
}

#[test]
fn schemas_are_flat_closed_and_described() {
    for tool in browy::tools::all() {
        let name = tool.spec().name;
        let schema = tool.parameters();
        check_object(name, &schema, 0);
        let text = schema.to_string();
        for forbidden in ["$ref", "$defs", "anyOf", "oneOf", "allOf", "null", "\"const\""] {
            assert!(!text.contains(forbidden), "{name}: {forbidden} in {text}");
        }
    }
}

fn check_object(name: &str, schema: &Value, depth: usize) {
    assert!(depth <= 1, "{name}: objects inside lists inside lists");
    assert_eq!(schema["type"], "object", "{name}: {schema}");
    assert_eq!(schema["additionalProperties"], json!(false), "{name}: {schema}");
    for (property, schema) in schema["properties"].as_object().unwrap() {
        let what = format!("{name}.{property}");
        let described = schema["description"].as_str().unwrap_or_default();
        assert!(!described.trim().is_empty(), "{what} is not described");
        match schema["type"].as_str() {
            Some("string" | "integer" | "number" | "boolean") => {}
            Some("array") => match schema["items"]["type"].as_str() {
                Some("string" | "integer" | "number") => {}
                Some("object") => check_object(&what, &schema["items"], depth + 1),
                other => panic!("{what}: a list of {other:?}"),
            },
            other => panic!("{what} has the type {other:?}"),
        }
    }
}

#[test]
fn descriptions_are_short_and_say_something() {
    for tool in browy::tools::all() {
        let spec = tool.spec();
        assert!(
            (30..=420).contains(&spec.description.len()),
            "{}: {} bytes",
            spec.name,
            spec.description.len()
        );
        assert!(spec.description.ends_with('.'), "{}: no full stop", spec.name);
        assert!(!spec.title.is_empty() && spec.title.len() <= 24, "{}: title {:?}", spec.name, spec.title);
        assert!(spec.timeout.as_secs() >= 1, "{}: no time at all", spec.name);
    }
}

#[test]
fn model_is_told_this_list() {
    let mut text = String::new();
    for tool in browy::tools::all() {
        let spec = tool.spec();
        let schema = serde_json::to_string_pretty(&tool.parameters()).unwrap();
        text.push_str(&format!("{}: {}\n{schema}\n\n", spec.name, spec.description));
    }
    insta::assert_snapshot!("tools", text);
}

#[test]
fn tool_reference_is_current() {
    let path = root().join("docs/tools.md");
    let wanted = browy::tools::reference::markdown();
    if std::env::var_os("UPDATE").is_some_and(|value| value == "1") {
        std::fs::write(&path, &wanted).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "docs/tools.md is stale: UPDATE=1 cargo test --test it tool_reference_is_current"
    );
}

#[test]
fn system_prompt_is_short_and_names_only_tools_that_are_on() {
    let prompt = browy::agent::prompt::SYSTEM_PROMPT;
    let tokens = tiktoken_rs::o200k_base().unwrap().encode_ordinary(prompt).len();
    assert!(tokens <= 1_500, "{tokens} tokens");

    let blocks = ["browser_context", "page_view", "recent_actions"];
    let policy = browy::tools::policy::ToolPolicy::default();
    let told = policy.allowed().map(|tool| tool.spec().name);
    let on: BTreeSet<&str> = told.filter(|name| browy::tools::first::is_first(name)).collect();
    let words = prompt.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let named: BTreeSet<&str> = words.filter(|word| word.contains('_') && !blocks.contains(word)).collect();
    assert!(named.contains("inspect_page"), "{named:?}");
    let unknown: Vec<_> = named.difference(&on).collect();
    assert!(unknown.is_empty(), "the system prompt names tools that the model does not have: {unknown:?}");
}

/// What a model is told of a tool, in tokens.
fn cost(tokenizer: &tiktoken_rs::CoreBPE, tool: &dyn browy::tools::ErasedTool) -> usize {
    let spec = tool.spec();
    let told = json!({
        "type": "function",
        "function": { "name": spec.name, "description": spec.description, "parameters": tool.parameters() },
    });
    tokenizer.encode_ordinary(&told.to_string()).len()
}

#[test]
fn definitions_fit_their_budget() {
    use browy::tools::first::is_first;
    // Made once: it takes seconds.
    let tokenizer = tiktoken_rs::o200k_base().unwrap();
    let each: Vec<_> = browy::tools::all().map(|tool| (cost(&tokenizer, tool), tool.spec().name)).collect();
    let whole: usize = each.iter().map(|(cost, _)| cost).sum();
    let policy = browy::tools::policy::ToolPolicy::default();
    let told = |name: &str| is_first(name) && policy.allows(&browy::tools::by_name(name).unwrap().spec());
    let first: usize = each.iter().filter(|(_, name)| told(name)).map(|(cost, _)| cost).sum();
    assert!(whole <= 9_000, "all: {whole} tokens, {each:?}");
    assert!(first <= 3_500, "those told from the beginning: {first} tokens, {each:?}");
}

#[test]
fn more_tools_names_every_group_that_holds_some() {
    use browy::tools::first::{MORE_TOOLS, is_first};
    let told = browy::tools::by_name(MORE_TOOLS).unwrap().spec().description;
    for tool in browy::tools::all().filter(|tool| !is_first(tool.spec().name)) {
        let group = tool.spec().category.name();
        assert!(told.contains(&format!("{group} (")), "{group} of {}", tool.spec().name);
    }
}
