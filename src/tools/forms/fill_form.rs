//! `fill_form`: many fields in one call.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::browser::{ActError, Class, Element, Expected, Field, Kind, Patience, Refusal};
use crate::tools::answer::refusal_words;
use crate::tools::kinds::OneOrMany;
use crate::tools::uploads;
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Most fields of one call.
const MOST: usize = 200;

/// How long fields that depend on others may take to become usable.
const DEPENDS: Duration = Duration::from_millis(400);

/// See [`Tool::SPEC`].
pub struct FillForm;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// The fields, in the order to fill them.
    fields: Vec<One>,
}

/// One field.
#[derive(Debug, Deserialize, JsonSchema)]
struct One {
    /// Number of the field in the newest page view.
    index: u32,
    /// Text; true or false for tick boxes and radio buttons; label or value for lists (a JSON array for several); ISO values for dates and times; absolute path for file fields.
    value: OneOrMany,
    /// Only to override what the kind of field says: type, select or check.
    action: Option<Action>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Type,
    Select,
    Check,
}

impl Tool for FillForm {
    const SPEC: ToolSpec = ToolSpec {
        name: "fill_form",
        title: "Fill in a form",
        description: "Fill many fields of a form in one call, of every kind: text, dates, lists, tick boxes, radio buttons, comboboxes, editors, file fields. Goes on after a field that fails and tells each result; does not submit. Get the numbers from extract_form or inspect_page.",
        category: Category::Forms,
        exposure: Exposure::DefaultOn,
        effect: Effect::ChangesPage,
        // The person may be asked about a file meanwhile.
        timeout: Duration::from_secs(240),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        if args.fields.is_empty() || args.fields.len() > MOST {
            return Err(ToolError::Model(format!(
                "fill_form: give 1 to {MOST} fields, each with index and value."
            )));
        }
        // All numbers first: filling one field may change how the next one reads, not which one is meant.
        let mut elements = Vec::new();
        for one in &args.fields {
            elements.push(cx.browser.element(&cx.cancel, one.index).await.map_err(ActError::from));
        }
        let mut slots = Vec::new();
        for (one, element) in args.fields.iter().zip(&elements) {
            slots.push(match element {
                Ok(element) => fill(cx, one, element).await?,
                Err(error) => slot_of(Err(error.clone()))?,
            });
        }
        retry_dependent(cx, &args.fields, &elements, &mut slots).await?;
        let mut results = Vec::new();
        for (one, slot) in args.fields.iter().zip(&slots) {
            results.push(verdict(cx, one, slot).await?);
        }
        let filled = results.iter().filter(|result| result["ok"] == json!(true)).count();
        let total = results.len();
        let mut words = Map::new();
        words.insert("success".to_owned(), json!(filled == total));
        words.insert("filled".to_owned(), json!(filled));
        words.insert("total".to_owned(), json!(total));
        if let Some(dialog) = results.iter().find_map(|result| result.get("dialog")).cloned() {
            words.insert("dialog".to_owned(), dialog);
        }
        words.insert("results".to_owned(), json!(results));
        Ok(ToolOutput::json(&Value::Object(words)))
    }
}

/// A field that was filled and is still to be checked, or why it was not.
enum Slot {
    Filled {
        element: Box<Element>,
        expected: Expected,
        since: Instant,
    },
    /// Files, which were checked when they were given.
    Given(Map<String, Value>),
    Failed(Refusal),
}

/// Ends the call after Stop; a refusal is a result like another.
fn slot_of(result: Result<Slot, ActError>) -> Result<Slot, ToolError> {
    match result {
        Ok(slot) => Ok(slot),
        Err(ActError::Refused(refusal)) => Ok(Slot::Failed(refusal)),
        Err(ActError::Cancelled) => Err(ToolError::Cancelled),
    }
}

async fn fill(cx: &ToolCx, one: &One, element: &Element) -> Result<Slot, ToolError> {
    slot_of(fill_one(cx, one, element).await)
}

