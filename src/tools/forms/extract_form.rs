//! `extract_form`: a form as a list of fields.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::browser::text::clean;
use crate::browser::{Fingerprint, Found, FrameWorld};
use crate::page::{PageFunction, function};
use crate::tools::{Category, Effect, Exposure, Tool, ToolCx, ToolError, ToolOutput, ToolSpec};

/// Longest text of one value in the answer, graphemes.
const LONGEST: usize = 200;

/// See [`Tool::SPEC`].
pub struct ExtractForm;

/// Arguments.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Args {
    /// Number of any element inside the form; the form with the most fields when absent.
    index: Option<u32>,
}

/// One form as the page script tells it.
#[derive(Debug, Deserialize)]
struct Form {
    /// `None`: fields outside of any form.
    form: Option<Value>,
    wanted: bool,
    fields: Vec<Field>,
    more: usize,
    submit: Option<Submit>,
}

#[derive(Debug, Deserialize)]
struct Field {
    slot: u32,
    fingerprint: Fingerprint,
    #[serde(flatten)]
    facts: Map<String, Value>,
}

#[derive(Debug, Deserialize)]
struct Submit {
    slot: u32,
    fingerprint: Fingerprint,
    text: String,
}

impl Tool for ExtractForm {
    const SPEC: ToolSpec = ToolSpec {
        name: "extract_form",
        title: "Read a form",
        description: "List the fields of a form in one call: number, type, label, group, value or state, options, limits; tick boxes, radio groups, custom comboboxes and editors included, also inside shadow roots and frames. Then fill it with fill_form. A value that ends in … is cut; valueLength is the whole length. Values of password, one-time-code and card fields are never read.",
        category: Category::Forms,
        exposure: Exposure::DefaultOn,
        effect: Effect::ReadOnly,
        timeout: Duration::from_secs(30),
    };
    type Args = Args;

    async fn run(&self, cx: &ToolCx, args: Args) -> Result<ToolOutput, ToolError> {
        const READ: PageFunction = function("readForms");
        let inside = match args.index {
            None => None,
            Some(index) => Some(cx.browser.element(&cx.cancel, index).await?),
        };
        let mut forms: Vec<(FrameWorld, Form)> = Vec::new();
        match &inside {
            None => {
                for (frame, found) in
                    cx.browser.call_frames::<Vec<Form>>(&cx.cancel, READ, &[json!(0)]).await?
                {
                    forms.extend(found.into_iter().map(|form| (frame.clone(), form)));
                }
            }
            Some(element) => {
                let found: Vec<Form> = element.call_world(&cx.cancel, READ).await?;
                forms.extend(found.into_iter().map(|form| (element.frame_world(), form)));
            }
        }
        // `max_by_key` keeps the last of equals; of equal forms the first is meant.
        let chosen = forms
            .iter()
            .enumerate()
            .rev()
            .max_by_key(|(_, (_, form))| (form.wanted, form.fields.len()))
            .map(|(at, _)| at);
        let Some(at) =
            chosen.filter(|at| inside.is_none() || forms.get(*at).is_some_and(|(_, form)| form.wanted))
        else {
            return Err(ToolError::Model(match args.index {
                Some(index) => format!(
                    "[{index}] is in no form with fields that can be filled in; leave index out for the form with the most fields."
                ),
                None => "There are no form fields on this page that can be seen; look with inspect_page."
                    .to_owned(),
            }));
        };
        let (frame, form) = forms.swap_remove(at);
        let others = forms.iter().map(|(_, other)| outline(other)).collect();
        answer(cx, &frame, form, others).await
    }
}

async fn answer(
    cx: &ToolCx,
    frame: &FrameWorld,
    form: Form,
    others: Vec<Value>,
) -> Result<ToolOutput, ToolError> {
    let found = |slot: u32, fingerprint: &Fingerprint| Found {
        world: frame.world.id,
        slot,
        fingerprint: fingerprint.clone(),
        origin: frame.origin.clone(),
    };
    let mut all: Vec<Found> = form.fields.iter().map(|field| found(field.slot, &field.fingerprint)).collect();
    all.extend(form.submit.iter().map(|submit| found(submit.slot, &submit.fingerprint)));
    let mut numbers = cx.browser.number(&cx.cancel, all).await?;
    let submit = form.submit.and_then(|submit| {
        numbers.pop().map(|index| json!({ "index": index, "text": clean(&submit.text, 80) }))
    });
    let mut groups: Map<String, Value> = Map::new();
    let mut fields = Vec::new();
    for (field, index) in form.fields.into_iter().zip(numbers) {
        let mut facts = Map::new();
        facts.insert("index".to_owned(), json!(index));
        facts.extend(
            field
                .facts
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, tidy(value))),
        );
        for state in ["required", "disabled", "readonly"] {
            // Absent means no; a form of fifty fields is long enough.
            if facts.get(state) == Some(&Value::Bool(false)) {
                facts.remove(state);
            }
        }
        if facts.get("type").and_then(Value::as_str) == Some("radio") {
            gather_radio(&mut facts, &mut groups);
        }
        fields.push(Value::Object(facts));
    }
    let mut out = json!({
        "form": form.form.map_or_else(|| json!({ "synthetic": true }), tidy),
        "fields": fields,
        "radioGroups": groups,
        "submit": submit,
    });
    if let Some(origin) = &frame.origin {
        out["frame"] = json!(clean(origin, LONGEST));
    }
    if form.more > 0 {
        out["moreFields"] = json!(form.more);
    }
    if !others.is_empty() {
        out["otherForms"] = Value::Array(others);
    }
    Ok(ToolOutput::json(&out))
}

/// Puts a radio button into its group. What the group is called is the question that its buttons answer.
fn gather_radio(facts: &mut Map<String, Value>, groups: &mut Map<String, Value>) {
    let legend = facts.remove("group");
    let mut entry = json!({
        "index": facts.get("index"),
        "label": facts.get("label"),
        "checked": facts.get("checked"),
    });
    let name = facts.get("name").or(legend.as_ref()).and_then(Value::as_str).unwrap_or_default().to_owned();
    let group = groups.entry(name).or_insert_with(|| json!([]));
    if let Value::Array(buttons) = group {
        if let Some(legend) = legend {
            if buttons.is_empty() {
                entry["legend"] = legend.clone();
            }
            facts.insert("legend".to_owned(), legend);
        }
        buttons.push(entry);
    }
}

/// A form that was not asked for, in a few words.
fn outline(form: &Form) -> Value {
    let word = |key: &str| form.form.as_ref().and_then(|form| form.get(key)).cloned().map(tidy);
    let first = form.fields.first().and_then(|field| field.facts.get("label")).cloned().map(tidy);
    json!({
        "name": word("label").or_else(|| word("name")).or_else(|| word("id")),
        "fields": form.fields.len(),
        "firstLabel": first,
    })
}

/// Page text in a value, made harmless.
fn tidy(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text, LONGEST)),
        Value::Array(items) => Value::Array(items.into_iter().map(tidy).collect()),
        Value::Object(object) => Value::Object(
            object
                .into_iter()
                .filter(|(_, value)| !value.is_null() && *value != Value::Bool(false))
                .map(|(key, value)| (key, tidy(value)))
                .collect(),
        ),
        other => other,
    }
}
