//! What the model can call. A tool is one file plus one line in its category's list.

mod answer;
mod approval;
mod args;
mod cx;
mod devtools;
mod error;
mod files;
pub mod first;
mod forms;
mod human;
mod inspect;
mod interact;
mod kinds;
mod memory;
mod navigate;
mod output;
pub mod policy;
mod power;
pub mod reference;
mod schema;
mod tabs;
mod uploads;

use std::future::Future;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use cx::{Ask, AskError, AskPurpose, Question, Reply, ReplyAnswer, ToolCx};
pub use error::ToolError;
pub use output::{Picture, ToolOutput};

/// What is fixed about a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolSpec {
    /// Unique snake_case name, as prompts written for Browy use it.
    pub name: &'static str,
    /// Two or three words for people.
    pub title: &'static str,
    /// What the model is told: what it does, when to use it. Short; every token is paid for in every turn.
    pub description: &'static str,
    /// Where it is listed.
    pub category: Category,
    /// Whether it is on.
    pub exposure: Exposure,
    /// What it can change.
    pub effect: Effect,
    /// The longest one call may take.
    pub timeout: Duration,
}

/// Groups for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "named by their folders")]
pub enum Category {
    Inspect,
    Interact,
    Forms,
    Navigate,
    Tabs,
    Devtools,
    Files,
    Memory,
    Power,
    Human,
}

impl Category {
    /// The folder below `src/tools` and the word on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Inspect => "inspect",
            Self::Interact => "interact",
            Self::Forms => "forms",
            Self::Navigate => "navigate",
            Self::Tabs => "tabs",
            Self::Devtools => "devtools",
            Self::Files => "files",
            Self::Memory => "memory",
            Self::Power => "power",
            Self::Human => "human",
        }
    }
}

/// Whether a tool is on in a fresh profile, and whether that can be changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposure {
    /// On, and cannot be switched off.
    Always,
    /// On until switched off.
    DefaultOn,
    /// Off until switched on.
    DefaultOff,
}

/// What a tool can change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Nothing; may overlap with others of its kind.
    ReadOnly,
    /// The page.
    ChangesPage,
    /// Tabs, cookies, downloads.
    ChangesBrowser,
    /// Files or programs of this machine.
    ReachesComputer,
}

/// One tool.
pub trait Tool: Send + Sync + 'static {
    /// What is fixed about it.
    const SPEC: ToolSpec;
    /// Its arguments; the JSON schema comes from this type.
    type Args: DeserializeOwned + JsonSchema + Send;

    /// Does it.
    ///
    /// # Errors
    /// [`ToolError::Model`] is an answer for the model; the turn goes on.
    fn run(
        &self,
        cx: &ToolCx,
        args: Self::Args,
    ) -> impl Future<Output = Result<ToolOutput, ToolError>> + Send;
}

/// A [`Tool`] whose argument type is hidden, for the registry.
pub trait ErasedTool: Send + Sync {
    /// What is fixed about it.
    fn spec(&self) -> ToolSpec;
    /// JSON schema of its arguments.
    fn parameters(&self) -> Value;
    /// Checks the arguments, then does it.
    fn call<'a>(&'a self, cx: &'a ToolCx, args: Value) -> BoxFuture<'a, Result<ToolOutput, ToolError>>;
}

impl<T: Tool> ErasedTool for T {
    fn spec(&self) -> ToolSpec {
        T::SPEC
    }

    fn parameters(&self) -> Value {
        schema::of::<T::Args>()
    }

    fn call<'a>(&'a self, cx: &'a ToolCx, args: Value) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        async move {
            let args = args::parse::<T::Args>(args)
                .map_err(|why| answer::bad_argument(&format!("{}: {why}", T::SPEC.name)))?;
            self.run(cx, args).await
        }
        .boxed()
    }
}

/// Every tool, by category, in the order the model sees them.
pub fn all() -> impl Iterator<Item = &'static dyn ErasedTool> {
    let categories: [&'static [&'static dyn ErasedTool]; 10] = [
        inspect::TOOLS,
        interact::TOOLS,
        forms::TOOLS,
        navigate::TOOLS,
        tabs::TOOLS,
        devtools::TOOLS,
        files::TOOLS,
        memory::TOOLS,
        power::TOOLS,
        human::TOOLS,
    ];
    categories.into_iter().flatten().copied()
}

/// The tool of that name.
pub fn by_name(name: &str) -> Option<&'static dyn ErasedTool> {
    all().find(|tool| tool.spec().name == name)
}
