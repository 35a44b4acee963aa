//! Flights, tickets, food, contacts, search results.

use serde_json::json;

use super::mail::texts;
use crate::play::{Line, Play, Played, each, nth_of};

/// book-flight: two fields that offer airports, a calendar, a list of flights.
pub async fn flight(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Book the (\w+) one-way flight from: (.+) to: (.+) on (\S+?)\.$").await?;
    airport(play, "#flight-from", &asked[1]).await?;
    airport(play, "#flight-to", &asked[2]).await?;
    super::dates::pick(play, "#datepicker", &asked[3]).await?;
    play.press("button", "Search").await?;
    let best = best_of(play, "#results", &asked[0]).await?;
    play.click(nth_of(&play.indexes("#results .flight-price").await?, best)?).await
}

async fn airport(play: &Play<'_>, field: &str, name: &str) -> Played {
    play.keys_at(play.at(field).await?, name).await?;
    play.must("wait_for", json!({ "selector": ".ui-menu-item" })).await?;
    let fits = |line: &&Line| {
        line.index.is_some() && matches!(line.tag.as_str(), "li" | "div" | "a") && line.name.contains(name)
    };
    let lines = play.controls().await;
    let offer = lines.iter().find(fits).and_then(|line| line.index);
    play.click(offer.ok_or_else(|| format!("no offer {name} in {lines:#?}"))?).await
}

/// buy-ticket.
pub async fn ticket(play: &Play<'_>) -> Played {
    let asked = play.asked(r"ticket with the (.+)\.").await?;
    let best = best_of(play, "#area", &asked[0]).await?;
    play.click(nth_of(&play.indexes("#area .buy-ticket").await?, best)?).await
}

/// Which of the flights below a selector is the cheapest, dearest, shortest or longest.
async fn best_of(play: &Play<'_>, selector: &str, wish: &str) -> Result<usize, String> {
    let text = play.text(selector).await?;
    let values: Vec<i64> = if wish.contains("duration") || wish == "shortest" {
        let minutes = |time: String| {
            let numbers: Vec<i64> =
                each(r"(\d+)", &time).iter().filter_map(|part| part.parse().ok()).collect();
            numbers.iter().fold(0, |sum, part| sum * 60 + part)
        };
        each(r"(\d+h \d+m)", &text).into_iter().map(minutes).collect()
    } else {
        each(r"\$(\d+)", &text).iter().filter_map(|price| price.parse().ok()).collect()
    };
    let most = wish.contains("longest") || wish.contains("expensive");
    let best = if most { values.iter().max() } else { values.iter().min() };
    values.iter().position(|value| Some(value) == best).ok_or(text)
}

/// order-food: dishes by name, or so many of a kind (the kind is the name of a picture).
pub async fn food(play: &Play<'_>) -> Played {
    let query = play.query().await?;
    if let Some(kind) = each(r"items that are (\S+)", &query).pop() {
        let count: usize =
            each(r"Order (\d+)", &query).pop().and_then(|count| count.parse().ok()).ok_or(query)?;
        let selector = format!(".food-item:has(img[alt='{kind}']) .add");
        let add = play.at(&selector).await?;
        for _ in 0..count {
            play.click(add).await?;
        }
    } else {
        let names = texts(play, ".food-item .item-name").await?;
        let adds = play.indexes(".food-item .add").await?;
        let list = each("item: (.+)", &query).pop().ok_or(query)?;
        for wanted in list.split(", ") {
            let nth =
                names.iter().position(|name| name == wanted.trim()).ok_or_else(|| format!("{names:?}"))?;
            play.click(nth_of(&adds, nth)?).await?;
        }
    }
    play.press("button", "Order!").await
}

/// phone-book: one contact a page.
pub async fn contact(play: &Play<'_>) -> Played {
    let asked =
        play.asked(r"Find (\S+) in the contact book and click on their (phone|email|address)").await?;
    for _ in 0..5 {
        if play.text("#contact .name").await?.trim() == asked[0] {
            return play.click(play.at(&format!("#contact .{}", asked[1])).await?).await;
        }
        play.press_first("&gt;").await?;
    }
    Err(format!("{} does not come", asked[0]))
}

/// search-engine: three results a page.
pub async fn search(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"enter "(.+)" and press .* the (\d+)\w\w search result"#).await?;
    play.fill(play.at("#search-text").await?, &asked[0]).await?;
    play.press("button", "Search").await?;
    let nth: usize = asked[1].parse().map_err(|_| asked[1].clone())?;
    for _ in 0..(nth - 1) / 3 {
        play.press_first("&gt;").await?;
    }
    play.click(nth_of(&play.indexes("#page-content a").await?, (nth - 1) % 3)?).await
}
