//! The demo: its pages in a real browser, and the whole of it.

use std::time::Duration;

use browy::chromium::Chromium;
use browy::cli::demo::{Answer, Control, Field, Scenario, check, serve_pages};
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
