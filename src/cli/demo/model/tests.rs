//! The model against papers and forms of many seeds, without a browser: a small imitation of the tools.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::kind::Kind;
use super::super::layout::{Answer, Control, Field};
use super::super::scenario::Scenario;
use super::super::{paper, wording};
use super::agent::next_step;
use super::conversation::{Call, Conversation};
use super::labels::kind_of;

const KINDS: [Kind; 26] = [
    Kind::Title,
    Kind::ShortTitle,
    Kind::Abstract,
    Kind::Keywords,
    Kind::Significance,
    Kind::ArticleType,
    Kind::SubjectArea,
    Kind::AuthorName,
    Kind::Email,
    Kind::Orcid,
    Kind::Affiliation,
    Kind::Country,
    Kind::AuthorCount,
    Kind::WordCount,
    Kind::FigureCount,
    Kind::Methods,
    Kind::StudyStart,
    Kind::Completed,
    Kind::Ethics,
    Kind::Preregistered,
    Kind::CodePublic,
    Kind::Funder,
    Kind::Grant,
    Kind::DataDoi,
    Kind::Licence,
    Kind::Competing,
];

const TOOLS: [&str; 9] = [
    "list_tabs",
    "switch_tab",
    "extract_text",
    "extract_form",
    "fill_form",
    "type_index",
    "select_index",
    "check_index",
    "click_index",
];

#[test]
fn every_wording_of_every_label_is_understood() {
    for kind in KINDS {
        for label in wording::labels(kind) {
            assert_eq!(kind_of(label), Some(kind), "{label}");
        }
    }
}

/// Two tabs with a paper and a form in them.
struct Desk {
    scenario: Scenario,
    at: u64,
    /// What was put into the elements.
    held: BTreeMap<u64, Value>,
    /// Labels of fields that refuse `fill_form`.
    stubborn: Vec<&'static str>,
    /// Labels of fields that forget what they are told.
    forgetful: Vec<&'static str>,
    /// Length of one answer of `extract_text`.
    page: usize,
}

impl Desk {
    fn new(seed: u64) -> Self {
        let scenario = Scenario::new(seed);
        Self {
            scenario,
            at: 0,
            held: BTreeMap::new(),
            stubborn: Vec::new(),
            forgetful: Vec::new(),
            page: 3000,
        }
    }

    /// (number of the first element, field); radio buttons have a number each.
    fn numbered(&self) -> Vec<(u64, &Field)> {
        let mut next = 10;
        self.scenario
            .fields()
            .map(|field| {
                let first = next;
                next += if field.control == Control::Radio { field.options.len() as u64 } else { 1 };
                (first, field)
            })
            .collect()
    }

    fn text(&self) -> String {
        let html = paper::render(&self.scenario);
        let body = &html[html.find("<body>").unwrap()..];
        let mut text = String::new();
        let mut inside = false;
        for c in body
            .replace("</th>", "\t")
            .replace("</p>", "\n")
            .replace("</h1>", "\n")
            .replace("</h2>", "\n")
            .replace("</li>", "\n")
            .replace("</tr>", "\n")
            .replace("</caption>", "\n")
            .replace("&#39;", "'")
            .chars()
        {
            match c {
                '<' => inside = true,
                '>' => inside = false,
                c if !inside => text.push(c),
                _ => {}
            }
        }
        text
    }

