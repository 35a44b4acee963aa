//! What an oracle has: the tools, and nothing else.

use regex::Regex;
use serde_json::{Value, json};

use crate::support::cdp_wire::Stage;

/// Why an oracle gave up; it is told with what the tools said.
pub type Played = Result<(), String>;

/// One line of the page view.
#[derive(Debug, Clone)]
pub struct Line {
    /// The number in brackets; headings and alerts have none.
    pub index: Option<u32>,
    /// The whole line.
    pub text: String,
    /// The first word of the tag.
    pub tag: String,
    /// `aria-name`, or the text between the tags.
    pub name: String,
}

impl Line {
    fn parse(line: &str) -> Self {
        let (index, rest) = match line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((number, rest)) => (number.trim_start_matches(['*', '~']).parse().ok(), rest),
            None => (None, line),
        };
        let tag: String =
            rest.trim_start_matches('<').chars().take_while(char::is_ascii_alphanumeric).collect();
        let inside = rest
            .rsplit_once("</")
            .and_then(|(before, _)| before.split_once('>'))
            .map(|(_, inside)| inside.to_owned());
        let named = attribute(rest, "aria-name");
        let name = plain(&named.or(inside).unwrap_or_default());
        Self { index, text: line.to_owned(), tag, name }
    }
}

fn attribute(line: &str, name: &str) -> Option<String> {
    let start = line.find(&format!(" {name}="))? + name.len() + 2;
    let rest = &line[start..];
    let value = match rest.strip_prefix('"') {
        Some(quoted) => {
            Regex::new(r#"^((?:[^"\\]|\\.)*)""#).unwrap().captures(quoted)?[1].replace("\\\"", "\"")
        }
        None => rest.split([' ', '/', '>']).next()?.to_owned(),
    };
    Some(value)
}

/// One episode, as a model plays it.
pub struct Play<'a> {
    stage: &'a Stage,
}

impl<'a> Play<'a> {
    pub fn new(stage: &'a Stage) -> Self {
        Self { stage }
    }

    /// Calls a tool; its answer as text, also when it failed.
    pub async fn tool(&self, tool: &str, args: Value) -> String {
        self.stage.call(tool, args).await.text
    }

    /// Calls a tool that must succeed.
    pub async fn must(&self, tool: &str, args: Value) -> Result<Value, String> {
        let told = self.tool(tool, args.clone()).await;
        let result: Value = serde_json::from_str(&told).map_err(|_| format!("{tool} {args}: {told}"))?;
        match result["success"].as_bool() {
            Some(false) => Err(format!("{tool} {args}: {told}")),
            _ => Ok(result),
        }
    }

    /// The visible text of the first element a selector finds.
    pub async fn text(&self, selector: &str) -> Result<String, String> {
        let told = self.stage.call("extract_text", json!({ "selector": selector })).await;
        if !told.ok {
            return Err(told.text);
        }
        Ok(plain(&unfenced(&told.text)))
    }

