//! The demo: its pages in a real browser, and the whole of it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use browy::chromium::Chromium;
use browy::cli::demo::{
    Answer, Control, Field, Kind, LIMIT, MomentKind, Plan, Report, Scenario, check, rehearse, serve_pages,
};
use serde_json::json;

use crate::support::chromium::{SECONDS, options};

/// What a person would leave in the field: (values or text, by option value).
fn right(field: &Field) -> Vec<String> {
    let value = |label: &String| field.options.iter().find(|(_, l)| l == label).unwrap().0.clone();
    match &field.answer {
        Answer::Text(any) => vec![any[0].clone()],
        Answer::Words(words) => vec![words.join(", ")],
        Answer::Option(label) => vec![value(label)],
        Answer::Options(labels) => labels.iter().map(value).collect(),
        Answer::Tick(tick) => vec![if *tick { "yes" } else { "" }.to_owned()],
    }
}

/// Fills one field by script, with the events that a person's hands cause.
fn script(field: &Field, values: &[String]) -> String {
    let control = match field.control {
        Control::ShadowText => "shadow",
        Control::FrameText => "frame",
        Control::Radio => "radio",
        Control::Checkbox => "checkbox",
        Control::Select | Control::MultiSelect => "select",
        Control::Combobox => "combobox",
        Control::RichText => "rich",
        _ => "text",
    };
    let what = json!({ "id": field.id, "name": field.name, "control": control, "values": values });
    format!(
        r#"(({{ id, name, control, values }}) => {{
            const tell = (element) => ["input", "change"].forEach((kind) => element.dispatchEvent(new Event(kind, {{ bubbles: true }})));
            const one = document.getElementById(id);
            const put = (element) => {{ element.value = values[0]; tell(element); }};
            switch (control) {{
              case "shadow": put(document.querySelector("funding-field").shadowRoot.getElementById(id)); break;
              case "frame": put(document.querySelector("iframe").contentDocument.getElementById(id)); break;
              case "radio": [...document.getElementsByName(name)].find((b) => b.value === values[0]).click(); break;
              case "checkbox": if (one.checked !== (values[0] === "yes")) one.click(); break;
              case "select": [...one.options].forEach((o) => (o.selected = values.includes(o.value))); tell(one); break;
              case "combobox": one.click(); document.querySelector(`#${{id}}-list [data-value="${{values[0]}}"]`).click(); break;
              case "rich": one.textContent = values[0]; tell(one); break;
              default: put(one);
            }}
        }})({what})"#
    )
}

#[tokio::test]
async fn form_filled_by_hand_passes_the_check_and_one_wrong_value_fails_it() {
    let chromium = Chromium::launch(options()).await.unwrap();
    for seed in [1, 2, 3] {
        let scenario = Scenario::new(seed);
        let pages = serve_pages(&scenario, None).await.unwrap();
        let form = chromium.browser().open(&format!("{}/submit", pages.base())).await.unwrap();
        form.wait_for(
            "document.querySelector('iframe').contentDocument?.querySelector('input')",
            SECONDS(10),
        )
        .await
        .unwrap();
        let empty = check(&form, &scenario).await.unwrap();
        let ticks = scenario.fields().filter(|field| field.answer == Answer::Tick(false)).count();
        assert_eq!((empty.right(), empty.passed()), (ticks, false), "seed {seed}");

        for field in scenario.fields() {
            form.evaluate(&script(field, &right(field))).await.unwrap();
        }
        let full = check(&form, &scenario).await.unwrap();
        let wrong: Vec<_> = full.fields.iter().filter(|field| !field.ok).collect();
        assert!(full.passed(), "seed {seed}: {wrong:?}");
        form.wait_for(
            "document.querySelector('.bar output').textContent === '26 of 26 answered'",
            SECONDS(5),
        )
        .await
        .unwrap();

        let title = scenario.fields().find(|field| matches!(field.answer, Answer::Words(_))).unwrap();
        form.evaluate(&script(title, &["something; else; entirely".to_owned()])).await.unwrap();
        let spoiled = check(&form, &scenario).await.unwrap();
        assert_eq!((spoiled.right(), spoiled.passed()), (25, false), "seed {seed}");

        form.evaluate(&script(title, &right(title))).await.unwrap();
        assert!(check(&form, &scenario).await.unwrap().passed());
        form.evaluate("document.querySelector('button[type=submit]').click()").await.unwrap();
        let submitted = check(&form, &scenario).await.unwrap();
        assert_eq!(
            (submitted.submitted, submitted.right(), submitted.passed()),
            (1, 26, false),
            "seed {seed}"
        );
        form.close().await.unwrap();
    }
    chromium.close().await;
}

