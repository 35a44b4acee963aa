//! Texts and selectors looked up over the whole page, and numbers for what can be acted on there.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use unicode_segmentation::UnicodeSegmentation;

use super::Browser;
use super::page::PageError;
use super::refs::{Element, Fingerprint};
use super::refusal::{ActError, Class, Refusal};
use super::seer::{Found, FrameWorld};
use super::text::{clean, quoted};
use super::view::ViewError;
use crate::page::{PageFunction, function};

/// From this length on a text around a place was cut, UTF-16 units; the page function cuts a little later.
const LONG: usize = 230;

/// An element that a page function names.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Named {
    pub(super) slot: u32,
    pub(super) fingerprint: Fingerprint,
}

/// One place of a text, as the page function tells it. Raw page text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Place {
    before: String,
    #[serde(rename = "match")]
    matched: String,
    after: String,
    /// `text`, or where else it was read: value, name, placeholder, option, picture.
    #[serde(rename = "in")]
    pub within: String,
    /// The tag of the element that carries it.
    pub tag: String,
    /// The element that can be acted on, of which it is a part.
    pub on: Option<Named>,
    /// Elements that can be acted on beside it.
    pub near: Vec<Named>,
    at: [f64; 2],
    /// Not in view now.
    pub off: bool,
    /// A selector for the element, when it was asked for and there is a short one.
    #[serde(default)]
    pub path: String,
    /// The text of that element.
    #[serde(default)]
    pub words: String,
}

/// The places of one frame.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Places {
    /// The first ones.
    pub matches: Vec<Place>,
    /// How many there are.
    pub count: usize,
    /// Places in the page that cannot be seen now.
    pub unseen: usize,
    /// There are even more, which were not counted.
    pub more: bool,
}

impl Place {
    /// The line around it, with at most so many graphemes on either side; the place between `«` and `»`.
    pub fn line(&self, around: usize) -> String {
        // What was cut inside a grapheme is left out.
        let whole: Vec<&str> = self.before.graphemes(true).collect();
        let is_cut = |text: &str| usize::from(text.encode_utf16().count() >= LONG);
        let cut = is_cut(&self.before);
        let skipped = whole.len().saturating_sub(around).max(cut);
        let before: String = whole.get(skipped..).unwrap_or_default().concat();
        // One line of the page: what stands in other lines belongs to something else.
        let (before, dots) = match before.rsplit_once('\n') {
            Some((_, last)) => (last, ""),
            None => (before.as_str(), if skipped > 0 && !before.trim().is_empty() { "…" } else { "" }),
        };
        let mut after: Vec<&str> = self.after.graphemes(true).collect();
        after.truncate(after.len() - is_cut(&self.after).min(after.len()));
        let after = after.concat();
        let after = after.split_once('\n').map_or(after.as_str(), |(first, _)| first);
        let spaced = |text: &str, first: bool| {
            let edge = if first { text.chars().next() } else { text.chars().next_back() };
            if edge.is_some_and(char::is_whitespace) { " " } else { "" }
        };
        format!(
            "{dots}{}{}«{}»{}{}",
            clean(before, around),
            spaced(before, false),
            clean(&self.matched, 200),
            spaced(after, true),
            clean(after, around),
        )
    }
}

