//! Prompts, pieces, tools, pictures.

use std::sync::Arc;
use std::time::Duration;

use browy::agent::{AgentError, AgentEvent, Ending, ImageData, ToolReply};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::copilot::*;
use crate::support::dice::count;
use crate::support::model_server::{ModelServer, Step, offered, said};

/// One white pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEANl9ngAAAAABJRU5ErkJggg==";

fn pixel() -> ImageData {
    ImageData { mime_type: "image/png".into(), base64: PNG.into() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prompt_streams_calls_a_tool_and_ends() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::scripted([
            Step::text("Calling. ").thinking("Hm.").and_call("look", json!({"x": "1"})),
            Step::text("It says done."),
        ])
        .await;
        let backend = home.start(with_model(&model.url));
        let turn = backend.prompt(chat("sp-first", &["look"]), prompt("Look at it")).await.unwrap();
        let outcome = finish(turn).await;
        assert_eq!(outcome.ending, Ending::Done, "{outcome:?}");
        assert_eq!(outcome.deltas.concat(), "Calling. It says done.");
        assert!(outcome.deltas.len() > 2, "{:?}", outcome.deltas);
        assert_eq!(outcome.messages, ["Calling. ", "It says done."]);
        let thought = |event: &AgentEvent| matches!(event, AgentEvent::Reasoning { text } if text == "Hm.");
        assert!(outcome.events.iter().any(thought), "{outcome:?}");
        let usage = outcome.events.iter().rev().find_map(|event| match event {
            AgentEvent::Usage(usage) => Some(*usage),
            _ => None,
        });
        let usage = usage.expect("tokens are counted");
        assert_eq!((usage.input_tokens, usage.output_tokens), (200, 20), "of both model calls");
        assert!(usage.context_limit.is_some());
        assert_eq!(said(&model.last(), "tool"), ["done"]);
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn system_message_arrives_byte_for_byte_and_alone() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::scripted([]).await;
        let backend = home.start(with_model(&model.url));
        let mut chat = chat("sp-system", &["look"]);
        chat.system_message =
            "  You are \"Browy\".\r\n\n<tag attr='x'> {{no}} \\n \t \u{1F600} \u{200B} é ${x} `y`\n ".into();
        let wanted = chat.system_message.clone();
        finish(backend.prompt(chat, prompt("Hello")).await.unwrap()).await;
        let request = model.last();
        assert_eq!(said(&request, "system"), [wanted]);
        assert_eq!(request["messages"].as_array().unwrap().len(), 2, "{request}");
        // The CLI puts the time in front of the words, and nothing else.
        let user = said(&request, "user").remove(0);
        let (before, words) = user.split_once("</current_datetime>\n\n").expect("the time comes first");
        assert!(before.starts_with("<current_datetime>") && before.len() < 60, "{user}");
        assert_eq!(words, "Hello");
        assert_eq!(offered(&request), ["look"]);
        let tool = &request["tools"][0]["function"];
        assert_eq!(tool["description"], "Does look.");
        assert_eq!(tool["parameters"]["properties"]["x"]["type"], "string");
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_pieces_arrive_exact() {
    let pieces = u32::try_from(count("BROWY_PIECES", 4_000)).unwrap();
    for home in [Home::full(), Home::new().await] {
        let text: String =
            (0..pieces).map(|n| char::from(b'a' + u8::try_from(n * 7 % 26).unwrap())).collect();
        let model = ModelServer::scripted([Step::text(&text).chunk(1)]).await;
        let backend = home.start(with_model(&model.url));
        let outcome = finish(backend.prompt(chat("sp-many", &[]), prompt("Go")).await.unwrap()).await;
        assert_eq!(outcome.ending, Ending::Done);
        let shown = outcome.deltas.concat();
        let differs = shown.bytes().zip(text.bytes()).position(|(a, b)| a != b);
        let near = |text: &str, at: usize| text[at.saturating_sub(5)..(at + 20).min(text.len())].to_owned();
        assert!(
            shown == text,
            "{} of {pieces}; at {differs:?}: {:?}",
            shown.len(),
            differs.map(|at| (near(&shown, at), near(&text, at)))
        );
        assert_eq!(outcome.messages, [text]);
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn first_piece_is_shown_while_the_model_still_speaks() {
    let home = Home::new().await;
    let gate = Arc::new(Notify::new());
    let model = ModelServer::scripted([Step::text("first second").chunk(6).gated(&gate)]).await;
    let backend = home.start(with_model(&model.url));
    let mut turn = backend.prompt(chat("sp-gate", &[]), prompt("Go")).await.unwrap();
    let first = until(&mut turn, |event| match event {
        AgentEvent::TextDelta { text, .. } => Some(text.clone()),
        _ => None,
    })
    .await;
    assert_eq!(first, "first ");
    gate.notify_one();
    assert_eq!(finish(turn).await.deltas, ["second"]);
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parallel_calls_are_open_together_and_answered_in_any_order() {
    let home = Home::new().await;
    let model = ModelServer::scripted([Step::call("look", json!({"x": "1"}))
        .and_call("look", json!({"x": "2"}))
        .and_call("touch", json!({}))])
    .await;
    let backend = home.start(with_model(&model.url));
    let mut turn = backend.prompt(chat("sp-par", &["look", "touch"]), prompt("Go")).await.unwrap();
    let mut calls = Vec::new();
    for _ in 0..3 {
        calls.push(tool_call(&mut turn).await);
    }
    for (id, name, args) in calls.iter().rev() {
        turn.control.answer(id, done(format!("{name} {}", args["x"]))).await;
    }
    assert_eq!(finish(turn).await.ending, Ending::Done);
    assert_eq!(said(&model.last(), "tool"), ["look \"1\"", "look \"2\"", "touch null"]);
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_result_reaches_the_model_whole() {
    let home = Home::new().await;
    let model = ModelServer::scripted([Step::call("look", json!({}))]).await;
    let backend = home.start(with_model(&model.url));
    let page: String = (0..6000).map(|n| format!("[{n:06}]\n\u{e9}")).collect::<String>();
    assert!(page.len() > 60_000);
    let turn = backend.prompt(chat("sp-large", &["look"]), prompt("Go")).await.unwrap();
    let outcome = finish_with(turn, |_, _| done(page.clone())).await;
    assert_eq!(outcome.ending, Ending::Done);
    assert!(said(&model.last(), "tool") == [page]);
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failed_result_tells_the_model_why() {
    let home = Home::new().await;
    let model = ModelServer::scripted([Step::call("look", json!({}))]).await;
    let backend = home.start(with_model(&model.url));
    let turn = backend.prompt(chat("sp-fail", &["look"]), prompt("Go")).await.unwrap();
    let reply = ToolReply { text: "stale: inspect again".into(), ok: false, images: Vec::new() };
    finish_with(turn, |_, _| reply.clone()).await;
    let told = said(&model.last(), "tool").remove(0);
    assert!(told.contains("stale: inspect again"), "{told}");
    backend.shutdown(Duration::from_secs(1)).await;
}

/// The data URLs of all pictures in a request.
fn pictures(request: &Value) -> Vec<String> {
    let messages = request["messages"].as_array().unwrap();
    let parts = messages.iter().filter_map(|message| message["content"].as_array()).flatten();
    parts.filter_map(|part| part["image_url"]["url"].as_str().map(str::to_owned)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pictures_of_tools_and_prompts_reach_the_model() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::scripted([Step::call("shot", json!({}))]).await;
        let backend = home.start(with_model(&model.url));
        let turn = backend.prompt(chat("sp-pic", &["shot"]), prompt("Go")).await.unwrap();
        let reply = ToolReply { text: "a picture".into(), ok: true, images: vec![pixel()] };
        finish_with(turn, |_, _| reply.clone()).await;
        let wanted = format!("data:image/png;base64,{PNG}");
        assert_eq!(pictures(&model.last()), std::slice::from_ref(&wanted));
        let mut with_picture = prompt("And this?");
        with_picture.images.push(pixel());
        // The person sent it without words.
        with_picture.display.clear();
        finish(backend.prompt(chat("sp-pic2", &["shot"]), with_picture).await.unwrap()).await;
        assert_eq!(pictures(&model.last()), [wanted]);
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_in_the_middle_of_the_text_ends_the_turn_and_the_next_one_works() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::scripted([Step::text("partial text").hang()]).await;
        let backend = home.start(with_model(&model.url));
        let mut turn = backend.prompt(chat("sp-stop", &[]), prompt("Go")).await.unwrap();
        until(&mut turn, |event| matches!(event, AgentEvent::TextDelta { .. }).then_some(())).await;
        turn.control.abort();
        assert_eq!(finish(turn).await.ending, Ending::Aborted);
        let outcome = finish(backend.prompt(chat("sp-stop", &[]), prompt("Again")).await.unwrap()).await;
        assert_eq!((outcome.ending, outcome.deltas.concat()), (Ending::Done, "ok".to_owned()));
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_during_a_tool_call_withdraws_it_and_leaves_a_valid_chat() {
    let home = Home::new().await;
    let model = ModelServer::scripted([Step::call("look", json!({}))]).await;
    let backend = home.start(with_model(&model.url));
    let mut turn = backend.prompt(chat("sp-stop2", &["look"]), prompt("Go")).await.unwrap();
    let (id, ..) = tool_call(&mut turn).await;
    turn.control.abort();
    let outcome = finish(turn).await;
    assert_eq!(outcome.ending, Ending::Aborted);
    assert!(outcome.events.contains(&AgentEvent::ToolCallWithdrawn { id }), "{outcome:?}");
    let outcome = finish(backend.prompt(chat("sp-stop2", &["look"]), prompt("Again")).await.unwrap()).await;
    assert_eq!(outcome.ending, Ending::Done);
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_right_after_the_prompt_stops_it_for_good() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::responding(|request| {
            let asked = said(request, "user").pop().unwrap_or_default();
            if asked.ends_with("Again") { Step::text("second") } else { Step::text("never").hang() }
        })
        .await;
        let backend = home.start(with_model(&model.url));
        let turn = backend.prompt(chat("sp-early", &[]), prompt("Go")).await.unwrap();
        turn.control.abort();
        assert_eq!(finish(turn).await.ending, Ending::Aborted);
        // Were the first turn still going on, this one would wait behind it for ever.
        let outcome = finish(backend.prompt(chat("sp-early", &[]), prompt("Again")).await.unwrap()).await;
        assert_eq!(outcome.ending, Ending::Done, "{outcome:?}");
        assert_eq!(outcome.messages, ["second"]);
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dropped_model_stream_is_retried_and_the_first_pieces_are_void() {
    let home = Home::new().await;
    let gate = Arc::new(Notify::new());
    let cut = Step::text("first try, cut in the middle").gated(&gate).drop_midway();
    let model = ModelServer::scripted([cut, Step::text("second try")]).await;
    let backend = home.start(with_model(&model.url));
    let mut turn = backend.prompt(chat("sp-retry", &[]), prompt("Go")).await.unwrap();
    until(&mut turn, |event| matches!(event, AgentEvent::TextDelta { .. }).then_some(())).await;
    gate.notify_one();
    let outcome = finish(turn).await;
    assert_eq!(outcome.ending, Ending::Done, "{outcome:?}");
    assert_eq!(outcome.messages, ["second try"]);
    let at = |wanted: fn(&AgentEvent) -> bool| outcome.events.iter().position(wanted);
    let discard =
        at(|event| matches!(event, AgentEvent::Discard { .. })).unwrap_or_else(|| panic!("{outcome:?}"));
    let retry = at(|event| matches!(event, AgentEvent::Retry { .. })).expect("the retry is told");
    assert!(discard < retry);
    let after: String = outcome.events[retry..]
        .iter()
        .filter_map(|event| match event {
            AgentEvent::TextDelta { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(after, "second try");
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn failures_of_the_model_service_are_told_apart() {
    let home = Home::new().await;
    let model = ModelServer::scripted([]).await;
    let backend = home.start(with_model(&model.url));
    for (index, (status, tries)) in [(401, 3), (402, 1), (403, 1), (404, 1), (400, 1)].into_iter().enumerate()
    {
        model.then(std::iter::repeat_n(Step::status(status, "because 500 or 401"), tries));
        let chat = chat(&format!("sp-status{index}"), &[]);
        let Ending::Failed(error) = finish(backend.prompt(chat, prompt("Go")).await.unwrap()).await.ending
        else {
            panic!("{status} is no success");
        };
        let as_wanted = match status {
            401 | 403 => matches!(error, AgentError::Auth(_)),
            402 => matches!(error, AgentError::Quota(_)),
            _ => matches!(error, AgentError::Model(_)),
        };
        assert!(as_wanted, "{status}: {error:?}");
        assert!(error.to_string().contains("127.0.0.1"), "{error}");
    }
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn model_that_cannot_be_reached_is_offline() {
    let home = Home::new().await;
    // Nobody listens on the discard port.
    let backend = home.start(with_model("http://127.0.0.1:9/v1"));
    let outcome = finish(backend.prompt(chat("sp-off", &[]), prompt("Go")).await.unwrap()).await;
    assert!(matches!(outcome.ending, Ending::Failed(AgentError::Offline(_))), "{outcome:?}");
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_chats_at_once_get_their_own_answers() {
    let home = Home::new().await;
    let model = ModelServer::responding(|request| {
        let asked = said(request, "user").pop().unwrap_or_default();
        Step::text(format!("answer to {}", asked.rsplit('\n').next().unwrap_or_default())).chunk(1)
    })
    .await;
    let backend = home.start(with_model(&model.url));
    let one = async { finish(backend.prompt(chat("sp-a", &[]), prompt("one")).await.unwrap()).await };
    let two = async { finish(backend.prompt(chat("dt-b", &[]), prompt("two")).await.unwrap()).await };
    let (one, two) = tokio::join!(one, two);
    assert_eq!((one.deltas.concat(), two.deltas.concat()), ("answer to one".into(), "answer to two".into()));
    backend.shutdown(Duration::from_secs(1)).await;
}
