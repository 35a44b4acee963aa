//! From facts and questions to what goes into the fields.

use serde_json::{Value, json};

use super::super::kind::Kind;
use super::facts::{Fact, Facts};
use super::labels::{best_option, kind_of, yes_or_no};
use super::questions::{Choice, Question, Way};

/// One answer to one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The question's number.
    pub question: u64,
    /// What was asked.
    pub label: String,
    /// The element that is acted on; a radio group's right button.
    pub index: u64,
    /// What goes in, in words.
    pub shown: String,
    /// What is wanted.
    pub want: Want,
}

/// What a field shall hold.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "named by what is done")]
pub enum Want {
    Text(String),
    Option(String),
    Options(Vec<String>),
    Radio(String),
    Tick(bool),
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unanswered {
    /// What was asked.
    pub label: String,
    /// Why, as the end of a sentence.
    pub why: String,
}

/// Answers a question from the facts.
///
/// # Errors
/// When the label says nothing, the paper does not tell, or none of the options fits.
pub fn answer(question: &Question, facts: &Facts) -> Result<Answer, Unanswered> {
    let fail = |why: &str| Unanswered { label: question.label.clone(), why: why.to_owned() };
    let kind = kind_of(&question.label)
        .or_else(|| kind_of_choices(&question.choices, facts))
        .ok_or_else(|| fail("I do not understand what it asks for"))?;
    let fact = facts.get(kind).ok_or_else(|| fail("the paper does not say"))?;
    let labels: Vec<String> = question.choices.iter().map(|choice| choice.label.clone()).collect();
    let pick = |wanted: &Fact| {
        let at = match wanted {
            Fact::Text(text) => best_option(text, &labels),
            Fact::Flag(flag) => yes_or_no(*flag, &labels),
            Fact::List(_) => None,
        };
        at.ok_or_else(|| fail("none of its options fits what the paper says"))
    };
    let mut index = question.index;
    let want = match (question.way, fact) {
        (Way::Type, Fact::Text(text)) => Want::Text(text.clone()),
        (Way::Type, Fact::List(items)) => Want::Text(items.join("; ")),
        (Way::Tick, Fact::Flag(flag)) => Want::Tick(*flag),
        (Way::ChooseOne, Fact::Text(text)) if labels.is_empty() => Want::Option(text.clone()),
        (Way::ChooseOne, fact) => Want::Option(labels[pick(fact)?].clone()),
        (Way::Radio, fact) => {
            let choice = &question.choices[pick(fact)?];
            index = choice.index.unwrap_or(index);
            Want::Radio(choice.label.clone())
        }
        (Way::ChooseMany, Fact::List(items)) => {
            let chosen: Option<Vec<usize>> = items.iter().map(|item| best_option(item, &labels)).collect();
            let mut chosen = chosen.ok_or_else(|| fail("one of the things in the paper is not offered"))?;
            chosen.sort_unstable();
            Want::Options(chosen.into_iter().map(|at| labels[at].clone()).collect())
        }
        _ => return Err(fail("the paper answers it in a way that the field does not take")),
    };
    Ok(Answer { question: question.index, label: question.label.clone(), index, shown: shown(&want), want })
}

/// A group of buttons without a label of its own is understood by what it offers.
fn kind_of_choices(choices: &[Choice], facts: &Facts) -> Option<Kind> {
    let labels: Vec<String> = choices.iter().map(|choice| choice.label.clone()).collect();
    labels.iter().find_map(|label| kind_of(label)).or_else(|| {
        [Kind::ArticleType, Kind::Licence, Kind::SubjectArea].into_iter().find(|kind| {
            match facts.get(*kind) {
                Some(Fact::Text(text)) => best_option(text, &labels).is_some(),
                _ => false,
            }
        })
    })
}

fn shown(want: &Want) -> String {
    match want {
        Want::Text(text) | Want::Option(text) | Want::Radio(text) => text.clone(),
        Want::Options(items) => items.join("; "),
        Want::Tick(true) => "yes".to_owned(),
        Want::Tick(false) => "no".to_owned(),
    }
}

impl Answer {
    /// Whether it was concluded rather than copied, so that a person may want to look at it.
    pub fn is_a_judgement(&self) -> bool {
        match &self.want {
            Want::Tick(_) => true,
            Want::Radio(_) => kind_of(&self.label) == Some(Kind::Competing),
            _ => false,
        }
    }

    /// The field as `fill_form` takes it.
    pub fn entry(&self) -> Value {
        match &self.want {
            Want::Text(text) => json!({ "index": self.index, "value": text }),
            Want::Option(label) => json!({ "index": self.index, "value": label, "action": "select" }),
            Want::Options(labels) => json!({ "index": self.index, "value": labels, "action": "select" }),
            Want::Radio(_) => json!({ "index": self.index, "value": "true", "action": "check" }),
            Want::Tick(tick) => json!({ "index": self.index, "value": tick.to_string(), "action": "check" }),
        }
    }

    /// A second way to the same end: (tool, arguments).
    pub fn other_way(&self) -> (&'static str, Value) {
        match &self.want {
            Want::Text(text) => ("type_index", json!({ "index": self.index, "text": text })),
            Want::Option(label) => ("select_index", json!({ "index": self.index, "value": label })),
            Want::Options(labels) => ("select_index", json!({ "index": self.index, "value": labels })),
            Want::Radio(_) => ("click_index", json!({ "index": self.index })),
            Want::Tick(tick) => ("check_index", json!({ "index": self.index, "checked": tick.to_string() })),
        }
    }

    /// Whether the question, as it was read again, holds this answer.
    pub fn is_in(&self, question: &Question) -> bool {
        match &self.want {
            Want::Text(text) => same(&question.value, text),
            Want::Option(label) => same(&question.value, label),
            Want::Radio(label) => question.choices.iter().all(|c| c.chosen == (c.label == *label)),
            Want::Tick(tick) => question.ticked == *tick,
            Want::Options(labels) => question.choices.iter().all(|c| c.chosen == labels.contains(&c.label)),
        }
    }
}

/// Equal but for white space. `extract_form` shows 200 characters of a long text; whether all of it
/// went in is what `fill_form` has checked.
fn same(held: &str, wanted: &str) -> bool {
    const SHOWN: usize = 190;
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (held, wanted) = (words(held), words(wanted));
    let start = held.trim_end_matches('…');
    held == wanted || (start.chars().count() >= SHOWN && wanted.starts_with(start.trim_end()))
}
