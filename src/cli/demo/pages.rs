//! The two pages, served on loopback.

use std::sync::Arc;

use hyper::{Response, StatusCode};

use super::kind::Kind;
use super::scenario::Scenario;
use super::serve::{Body, Server, whole};
use super::{form, paper};

/// What the page server answers with.
pub struct Pages {
    paper: String,
    form: String,
    deposit: String,
}

impl Pages {
    /// Renders the pages. `take_back` names a field whose value the form silently removes again,
    /// so that tests can see the demo fail.
    pub fn new(scenario: &Scenario, take_back: Option<Kind>) -> Self {
        Self {
            paper: paper::render(scenario),
            form: form::render(scenario, take_back),
            deposit: form::render_deposit(scenario),
        }
    }

    /// Answers one request.
    pub fn answer(&self, path: &str) -> Response<Body> {
        let (status, body) = match path {
            "/paper" => (StatusCode::OK, self.paper.clone()),
            "/submit" => (StatusCode::OK, self.form.clone()),
            "/deposit" => (StatusCode::OK, self.deposit.clone()),
            _ => (StatusCode::NOT_FOUND, "No such page.".to_owned()),
        };
        whole(status, "text/html; charset=utf-8", body)
    }
}

/// Serves the pages of a scenario at `/paper` and `/submit`. `take_back` as in [`Pages::new`].
///
/// # Errors
/// When there is no port on loopback.
pub async fn serve(scenario: &Scenario, take_back: Option<Kind>) -> std::io::Result<Server> {
    let pages = Arc::new(Pages::new(scenario, take_back));
    Server::start(move |request| {
        let pages = Arc::clone(&pages);
        async move { pages.answer(request.uri().path()) }
    })
    .await
}

/// Text as HTML, in elements and in quoted attributes.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
