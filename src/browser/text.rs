//! Page text made harmless: whatever a page writes, one line stays one line, a tag stays closed, and what
//! cannot be seen is shown.

use unicode_segmentation::UnicodeSegmentation;

/// Page text as it may stand between two tags: white space collapsed, `<` and `>` escaped, invisible and
/// direction-changing characters shown, at most `cap` graphemes.
pub fn clean(text: &str, cap: usize) -> String {
    let mut out = String::new();
    let mut writer = Writer { out: &mut out, mode: Mode::Line };
    writer.write(text, cap);
    out
}

/// Page text of several lines: as [`clean`], but line ends and tabs stay.
pub fn clean_lines(text: &str) -> String {
    let mut out = String::new();
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        Writer { out: &mut out, mode: Mode::Block }.write(line, usize::MAX);
    }
    out
}

/// Markup that was written out with its own texts escaped: as [`clean_lines`], but tags stay tags.
pub fn markup(html: &str) -> String {
    let mut out = String::new();
    for (number, line) in html.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        Writer { out: &mut out, mode: Mode::Markup }.write(line, usize::MAX);
    }
    out
}

/// A value as JSON text in double quotes, on one line, without a character that could close a tag.
pub fn quoted(text: &str, cap: usize) -> String {
    let mut out = String::from("\"");
    Writer { out: &mut out, mode: Mode::Quoted }.write(text, cap);
    out.push('"');
    out
}

/// A value that may stand without quotes when it is a plain word of ASCII letters, digits, `_` and `-`.
pub fn token(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !text.is_empty() && text.len() <= 40 && text.bytes().all(plain) {
        text.to_owned()
    } else {
        quoted(text, 120)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Line,
    Block,
    Markup,
    Quoted,
}

struct Writer<'a> {
    out: &'a mut String,
    mode: Mode,
}

impl Writer<'_> {
    fn write(&mut self, text: &str, cap: usize) {
        let mut written = 0;
        let mut space = false;
        let mut graphemes = text.graphemes(true).peekable();
        while let Some(grapheme) = graphemes.next() {
            let blank = grapheme.chars().all(char::is_whitespace);
            if blank && !matches!(self.mode, Mode::Block | Mode::Markup) {
                space = written > 0;
                continue;
            }
            if written + usize::from(space) >= cap {
                self.out.push('…');
                return;
            }
            if std::mem::take(&mut space) {
                self.out.push(' ');
                written += 1;
            }
            if blank {
                self.out.push(if grapheme == "\t" { '\t' } else { ' ' });
            } else if let (Some(current), true) = (grapheme.chars().next(), is_lone_hidden(grapheme)) {
                let mut run = 1;
                while graphemes.next_if_eq(&grapheme).is_some() {
                    run += 1;
                }
                self.hidden(current, run);
            } else {
                self.grapheme(grapheme);
            }
            written += 1;
        }
    }

    fn grapheme(&mut self, grapheme: &str) {
        let chars: Vec<char> = grapheme.chars().collect();
        let mut at = 0;
        while let Some(&current) = chars.get(at) {
            let run = chars.iter().skip(at).take_while(|next| **next == current).count();
            if !is_hidden(current) || (run == 1 && belongs(&chars, at)) {
                self.visible(current);
                at += 1;
                continue;
            }
            self.hidden(current, run);
            at += run;
        }
    }

    fn hidden(&mut self, current: char, run: usize) {
        // One break hint (soft hyphen, zero-width space) is ordinary typography; several are a message.
        if run == 1 && matches!(current, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}') {
            return;
        }
        self.mark(current);
        if run > 1 {
            self.out.push_str(&format!("×{run}"));
        }
    }

    fn visible(&mut self, current: char) {
        match (self.mode, current) {
            (Mode::Quoted, '"') => self.out.push_str("\\\""),
            (Mode::Quoted, '\\') => self.out.push_str("\\\\"),
            (Mode::Quoted, '<' | '>') => self.mark(current),
            (Mode::Markup, _) => self.out.push(current),
            (_, '<') => self.out.push_str("&lt;"),
            (_, '>') => self.out.push_str("&gt;"),
            _ => self.out.push(current),
        }
    }

    fn mark(&mut self, current: char) {
        let code = u32::from(current);
        if code > 0xffff {
            self.out.push_str(&format!("\\u{{{code:x}}}"));
        } else {
            self.out.push_str(&format!("\\u{code:04x}"));
        }
    }
}

