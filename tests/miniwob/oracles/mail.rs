//! The mailbox in its ten shapes.

use crate::play::{Play, Played, groups, nth_of};

/// What shall be done with whose letter.
enum Wish {
    Star,
    Trash,
    Reply(String),
    Forward(String),
}

/// email-inbox and its kin: the task in one of its usual wordings, or in people's own words.
pub async fn inbox(play: &Play<'_>) -> Played {
    let query = play.query().await?;
    let senders = texts(play, "#main .email-sender").await?;
    let (nth, wish) = understood(&query, &senders).ok_or_else(|| format!("{query:?} of {senders:?}"))?;
    match wish {
        Wish::Star => play.click(nth_of(&play.indexes("#main .email-thread .star").await?, nth)?).await,
        Wish::Trash => play.click(nth_of(&play.indexes("#main .email-thread .trash").await?, nth)?).await,
        Wish::Reply(text) => {
            play.press_first(&senders[nth]).await?;
            play.click(play.at("#email .email-reply").await?).await?;
            play.fill(play.at("#reply-text").await?, &text).await?;
            play.click(play.at("#send-reply").await?).await
        }
        Wish::Forward(to) => {
            play.press_first(&senders[nth]).await?;
            play.click(play.at("#email .email-forward").await?).await?;
            play.fill(play.at("#forward .forward-sender").await?, &to).await?;
            play.click(play.at("#send-forward").await?).await
        }
    }
}

/// The texts of what a selector finds.
pub async fn texts(play: &Play<'_>, selector: &str) -> Result<Vec<String>, String> {
    let found = play.dom(selector).await?;
    Ok(found.iter().map(|row| row["text"].as_str().unwrap_or_default().trim().to_owned()).collect())
}

fn understood(query: &str, senders: &[String]) -> Option<(usize, Wish)> {
    let whose = |name: &str| senders.iter().position(|sender| sender.eq_ignore_ascii_case(name));
    if let Some(found) = groups(r#"by (\S+) and reply to them with the text "(.+)""#, query) {
        return Some((whose(&found[0])?, Wish::Reply(found[1].clone())));
    }
    if let Some(found) = groups(r"by (\S+) and forward that email to (\S+?)\.", query) {
        return Some((whose(&found[0])?, Wish::Forward(found[1].clone())));
    }
    if let Some(found) = groups(r"by (\S+) and click the (trash|star)", query) {
        return Some((whose(&found[0])?, if found[1] == "star" { Wish::Star } else { Wish::Trash }));
    }
    // In people's own words: the sender is the name that the inbox has, and the other name is where it shall go.
    let names: Vec<&str> = query
        .split(|mark: char| !mark.is_alphanumeric())
        .filter(|word| word.chars().next().is_some_and(char::is_uppercase))
        .collect();
    let said = r"(?i)(?:from|by|of|that) (\w+)|(\w+)[’']s|(\w+) (?:sent|wrote|email)|email (\w+)";
    let marked = groups(said, query).into_iter().flatten().find_map(|name| whose(&name));
    let nth = marked.or_else(|| names.iter().find_map(|name| whose(name)))?;
    let low = query.to_lowercase();
    if let Some(found) = groups(r#"["“](.+)["”]"#, query) {
        return Some((nth, Wish::Reply(found[0].clone())));
    }
    if ["delete", "trash", "remove", "rid of", "erase", "discard"].iter().any(|word| low.contains(word)) {
        return Some((nth, Wish::Trash));
    }
    if ["important", "star", "flag", "mark"].iter().any(|word| low.contains(word)) {
        return Some((nth, Wish::Star));
    }
    if let Some(found) = groups(r"(?i)(?:saying|text|message|with|say|tell \w+)[: ]+(.+?)\.?$", query)
        && (low.contains("reply") || low.contains("respond") || low.contains("answer"))
    {
        return Some((nth, Wish::Reply(found[0].clone())));
    }
    let sender = senders.get(nth)?;
    let to = names.iter().rev().find(|name| !sender.eq_ignore_ascii_case(name) && !VERBS.contains(name))?;
    Some((nth, Wish::Forward((*to).to_owned())))
}

/// Words that begin a sentence, and names of nobody.
const VERBS: &[&str] = &[
    "Find",
    "Forward",
    "FOrward",
    "Foward",
    "Send",
    "Give",
    "Go",
    "Please",
    "Can",
    "Could",
    "Copy",
    "Ask",
    "I",
    "Automatically",
    "Locate",
    "Look",
    "Get",
    "It",
    "Email",
    "Emails",
    "Open",
    "The",
    "Search",
    "Take",
    "Then",
    "Let",
    "Show",
    "Share",
    "Pass",
    "Make",
    "Need",
    "Navigate",
    "In",
    "From",
    "My",
    "Retrieve",
    "You",
    "Will",
    "Would",
    "Select",
    "Transfer",
    "That",
    "This",
    "To",
    "Resend",
    "Relay",
    "Grab",
    "Choose",
    "Check",
    "Click",
];
