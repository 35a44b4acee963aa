//! The check at the end: what the form really holds, read on a channel of the demo's own.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::layout::{Answer, Control, Field};
use super::scenario::Scenario;
use crate::chromium::{ChromiumError, Page};

const READ: &str = include_str!("pages/check.js");

/// The result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verdict {
    /// Every field, in the order of the page.
    pub fields: Vec<FieldVerdict>,
    /// How often the form was submitted.
    pub submitted: u64,
}

/// One field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldVerdict {
    /// Its label.
    pub label: String,
    /// What it must hold.
    pub expected: String,
    /// What it holds.
    pub found: String,
    /// Whether that is the same, and the page was told of it.
    pub ok: bool,
}

impl Verdict {
    /// Fields that hold what they must.
    pub fn right(&self) -> usize {
        self.fields.iter().filter(|field| field.ok).count()
    }

    /// Everything is filled in, and nothing was submitted.
    pub fn passed(&self) -> bool {
        self.submitted == 0 && self.fields.len() == Scenario::FIELDS && self.right() == self.fields.len()
    }
}

#[derive(Debug, Deserialize)]
struct Held {
    submitted: u64,
    fields: Vec<HeldField>,
}

#[derive(Debug, Deserialize)]
struct HeldField {
    /// Values; of lists those of the chosen options.
    held: Vec<String>,
    /// What the page's own scripts were told, if anything.
    noticed: Option<String>,
}

/// Reads all fields of the open form and compares them with the scenario.
///
/// # Errors
/// When the page cannot be read.
pub async fn check(page: &Page, scenario: &Scenario) -> Result<Verdict, ChromiumError> {
    let fields: Vec<Value> = scenario
        .fields()
        .map(|field| json!({ "id": field.id, "name": field.name, "control": word(field.control) }))
        .collect();
    let window = page.send("Runtime.evaluate", json!({ "expression": "globalThis" })).await?;
    let call = json!({
        "objectId": window["result"]["objectId"],
        "functionDeclaration": READ,
        "arguments": [{ "value": fields }],
        "returnByValue": true,
    });
    let mut answer = page.send("Runtime.callFunctionOn", call).await?;
    if let Some(thrown) = answer.get("exceptionDetails") {
        let text = thrown["exception"]["description"].as_str().unwrap_or("no description");
        return Err(ChromiumError::Threw(text.to_owned()));
    }
    let held: Held = serde_json::from_value(answer["result"]["value"].take())
        .map_err(|_| ChromiumError::Answer { method: "Runtime.callFunctionOn", field: "value" })?;
    let fields = scenario.fields().zip(&held.fields).map(|(field, held)| judge(field, held)).collect();
    Ok(Verdict { fields, submitted: held.submitted })
}

fn word(control: Control) -> &'static str {
    match control {
        Control::ShadowText => "shadow",
        Control::FrameText => "frame",
        Control::Radio => "radio",
        Control::Checkbox => "checkbox",
        Control::Select | Control::MultiSelect => "select",
        Control::Combobox => "combobox",
        Control::RichText => "rich",
        Control::Text | Control::Email | Control::Number | Control::Date | Control::TextArea => "text",
    }
}

