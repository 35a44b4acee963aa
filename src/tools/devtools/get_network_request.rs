//! `get_network_request`: one request with its headers and bodies.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::get_network_requests::outcome;
use crate::browser::text::clean_lines;
use crate::browser::{Body, RequestText, moment};
use crate::tools::answer::fenced;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct GetNetworkRequest;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Its id, as get_network_requests lists it.
    id: u64,
    /// Characters of each body; 4000 when absent, 20000 at most.
    max_chars: Option<usize>,
}

/// Characters of a body unless asked otherwise, and at most.
const USUAL: usize = 4_000;
const MOST: usize = 20_000;

impl Tool for GetNetworkRequest {
    const SPEC: ToolSpec = ToolSpec {
        name: "get_network_request",
        title: "One network request",
        description: "Read one request that get_network_requests listed: headers and body of both sides. Cookies, authorization and tokens are masked; of a body that is no text only its size is told.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(45),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let found = cx.browser.request(&cx.cancel, args.id).await?;
        Ok(ToolOutput::text(shown(&found, args.max_chars.unwrap_or(USUAL).clamp(1, MOST))))
    }
}

fn shown(found: &RequestText, most: usize) -> String {
    let record = &found.record;
    let mut words = Map::new();
    words.insert("success".to_owned(), json!(true));
    words.insert("id".to_owned(), json!(record.id));
    words.insert("at".to_owned(), json!(moment(record.at)));
    if let Some(ms) = record.took_ms {
        words.insert("duration_ms".to_owned(), json!(ms));
    }
    let mut body = format!("{} {} ({})\n", record.method, record.url, record.kind);
    side(&mut body, &record.sent, &found.sent, "", most);
    body.push_str(&format!("\n{}\n", outcome(record)));
    side(&mut body, &record.received, &found.received, &record.mime, most);
    format!("{}\n{}", Value::Object(words), fenced("request", &clean_lines(&body)))
}

fn side(out: &mut String, headers: &[(String, String)], body: &Body, mime: &str, most: usize) {
    for (name, value) in headers {
        out.push_str(&format!("{name}: {}\n", value.replace(['\n', '\r'], " ")));
    }
    match body {
        Body::None => {}
        Body::Unknown => out.push_str("\n(the browser does not hold the body, or no longer)\n"),
        Body::Binary(bytes) => out.push_str(&format!("\n({bytes} bytes of {mime}, no text)\n")),
        Body::Text(text) => {
            let total = text.chars().count();
            let head: String = text.chars().take(most).collect();
            out.push_str(&format!("\n{head}\n"));
            if total > most {
                out.push_str(&format!("(the first {most} of {total} characters)\n"));
            }
        }
    }
}
