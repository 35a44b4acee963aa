//! A small web server on loopback, for the pages and for the model.

use std::convert::Infallible;
use std::future::Future;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::header::{self, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// What is answered with.
pub type Body = BoxBody<Bytes, Infallible>;

/// Connections that are served at the same time; a browser opens six.
const CONNECTIONS: usize = 64;

/// A running server; dropping it ends it and its connections.
pub struct Server {
    address: SocketAddr,
    _tasks: JoinSet<()>,
}

impl Server {
    /// Serves on a free port of 127.0.0.1.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn start<H, F>(handler: H) -> std::io::Result<Self>
    where
        H: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, Arc::new(handler)));
        Ok(Self { address, _tasks: tasks })
    }

    /// `http://127.0.0.1:<port>`.
    pub fn base(&self) -> String {
        format!("http://{}", self.address)
    }
}

async fn accept<H, F>(listener: TcpListener, handler: Arc<H>)
where
    H: Fn(Request<Incoming>) -> F + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept(), if connections.len() < CONNECTIONS => {
                // A connection that is gone before it was accepted is nobody's loss.
                let Ok((stream, _)) = accepted else { continue };
                let handler = Arc::clone(&handler);
                connections.spawn(async move {
                    let service = service_fn(|request| {
                        let answer = handler(request);
                        async move { Ok::<_, Infallible>(answer.await) }
                    });
                    if let Err(error) =
                        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await
                    {
                        tracing::debug!(%error, "a connection to the demo's server ended early");
                    }
                });
            }
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
}

/// A response with a whole body.
pub fn whole(status: StatusCode, kind: &'static str, body: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Full::new(body.into()).boxed());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
