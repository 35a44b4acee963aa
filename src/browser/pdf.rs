//! The bytes of a PDF that a tab shows, fetched by the page's own document: with the person's session, and as a
//! rule from the browser's cache.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::refusal::{ActError, Class, Refusal};
use super::seer::FrameWorld;
use crate::page::{PageFunction, function};

const SHOWN: PageFunction = function("pdfShown");
const TAKE: PageFunction = function("pdfTake");
const PIECE: PageFunction = function("pdfPiece");

/// Bytes of a file.
const MOST: usize = 32 * 1024 * 1024;

/// How long fetching may take.
const FETCH: Duration = Duration::from_secs(30);

/// How long one piece may take.
const PIECE_TIME: Duration = Duration::from_secs(10);

/// Bytes asked for at once from a stream.
const STREAM_PIECE: usize = 4 * 1024 * 1024;

/// A PDF that the tab shows.
#[derive(Debug, Clone)]
pub struct ShownPdf {
    /// Its address.
    pub url: String,
    /// The whole tab is this PDF.
    pub whole: bool,
    frame: FrameWorld,
}

#[derive(Debug, Deserialize)]
struct Shown {
    url: String,
    whole: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Taken {
    size: Option<usize>,
    status: Option<u16>,
    too_large: bool,
    failed: Option<String>,
}

impl Browser {
    /// The PDF that the tab shows: the tab itself, else the first one in a frame or embedded in the page.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn shown_pdf(&self, cancel: &CancellationToken) -> Result<Option<ShownPdf>, ActError> {
        let answers = self.call_frames::<Option<Shown>>(cancel, SHOWN, &[]).await?;
        Ok(answers.into_iter().enumerate().find_map(|(number, (frame, shown))| {
            shown.map(|Shown { url, whole }| ShownPdf { url, whole: whole && number == 0, frame })
        }))
    }

    /// The bytes of a PDF, 32 MiB at most.
    ///
    /// # Errors
    /// [`Class::NotAllowed`] when the page may not fetch it or it is too large; else see [`ActError`].
    pub async fn pdf_bytes(&self, cancel: &CancellationToken, pdf: &ShownPdf) -> Result<Vec<u8>, ActError> {
        let world = &pdf.frame.world;
        let id = uuid::Uuid::new_v4().to_string();
        let args = [json!(id), json!(pdf.url), json!(MOST)];
        let taken: Taken = world.call_with(&self.context, cancel, TAKE, &args, &[], FETCH).await?;
        if taken.too_large {
            return Err(too_large());
        }
        if let Some(status) = taken.status {
            return Err(Refusal::new(
                Class::NotAllowed,
                format!("The server does not give the file a second time (status {status}). Reload the tab, or use screenshot."),
            )
            .into());
        }
        let Some(size) = taken.size else {
            tracing::debug!(why = taken.failed, "the document may not fetch its own file");
            return self.stream_bytes(cancel, pdf).await;
        };
        let mut bytes = Vec::with_capacity(size);
        while bytes.len() < size {
            let args = [json!(id), json!(bytes.len())];
            let piece: String = world.call_with(&self.context, cancel, PIECE, &args, &[], PIECE_TIME).await?;
            let piece = STANDARD.decode(piece).unwrap_or_default();
            if piece.is_empty() {
                return Err(Refusal::new(
                    Class::Timeout,
                    "The file was not handed over completely; try again.",
                )
                .into());
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes)
    }

    /// For documents whose own rules (CSP, another origin) keep them from fetching: the browser loads it for the
    /// frame.
    async fn stream_bytes(&self, cancel: &CancellationToken, pdf: &ShownPdf) -> Result<Vec<u8>, ActError> {
        let world = &pdf.frame.world;
        let target = &world.target;
        let send = |method, params| self.context.cdp_within(cancel, target, method, params, FETCH);
        let params = json!({
            "frameId": &*world.frame, "url": pdf.url,
            "options": { "disableCache": false, "includeCredentials": true },
        });
        let answer = send("Network.loadNetworkResource", params).await?;
        let Some(stream) = answer.pointer("/resource/stream").and_then(Value::as_str) else {
            let why =
                answer.pointer("/resource/netErrorName").and_then(Value::as_str).unwrap_or("no reason given");
            return Err(Refusal::new(
                Class::NotAllowed,
                format!(
                    "The file cannot be fetched ({}). Use screenshot to see the page shown.",
                    super::text::clean(why, 60)
                ),
            )
            .into());
        };
        let mut bytes = Vec::new();
        let outcome = loop {
            let piece = send("IO.read", json!({ "handle": stream, "size": STREAM_PIECE })).await?;
            let data = piece.get("data").and_then(Value::as_str).unwrap_or_default();
            if piece.get("base64Encoded").and_then(Value::as_bool) == Some(true) {
                bytes.extend(STANDARD.decode(data).unwrap_or_default());
            } else {
                bytes.extend_from_slice(data.as_bytes());
            }
            if bytes.len() > MOST {
                break Err(too_large());
            }
            if piece.get("eof").and_then(Value::as_bool) == Some(true) {
                break Ok(());
            }
        };
        let _ = send("IO.close", json!({ "handle": stream })).await;
        outcome.map(|()| bytes)
    }
}

fn too_large() -> ActError {
    Refusal::new(
        Class::NotAllowed,
        format!("The file has more than {} MiB; use screenshot to see the page shown.", MOST / (1024 * 1024)),
    )
    .into()
}
