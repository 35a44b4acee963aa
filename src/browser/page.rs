//! Isolated worlds: where our page code runs, and calls into it.

use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::cdp::{CdpError, Target};
use super::extension_context::ExtensionContext;
use crate::page::{self, PageFunction};

/// How long one call into a page may take unless its caller says otherwise.
pub const PAGE_TIMEOUT: Duration = Duration::from_secs(5);

/// The name of our worlds as DevTools shows it.
pub(super) const WORLD_NAME: &str = "browy";

/// Why a call into a page has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The element left its document, or the document was replaced inside its frame.
    #[error("the element is no longer in the page")]
    ElementGone,
    /// The document that the call was meant for is gone (navigation, closed frame).
    #[error("the page navigated away")]
    WorldGone,
    /// The page function threw; its words.
    #[error("the page script failed: {0}")]
    Thrown(String),
    /// The command failed.
    #[error(transparent)]
    Cdp(CdpError),
    /// The page function answered something else than it promises.
    #[error("the page script answered nonsense: {0}")]
    Malformed(String),
}

impl From<CdpError> for PageError {
    fn from(error: CdpError) -> Self {
        if let CdpError::Refused(words) = &error
            && is_gone(words)
        {
            return Self::WorldGone;
        }
        Self::Cdp(error)
    }
}

/// What the browser says when a frame, context or object is no more.
fn is_gone(words: &str) -> bool {
    [
        "Cannot find context",
        "Could not find object",
        "Execution context was destroyed",
        "Inspected target navigated",
        "Promise was collected",
        "Argument should belong to the same JavaScript world",
        "Session with given id not found",
        "Not attached to an active page",
        "No frame for given id",
        "No frame with given id",
        "Frame with the given",
        "Target closed",
    ]
    .iter()
    .any(|known| words.contains(known))
}

/// Tells worlds apart for as long as the process lives: a document that was replaced has another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WorldId(pub(super) u64);

/// One isolated world with our library in it. Cheap to clone.
#[derive(Debug, Clone)]
pub struct World {
    /// Which one.
    pub id: WorldId,
    /// Where its commands go.
    pub target: Target,
    /// The frame whose document it belongs to (same-origin children are reached from it).
    pub frame: Arc<str>,
    pub(super) context_id: i64,
    registry: Arc<str>,
    main_document: Arc<OnceCell<Arc<str>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Envelope {
    Ok(Box<serde_json::value::RawValue>),
    Gone(serde::de::IgnoredAny),
}

impl World {
    /// Makes the world in `frame` and puts the library into it.
    ///
    /// # Errors
    /// See [`PageError`].
    pub(super) async fn create(
        context: &ExtensionContext,
        cancel: &CancellationToken,
        target: &Target,
        frame: &str,
        id: WorldId,
    ) -> Result<Self, PageError> {
        let send = |method, params| context.cdp_within(cancel, target, method, params, PAGE_TIMEOUT);
        let made = send(
            "Page.createIsolatedWorld",
            json!({ "frameId": frame, "worldName": WORLD_NAME, "grantUniveralAccess": false }),
        )
        .await?;
        let context_id = made
            .get("executionContextId")
            .and_then(Value::as_i64)
            .ok_or_else(|| PageError::Malformed("createIsolatedWorld gave no context".to_owned()))?;
        let (heard, evaluated) = futures::future::join(
            send("Runtime.addBinding", json!({ "name": page::TELL, "executionContextId": context_id })),
            send(
                "Runtime.evaluate",
                json!({ "contextId": context_id, "expression": page::LIBRARY, "silent": true }),
            ),
        )
        .await;
        if let Err(error) = heard {
            tracing::debug!(%error, "the print window will not be noticed");
        }
        let registry = object_id(&evaluated?)?;
        Ok(Self {
            id,
            target: target.clone(),
            frame: frame.into(),
            context_id,
            registry,
            main_document: Arc::default(),
        })
    }

    /// Calls a page function. Arguments travel as data; `{"objectId": …}` arguments may be given by `objects`.
    ///
    /// # Errors
    /// See [`PageError`].
    pub async fn call<T: DeserializeOwned>(
        &self,
        context: &ExtensionContext,
        cancel: &CancellationToken,
        function: PageFunction,
        args: &[Value],
    ) -> Result<T, PageError> {
        self.call_with(context, cancel, function, args, &[], PAGE_TIMEOUT).await
    }

