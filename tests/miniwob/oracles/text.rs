//! The editor with styles, the colour field.

use crate::play::{Play, Played, each, groups};

/// text-editor: select by the keyboard, then press the style.
pub async fn style(play: &Play<'_>) -> Played {
    let query = play.query().await?;
    let editor = play.at(".ql-editor").await?;
    let text = play.text(".ql-editor").await?;
    match groups(r"give the text (.+) the (?:style|color)", &query) {
        Some(found) => {
            let before = text.find(&found[0]).ok_or_else(|| text.clone())?;
            play.keys_at(editor, "Control+Home").await?;
            let mut keys = vec!["ArrowRight"; before];
            keys.extend(vec!["Shift+ArrowRight"; found[0].len()]);
            play.keys(&keys.join(" ")).await?;
        }
        None => play.keys_at(editor, "Control+a").await?,
    }
    if let Some(style) = each(r"style (bold|italics|underlined)", &query).pop() {
        let button = match style.as_str() {
            "bold" => ".ql-bold",
            "italics" => ".ql-italic",
            _ => ".ql-underline",
        };
        play.click(play.at(button).await?).await?;
    } else {
        let color = each(r"color (\w+)", &query).pop().ok_or(query)?;
        let shade = match color.as_str() {
            "red" => "#e60000",
            "orange" => "#ff9900",
            "yellow" => "#ffff00",
            "green" => "#008a00",
            "blue" => "#0066cc",
            _ => "#9933ff",
        };
        play.click(play.at(".ql-color .ql-picker-label").await?).await?;
        play.click(play.at(&format!(".ql-color .ql-picker-item[data-value='{shade}']")).await?).await?;
    }
    play.submit().await
}
