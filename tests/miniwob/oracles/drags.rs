//! What is dragged.

use serde_json::json;

use crate::play::{Play, Played, each, nth_of};

/// The names of the list, from top to bottom.
async fn names(play: &Play<'_>) -> Result<Vec<String>, String> {
    let rows = super::mail::texts(play, "#sortable li").await?;
    Ok(rows.iter().map(|row| row.trim().to_owned()).collect())
}

/// drag-items: one place of a list.
pub async fn items(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Drag (\S+) (.+)").await?;
    let names = names(play).await?;
    let now = names.iter().position(|name| *name == asked[0]).ok_or_else(|| format!("{names:?}"))?;
    let to = match asked[1].as_str() {
        goal if goal.contains("top") => 0,
        goal if goal.contains("bottom") => names.len() - 1,
        goal if goal.contains("down by one") => now + 1,
        goal if goal.contains("up by one") => now - 1,
        goal => {
            each(r"(\d)", goal).pop().and_then(|nth| nth.parse::<usize>().ok()).ok_or(goal.to_owned())? - 1
        }
    };
    let rows = play.indexes("#sortable li").await?;
    // A row changes places with its neighbour only when it is led a little past the neighbour's middle.
    let (from, onto) = (middle(play, &asked[0]).await?, middle(play, &nth_of(&names, to)?).await?);
    play.drag_by(nth_of(&rows, now)?, 0, onto - from + if to > now { 5 } else { -5 }).await
}

/// How far down the middle of a row is, CSS px.
async fn middle(play: &Play<'_>, name: &str) -> Result<i32, String> {
    let found = play.must("find_visible_text", json!({ "text": name })).await?;
    let matches = found["matches"].as_array().cloned().unwrap_or_default();
    let row = matches.iter().filter(|row| row["text"].as_str().is_some_and(|text| text.trim() == name));
    let y = row.filter_map(|row| row["y"].as_f64()).next_back().ok_or_else(|| found.to_string())?;
    #[allow(clippy::cast_possible_truncation, reason = "CSS px of a window")]
    Ok(y as i32)
}

/// drag-items-grid: three by three.
pub async fn grid(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Drag (\S+) (.+)").await?;
    let names = names(play).await?;
    let now = names.iter().position(|name| *name == asked[0]).ok_or_else(|| format!("{names:?}"))?;
    let goal = asked[1].trim_end_matches('.');
    let (row, column) = (now / 3, now % 3);
    let to = match goal {
        goal if goal.contains("left by one") => now - 1,
        goal if goal.contains("right by one") => now + 1,
        goal if goal.contains("up by one") => now - 3,
        goal if goal.contains("down by one") => now + 3,
        goal => {
            let down = if goal.contains("top") {
                0
            } else if goal.contains("bottom") {
                2
            } else {
                1
            };
            let across = if goal.contains("left") {
                0
            } else if goal.contains("right") {
                2
            } else {
                1
            };
            down * 3 + across
        }
    };
    let rows = play.indexes("#sortable li").await?;
    play.drop_on(nth_of(&rows, row * 3 + column)?, nth_of(&rows, to)?).await
}

/// drag-sort-numbers: the smallest of the rest goes up to its place.
pub async fn sort(play: &Play<'_>) -> Played {
    for place in 0..4 {
        let values: Vec<i32> = names(play).await?.iter().filter_map(|name| name.parse().ok()).collect();
        let rows = play.indexes("#sortable li").await?;
        let rest = values.iter().enumerate().skip(place);
        let (least, _) = rest.min_by_key(|(_, value)| **value).ok_or("no numbers")?;
        if least != place {
            play.drop_on(nth_of(&rows, least)?, nth_of(&rows, place)?).await?;
        }
    }
    play.submit().await
}

/// drag-box: the small one onto the large one.
pub async fn small_box(play: &Play<'_>) -> Played {
    let (small, large) = (play.at("#draggableSmall").await?, play.at("#draggableLarge").await?);
    play.drop_on(small, large).await?;
    play.submit().await
}

fn way(query: &str) -> (i32, i32) {
    match query {
        query if query.contains(" left") => (-15, 0),
        query if query.contains(" right") => (15, 0),
        query if query.contains(" up") => (0, -15),
        _ => (0, 15),
    }
}

/// drag-circle, drag-single-shape: some px in a direction.
pub async fn shape(play: &Play<'_>) -> Played {
    let (dx, dy) = way(&play.query().await?);
    let shape = play.at("#area svg circle, #area svg rect, #area svg polygon").await?;
    play.drag_by(shape, dx, dy).await?;
    play.submit().await
}
