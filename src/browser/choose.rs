//! Choosing: native lists, and lists that a page draws itself.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::field::{Expected, Field, Held, Kind, check_alive};
use super::keys::{Key, Modifiers};
use super::observe::{Observed, Patience};
use super::press::Press;
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use crate::page::ACT;

/// How long a list may take to show its options.
const OPENS: Duration = Duration::from_millis(1_500);

/// How long suggestions may take after text was typed.
const SUGGESTS: Duration = Duration::from_millis(3_000);

/// Until when a page may take a choice back: what its server says comes a moment later.
const TAKES_BACK: Duration = Duration::from_millis(450);

/// How long a list that holds only what is seen of it may be scrolled for an option.
const SCROLLS: Duration = Duration::from_secs(10);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(40);

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Chose {
    Refused {
        class: Class,
        error: String,
        #[serde(default)]
        options: Option<Value>,
        #[serde(default)]
        candidates: Option<Value>,
    },
    Done {
        wanted: Vec<Wanted>,
    },
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Wanted {
    label: String,
    value: String,
}

/// A list of the page's own, as it is now.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct List {
    open: bool,
    options: Vec<String>,
    total: usize,
    matches: usize,
    disabled: bool,
    /// The option is an entry of a menu: it does something and is not shown as chosen.
    menu: bool,
    /// The list was scrolled just now.
    moved: bool,
    selected: bool,
    editable: bool,
    value: String,
    chosen: Vec<String>,
    many: bool,
    /// There is a text field to show the choice in.
    field: bool,
    /// The text in it is still the one that was marked as typed.
    marked: bool,
    texts: Vec<String>,
    around: Vec<String>,
    offers: Option<Offers>,
}

/// What the browser itself suggests for a text field (`list=`).
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Offers {
    options: Vec<String>,
    value: Option<String>,
}

/// What choosing came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Picked {
    /// What the list must show at the end.
    pub expected: Expected,
    /// What an entry of a menu did; it is not shown as chosen anywhere.
    pub menu: Option<Observed>,
}

impl From<Expected> for Picked {
    fn from(expected: Expected) -> Self {
        Self { expected, menu: None }
    }
}

impl Browser {
    /// Chooses exactly these options (labels or values). Returns what the list must show at the end.
    ///
    /// # Errors
    /// [`Class::NoSuchOption`] with `options`, [`Class::Ambiguous`] with `candidates`, [`Class::Disabled`];
    /// else see [`ActError`].
    pub async fn choose(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        field: &Field,
        values: &[String],
    ) -> Result<Picked, ActError> {
        check_alive(field)?;
        match field.kind {
            Kind::Select | Kind::Multi => Ok(self.choose_native(cancel, element, values).await?.into()),
            Kind::List => self.choose_drawn(cancel, element, values).await,
            Kind::Text if field.input_type.is_some() => {
                match self.list(cancel, element, &values.join(",")).await?.offers {
                    Some(offers) => {
                        Ok(self.choose_offered(cancel, element, field, values, &offers).await?.into())
                    }
                    None => self.choose_drawn(cancel, element, values).await,
                }
            }
            _ => Err(Refusal::new(
                Class::BadArgument,
                "This element is no list to choose from. Take the number of the list itself, or press the \
                 option with click_index.",
            )
            .into()),
        }
    }

    async fn choose_native(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        values: &[String],
    ) -> Result<Expected, ActError> {
        self.prepare(cancel, element.target.tab).await?;
        let args = json!({ "values": values });
        match element.call(cancel, ACT, &[json!("choose"), args]).await? {
            Chose::Done { wanted } => {
                Ok(Expected::Chosen(wanted.into_iter().map(|option| (option.label, option.value)).collect()))
            }
            Chose::Refused { class, error, options, candidates } => {
                let mut refusal = Refusal::new(class, super::text::clean(&error, 300));
                for (name, list) in [("options", options), ("candidates", candidates)] {
                    if let Some(list) = list {
                        refusal = refusal.with(name, list);
                    }
                }
                Err(refusal.into())
            }
        }
    }