#[tokio::test]
async fn a_value_without_an_event_does_not_pass() {
    let chromium = Chromium::launch(options()).await.unwrap();
    let scenario = Scenario::new(4);
    let pages = serve_pages(&scenario, None).await.unwrap();
    let form = chromium.browser().open(&format!("{}/submit", pages.base())).await.unwrap();
    let field = scenario.fields().find(|field| field.control == Control::Email).unwrap();
    let quiet = format!("document.getElementById({}).value = {}", json!(field.id), json!(right(field)[0]));
    form.evaluate(&quiet).await.unwrap();
    form.wait_for(
        "document.querySelector('iframe').contentDocument?.querySelector('input')",
        Duration::from_secs(10),
    )
    .await
    .unwrap();
    let verdict = check(&form, &scenario).await.unwrap();
    let told = verdict.fields.iter().find(|verdict| verdict.label == field.label).unwrap();
    assert_eq!((told.found.as_str(), told.ok), (right(field)[0].as_str(), false));
    chromium.close().await;
}

/// The demo as it ships, but for a home, a cache and a picture of its own.
fn plan(seed: u64, pictures: &Path) -> Plan {
    let cli =
        std::env::var_os("COPILOT_CLI_PATH").expect("COPILOT_CLI_PATH names the real CLI; tests/run sets it");
    Plan {
        seed,
        live: false,
        headless: true,
        browser: None,
        host: PathBuf::from(env!("CARGO_BIN_EXE_browy")),
        cli: cli.into(),
        package_cache: Path::new(env!("CARGO_TARGET_TMPDIR")).join("copilot-cache"),
        copilot_home: pictures.join("unused"),
        screenshot: pictures.join(format!("{seed}.png")),
        limit: LIMIT,
        take_back: None,
    }
}

/// What went wrong, for a failing test.
fn story(report: &Report) -> String {
    let wrong: Vec<_> = report.verdict.fields.iter().filter(|field| !field.ok).collect();
    format!("{wrong:#?}\n{:#?}\n{}\n{:?}", report.timeline, report.answer, report.error)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_shuffled_demos_fill_every_field_and_submit_nothing() {
    let pictures = tempfile::tempdir().unwrap();
    for seed in [1, 2, 3] {
        let plan = plan(seed, pictures.path());
        let report = rehearse(&plan).await.unwrap();
        assert!(report.ok, "seed {seed}: {}", story(&report));
        assert_eq!(
            (report.verdict.right(), report.verdict.fields.len(), report.verdict.submitted),
            (26, 26, 0)
        );
        assert!(report.timeline.iter().any(|moment| moment.kind == MomentKind::Said));
        assert!(report.timeline.iter().all(|moment| moment.kind != MomentKind::Failed), "{}", story(&report));
        assert!(report.answer.contains("All 26 fields"), "{}", report.answer);
        let picture = std::fs::read(&plan.screenshot).unwrap();
        assert_eq!(&picture[..8], b"\x89PNG\r\n\x1a\n");
        assert!(picture.len() > 50_000, "{} bytes", picture.len());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_form_that_loses_a_value_fails_the_demo_and_the_agent_says_so() {
    let pictures = tempfile::tempdir().unwrap();
    let mut plan = plan(4, pictures.path());
    plan.take_back = Some(Kind::Title);
    let report = rehearse(&plan).await.unwrap();
    assert!(!report.ok, "{}", story(&report));
    assert_eq!(report.verdict.right(), 25, "{}", story(&report));
    let wrong = report.verdict.fields.iter().find(|field| !field.ok).unwrap();
    assert_eq!(wrong.found, "");
    assert!(report.answer.contains(&wrong.label) && !report.answer.contains("All 26"), "{}", report.answer);
}