impl Browser {
    /// Makes sure that closed shadow roots and frames of every origin can be looked into, and that what listens
    /// for the pointer is known, as a page view does.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn open_up(&self, cancel: &CancellationToken) -> Result<(), ViewError> {
        self.ask_marks(cancel, false).await.map(drop)
    }

    /// Every place of a text, frame by frame. `tag`: only inside such elements; `most`: places that one frame
    /// tells; `paths`: with a selector for each.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn find_text(
        &self,
        cancel: &CancellationToken,
        text: &str,
        tag: Option<&str>,
        most: usize,
        paths: bool,
    ) -> Result<Vec<(FrameWorld, Places)>, ViewError> {
        const FIND: PageFunction = function("findText");
        self.open_up(cancel).await?;
        let options = json!({ "text": text, "tag": tag, "most": most, "paths": paths });
        self.call_frames(cancel, FIND, &[options]).await
    }

    /// As [`Browser::call_frames`], after [`Browser::open_up`].
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn call_opened<T: DeserializeOwned>(
        &self,
        cancel: &CancellationToken,
        call: PageFunction,
        args: &[Value],
    ) -> Result<Vec<(FrameWorld, T)>, ViewError> {
        self.open_up(cancel).await?;
        self.call_frames(cancel, call, args).await
    }

    /// Elements in the words of results: `[12] button "Save"`.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn named(
        &self,
        cancel: &CancellationToken,
        frame: &FrameWorld,
        elements: Vec<Named>,
    ) -> Result<Vec<String>, ActError> {
        let words: Vec<String> = elements.iter().map(|named| named.fingerprint.describe()).collect();
        let numbers = self.numbers_of(cancel, frame, elements).await?;
        Ok(numbers.into_iter().zip(words).map(|(index, words)| format!("[{index}] {words}")).collect())
    }

    /// The numbers of these elements.
    ///
    /// # Errors
    /// See [`ViewError`].
    pub async fn numbers_of(
        &self,
        cancel: &CancellationToken,
        frame: &FrameWorld,
        elements: Vec<Named>,
    ) -> Result<Vec<u32>, ViewError> {
        if elements.is_empty() {
            return Ok(Vec::new());
        }
        let found = |Named { slot, fingerprint }| Found {
            world: frame.world.id,
            slot,
            fingerprint,
            origin: frame.origin.clone(),
        };
        self.number(cancel, elements.into_iter().map(found).collect()).await
    }

    /// The first element that a CSS selector finds, in the page, its frames and shadow roots.
    ///
    /// # Errors
    /// [`Class::BadArgument`] when it is no selector, [`Class::Gone`] when nothing fits; else see [`ActError`].
    pub async fn find_first(&self, cancel: &CancellationToken, selector: &str) -> Result<Element, ActError> {
        const FIND: PageFunction = function("slotOf");
        #[derive(Deserialize)]
        struct At {
            #[serde(default)]
            wrong: bool,
            slot: Option<u32>,
        }
        let answers = self.call_opened::<At>(cancel, FIND, &[json!(selector)]).await?;
        if answers.iter().any(|(_, found)| found.wrong) {
            return Err(Refusal::new(Class::BadArgument, wrong_selector(selector)).into());
        }
        let first = answers.into_iter().find_map(|(frame, found)| Some((frame, found.slot?)));
        let Some((frame, slot)) = first else {
            let error = format!("Nothing on the page matches the selector {}.", quoted(selector, 120));
            return Err(Refusal::new(Class::Gone, error).into());
        };
        let fingerprint =
            frame.world.call(&self.context, cancel, function("identify"), &[json!(slot)]).await?;
        let named = Named { slot, fingerprint };
        let numbers = self.numbers_of(cancel, &frame, vec![named]).await?;
        let index = numbers.first().copied().unwrap_or_default();
        Ok(self.element(cancel, index).await?)
    }

    /// Where a place lies in the tab's viewport, CSS px.
    ///
    /// # Errors
    /// See [`PageError`].
    pub async fn point_of(
        &self,
        cancel: &CancellationToken,
        frame: &FrameWorld,
        place: &Place,
    ) -> Result<(f64, f64), PageError> {
        let mut at = place.at;
        for hop in &frame.hops {
            let args = [json!(hop.slot), json!(at[0]), json!(at[1])];
            at = hop.world.call(&self.context, cancel, function("throughFrame"), &args).await?;
        }
        Ok((at[0], at[1]))
    }
}

/// The refusal of a selector that is none.
pub fn wrong_selector(selector: &str) -> String {
    format!("{} is not a valid CSS selector.", quoted(selector, 200))
}
