//! Tools that the model gets in the midst of a turn.

use std::time::Duration;

use browy::agent::{AgentEvent, Ending};
use serde_json::json;

use crate::support::copilot::*;
use crate::support::model_server::{ModelServer, Step, offered, said};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn revealed_tools_can_be_called_in_the_same_turn_and_others_stay_out() {
    for home in [Home::full(), Home::new().await] {
        let model = ModelServer::scripted([
            Step::call("hidden", json!({ "x": "too early" })),
            Step::call("more", json!({})),
            Step::call("hidden", json!({ "x": "1" })).and_call("bash", json!({ "command": "true" })),
            Step::text("Both."),
            Step::text("Still there."),
        ])
        .await;
        let backend = home.start(with_model(&model.url));
        let mut turn = backend.prompt(chat("sp-more", &["more"]), prompt("Go")).await.unwrap();
        // The call that came too early is the CLI's to refuse.
        let (id, name, _) = tool_call(&mut turn).await;
        assert_eq!(name, "more");
        assert_eq!(offered(&model.last()), ["more"]);
        assert!(turn.control.offer(vec![tool("more"), tool("hidden")]).await, "the CLI takes it");
        turn.control.answer(&id, done("revealed: hidden")).await;
        let (id, name, args) = tool_call(&mut turn).await;
        assert_eq!((name.as_str(), &args), ("hidden", &json!({ "x": "1" })));
        assert_eq!(offered(&model.last()), ["more", "hidden"], "in the same turn");
        turn.control.answer(&id, done("hidden did it")).await;
        let outcome = finish(turn).await;
        assert_eq!(outcome.ending, Ending::Done, "{outcome:?}");
        assert!(!outcome.events.iter().any(|event| matches!(event, AgentEvent::ToolCall { .. })));
        let results = said(&model.last(), "tool");
        assert!(results[0].contains("does not exist"), "{results:?}");
        assert!(results.contains(&"hidden did it".to_owned()), "{results:?}");
        assert!(results.iter().any(|text| text.contains("'bash' does not exist")), "{results:?}");

        // What was revealed stays when the next prompt names it, and goes when it does not.
        finish(backend.prompt(chat("sp-more", &["more", "hidden"]), prompt("Again")).await.unwrap()).await;
        assert_eq!(offered(&model.last()), ["more", "hidden"]);
        finish(backend.prompt(chat("sp-more", &["more"]), prompt("Again")).await.unwrap()).await;
        assert_eq!(offered(&model.last()), ["more"]);
        backend.shutdown(Duration::from_secs(1)).await;
    }
}
