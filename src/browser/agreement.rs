//! Whether a field holds the text that it was given, when the page formats what it gets.

/// Marks that masks put between characters, and put in place of each other between digits.
const MASK: &str = "()[]-/";

/// Marks that a page may add to what it was given.
const ADDED: &str = "()[]-/.,:_";

/// Marks that a page may put in front or behind besides.
const ADDED_OUTSIDE: &str = "+#@$€£¥%";

/// Whether `held` is `wanted` with nothing but separators added, other capitals, or the same number written
/// otherwise. A character that the page took away (a minus sign, a decimal comma, an `@`) is other content.
pub(super) fn same_text(wanted: &str, held: &str) -> bool {
    let (wanted, held) = (plain(wanted), plain(held));
    if wanted == held {
        return true;
    }
    let (meant, shown) = (readings(&wanted), readings(&held));
    if !meant.is_empty() && !shown.is_empty() {
        return meant.iter().any(|number| shown.contains(number));
    }
    let (wanted, held) = (Parts::of(&wanted), Parts::of(&held));
    if wanted.content.is_empty() || wanted.content != held.content {
        return false;
    }
    let last = wanted.gaps.len() - 1;
    wanted.gaps.iter().zip(&held.gaps).enumerate().all(|(at, (asked, there))| {
        let outside = at == 0 || at == last;
        let between_digits =
            !outside && [at - 1, at].iter().all(|&side| wanted.content[side].is_ascii_digit());
        keeps_gap(asked, there, outside, between_digits)
    })
}

/// Whether a number field holds this number.
pub(super) fn same_number(wanted: &str, held: &str) -> bool {
    if wanted.is_empty() || held.is_empty() {
        return wanted == held;
    }
    match (canonical(wanted), canonical(held)) {
        (Some(wanted), Some(held)) => wanted == held,
        // With an exponent.
        _ => {
            matches!((wanted.parse::<f64>(), held.parse::<f64>()), (Ok(a), Ok(b)) if (a - b).abs() <= f64::EPSILON * a.abs().max(b.abs()))
        }
    }
}

/// A number as number fields take it: `-1234.5`. `None`: it is no number, or `1,234` could be two.
pub(super) fn for_number_field(text: &str) -> Option<String> {
    let text = plain(text);
    if text.is_empty() {
        return Some(text);
    }
    let unsigned = text.strip_prefix('+').unwrap_or(&text);
    let unsigned = unsigned.strip_suffix('.').unwrap_or(unsigned);
    let exponent =
        unsigned.contains(['e', 'E']) && unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    // A point is always the decimal point in such a field: `1.234` is no thousand.
    if canonical(unsigned).is_some() || (exponent && unsigned.parse::<f64>().is_ok_and(f64::is_finite)) {
        return Some(unsigned.to_owned());
    }
    match readings(unsigned).as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
}

