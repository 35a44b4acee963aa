//! Fields, lists, sliders, spinners.

use serde_json::json;

use crate::play::{Play, Played, each, nth_of};

/// The one text field of the page.
async fn field(play: &Play<'_>) -> Result<u32, String> {
    play.at("#area input:not([type=checkbox]):not([type=radio])").await
}

/// Fills the one field and submits.
pub async fn answer(play: &Play<'_>, text: &str) -> Played {
    play.fill(field(play).await?, text).await?;
    play.submit().await
}

/// enter-text, enter-text-dynamic.
pub async fn enter_text(play: &Play<'_>) -> Played {
    let asked = play.asked(r#""(.+)""#).await?;
    answer(play, &asked[0]).await
}

/// enter-text-2: in capitals, or without.
pub async fn enter_cased(play: &Play<'_>) -> Played {
    let asked = play.asked(r#""(.+)" in all (upper|lower)"#).await?;
    let text = if asked[1] == "upper" { asked[0].to_uppercase() } else { asked[0].to_lowercase() };
    answer(play, &text).await
}

/// enter-time: `9:05 PM` in a field of type time.
pub async fn enter_time(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Enter (\d+):(\d+) ?(AM|PM)").await?;
    let hour: u32 = asked[0].parse().map_err(|_| asked[0].clone())?;
    let hour = hour % 12 + if asked[2] == "PM" { 12 } else { 0 };
    answer(play, &format!("{hour:02}:{}", asked[1])).await
}

/// enter-date: `01/31/2015` in a field of type date.
pub async fn enter_date(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Enter (\d+)/(\d+)/(\d+)").await?;
    answer(play, &format!("{}-{}-{}", asked[2], asked[0], asked[1])).await
}

/// focus-text.
pub async fn focus(play: &Play<'_>) -> Played {
    play.must("focus_index", json!({ "index": field(play).await? })).await.map(drop)
}

fn nth(word: &str) -> usize {
    word.trim_end_matches(char::is_alphabetic).parse::<usize>().unwrap_or(1).max(1) - 1
}

/// focus-text-2.
pub async fn focus_nth(play: &Play<'_>) -> Played {
    let asked = play.asked(r"the (\w+) input").await?;
    let fields = play.indexes("#area input").await?;
    play.must("focus_index", json!({ "index": nth_of(&fields, nth(&asked[0]))? })).await.map(drop)
}

/// choose-list.
pub async fn choose_list(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Select (.*) from the list").await?;
    let list = play.at("#area select").await?;
    play.must("select_index", json!({ "index": list, "value": asked[0] })).await?;
    play.submit().await
}

/// click-scroll-list: several of a list.
pub async fn scroll_list(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Select (.*) from the scroll list").await?;
    let names: Vec<&str> = asked[0].split(", ").collect();
    let list = play.at("#area select").await?;
    play.must("select_index", json!({ "index": list, "value": json!(names).to_string() })).await?;
    play.submit().await
}

/// Moves a slider by the arrow keys, from what it shows to what it shall show.
async fn slide(play: &Play<'_>, handle: u32, shown: &str, wanted: i32) -> Played {
    let now: i32 = play.text(shown).await?.trim().parse().map_err(|_| format!("{shown} is no number"))?;
    let key = if wanted > now { "ArrowRight" } else { "ArrowLeft" };
    let steps = usize::try_from(wanted.abs_diff(now)).unwrap_or(0);
    for batch in vec![key; steps].chunks(100) {
        play.keys_at(handle, &batch.join(" ")).await?;
    }
    Ok(())
}

/// use-slider.
pub async fn slider(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Select (-?\d+)").await?;
    let handle = play.at(".ui-slider-handle").await?;
    slide(play, handle, "#val", asked[0].parse().unwrap_or(0)).await?;
    play.submit().await
}

/// use-slider-2: three of them.
pub async fn sliders(play: &Play<'_>) -> Played {
    let asked = play.asked(r"\[(.*)\]").await?;
    let handles = play.indexes(".ui-slider-handle").await?;
    for (nth, wanted) in asked[0].split(',').enumerate() {
        slide(play, nth_of(&handles, nth)?, &format!("#val-{}", nth + 1), wanted.trim().parse().unwrap_or(0))
            .await?;
    }
    play.submit().await
}

/// form-sequence: a slider, a tick box.
pub async fn sequence(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Select (-?\d+) .* the (\w+) checkbox").await?;
    let handle = play.at(".ui-slider-handle").await?;
    slide(play, handle, "#val", asked[0].parse().unwrap_or(0)).await?;
    let boxes = play.indexes("#area input[type=checkbox]").await?;
    play.tick(nth_of(&boxes, nth(&asked[1]))?, true).await?;
    play.submit().await
}

/// form-sequence-2: a radio button, a number.
pub async fn sequence_2(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"the (\w+) radio .* "(-?\d+)" into the (\w+) textbox"#).await?;
    let radios = play.indexes("#area input[type=radio]").await?;
    play.tick(nth_of(&radios, nth(&asked[0]))?, true).await?;
    let fields = play.indexes("#area input[type=text]").await?;
    play.fill(nth_of(&fields, nth(&asked[2]))?, &asked[1]).await?;
    play.submit().await
}

/// form-sequence-3: a drawn list, a button.
pub async fn sequence_3(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"Choose (.+) from the dropdown, .* "(\w+)""#).await?;
    play.press_first("▾").await?;
    play.press("li", &asked[0]).await?;
    play.press("button", &asked[1]).await
}

/// use-spinner: its field takes no keys, its arrows do.
pub async fn spinner(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Select (-?\d+)").await?;
    let wanted: i32 = asked[0].parse().unwrap_or(0);
    let arrow = play.at(if wanted > 0 { ".ui-spinner-up" } else { ".ui-spinner-down" }).await?;
    for _ in 0..wanted.unsigned_abs() {
        play.click(arrow).await?;
    }
    play.submit().await
}

/// use-autocomplete: the first offer that begins and ends right.
pub async fn autocomplete(play: &Play<'_>) -> Played {
    let query = play.query().await?;
    let begins = each(r#"starts with "(\w+)""#, &query).pop().ok_or(query.clone())?;
    let ends = each(r#"ends with "(\w+)""#, &query).pop().unwrap_or_default();
    let index = field(play).await?;
    play.fill(index, "").await.ok();
    play.keys_at(index, &begins).await?;
    play.must("wait_for", json!({ "selector": ".ui-menu-item" })).await?;
    let offers = play.text(".ui-autocomplete").await?;
    let fits = |offer: &&str| offer.starts_with(&begins) && offer.ends_with(&ends);
    let offer = offers.lines().map(str::trim).find(fits).ok_or(offers.clone())?.to_owned();
    play.press("", &offer).await?;
    play.submit().await
}

/// guess-number: the page says lower or higher.
pub async fn guess(play: &Play<'_>) -> Played {
    let (mut low, mut high) = (0, 9);
    while low <= high {
        let middle = (low + high) / 2;
        answer(play, &middle.to_string()).await?;
        let said = play.text("#feedback").await.unwrap_or_default();
        if said.contains("lower") {
            high = middle - 1;
        } else if said.contains("higher") {
            low = middle + 1;
        } else {
            return Ok(());
        }
    }
    Err("no number is left".to_owned())
}

/// generate-number.
pub async fn generate(play: &Play<'_>) -> Played {
    let query = play.query().await?;
    let limit: i32 = each(r"than (\d+)", &query).pop().and_then(|found| found.parse().ok()).unwrap_or(0);
    for _ in 0..60 {
        play.press("button", "Generate").await?;
        let shown: i32 = play.text("#display-number").await?.trim().parse().map_err(|_| "no number")?;
        let fits = match query.as_str() {
            query if query.contains("less") => shown < limit,
            query if query.contains("greater") => shown > limit,
            query if query.contains("odd") => shown % 2 != 0,
            _ => shown % 2 == 0,
        };
        if fits {
            return play.submit().await;
        }
    }
    Err("no number fits".to_owned())
}

/// odd-or-even: one row of two buttons for each number.
pub async fn odd_or_even(play: &Play<'_>) -> Played {
    let numbers = each(r"(-?\d+)", &play.text("#area").await?);
    let (odd, even) = (play.indexes("#area .odd").await?, play.indexes("#area .even").await?);
    for (row, number) in numbers.iter().enumerate() {
        let number: i32 = number.parse().unwrap_or(0);
        play.click(if number % 2 == 0 { nth_of(&even, row)? } else { nth_of(&odd, row)? }).await?;
    }
    play.submit().await
}

/// multi-layouts, multi-orderings: three fields, named in many ways.
pub async fn movies(play: &Play<'_>) -> Played {
    let query = play.query().await?;
    let genre = each(
        r"(?i)\b(action|adventure|comedy|crime|drama|fantasy|historical|horror|mystery|paranoid|political|romance|saga|satire|surreal|thriller|urban|western)\b",
        &query,
    );
    let name = each(r"(?:directed by|director|by) (\w+)", &query);
    let year = each(r"(\d{4})", &query);
    let lines = play.controls().await;
    // Not every layout names its fields, but the labels stand in the order of the fields.
    let text = play.text("#area").await?;
    let fields: Vec<u32> =
        lines.iter().filter(|line| line.tag == "input").filter_map(|line| line.index).collect();
    let mut labels = Vec::new();
    for (words, value) in
        [(["Genre", "Genre"], genre), (["Director", "Director"], name), (["Year", "Released"], year)]
    {
        let at = words.iter().filter_map(|word| text.find(word)).min().ok_or_else(|| text.clone())?;
        labels.push((at, value));
    }
    labels.sort_by_key(|(at, _)| *at);
    for (index, (_, value)) in fields.iter().zip(labels) {
        play.fill(*index, value.first().ok_or_else(|| query.clone())?).await?;
    }
    let go = lines.iter().rev().find(|line| line.tag != "input").and_then(|line| line.index);
    play.click(go.ok_or("no button")?).await
}
