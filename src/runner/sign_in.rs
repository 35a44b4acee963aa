//! Signing in: a terminal for it, and noticing that it happened.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::Runner;
use super::client::ClientId;
use super::replies::auth_status;
use crate::agent::{AgentBackend, AuthState, BackendStatus};
use crate::protocol::{AuthSignin, AuthStatus, Outbound};
use crate::terminal;

/// How often it is looked whether somebody signed in, while nobody is.
const LOOK: Duration = Duration::from_secs(1);
/// Two clicks on the button are one window.
const ONE_WINDOW: Duration = Duration::from_secs(5);

/// When a terminal was opened last.
#[derive(Debug, Clone, Default)]
pub(super) struct LastWindow(Arc<std::sync::Mutex<Option<Instant>>>);

impl LastWindow {
    /// Whether none was opened just now; then one is from now on.
    fn take(&self) -> bool {
        let mut last = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if last.is_some_and(|at| at.elapsed() < ONE_WINDOW) {
            return false;
        }
        *last = Some(Instant::now());
        true
    }
}

impl Runner {
    pub(super) fn on_auth_signin(&mut self, client: ClientId, request: AuthSignin) {
        let Some(state) = self.clients.get(&client) else { return };
        let (outbox, backend) = (state.outbox.clone(), Arc::clone(&self.backend));
        let window = self.last_window.clone();
        self.tasks.spawn(async move {
            // Whoever signed in elsewhere needs no terminal.
            let mut status = match backend.auth().await {
                Ok(auth) => auth_status(&auth),
                Err(error) => {
                    let detail = Some(error.to_string());
                    AuthStatus { state: "unknown".to_owned(), detail, request_id: None }
                }
            };
            if request.open != Some(false) && status.state == "unauth" {
                status.detail = Some(open_terminal(&window).await);
            }
            status.request_id = request.request_id;
            let _ = outbox.send(Outbound::AuthStatus(status));
        });
    }

    /// From now on a sign-in shows by itself.
    pub(super) fn notice_sign_ins(&mut self) {
        self.tasks.spawn(notice_sign_ins(Arc::clone(&self.backend), self.paths.signed_in()));
    }
}

/// What the person is told about it.
async fn open_terminal(window: &LastWindow) -> String {
    let opened = "A terminal window is open for the sign-in: follow what it says.".to_owned();
    let Ok(program) = std::env::current_exe() else {
        return "Run `browy login` in a terminal.".to_owned();
    };
    if !window.take() {
        return opened;
    }
    match terminal::open(program.as_os_str(), &["login", "--pause"]).await {
        Ok(()) => opened,
        Err(error) => format!("Here {error}. Run this in one: {} login", program.display()),
    }
}

/// Asks again who is signed in whenever `browy login` has left its mark while nobody was. Runs until it is dropped.
async fn notice_sign_ins(backend: Arc<dyn AgentBackend>, mark: PathBuf) {
    let nobody = |status: &BackendStatus| {
        matches!(
            status,
            BackendStatus::Ready { auth: AuthState::Unauthenticated { .. } | AuthState::Refused { .. }, .. }
        )
    };
    let mut status = backend.status();
    let mut seen = written(&mark).await;
    while status.wait_for(nobody).await.is_ok() {
        let now = written(&mark).await;
        if now != seen {
            seen = now;
            // The status tells every panel.
            if let Err(error) = backend.auth().await {
                tracing::warn!(%error, "nobody could say who signed in");
            }
        }
        tokio::time::sleep(LOOK).await;
    }
}

async fn written(mark: &PathBuf) -> Option<SystemTime> {
    tokio::fs::metadata(mark).await.ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn two_clicks_are_one_window() {
        let window = LastWindow::default();
        assert!(window.take());
        assert!(!window.clone().take());
        tokio::time::advance(ONE_WINDOW).await;
        assert!(window.take());
    }
}