    /// [`call`](Self::call) with page objects as further arguments and a deadline of its own.
    ///
    /// # Errors
    /// See [`PageError`].
    pub async fn call_with<T: DeserializeOwned>(
        &self,
        context: &ExtensionContext,
        cancel: &CancellationToken,
        function: PageFunction,
        args: &[Value],
        objects: &[Arc<str>],
        within: Duration,
    ) -> Result<T, PageError> {
        let mut arguments = vec![json!({ "value": function.name() })];
        arguments.extend(args.iter().map(|arg| json!({ "value": arg })));
        arguments.extend(objects.iter().map(|object| json!({ "objectId": &**object })));
        let answer = context
            .cdp_within(
                cancel,
                &self.target,
                "Runtime.callFunctionOn",
                json!({
                    "objectId": &*self.registry,
                    "functionDeclaration": page::CALL,
                    "arguments": arguments,
                    "returnByValue": true,
                    "awaitPromise": true,
                    "silent": true,
                }),
                within,
            )
            .await?;
        thrown(&answer)?;
        let Some(text) = answer.pointer("/result/value").and_then(Value::as_str) else {
            return Err(PageError::Malformed("no text".to_owned()));
        };
        let malformed = |error: serde_json::Error| PageError::Malformed(error.to_string());
        match serde_json::from_str::<Envelope>(text).map_err(malformed)? {
            Envelope::Gone(_) => Err(PageError::ElementGone),
            Envelope::Ok(value) => serde_json::from_str(value.get()).map_err(malformed),
        }
    }

    /// The document as an object of the page's own world. Nothing is called on it; it is what
    /// `DOMDebugger.getEventListeners` must be asked with: asked with the document of an isolated world,
    /// Chromium 156 now and then wraps a node for that world with the page's prototypes, and every DOM getter
    /// of the world then refuses the node as an "illegal invocation".
    pub(super) async fn main_document(
        &self,
        context: &ExtensionContext,
        cancel: &CancellationToken,
    ) -> Result<Arc<str>, PageError> {
        let send = |method, params| context.cdp_within(cancel, &self.target, method, params, PAGE_TIMEOUT);
        let find = || async {
            let own = self.object(context, cancel, 0).await?;
            let node = send("DOM.describeNode", json!({ "objectId": &*own, "depth": 0 })).await?;
            let id = node.pointer("/node/backendNodeId").and_then(Value::as_i64);
            let answer = send("DOM.resolveNode", json!({ "backendNodeId": id })).await?;
            answer
                .pointer("/object/objectId")
                .and_then(Value::as_str)
                .map(Arc::from)
                .ok_or_else(|| PageError::Malformed("no document".to_owned()))
        };
        self.main_document.get_or_try_init(find).await.cloned()
    }

    /// The object behind a slot, for DevTools commands that want one. Lives until the document goes.
    ///
    /// # Errors
    /// See [`PageError`].
    pub async fn object(
        &self,
        context: &ExtensionContext,
        cancel: &CancellationToken,
        slot: u32,
    ) -> Result<Arc<str>, PageError> {
        let answer = context
            .cdp_within(
                cancel,
                &self.target,
                "Runtime.callFunctionOn",
                json!({
                    "objectId": &*self.registry,
                    "functionDeclaration": page::ELEMENT,
                    "arguments": [{ "value": slot }],
                    "silent": true,
                }),
                PAGE_TIMEOUT,
            )
            .await?;
        match object_id(&answer) {
            Err(PageError::Malformed(_)) => Err(PageError::ElementGone),
            other => other,
        }
    }
}

fn thrown(answer: &Value) -> Result<(), PageError> {
    let Some(details) = answer.get("exceptionDetails") else { return Ok(()) };
    let words = details
        .pointer("/exception/description")
        .or_else(|| details.get("text"))
        .and_then(Value::as_str)
        .unwrap_or("no reason given");
    Err(PageError::Thrown(words.chars().take(300).collect()))
}

fn object_id(answer: &Value) -> Result<Arc<str>, PageError> {
    thrown(answer)?;
    answer
        .pointer("/result/objectId")
        .and_then(Value::as_str)
        .map(Into::into)
        .ok_or_else(|| PageError::Malformed("no object".to_owned()))
}
