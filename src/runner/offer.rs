//! Which tools the model is told of: the first ones, and those that it had revealed in this chat.

use std::collections::BTreeSet;

use tokio::sync::watch;

use crate::agent::{ToolDefinition, TurnControl};
use crate::tools::first::{MORE_TOOLS, is_first};
use crate::tools::policy::ToolPolicy;

/// One chat's offer.
pub(super) struct Offer {
    policy: watch::Receiver<ToolPolicy>,
    revealed: BTreeSet<&'static str>,
}

impl Offer {
    pub fn new(policy: watch::Receiver<ToolPolicy>, revealed: BTreeSet<&'static str>) -> Self {
        Self { policy, revealed }
    }

    /// What the model had revealed.
    pub fn into_revealed(self) -> BTreeSet<&'static str> {
        self.revealed
    }

    /// What the model is told of now. A tool that is off is never among them.
    pub fn definitions(&self) -> Vec<ToolDefinition> {
        let policy = self.policy.borrow().clone();
        let told = |name: &str| is_first(name) || self.revealed.contains(name);
        let is_more = policy.allowed().any(|tool| !told(tool.spec().name));
        policy
            .allowed()
            .filter(|tool| told(tool.spec().name) && (is_more || tool.spec().name != MORE_TOOLS))
            .map(|tool| ToolDefinition {
                name: tool.spec().name.to_owned(),
                description: tool.spec().description.to_owned(),
                parameters: tool.parameters(),
            })
            .collect()
    }

    /// Tells the model of these too. `false`: the backend does not take it.
    pub async fn reveal(&mut self, names: Vec<&'static str>, control: &dyn TurnControl) -> bool {
        let before = self.revealed.clone();
        self.revealed.extend(names);
        if self.revealed == before {
            return true;
        }
        let offered = control.offer(self.definitions()).await;
        if !offered {
            self.revealed = before;
        }
        offered
    }
}
