//! What the CLI must not do: run its own tools, read the person's instructions, start their servers.

use std::collections::BTreeSet;
use std::time::Duration;

use browy::agent::{AgentEvent, Ending};
use browy::runner::cli_tools::CLI_TOOLS;
use serde_json::{Value, json};

use crate::support::copilot::*;
use crate::support::model_server::{ModelServer, Step, offered, said};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tool_that_is_not_on_the_list_is_refused() {
    for home in [Home::full(), Home::new().await] {
        let marker = home.path().join("made-by-bash");
        let model = ModelServer::scripted([Step::call(
            "bash",
            json!({"command": format!("touch {}", marker.display()), "description": "x"}),
        )
        .and_call("view", json!({"path": "/etc/hostname"}))])
        .await;
        let backend = home.start(with_model(&model.url));
        let outcome = finish(backend.prompt(chat("sp-bash", &["look"]), prompt("Go")).await.unwrap()).await;
        assert_eq!(outcome.ending, Ending::Done);
        let asked =
            |event: &AgentEvent| matches!(event, AgentEvent::Permission { .. } | AgentEvent::ToolCall { .. });
        assert!(!outcome.events.iter().any(asked), "{outcome:?}");
        let request = model.last();
        assert!(said(&request, "tool").iter().all(|text| text.contains("does not exist")), "{request}");
        assert_eq!(offered(&request), ["look"]);
        assert!(!marker.exists());
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

/// Asks the real CLI for the names of all its tools.
fn tools_of_the_cli() -> BTreeSet<String> {
    use std::io::{BufRead, BufReader, Read, Write};
    let platform = cli_package().parent().unwrap().join(format!("copilot-{}", platform()));
    let home = tempfile::tempdir().unwrap();
    let mut cli = std::process::Command::new(platform.join("copilot"))
        .args(["--server", "--stdio", "--no-auto-update"])
        .env_clear()
        .envs(["HOME", "COPILOT_HOME", "TMPDIR"].map(|name| (name, home.path())))
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("COPILOT_PKG_CACHE_HOME", Home::full().cache())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (cli.stdin.take().unwrap(), BufReader::new(cli.stdout.take().unwrap()));
    for (id, method, params) in
        [(1, "connect", json!({"supportedTaskKinds": []})), (2, "tools.list", json!({}))]
    {
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        write!(input, "Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    }
    let listed = loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "the CLI ended");
            match line.trim().strip_prefix("Content-Length: ") {
                Some(bytes) => length = bytes.parse().unwrap(),
                None if line.trim().is_empty() => break,
                None => {}
            }
        }
        let mut body = vec![0; length];
        output.read_exact(&mut body).unwrap();
        let message: Value = serde_json::from_slice(&body).unwrap();
        if message["id"] == 2 {
            break message;
        }
    };
    drop(input);
    cli.wait().unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn every_tool_of_the_cli_is_in_the_table() {
    let table: BTreeSet<String> = CLI_TOOLS.iter().map(|tool| tool.name.to_owned()).collect();
    let real = tools_of_the_cli();
    assert!(real.len() > 10 && real.is_subset(&table), "not in the table: {:?}", real.difference(&table));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_tools_means_no_tools() {
    let home = Home::new().await;
    let model = ModelServer::scripted([]).await;
    let backend = home.start(with_model(&model.url));
    finish(backend.prompt(chat("sp-none", &[]), prompt("Go")).await.unwrap()).await;
    assert_eq!(offered(&model.last()), [""; 0]);
    backend.shutdown(Duration::from_secs(1)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn own_tools_may_be_named_like_those_of_the_cli() {
    let home = Home::new().await;
    let model = ModelServer::scripted([Step::call("bash", json!({"x": "1"}))]).await;
    let backend = home.start(with_model(&model.url));
    let turn = backend.prompt(chat("sp-name", &["bash", "view"]), prompt("Go")).await.unwrap();
    finish_with(turn, |name, _| done(format!("ours: {name}"))).await;
    let request = model.last();
    assert_eq!(said(&request, "tool"), ["ours: bash"]);
    assert_eq!(request["tools"][0]["function"]["description"], "Does bash.");
    assert_eq!(offered(&request).len(), 2);
    backend.shutdown(Duration::from_secs(1)).await;
}

/// Browy's own file tools and run_script: on, a call comes to us; off, neither ours nor one of the CLI is there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn switching_browys_file_tools_opens_none_of_the_cli() {
    const OURS: [&str; 5] = ["read_file", "list_files", "delete_file", "save_file", "run_script"];
    for home in [Home::full(), Home::new().await] {
        let secret = home.path().join("secret.txt");
        std::fs::write(&secret, "CANARY").unwrap();
        let path = secret.display().to_string();
        let calls = || {
            Step::call("read_file", json!({ "filename": path, "path": path }))
                .and_call("run_script", json!({ "code": "1" }))
                .and_call("view", json!({ "path": path }))
        };
        let model = ModelServer::scripted([calls(), Step::text("done"), calls()]).await;
        let backend = home.start(with_model(&model.url));
        let turn = backend.prompt(chat("sp-on", &OURS), prompt("Go")).await.unwrap();
        finish_with(turn, |name, _| done(format!("ours: {name}"))).await;
        let request = model.last();
        let told = said(&request, "tool");
        assert_eq!(told[..2], ["ours: read_file", "ours: run_script"]);
        assert!(told[2].contains("does not exist"), "{told:?}");
        let mut on = offered(&request);
        on.sort();
        let mut ours = OURS;
        ours.sort();
        assert_eq!(on, ours);
        let turn = backend.prompt(chat("sp-off", &["look"]), prompt("Go")).await.unwrap();
        finish_with(turn, |name, _| done(format!("ours: {name}"))).await;
        let request = model.last();
        assert_eq!(offered(&request), ["look"]);
        let told = said(&request, "tool");
        assert!(told.len() == 3 && told.iter().all(|text| text.contains("does not exist")), "{told:?}");
        assert!(!request.to_string().contains("CANARY"), "{request}");
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn opted_in_tool_asks_first_and_obeys_the_answer() {
    for (allow, home) in [(false, Home::full()), (true, Home::new().await)] {
        let marker = home.path().join("made-by-bash");
        let command = format!("touch {} && echo it-ran", marker.display());
        let model =
            ModelServer::scripted([Step::call("bash", json!({"command": command, "description": "x"}))])
                .await;
        let backend = home.start(with_model(&model.url));
        let mut chat = chat("sp-opt", &["look"]);
        chat.builtin_tools = vec!["bash".into()];
        let mut turn = backend.prompt(chat, prompt("Go")).await.unwrap();
        let mut asked = 0;
        loop {
            match next(&mut turn).await {
                AgentEvent::Permission { id, kind, tool, detail } => {
                    assert_eq!((kind.as_str(), tool.as_deref()), ("shell", Some("bash")), "{detail}");
                    assert!(!marker.exists());
                    asked += 1;
                    turn.control.permit(&id, allow, "The person said no.").await;
                }
                AgentEvent::Ended(ending) => {
                    assert_eq!(ending, Ending::Done);
                    break;
                }
                _ => {}
            }
        }
        assert!(asked >= 1);
        let request = model.last();
        assert!(offered(&request).contains(&"bash".to_owned()), "{:?}", offered(&request));
        let told = said(&request, "tool").remove(0);
        assert_eq!(told.contains("it-ran"), allow, "{told}");
        assert_eq!(marker.exists(), allow);
        assert!(allow || told.contains("The person said no."), "{told}");
        backend.shutdown(Duration::from_secs(1)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_hooks_and_instructions_of_the_person_are_left_alone() {
    for home in [Home::full(), Home::new().await] {
        let marker = home.path().join("started");
        let copilot = home.path().join("copilot");
        let folder = home.path().join(".browseragent/sessions");
        let put = |file: std::path::PathBuf, text: String| {
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        let touch = format!("touch '{}'", marker.display());
        let server = json!({"type": "local", "command": "sh", "args": ["-c", touch], "tools": ["*"]});
        put(copilot.join("mcp-config.json"), json!({"mcpServers": {"theirs": server}}).to_string());
        put(copilot.join("copilot-instructions.md"), "CANARY-INSTRUCTION home".into());
        put(folder.join("AGENTS.md"), "CANARY-INSTRUCTION agents".into());
        put(folder.join(".github/copilot-instructions.md"), "CANARY-INSTRUCTION github".into());
        let hook = json!({"type": "command", "bash": touch, "timeoutSec": 5});
        let hooks = json!({"version": 1, "hooks": {"sessionStart": [hook], "userPromptSubmitted": [hook]}});
        put(folder.join(".github/hooks/hooks.json"), hooks.to_string());
        let model = ModelServer::scripted([Step::call("look", json!({}))]).await;
        let backend = home.start(with_model(&model.url));
        let outcome = finish(backend.prompt(chat("sp-alone", &["look"]), prompt("Go")).await.unwrap()).await;
        assert_eq!(outcome.ending, Ending::Done);
        assert!(!model.last().to_string().contains("CANARY-INSTRUCTION"));
        // Resuming must not start them either.
        backend.shutdown(Duration::from_secs(1)).await;
        let backend = home.start(with_model(&model.url));
        finish(backend.prompt(chat("sp-alone", &["look"]), prompt("Again")).await.unwrap()).await;
        assert!(!model.last().to_string().contains("CANARY-INSTRUCTION"));
        backend.shutdown(Duration::from_secs(1)).await;
        assert!(!marker.exists());
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cli_sees_the_allowed_variables_and_no_secret_is_in_its_arguments() {
    let home = Home::new().await;
    let (mark, env) = marked(home.env());
    let env = env
        .with("AWS_SECRET_ACCESS_KEY", "CANARY-SECRET")
        .with("SSH_AUTH_SOCK", "CANARY-SECRET")
        .with("NODE_OPTIONS", "--require CANARY-SECRET");
    let mut config = with_model("http://127.0.0.1:9/v1");
    config.provider.as_mut().unwrap().api_key = Some("CANARY-KEY".into());
    let backend = home.start_in(env, config);
    ready(&backend).await;
    let turn = backend.prompt(chat("sp-env", &[]), prompt("Go")).await.unwrap();
    let pids = marked_processes(&mark);
    assert!(pids.len() >= 2, "guard and CLI: {pids:?}");
    for pid in pids {
        let read = |file: &str| {
            let bytes = std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        assert!(!read("environ").contains("CANARY"), "{pid}");
        assert!(!read("cmdline").contains("CANARY"), "{pid}");
    }
    turn.control.abort();
    finish(turn).await;
    backend.shutdown(Duration::from_secs(1)).await;
    assert_eq!(marked_processes(&mark), [0; 0], "nothing is left");
}
