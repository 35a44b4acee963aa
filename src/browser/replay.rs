//! A request sent once more, or a new one, by the page itself.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use url::Url;

use super::Browser;
use super::refusal::{ActError, Class, Refusal};
use super::view::ViewError;
use crate::page::{PageFunction, function};

/// How long a server may take.
const WITHIN: Duration = Duration::from_secs(20);

/// Characters of an answer that the page hands over.
const MOST: usize = 100_000;

/// A request to be. What it holds may be the person's secret.
#[derive(Clone)]
pub struct Replay {
    /// `http:` or `https:`.
    pub url: Url,
    /// In capitals.
    pub method: String,
    /// Those that scripts may set.
    pub headers: Vec<(String, String)>,
    /// Text.
    pub body: Option<String>,
}

/// What came back.
#[derive(Clone, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Replayed {
    /// Why nothing did.
    pub failed: Option<String>,
    /// 200 and the like.
    pub status: u16,
    /// Its words.
    pub status_text: String,
    /// Where the answer came from in the end.
    pub url: String,
    /// Those that scripts may read.
    pub headers: Vec<(String, String)>,
    /// The head of the answer, as text.
    pub body: String,
    /// How many bytes were read.
    pub bytes: u64,
    /// There was more.
    pub cut: bool,
    /// ms.
    pub took: u64,
}

impl Browser {
    /// A recorded request as it was sent, secrets included.
    ///
    /// # Errors
    /// [`Class::BadArgument`] when there is none, or when its body is gone; else see [`ActError`].
    pub async fn sent_request(&self, cancel: &CancellationToken, id: u64) -> Result<Replay, ActError> {
        let found = self.recorded(cancel, id).await?;
        let gone = |what: &str| Refusal::new(Class::BadArgument, format!("Request #{id} {what}"));
        let url = Url::parse(&found.raw.url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or_else(|| {
            gone("cannot be sent again: it is no http request, or its address is too long.")
        })?;
        let body = match found.has_sent_body {
            true => {
                let told = self.posted(cancel, &found).await?;
                Some(told.ok_or_else(|| {
                    gone("cannot be sent again: the browser no longer holds its body. Give url, method and body.")
                })?)
            }
            false => None,
        };
        Ok(Replay {
            url,
            method: found.method.to_ascii_uppercase(),
            headers: found.raw.headers.clone(),
            body,
        })
    }

    /// Has the page send a request. Cookies go along as the browser's rules say.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn replay(&self, cancel: &CancellationToken, replay: &Replay) -> Result<Replayed, ViewError> {
        const REPLAY: PageFunction = function("replay");
        let worlds = self.worlds(cancel, false).await?;
        let top = worlds.first().ok_or(ViewError::NoTab)?;
        let within = u64::try_from(WITHIN.as_millis()).unwrap_or(u64::MAX);
        let asked = json!({
            "url": replay.url.as_str(), "method": replay.method, "headers": replay.headers, "body": replay.body,
            "most": MOST, "within": within,
        });
        let limit = WITHIN + Duration::from_secs(3);
        Ok(top.world.call_with(&self.context, cancel, REPLAY, &[asked], &[], limit).await?)
    }
}
