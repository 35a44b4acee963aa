//! Which tools are on: checked when definitions are sent, and again when a call arrives.

use std::collections::BTreeSet;

use super::{ErasedTool, Exposure, ToolSpec};

/// One session's switches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolPolicy {
    disabled: BTreeSet<String>,
    enabled: BTreeSet<String>,
}

impl ToolPolicy {
    /// Switches as a client sends them: what is off of the normally-on, what is on of the normally-off.
    pub fn new(
        disabled: impl IntoIterator<Item = String>,
        enabled: impl IntoIterator<Item = String>,
    ) -> Self {
        Self { disabled: disabled.into_iter().collect(), enabled: enabled.into_iter().collect() }
    }

    /// Whether the tool may be called now.
    pub fn allows(&self, spec: &ToolSpec) -> bool {
        match spec.exposure {
            Exposure::Always => true,
            Exposure::DefaultOn => !self.disabled.contains(spec.name),
            Exposure::DefaultOff => self.enabled.contains(spec.name) && !self.disabled.contains(spec.name),
        }
    }

    /// Whether a switch that is normally off is on. For what has no [`ToolSpec`]: tools that are not ours.
    pub fn is_switched_on(&self, switch: &str) -> bool {
        self.enabled.contains(switch) && !self.disabled.contains(switch)
    }

    /// The tools that are on.
    pub fn allowed(&self) -> impl Iterator<Item = &'static dyn ErasedTool> {
        super::all().filter(|tool| self.allows(&tool.spec()))
    }
}
