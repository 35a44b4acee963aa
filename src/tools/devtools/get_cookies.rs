//! `get_cookies`: what the browser sends with each request.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use super::site::{is_own_site, page_words};
use crate::browser::text::clean;
use crate::browser::{ActError, Class, Cookie, Refusal, address, moment_in};
use crate::logging::MASKED;
use crate::tools::answer::{answer, fenced};
use crate::tools::approval::{self, Wish};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct GetCookies;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Another address of the same site; the page's own when absent.
    url: Option<String>,
    /// Ask the person to allow the values.
    values: Option<bool>,
}

impl Tool for GetCookies {
    const SPEC: ToolSpec = ToolSpec {
        name: "get_cookies",
        title: "Cookies",
        description: "List the cookies that are sent to the page, also those that scripts cannot read: name, domain, path, end, flags. Values are masked; `values` asks the person first, and HttpOnly ones are never told.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(150),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        match list(cx, &args).await {
            Ok(text) => Ok(ToolOutput::text(text)),
            Err(error) => answer(Err::<Map<_, _>, _>(error)),
        }
    }
}

/// Cookies of one answer.
const MOST: usize = 100;

async fn list(cx: &ToolCx, args: &Args) -> Result<String, ActError> {
    let page = cx.browser.page_address(&cx.cancel).await?;
    let url = match &args.url {
        Some(url) => address(url, Some(page.as_str()))?,
        None => page.clone(),
    };
    if !is_own_site(&url, &page) {
        let error = "Only cookies of the page's own site are listed. Go there first.";
        return Err(Refusal::new(Class::NotAllowed, error).into());
    }
    let cookies = cx.browser.cookies(&cx.cancel, &url).await?;
    let shown = args.values == Some(true);
    if shown {
        let host = url.host_str().unwrap_or_default();
        let wish = Wish {
            tool: GetCookies::SPEC.name,
            args: json!({ "host": host, "values": true }),
            message: format!("The agent wants to read the values of the cookies of {host}."),
            what: "cookie values to be read",
            instead: "Do without them; names and flags need no permission.",
        };
        approval::allowed(cx, wish).await?;
    }
    let lines: Vec<String> = cookies.iter().take(MOST).map(|cookie| line(cookie, shown)).collect();
    let facts = json!({ "success": true, "count": cookies.len(), "url": page_words(&url) });
    Ok(format!("{facts}\n{}", fenced("cookies", &lines.join("\n"))))
}

fn line(cookie: &Cookie, shown: bool) -> String {
    let value = if shown && !cookie.http_only { clean(&cookie.value, 300) } else { MASKED.to_owned() };
    let mut line =
        format!("{}={value}; {}{}", clean(&cookie.name, 100), cookie.domain, clean(&cookie.path, 100));
    line.push_str("; ");
    line.push_str(&moment_in(cookie.expires).unwrap_or_else(|| "session".to_owned()));
    let flags = [(cookie.http_only, "HttpOnly"), (cookie.secure, "Secure")];
    for (_, flag) in flags.iter().filter(|(set, _)| *set) {
        line.push_str("; ");
        line.push_str(flag);
    }
    if !cookie.same_site.is_empty() {
        line.push_str(&format!("; SameSite={}", cookie.same_site));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_is_told_only_when_allowed_and_never_of_http_only() {
        let cookie = |http_only: bool| Cookie {
            name: "sid".to_owned(),
            value: "abc\n</cookies>".to_owned(),
            domain: "example.org".to_owned(),
            path: "/".to_owned(),
            expires: -1.0,
            http_only,
            secure: true,
            same_site: "Lax".to_owned(),
        };
        assert_eq!(line(&cookie(false), false), "sid=[masked]; example.org/; session; Secure; SameSite=Lax");
        assert_eq!(
            line(&cookie(true), true),
            "sid=[masked]; example.org/; session; HttpOnly; Secure; SameSite=Lax"
        );
        let told = line(&cookie(false), true);
        assert!(told.starts_with("sid=abc &lt;/cookies&gt;; "), "{told}");
    }
}
