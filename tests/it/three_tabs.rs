//! A task over three tabs, through everything: the side panel, the host, the real Copilot CLI with a scripted
//! model, the extension, the pages.

use std::path::Path;

use browy::chromium::{Chromium, Page};
use browy::config::{Config, Provider};
use browy::paths::Paths;
use serde_json::{Value, json};

use crate::support::chromium::{SECONDS, extension_folder, host, options, panel_ready, send_prompt};
use crate::support::model_server::{ModelServer, Step, said};
use crate::support::page_server::PageServer;

const ORDER: &str = "<!doctype html><html lang=en><title>Ferry order</title><h1>Ferry order</h1>
    <label>Sails at <input id=time></label> <label>Pier <select id=pier><option>1<option>4<option>7</select></label>
    <button id=send>Send the order</button><p id=state role=status>Not sent</p>
    <script>send.onclick = () => {
      state.textContent = confirm('Order the ' + time.value + ' from pier ' + pier.value + '?') ? 'Ordered' : 'Kept back';
    };</script>";

const SEARCH: &str = "<!doctype html><title>Search</title>
    <form action=results.html><label>Words <input name=q></label><button>Find</button></form>";

const RESULTS: &str = "<!doctype html><title>Results</title><ul>
    <li><a href=bus.html target=_blank>Bus timetable</a><li><a href=ferry.html target=_blank>Ferry timetable</a></ul>";

/// The number of the one line of a view that holds `words`.
fn number(view: &str, words: &str) -> Result<u32, String> {
    let inside = |line: &str| {
        let (_, rest) = line.split_once('[')?;
        let (inside, _) = rest.split_once(']')?;
        inside.trim_start_matches(['*', '~']).parse().ok()
    };
    let found: Vec<u32> = view.lines().filter(|line| line.contains(words)).filter_map(inside).collect();
    match found.as_slice() {
        [only] => Ok(*only),
        _ => Err(format!("{} lines with {words:?} in {view}", found.len())),
    }
}

fn parsed(result: &str) -> Result<Value, String> {
    let value: Value = serde_json::from_str(result).map_err(|error| format!("{error}: {result}"))?;
    if value["success"] == json!(true) { Ok(value) } else { Err(format!("failed: {result}")) }
}

/// What the model does next, from nothing but what it was told.
fn next(results: &[String], search: &str) -> Result<Step, String> {
    let last = results.last().map(String::as_str).unwrap_or_default();
    let call = |tool: &str, args: Value| Ok(Step::call(tool, args));
    match results.len() {
        0 => call("list_tabs", json!({})),
        1 => call("new_tab", json!({ "url": search })),
        2 => parsed(last).and_then(|_| call("inspect_page", json!({}))),
        3 => call("type_index", json!({ "index": number(last, "Words")?, "text": "ferry" })),
        4 => {
            parsed(last)?;
            call("submit_form", json!({ "index": number(&results[2], "Words")? }))
        }
        5 => {
            let sent = parsed(last)?;
            if sent["title"] != "Results" {
                return Err(format!("no results: {sent}"));
            }
            call("inspect_page", json!({}))
        }
        6 => call("click_index", json!({ "index": number(last, "Ferry timetable")? })),
        7 => call("switch_tab", json!({ "index": parsed(last)?["newTabs"][0]["tabId"] })),
        8 => parsed(last).and_then(|_| call("extract_text", json!({}))),
        9 => {
            let tabs = parsed(&results[0])?;
            let order =
                tabs["tabs"].as_array().into_iter().flatten().find(|tab| tab["title"] == "Ferry order");
            call("switch_tab", json!({ "index": order.ok_or("no order tab")?["index"] }))
        }
        10 => parsed(last).and_then(|_| call("inspect_page", json!({}))),
        11 => {
            let (_, rest) = results[8].split_once("leaves at ").ok_or("no time in the text")?;
            let (time, rest) = rest.split_once(" from pier ").ok_or("no pier in the text")?;
            let pier: String = rest.chars().take_while(char::is_ascii_digit).collect();
            let fields = json!([
                { "index": number(last, "Sails at")?, "value": time },
                { "index": number(last, "<select")?, "value": pier },
            ]);
            call("fill_form", json!({ "fields": fields }))
        }
        12 => {
            parsed(last)?;
            call("click_index", json!({ "index": number(&results[10], "Send the order")? }))
        }
        13 => {
            let asked = parsed(last)?;
            if !asked["dialog"]["message"].as_str().is_some_and(|text| text.starts_with("Order the ")) {
                return Err(format!("no question: {asked}"));
            }
            call("handle_dialog", json!({ "action": "accept" }))
        }
        14 => parsed(last).map(|_| Step::text("The ferry is ordered.")),
        _ => Err(format!("one call too many: {last}")),
    }
}

