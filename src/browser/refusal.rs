//! Why something was not done, in the words that results use.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::cdp::CdpError;
use super::page::PageError;
use super::refs::RefError;
use super::view::ViewError;

/// What a wait in vain may mean, and nobody but the person can see.
pub(super) const MAY_ASK: &str = "If the browser asks the person for a permission (camera, microphone, place, \
    notifications, downloads), that cannot be seen from here: call await_user.";

/// The kinds of refusal that prompts and cases rely on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// The number is of an older view or document.
    Stale,
    /// The element was removed.
    Gone,
    /// Something lies over it.
    Covered,
    /// Disabled or inert.
    Disabled,
    /// In the page but not drawn.
    Hidden,
    /// Shows a value that cannot be changed.
    Readonly,
    /// Not a field for text.
    NotEditable,
    /// The list has no such option.
    NoSuchOption,
    /// More than one thing is meant.
    Ambiguous,
    /// The page put another value back.
    Rejected,
    /// A dialog is open.
    BlockedByDialog,
    /// The document went away meanwhile.
    Navigated,
    /// Protected page, secret field, policy.
    NotAllowed,
    /// The tab is gone.
    Closed,
    /// The page crashed.
    Crashed,
    /// Too slow.
    Timeout,
    /// The arguments make no sense here.
    BadArgument,
}

/// One refusal: class, one sentence for the model, and what belongs to the class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Its kind.
    pub class: Class,
    /// What was found and what to try.
    pub error: String,
    /// `by`, `options`, `candidates`, `value`, `dialog`, ….
    pub details: Map<String, Value>,
}

impl Refusal {
    /// A refusal without details.
    pub fn new(class: Class, error: impl Into<String>) -> Self {
        Self { class, error: error.into(), details: Map::new() }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Why an act has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActError {
    /// For the model.
    Refused(Refusal),
    /// Stop.
    Cancelled,
}

impl From<Refusal> for ActError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<CdpError> for ActError {
    fn from(error: CdpError) -> Self {
        let class = match &error {
            CdpError::Cancelled => return Self::Cancelled,
            CdpError::Dialog(dialog) => {
                return Refusal::new(Class::BlockedByDialog, error.to_string())
                    .with("dialog", json!(dialog))
                    .into();
            }
            CdpError::Closed => Class::Closed,
            CdpError::Crashed => Class::Crashed,
            CdpError::NotAllowed(_) => Class::NotAllowed,
            CdpError::Timeout { .. } => {
                return Refusal::new(
                    Class::Timeout,
                    format!("{error}. The page may be busy: look again later."),
                )
                .with("hint", MAY_ASK)
                .into();
            }
            CdpError::Malformed { .. } => Class::Timeout,
            CdpError::Refused(words) => class_of_words(words),
        };
        Refusal::new(class, error.to_string()).into()
    }
}

/// The extension passes the browser's words on; these are the ones that mean something to the model.
fn class_of_words(words: &str) -> Class {
    let has = |known: &[&str]| known.iter().any(|known| words.contains(known));
    if has(&["No tab with", "tab was closed", "Target closed", "target_closed", "not attached"]) {
        Class::Closed
    } else if has(&["crashed"]) {
        Class::Crashed
    } else if has(&[
        "Cannot access",
        "Cannot attach",
        "not allowed",
        "Not allowed",
        "Another debugger",
        "canceled_by_user",
    ]) {
        Class::NotAllowed
    } else {
        Class::Timeout
    }
}

impl From<PageError> for ActError {
    fn from(error: PageError) -> Self {
        match error {
            PageError::Cdp(error) => error.into(),
            PageError::ElementGone => Refusal::new(
                Class::Gone,
                "The element was removed from the page. Call inspect_page for the elements there are now.",
            )
            .into(),
            PageError::WorldGone => Refusal::new(
                Class::Navigated,
                "The page went to another document meanwhile. Call inspect_page to see it.",
            )
            .into(),
            other => Refusal::new(Class::Timeout, other.to_string()).into(),
        }
    }
}

impl From<RefError> for ActError {
    fn from(error: RefError) -> Self {
        let text = error.to_string();
        match error {
            RefError::Page(error) => error.into(),
            RefError::Stale(_) => Refusal::new(Class::Stale, text).into(),
            RefError::Closed { .. } => Refusal::new(Class::Closed, text).into(),
            RefError::Gone { .. } => Refusal::new(Class::Gone, text).into(),
            RefError::Unknown { .. } => Refusal::new(Class::BadArgument, text).into(),
        }
    }
}

impl From<ViewError> for ActError {
    fn from(error: ViewError) -> Self {
        match error {
            ViewError::NoTab => {
                Refusal::new(Class::Closed, "There is no tab to act on. Call list_tabs.").into()
            }
            ViewError::Ref(error) => error.into(),
            ViewError::Page(error) => error.into(),
        }
    }
}