/// One way of writing quotes, dashes and spaces: editors put in their own.
fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.trim().chars() {
        match c {
            '\u{2212}' | '\u{2010}'..='\u{2015}' | '\u{fe63}' | '\u{ff0d}' => out.push('-'),
            '\u{2018}' | '\u{2019}' | '\u{2bc}' => out.push('\''),
            '\u{201c}'..='\u{201e}' => out.push('"'),
            '\u{2026}' => out.push_str("..."),
            '\u{200b}' | '\u{feff}' | '\u{200e}' | '\u{200f}' => {}
            c if c.is_whitespace() && c != '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// The content, and the separators before, between and behind its characters.
struct Parts {
    content: Vec<char>,
    gaps: Vec<String>,
}

impl Parts {
    fn of(text: &str) -> Self {
        let mut parts = Self { content: Vec::new(), gaps: vec![String::new()] };
        for c in text.chars() {
            let separates = c.is_whitespace() || ADDED.contains(c) || ADDED_OUTSIDE.contains(c);
            match parts.gaps.last_mut() {
                Some(gap) if separates => gap.push(c),
                _ => {
                    for lower in c.to_lowercase() {
                        parts.content.push(lower);
                        parts.gaps.push(String::new());
                    }
                }
            }
        }
        parts
    }
}

fn keeps_gap(asked: &str, there: &str, outside: bool, between_digits: bool) -> bool {
    let is_mask = |gap: &str| !gap.is_empty() && gap.chars().all(|c| c.is_whitespace() || MASK.contains(c));
    if between_digits && is_mask(asked) {
        return is_mask(there);
    }
    if asked.contains(char::is_whitespace) && !there.contains(char::is_whitespace) {
        return false;
    }
    let mut left = asked.chars().filter(|c| !c.is_whitespace()).peekable();
    for c in there.chars() {
        let asked_for = left.next_if_eq(&c).is_some();
        let addable = c.is_whitespace() || ADDED.contains(c) || (outside && ADDED_OUTSIDE.contains(c));
        if !asked_for && !addable {
            return false;
        }
    }
    left.peek().is_none()
}

/// The numbers that a text can be, in one form each; none when it does not look like a number. `1,234` is two.
fn readings(text: &str) -> Vec<String> {
    let bare = text.trim_matches(|c: char| c.is_whitespace() || "$€£¥₹₽₩%".contains(c));
    let (sign, rest) = match bare.strip_prefix('-') {
        Some(rest) => ("-", rest.trim_start_matches(|c: char| c.is_whitespace() || "$€£¥₹₽₩".contains(c))),
        None => ("", bare.strip_prefix('+').unwrap_or(bare)),
    };
    let mut found = Vec::new();
    for decimal in ['.', ','] {
        let (whole, fraction) = match rest.split_once(decimal) {
            Some((whole, fraction)) => (whole, fraction),
            None => (rest, ""),
        };
        if !fraction.chars().all(|c| c.is_ascii_digit()) {
            continue;
        }
        let other = if decimal == '.' { ',' } else { '.' };
        let Some(digits) = ungrouped(whole, &[other, ' ', '\'']) else { continue };
        // A leading nought is part of a code, not of a number.
        if digits.len() > 1 && digits.starts_with('0') {
            continue;
        }
        if let Some(number) = canonical(&format!("{sign}{digits}.{fraction}"))
            && !found.contains(&number)
        {
            found.push(number);
        }
    }
    found
}

/// Digits without the marks between groups of three.
fn ungrouped(whole: &str, marks: &[char]) -> Option<String> {
    let Some(mark) = whole.chars().find(|c| marks.contains(c)) else {
        return whole.chars().all(|c| c.is_ascii_digit()).then(|| whole.to_owned());
    };
    let groups: Vec<&str> = whole.split(mark).collect();
    let right = groups.iter().all(|group| group.chars().all(|c| c.is_ascii_digit()))
        && (1..=3).contains(&groups[0].len())
        && !groups[0].starts_with('0')
        && groups[1..].iter().all(|group| group.len() == 3);
    right.then(|| groups.concat())
}

/// `-1.5` for `-01.50`; exact for any length. `None` for what is not plain decimal digits.
fn canonical(text: &str) -> Option<String> {
    let (sign, rest) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = rest.split_once('.').unwrap_or((rest, ""));
    let digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    if (whole.is_empty() && fraction.is_empty()) || !digits(whole) || !digits(fraction) {
        return None;
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let fraction = fraction.trim_end_matches('0');
    let point = if fraction.is_empty() { "" } else { "." };
    let sign = if whole == "0" && fraction.is_empty() { "" } else { sign };
    Some(format!("{sign}{whole}{point}{fraction}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_separators_agree() {
        for (wanted, held) in [
            ("5550100199", "(555) 010-0199"),
            ("15550100199", "+1 (555) 010-0199"),
            ("555-010-0199", "555 010 0199"),
            ("4111111111111111", "4111 1111 1111 1111"),
            ("12345678909", "123.456.789-09"),
            ("09042031", "09.04.2031"),
            ("04/09/2031", "04-09-2031"),
            ("1745", "17:45"),
            ("abc", "ABC"),
            ("a\nb", "a\n\nb\n"),
            ("it's \"so\"", "it\u{2019}s \u{201c}so\u{201d}"),
            ("Jo ", "Jo"),
            ("5", "5.00"),
            ("1234.5", "$1,234.50"),
            ("1234.5", "1.234,50 €"),
            ("-20", "\u{2212}20"),
        ] {
            assert!(same_text(wanted, held), "{wanted:?} {held:?}");
        }
    }

    #[test]
    fn removed_characters_do_not_agree() {
        for (wanted, held) in [
            ("-1.5", "15"),
            ("-20", "20"),
            ("20", "-20"),
            ("1,5", "15"),
            ("1,23", "123"),
            ("1234", "12.34"),
            ("a@b.c", "abc"),
            ("KQ-4711", "KQ4711"),
            ("docs/read me", "docs-read me"),
            ("two words", "twowords"),
            ("007", "7"),
            ("C++", "C"),
            ("--", "++"),
            ("12", "1.2e1."),
            ("SPRING-20", ""),
            ("4111111111111111111", "4111111111111111112"),
        ] {
            assert!(!same_text(wanted, held), "{wanted:?} {held:?}");
        }
    }

    #[test]
    fn numbers_are_written_as_number_fields_take_them() {
        for (text, number) in [
            ("1,5", "1.5"),
            ("1,23", "1.23"),
            ("\u{2212}5", "-5"),
            ("1.234,56", "1234.56"),
            ("1,234.56", "1234.56"),
            ("1.234.567", "1234567"),
            ("1 234,5", "1234.5"),
            ("1.234", "1.234"),
            ("+7", "7"),
            ("007", "007"),
            ("1e3", "1e3"),
            ("", ""),
        ] {
            assert_eq!(for_number_field(text).as_deref(), Some(number), "{text:?}");
        }
        for text in ["1,234", "12 kg", "1,2,3", "1.2.3", "five", "-", "inf", "NaN", "1-2"] {
            assert_eq!(for_number_field(text), None, "{text:?}");
        }
    }

    #[test]
    fn number_fields_are_compared_by_number() {
        assert!(same_number("1.50", "1.5") && same_number("1e3", "1000") && same_number("", ""));
        assert!(!same_number("1.5", "15") && !same_number("-5", "5") && !same_number("5", ""));
    }
}