async fn fill_one(cx: &ToolCx, one: &One, element: &Element) -> Result<Slot, ActError> {
    let (browser, cancel) = (&cx.browser, &cx.cancel);
    let field = browser.field(cancel, element).await?;
    if field.kind == Kind::File {
        let gifts = uploads::allowed(cx, FillForm::SPEC.name, &one.value.0).await?;
        let given = browser.give(cancel, element, &gifts, Patience::Brief).await?;
        return Ok(Slot::Given(given.words()));
    }
    let expected = match action_for(&field, one.action) {
        Action::Check => {
            let want = wish(&field, &one.value)?;
            browser.check(cancel, element, &field, Some(want), Patience::Brief).await?.0
        }
        Action::Select => browser.choose(cancel, element, &field, &one.value.0).await?.expected,
        Action::Type => {
            let text = one.value.joined();
            browser.enter_text(cancel, element, &field, &text, true).await?
        }
    };
    Ok(Slot::Filled { element: Box::new(element.clone()), expected, since: Instant::now() })
}

/// What the field is decides; a wrong `action` of the model does no harm.
fn action_for(field: &Field, asked: Option<Action>) -> Action {
    match field.kind {
        Kind::Check | Kind::Radio => Action::Check,
        Kind::Select | Kind::Multi | Kind::List => Action::Select,
        Kind::Text if field.combobox && asked != Some(Action::Type) => Action::Select,
        Kind::Text if asked == Some(Action::Select) && field.combobox => Action::Select,
        _ => Action::Type,
    }
}

fn wish(field: &Field, value: &OneOrMany) -> Result<bool, Refusal> {
    match value.joined().trim().to_lowercase().as_str() {
        "true" | "yes" | "on" | "1" | "checked" | "selected" => Ok(true),
        "false" | "no" | "off" | "0" | "unchecked" | "" => Ok(false),
        // Models name the choice that a radio button stands for.
        _ if field.kind == Kind::Radio => Ok(true),
        _ => Err(Refusal::new(Class::BadArgument, "A tick box takes true or false.")),
    }
}

/// Fields that depend on others (a list of towns after the country) come alive a moment later.
async fn retry_dependent(
    cx: &ToolCx,
    fields: &[One],
    elements: &[Result<Element, ActError>],
    slots: &mut [Slot],
) -> Result<(), ToolError> {
    let waits = |slot: &Slot| {
        matches!(slot, Slot::Failed(refusal)
            if matches!(refusal.class, Class::NoSuchOption | Class::Disabled | Class::Hidden | Class::Covered))
    };
    let any_filled = slots.iter().any(|slot| matches!(slot, Slot::Filled { .. } | Slot::Given(_)));
    if !any_filled || !slots.iter().any(waits) {
        return Ok(());
    }
    tokio::select! {
        () = cx.cancel.cancelled() => return Err(ToolError::Cancelled),
        () = tokio::time::sleep(DEPENDS) => {}
    }
    for ((one, element), slot) in fields.iter().zip(elements).zip(slots.iter_mut()) {
        if let (true, Ok(element)) = (waits(slot), element) {
            *slot = fill(cx, one, element).await?;
        }
    }
    Ok(())
}

/// Checked at the very end: later fields may have undone earlier ones.
async fn verdict(cx: &ToolCx, one: &One, slot: &Slot) -> Result<Value, ToolError> {
    let outcome = match slot {
        Slot::Given(words) => {
            let mut words = words.clone();
            words.retain(|name, _| matches!(name.as_str(), "files" | "hint"));
            words.insert("index".to_owned(), json!(one.index));
            words.insert("ok".to_owned(), json!(true));
            return Ok(Value::Object(words));
        }
        Slot::Failed(refusal) => Err(refusal.clone()),
        Slot::Filled { element, expected, since } => {
            match cx.browser.keeps(&cx.cancel, element, expected, *since).await {
                Ok(held) => Ok(held),
                Err(ActError::Refused(refusal)) => Err(refusal),
                Err(ActError::Cancelled) => return Err(ToolError::Cancelled),
            }
        }
    };
    let mut words = match &outcome {
        Ok(held) => {
            let mut words = held.words();
            if let Some(invalid) = &held.invalid {
                words.insert(
                    "hint".to_owned(),
                    json!(format!("The browser finds the value wrong: {invalid}")),
                );
            }
            words
        }
        Err(refusal) => refusal_words(refusal),
    };
    words.insert("index".to_owned(), json!(one.index));
    words.insert("ok".to_owned(), json!(outcome.is_ok()));
    Ok(Value::Object(words))
}
