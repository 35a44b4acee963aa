//! A case file.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::expect::Expect;
use crate::support::page_server::Route;

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub title: String,
    /// Where the fault was seen.
    #[serde(default)]
    #[allow(dead_code, reason = "for people")]
    pub source: String,
    /// `<name>.html` when absent.
    pub page: Option<String>,
    #[serde(default)]
    pub flags: Vec<String>,
    #[serde(default)]
    pub routes: Vec<Route>,
    #[serde(default)]
    pub approvals: Approvals,
    pub steps: Vec<Step>,
    #[serde(default)]
    pub after: Vec<After>,
    /// The legitimate use of what the case forbids.
    pub twin: Option<Vec<Step>>,
}

/// How cards are answered.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approvals {
    #[default]
    Allow,
    Deny,
}

#[derive(Debug, Clone)]
pub struct Step {
    /// As it is in the file, for reports.
    pub written: Value,
    pub kind: StepKind,
}

#[derive(Debug, Clone)]
pub enum StepKind {
    Tool(Box<ToolStep>),
    User(UserStep),
    Wait(WaitStep),
    Browser(BrowserStep),
    Cdp(CdpStep),
}

/// By the key that says what kind it is, so that a mistake is named.
impl<'de> Deserialize<'de> for Step {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        use serde::de::Error;
        let written = Value::deserialize(deserializer)?;
        let has = |key: &str| written.get(key).is_some();
        let kind = if has("tool") {
            ToolStep::deserialize(&written).map(|step| StepKind::Tool(Box::new(step)))
        } else if has("user") {
            UserStep::deserialize(&written).map(StepKind::User)
        } else if has("wait") {
            WaitStep::deserialize(&written).map(StepKind::Wait)
        } else if has("browser") {
            BrowserStep::deserialize(&written).map(StepKind::Browser)
        } else if has("cdp") {
            CdpStep::deserialize(&written).map(StepKind::Cdp)
        } else {
            return Err(D::Error::custom(format!("a step of no known kind: {written}")));
        };
        let kind = kind.map_err(|error| D::Error::custom(format!("{error} in {written}")))?;
        Ok(Self { written, kind })
    }
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolStep {
    pub tool: String,
    #[serde(default)]
    pub args: Value,
    /// Name → regular expression.
    #[serde(default)]
    pub bind: serde_json::Map<String, Value>,
    #[serde(default)]
    pub expect: Expect,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UserStep {
    pub user: String,
    pub frame: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct WaitStep {
    pub wait: String,
    pub timeout_ms: Option<u64>,
    pub frame: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BrowserStep {
    /// An expression for the extension's service worker.
    pub browser: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CdpStep {
    /// A method's name, or `{ "method": …, "params": … }`.
    pub cdp: Value,
    #[serde(default)]
    pub params: Value,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    pub eval: Option<String>,
    /// `null` when absent.
    #[serde(default)]
    pub equals: Value,
    pub frame: Option<String>,
    /// A path in the data or the download folder.
    pub file: Option<PathBuf>,
    pub exists: Option<bool>,
    pub contains: Option<String>,
}

/// A case and where it lies.
pub struct Located {
    pub name: String,
    pub folder: PathBuf,
    /// Why it cannot be read, when it cannot.
    pub case: Result<Case, String>,
}

impl Located {
    pub fn page(&self, case: &Case) -> String {
        let own = || format!("{}.html", self.name.rsplit('/').next().unwrap_or(&self.name));
        case.page.clone().unwrap_or_else(own)
    }
}

/// All cases below `root` (or the one that it names), in the order of their names, numbers as numbers.
pub fn find(root: &Path) -> std::io::Result<Vec<Located>> {
    let mut files = Vec::new();
    if root.is_file() {
        files.push(root.to_owned());
    } else {
        collect(root, &mut files)?;
    }
    let mut cases: Vec<Located> = files.iter().filter_map(|file| read(root, file)).collect();
    cases.sort_by_key(|case| natural(&case.name));
    Ok(cases)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
    }
    Ok(())
}

/// JSON without steps is something that a page loads.
fn read(root: &Path, file: &Path) -> Option<Located> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string());
    let json = text.and_then(|text| serde_json::from_str::<Value>(&text).map_err(|error| error.to_string()));
    if json.as_ref().is_ok_and(|json| json.get("steps").is_none()) {
        return None;
    }
    let case = json.and_then(|json| Case::deserialize(json).map_err(|error| error.to_string()));
    let relative = file.strip_prefix(root).ok().filter(|relative| *relative != Path::new(""));
    let name = relative.unwrap_or(file).with_extension("");
    Some(Located {
        name: name.to_string_lossy().into_owned(),
        folder: file.parent().unwrap_or(Path::new(".")).to_owned(),
        case: case.and_then(proves_something),
    })
}

/// A case that only calls tools and never looks at the page or expects a refusal would pass on anything.
fn proves_something(case: Case) -> Result<Case, String> {
    let steps = case.steps.iter().chain(case.twin.iter().flatten());
    let expects = steps
        .filter_map(|step| if let StepKind::Tool(tool) = &step.kind { Some(&tool.expect) } else { None });
    if case.after.is_empty() && expects.into_iter().all(Expect::is_empty) {
        return Err("it has neither `after` nor an expectation, so it proves nothing".to_owned());
    }
    Ok(case)
}

/// `s2` before `s10`.
fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(digits);
        let end = tail.find(|c: char| !c.is_ascii_digit()).unwrap_or(tail.len());
        let (number, tail) = tail.split_at(end);
        parts.push((text.to_owned(), number.parse().unwrap_or(0)));
        rest = tail;
    }
    parts
}
