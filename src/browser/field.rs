//! Filling fields: each kind in the way that the page's own code notices, and checked afterwards.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::agreement::{for_number_field, same_number, same_text};
use super::choose::holds_whole;
use super::keys::{Key, Modifiers};
use super::observe::{Observed, Patience};
use super::press::Press;
use super::refs::Element;
use super::refusal::{ActError, Class, Refusal};
use crate::page::ACT;

/// How long a field must keep what it got before that counts.
const KEEPS: Duration = Duration::from_millis(120);

/// How long a field may take to show what it got.
const SHOWS: Duration = Duration::from_millis(900);

/// Between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(30);

/// What kind of field it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Text in a line or an area, number fields too.
    Text,
    /// Date, time, month, week, colour, slider: set as a whole.
    Set,
    /// Tick box or switch.
    Check,
    /// One of several.
    Radio,
    /// Native list, one choice.
    Select,
    /// Native list, several choices.
    Multi,
    /// Editable part of a page.
    Editable,
    /// List that the page draws itself.
    List,
    /// File chooser.
    File,
    /// A button.
    Button,
    /// Nothing to fill.
    #[default]
    None,
}

/// A field as it is now.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Field {
    /// Its kind.
    pub kind: Kind,
    /// Its tag.
    pub tag: String,
    /// The `type` of an input.
    #[serde(rename = "type")]
    pub input_type: Option<String>,
    /// Passwords, card numbers, one-time codes: the person's alone.
    pub secret: bool,
    /// `disabled` or `inert`.
    pub standstill: Option<String>,
    /// It, or the label that stands for it, is drawn.
    pub drawn: bool,
    /// Shows a value that the person cannot change.
    pub readonly: bool,
    /// A text field with a list of suggestions.
    pub combobox: bool,
    /// An editor that takes text through an EditContext and draws it itself: only its own keys select in it, and it
    /// tells no more of its text than what is around the cursor.
    pub self_drawn: bool,
    #[serde(flatten)]
    held: Held,
}

/// What a field holds.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Held {
    /// Still in the page.
    pub connected: bool,
    /// Has the focus.
    pub focused: bool,
    /// Became a secret field meanwhile.
    pub secret: bool,
    /// Text.
    pub value: Option<String>,
    /// Ticked; `"mixed"` is possible.
    pub checked: Option<Value>,
    /// Labels of the chosen options.
    pub selected: Option<Vec<String>>,
    /// What the browser finds wrong with it.
    pub invalid: Option<String>,
    /// Why a value could not be set.
    pub wrong: Option<String>,
    /// The value that was set, as such a field writes it.
    pub wanted: Option<String>,
}

impl Held {
    /// The words of results.
    pub fn words(&self) -> Map<String, Value> {
        let mut words = Map::new();
        if let Some(value) = &self.value {
            words.insert("value".to_owned(), json!(shorten(value)));
        }
        if let Some(checked) = &self.checked {
            words.insert("checked".to_owned(), checked.clone());
        }
        if let Some(selected) = &self.selected {
            words.insert("selected".to_owned(), json!(selected));
        }
        words
    }
}

/// The echo of a long text is for checking, not for reading.
fn shorten(value: &str) -> String {
    const CAP: usize = 2_000;
    if value.chars().count() <= CAP {
        return value.to_owned();
    }
    let head: String = value.chars().take(CAP).collect();
    format!("{head}… ({} characters in all)", value.chars().count())
}

/// What a field shall hold at the end.
#[derive(Debug, Clone, PartialEq)]
pub enum Expected {
    /// This text, as far as the page does not format it.
    Text(String),
    /// Text that has this in it.
    Holds(String),
    /// This number, as number fields write it.
    Number(String),
    /// This state.
    Checked(bool),
    /// These options: label and value.
    Chosen(Vec<(String, String)>),
    /// A list of the page's own shows this option, or what it showed right after it was pressed.
    Shown {
        /// The option.
        option: String,
        /// What the box showed.
        shows: String,
    },
}

