//! Sending a form: the one that an element belongs to, and never another.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::observe::{Observed, Patience, Watch};
use super::press::Press;
use super::refs::{Element, Fingerprint};
use super::refusal::{ActError, Class, Refusal};
use super::seer::Found;
use crate::page::ACT;

/// A form that was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Submitted {
    /// `click` or `requestSubmit`.
    pub via: &'static str,
    /// What the pressed button says.
    pub text: Option<String>,
    /// What that did.
    pub observed: Observed,
    /// Fields that the page finds wrong now: `index`, `label`, `message`.
    pub invalid: Vec<Value>,
}

#[derive(Debug, Clone, Deserialize)]
struct Named {
    slot: u32,
    fingerprint: Fingerprint,
    text: String,
    #[serde(default)]
    message: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Told<T> {
    Refused { class: Class, error: String },
    Said(T),
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Plan {
    button: Option<Named>,
    several: Option<Vec<Named>>,
    skips: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Look {
    validates: bool,
    refused: bool,
    invalid: Vec<Named>,
}

impl Browser {
    /// Sends the form around an element: by a press on its button, or as the browser does without one.
    ///
    /// # Errors
    /// [`Class::Ambiguous`] when it has several buttons (`candidates`), [`Class::Rejected`] when the browser
    /// finds fields wrong (`invalid`); else see [`ActError`].
    pub async fn submit(&self, cancel: &CancellationToken, element: &Element) -> Result<Submitted, ActError> {
        let plan: Plan = told(element.call(cancel, ACT, &[json!("submit"), json!({ "op": "plan" })]).await?)?;
        if let Some(several) = plan.several {
            let candidates = self.listed(cancel, element, several).await?;
            return Err(Refusal::new(
                Class::Ambiguous,
                "The form has several buttons that send it. Press the right one with click_index.",
            )
            .with("candidates", candidates)
            .into());
        }
        let (via, text, observed) = match plan.button {
            Some(button) => {
                let text = super::text::clean(&button.text, 80);
                let index = self.numbers(cancel, element, &[button]).await?;
                let index = index.first().copied().ok_or(super::view::ViewError::NoTab)?;
                let button = self.element(cancel, index).await?;
                ("click", Some(text), self.press(cancel, &button, &Press::default()).await?)
            }
            None => ("requestSubmit", None, self.request_submit(cancel, element).await?),
        };
        let mut submitted = Submitted { via, text, observed, invalid: Vec::new() };
        let over = submitted.observed.url_changed
            || submitted.observed.new_document
            || submitted.observed.dialog.is_some()
            || submitted.observed.closed
            || !submitted.observed.downloads.is_empty();
        if over {
            return Ok(submitted);
        }
        let look = element.call::<Told<Look>>(cancel, ACT, &[json!("submit"), json!({ "op": "look" })]).await;
        let look = match look {
            Ok(Told::Said(look)) => look,
            // The form went away, as sent forms do.
            Ok(Told::Refused { .. }) | Err(_) => return Ok(submitted),
        };
        let blocked = look.validates && look.refused && !plan.skips;
        submitted.invalid = self.listed(cancel, element, look.invalid).await?;
        if blocked {
            return Err(Refusal::new(
                Class::Rejected,
                "The browser did not send the form: `invalid` tells which fields are missing or wrong.",
            )
            .with("invalid", submitted.invalid)
            .into());
        }
        Ok(submitted)
    }

    async fn request_submit(
        &self,
        cancel: &CancellationToken,
        element: &Element,
    ) -> Result<Observed, ActError> {
        self.prepare(cancel, element.target.tab).await?;
        let mut watch = Watch::start(self, cancel, element, None).await?;
        watch.arm(cancel, false).await?;
        let sent = element.call::<Told<Plan>>(cancel, ACT, &[json!("submit"), json!({ "op": "send" })]).await;
        match sent.map_err(ActError::from) {
            Ok(sent) => {
                told(sent)?;
            }
            Err(ActError::Cancelled) => return Err(ActError::Cancelled),
            // The page asks something, or is on its way already: the watch tells.
            Err(ActError::Refused(refusal))
                if matches!(refusal.class, Class::BlockedByDialog | Class::Navigated) => {}
            Err(refused) => return Err(refused),
        }
        watch.settle(cancel, Patience::Settle).await
    }

    async fn numbers(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        named: &[Named],
    ) -> Result<Vec<u32>, ActError> {
        let frame = element.frame_world();
        let found = named
            .iter()
            .map(|named| Found {
                world: frame.world.id,
                slot: named.slot,
                fingerprint: named.fingerprint.clone(),
                origin: frame.origin.clone(),
            })
            .collect();
        Ok(self.number(cancel, found).await?)
    }

    async fn listed(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        named: Vec<Named>,
    ) -> Result<Vec<Value>, ActError> {
        let numbers = self.numbers(cancel, element, &named).await?;
        let listed = named.iter().zip(numbers).map(|(named, index)| {
            let mut words = Map::new();
            words.insert("index".to_owned(), json!(index));
            words.insert("label".to_owned(), json!(super::text::clean(&named.text, 80)));
            if !named.message.is_empty() {
                words.insert("message".to_owned(), json!(super::text::clean(&named.message, 200)));
            }
            Value::Object(words)
        });
        Ok(listed.collect())
    }
}

fn told<T>(told: Told<T>) -> Result<T, ActError> {
    match told {
        Told::Said(said) => Ok(said),
        Told::Refused { class, error } => Err(Refusal::new(class, super::text::clean(&error, 400)).into()),
    }
}
