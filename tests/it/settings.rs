//! Model and provider: set from a panel or in the file, valid from the next prompt on, never guessed.

use std::path::Path;
use std::time::{Duration, SystemTime};

use browy::agent::AgentError;
use browy::protocol::{ErrorCode, Outbound, ProviderResult};
use serde_json::{Value, json};

use crate::support::fake_panel::FakeBrowser;
use crate::support::world::World;

async fn provider(browser: &mut FakeBrowser, request: Value) -> ProviderResult {
    browser.send(request);
    let answer = browser
        .until(|message| {
            matches!(
                message,
                Outbound::ProviderGetResult(_)
                    | Outbound::ProviderSetResult(_)
                    | Outbound::ProviderTestResult(_)
            )
        })
        .await;
    let (Outbound::ProviderGetResult(result)
    | Outbound::ProviderSetResult(result)
    | Outbound::ProviderTestResult(result)) = answer
    else {
        unreachable!()
    };
    assert_eq!(result.request_id.as_deref(), Some("r"));
    result
}

fn set(fields: Value) -> Value {
    let mut message = json!({ "type": "provider.set", "requestId": "r" });
    message.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    message
}

/// Writes the settings file as an editor would, some time later.
fn edit(world: &World, text: &str, later: u64) {
    let path = world.home.path().join(".browy/config.toml");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    let file = std::fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(later)).unwrap();
}

#[tokio::test(start_paused = true)]
async fn provider_is_set_kept_and_never_told_with_its_key() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    let get = json!({ "type": "provider.get", "requestId": "r" });
    assert_eq!(provider(&mut browser, get.clone()).await.kind, "copilot");
    let refused =
        provider(&mut browser, set(json!({ "kind": "openai", "baseUrl": "localhost", "model": "m" }))).await;
    assert!(!refused.ok && refused.error.unwrap().contains("base_url") && refused.kind == "copilot");
    let wanted = set(json!({
        "kind": "openai", "baseUrl": "http://127.0.0.1:1/v1", "model": "local", "apiKey": "secret-key",
    }));
    let done = provider(&mut browser, wanted).await;
    assert!(done.ok && done.has_key, "{done:?}");
    let told = provider(&mut browser, get.clone()).await;
    assert_eq!((told.kind.as_str(), told.model.as_deref()), ("openai", Some("local")));
    let config = world.agent.config.borrow().clone();
    assert_eq!(config.provider.unwrap().api_key.as_deref(), Some("secret-key"));
    let file = std::fs::read_to_string(world.home.path().join(".browy/config.toml")).unwrap();
    assert!(file.contains("secret-key"), "{file}");
    let everything = serde_json::to_string(&browser.rest().await).unwrap();
    assert!(!everything.contains("secret-key"), "{everything}");
    assert!(provider(&mut browser, set(json!({ "kind": "copilot" }))).await.ok);
    assert_eq!(world.agent.config.borrow().provider, None);
}

#[tokio::test(start_paused = true)]
async fn cli_that_does_not_start_is_told_and_a_mended_path_is_taken_up_by_itself() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    world.agent.fails_to_start(AgentError::CliMissing("/wrong: not there".to_owned()));
    let told = browser.until(|message| matches!(message, Outbound::SdkReady(ready) if !ready.ok)).await;
    assert!(
        matches!(&told, Outbound::SdkReady(ready) if ready.detail.as_ref().unwrap().contains("/wrong")),
        "{told:?}"
    );
    edit(&world, "cli_path = '/right'\n", 10);
    let mut config = world.agent.config.subscribe();
    let mended = config.wait_for(|config| config.cli_path.as_deref() == Some(Path::new("/right")));
    assert!(tokio::time::timeout(Duration::from_secs(2), mended).await.is_ok());
}

