//! `get_network_requests`: what the page asked servers for.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::recorded::{bad, recent, told};
use crate::browser::{Outcome, RequestRecord, moment};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// See [`Tool::SPEC`].
pub struct GetNetworkRequests;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Only addresses that contain this.
    filter: Option<String>,
    /// Only this method, for example POST.
    method: Option<String>,
    /// Only this status: a code (404), a class (4xx), failed or pending.
    status: Option<String>,
    /// Only this type: document, fetch, xhr, script, stylesheet, image, font, websocket, ….
    r#type: Option<String>,
    /// The newest so many; 50 when absent, 200 at most.
    limit: Option<u64>,
    /// Only of the last so many ms.
    since_ms: Option<u64>,
}

impl Tool for GetNetworkRequests {
    const SPEC: ToolSpec = ToolSpec {
        name: "get_network_requests",
        title: "Network requests",
        description: "List the requests of the tab, frames and workers included: #id, method, status or why it failed, type, duration, address. Recorded since `recordedSince`, also between turns. get_network_request reads headers and bodies of one.",
        category: Category::Devtools,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let recent = recent(args.limit, args.since_ms)?;
        let status = args.status.as_deref().map(Status::read).transpose()?;
        let wanted = args.filter.unwrap_or_default().to_lowercase();
        let fits = |record: &RequestRecord| {
            record.url.to_lowercase().contains(&wanted)
                && args.method.as_ref().is_none_or(|method| record.method.eq_ignore_ascii_case(method.trim()))
                && args.r#type.as_ref().is_none_or(|kind| record.kind.eq_ignore_ascii_case(kind.trim()))
                && status.is_none_or(|status| status.fits(record))
        };
        Ok(told(&cx.browser.requests(&cx.cancel, recent, fits).await?, "requests", line))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Code(u16),
    Class(u16),
    Failed,
    Pending,
}

impl Status {
    fn read(text: &str) -> Result<Self, ToolError> {
        let text = text.trim().to_ascii_lowercase();
        let status = match (text.as_str(), text.strip_suffix("xx")) {
            ("failed" | "blocked", _) => Some(Self::Failed),
            ("pending", _) => Some(Self::Pending),
            (_, Some(class)) => class.parse().ok().filter(|class| (1..=5).contains(class)).map(Self::Class),
            _ => text.parse().ok().filter(|code| (100..=599).contains(code)).map(Self::Code),
        };
        status.ok_or_else(|| bad("`status` is a code like 404, a class like 4xx, failed or pending."))
    }

    fn fits(self, record: &RequestRecord) -> bool {
        match self {
            Self::Code(code) => record.status == Some(code),
            Self::Class(class) => record.status.is_some_and(|code| code / 100 == class),
            Self::Failed => matches!(record.outcome, Outcome::Failed(_)),
            Self::Pending => record.outcome == Outcome::Open,
        }
    }
}

/// `#12 GET 200 fetch 34 ms http://…`.
fn line(record: &RequestRecord) -> String {
    let took = record.took_ms.map(|ms| format!(" {ms} ms")).unwrap_or_default();
    let cached = if record.cached { " cached" } else { "" };
    let (at, id, method, kind) = (moment(record.at), record.id, &record.method, &record.kind);
    format!("{at} #{id} {method} {}{cached} {kind}{took} {}", outcome(record), record.url)
}

/// The status, and what more is to be said of the end.
pub(super) fn outcome(record: &RequestRecord) -> String {
    let status = record.status.map(|code| code.to_string());
    match (&record.outcome, status) {
        (Outcome::Failed(why), Some(status)) => format!("{status} failed ({why})"),
        (Outcome::Failed(why), None) => format!("failed ({why})"),
        (Outcome::Redirected, Some(status)) => format!("{status} redirected"),
        (Outcome::Lost, status) => {
            format!("{} (end not recorded)", status.unwrap_or_default()).trim().to_owned()
        }
        (Outcome::Open, Some(status)) => format!("{status} still loading"),
        (_, Some(status)) => status,
        (Outcome::Open, None) => "pending".to_owned(),
        (Outcome::Finished | Outcome::Redirected, None) => "done".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_codes_classes_or_words() {
        assert_eq!(Status::read("404").unwrap(), Status::Code(404));
        assert_eq!(Status::read(" 4XX ").unwrap(), Status::Class(4));
        assert_eq!(Status::read("failed").unwrap(), Status::Failed);
        for wrong in ["9xx", "42", "ok", "", "99999"] {
            assert!(Status::read(wrong).is_err(), "{wrong}");
        }
    }
}
