//! How the case runner compares and binds (`tests/case_runner`).

use serde_json::json;

use crate::bind::Bindings;
use crate::expect::{Answer, Expect};

fn answer(text: &str) -> Answer<'_> {
    Answer { text, failed: false, took_ms: 7 }
}

fn expect(json: serde_json::Value) -> Expect {
    serde_json::from_value(json).unwrap()
}

const VIEW: &str = "Page: Shop\n# Plans\n[1]<button>Plan</button>\n  [~2]<button disabled>Plan B</button>\n[*~13]<a>Other</a>\n[14] not an element";

#[test]
fn json_is_compared_as_a_part() {
    let text = r#"{"success":true,"value":"x","results":[{"ok":true,"n":1.0},{"ok":false}]}"#;
    let holds = |wanted| expect(json!({ "json": wanted })).check(&answer(text));
    holds(json!({ "success": true, "value": "*" })).unwrap();
    holds(json!({ "results": [{ "n": 1 }] })).unwrap();
    assert!(holds(json!({ "error": "*" })).unwrap_err().contains("has no \"error\""));
    assert!(holds(json!({ "results": [{ "ok": false }] })).unwrap_err().contains("results[0].ok"));
    assert!(holds(json!({ "results": [{}, {}, {}] })).is_err());
    assert!(expect(json!({ "notJson": { "success": true } })).check(&answer(text)).is_err());
    expect(json!({ "notJson": { "success": true, "error": "*" } })).check(&answer(text)).unwrap();
    assert!(expect(json!({ "json": {} })).check(&answer(VIEW)).is_err());
}

#[test]
fn texts_patterns_and_limits_hold() {
    let wanted = json!({ "contains": ["Plan B"], "absent": "Plan C", "matches": "(?m)^# Plans$", "maxMs": 7, "maxChars": 500 });
    expect(wanted).check(&answer(VIEW)).unwrap();
    for broken in [
        json!({ "contains": "Plan C" }),
        json!({ "absent": ["Plan B"] }),
        json!({ "matches": ["^Plans"] }),
        json!({ "maxMs": 6 }),
        json!({ "maxChars": 10 }),
        json!({ "error": "." }),
        json!({ "anyOf": [{ "contains": "Plan C" }, { "contains": "Plan D" }] }),
    ] {
        assert!(expect(broken.clone()).check(&answer(VIEW)).is_err(), "{broken}");
    }
    expect(json!({ "anyOf": [{ "contains": "no such" }, { "contains": "Plan B" }] }))
        .check(&answer(VIEW))
        .unwrap();
}

#[test]
fn error_is_the_json_field_or_the_text_of_a_failed_call() {
    let wanted = expect(json!({ "error": "^not found" }));
    wanted.check(&answer(r#"{"success":false,"error":"not found: 3"}"#)).unwrap();
    wanted.check(&Answer { text: "not found", failed: true, took_ms: 0 }).unwrap();
    assert!(wanted.check(&answer("not found")).is_err());
}

#[test]
fn time_alone_proves_nothing() {
    assert!(expect(json!({ "maxMs": 5 })).is_empty());
    assert!(!expect(json!({ "absent": "x" })).is_empty());
}

#[test]
fn unknown_expectation_is_refused() {
    assert!(serde_json::from_value::<Expect>(json!({ "contain": ["x"] })).is_err());
}

#[test]
fn one_line_of_the_newest_view_gives_its_number() {
    let mut names = Bindings::default();
    let view = answer(VIEW);
    names.saw(&view);
    names.bind("other", "Other", &view).unwrap();
    names.bind("planB", "disabled.*Plan", &view).unwrap();
    assert!(names.bind("plan", "Plan", &view).unwrap_err().contains("2 lines"));
    assert!(names.bind("none", "not an element", &view).is_err());
    names.bind("later", ">Plan<", &answer(r#"{"success":true}"#)).unwrap();
    let args = json!({ "index": "$other", "fields": "[{\"index\":\"$planB\"}]", "deep": [{ "x": "$later" }], "y": "$$5" });
    assert_eq!(
        names.fill_in(&args),
        json!({ "index": 13, "fields": "[{\"index\":\"2\"}]", "deep": [{ "x": 1 }], "y": "$$5" })
    );
}

#[test]
fn group_on_a_json_answer_gives_the_value() {
    let mut names = Bindings::default();
    let reply = answer(r#"{"url":"http://127.0.0.1:4711/x"}"#);
    names.bind("port", r#"127\.0\.0\.1:(\d+)/"#, &reply).unwrap();
    assert_eq!(names.fill_in(&json!("http://127.0.0.1:$port/y")), json!("http://127.0.0.1:4711/y"));
    assert!(names.bind("x", "(nothing)", &reply).is_err());
}
