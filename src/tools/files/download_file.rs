//! `download_file`: the browser downloads an address.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, json};

use crate::browser::text::{clean, quoted};
use crate::browser::{ActError, Class, DownloadEvent, Refusal, address, safe_download_name};
use crate::tools::answer::answer;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Bytes of one file.
const MOST: u64 = 256 * 1024 * 1024;

/// See [`Tool::SPEC`].
pub struct DownloadFile;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// http or https address of the file; may be relative to the page.
    url: String,
    /// Name for the file, without folders; the browser's own choice when absent.
    filename: Option<String>,
}

impl Tool for DownloadFile {
    const SPEC: ToolSpec = ToolSpec {
        name: "download_file",
        title: "Download a file",
        description: "Download an address as the browser does, with the person's sign-ins, into the browser's download folder; no file is replaced. `path` says where it lies; upload_index takes it. 256 MiB and 60 s at most. For links on the page a click does it too.",
        category: Category::Files,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReachesComputer,
        timeout: Duration::from_secs(90),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        let downloaded = async {
            let context = &cx.browser.context;
            if !context.has("downloads") {
                let error = "This browser's extension cannot download by itself; click the link instead.";
                return Err(Refusal::new(Class::NotAllowed, error).into());
            }
            let no_tab = || Refusal::new(Class::Closed, "There is no tab to work on.");
            let tab = cx.browser.tab(&cx.cancel).await?.ok_or_else(no_tab)?;
            let tabs = context.tabs(&cx.cancel).await?;
            let page = tabs.iter().find(|info| info.tab_id == tab).map(|info| info.url.as_str());
            let url = address(&args.url, page)?;
            if !matches!(url.scheme(), "http" | "https") {
                return Err(Refusal::new(Class::NotAllowed, "Only http: and https: are downloaded.").into());
            }
            let name = match args.filename.as_deref().map(str::trim).filter(|name| !name.is_empty()) {
                Some(name) => Some(safe_download_name(name).ok_or_else(|| {
                    let error = format!("`filename`: {} is no plain name of a file.", quoted(name, 120));
                    Refusal::new(Class::BadArgument, error)
                })?),
                None => None,
            };
            let finished = context.download(&cx.cancel, tab, url.to_string(), name, MOST).await?;
            words(finished)
        };
        answer(downloaded.await)
    }
}

fn words(finished: DownloadEvent) -> Result<Map<String, serde_json::Value>, ActError> {
    let why = finished.error.as_deref().map(|error| clean(error, 80));
    if finished.state != "complete" {
        let error = match (why.as_deref(), &finished.danger) {
            (Some("TOO_LARGE"), _) => "The file has more than 256 MiB and was not downloaded.".to_owned(),
            (_, Some(danger)) => format!(
                "The browser holds the file to be dangerous ({}) and asks the person whether to keep it; call await_user.",
                clean(danger, 40)
            ),
            (Some("TOO_SLOW"), _) => {
                "The download did not end within 60 s and was stopped. If the browser asked the person where to save it, call await_user and try again.".to_owned()
            }
            (Some(why), _) => format!("The download failed: {why}."),
            (None, _) => "The download did not end.".to_owned(),
        };
        let class = if why.as_deref() == Some("TOO_SLOW") { Class::Timeout } else { Class::NotAllowed };
        return Err(Refusal::new(class, error).into());
    }
    let mut words = Map::new();
    words.insert("path".to_owned(), json!(finished.filename));
    words.insert("size".to_owned(), json!(finished.bytes));
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(state: &str, error: Option<&str>, danger: Option<&str>) -> DownloadEvent {
        DownloadEvent {
            download_id: 1,
            tab_id: None,
            url: None,
            guid: None,
            state: state.to_owned(),
            filename: Some("/home/me/Downloads/a.csv".to_owned()),
            bytes: Some(6),
            error: error.map(str::to_owned),
            danger: danger.map(str::to_owned),
        }
    }

    #[test]
    fn answer_tells_where_the_file_lies_or_why_there_is_none() {
        let told = words(finished("complete", None, None)).unwrap();
        assert_eq!(json!(told), json!({ "path": "/home/me/Downloads/a.csv", "size": 6 }));
        for (error, danger, part) in [
            (Some("TOO_LARGE"), None, "256 MiB"),
            (Some("TOO_SLOW"), None, "60 s"),
            (Some("TOO_SLOW"), Some("file"), "dangerous"),
            (Some("SERVER_FORBIDDEN"), None, "SERVER_FORBIDDEN"),
        ] {
            let Err(ActError::Refused(refusal)) = words(finished("in_progress", error, danger)) else {
                panic!()
            };
            assert!(refusal.error.contains(part), "{}", refusal.error);
        }
    }
}
