use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// One message of every inbound type, with every field that it may have.
fn full_messages() -> Vec<Value> {
    let attachment = json!({"kind": "element", "tabId": 1, "url": "u", "title": "t", "name": "n", "selector": "s",
        "text": "x", "html": "h", "mimeType": "m", "data": "d"});
    vec![
        json!({"type": "hello", "client": "c", "protocol": 1, "extensionVersion": "1", "capabilities": ["ask"], "requestId": "r"}),
        json!({"type": "session.start", "sessionId": "s", "capabilities": ["cdp"], "model": "m",
            "reasoningEffort": "low", "inspectedTabId": 1, "windowId": 2, "locale": "en",
            "disabledTools": ["a"], "enabledHostTools": ["b"]}),
        json!({"type": "session.end", "sessionId": "s"}),
        json!({"type": "chat.send", "sessionId": "s", "text": "x", "turnId": "t", "attachments": [attachment]}),
        json!({"type": "chat.run", "sessionId": "s", "turnId": "t", "tool": "x", "args": {"a": 1}}),
        json!({"type": "chat.cancel", "sessionId": "s", "turnId": "t"}),
        json!({"type": "history.clear", "sessionId": "s"}),
        json!({"type": "tool.result", "sessionId": "s", "callId": "c", "ok": true, "result": {}, "error": "e"}),
        json!({"type": "cdp.event", "sessionId": "s", "tabId": 1, "cdpSessionId": "c", "method": "m", "params": {}}),
        json!({"type": "auth.signin", "open": false, "requestId": "r"}),
        json!({"type": "models.list", "requestId": "r"}),
        json!({"type": "models.set", "id": "m", "requestId": "r"}),
        json!({"type": "chat.list", "requestId": "r"}),
        json!({"type": "chat.history", "id": "s", "before": "9", "limit": 5, "requestId": "r"}),
        json!({"type": "chat.delete", "id": "s", "requestId": "r"}),
        json!({"type": "chat.rename", "id": "s", "title": "t", "requestId": "r"}),
        json!({"type": "user.answer", "sessionId": "s", "askId": "a", "answer": "choice", "text": "x"}),
        json!({"type": "tab.event", "event": "replaced", "tabId": 1, "openerTabId": 2, "windowId": 3, "url": "u",
            "title": "t", "status": "complete", "replacedTabId": 4}),
        json!({"type": "download.event", "downloadId": 1, "tabId": 2, "state": "complete", "filename": "f",
            "url": "u", "bytes": 3, "error": "e"}),
        json!({"type": "debugger.detached", "tabId": 1, "reason": "canceled_by_user"}),
        json!({"type": "tools.list", "sessionId": "s", "requestId": "r"}),
        json!({"type": "provider.get", "requestId": "r"}),
        json!({"type": "provider.set", "kind": "k", "baseUrl": "b", "model": "m", "apiKey": "a", "requestId": "r"}),
        json!({"type": "provider.test", "requestId": "r"}),
        json!({"type": "diag.run", "requestId": "r"}),
        json!({"type": "data.list", "requestId": "r"}),
        json!({"type": "data.delete", "kind": "note", "name": "n", "requestId": "r"}),
    ]
}

fn decode(message: &Value) -> Result<Inbound, ProtocolError> {
    Inbound::decode(message.to_string().as_bytes())
}