impl Browser {
    /// What kind of field an element is and what it holds.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn field(&self, cancel: &CancellationToken, element: &Element) -> Result<Field, ActError> {
        Ok(element.call(cancel, ACT, &[json!("field"), json!({ "op": "look" })]).await?)
    }

    /// Whether the field has the keyboard.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn has_focus(&self, cancel: &CancellationToken, element: &Element) -> Result<bool, ActError> {
        let held: Held = element.call(cancel, ACT, &[json!("field"), json!({ "op": "focused" })]).await?;
        Ok(held.focused)
    }

    /// Puts the keyboard on an element without pressing it or selecting anything, and brings it into view.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn give_focus(&self, cancel: &CancellationToken, element: &Element) -> Result<bool, ActError> {
        self.prepare(cancel, element.target.tab).await?;
        let held: Held = element.call(cancel, ACT, &[json!("field"), json!({ "op": "give" })]).await?;
        Ok(held.focused)
    }

    async fn field_op(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        args: Value,
    ) -> Result<Held, ActError> {
        let held: Held = element.call(cancel, ACT, &[json!("field"), args]).await?;
        if held.secret {
            return Err(secret().into());
        }
        if !held.connected {
            return Err(replaced().into());
        }
        Ok(held)
    }

    /// Puts text into a text field, an editable part or a date-like field. `clear`: instead of what is there,
    /// else behind it. Returns what it must hold at the end; whether it keeps it is [`Browser::keeps`]'s.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn enter_text(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        field: &Field,
        text: &str,
        clear: bool,
    ) -> Result<Expected, ActError> {
        check_writable(field)?;
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        self.prepare(cancel, element.target.tab).await?;
        match field.kind {
            Kind::Set => {
                self.field_op(cancel, element, json!({ "op": "focus", "clear": true })).await?;
                return Ok(Expected::Text(self.set_whole(cancel, element, &text).await?));
            }
            Kind::Text | Kind::Editable => {}
            Kind::List => {
                return Err(Refusal::new(
                    Class::NotEditable,
                    "This list takes no text; choose with select_index or open it with click_index.",
                )
                .into());
            }
            Kind::Select | Kind::Multi => {
                return Err(
                    Refusal::new(Class::NotEditable, "This is a list; choose with select_index.").into()
                );
            }
            Kind::Check | Kind::Radio => {
                return Err(Refusal::new(Class::NotEditable, "This is a tick box; use check_index.").into());
            }
            Kind::File => {
                return Err(Refusal::new(Class::NotEditable, "This field takes a file, not text.").into());
            }
            Kind::Button | Kind::None => {
                return Err(Refusal::new(
                    Class::NotEditable,
                    "This element takes no text. Take the number of the field itself, or click it first.",
                )
                .into());
            }
        }
        if field.input_type.as_deref() == Some("number") {
            return self.enter_number(cancel, element, field, &text, clear).await;
        }
        let before = self.take_focus(cancel, element, clear).await?;
        let old = if clear { String::new() } else { before.value.clone().unwrap_or_default() };
        if field.self_drawn {
            if clear && let Some(key) = Key::named("a") {
                let all = if cfg!(target_os = "macos") { Modifiers::META } else { Modifiers::CONTROL };
                self.press_key(cancel, element.target.tab, &key, all).await?;
                self.field_op(cancel, element, json!({ "op": "drawn" })).await?;
            }
            self.type_over(cancel, element, field, &text, clear).await?;
            return Ok(Expected::Holds(text.rsplit('\n').next().unwrap_or_default().to_owned()));
        }
        self.type_over(cancel, element, field, &text, clear && before.value.is_some_and(|v| !v.is_empty()))
            .await?;
        Ok(Expected::Text(format!("{old}{text}")))
    }

    /// Number fields drop every character that they do not take, and keep another number: only what they take
    /// is typed.
    async fn enter_number(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        field: &Field,
        text: &str,
        clear: bool,
    ) -> Result<Expected, ActError> {
        let old = if clear { String::new() } else { field.held.value.clone().unwrap_or_default() };
        let Some(number) = for_number_field(&format!("{old}{text}")) else {
            return Err(not_a_number(&format!("{old}{text}")).into());
        };
        let before = self.take_focus(cancel, element, clear).await?;
        let replaces = clear && before.value.as_deref().is_some_and(|value| !value.is_empty());
        let expected = Expected::Number(number.clone());
        if let Some(rest) = number.strip_prefix(&old) {
            self.type_over(cancel, element, field, rest, replaces).await?;
        }
        if !agrees(&expected, &self.read(cancel, element).await?) {
            self.set_whole(cancel, element, &number).await?;
        }
        Ok(expected)
    }

    /// Returns the value as the field writes it.
    async fn set_whole(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        text: &str,
    ) -> Result<String, ActError> {
        let held = self.field_op(cancel, element, json!({ "op": "set", "value": text })).await?;
        match held.wrong {
            Some(wrong) => Err(Refusal::new(Class::BadArgument, wrong).into()),
            None => Ok(held.wanted.unwrap_or_else(|| text.to_owned())),
        }
    }

    /// Puts the cursor into the field: by focus, else by a real press.
    async fn take_focus(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        clear: bool,
    ) -> Result<Held, ActError> {
        let held = self.field_op(cancel, element, json!({ "op": "focus", "clear": clear })).await?;
        if held.focused {
            return Ok(held);
        }
        self.press(cancel, element, &Press { patience: Patience::Brief, ..Press::default() }).await?;
        let held = self.field_op(cancel, element, json!({ "op": "select", "clear": clear })).await?;
        if held.focused {
            return Ok(held);
        }
        Err(Refusal::new(Class::NotEditable, "The field does not take the cursor. Click it and look again.")
            .into())
    }

    async fn type_over(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        field: &Field,
        text: &str,
        replaces: bool,
    ) -> Result<(), ActError> {
        let tab = element.target.tab;
        if text.is_empty() {
            if replaces && let Some(key) = Key::named("Backspace") {
                self.press_key(cancel, tab, &key, Modifiers::default()).await?;
            }
            return Ok(());
        }
        if field.kind != Kind::Editable {
            self.insert_text(cancel, tab, text).await?;
            return Ok(());
        }
        // A line end inside one insertion is lost in editable parts, and Enter alone sends chat messages.
        for (number, line) in text.split('\n').enumerate() {
            if number > 0
                && let Some(key) = Key::named("Enter")
            {
                self.press_key(cancel, tab, &key, Modifiers::SHIFT).await?;
            }
            if !line.is_empty() {
                self.insert_text(cancel, tab, line).await?;
            }
        }
        Ok(())
    }

    /// What the field holds now.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn read(&self, cancel: &CancellationToken, element: &Element) -> Result<Held, ActError> {
        self.field_op(cancel, element, json!({ "op": "read" })).await
    }

    /// Waits until the field has kept what it shall hold for a moment, or shows that it will not.
    ///
    /// # Errors
    /// [`Class::Rejected`] with what it holds instead; else see [`ActError`].
    pub async fn keeps(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        expected: &Expected,
        since: Instant,
    ) -> Result<Held, ActError> {
        let mut right_since: Option<Instant> = None;
        loop {
            let held = match self.read(cancel, element).await {
                Err(ActError::Refused(refusal)) if refusal.class == Class::Gone => {
                    return Err(replaced().into());
                }
                other => other?,
            };
            if agrees(expected, &held) {
                let since = *right_since.get_or_insert(since);
                if since.elapsed() >= KEEPS {
                    return Ok(held);
                }
            } else {
                right_since = None;
                if since.elapsed() >= SHOWS {
                    return Err(rejected(expected, &held).into());
                }
            }
            tokio::select! {
                () = cancel.cancelled() => return Err(ActError::Cancelled),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
        }
    }

    /// Ticks, unticks (`want`) or toggles (`None`) a box, by a real press. `None` in the answer: it was so
    /// already.
    ///
    /// # Errors
    /// See [`ActError`].
    pub async fn check(
        &self,
        cancel: &CancellationToken,
        element: &Element,
        field: &Field,
        want: Option<bool>,
        patience: Patience,
    ) -> Result<(Expected, Option<Observed>), ActError> {
        if !matches!(field.kind, Kind::Check | Kind::Radio) {
            return Err(Refusal::new(
                Class::BadArgument,
                "This element is no tick box, switch or radio button. Take the number of the box itself.",
            )
            .into());
        }
        let now = field.held.checked.clone().unwrap_or(Value::Bool(false));
        let want = want.unwrap_or(field.kind == Kind::Radio || now != Value::Bool(true));
        let expected = Expected::Checked(want);
        if now == Value::Bool(want) {
            return Ok((expected, None));
        }
        check_alive(field)?;
        if field.readonly {
            return Err(readonly().into());
        }
        if field.kind == Kind::Radio && !want {
            return Err(Refusal::new(
                Class::BadArgument,
                "A radio button cannot be switched off; check another one of its group instead.",
            )
            .into());
        }
        let press = Press { patience, ..Press::default() };
        let observed = self.press(cancel, element, &press).await?;
        Ok((expected, Some(observed)))
    }
}

