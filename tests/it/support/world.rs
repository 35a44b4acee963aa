//! A real Runner between a fake browser and a fake model.

use std::sync::Arc;

use browy::config::Config;
use browy::paths::Paths;
use browy::runner::{Runner, RunnerHandle};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::fake_agent::{FakeAgent, Prompts};
use super::fake_panel::FakeBrowser;

/// A running Runner with everything it needs.
pub struct World {
    pub agent: Arc<FakeAgent>,
    pub prompts: Prompts,
    pub deletions: mpsc::UnboundedReceiver<String>,
    runner: RunnerHandle,
    tasks: JoinSet<()>,
    pub home: tempfile::TempDir,
}

impl World {
    pub fn new() -> Self {
        Self::in_home(tempfile::tempdir().expect("a home"), FakeAgent::ready())
    }

    /// A host that starts in a home where others ran before.
    pub fn in_home(
        home: tempfile::TempDir,
        (agent, prompts, deletions): (Arc<FakeAgent>, Prompts, mpsc::UnboundedReceiver<String>),
    ) -> Self {
        let (runner, handle) = Runner::new(agent.clone(), Paths::below(home.path()), Config::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(runner.run(CancellationToken::new()));
        Self { agent, prompts, deletions, runner: handle, tasks, home }
    }

    pub async fn browser(&mut self) -> FakeBrowser {
        FakeBrowser::connect(&self.runner, &mut self.tasks).await
    }
}

impl World {
    /// The host is killed: nothing of it runs any more. The home stays.
    pub async fn killed(mut self) -> tempfile::TempDir {
        self.tasks.shutdown().await;
        self.home
    }
}