/// A browser with extension, host and real CLI, whose model is the server at `model`.
async fn start(home: &Path, model: &str) -> Chromium {
    let provider = Provider {
        base_url: model.to_owned(),
        model: "mock-1".to_owned(),
        api_key: Some("test".to_owned()),
        ..Provider::default()
    };
    let file = Paths::below(home).config();
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    let config = Config { provider: Some(provider), ..Config::default() };
    std::fs::write(&file, toml::to_string(&config).unwrap()).unwrap();
    let cli =
        std::env::var_os("COPILOT_CLI_PATH").expect("COPILOT_CLI_PATH names the real CLI; tests/run sets it");
    let mut options = options();
    options.extension = Some(extension_folder());
    options.host = Some(host());
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("copilot-cache");
    options.env = vec![
        ("HOME".into(), Some(home.into())),
        ("COPILOT_CLI_PATH".into(), Some(cli)),
        ("COPILOT_PKG_CACHE_HOME".into(), Some(cache.into())),
        ("COPILOT_HOME".into(), Some(home.join(".copilot").into())),
        ("COPILOT_GITHUB_TOKEN".into(), None),
        ("GH_TOKEN".into(), None),
        ("GITHUB_TOKEN".into(), None),
    ];
    Chromium::launch(options).await.unwrap()
}

async fn text(page: &Page, expression: &str) -> String {
    page.evaluate(expression).await.unwrap().as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_tab_says_is_filled_in_in_another_and_confirmed() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("pages");
    std::fs::create_dir(&folder).unwrap();
    // Nobody can know the time without reading it.
    let minute = std::process::id() % 60;
    let time = format!("16:{minute:02}");
    let ferry = format!(
        "<!doctype html><title>Ferry</title><p>The ferry leaves at {time} from pier 7 every day.</p>"
    );
    for (name, html) in [
        ("order.html", ORDER),
        ("search.html", SEARCH),
        ("results.html", RESULTS),
        ("ferry.html", ferry.as_str()),
        ("bus.html", "<title>Bus</title><p>No buses.</p>"),
    ] {
        std::fs::write(folder.join(name), html).unwrap();
    }
    let server = PageServer::start(&folder).await;
    let search = server.url("search.html");
    let model = ModelServer::responding(move |request| {
        next(&said(request, "tool"), &search).unwrap_or_else(|why| Step::text(format!("I stop: {why}")))
    })
    .await;
    let chromium = start(home.path(), &model.url).await;
    let browser = chromium.browser();
    let order = browser.open_window(&server.url("order.html")).await.unwrap();
    let panel = browser.open_side_panel(&order).await.unwrap();
    panel_ready(&panel).await.unwrap();
    send_prompt(&panel, "Order the ferry that the timetable names. Search for it in a new tab.")
        .await
        .unwrap();
    let over = "document.querySelector('#state').dataset.state === 'ready' && !!document.querySelector('.msg.assistant')";
    let waited = panel.wait_for(over, SECONDS(120)).await;
    let log = text(&panel, "document.body.innerText").await;
    waited.unwrap_or_else(|error| panic!("{error}\n{log}"));
    assert!(log.contains("The ferry is ordered."), "{log}");
    assert_eq!(
        text(&order, "[time.value, pier.value, state.textContent].join()").await,
        format!("{time},7,Ordered")
    );
    let ours = server.url("");
    let tabs = browser.targets().await.unwrap();
    let open = tabs.iter().filter(|target| target.kind == "page" && target.url.starts_with(&ours)).count();
    assert_eq!(open, 3, "{tabs:?}");
    assert_eq!(said(&model.last(), "tool").len(), 14);
    chromium.close().await;
}