pub(super) fn secret() -> Refusal {
    Refusal::new(
        Class::NotAllowed,
        "This field is for a secret (password, code, card number), which only the person enters. Call await_user \
         and ask for it.",
    )
}

fn replaced() -> Refusal {
    Refusal::new(
        Class::Gone,
        "The page put another element in place of this one. Call inspect_page and take the new number.",
    )
}

fn not_a_number(text: &str) -> Refusal {
    Refusal::new(
        Class::BadArgument,
        format!(
            "A number field takes one number written like -1234.5 (a decimal point, nothing between thousands, no \
             unit), not {:?}.",
            text.chars().take(40).collect::<String>()
        ),
    )
}

fn readonly() -> Refusal {
    Refusal::new(
        Class::Readonly,
        "The field is read-only. If a picker belongs to it, open that with click_index.",
    )
}

/// Disabled, inert and hidden fields are refused by every way of filling them.
pub(super) fn check_alive(field: &Field) -> Result<(), Refusal> {
    if let Some(standstill) = &field.standstill {
        return Err(Refusal::new(
            Class::Disabled,
            format!("The field is {standstill}. Do what the page still asks for, then look again."),
        ));
    }
    if !field.drawn {
        return Err(Refusal::new(
            Class::Hidden,
            "The field is in the page but not drawn. Open what contains it, then look again.",
        ));
    }
    Ok(())
}

