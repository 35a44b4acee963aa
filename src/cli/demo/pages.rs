//! The two pages, served on loopback.

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, Response, StatusCode, header};

use super::kind::Kind;
use super::scenario::Scenario;
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
    pub fn answer<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let (status, body) = match request.uri().path() {
            "/paper" => (StatusCode::OK, self.paper.as_str()),
            "/submit" => (StatusCode::OK, self.form.as_str()),
            "/deposit" => (StatusCode::OK, self.deposit.as_str()),
            _ => (StatusCode::NOT_FOUND, "No such page."),
        };
        let mut response = Response::new(Full::new(Bytes::copy_from_slice(body.as_bytes())));
        *response.status_mut() = status;
        response
            .headers_mut()
            .insert(header::CONTENT_TYPE, header::HeaderValue::from_static("text/html; charset=utf-8"));
        response.headers_mut().insert(header::CACHE_CONTROL, header::HeaderValue::from_static("no-store"));
        response
    }
}

/// Text as HTML, in elements and in quoted attributes.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
