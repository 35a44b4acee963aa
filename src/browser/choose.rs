//! Choosing: native lists, and lists that a page draws itself.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::field::{Expected, Field, Kind, check_alive};
use super::keys::{Key, Modifiers};
use super::observe::Patience;
use super::press::Press;
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use crate::page::ACT;

/// How long a list may take to show its options.
const OPENS: Duration = Duration::from_millis(1_500);

/// How long suggestions may take after text was typed.
const SUGGESTS: Duration = Duration::from_millis(3_000);

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
    selected: bool,
    editable: bool,
    value: String,
    chosen: Vec<String>,
    many: bool,
    around: String,
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
    ) -> Result<Expected, ActError> {
        check_alive(field)?;
        match field.kind {
            Kind::Select | Kind::Multi => self.choose_native(cancel, element, values).await,
            Kind::List => self.choose_drawn(cancel, element, values).await,
            Kind::Text if field.input_type.is_some() => self.choose_drawn(cancel, element, values).await,
            _ => Err(Refusal::new(
                Class::BadArgument,
                "This element is no list to choose from. Take the number of the list itself, or use click_index.",
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

    async fn choose_drawn(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        values: &[String],
    ) -> Result<Expected, ActError> {
        let [first, rest @ ..] = values else {
            return Err(Refusal::new(Class::BadArgument, "Say which option to choose.").into());
        };
        let mut shows = self.pick(cancel, element, first).await?;
        for value in rest {
            shows = self.pick(cancel, element, value).await?;
        }
        let option = rest.last().unwrap_or(first).split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Expected::Shown { option, shows })
    }

    /// Opens the list if it is closed, and presses one option. Returns what the box shows then.
    async fn pick(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        option: &str,
    ) -> Result<String, ActError> {
        let before = self.list(cancel, element, option).await?;
        let mut list = before.clone();
        if !list.open {
            self.press(cancel, element, &Press { patience: Patience::Brief, ..Press::default() }).await?;
            list = self.list_until(cancel, element, option, OPENS, |list| list.open || list.editable).await?;
        }
        if list.matches == 0 && list.editable {
            list = self.suggest(cancel, element, option).await?;
        }
        if list.matches != 1 || list.disabled {
            let refusal = no_match(&list, option);
            if !before.open {
                self.close_list(cancel, element, option).await?;
            }
            return Err(refusal.into());
        }
        if list.selected && list.many {
            return Ok(list.value);
        }
        let press = Press { option: Some(option.to_owned()), patience: Patience::Brief, ..Press::default() };
        self.press(cancel, element, &press).await?;
        self.shows(cancel, element, option, &before).await
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
    ) -> Result<String, ActError> {
        let wanted = option.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let shown = |list: &List| {
            list.value.to_lowercase().contains(&wanted)
                || list.chosen.iter().any(|chosen| chosen.to_lowercase() == wanted)
                || (list.around != before.around
                    && list.around.to_lowercase().contains(&wanted)
                    && !list.open)
        };
        let list = self.list_until(cancel, element, option, Duration::from_millis(600), shown).await?;
        if shown(&list) || list.value != before.value {
            return Ok(list.value);
        }
        Err(Refusal::new(
            Class::Rejected,
            "The option was pressed, but the list does not show it as chosen; look again.",
        )
        .with("value", list.value)
        .into())
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