fn judge(field: &Field, held: &HeldField) -> FieldVerdict {
    let label_of =
        |value: &String| field.options.iter().find(|(v, _)| v == value).map(|(_, label)| label.clone());
    let chosen: Vec<String> = held.held.iter().filter_map(label_of).collect();
    let text = held.held.concat();
    let (expected, found, same) = match &field.answer {
        Answer::Text(any) => (
            any.first().cloned().unwrap_or_default(),
            text.clone(),
            any.iter().any(|one| squeezed(one) == squeezed(&text)),
        ),
        Answer::Words(words) => {
            let set = |items: Vec<&str>| {
                let mut items: Vec<String> = items.iter().map(|item| squeezed(item).to_lowercase()).collect();
                items.retain(|item| !item.is_empty());
                items.sort();
                items
            };
            let same =
                set(words.iter().map(String::as_str).collect()) == set(text.split([';', ',']).collect());
            (words.join("; "), text.clone(), same)
        }
        Answer::Option(label) => (label.clone(), chosen.join("; "), chosen == [label.clone()]),
        Answer::Options(labels) => {
            let sorted = |labels: &[String]| {
                let mut labels = labels.to_vec();
                labels.sort();
                labels
            };
            (labels.join("; "), chosen.join("; "), sorted(&chosen) == sorted(labels))
        }
        Answer::Tick(tick) => {
            let word = if *tick { "yes" } else { "no" };
            (word.to_owned(), text.clone(), text == word)
        }
    };
    // An untouched box that must stay empty has nothing to tell.
    let told = match &held.noticed {
        Some(noticed) => squeezed(noticed) == squeezed(&held.held.join(" ")),
        None => field.answer == Answer::Tick(false),
    };
    FieldVerdict { label: field.label.to_owned(), expected, found, ok: same && told }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(scenario: &Scenario, at: usize, held: &[&str], noticed: Option<&str>) -> FieldVerdict {
        let held = HeldField {
            held: held.iter().map(|text| (*text).to_owned()).collect(),
            noticed: noticed.map(str::to_owned),
        };
        judge(scenario.fields().nth(at).unwrap(), &held)
    }

    fn place(scenario: &Scenario, fits: impl Fn(&Answer) -> bool) -> usize {
        scenario.fields().position(|field| fits(&field.answer)).unwrap()
    }

    #[test]
    fn a_value_that_the_page_never_noticed_does_not_count() {
        let scenario = Scenario::new(1);
        let at = place(&scenario, |answer| matches!(answer, Answer::Text(_)));
        let Answer::Text(any) = &scenario.fields().nth(at).unwrap().answer else { unreachable!() };
        assert!(verdict(&scenario, at, &[&any[0]], Some(&any[0])).ok);
        assert!(!verdict(&scenario, at, &[&any[0]], None).ok);
        assert!(!verdict(&scenario, at, &[&any[0]], Some("")).ok);
    }

    #[test]
    fn one_option_too_many_is_wrong() {
        let scenario = Scenario::new(1);
        let at = place(&scenario, |answer| matches!(answer, Answer::Options(_)));
        let field = scenario.fields().nth(at).unwrap();
        let Answer::Options(labels) = &field.answer else { unreachable!() };
        let right: Vec<&str> = field
            .options
            .iter()
            .filter(|(_, label)| labels.contains(label))
            .map(|(value, _)| value.as_str())
            .collect();
        let more: Vec<&str> =
            field.options.iter().map(|(value, _)| value.as_str()).take(right.len() + 1).collect();
        assert!(verdict(&scenario, at, &right, Some(&right.join(" "))).ok);
        assert!(!verdict(&scenario, at, &more, Some(&more.join(" "))).ok);
        assert!(!verdict(&scenario, at, &[], Some("")).ok);
    }

    #[test]
    fn every_field_of_every_seed_has_an_answer_that_is_offered() {
        for seed in 0..50 {
            let scenario = Scenario::new(seed);
            assert_eq!(scenario.fields().count(), Scenario::FIELDS);
            for field in scenario.fields() {
                let offered = |label: &String| field.options.iter().any(|(_, option)| option == label);
                match &field.answer {
                    Answer::Text(any) => assert!(
                        any.iter().all(|text| !text.contains('{') && !text.is_empty()) && !any.is_empty(),
                        "{seed} {field:?}"
                    ),
                    Answer::Words(words) => assert_eq!(words.len(), 5),
                    Answer::Option(label) => assert!(offered(label), "{seed} {field:?}"),
                    Answer::Options(labels) => {
                        assert!(labels.len() > 1 && labels.iter().all(offered), "{seed} {field:?}")
                    }
                    Answer::Tick(_) => {}
                }
            }
        }
    }

    #[test]
    fn the_form_does_not_contain_what_belongs_into_its_text_fields() {
        for seed in 0..20 {
            let scenario = Scenario::new(seed);
            let html =
                super::super::form::render(&scenario, None) + &super::super::form::render_deposit(&scenario);
            for field in scenario.fields() {
                if let Answer::Text(any) = &field.answer {
                    for text in any.iter().filter(|text| text.len() > 4) {
                        assert!(!html.contains(text.as_str()), "seed {seed}: {text}");
                    }
                }
            }
        }
    }
}