    /// Suggestions of the browser's own are drawn nowhere in the page: choosing one is typing it.
    async fn choose_offered(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        field: &Field,
        values: &[String],
        offers: &Offers,
    ) -> Result<Expected, ActError> {
        let said = super::text::quoted(&values.join(","), 60);
        let Some(value) = &offers.value else {
            return Err(Refusal::new(
                Class::NoSuchOption,
                format!(
                    "The field suggests nothing called {said}; take one of those listed. If it takes other text \
                     too, use type_index."
                ),
            )
            .with("options", json!(offers.options))
            .into());
        };
        self.enter_text(cancel, element, field, value, true).await
    }

    async fn choose_drawn(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        values: &[String],
    ) -> Result<Picked, ActError> {
        let [first, rest @ ..] = values else {
            return Err(Refusal::new(Class::BadArgument, "Say which option to choose.").into());
        };
        let (mut shows, mut menu) = self.pick(cancel, element, first).await?;
        for value in rest {
            (shows, menu) = self.pick(cancel, element, value).await?;
        }
        let option = rest.last().unwrap_or(first).split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Picked { expected: Expected::Shown { option, shows }, menu })
    }

    /// Opens the list if it is closed, and presses one option. Returns what the box shows then, and what an entry
    /// of a menu did.
    async fn pick(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        option: &str,
    ) -> Result<(String, Option<Observed>), ActError> {
        let before = self.list_step(cancel, element, option, "open").await?;
        let mut list = before.clone();
        if !list.open {
            self.press(cancel, element, &Press { patience: Patience::Brief, ..Press::default() }).await?;
            list = self.list_until(cancel, element, option, OPENS, |list| list.open || list.editable).await?;
        }
        if list.matches == 0 && list.editable {
            list = self.suggest(cancel, element, option).await?;
        }
        if list.matches == 0 {
            list = self.scroll_for(cancel, element, option, list).await?;
        }
        if list.matches != 1 || list.disabled {
            let refusal = no_match(&list, option);
            if !before.open {
                self.close_list(cancel, element, option).await?;
            }
            return Err(refusal.into());
        }
        if list.selected && list.many {
            return Ok((list.value, None));
        }
        if list.editable && one_line(&list.value) == one_line(option) {
            list = self.list_step(cancel, element, option, "mark").await?;
        }
        let patience = if list.menu { Patience::Settle } else { Patience::Brief };
        let press = Press { option: Some(option.to_owned()), patience, ..Press::default() };
        let shown = match self.press_option(cancel, element, &press).await {
            Ok(observed) if list.menu => Ok((before.value.trim().to_owned(), Some(observed))),
            Ok(_) => self.shows(cancel, element, option, &before, &list).await.map(|shown| (shown, None)),
            Err(error) => Err(error),
        };
        if list.marked {
            // What was typed must not keep the mark; the box may be gone by now.
            if let Err(ActError::Cancelled) = self.list_step(cancel, element, option, "unmark").await {
                return Err(ActError::Cancelled);
            }
        }
        shown
    }

    /// Presses an option; once more when the list drew itself anew under the press, which then did nothing.
    async fn press_option(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        press: &Press,
    ) -> Result<Observed, ActError> {
        let mut tries = 0;
        loop {
            match self.press(cancel, element, press).await {
                Err(ActError::Refused(refusal))
                    if tries < 3
                        && matches!(refusal.class, Class::Covered | Class::Stale | Class::Gone)
                        && !refusal.details.contains_key("clicks") =>
                {
                    tries += 1;
                }
                other => return other,
            }
        }
    }

    /// Scrolls a list that is longer than what is drawn of it, from its beginning, until the option is there.
    async fn scroll_for(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        option: &str,
        list: List,
    ) -> Result<List, ActError> {
        if list.options.is_empty() {
            return Ok(list);
        }
        let started = Instant::now();
        let mut now = self.list_step(cancel, element, option, "start").await?;
        // What is told when there is none: how the list begins.
        let mut begin = None;
        let mut same = 0;
        while started.elapsed() < SCROLLS {
            // What the page draws then comes with its next frame; what it loads, later.
            let wait = Duration::from_millis(if same < 2 { 150 } else { 600 });
            let old = now.options.clone();
            let fresh = |list: &List| list.matches > 0 || list.options != old;
            now = self.list_until(cancel, element, option, wait, fresh).await?;
            if now.matches > 0 {
                return Ok(now);
            }
            same = if now.options == old { same + 1 } else { 0 };
            begin.get_or_insert_with(|| now.clone());
            // A list that has all its options already may get more of them at its end.
            let step = if same < 2 { "further" } else { "end" };
            now = self.list_step(cancel, element, option, step).await?;
            if !now.moved {
                break;
            }
        }
        Ok(if now.matches > 0 { now } else { begin.unwrap_or(list) })
    }

    /// Types into a list that filters what it offers, and waits for its suggestions.
    async fn suggest(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        option: &str,
    ) -> Result<List, ActError> {
        let list = self
            .list_until(cancel, element, option, Duration::from_millis(400), |list| list.matches > 0)
            .await?;
        if list.matches > 0 {
            return Ok(list);
        }
        let mut field = self.field(cancel, element).await?;
        field.kind = Kind::Text;
        self.enter_text(cancel, element, &field, option, true).await?;
        self.list_until(cancel, element, option, SUGGESTS, |list| list.matches > 0).await
    }

    async fn list(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        option: &str,
    ) -> Result<List, ActError> {
        Ok(element.call(cancel, ACT, &[json!("list"), json!({ "option": option })]).await?)
    }

    /// Looks at the list, first telling the page function which step begins.
    async fn list_step(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        option: &str,
        step: &str,
    ) -> Result<List, ActError> {
        let args = json!({ "option": option, "step": step });
        Ok(element.call(cancel, ACT, &[json!("list"), args]).await?)
    }

    async fn list_until(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        option: &str,
        within: Duration,
        enough: impl Fn(&List) -> bool,
    ) -> Result<List, ActError> {
        let started = Instant::now();
        loop {
            let list = self.list(cancel, element, option).await?;
            if enough(&list) || started.elapsed() >= within {
                return Ok(list);
            }
            tokio::select! {
                () = cancel.cancelled() => return Err(ActError::Cancelled),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    async fn close_list(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        option: &str,
    ) -> Result<(), ActError> {
        if self.list(cancel, element, option).await?.open
            && let Some(escape) = Key::named("Escape")
        {
            self.press_key(cancel, element.target.tab, &escape, Modifiers::default()).await?;
        }
        Ok(())
    }

    /// The box must show the choice: in itself, as a chip beside it, or as the option's own state.
    async fn shows(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        option: &str,
        before: &List,
        pressed: &List,
    ) -> Result<String, ActError> {
        let shown = |list: &List| list.shows_choice(option, before, pressed);
        let list = self.list_until(cancel, element, option, Duration::from_millis(600), shown).await?;
        if shown(&list) {
            return Ok(list.value.trim().to_owned());
        }
        let error = if list.marked {
            "The option was pressed, but the page did not take it as the choice: the box holds only the text that \
             was typed to search. Look again."
        } else {
            "The option was pressed, but the box does not show it as chosen; `value` is what it holds now. Look \
             again."
        };
        Err(Refusal::new(Class::Rejected, error).with("value", list.value.trim()).into())
    }

    /// Like [`Browser::keeps`], but looks once more after the time in which pages take a choice back.
    ///
    /// # Errors
    /// [`Class::Rejected`] with what the field holds instead; else see [`ActError`].
    pub async fn keeps_long(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        expected: &Expected,
        since: Instant,
    ) -> Result<Held, ActError> {
        let held = self.keeps(cancel, element, expected, since).await?;
        tokio::select! {
            () = cancel.cancelled() => return Err(ActError::Cancelled),
            () = tokio::time::sleep_until(since + TAKES_BACK) => {}
        }
        match self.keeps(cancel, element, expected, since).await {
            // The choice was kept; what it led to (another page, a redrawn list) is no fault of it.
            Err(ActError::Refused(refusal)) if refusal.class != Class::Rejected => Ok(held),
            other => other,
        }
    }

    /// Takes note of the lists that stand in the page before text is typed into a field: they are no suggestions.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn note_lists(&self, cancel: &CancellationToken, element: &Element) -> Result<(), ActError> {
        let _: List = element.call(cancel, ACT, &[json!("list"), json!({ "step": "open" })]).await?;
        Ok(())
    }

    /// The suggestions that a text field offers right now.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn suggestions(
        &self,
        cancel: &CancellationToken,
        element: &Element,
    ) -> Result<Vec<String>, ActError> {
        let list: List = element.call(cancel, ACT, &[json!("list"), json!({})]).await?;
        Ok(list.options.into_iter().take(10).collect())
    }
}

