//! The page on paper.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::{CdpError, Target};
use super::refusal::{ActError, Class, Refusal};
use super::view::ViewError;
use crate::page::{PageFunction, function};

const METHOD: &str = "Page.printToPDF";

/// How long printing may take.
const WITHIN: Duration = Duration::from_secs(60);

/// How a page is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Paper {
    /// Wider than high.
    pub landscape: bool,
}

/// A printed page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// The PDF.
    pub content: Vec<u8>,
    /// The page's title, as the page wrote it.
    pub title: String,
}

impl Browser {
    /// Prints the page into a PDF. A PDF holds what fields hold as text, where nothing can be painted over: so not
    /// while a secret field is filled in.
    ///
    /// # Errors
    /// [`Class::NotAllowed`] because of secrets; else see [`ActError`].
    pub async fn print(&self, cancel: &CancellationToken, paper: Paper) -> Result<Printed, ActError> {
        const SECRETS: PageFunction = function("holdsSecrets");
        let tab = self.tab(cancel).await?.ok_or(ViewError::NoTab)?;
        let target = Target::tab(tab);
        let tabs = self.context.tabs(cancel).await?;
        let title =
            tabs.into_iter().find(|info| info.tab_id == tab).map_or_else(String::new, |info| info.title);
        let refusal = || {
            Refusal::new(
                Class::NotAllowed,
                "A password, code or card field of the page is filled in, and the PDF would hold it. Ask the person \
                 to print the page, or take a screenshot, in which such fields are painted over.",
            )
        };
        let hold = async || -> Result<bool, ActError> {
            Ok(self.call_opened::<bool>(cancel, SECRETS, &[]).await?.iter().any(|(_, holds)| *holds))
        };
        if hold().await? {
            return Err(refusal().into());
        }
        let params = json!({ "landscape": paper.landscape, "printBackground": true });
        let printed = self.context.cdp_within(cancel, &target, METHOD, params, WITHIN).await?;
        // Somebody may have typed meanwhile.
        if hold().await? {
            return Err(refusal().into());
        }
        let malformed = |detail: String| CdpError::Malformed { method: METHOD.to_owned(), detail };
        let data =
            printed.get("data").and_then(Value::as_str).ok_or_else(|| malformed("no `data`".to_owned()))?;
        let content = STANDARD.decode(data).map_err(|error| malformed(error.to_string()))?;
        Ok(Printed { content, title })
    }
}
