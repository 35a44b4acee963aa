//! The form as `extract_form` tells it: one question per field, radio buttons gathered in groups.

use serde_json::Value;

/// How a question is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Typing.
    Type,
    /// Choosing one option of a list.
    ChooseOne,
    /// Choosing any number of options.
    ChooseMany,
    /// Choosing one button of a group.
    Radio,
    /// Ticking or not.
    Tick,
}

/// One thing to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The button's own number; options of lists have none.
    pub index: Option<u64>,
    /// What people read.
    pub label: String,
    /// Whether it is chosen now.
    pub chosen: bool,
}

/// One question of the form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The element's number; for a radio group that of its first button.
    pub index: u64,
    /// What is asked.
    pub label: String,
    /// How it is answered.
    pub way: Way,
    /// What can be chosen; empty for a list that shows its options only when it is open.
    pub choices: Vec<Choice>,
    /// What it holds now.
    pub value: String,
    /// Whether it is ticked now.
    pub ticked: bool,
}

/// The form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form {
    /// Its questions in the order of the page.
    pub questions: Vec<Question>,
    /// What its submit button says.
    pub submit: Option<String>,
}

impl Form {
    /// Reads a result of `extract_form`; `None` if it is none.
    pub fn read(result: &str) -> Option<Self> {
        let result: Value = serde_json::from_str(result).ok()?;
        let fields = result.get("fields")?.as_array()?;
        let mut form = Self { submit: text(&result["submit"]["text"]), ..Self::default() };
        let mut gathered: Vec<String> = Vec::new();
        for field in fields {
            if !is_radio(field) {
                form.questions.extend(question(field));
                continue;
            }
            let name = group_name(field);
            if !gathered.contains(&name) {
                form.questions.extend(radio_group(fields, &name));
                gathered.push(name);
            }
        }
        Some(form)
    }

    /// The question with that number.
    pub fn question(&self, index: u64) -> Option<&Question> {
        self.questions.iter().find(|question| question.index == index)
    }
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn word<'a>(field: &'a Value, key: &str) -> &'a str {
    field[key].as_str().unwrap_or_default()
}

fn is_radio(field: &Value) -> bool {
    word(field, "type") == "radio"
}

/// What the buttons of a group have in common.
fn group_name(field: &Value) -> String {
    let known = [word(field, "name"), word(field, "legend")];
    known.into_iter().find(|name| !name.is_empty()).unwrap_or_default().to_owned()
}

fn question(field: &Value) -> Option<Question> {
    let index = field["index"].as_u64()?;
    if field["disabled"].as_bool() == Some(true) || word(field, "type") == "button" {
        return None;
    }
    let choices: Vec<Choice> = choices(&field["options"]);
    let way = match (word(field, "type"), word(field, "tag")) {
        ("select-multiple", _) => Way::ChooseMany,
        ("select-one" | "listbox", _) => Way::ChooseOne,
        ("combobox", tag) if tag != "input" => Way::ChooseOne,
        ("checkbox" | "switch", _) => Way::Tick,
        _ if !choices.is_empty() => Way::ChooseOne,
        _ => Way::Type,
    };
    Some(Question {
        index,
        label: text(&field["label"])?,
        way,
        value: held(field, &choices),
        choices,
        ticked: field["checked"].as_bool().unwrap_or(false),
    })
}

fn choices(options: &Value) -> Vec<Choice> {
    let list = options.as_array().map(Vec::as_slice).unwrap_or_default();
    list.iter()
        .filter_map(|option| {
            let label = option.as_str().map(str::to_owned).or_else(|| text(&option["label"]))?;
            let chosen = option["selected"].as_bool().or(option["checked"].as_bool()).unwrap_or(false);
            Some(Choice { index: option["index"].as_u64(), label, chosen })
        })
        .collect()
}

/// What a field holds, in words: of a list the labels of what is chosen.
fn held(field: &Value, choices: &[Choice]) -> String {
    let chosen: Vec<&str> = choices.iter().filter(|choice| choice.chosen).map(|c| c.label.as_str()).collect();
    if !chosen.is_empty() {
        return chosen.join("; ");
    }
    match &field["value"] {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => String::new(),
    }
}

fn radio_group(fields: &[Value], name: &str) -> Option<Question> {
    let buttons: Vec<&Value> =
        fields.iter().filter(|field| is_radio(field) && group_name(field) == name).collect();
    let choices: Vec<Choice> = buttons
        .iter()
        .filter_map(|button| {
            Some(Choice {
                index: Some(button["index"].as_u64()?),
                label: text(&button["label"])?,
                chosen: button["checked"].as_bool().unwrap_or(false),
            })
        })
        .collect();
    let label = buttons.iter().find_map(|button| text(&button["legend"])).unwrap_or_default();
    let value = choices.iter().find(|choice| choice.chosen).map(|c| c.label.clone()).unwrap_or_default();
    let index = choices.first()?.index?;
    Some(Question { index, label, way: Way::Radio, choices, value, ticked: false })
}
