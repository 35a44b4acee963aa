//! Calendars that open below a field.

use serde_json::json;

use crate::play::{Play, Played, each};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

/// choose-date and its kin.
pub async fn choose(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Select (\d+/\d+/\d+)").await?;
    pick(play, "#datepicker", &asked[0]).await?;
    play.submit().await
}

/// Opens the calendar of a field, goes to the month, and presses the day of `mm/dd/yyyy`.
pub async fn pick(play: &Play<'_>, field: &str, date: &str) -> Played {
    let parts: Vec<i32> = date.split('/').filter_map(|part| part.parse().ok()).collect();
    let &[month, day, year] = parts.as_slice() else { return Err(date.to_owned()) };
    play.click(play.at(field).await?).await?;
    play.must("wait_for", json!({ "selector": ".ui-datepicker-title" })).await?;
    for _ in 0..40 {
        let title = play.text(".ui-datepicker-title").await?;
        let shown = MONTHS.iter().position(|name| title.contains(name)).ok_or_else(|| title.clone())?;
        let shown_year: i32 =
            each(r"(\d{4})", &title).pop().and_then(|year| year.parse().ok()).ok_or(title)?;
        let ahead = (year - shown_year) * 12 + month - 1 - i32::try_from(shown).unwrap_or(0);
        if ahead == 0 {
            return play.press("a", &day.to_string()).await;
        }
        let arrow = if ahead > 0 { ".ui-datepicker-next" } else { ".ui-datepicker-prev" };
        play.click(play.at(arrow).await?).await?;
    }
    Err("the month does not come".to_owned())
}
