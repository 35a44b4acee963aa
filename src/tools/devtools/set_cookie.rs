//! `set_cookie`: a cookie of the page's own site.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::site::{is_masked, is_own_site, page_words};
use crate::browser::{ActError, Class, NewCookie, Refusal, address};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct SetCookie;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Its name.
    name: String,
    /// Its value.
    value: String,
    /// An address of the page's site that it is for; the page's own when absent.
    url: Option<String>,
    /// Domain that its subdomains get it with too; the host alone when absent.
    domain: Option<String>,
    /// Path; / when absent.
    path: Option<String>,
    /// Over https only.
    secure: Option<bool>,
    /// Not for scripts.
    http_only: Option<bool>,
    /// Strict, Lax or None.
    same_site: Option<String>,
    /// Seconds it lives; 0 removes it; with the browser's session when absent.
    expires_sec: Option<f64>,
}

impl Tool for SetCookie {
    const SPEC: ToolSpec = ToolSpec {
        name: "set_cookie",
        title: "Set cookie",
        description: "Set a cookie of the page's own site, or remove it (expires_sec 0). Takes effect with the next request: reload.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesBrowser,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        answer(set(cx, args).await)
    }
}

async fn set(cx: &ToolCx, args: Args) -> Result<Map<String, Value>, ActError> {
    let page = cx.browser.page_address(&cx.cancel).await?;
    let url = match &args.url {
        Some(url) => address(url, Some(page.as_str()))?,
        None => page.clone(),
    };
    let remove = args.expires_sec.is_some_and(|seconds| seconds <= 0.0);
    let cookie = cookie(args, &url)?;
    if !is_own_site(&url, &page) {
        let error = "Only cookies of the page's own site can be set. Go there first.";
        return Err(Refusal::new(Class::NotAllowed, error).into());
    }
    if remove {
        cx.browser.delete_cookie(&cx.cancel, &cookie).await?;
    } else if !cx.browser.set_cookie(&cx.cancel, &cookie).await? {
        let error = "The browser does not take this cookie: see name, value, domain and flags.";
        return Err(Refusal::new(Class::Rejected, error).into());
    }
    let there = cx.browser.cookies(&cx.cancel, &url).await?.iter().any(|kept| kept.name == cookie.name);
    let mut words = Map::new();
    words.insert("name".to_owned(), json!(cookie.name));
    words.insert("url".to_owned(), json!(page_words(&url)));
    words.insert((if remove { "removed" } else { "kept" }).to_owned(), json!(there != remove));
    Ok(words)
}

fn cookie(args: Args, url: &url::Url) -> Result<NewCookie, Refusal> {
    let bad = |error: &str| Refusal::new(Class::BadArgument, error);
    let plain = |text: &str| !text.chars().any(|c| c.is_control() || c == ';');
    if args.name.is_empty() || args.name.contains('=') || !plain(&args.name) || !plain(&args.value) {
        return Err(bad("A cookie's name and value hold no ; and no control character, and the name no =."));
    }
    if args.name.len() + args.value.len() > 4_096 {
        return Err(bad("A cookie has 4096 bytes at most."));
    }
    if is_masked(&args.value) {
        return Err(bad("`value` is masked text, not a value."));
    }
    let host = url.host_str().unwrap_or_default();
    let domain = args.domain.map(|domain| domain.trim().trim_start_matches('.').to_ascii_lowercase());
    if domain.as_ref().is_some_and(|domain| domain != host && !host.ends_with(&format!(".{domain}"))) {
        return Err(bad("`domain` is the page's host or a domain that it is part of."));
    }
    let same_site = args.same_site.map(|text| match text.to_ascii_lowercase().as_str() {
        "strict" => Ok("Strict".to_owned()),
        "lax" => Ok("Lax".to_owned()),
        "none" => Ok("None".to_owned()),
        _ => Err(bad("`same_site` is Strict, Lax or None.")),
    });
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0.0, |now| now.as_secs_f64());
    Ok(NewCookie {
        name: args.name,
        value: args.value,
        url: url.to_string(),
        domain,
        path: args.path,
        secure: args.secure.unwrap_or(false),
        http_only: args.http_only.unwrap_or(false),
        same_site: same_site.transpose()?,
        expires: args.expires_sec.map(|seconds| now + seconds.clamp(0.0, 400.0 * 86_400.0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(fields: Value) -> Result<NewCookie, Refusal> {
        let url = url::Url::parse("https://shop.example.org/a").unwrap();
        cookie(serde_json::from_value(fields).unwrap(), &url)
    }

    #[test]
    fn cookies_of_others_and_words_that_end_one_are_refused() {
        for fields in [
            json!({ "name": "a;b", "value": "1" }),
            json!({ "name": "a", "value": "1; Domain=other.example" }),
            json!({ "name": "a", "value": "1\r\nSet-Cookie: b=2" }),
            json!({ "name": "", "value": "1" }),
            json!({ "name": "a", "value": "[masked]" }),
            json!({ "name": "a", "value": "1", "domain": "other.example" }),
            json!({ "name": "a", "value": "1", "domain": "op.example.org" }),
            json!({ "name": "a", "value": "1", "same_site": "maybe" }),
        ] {
            assert!(made(fields.clone()).is_err(), "{fields}");
        }
        let cookie =
            made(json!({ "name": "a", "value": "1", "domain": ".example.org", "same_site": "lax" })).unwrap();
        assert_eq!(
            (cookie.domain.as_deref(), cookie.same_site.as_deref()),
            (Some("example.org"), Some("Lax"))
        );
    }
}