    fn call(&mut self, tool: &str, args: &Value) -> Value {
        let index = args["index"].as_u64().or_else(|| args["index"].as_str()?.parse().ok()).unwrap_or(0);
        match tool {
            "list_tabs" => json!({ "count": 3, "tabs": [
                { "index": 4, "title": "Extensions", "url": "chrome://extensions" },
                { "index": 9, "title": format!("{} · {}", self.scenario.paper.title, paper::SITE), "url": "http://127.0.0.1:1/paper" },
                { "index": 7, "title": "Submit a manuscript · Fieldnotes", "url": "http://127.0.0.1:1/submit" },
            ]}),
            "switch_tab" => {
                self.at = index;
                json!({ "success": true, "index": index })
            }
            "extract_text" => {
                assert_eq!(self.at, 9, "the paper is read in its own tab");
                let text: Vec<char> = self.text().chars().collect();
                let from = usize::try_from(args["from"].as_u64().unwrap_or(0)).unwrap();
                let mut end = (from + self.page).min(text.len());
                while end < text.len() && text[end - 1] != '\n' {
                    end -= 1;
                }
                let part: String = text[from..end].iter().collect();
                let mut answer = format!("<page_text fence=f1>\n{}\n</page_text fence=f1>", part.trim_end());
                if end < text.len() {
                    answer +=
                        &format!("\nCharacters {from} to {end} of {}; go on with from={end}.", text.len());
                }
                Value::String(answer)
            }
            "extract_form" => self.form(),
            "fill_form" => {
                assert_eq!(self.at, 7, "the form is filled in its own tab");
                let results: Vec<Value> = args["fields"]
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|field| {
                        let index = field["index"].as_u64().unwrap();
                        if self.label(index).is_some_and(|label| self.stubborn.contains(&label)) {
                            return json!({ "index": index, "ok": false, "class": "rejected", "error": "the page put another value back" });
                        }
                        self.put(index, field["value"].clone());
                        json!({ "index": index, "ok": true })
                    })
                    .collect();
                json!({ "filled": results.len(), "total": results.len(), "results": results })
            }
            "type_index" => {
                self.put(index, args["text"].clone());
                json!({ "success": true })
            }
            "select_index" => {
                self.put(index, args["value"].clone());
                json!({ "success": true })
            }
            "check_index" => {
                self.put(index, args["checked"].clone());
                json!({ "success": true })
            }
            "click_index" => {
                self.put(index, json!("true"));
                json!({ "success": true })
            }
            other => panic!("no tool {other}"),
        }
    }

    fn label(&self, index: u64) -> Option<&'static str> {
        self.numbered().iter().rev().find(|(first, _)| *first <= index).map(|(_, field)| field.label)
    }

    fn put(&mut self, index: u64, value: Value) {
        if !self.label(index).is_some_and(|label| self.forgetful.contains(&label)) {
            self.held.insert(index, value);
        }
    }

    fn form(&self) -> Value {
        let mut fields = Vec::new();
        for (index, field) in self.numbered() {
            let held = self.held.get(&index);
            let text = held.and_then(Value::as_str).unwrap_or_default();
            let selected = |label: &String| match held {
                Some(Value::Array(all)) => all.iter().any(|one| one == label),
                Some(Value::String(one)) => one == label,
                _ => false,
            };
            let options = || -> Vec<Value> {
                field
                    .options
                    .iter()
                    .map(|(_, label)| json!({ "label": label, "selected": selected(label) }))
                    .collect()
            };
            let mut told = json!({ "index": index, "tag": "input", "type": "text", "name": field.name, "label": field.label });
            match field.control {
                Control::Radio => {
                    for (at, (_, label)) in (index..).zip(&field.options) {
                        let checked = self.held.contains_key(&at);
                        fields.push(json!({ "index": at, "tag": "input", "type": "radio", "name": field.name, "legend": field.label, "label": label, "checked": checked }));
                    }
                    continue;
                }
                Control::Checkbox => {
                    told["type"] = json!("checkbox");
                    told["checked"] = json!(text == "true");
                }
                Control::Select | Control::MultiSelect => {
                    let many = field.control == Control::MultiSelect;
                    told["tag"] = json!("select");
                    told["type"] = json!(if many { "select-multiple" } else { "select-one" });
                    told["options"] = options().into();
                }
                Control::Combobox => {
                    told["tag"] = json!("div");
                    told["type"] = json!("combobox");
                    told["value"] = json!(if text.is_empty() { "Choose…" } else { text });
                    told["options"] = options().into();
                }
                _ => {
                    told["value"] = json!(cut(text));
                    if text.chars().count() > SHOWN {
                        told["valueLength"] = json!(text.chars().count());
                    }
                }
            }
            fields.push(told);
        }
        json!({ "form": {}, "fields": fields, "radioGroups": {}, "submit": { "index": 99, "text": "Submit manuscript" } })
    }

    /// Labels of the fields that do not hold what they must.
    fn wrong(&self) -> Vec<&'static str> {
        self.numbered()
            .into_iter()
            .filter(|(index, field)| {
                let held = self.held.get(index);
                let text = held.and_then(Value::as_str).unwrap_or_default();
                let right = match &field.answer {
                    Answer::Text(any) => any.iter().any(|one| one == text),
                    Answer::Words(words) => text.split("; ").collect::<Vec<_>>() == *words,
                    Answer::Option(label) if field.control == Control::Radio => (*index..)
                        .zip(&field.options)
                        .all(|(at, (_, option))| self.held.contains_key(&at) == (option == label)),
                    Answer::Option(label) => text == label,
                    Answer::Options(labels) => {
                        let mut labels = labels.clone();
                        labels.sort();
                        let mut chosen: Vec<String> = held
                            .and_then(Value::as_array)
                            .into_iter()
                            .flatten()
                            .map(|v| v.as_str().unwrap().to_owned())
                            .collect();
                        chosen.sort();
                        chosen == labels
                    }
                    Answer::Tick(tick) => (text == "true") == *tick,
                };
                !right
            })
            .map(|(_, field)| field.label)
            .collect()
    }
}

/// Characters that `extract_form` shows of a value.
const SHOWN: usize = 200;

/// Long values are shown in part.
fn cut(text: &str) -> String {
    if text.chars().count() <= SHOWN {
        return text.to_owned();
    }
    text.chars().take(SHOWN).chain(['…']).collect()
}