#[tokio::test(start_paused = true)]
async fn test_call_asks_the_model_and_leaves_no_chat() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    let test = json!({ "type": "provider.test", "requestId": "r" });
    browser.send(test.clone());
    let turn = world.prompts.next().await;
    assert!(turn.chat.tools.is_empty() && turn.chat.id.starts_with("test-"));
    let id = turn.chat.id.clone();
    turn.ends().await;
    let answer = browser.until(|message| matches!(message, Outbound::ProviderTestResult(_))).await;
    assert!(matches!(answer, Outbound::ProviderTestResult(result) if result.ok));
    assert_eq!(world.deletions.recv().await, Some(id));
    // A model that never answers is told, and its chat goes too.
    browser.send(test);
    let silent = world.prompts.next().await;
    let answer = browser.until(|message| matches!(message, Outbound::ProviderTestResult(_))).await;
    assert!(
        matches!(answer, Outbound::ProviderTestResult(result) if result.error.as_ref().unwrap().contains("60 s"))
    );
    assert_eq!(world.deletions.recv().await, Some(silent.chat.id.clone()));
}

#[tokio::test(start_paused = true)]
async fn model_that_is_no_longer_offered_is_replaced_and_that_is_said() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    browser.until(|message| matches!(message, Outbound::ModelsList(_))).await;
    for (model, used) in [("fake-1", Some("fake-1")), ("gone-7", None)] {
        browser.send(json!({ "type": "session.start", "sessionId": "sp-1", "model": model }));
        browser.prompts("sp-1", model, "hello");
        let turn = world.prompts.next().await;
        assert_eq!(turn.chat.model.as_deref(), used);
        if used.is_none() {
            let said = browser
                .until(|message| matches!(message, Outbound::EventActivity(told) if told.event == "status.model"))
                .await;
            assert!(
                matches!(said, Outbound::EventActivity(told) if told.text.as_ref().unwrap().contains("gone-7"))
            );
        }
        turn.says("m", "done").await;
        turn.ends().await;
        browser.ending("sp-1").await;
    }
}

#[tokio::test(start_paused = true)]
async fn edited_file_holds_from_the_next_prompt_on_and_a_broken_one_stops_it() {
    let mut world = World::new();
    let mut browser = world.browser().await;
    browser.open_panel("sp-1").await;
    edit(&world, "model = 'fake-1'\n", 10);
    browser.prompts("sp-1", "t1", "hello");
    let turn = world.prompts.next().await;
    assert_eq!(turn.chat.model.as_deref(), Some("fake-1"));
    turn.says("m", "done").await;
    turn.ends().await;
    browser.ending("sp-1").await;

    let broken = "[providers]\nbase_url = 'http://127.0.0.1:1/v1'\nmodel = 'x'\n";
    edit(&world, broken, 20);
    browser.prompts("sp-1", "t2", "private words");
    let ending = browser.ending("sp-1").await;
    let Outbound::ChatError(error) = ending else { panic!("{ending:?}") };
    assert_eq!(error.code, ErrorCode::NotReady);
    assert!(
        error.message.contains("config.toml") && error.message.contains("providers"),
        "{}",
        error.message
    );
    assert!(!world.prompts.waiting());
    // Choosing a model does not replace what the person wrote.
    browser.send(json!({ "type": "models.set", "id": "fake-1", "requestId": "m" }));
    let answer = browser.until(|message| matches!(message, Outbound::ChatError(_))).await;
    assert!(matches!(answer, Outbound::ChatError(error) if error.request_id.as_deref() == Some("m")));
    let file = std::fs::read_to_string(world.home.path().join(".browy/config.toml")).unwrap();
    assert_eq!(file, broken);

    edit(&world, "[provider]\nbase_url = 'http://127.0.0.1:1/v1'\nmodel = 'x'\n", 30);
    browser.prompts("sp-1", "t3", "again");
    world.prompts.next().await;
    assert_eq!(world.agent.config.borrow().provider.as_ref().unwrap().model, "x");
}