impl List {
    /// Whether the choice is seen. `before`: before the list was opened, `pressed`: before the option was pressed.
    fn shows_choice(&self, option: &str, before: &Self, pressed: &Self) -> bool {
        let wanted = one_line(option);
        let named = |names: &[String]| names.iter().any(|name| without_signs(name) == without_signs(&wanted));
        let state = |list: &Self| list.selected || named(&list.chosen);
        // Boxes with a text field mark the option that Enter would take as selected, too.
        if state(self) && (!self.field || !state(pressed)) {
            return true;
        }
        if named(&self.around) && !named(&before.around) && !self.open {
            return true;
        }
        if !self.field && named(&self.texts) {
            return true;
        }
        if self.marked {
            return false;
        }
        let value = one_line(&self.value);
        if self.field && value == wanted {
            return true;
        }
        // Boxes show a part of the option's name, or more than it, but never the name of another option.
        let part = |text: &str| {
            let text = one_line(text);
            !pressed.options.iter().any(|other| one_line(other) == text && text != wanted)
                && (holds_whole(&text, &wanted) || holds_whole(&wanted, &text))
        };
        if self.field {
            return value != one_line(&before.value) && value != one_line(&pressed.value) && part(&value);
        }
        self.texts.iter().any(|text| !before.texts.contains(text) && part(text))
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Chips carry a cross, boxes an arrow.
fn without_signs(text: &str) -> String {
    let signs = |c: char| c.is_whitespace() || "×✕✖✗⨯▾▼▿▽⌄▲✓✔".contains(c);
    one_line(text.trim_matches(signs))
}

/// Whether a text contains another one as whole words.
pub(super) fn holds_whole(text: &str, part: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "+#_".contains(c));
    !part.is_empty()
        && text.match_indices(part).any(|(at, found)| {
            !word(text[..at].chars().next_back()) && !word(text[at + found.len()..].chars().next())
        })
}

fn no_match(list: &List, option: &str) -> Refusal {
    let said = super::text::quoted(option, 60);
    if list.disabled {
        return Refusal::new(Class::Disabled, format!("The option {said} is disabled; take another one."))
            .with("options", json!(list.options));
    }
    if list.matches > 1 {
        return Refusal::new(
            Class::Ambiguous,
            format!(
                "{} options are called {said}; open the list and press the right one by its number.",
                list.matches
            ),
        )
        .with("candidates", json!(list.options));
    }
    if list.options.is_empty() {
        return Refusal::new(
            Class::NoSuchOption,
            format!("The list shows no options, so {said} could not be chosen. Open it and look again."),
        )
        .with("options", json!([]));
    }
    let more = if list.total > list.options.len() {
        format!(" (the first {} of {} are listed)", list.options.len(), list.total)
    } else {
        String::new()
    };
    Refusal::new(Class::NoSuchOption, format!("There is no option {said}; take one of those listed{more}."))
        .with("options", json!(list.options))
}
