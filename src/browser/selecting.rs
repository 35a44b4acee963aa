//! Elements by CSS selector, for tools that act.

use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::finding::Named;
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use super::seer::Found;
use crate::page::{PageFunction, function};

const FIND: PageFunction = function("findOne");

#[derive(Debug, Deserialize)]
struct FoundBySelector {
    wrong: bool,
    total: usize,
    found: Vec<Named>,
}

impl Browser {
    /// The one element that a CSS selector means. Of several, the only file field when `files`, else the only one
    /// that is shown. `instead`: the tool that takes the number of one.
    ///
    /// # Errors
    /// [`Class::BadArgument`] when it is no selector or finds nothing, [`Class::Ambiguous`] with `candidates`.
    pub async fn find_one(
        &self,
        cancel: &CancellationToken,
        selector: &str,
        files: bool,
        instead: &str,
    ) -> Result<Element, ActError> {
        let said = super::text::quoted(selector, 120);
        let answers =
            self.call_frames::<FoundBySelector>(cancel, FIND, &[json!(selector), json!(files)]).await?;
        if answers.iter().any(|(_, answer)| answer.wrong) {
            return Err(Refusal::new(Class::BadArgument, super::finding::wrong_selector(selector)).into());
        }
        let total: usize = answers.iter().map(|(_, answer)| answer.total).sum();
        let mut found = Vec::new();
        let mut names = Vec::new();
        for (frame, answer) in answers {
            for one in answer.found {
                names.push(one.fingerprint.describe());
                found.push(Found {
                    world: frame.world.id,
                    slot: one.slot,
                    fingerprint: one.fingerprint,
                    origin: frame.origin.clone(),
                });
            }
        }
        let numbers = self.number(cancel, found).await?;
        match numbers.as_slice() {
            [] => Err(Refusal::new(
                Class::BadArgument,
                format!("Nothing on the page matches the selector {said}; look with inspect_page."),
            )
            .into()),
            [only] if total == 1 => Ok(self.element(cancel, *only).await?),
            several => {
                let candidates: Vec<Value> = several
                    .iter()
                    .zip(names)
                    .map(|(index, element)| json!({ "index": index, "element": element }))
                    .collect();
                Err(Refusal::new(
                    Class::Ambiguous,
                    format!(
                        "{total} elements match the selector {said}; take {instead} with the number of one."
                    ),
                )
                .with("candidates", json!(candidates))
                .into())
            }
        }
    }
}