/// Lets the model work until it says its last word, which is returned with the number of calls.
fn work(desk: &mut Desk, tools: &[&str]) -> (String, usize) {
    let mut conversation = Conversation {
        prompt: "Fill in the submission form in the other tab from this paper, but don't submit it.\n\n<browser_context>\n…".to_owned(),
        calls: Vec::new(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
    };
    for _ in 0..40 {
        let step = next_step(&conversation);
        if step.calls.is_empty() {
            return (step.text, conversation.calls.len());
        }
        assert!(!step.text.is_empty(), "it says what it does");
        for call in step.calls {
            assert!(tools.contains(&call.tool), "{} is not on offer", call.tool);
            let result = match desk.call(call.tool, &call.args) {
                Value::String(text) => text,
                json => json.to_string(),
            };
            conversation.calls.push(Call { name: call.tool.to_owned(), args: call.args, result });
        }
    }
    panic!("the model does not come to an end");
}

#[test]
fn fifty_shuffled_forms_are_filled_from_their_papers() {
    for seed in 0..50 {
        let mut desk = Desk::new(seed);
        let (text, calls) = work(&mut desk, &TOOLS);
        assert_eq!(desk.wrong(), Vec::<&str>::new(), "seed {seed}: {text}");
        assert!(text.contains("All 26 fields"), "seed {seed}: {text}");
        assert!(calls < 16, "seed {seed}: {calls} calls");
    }
}

#[test]
fn a_field_that_refuses_is_filled_another_way() {
    let mut desk = Desk::new(3);
    desk.stubborn = desk.scenario.fields().map(|field| field.label).collect();
    let (text, _) = work(&mut desk, &TOOLS);
    assert_eq!(desk.wrong(), Vec::<&str>::new());
    assert!(text.contains("All 26 fields"), "{text}");
}

#[test]
fn a_field_that_forgets_is_told_to_the_person() {
    let mut desk = Desk::new(5);
    let label = desk.scenario.fields().find(|field| field.kind == Kind::Title).unwrap().label;
    desk.forgetful.push(label);
    let (text, _) = work(&mut desk, &TOOLS);
    assert_eq!(desk.wrong(), [label]);
    assert!(text.contains("25 of 26") && text.contains(label), "{text}");
    assert!(!text.contains("All 26"), "{text}");
}

#[test]
fn without_fill_form_the_single_tools_do_it() {
    let mut desk = Desk::new(8);
    let tools: Vec<&str> = TOOLS.into_iter().filter(|tool| *tool != "fill_form").collect();
    let (text, _) = work(&mut desk, &tools);
    assert_eq!(desk.wrong(), Vec::<&str>::new(), "{text}");
}

#[test]
fn without_reading_tools_it_says_what_is_missing() {
    let mut desk = Desk::new(8);
    let (text, calls) = work(&mut desk, &["list_tabs", "switch_tab", "fill_form"]);
    assert!(text.contains("extract_text") && text.contains("switched off"), "{text}");
    assert_eq!(calls, 0);
}

#[test]
fn a_tool_that_keeps_failing_ends_the_work() {
    let failed =
        Call { name: "list_tabs".into(), args: json!({}), result: r#"{"error":"no browser"}"#.into() };
    let conversation = Conversation {
        prompt: "Fill in the form".into(),
        calls: vec![failed.clone(), failed],
        tools: TOOLS.map(str::to_owned).into(),
    };
    let step = next_step(&conversation);
    assert!(step.calls.is_empty());
    assert!(step.text.contains("no browser"), "{}", step.text);
}

#[test]
fn a_sentence_instead_of_the_usual_answer_is_a_failure() {
    let call = |name: &str, result: &str| Call { name: name.into(), args: json!({}), result: result.into() };
    let tabs = r#"{"tabs":[{"index":1,"title":"A paper about forms · Openfield Preprints","url":"http://x/1","held":true},
        {"index":2,"title":"Submit a manuscript","url":"http://x/2"}]}"#;
    let conversation = Conversation {
        prompt: "Fill in the form".into(),
        calls: vec![
            call("list_tabs", tabs),
            call("extract_text", "The page is gone."),
            call("extract_text", "It is still gone."),
        ],
        tools: TOOLS.map(str::to_owned).into(),
    };
    let step = next_step(&conversation);
    assert!(step.calls.is_empty(), "{step:?}");
    assert!(step.text.contains("It is still gone."), "{}", step.text);
}

#[test]
fn the_model_cannot_reach_the_answers() {
    let sources = [
        include_str!("agent.rs"),
        include_str!("answers.rs"),
        include_str!("conversation.rs"),
        include_str!("facts.rs"),
        include_str!("labels.rs"),
        include_str!("questions.rs"),
        include_str!("state.rs"),
        include_str!("wire.rs"),
    ];
    for source in sources {
        for line in source.lines().filter(|line| line.contains("super::super::")) {
            let allowed = ["super::super::kind::Kind", "super::super::serve::"];
            assert!(allowed.iter().any(|path| line.contains(path)), "{line}");
        }
        assert!(!source.contains("crate::"), "the model uses nothing else of the program");
    }
}