#[test]
fn every_type_is_read_with_all_its_fields() {
    let types: Vec<String> = full_messages()
        .iter()
        .map(|message| {
            let read = decode(message).unwrap();
            assert_eq!(&serde_json::to_value(&read).unwrap(), message);
            message["type"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(types, INBOUND_TYPES);
}

#[test]
fn unknown_fields_are_ignored() {
    for mut message in full_messages() {
        let plain = decode(&message).unwrap();
        message["neverHeardOf"] = json!({"deep": [1, null, {"type": "hello"}]});
        assert_eq!(decode(&message).unwrap(), plain);
    }
}

/// A wrong field rejects its message, with the type and the call it answers, or is harmless.
#[test]
fn field_of_another_kind_rejects_only_its_message() {
    let kinds = [json!(null), json!(true), json!(-1), json!(1.5), json!("word"), json!([1]), json!({"a": 1})];
    let mut rejected = 0;
    for message in full_messages() {
        let kind = message["type"].as_str().unwrap();
        let fields: Vec<String> = message.as_object().unwrap().keys().cloned().collect();
        for field in fields.iter().filter(|field| *field != "type") {
            for value in &kinds {
                let mut mutant = message.clone();
                mutant[field] = value.clone();
                match decode(&mutant) {
                    Ok(_) => {}
                    Err(ProtocolError::BadField { kind: named, call_id, .. }) => {
                        assert_eq!(named, kind);
                        assert_eq!(call_id.is_some(), kind == "tool.result" && field != "callId", "{mutant}");
                        rejected += 1;
                    }
                    Err(other) => panic!("{mutant}: {other}"),
                }
            }
            let mut without = message.clone();
            without.as_object_mut().unwrap().remove(field);
            assert!(matches!(decode(&without), Ok(_) | Err(ProtocolError::BadField { .. })));
        }
    }
    assert!(rejected > 200, "{rejected}");
}

#[test]
fn type_that_is_no_known_word_is_named_in_short() {
    assert!(
        matches!(decode(&json!({"type": "x".repeat(5000)})), Err(ProtocolError::UnknownType(kind)) if kind.len() == 64)
    );
    for no_type in [
        json!({"type": 1}),
        json!({"type": null}),
        json!({}),
        json!([]),
        json!(null),
        json!(5),
        json!("hello"),
    ] {
        assert!(matches!(decode(&no_type), Err(ProtocolError::NoType)), "{no_type}");
    }
}

#[test]
fn junk_is_no_message() {
    for junk in [
        &b""[..],
        b"\0",
        b"{",
        b"{}{}",
        b"\xef\xbb\xbf{}",
        b"{\"type\":\"hello\"",
        b"nul",
        b"{\"a\":1,}",
        b"// c",
    ] {
        assert!(matches!(Inbound::decode(junk), Err(ProtocolError::NotJson(_))), "{junk:?}");
    }
}

#[test]
fn error_says_what_is_wrong_and_not_what_was_written() {
    let of = |body: Value| decode(&body).unwrap_err().to_string();
    let canary = "canary \"quoted\", expected `x`, expected y";
    for body in [
        json!({ "type": "debugger.detached", "tabId": canary, "reason": "x" }),
        json!({ "type": "cdp.event", "sessionId": "s", "method": { canary: 1 } }),
        json!({ "type": "user.answer", "sessionId": "s", "askId": "a", "answer": canary }),
        json!({ "type": "hello", "client": "extension", "protocol": canary }),
        json!({ "type": "hello", "client": "extension", "protocol": [canary] }),
    ] {
        let text = of(body);
        assert!(!text.contains("canary") && text.starts_with("bad `"), "{text}");
    }
    let text = of(json!({ "type": "hello", "client": "extension", "protocol": canary }));
    assert_eq!(text, "bad `hello` message: invalid type: string, expected u32");
    let text = of(json!({ "type": "chat.send", "sessionId": "s" }));
    assert_eq!(text, "bad `chat.send` message: missing field `text`");
}

#[test]
fn answer_that_cannot_be_held_still_names_its_call() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    let deeper = "[".repeat(100_000) + &"]".repeat(100_000);
    for result in ["1e400", &deep, &deeper] {
        let body =
            format!(r#"{{"type":"tool.result","sessionId":"s","callId":"c","ok":true,"result":{result}}}"#);
        match Inbound::decode(body.as_bytes()) {
            Err(ProtocolError::BadField { kind, call_id, session_id, .. }) => {
                assert_eq!(
                    (kind.as_str(), call_id, session_id),
                    ("tool.result", Some("c".into()), Some("s".into()))
                );
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn nesting_that_is_deep_but_allowed_is_read() {
    let result = "[".repeat(120) + &"]".repeat(120);
    let body =
        format!(r#"{{"type":"tool.result","sessionId":"s","callId":"c","ok":true,"result":{result}}}"#);
    assert!(Inbound::decode(body.as_bytes()).is_ok());
}

#[test]
fn last_of_two_equal_keys_wins() {
    let body = br#"{"type":"chat.delete","id":"a","id":"b"}"#;
    assert!(
        matches!(Inbound::decode(body), Ok(Inbound::ChatDelete(ChatRef { id, .. })) if id.as_str() == "b")
    );
}

/// A half emoji at every place of a message where it is still JSON: the message is read.
#[test]
fn half_character_anywhere_in_a_text_is_read() {
    let body = r#"{"type":"tool.result","sessionId":"s","callId":"c","ok":true,"result":{"title":"a page"}}"#;
    let title = body.find("a page").unwrap();
    for at in title..=title + "a page".len() {
        for half in [r"\ud83d", r"\ude00"] {
            let mut cut = body.to_owned();
            cut.insert_str(at, half);
            let Ok(Inbound::ToolResult(result)) = Inbound::decode(cut.as_bytes()) else { panic!("{cut}") };
            assert!(result.result["title"].as_str().unwrap().contains('\u{fffd}'));
        }
    }
}

#[test]
fn error_texts_stay_short_whatever_was_sent() {
    let body = json!({"type": "chat.cancel", "sessionId": "s", "turnId": ["x".repeat(100_000)]});
    assert!(decode(&body).unwrap_err().to_string().len() < 600);
    let body = json!({"type": "user.answer", "sessionId": "s", "askId": "a", "answer": "é".repeat(100_000)});
    assert!(decode(&body).unwrap_err().to_string().len() < 1200);
}

proptest! {
    #[test]
    fn no_bytes_make_decode_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Inbound::decode(&bytes);
    }

    #[test]
    fn damaged_messages_never_panic(
        index in 0..INBOUND_TYPES.len(), at in any::<prop::sample::Index>(), byte: u8, cut in any::<prop::sample::Index>(),
    ) {
        let mut body = full_messages()[index].to_string().into_bytes();
        let at = at.index(body.len());
        body[at] = byte;
        let _ = Inbound::decode(&body);
        body.truncate(cut.index(body.len()));
        prop_assert!(Inbound::decode(&body).is_err());
    }
}

/// Nobody can guess one from others: 122 random bits each, no counter, no clock.
#[test]
fn ids_are_random_and_never_the_same() {
    let ids: std::collections::HashSet<CallId> = (0..100_000).map(|_| CallId::random()).collect();
    assert_eq!(ids.len(), 100_000);
    let mut ones = [0_u32; 128];
    for id in &ids {
        let uuid = uuid::Uuid::parse_str(id.as_str()).unwrap();
        assert_eq!(uuid.get_version_num(), 4);
        for (bit, ones) in ones.iter_mut().enumerate() {
            *ones += u32::from(uuid.as_u128() >> bit & 1 == 1);
        }
    }
    // All but the six bits of the version are as often one as not (ten standard deviations are 1,600).
    let fixed = ones.iter().filter(|ones| ones.abs_diff(50_000) > 1_600).count();
    assert_eq!(fixed, 6, "{ones:?}");
}