    /// The task in its own words, on one line.
    pub async fn query(&self) -> Result<String, String> {
        Ok(self.text("#query").await?.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// The parts of the task that a pattern's groups find.
    pub async fn asked(&self, pattern: &str) -> Result<Vec<String>, String> {
        let query = self.query().await?;
        groups(pattern, &query).ok_or_else(|| format!("the task is not /{pattern}/: {query}"))
    }

    /// The page as it is now.
    pub async fn view(&self) -> Vec<Line> {
        let view = self.tool("inspect_page", json!({ "budget": 12000 })).await;
        view.lines().map(Line::parse).collect()
    }

    /// The element lines only.
    pub async fn controls(&self) -> Vec<Line> {
        self.view().await.into_iter().filter(|line| line.index.is_some()).collect()
    }

    /// The first element line that holds these words.
    pub async fn find(&self, words: &str) -> Result<u32, String> {
        self.nth(words, 0).await
    }

    /// The nth (from 0) element line that holds these words.
    pub async fn nth(&self, words: &str, nth: usize) -> Result<u32, String> {
        let view = self.view().await;
        let mut fit = view.iter().filter(|line| line.index.is_some() && line.text.contains(words));
        fit.nth(nth)
            .and_then(|line| line.index)
            .ok_or_else(|| format!("no {words:?} ({nth}) in\n{}", told(&view)))
    }

    /// The element of exactly this name (capitals do not count), of this tag unless it is empty.
    pub async fn named(&self, tag: &str, name: &str) -> Result<u32, String> {
        let view = self.view().await;
        let fits = |line: &&Line| {
            line.index.is_some()
                && (tag.is_empty() || line.tag == tag)
                && line.name.trim().to_lowercase() == name.trim().to_lowercase()
        };
        let found = view.iter().find(fits).and_then(|line| line.index);
        found.ok_or_else(|| format!("no {tag} named {name:?} in\n{}", told(&view)))
    }

    /// Clicks an element by its number.
    pub async fn click(&self, index: u32) -> Played {
        self.must("click_index", json!({ "index": index })).await.map(drop)
    }

    /// Clicks the element of exactly this name.
    pub async fn press(&self, tag: &str, name: &str) -> Played {
        self.click(self.named(tag, name).await?).await
    }

    /// Clicks the first element whose line holds these words.
    pub async fn press_first(&self, words: &str) -> Played {
        self.click(self.find(words).await?).await
    }

    /// Fills a field by its number.
    pub async fn fill(&self, index: u32, text: &str) -> Played {
        self.must("type_index", json!({ "index": index, "text": text })).await.map(drop)
    }

    /// Presses keys where the keyboard is.
    pub async fn keys(&self, keys: &str) -> Played {
        self.must("press_keys", json!({ "keys": keys })).await.map(drop)
    }

    /// Puts the keyboard on an element, then presses keys.
    pub async fn keys_at(&self, index: u32, keys: &str) -> Played {
        self.must("focus_index", json!({ "index": index })).await?;
        self.keys(keys).await
    }

    /// Drags one element onto another.
    pub async fn drop_on(&self, from: u32, to: u32) -> Played {
        self.must("drag", json!({ "from": from, "to": to })).await.map(drop)
    }

    /// Drags an element by CSS px.
    pub async fn drag_by(&self, from: u32, dx: i32, dy: i32) -> Played {
        self.must("drag", json!({ "from": from, "dx": dx, "dy": dy })).await.map(drop)
    }

    /// Presses the button called Submit.
    pub async fn submit(&self) -> Played {
        self.press("button", "Submit").await
    }

    /// Ticks a box.
    pub async fn tick(&self, index: u32, on: bool) -> Played {
        self.must("check_index", json!({ "index": index, "checked": on })).await.map(drop)
    }

    /// What `query_dom` lists.
    pub async fn dom(&self, selector: &str) -> Result<Vec<Value>, String> {
        let told = self.tool("query_dom", json!({ "selector": selector })).await;
        let result: Value = serde_json::from_str(&told).map_err(|_| told.clone())?;
        result["results"].as_array().cloned().ok_or(told)
    }

    /// The numbers that `query_dom` gives to what a selector finds.
    pub async fn indexes(&self, selector: &str) -> Result<Vec<u32>, String> {
        let found = self.dom(selector).await?;
        Ok(found
            .iter()
            .filter_map(|one| one["index"].as_u64())
            .filter_map(|n| u32::try_from(n).ok())
            .collect())
    }

    /// The number of the first thing a selector finds.
    pub async fn at(&self, selector: &str) -> Result<u32, String> {
        let found = self.dom(selector).await?;
        let index = found.iter().find_map(|one| one["index"].as_u64()).and_then(|n| u32::try_from(n).ok());
        index.ok_or_else(|| format!("{selector}: nothing with a number in {found:?}"))
    }

    /// The page's HTML below a selector.
    pub async fn html(&self, selector: &str) -> String {
        unfenced(&self.tool("get_page_html", json!({ "selector": selector, "max_chars": 20000 })).await)
    }
}

/// The page's words, without the escapes that keep them from looking like the fence.
fn plain(text: &str) -> String {
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")
}

/// What is between the two fence lines; nothing when there is no fence.
fn unfenced(text: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.contains(" fence=")).skip(1);
    lines.take_while(|line| !line.contains(" fence=")).collect::<Vec<_>>().join("\n")
}

fn told(view: &[Line]) -> String {
    view.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// The nth (from 0) of a list, or what there is instead.
pub fn nth_of<T: Clone + std::fmt::Debug>(list: &[T], nth: usize) -> Result<T, String> {
    list.get(nth).cloned().ok_or_else(|| format!("no {nth} in {list:?}"))
}

/// What the groups of a pattern find in a text.
pub fn groups(pattern: &str, text: &str) -> Option<Vec<String>> {
    let found = Regex::new(pattern).unwrap().captures(text)?;
    Some(found.iter().skip(1).map(|group| group.map_or("", |found| found.as_str()).to_owned()).collect())
}

/// Every place of a pattern's first group.
pub fn each(pattern: &str, text: &str) -> Vec<String> {
    Regex::new(pattern).unwrap().captures_iter(text).map(|found| found[1].to_owned()).collect()
}
