//! Posts with a row of drawn buttons each.

use crate::play::{Line, Play, Played, nth_of};

/// The class that the page gives a button; the view shows the same word as a tooltip or not at all.
fn class(button: &str) -> String {
    button.to_lowercase()
}

/// social-media: one button, maybe in the menu of a post.
pub async fn one(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"user (@\S+), click on the "(.+)" button"#).await?;
    let users = super::mail::texts(play, ".media .username").await?;
    let nth = users.iter().position(|user| *user == asked[0]).ok_or_else(|| format!("{users:?}"))?;
    if matches!(asked[1].as_str(), "Reply" | "Retweet" | "Like") {
        let buttons = play.indexes(&format!(".media .{}", class(&asked[1]))).await?;
        return play.click(nth_of(&buttons, nth)?).await;
    }
    play.click(nth_of(&play.indexes(".media .more").await?, nth)?).await?;
    let fits = |line: &&Line| line.index.is_some() && line.name.trim().starts_with(&asked[1]);
    let lines = play.controls().await;
    let entry = lines.iter().find(fits).and_then(|line| line.index);
    play.click(entry.ok_or_else(|| format!("no {} in {lines:#?}", asked[1]))?).await
}

/// social-media-all, social-media-some: the same button of several posts.
pub async fn several(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"the "(.+)" button on (all|\d+) posts? by (@\S+) and then"#).await?;
    let users = super::mail::texts(play, ".media .username").await?;
    let buttons = play.indexes(&format!(".media .{}", class(&asked[0]))).await?;
    let most = asked[1].parse().unwrap_or(usize::MAX);
    let own = users.iter().zip(buttons).filter(|(user, _)| **user == asked[2]);
    for (_, button) in own.take(most) {
        play.click(button).await?;
    }
    play.submit().await
}
