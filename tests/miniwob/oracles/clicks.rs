//! Buttons, tick boxes, tabs, sections, menus, dialogs.

use serde_json::json;

use crate::play::{Play, Played, each};

/// click-test, click-test-transfer: one button.
pub async fn one_button(play: &Play<'_>) -> Played {
    let query = play.query().await?;
    let name = each(r"button (\w+)", &query).pop().unwrap_or_else(|| "Click Me!".to_owned());
    play.press("button", &name).await
}

/// click-button: the button of a name.
pub async fn named_button(play: &Play<'_>) -> Played {
    let asked = play.asked(r#""(.+)""#).await?;
    play.press("button", &asked[0]).await
}

/// click-button-sequence.
pub async fn one_then_two(play: &Play<'_>) -> Played {
    play.press("button", "ONE").await?;
    play.press("button", "TWO").await
}

/// button-delay: the page counts the seconds itself.
pub async fn one_wait_two(play: &Play<'_>) -> Played {
    let asked = play.asked(r"wait (\d+) seconds").await?;
    let seconds: u64 = asked[0].parse().map_err(|_| asked[0].clone())?;
    let two = play.named("button", "TWO").await?;
    play.press("button", "ONE").await?;
    play.must("wait_for", json!({ "ms": seconds * 1000 })).await?;
    play.click(two).await
}

/// click-checkboxes and its kin.
pub async fn checkboxes(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Select (.*) and click Submit").await?;
    tick_all(play, |name| asked[0].split(", ").any(|one| one == name)).await
}

/// click-checkboxes-soft: words that mean the same; a model knows these by itself.
pub async fn synonyms(play: &Play<'_>) -> Played {
    const ALIKE: &[&str] = &[
        "big large huge enormous gigantic",
        "small tiny little mini petite",
        "red scarlet crimson vermillion",
        "happy cheerful joyful gleeful delighted",
        "sad unhappy sorrowful miserable tragic",
        "angry mad furious irritated",
        "evil wicked immoral sinful corrupt depraved",
        "wrong incorrect mistaken erroneous",
        "real genuine actual",
        "strange odd peculiar unusual weird",
        "stop cease halt end finish",
        "scared terrified panicked fearful frightened afraid",
        "quiet calm peaceful serene mild",
        "old aged archaic",
        "love like adore favor",
        "kill murder assassinate",
        "keep retain preserve sustain maintain",
        "hide conceal camouflage",
        "hate despise loathe detest dislike",
        "funny humorous amusing comical laughable",
        "fat fleshy plump chubby",
        "stupid dumb dull unwise",
        "delicious savory delectable appetizing",
        "cut slice carve chop",
        "brave courageous fearless",
        "begin start initiate launch",
        "answer reply response",
        "television televisions TV TVs",
        "house home houses homes",
        "fire flame fires flames",
        "pig pork swine",
        "rabbit rabbits bunny bunnies",
        "car cars automobile automobiles vehicle vehicles",
        "water",
    ];
    let asked = play.asked(r"similar to (.*) and click Submit").await?;
    let group = |word: &str| ALIKE.iter().position(|alike| alike.split(' ').any(|one| one == word));
    tick_all(play, |name| asked[0].split(", ").any(|one| group(one) == group(name))).await
}

async fn tick_all(play: &Play<'_>, wanted: impl Fn(&str) -> bool) -> Played {
    for line in play.controls().await {
        if line.text.contains("type=checkbox") && wanted(line.name.trim()) {
            play.tick(line.index.unwrap_or(0), true).await?;
        }
    }
    play.submit().await
}

/// click-link, click-tab, click-tab-2-easy: a text of the page that can be pressed.
pub async fn link(play: &Play<'_>) -> Played {
    let asked = play.asked(r#""(.+)""#).await?;
    play.press("", &asked[0]).await
}

/// click-tab: `Tab #2`.
pub async fn tab(play: &Play<'_>) -> Played {
    let asked = play.asked(r"(Tab #\d)").await?;
    play.press("", &asked[0]).await
}

/// click-tab-2 and its kin: look behind each tab for the word.
pub async fn word_behind_tabs(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"link "(.+)""#).await?;
    look_behind(play, &asked[0], "").await
}

/// click-collapsible-2: look below each heading for the word.
pub async fn word_below_sections(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"link "(.+)""#).await?;
    look_behind(play, &asked[0], "Section #").await
}

async fn look_behind(play: &Play<'_>, word: &str, doors: &str) -> Played {
    if play.press("", word).await.is_ok() {
        return Ok(());
    }
    let fits = |line: &crate::play::Line| {
        line.name.starts_with(doors) && (line.text.contains("role=presentation") || line.tag == "h3")
    };
    let doors: Vec<u32> =
        play.controls().await.iter().filter(|line| fits(line)).filter_map(|line| line.index).collect();
    for door in doors {
        play.click(door).await?;
        if play.press("", word).await.is_ok() {
            return Ok(());
        }
    }
    // Of two tabs the second may be empty: opening it was the task.
    Ok(())
}

/// click-collapsible.
pub async fn section(play: &Play<'_>) -> Played {
    play.press_first("Section #").await?;
    play.submit().await
}

/// click-dialog.
pub async fn close_dialog(play: &Play<'_>) -> Played {
    play.press("button", "Close").await
}

/// click-dialog-2.
pub async fn dialog_button(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"labeled "(.+)""#).await?;
    play.press("button", if asked[0] == "x" { "Close" } else { &asked[0] }).await
}

/// click-option: radio buttons.
pub async fn radio(play: &Play<'_>) -> Played {
    let asked = play.asked(r"Select (.*) and click Submit").await?;
    let index = play.named("input", &asked[0]).await?;
    play.tick(index, true).await?;
    play.submit().await
}

/// click-widget.
pub async fn widget(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"on a "(.+)" widget"#).await?;
    let selector = match asked[0].as_str() {
        "radio" => "#area input[type=radio]",
        "checkbox" => "#area input[type=checkbox]",
        "text" => "#area input[type=text]",
        "textarea" => "#area textarea",
        _ => "#area button",
    };
    play.click(play.at(selector).await?).await
}

/// click-menu: submenus open under the mouse.
pub async fn menu(play: &Play<'_>) -> Played {
    let asked = play.asked("Select (.+)").await?;
    let path: Vec<&str> = asked[0].split('>').collect();
    for (depth, name) in path.iter().enumerate() {
        let index = play.named("", name).await?;
        if depth + 1 < path.len() {
            play.must("hover_index", json!({ "index": index })).await?;
            play.must("wait_for", json!({ "text": path[depth + 1] })).await?;
        } else {
            play.click(index).await?;
        }
    }
    Ok(())
}

/// click-menu-2: a name, or the icon before it.
pub async fn menu_with_icons(play: &Play<'_>) -> Played {
    const INSIDE: [&str; 4] = ["Prev", "Stop", "Play", "Next"];
    let query = play.query().await?;
    let name = match each(r#"labeled "(.+)""#, &query).pop() {
        Some(name) => name,
        None => {
            let markup = play.html("#query").await;
            let icon = each(r"(ui-icon-[a-z-]+)", &markup).pop().ok_or(markup)?;
            let listed = play.html("#menu").await;
            each(&format!(r"{icon}[^>]*>\s*(?:</span>)?\s*([A-Z][A-Za-z ]+)"), &listed).pop().ok_or(listed)?
        }
    };
    play.press("button", "Menu").await?;
    if INSIDE.contains(&name.as_str()) {
        let playback = play.find("Playback").await?;
        play.must("hover_index", json!({ "index": playback })).await?;
        play.must("wait_for", json!({ "text": name })).await?;
    }
    play.press_first(&name).await
}

/// navigate-tree: folders are opened one after the other.
pub async fn tree(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"named "(.+)""#).await?;
    let mut opened = Vec::new();
    for _ in 0..20 {
        if let Ok(index) = play.named("", &asked[0]).await {
            return play.click(index).await;
        }
        let folders = play.dom("#tree span.folder").await?;
        let shut = folders.iter().filter_map(|row| Some((row["index"].as_u64()?, row["text"].as_str()?)));
        let next = shut.into_iter().find(|(index, _)| !opened.contains(index));
        let (index, _) = next.ok_or_else(|| format!("no folder is left: {folders:?}"))?;
        opened.push(index);
        play.click(u32::try_from(index).unwrap_or(0)).await?;
    }
    Err("the tree does not end".to_owned())
}

/// click-pie: the slices are drawn, their names are text.
pub async fn pie(play: &Play<'_>) -> Played {
    let asked = play.asked(r#"labeled "(.+)""#).await?;
    play.press("", "+").await?;
    play.must("wait_for", json!({ "text": asked[0] })).await?;
    play.press("", &asked[0]).await
}

/// grid-coordinate: each dot has its place as its id.
pub async fn coordinate(play: &Play<'_>) -> Played {
    let asked = play.asked(r"(\(-?\d,-?\d\))").await?;
    play.click(play.at(&format!("[id='{}']", asked[0])).await?).await
}

/// ascending-numbers: the numbers hide after the first, their places do not.
pub async fn ascending(play: &Play<'_>) -> Played {
    play.press("", "1").await?;
    for _ in 2..=5 {
        let next = play.at("#area_svg rect").await?;
        play.click(next).await?;
    }
    Ok(())
}

/// identify-shape: the view tells what is drawn by its tag.
pub async fn identify(play: &Play<'_>) -> Played {
    let lines = play.controls().await;
    let drawn = lines.iter().find(|line| line.tag != "button").ok_or_else(|| format!("{lines:#?}"))?;
    let name = match drawn.tag.as_str() {
        "rect" => "Rectangle",
        "circle" => "Circle",
        "polygon" => "Triangle",
        _ if drawn.name.trim().parse::<u32>().is_ok() => "Number",
        _ => "Letter",
    };
    play.press("button", name).await
}
