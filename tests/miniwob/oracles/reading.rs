//! Tables, long texts, sums.

use serde_json::json;

use super::forms::answer;
use crate::play::{Play, Played, each, groups, nth_of};

/// The value beside a word in the table.
async fn beside(play: &Play<'_>, key: &str) -> Result<String, String> {
    let cells = super::mail::texts(play, "#tab td").await?;
    let at = cells.iter().position(|cell| cell == key).ok_or_else(|| format!("no {key} in {cells:?}"))?;
    cells.get(at + 1).cloned().ok_or_else(|| format!("{cells:?}"))
}

/// read-table.
pub async fn table(play: &Play<'_>) -> Played {
    let asked = play.asked("value of (.+) into the text").await?;
    let value = beside(play, &asked[0]).await?;
    answer(play, &value).await
}

/// read-table-2: two fields, each with a label.
pub async fn table_2(play: &Play<'_>) -> Played {
    for (label, field) in [("#ll1", "#tt1"), ("#ll2", "#tt2")] {
        let key = play.text(label).await?;
        let value = beside(play, key.trim().trim_end_matches(':')).await?;
        play.fill(play.at(field).await?, &value).await?;
    }
    play.submit().await
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(|word| word.replace(|mark: char| !mark.is_alphanumeric(), "")).collect()
}

/// find-word: the nth word of a text.
pub async fn nth_word(play: &Play<'_>) -> Played {
    let asked = play.asked(r"the (\w+) word").await?;
    let nth: usize = asked[0].trim_end_matches(char::is_alphabetic).parse().map_err(|_| asked[0].clone())?;
    let word = words(&play.text("#area p").await?)[nth - 1].clone();
    answer(play, &word).await
}

/// scroll-text: the last word of a long text area.
pub async fn last_word(play: &Play<'_>) -> Played {
    let text = play.text("#text-area").await?;
    let last = words(&text).pop().ok_or(text)?;
    answer(play, &last).await
}

/// scroll-text-2: to the top or to the bottom.
pub async fn scroll_area(play: &Play<'_>) -> Played {
    let asked = play.asked("to the (top|bottom)").await?;
    let direction = if asked[0] == "top" { "up" } else { "down" };
    let area = play.at("#text-area").await?;
    play.must("scroll", json!({ "index": area, "direction": direction, "amount": 50 })).await?;
    play.submit().await
}

/// copy-paste: by the keyboard, so that spaces at the ends stay.
pub async fn copy(play: &Play<'_>) -> Played {
    copy_of(play, "#area textarea", 0).await
}

/// copy-paste-2: one of three.
pub async fn copy_nth(play: &Play<'_>) -> Played {
    let asked = play.asked(r"from the (\d)\w+ text area").await?;
    let nth: usize = asked[0].parse().map_err(|_| asked[0].clone())?;
    copy_of(play, "#area textarea", nth - 1).await
}

async fn copy_of(play: &Play<'_>, selector: &str, nth: usize) -> Played {
    let source = nth_of(&play.indexes(selector).await?, nth)?;
    play.keys_at(source, "Control+a Control+c").await?;
    play.keys_at(play.at("#answer-input").await?, "Control+a Control+v").await?;
    play.submit().await
}

/// simple-arithmetic.
pub async fn sum(play: &Play<'_>) -> Played {
    let text = play.text("#math-problem").await?;
    let parts = groups(r"(\d+)\s*([-+x])\s*(\d+)", &text).ok_or(text)?;
    let (left, right) = (number(&parts[0])?, number(&parts[2])?);
    let result = match parts[1].as_str() {
        "+" => left + right,
        "-" => left - right,
        _ => left * right,
    };
    answer(play, &result.to_string()).await
}

fn number(text: &str) -> Result<i32, String> {
    text.trim().parse().map_err(|_| format!("{text:?} is no number"))
}

/// simple-algebra: x plus or minus a number, or a number plus or minus x.
pub async fn algebra(play: &Play<'_>) -> Played {
    let text = play.text("#math-problem").await?;
    let parts = groups(r"(x|\d+)\s*([-+])\s*(x|\d+)\s*=\s*(-?\d+)", &text).ok_or(text)?;
    let result = number(&parts[3])?;
    let x = match (parts[0].as_str(), parts[1].as_str()) {
        ("x", "+") => result - number(&parts[2])?,
        ("x", _) => result + number(&parts[2])?,
        (first, "+") => result - number(first)?,
        (first, _) => number(first)? - result,
    };
    answer(play, &x.to_string()).await
}

/// visual-addition: blocks are elements.
pub async fn blocks(play: &Play<'_>) -> Played {
    let markup = play.html("#math-problem").await;
    let count = each("(addition-block)", &markup).len();
    answer(play, &count.to_string()).await
}

/// text-transform: each letter is turned, and is text all the same.
pub async fn turned_letters(play: &Play<'_>) -> Played {
    let text: String = play.text("#captcha").await?.split_whitespace().collect();
    answer(play, &text).await
}

/// find-greatest: a card shows its number when it is turned.
pub async fn greatest(play: &Play<'_>) -> Played {
    let cards = play.indexes("#cardholder .card").await?;
    let mut best = (i32::MIN, 0);
    for (nth, card) in cards.iter().enumerate() {
        play.click(*card).await?;
        let shown = play.text("#cardholder").await?;
        let value = number(&each(r"(-?\d+)", &shown).pop().ok_or(shown)?)?;
        best = best.max((value, nth));
    }
    play.click(nth_of(&cards, best.1)?).await?;
    play.submit().await
}

/// stock-market: wait for a price.
pub async fn stock(play: &Play<'_>) -> Played {
    let asked = play.asked(r"less than \$([\d.]+)").await?;
    let limit: f64 = asked[0].trim_end_matches('.').parse().map_err(|_| asked[0].clone())?;
    let buy = play.named("button", "Buy").await?;
    for _ in 0..400 {
        let text = play.text("#stock-price").await?;
        let price = text.trim().trim_start_matches('$').parse().unwrap_or(f64::MAX);
        if price < limit - 1.5 || price <= limit && price > 0.0 {
            return play.click(buy).await;
        }
    }
    Err("the price did not fall".to_owned())
}

/// sign-agreement: read to the end, then sign.
pub async fn sign(play: &Play<'_>) -> Played {
    let query = play.query().await?;
    if let Some(found) = groups(r#"name "(.+?)" ?then press "(\w+)""#, &query) {
        let area = play.at("#text-area").await?;
        play.must("scroll", json!({ "index": area, "direction": "down", "amount": 50 })).await?;
        play.fill(play.at("#name").await?, &found[0]).await?;
        return play.press("button", &found[1]).await;
    }
    play.press("button", "Cancel").await
}

/// terminal: list the files, delete the one.
pub async fn terminal(play: &Play<'_>) -> Played {
    let query = play.query().await?;
    let field = play.at("#terminal-target").await?;
    play.keys_at(field, "ls").await?;
    play.keys("Enter").await?;
    let shown = play.text("#terminal").await?;
    let after = shown.rsplit("ls").next().unwrap_or_default().to_owned();
    let ending = each(r"extension (\.\S+)", &query).pop();
    let fits = |name: &&str| match &ending {
        Some(ending) => name.ends_with(ending.as_str()),
        None => !name.contains('.') && !name.contains('$') && name.len() > 1,
    };
    let name = after.split_whitespace().find(fits).ok_or(shown.clone())?;
    play.keys(&format!("rm {name}")).await?;
    play.keys("Enter").await
}
