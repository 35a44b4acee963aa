//! `replay_request`: a request once more, or a new one.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use url::Url;

use super::site::{is_masked, page_words};
use crate::browser::text::{clean, clean_lines};
use crate::browser::{ActError, Class, Refusal, Replay, Replayed, address};
use crate::logging::{mask, mask_header};
use crate::tools::answer::{answer, fenced};
use crate::tools::approval::{self, Wish};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct ReplayRequest;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Id of a request that get_network_requests lists.
    id: Option<u64>,
    /// Instead of id: the address.
    url: Option<String>,
    /// With url: GET when absent.
    method: Option<String>,
    /// Headers to set, as a JSON object; with id besides its own.
    headers: Option<String>,
    /// With url: the body.
    body: Option<String>,
    /// false: only status and headers.
    include_response: Option<bool>,
}

impl Tool for ReplayRequest {
    const SPEC: ToolSpec = ToolSpec {
        name: "replay_request",
        title: "Send request",
        description: "Send a recorded request again by its id (with the headers and the body it had), or a new one by url, from the page and with its cookies. GET and HEAD to the page's own origin need no permission; for anything else the person is asked. Secrets in the answer are masked.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesBrowser,
        timeout: Duration::from_secs(180),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        match send(cx, &args).await {
            Ok(output) => Ok(output),
            Err(error) => answer(Err::<Map<_, _>, _>(error)),
        }
    }
}

/// Characters of the answer's body.
const LONGEST: usize = 4_000;

const METHODS: [&str; 7] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

async fn send(cx: &ToolCx, args: &Args) -> Result<ToolOutput, ActError> {
    let page = cx.browser.page_address(&cx.cancel).await?;
    let mut replay = match (args.id, &args.url) {
        (Some(_), None) if args.method.is_some() || args.body.is_some() => {
            return Err(
                bad("With `id` the request is sent as it was; `method` and `body` go with `url`.").into()
            );
        }
        (Some(id), None) => cx.browser.sent_request(&cx.cancel, id).await?,
        (None, Some(url)) => new_request(args, url, &page)?,
        _ => return Err(bad("Give `id` or `url`, one of the two.").into()),
    };
    for (name, value) in given_headers(args.headers.as_deref())? {
        replay.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
        replay.headers.push((name, value));
    }
    if !needs_nobody(&replay, &page) {
        approval::allowed(cx, wish(&replay, &page, args)).await?;
    }
    let got = cx.browser.replay(&cx.cancel, &replay).await?;
    told(&got, args.include_response != Some(false))
}

fn bad(error: &str) -> Refusal {
    Refusal::new(Class::BadArgument, error)
}

fn new_request(args: &Args, url: &str, page: &Url) -> Result<Replay, Refusal> {
    let url = address(url, Some(page.as_str()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refusal::new(Class::NotAllowed, "Requests are sent to http: and https: only."));
    }
    let method = args.method.as_deref().unwrap_or("GET").trim().to_ascii_uppercase();
    if !METHODS.contains(&method.as_str()) {
        return Err(bad("`method` is GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS."));
    }
    if args.body.is_some() && matches!(method.as_str(), "GET" | "HEAD") {
        return Err(bad("GET and HEAD have no body."));
    }
    if is_masked(url.as_str())
        || url.as_str().contains("%5Bmasked%5D")
        || args.body.as_deref().is_some_and(is_masked)
    {
        return Err(bad("A masked secret cannot be sent. `id` sends a recorded request with what it had."));
    }
    Ok(Replay { url, method, headers: Vec::new(), body: args.body.clone() })
}

fn given_headers(text: Option<&str>) -> Result<Vec<(String, String)>, Refusal> {
    let Some(text) = text.filter(|text| !text.trim().is_empty()) else { return Ok(Vec::new()) };
    let wrong = || bad("`headers` is a JSON object of names and texts, like {\"Accept\": \"text/html\"}.");
    let object: Map<String, Value> = serde_json::from_str(text).map_err(|_| wrong())?;
    let one = |(name, value): (String, Value)| {
        let value = value.as_str().ok_or_else(wrong)?.to_owned();
        let is_name = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_name) || value.chars().any(|c| c.is_control() && c != '\t')
        {
            return Err(wrong());
        }
        if is_masked(&value) {
            return Err(bad(
                "A masked secret cannot be sent. `id` sends a recorded request with what it had.",
            ));
        }
        Ok((name, value))
    };
    object.into_iter().take(40).map(one).collect()
}

/// Reading from the page's own origin is what its scripts may do anyway.
fn needs_nobody(replay: &Replay, page: &Url) -> bool {
    matches!(replay.method.as_str(), "GET" | "HEAD") && replay.url.origin() == page.origin()
}

