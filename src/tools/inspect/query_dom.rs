//! `query_dom`: what a CSS selector finds.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::text::clean;
use crate::browser::{Named, wrong_selector};
use crate::page::{PageFunction, function};
use crate::tools::answer::bad_argument;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Elements that are told.
const MOST: usize = 20;

/// Graphemes of one text.
const LONGEST: usize = 200;

/// See [`Tool::SPEC`].
pub struct QueryDom;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// CSS selector.
    selector: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Found {
    wrong: bool,
    count: usize,
    results: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    on: Option<Named>,
    #[serde(flatten)]
    facts: Map<String, Value>,
}

impl Tool for QueryDom {
    const SPEC: ToolSpec = ToolSpec {
        name: "query_dom",
        title: "Query the page",
        description: "List the elements that a CSS selector finds, 20 at most, in the page, its frames and shadow roots: tag, id, text, href, value, and `index` when it can be acted on. Values of password, code and card fields are never read.",
        category: Category::Inspect,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        const QUERY: PageFunction = function("queryDom");
        let selector = args.selector.trim();
        if selector.is_empty() {
            return Err(bad_argument("`selector` is empty."));
        }
        let asked = [json!(selector), json!(MOST)];
        let answers = cx.browser.call_opened::<Found>(&cx.cancel, QUERY, &asked).await?;
        if answers.iter().any(|(_, found)| found.wrong) {
            return Err(bad_argument(&wrong_selector(selector)));
        }
        let count: usize = answers.iter().map(|(_, found)| found.count).sum();
        let mut results = Vec::new();
        for (frame, found) in answers {
            for row in found.results {
                if results.len() >= MOST {
                    break;
                }
                let mut told = Map::new();
                told.insert("i".to_owned(), json!(results.len()));
                let on = row.on.into_iter().collect();
                if let Some(index) = cx.browser.numbers_of(&cx.cancel, &frame, on).await?.first() {
                    told.insert("index".to_owned(), json!(index));
                }
                told.extend(row.facts.into_iter().map(|(key, value)| (key, harmless(value))));
                if let Some(origin) = &frame.origin {
                    told.insert("frame".to_owned(), json!(clean(origin, 120)));
                }
                results.push(Value::Object(told));
            }
        }
        let mut out = json!({ "count": count, "results": results });
        if count > MOST {
            out["hint"] = json!("Only the first 20 are listed; say it more exactly.");
        }
        Ok(ToolOutput::json(&out))
    }
}

fn harmless(value: Value) -> Value {
    match value {
        Value::String(text) => json!(clean(&text, LONGEST)),
        Value::Array(items) => items.into_iter().map(harmless).collect(),
        other => other,
    }
}
