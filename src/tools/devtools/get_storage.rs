//! `get_storage`: what scripts of a site keep.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use crate::browser::text::clean;
use crate::browser::{ActError, Class, Refusal};
use crate::logging::mask_stored;
use crate::tools::answer::{answer, fenced};
use crate::tools::approval::{self, Wish};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct GetStorage;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// all (when absent), local, session or indexeddb.
    kind: Option<Kind>,
    /// Only this key, with up to 4000 characters of its value.
    key: Option<String>,
    /// Ask the person to allow the masked values.
    values: Option<bool>,
}

impl Tool for GetStorage {
    const SPEC: ToolSpec = ToolSpec {
        name: "get_storage",
        title: "Stored by the site",
        description: "Read what scripts of the page's site keep: localStorage, sessionStorage, and names of databases. Tokens, identifiers and values of secret names are masked; `values` asks the person first.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(150),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        match read(cx, &args).await {
            Ok(text) => Ok(ToolOutput::text(text)),
            Err(error) => answer(Err::<Map<_, _>, _>(error)),
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    All,
    Local,
    Session,
    Indexeddb,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Local => "local",
            Self::Session => "session",
            Self::Indexeddb => "indexeddb",
        }
    }
}

/// Characters of a value, unless one key is asked for.
const VALUE: usize = 200;

async fn read(cx: &ToolCx, args: &Args) -> Result<String, ActError> {
    let kind = args.kind.unwrap_or(Kind::All).name();
    let shown = args.values == Some(true);
    if shown {
        let page = cx.browser.page_address(&cx.cancel).await?;
        let host = page.host_str().unwrap_or_default();
        let wish = Wish {
            tool: GetStorage::SPEC.name,
            args: json!({ "host": host, "kind": kind, "key": args.key, "values": true }),
            message: format!(
                "The agent wants to read what scripts of {host} keep in your browser, tokens included."
            ),
            what: "stored values to be read",
            instead: "Do without them; keys need no permission.",
        };
        approval::allowed(cx, wish).await?;
    }
    let stored = cx.browser.stored(&cx.cancel, kind, args.key.as_deref()).await?;
    if stored.denied && stored.entries.is_empty() {
        return Err(Refusal::new(Class::NotAllowed, "The browser lets this page keep nothing.").into());
    }
    let most = if args.key.is_some() { 4_000 } else { VALUE };
    let mut lines = Vec::new();
    for (area, key, value, length) in &stored.entries {
        // Masked before it is cut, else half a secret would stand at its end.
        let told = if shown { value.as_str().into() } else { mask_stored(key, value) };
        let more = if told.chars().count() > most || value.len() as u64 > *length {
            format!(" ({length} characters)")
        } else {
            String::new()
        };
        lines.push(format!("{area} {}: {}{more}", clean(key, 200), clean(&told, most)));
    }
    lines.extend(
        stored
            .databases
            .iter()
            .map(|(name, version)| format!("indexeddb {}: version {version}", clean(name, 200))),
    );
    let mut facts = json!({ "success": true, "count": lines.len() });
    if stored.total > stored.entries.len() {
        facts["left_out"] = json!(stored.total - stored.entries.len());
    }
    Ok(format!("{facts}\n{}", fenced("storage", &lines.join("\n"))))
}
