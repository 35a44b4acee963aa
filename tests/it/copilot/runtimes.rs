//! The light runtime is used when it is in order, and never waited for when it is not.

#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::time::Duration;

use browy::agent::Ending;
use browy::config::Config;

use crate::support::copilot::*;
use crate::support::model_server::ModelServer;

/// The programs of the marked processes.
fn programs(mark: &str) -> Vec<PathBuf> {
    let pids = marked_processes(mark);
    pids.iter().filter_map(|pid| std::fs::read_link(format!("/proc/{pid}/exe")).ok()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn light_runtime_of_the_same_version_is_used() {
    let home = Home::new().await;
    let (mark, env) = marked(home.env());
    let backend = home.start_in(env, Config::default());
    ready(&backend).await;
    let running = programs(&mark);
    assert!(running.iter().any(|program| program.ends_with("copilot-runtime")), "{running:?}");
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_light_runtime_gives_way_to_the_full_cli() {
    let other = r#"body='{"jsonrpc":"2.0","id":1,"result":{"ok":true,"protocolVersion":3,"version":"0.9.0"}}'
        printf 'Content-Length: %d\r\n\r\n%s' ${#body} "$body"; sleep 1000"#;
    let kinds =
        [("dies", "exit 1"), ("hangs", "sleep 1000"), ("other version", other), ("chatters", "yes hello")];
    for (kind, script) in kinds {
        let home = Home::full();
        // The program has a version beside it, so its light runtime is looked for in this home's cache;
        // the program itself uses the shared one.
        let cache = home.path().join("own-cache");
        let package = home.path().join("package");
        let shared = Home::full();
        let full = shared.env().path("COPILOT_CLI_PATH").unwrap();
        let shared_cache = shared.env().path("COPILOT_PKG_CACHE_HOME").unwrap();
        let start =
            format!("COPILOT_PKG_CACHE_HOME='{}' exec '{}' \"$@\"", shared_cache.display(), full.display());
        put_program(&package.join("copilot"), &start);
        let version = r#"{"name": "@github/copilot-test", "version": "1.2.3"}"#;
        std::fs::write(package.join("package.json"), version).unwrap();
        let light = cache.join("pkg").join(platform()).join("1.2.3/prebuilds").join(platform());
        put_program(&light.join("copilot-runtime"), script);
        std::fs::write(light.join("runtime.node"), "").unwrap();

        let home = home.with_cache(cache);
        let (mark, env) = marked(home.env().with("COPILOT_CLI_PATH", package.join("copilot")));
        let model = ModelServer::scripted([]).await;
        let backend = home.start_in(env, with_model(&model.url));
        let version = ready(&backend).await;
        assert_ne!(version, "0.9.0", "{kind}");
        let outcome = finish(backend.prompt(chat("sp-light", &[]), prompt("Go")).await.unwrap()).await;
        assert_eq!(outcome.ending, Ending::Done, "{kind}");
        backend.shutdown(Duration::from_secs(1)).await;
        gone(&mark).await;
    }
}
