//! What a careful agent does next: look at the tabs, read the paper, read the form, fill it, check it.

use serde_json::{Value, json};

use super::answers::{Answer, Unanswered, answer};
use super::conversation::Conversation;
use super::facts::Facts;
use super::questions::Form;
use super::state::{State, Tab};

/// What the model says and calls.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its words.
    pub text: String,
    /// Its tool calls; none ends the turn.
    pub calls: Vec<ToolUse>,
}

/// One tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUse {
    /// The tool.
    pub tool: &'static str,
    /// Its arguments.
    pub args: Value,
}

/// Fields of one `fill_form` call: small enough that a person can follow.
const AT_ONCE: usize = 9;
/// A tool that failed this often is not tried again.
const TRIES: usize = 2;
/// Pages of text that are read at most.
const LONGEST: usize = 400_000;

fn say(text: impl Into<String>) -> Step {
    Step { text: text.into(), calls: Vec::new() }
}

fn call(text: impl Into<String>, tool: &'static str, args: Value) -> Step {
    Step { text: text.into(), calls: vec![ToolUse { tool, args }] }
}

/// Decides on the next step from the conversation alone.
pub fn next_step(conversation: &Conversation) -> Step {
    let words = conversation.prompt.split("<browser_context>").next().unwrap_or_default().to_lowercase();
    if !(words.contains("form") && words.contains("fill")) {
        return say(
            "I am the demo's scripted model. I can do one thing: fill in a form in one tab from a paper in another. \
             Ask me to fill in the form, and I will.",
        );
    }
    let needed = ["list_tabs", "switch_tab", "extract_text", "extract_form"];
    let off: Vec<&str> =
        needed.into_iter().filter(|tool| !conversation.tools.iter().any(|offered| offered == tool)).collect();
    if !off.is_empty() {
        return say(format!(
            "I cannot do this without these tools, which are switched off: {}. Nothing was touched.",
            off.join(", ")
        ));
    }
    if let Some(stuck) = going_round(conversation) {
        return stuck;
    }
    let state = State::after(conversation);
    find_tabs(conversation, &state)
}

/// Stops when the same call has brought the same answer three times: a fourth brings nothing new.
fn going_round(conversation: &Conversation) -> Option<Step> {
    let [.., first, second, third] = conversation.calls.as_slice() else { return None };
    (first == second && second == third).then(|| {
        let line = third.result.lines().next().unwrap_or_default();
        say(format!(
            "I had to stop: {} says the same each time: {}. Nothing was submitted.",
            third.name,
            short(line)
        ))
    })
}

/// Stops with what is missing when a tool keeps failing.
fn attempt(state: &State, step: Step) -> Step {
    let failed =
        step.calls.first().and_then(|call| state.failures.get(call.tool).map(|failure| (call.tool, failure)));
    match failed {
        Some((tool, (times, error))) if *times >= TRIES => say(format!(
            "I had to stop: {tool} failed {times} times. It said: {error} Nothing was submitted."
        )),
        _ => step,
    }
}

fn find_tabs(conversation: &Conversation, state: &State) -> Step {
    if state.tabs.is_empty() {
        return attempt(state, call("I'll look at the open tabs first.", "list_tabs", json!({})));
    }
    let pages = || state.tabs.iter().filter(|tab| tab.url.starts_with("http"));
    let Some(form) = most_telling(pages(), &["submit", "submission", "form"], &["preprint", "paper", "doi"])
    else {
        return say("I do not see a tab with a submission form. Open it, and ask me again.");
    };
    let others = pages().filter(|tab| tab.index != form.index);
    let paper = most_telling(others.clone(), &["preprint", "paper", "article", "doi"], &[]);
    let Some(paper) = paper.or_else(|| others.clone().next()) else {
        return say("I see the form, but no tab with a paper. Open it, and ask me again.");
    };
    read_paper(conversation, state, paper, form)
}

/// The tab whose title has the most of the words for it and the fewest of those against it.
fn most_telling<'a>(tabs: impl Iterator<Item = &'a Tab>, good: &[&str], bad: &[&str]) -> Option<&'a Tab> {
    let score = |tab: &Tab| {
        let title = tab.title.to_lowercase();
        let count = |words: &[&str]| words.iter().filter(|word| title.contains(**word)).count();
        (count(good) > 0).then(|| (usize::MAX - count(bad), count(good)))
    };
    tabs.filter_map(|tab| Some((score(tab)?, tab))).max_by_key(|(score, _)| *score).map(|(_, tab)| tab)
}

