//! The Copilot backend on the real CLI, with a scripted model on loopback.

use browy::agent::Ending;
use serde_json::json;

use crate::support::copilot::*;
use crate::support::model_server::{ModelServer, Step, offered, said};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn prompt_streams_calls_a_tool_and_ends() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::scripted([
            Step::text("Calling. ").and_call("look", json!({"x": "1"})),
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
        let request = model.last();
        assert_eq!(said(&request, "system"), ["You are Browy. Answer briefly."]);
        assert_eq!(said(&request, "tool"), ["done"]);
        assert_eq!(offered(&request), ["look"]);
        backend.shutdown(std::time::Duration::from_secs(1)).await;
    }
}