fn check_writable(field: &Field) -> Result<(), Refusal> {
    if field.secret {
        return Err(secret());
    }
    check_alive(field)?;
    if field.readonly {
        return Err(readonly());
    }
    Ok(())
}

/// Whether the field holds what it shall. Pages format what they are given: see [`same_text`].
pub(super) fn agrees(expected: &Expected, held: &Held) -> bool {
    match expected {
        Expected::Checked(want) => held.checked == Some(Value::Bool(*want)),
        Expected::Chosen(options) => {
            let labels: Vec<&str> = options.iter().map(|(label, _)| label.as_str()).collect();
            held.selected.as_ref().is_some_and(|selected| {
                selected.len() == labels.len()
                    && labels.iter().all(|label| selected.iter().any(|s| s == label))
            }) && (options.len() != 1 || held.value.as_deref() == Some(options[0].1.as_str()))
        }
        Expected::Shown { option, shows } => held.value.as_deref().is_some_and(|value| {
            holds_whole(&value.to_lowercase(), &option.to_lowercase()) || value.trim() == shows
        }),
        Expected::Number(number) => held.value.as_deref().is_some_and(|value| same_number(number, value)),
        Expected::Text(text) => held.value.as_deref().is_some_and(|value| same_text(text, value)),
        Expected::Holds(text) => held.value.as_deref().is_some_and(|value| value.contains(text.trim_end())),
    }
}

pub(super) fn rejected(expected: &Expected, held: &Held) -> Refusal {
    let error = match expected {
        Expected::Text(text) | Expected::Holds(text) | Expected::Number(text) => {
            let now = held.value.clone().unwrap_or_default();
            if now.is_empty() {
                "The field does not keep the text: it is empty now.".to_owned()
            } else if text.starts_with(&now) {
                format!("The field took only the first {} characters.", now.chars().count())
            } else {
                "The page changed the text; `value` is what the field holds now.".to_owned()
            }
        }
        Expected::Checked(want) => format!(
            "The page does not let the box be {}; look for a message that says why.",
            if *want { "ticked" } else { "unticked" }
        ),
        Expected::Chosen(_) | Expected::Shown { .. } => {
            "The page put another choice back; `value` is what it holds now.".to_owned()
        }
    };
    let mut refusal = Refusal::new(Class::Rejected, error);
    refusal.details = held.words();
    refusal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(value: &str) -> Held {
        Held { value: Some(value.to_owned()), connected: true, ..Held::default() }
    }

    #[test]
    fn other_content_does_not_agree() {
        let text = |text: &str| Expected::Text(text.to_owned());
        assert!(agrees(&text("5550100199"), &holds("(555) 010-0199")));
        assert!(!agrees(&text("KQ-4711"), &holds("KQ-47")));
        assert!(!agrees(&text("-20"), &holds("20")));
        assert!(agrees(&Expected::Number("1.50".to_owned()), &holds("1.5")));
        assert!(!agrees(&Expected::Number("1.5".to_owned()), &holds("15")));
    }

    #[test]
    fn chosen_options_are_compared_by_label_and_value() {
        let held = Held {
            value: Some("basic-m".to_owned()),
            selected: Some(vec!["Basic".to_owned()]),
            ..Held::default()
        };
        let want = |value: &str| Expected::Chosen(vec![("Basic".to_owned(), value.to_owned())]);
        assert!(agrees(&want("basic-m"), &held));
        assert!(!agrees(&want("basic-y"), &held));
    }
}
