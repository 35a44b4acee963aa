//! Tools that take a CSS selector instead of a number.

use serde_json::json;

use crate::support::cdp_wire::Stage;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn selectors_act_with_the_checks_of_numbers() {
    let stage = Stage::open(
        "<title>s</title><button class=b hidden>B1</button><button class=b onclick='document.title += event.isTrusted'>B2</button>
         <input id=name><input id=pw type=password><select id=size><option value=s>Small<option value=l>Large</select>
         <input type=radio name=r id=r1 aria-label=One><input type=radio name=r id=r2 aria-label=Two>
         <div class=two>1</div><div class=two>2</div><p id=tip onmouseenter='document.title += \" over\"'>Tip",
    )
    .await;
    let clicked = stage.json("click_element", json!({ "selector": ".b" })).await;
    assert_eq!((&clicked["success"], &clicked["selector"]), (&json!(true), &json!(".b")), "{clicked}");
    assert_eq!(stage.eval("document.title").await, "strue", "the real mouse, on the one that is shown");
    let two = stage.json("click_element", json!({ "selector": ".two" })).await;
    assert_eq!(
        (&two["class"], two["candidates"].as_array().unwrap().len()),
        (&json!("ambiguous"), 2),
        "{two}"
    );
    for wrong in ["]", "\"'`${1}", ".none"] {
        let refused = stage.json("click_element", json!({ "selector": wrong })).await;
        assert_eq!(refused["class"], "bad_argument", "{refused}");
    }
    let filled = stage.json("fill_input", json!({ "selector": "#name", "value": "O'Neill \"x\"" })).await;
    assert_eq!((&filled["success"], &filled["value"]), (&json!(true), &json!("O'Neill \"x\"")), "{filled}");
    let secret = stage.json("fill_input", json!({ "selector": "#pw", "value": "hunter2" })).await;
    assert_eq!((&secret["success"], &secret["class"]), (&json!(false), &json!("not_allowed")), "{secret}");
    let chosen = stage.json("select_option", json!({ "selector": "#size", "label": "Large" })).await;
    assert_eq!((&chosen["success"], stage.eval("size.value").await), (&json!(true), json!("l")), "{chosen}");
    let none = stage.call("select_option", json!({ "selector": "#size" })).await;
    assert!(!none.ok && none.text.contains("`value` or `label`"), "{}", none.text);
    stage.json("hover", json!({ "selector": "#tip" })).await;
    assert_eq!(stage.eval("document.title").await, "strue over");
    let two = stage.index("Two").await;
    let radio = stage.json("set_radio_index", json!({ "index": two })).await;
    assert_eq!((&radio["success"], &radio["checked"]), (&json!(true), &json!(true)), "{radio}");
    assert_eq!(stage.eval("r2.checked && !r1.checked").await, true);
    stage.close().await;
}