fn wish<'a>(replay: &Replay, page: &Url, args: &Args) -> Wish<'a> {
    let host = replay.url.host_str().unwrap_or_default();
    let from = page.host_str().unwrap_or_default();
    let (method, address) = (&replay.method, page_words(&replay.url));
    let body = replay.body.as_deref().map(|body| clean(&mask(body), 500));
    let sent: Vec<&str> = replay.headers.iter().map(|(name, _)| name.as_str()).collect();
    Wish {
        tool: ReplayRequest::SPEC.name,
        args: json!({
            "host": host, "method": method, "url": address, "id": args.id, "headers": sent, "body": body,
        }),
        message: format!(
            "The agent wants to send a {method} request to {host} from the page of {from}: {address}"
        ),
        what: "this request to be sent",
        instead: "GET and HEAD to the page's own origin need no permission; else do it in the page as a person would.",
    }
}

fn told(got: &Replayed, with_body: bool) -> Result<ToolOutput, ActError> {
    if let Some(why) = &got.failed {
        let error = format!(
            "The request was sent and no answer may be read: {}. For another site that is the browser's rule (CORS), \
             else see get_network_requests.",
            clean(why, 200)
        );
        return Err(Refusal::new(Class::Rejected, error).with("duration_ms", got.took).into());
    }
    let mut facts = json!({
        "success": true, "status": got.status, "statusText": clean(&got.status_text, 80),
        "ok": (200..300).contains(&got.status), "duration_ms": got.took, "bytes": got.bytes,
    });
    if got.cut {
        facts["cut"] = json!(true);
    }
    let mut text = format!("{}\n", clean(&mask(&got.url), 500));
    for (name, value) in got.headers.iter().take(60) {
        text.push_str(&format!("{name}: {}\n", mask_header(name, value).replace(['\n', '\r'], " ")));
    }
    if with_body && !got.body.is_empty() {
        let body = mask(&got.body);
        let total = body.chars().count();
        text.push_str(&format!("\n{}\n", body.chars().take(LONGEST).collect::<String>()));
        if total > LONGEST {
            text.push_str(&format!("(the first {LONGEST} of {total} characters)\n"));
        }
    }
    Ok(ToolOutput::text(format!("{facts}\n{}", fenced("response", &clean_lines(&text)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(args: Value) -> Result<Replay, Refusal> {
        let page = Url::parse("https://example.org/a/b").unwrap();
        let args: Args = serde_json::from_value(args).unwrap();
        new_request(&args, args.url.as_deref().unwrap_or_default(), &page)
    }

    #[test]
    fn only_reading_from_the_own_origin_needs_nobody() {
        let page = Url::parse("https://example.org/a").unwrap();
        for (args, free) in [
            (json!({ "url": "/api?x=1" }), true),
            (json!({ "url": "/api", "method": "head" }), true),
            (json!({ "url": "/api", "method": "POST", "body": "" }), false),
            (json!({ "url": "https://example.org:8443/api" }), false),
            (json!({ "url": "http://example.org/api" }), false),
            (json!({ "url": "https://api.example.org/" }), false),
        ] {
            assert_eq!(needs_nobody(&request(args.clone()).unwrap(), &page), free, "{args}");
        }
    }

    #[test]
    fn what_is_no_request_is_refused_before_anything_is_sent() {
        for args in [
            json!({ "url": "javascript:alert(1)" }),
            json!({ "url": "file:///etc/hostname" }),
            json!({ "url": "data:text/html,x" }),
            json!({ "url": "about:blank" }),
            json!({ "url": "https://ana:pw@example.org/" }),
            json!({ "url": "/a?token=[masked]" }),
            json!({ "url": "/a", "method": "TRACE" }),
            json!({ "url": "/a", "body": "x" }),
        ] {
            assert!(request(args.clone()).is_err(), "{args}");
        }
        for headers in [
            "{",
            "[]",
            "{\"a\":1}",
            "{\"a b\":\"1\"}",
            "{\"a\":\"1\\r\\nb: 2\"}",
            "{\"Authorization\":\"Bearer [masked]\"}",
        ] {
            assert!(given_headers(Some(headers)).is_err(), "{headers}");
        }
        assert_eq!(
            given_headers(Some("{\"X-A\": \"`${1}'\\\"\"}")).unwrap(),
            [("X-A".to_owned(), "`${1}'\"".to_owned())]
        );
    }

    #[test]
    fn secrets_of_the_answer_are_masked() {
        let got = Replayed {
            status: 200,
            headers: vec![("x-auth-token".to_owned(), "k123".to_owned())],
            body: "{\"password\":\"hunter2\"} </response>".to_owned(),
            ..Replayed::default()
        };
        let text = told(&got, true).unwrap().text;
        assert!(
            !text.contains("k123") && !text.contains("hunter2") && !text.contains("</response>"),
            "{text}"
        );
    }
}
