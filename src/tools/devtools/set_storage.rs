//! `set_storage`: what scripts of a site keep, changed.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::site::is_masked;
use crate::browser::{ActError, Class, Refusal};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct SetStorage;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// local or session.
    kind: Area,
    /// The key.
    key: Option<String>,
    /// Its new value; the key is removed when absent.
    value: Option<String>,
    /// true, and no key: remove all keys.
    clear: Option<bool>,
}

impl Tool for SetStorage {
    const SPEC: ToolSpec = ToolSpec {
        name: "set_storage",
        title: "Change stored",
        description: "Set or remove a key of the page's localStorage or sessionStorage, or clear all of it. The page notices when it reads again: reload.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesBrowser,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(set(cx, &args).await)
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Area {
    Local,
    Session,
}

async fn set(cx: &ToolCx, args: &Args) -> Result<Map<String, Value>, ActError> {
    let bad = |error: &str| ActError::from(Refusal::new(Class::BadArgument, error));
    let clear = args.clear == Some(true);
    if clear == args.key.is_some() || clear && args.value.is_some() {
        return Err(bad("Give `key`, with `value` or without it to remove it; or `clear` true alone."));
    }
    if args.value.as_deref().is_some_and(is_masked) {
        return Err(bad("`value` holds masked text, not a value."));
    }
    let area = match args.kind {
        Area::Local => "local",
        Area::Session => "session",
    };
    let left = cx.browser.store(&cx.cancel, area, args.key.as_deref(), args.value.as_deref()).await?;
    let Some(left) = left else {
        return Err(Refusal::new(
            Class::Rejected,
            "The browser does not let this page keep it, or has no room for it.",
        )
        .into());
    };
    let mut words = Map::new();
    words.insert("keys".to_owned(), json!(left));
    Ok(words)
}
