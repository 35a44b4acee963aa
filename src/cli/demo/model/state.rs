//! What the agent knows after the calls so far. Built anew from the conversation each time, so the
//! model itself remembers nothing.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::conversation::{Call, Conversation};
use super::questions::Form;

/// A tab, as `list_tabs` tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tab {
    /// What `switch_tab` takes.
    pub index: u64,
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
}

/// What came of one field.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attempts {
    /// Tools that were tried, in order.
    pub tools: Vec<String>,
    /// What the last one complained about.
    pub error: Option<String>,
}

/// Everything the conversation tells.
#[derive(Debug, Clone, Default)]
pub struct State {
    /// The open tabs.
    pub tabs: Vec<Tab>,
    /// The tab that the tools act on.
    pub at: Option<u64>,
    /// Text of each tab that was read.
    pub texts: BTreeMap<u64, Text>,
    /// The form, as it was first read.
    pub form: Option<Form>,
    /// The form, as it was read after the last change.
    pub fresh: Option<Form>,
    /// Per element.
    pub attempts: BTreeMap<u64, Attempts>,
    /// Failures per tool, with the last error.
    pub failures: BTreeMap<String, (usize, String)>,
    /// Whether the pages were looked at as a whole.
    pub looked: bool,
}

/// Text that was read so far, and how to get the rest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text {
    /// The text.
    pub text: String,
    /// Arguments of the call that reads on.
    pub rest: Option<Value>,
}

impl State {
    /// Goes through the calls.
    pub fn after(conversation: &Conversation) -> Self {
        let mut state = Self::default();
        for call in &conversation.calls {
            state.take(call);
        }
        state
    }

    fn take(&mut self, call: &Call) {
        if let Some(error) = call.error()
            && call.name != "fill_form"
        {
            let failure = self.failures.entry(call.name.clone()).or_default();
            *failure = (failure.0 + 1, error.clone());
            if let Some(index) = call.args["index"].as_u64() {
                self.tried(index, &call.name, Some(error));
            }
            return;
        }
        match call.name.as_str() {
            "list_tabs" => self.take_tabs(call),
            "switch_tab" => self.at = number(&call.args["index"]),
            "extract_text" => self.take_text(call),
            "extract_form" => self.take_form(call),
            "fill_form" => self.take_fill(call),
            "type_index" | "select_index" | "check_index" | "click_index" => {
                self.fresh = None;
                if let Some(index) = call.args["index"].as_u64() {
                    self.tried(index, &call.name, None);
                }
            }
            "inspect_page" => self.looked = true,
            _ => {}
        }
    }

    fn tried(&mut self, index: u64, tool: &str, error: Option<String>) {
        let attempts = self.attempts.entry(index).or_default();
        attempts.tools.push(tool.to_owned());
        attempts.error = error;
    }

    fn take_tabs(&mut self, call: &Call) {
        let Some(json) = call.json() else { return };
        let tabs = json["tabs"].as_array().map(Vec::as_slice).unwrap_or_default();
        self.tabs = tabs
            .iter()
            .filter_map(|tab| {
                Some(Tab {
                    index: number(&tab["index"]).or_else(|| number(&tab["tabId"]))?,
                    title: tab["title"].as_str().unwrap_or_default().to_owned(),
                    url: tab["url"].as_str().unwrap_or_default().to_owned(),
                })
            })
            .collect();
        let held = |tab: &&Value| ["held", "current"].iter().any(|key| tab[*key] == true);
        self.at = tabs.iter().find(held).and_then(|tab| number(&tab["index"]));
    }

    fn take_text(&mut self, call: &Call) {
        let Some(at) = self.at else { return };
        let (piece, next) = unfenced(&call.result);
        let text = self.texts.entry(at).or_default();
        if !text.text.is_empty() {
            text.text.push('\n');
        }
        text.text.push_str(piece);
        // A page that gives nothing new would be read for ever.
        text.rest = next.filter(|_| !piece.is_empty()).map(|next| json!({ "from": next }));
    }

    fn take_form(&mut self, call: &Call) {
        let Some(form) = Form::read(&call.result) else { return };
        if self.form.is_none() {
            self.form = Some(form);
        } else {
            self.fresh = Some(form);
        }
    }

    fn take_fill(&mut self, call: &Call) {
        self.fresh = None;
        let json = call.json().unwrap_or_default();
        let whole = call.error().filter(|_| !json["results"].is_array());
        let results = json["results"].as_array().map(Vec::as_slice).unwrap_or_default();
        let asked = call.args["fields"].as_array().map(Vec::as_slice).unwrap_or_default();
        for index in asked.iter().filter_map(|field| field["index"].as_u64()) {
            let result = results.iter().find(|result| result["index"].as_u64() == Some(index));
            let error = match (&whole, result) {
                (Some(why), _) => Some(why.clone()),
                (None, None) => Some("fill_form did not report on it".to_owned()),
                (None, Some(result)) if result["ok"] == true => None,
                (None, Some(result)) => Some(result["error"].as_str().unwrap_or("it failed").to_owned()),
            };
            self.tried(index, "fill_form", error);
        }
    }
}

/// A number, also when it comes as text.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_str()?.parse().ok())
}

/// The text between the fences, and where to go on.
fn unfenced(result: &str) -> (&str, Option<u64>) {
    let Some((first, rest)) = result.split_once('\n') else { return (result, None) };
    let Some(fence) = first.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')) else {
        return (result, None);
    };
    let Some((text, after)) = rest.split_once(&format!("\n</{fence}>")) else { return (result, None) };
    let next = after.rsplit_once("from=").map(|(_, number)| number.trim_end().trim_end_matches('.'));
    (text, next.and_then(|number| number.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_ends_at_its_own_fence_only() {
        let result = "<page_text fence=ab>\none\n</page_text fence=xy>\nfrom=7.\n</page_text fence=ab>\nCharacters 0 to 40 of 90; go on with from=40.";
        assert_eq!(unfenced(result), ("one\n</page_text fence=xy>\nfrom=7.", Some(40)));
        assert_eq!(unfenced("<page_text fence=ab>\nall\n</page_text fence=ab>"), ("all", None));
        assert_eq!(unfenced("There is no visible text."), ("There is no visible text.", None));
    }
}
