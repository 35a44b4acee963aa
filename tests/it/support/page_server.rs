//! A loopback web server for pages: a folder, and routes with delays, statuses and headers.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use serde::Deserialize;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// An address that does not come from the folder.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Route {
    /// For example `/slow`; the query does not count.
    pub path: String,
    /// How long the answer is held back.
    #[serde(default)]
    pub delay_ms: u64,
    /// 200 when absent.
    pub status: Option<u16>,
    #[serde(default)]
    pub headers: HashMap<String, String>,
    pub body: Option<String>,
    /// A file of the folder.
    pub body_file: Option<String>,
}

/// Serves until it is dropped.
pub struct PageServer {
    port: u16,
    site: Arc<Mutex<Site>>,
    _tasks: JoinSet<()>,
}

#[derive(Default)]
struct Site {
    folder: PathBuf,
    routes: Vec<Route>,
    port: u16,
    requests: Vec<String>,
}

impl PageServer {
    /// Serves `folder` on a free port of 127.0.0.1, and of ::1 where there is one (`localhost` may mean either).
    pub async fn start(folder: &Path) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let site = Site { folder: folder.to_owned(), port, ..Site::default() };
        let site = Arc::new(Mutex::new(site));
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::clone(&site)));
        if let Ok(listener) = TcpListener::bind(SocketAddr::from(([0, 0, 0, 0, 0, 0, 0, 1], port))).await {
            tasks.spawn(accept(listener, Arc::clone(&site)));
        }
        Self { port, site, _tasks: tasks }
    }

    /// Serves something else from now on.
    pub fn serve(&self, folder: &Path, routes: Vec<Route>) {
        let mut site = self.site.lock().unwrap();
        folder.clone_into(&mut site.folder);
        site.routes = routes;
        site.requests.clear();
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of a file of the folder.
    pub fn url(&self, file: &str) -> String {
        format!("http://127.0.0.1:{}/{file}", self.port)
    }

    /// What was asked for so far, as `GET /path?query`.
    pub fn requests(&self) -> Vec<String> {
        self.site.lock().unwrap().requests.clone()
    }

    /// Replaces `{{self}}`, `{{cross}}` and `{{port}}`.
    pub fn fill_in(&self, text: &str) -> String {
        fill_in(text, self.port)
    }
}

/// `{{self}}`: this site; `{{cross}}`: the same pages as another site; `{{port}}`: the port alone.
pub fn fill_in(text: &str, port: u16) -> String {
    text.replace("{{self}}", &format!("http://127.0.0.1:{port}"))
        .replace("{{cross}}", &format!("http://localhost:{port}"))
        .replace("{{port}}", &port.to_string())
}

async fn accept(listener: TcpListener, site: Arc<Mutex<Site>>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        connections.spawn(serve(stream, Arc::clone(&site)));
        while connections.try_join_next().is_some() {}
    }
}

async fn serve(stream: TcpStream, site: Arc<Mutex<Site>>) {
    let service = service_fn(move |request| answer(request, Arc::clone(&site)));
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(
    request: Request<Incoming>,
    site: Arc<Mutex<Site>>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let (folder, route, port) = {
        let mut site = site.lock().unwrap();
        site.requests.push(format!("{} {}", request.method(), request.uri()));
        let route = site.routes.iter().find(|route| route.path == path).cloned();
        (site.folder.clone(), route, site.port)
    };
    let Some(route) = route else { return Ok(file(&folder, &path, port)) };
    tokio::time::sleep(Duration::from_millis(route.delay_ms)).await;
    let mut response = match (&route.body, &route.body_file) {
        (Some(body), _) => Response::new(Full::from(fill_in(body, port))),
        (None, Some(name)) => file(&folder, name, port),
        (None, None) => Response::new(Full::default()),
    };
    if let Some(status) = route.status {
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    }
    for (name, value) in &route.headers {
        let value = fill_in(value, port);
        let (Ok(name), Ok(value)) =
            (name.parse::<hyper::header::HeaderName>(), value.parse::<hyper::header::HeaderValue>())
        else {
            continue;
        };
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

fn file(folder: &Path, path: &str, port: u16) -> Response<Full<Bytes>> {
    let relative = Path::new(path.trim_start_matches('/'));
    let inside = relative.components().all(|part| matches!(part, Component::Normal(_)));
    let bytes = if inside { std::fs::read(folder.join(relative)).ok() } else { None };
    let Some(bytes) = bytes else {
        let mut response = Response::new(Full::from("not found"));
        *response.status_mut() = StatusCode::NOT_FOUND;
        return response;
    };
    let kind = media_type(relative);
    let bytes = match std::str::from_utf8(&bytes) {
        Ok(text) if kind.contains("charset") => Bytes::from(fill_in(text, port)),
        _ => Bytes::from(bytes),
    };
    let mut response = Response::new(Full::from(bytes));
    response.headers_mut().insert(hyper::header::CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    response
}

fn media_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json; charset=utf-8",
        "txt" => "text/plain; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "svg" => "image/svg+xml; charset=utf-8",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "pdf" => "application/pdf",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        _ => "application/octet-stream",
    }
}