fn is_lone_hidden(grapheme: &str) -> bool {
    let mut chars = grapheme.chars();
    chars.next().is_some_and(is_hidden) && chars.next().is_none()
}

/// Characters that a reader does not see or that change what a reader sees around them.
fn is_hidden(current: char) -> bool {
    matches!(
        current,
        '\0'..='\u{1f}'
            | '\u{7f}'..='\u{9f}'
            | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a hidden character does its proper work inside a grapheme: joins emoji or letters that need it,
/// chooses between text and emoji form, or spells the flag of a region.
fn belongs(grapheme: &[char], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|at| grapheme.get(at)).copied();
    let after = grapheme.get(at + 1).copied();
    let written = |other: Option<char>| other.is_some_and(|other| !other.is_ascii() && !is_hidden(other));
    match grapheme.get(at) {
        Some('\u{200c}' | '\u{200d}') => {
            (written(before) || before == Some('\u{fe0f}')) && (after.is_none() || written(after))
        }
        Some('\u{fe00}'..='\u{fe0f}') => {
            written(before) || before.is_some_and(|before| before.is_ascii_digit() || "#*".contains(before))
        }
        Some('\u{180b}'..='\u{180f}' | '\u{e0100}'..='\u{e01ef}') => written(before),
        Some('\u{e0020}'..='\u{e007f}') => {
            grapheme.first() == Some(&'\u{1f3f4}')
                && grapheme.last() == Some(&'\u{e007f}')
                && grapheme.len() <= 8
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emoji_and_scripts_that_need_joiners_stay_whole() {
        for text in [
            "👩‍👩‍👧",
            "❤️ 1️⃣",
            "می‌خواهم",
            "क्‍ष",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "漢字\u{e0100}",
        ] {
            assert_eq!(clean(text, 100), text);
        }
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(clean("a\u{202e}b", 100), "a\\u202eb");
        assert_eq!(clean("a\u{e0041}\u{e0041}b\u{1b}[0m", 100), "a\\u{e0041}×2b\\u001b[0m");
        assert_eq!(clean("Donau\u{ad}dampf a\u{200b}b", 100), "Donaudampf ab");
        assert_eq!(clean("a\u{200b}\u{200b}\u{200b}b", 100), "a\\u200b×3b");
    }

    #[test]
    fn markup_keeps_its_tags_and_shows_what_cannot_be_seen() {
        assert_eq!(markup("<b>a &lt;\u{202e}</b>\n <i>"), "<b>a &lt;\\u202e</b>\n <i>");
    }

    #[test]
    fn text_is_cut_between_graphemes_and_marked() {
        assert_eq!(clean("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 2), "👩‍👩‍👧👩‍👩‍👧…");
        assert_eq!(clean("  a \n b\t c ", 100), "a b c");
        assert_eq!(clean("abc", 3), "abc");
    }

    #[test]
    fn quoted_text_is_json() {
        for text in ["a\"b", "a\\b", "<b>", "line\nbreak", "plain"] {
            let quoted = quoted(text, 100);
            let read: String = serde_json::from_str(&quoted).unwrap();
            assert_eq!(read, text.replace('\n', " "), "{quoted}");
            assert!(!quoted.contains(['<', '>', '\n']));
        }
    }

    #[test]
    fn only_plain_words_go_without_quotes() {
        assert_eq!(token("menu-item_2"), "menu-item_2");
        for text in ["", "two words", "a=b", "a>b", "é", "\u{200b}"] {
            assert!(token(text).starts_with('"'), "{text:?}");
        }
    }
}
