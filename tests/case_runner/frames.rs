//! Expressions in a page or in one of its frames, on the runner's own channel.

use std::time::Duration;

use browy::chromium::Page;
use serde_json::{Value, json};
use tokio::time::Instant;

/// The value of an expression in the page, or in the frame whose address contains `frame`.
///
/// # Errors
/// What the page threw, or that there is no such frame.
pub async fn evaluate(
    page: &Page,
    frame: Option<&str>,
    expression: &str,
    as_person: bool,
) -> Result<Value, String> {
    let Some(part) = frame else {
        let value = if as_person {
            page.evaluate_as_person(expression).await
        } else {
            page.evaluate(expression).await
        };
        return value.map_err(|error| error.to_string());
    };
    let browser = page.browser();
    let targets = browser.targets().await.map_err(|error| error.to_string())?;
    let frames = targets.iter().filter(|target| target.kind == "iframe").map(|target| target.id.as_str());
    for target in std::iter::once(page.target()).chain(frames) {
        // A channel of its own for this one question, so that nothing stays switched on.
        let Ok(channel) = browser.attach(target).await else { continue };
        let value = in_target(&channel, part, expression, as_person).await;
        let _ = channel.detach().await;
        if let Some(value) = value {
            return value;
        }
    }
    Err(format!("no frame's address contains {part:?}"))
}

/// `None`: the frame is not in this target.
async fn in_target(
    channel: &Page,
    part: &str,
    expression: &str,
    as_person: bool,
) -> Option<Result<Value, String>> {
    let tree = channel.send("Page.getFrameTree", json!({})).await.ok()?;
    let frame = find(&tree["frameTree"], part)?;
    let mut events = channel.browser().subscribe();
    channel.send("Runtime.enable", json!({})).await.ok()?;
    let end = Instant::now() + Duration::from_secs(5);
    let context = loop {
        let event = tokio::time::timeout_at(end, events.recv()).await.ok()??;
        let context = &event.params["context"];
        let data = &context["auxData"];
        if event.session.as_deref() == Some(channel.session())
            && event.method == "Runtime.executionContextCreated"
            && data["isDefault"] == true
            && data["frameId"] == *frame
        {
            break context["id"].clone();
        }
    };
    let params = json!({
        "expression": expression, "contextId": context, "awaitPromise": true, "returnByValue": true,
        "userGesture": as_person,
    });
    Some(match channel.send("Runtime.evaluate", params).await {
        Err(error) => Err(error.to_string()),
        Ok(answer) => match answer.get("exceptionDetails") {
            Some(thrown) => Err(format!("the frame threw: {}", thrown["exception"]["description"])),
            None => Ok(answer["result"]["value"].clone()),
        },
    })
}

/// The id of the first frame below whose address contains the part.
fn find(tree: &Value, part: &str) -> Option<String> {
    let frame = &tree["frame"];
    let address =
        format!("{}{}", frame["url"].as_str().unwrap_or(""), frame["urlFragment"].as_str().unwrap_or(""));
    if address.contains(part) {
        return frame["id"].as_str().map(str::to_owned);
    }
    tree["childFrames"].as_array()?.iter().find_map(|child| find(child, part))
}