fn read_paper(conversation: &Conversation, state: &State, paper: &Tab, form: &Tab) -> Step {
    let read = state.texts.get(&paper.index);
    let rest = match read {
        None => Some(json!({})),
        Some(text) => text.rest.clone().filter(|_| text.text.len() < LONGEST),
    };
    if let Some(args) = rest {
        if state.at != Some(paper.index) {
            let text = format!("The paper is “{}”. I'll read it.", paper.title);
            return attempt(state, call(text, "switch_tab", json!({ "index": paper.index.to_string() })));
        }
        let text = if read.is_some() { "It goes on." } else { "Reading the paper." };
        return attempt(state, call(text, "extract_text", args));
    }
    let text = read.map(|text| text.text.as_str()).unwrap_or_default();
    let facts = Facts::read(text, &paper.title);
    if facts.count() < 3 {
        return say(format!(
            "“{}” does not read like a paper: I found next to none of the facts.",
            paper.title
        ));
    }
    if state.at != Some(form.index) {
        let text = format!("I have the facts: {} of them. Now the form in the other tab.", facts.count());
        return attempt(state, call(text, "switch_tab", json!({ "index": form.index.to_string() })));
    }
    let Some(questions) = &state.form else {
        return attempt(state, call("Reading the form's fields.", "extract_form", json!({})));
    };
    fill(conversation, state, &facts, questions)
}

fn fill(conversation: &Conversation, state: &State, facts: &Facts, form: &Form) -> Step {
    let (mut answers, mut open) = (Vec::new(), Vec::new());
    for question in &form.questions {
        match answer(question, facts) {
            Ok(answer) => answers.push(answer),
            Err(unanswered) => open.push(unanswered),
        }
    }
    let offered = |tool: &str| conversation.tools.iter().any(|name| name == tool);
    let fresh: Vec<&Answer> =
        answers.iter().filter(|answer| !state.attempts.contains_key(&answer.index)).collect();
    if !fresh.is_empty() && offered("fill_form") {
        let part: Vec<&Answer> = fresh.iter().copied().take(AT_ONCE).collect();
        let fields: Vec<Value> = part.iter().map(|answer| answer.entry()).collect();
        let begun = answers.len() - fresh.len();
        let text = if begun == 0 {
            format!("The form has {} fields. I'll start with the first {}.", form.questions.len(), part.len())
        } else {
            format!("{begun} done, {} to go.", fresh.len())
        };
        return call(text, "fill_form", json!({ "fields": fields }));
    }
    // What one tool could not do, another one may.
    let second = |answer: &&Answer| {
        let (tool, _) = answer.other_way();
        let tried = state.attempts.get(&answer.index);
        let untried = tried.is_none_or(|attempts| !attempts.tools.iter().any(|name| name == tool));
        let bad = tried.is_none_or(|attempts| attempts.error.is_some()) || differs(state, answer);
        untried && bad && offered(tool)
    };
    let again: Vec<&Answer> = answers.iter().filter(second).take(6).collect();
    if !again.is_empty() {
        let names: Vec<String> = again.iter().map(|answer| format!("“{}”", answer.label)).collect();
        let calls = again
            .iter()
            .map(|answer| {
                let (tool, args) = answer.other_way();
                ToolUse { tool, args }
            })
            .collect();
        return Step { text: format!("Trying {} another way.", names.join(", ")), calls };
    }
    let Some(now) = &state.fresh else {
        return attempt(state, call("Checking what the fields hold now.", "extract_form", json!({})));
    };
    conclude(state, &answers, &open, now)
}

/// Whether the form, read again, shows something else. `false` while it was not read again.
fn differs(state: &State, answer: &Answer) -> bool {
    state.fresh.as_ref().is_some_and(|form| !form.question(answer.question).is_some_and(|q| answer.is_in(q)))
}

fn conclude(state: &State, answers: &[Answer], open: &[Unanswered], now: &Form) -> Step {
    let wrong: Vec<&Answer> = answers.iter().filter(|answer| differs(state, answer)).collect();
    let total = answers.len() + open.len();
    let button = now.submit.as_deref().unwrap_or("Submit");
    if wrong.is_empty() && open.is_empty() {
        let look: String = answers
            .iter()
            .filter(|answer| answer.is_a_judgement())
            .map(|answer| format!("\n- {}: **{}**", answer.label, short(&answer.shown)))
            .collect();
        let judged =
            if look.is_empty() { String::new() } else { format!("\n\nDecided from the text:\n{look}") };
        return say(format!(
            "**All {total} fields are filled in**, and I read every one of them back.{judged}\n\n\
             Nothing was submitted: **{button}** waits for you."
        ));
    }
    let mut text =
        format!("I filled in {} of {total} fields. These need you:\n", answers.len() - wrong.len());
    for answer in wrong {
        let why = state.attempts.get(&answer.index).and_then(|attempts| attempts.error.as_deref());
        let why = why.unwrap_or("it does not keep the value");
        text.push_str(&format!("\n- **{}** should be “{}”: {why}", answer.label, short(&answer.shown)));
    }
    for question in open {
        let label = if question.label.is_empty() { "a field without a label" } else { &question.label };
        text.push_str(&format!("\n- **{label}**: {}", question.why));
    }
    text.push_str(&format!("\n\nNothing was submitted: **{button}** waits for you."));
    say(text)
}

/// The beginning of a long text.
fn short(text: &str) -> String {
    const LONGEST: usize = 60;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}
