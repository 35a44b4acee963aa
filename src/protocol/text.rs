//! JSON text as JavaScript writes it, made into JSON text that Rust can read.

use std::borrow::Cow;

use memchr::memmem;

/// What takes the place of half a character: the escape of U+FFFD, as long as the escape it replaces.
const REPLACEMENT: &[u8; 6] = b"\\ufffd";

/// Makes JSON text readable that is fine but for its characters: escapes of lone surrogates
/// (`"\ud83d"`, which JavaScript writes for a string cut in the middle of an emoji and which Rust
/// strings cannot hold) and bytes that are no UTF-8 become U+FFFD.
///
/// Everything else stays as it is, structure included: text that is no JSON before is no JSON after.
/// Linear in the length of `text`; text without such characters is borrowed, not copied.
pub fn repair_json_text(text: &[u8]) -> Cow<'_, [u8]> {
    let mut repaired = match String::from_utf8_lossy(text) {
        Cow::Borrowed(same) => Cow::Borrowed(same.as_bytes()),
        Cow::Owned(replaced) => Cow::Owned(replaced.into_bytes()),
    };
    let escape = memmem::Finder::new(b"\\u");
    let mut from = 0;
    while let Some(found) = escape.find(&repaired[from..]) {
        let at = from + found;
        from = match escape_at(&repaired, at) {
            Escape::None => at + 2,
            Escape::Whole { end } => end,
            Escape::Lone => {
                repaired.to_mut()[at..at + REPLACEMENT.len()].copy_from_slice(REPLACEMENT);
                at + REPLACEMENT.len()
            }
        };
    }
    repaired
}

enum Escape {
    /// No escape of a character, or a broken one, which the parser will name.
    None,
    /// One character, perhaps of two escapes.
    Whole { end: usize },
    /// Half a character.
    Lone,
}

/// What the `\u` at `at` is.
fn escape_at(text: &[u8], at: usize) -> Escape {
    // `\\u` is a backslash and the letter u. Runs before different hits do not overlap, so all the
    // counting together is linear.
    let backslashes_before = text[..at].iter().rev().take_while(|byte| **byte == b'\\').count();
    if backslashes_before % 2 == 1 {
        return Escape::None;
    }
    match code_unit(text, at) {
        None => Escape::None,
        Some(0xD800..=0xDBFF) => match code_unit(text, at + 6) {
            Some(0xDC00..=0xDFFF) => Escape::Whole { end: at + 12 },
            _ => Escape::Lone,
        },
        Some(0xDC00..=0xDFFF) => Escape::Lone,
        Some(_) => Escape::Whole { end: at + 6 },
    }
}

/// The UTF-16 unit that the escape at `at` stands for, if there is an escape.
fn code_unit(text: &[u8], at: usize) -> Option<u16> {
    let escape = text.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn read(text: &[u8]) -> Value {
        serde_json::from_slice(&repair_json_text(text)).unwrap()
    }

    #[test]
    fn lone_surrogates_become_replacement_characters() {
        for lone in [r"\ud83d", r"\uD83D", r"\udE00", r"\uDfFf", r"\uDBff"] {
            let text = format!(r#"{{"a{lone}":["x{lone}y","{lone}"]}}"#);
            let expected = serde_json::json!({"a\u{fffd}": ["x\u{fffd}y", "\u{fffd}"]});
            assert_eq!(read(text.as_bytes()), expected, "{lone}");
        }
    }

    #[test]
    fn surrogates_in_the_wrong_order_are_both_lone() {
        assert_eq!(read(br#""\ude00\ud83d""#), "\u{fffd}\u{fffd}");
        assert_eq!(read(br#""\ud83d\ud83d\ude00""#), "\u{fffd}😀");
        assert_eq!(read(br#""\ud83dx\ude00""#), "\u{fffd}x\u{fffd}");
    }

    #[test]
    fn escaped_backslash_before_u_is_text() {
        assert_eq!(read(br#""\\ud83d""#), r"\ud83d");
        assert_eq!(read(br#""\\\ud83d""#), "\\\u{fffd}");
        assert_eq!(read(br#""\ud83d\\ude00""#), "\u{fffd}\\ude00");
        assert_eq!(read(br#""\\\\ud83d\\\\\udc00""#), "\\\\ud83d\\\\\u{fffd}");
    }

    #[test]
    fn good_text_is_borrowed() {
        for text in [r#"{"a":"\ud83d\ude00 \u003c \\ud800 é 😀"}"#, "", "null", r"\", r"\u", r#""\ud8"#] {
            assert!(matches!(repair_json_text(text.as_bytes()), Cow::Borrowed(_)), "{text}");
        }
    }

    #[test]
    fn bytes_that_are_no_utf8_become_replacement_characters() {
        assert_eq!(read(b"\"a\xffb\""), "a\u{fffd}b");
        assert_eq!(read(b"\"\xed\xa0\x80\\ud83d\""), "\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(read(b"\"\xf0\x9f\x98\""), "\u{fffd}");
    }

    /// A JSON string as JavaScript writes it, from any UTF-16 units, with more escapes where `escaped`.
    fn written(units: &[u16], escaped: bool) -> String {
        let mut text = String::from('"');
        for decoded in char::decode_utf16(units.iter().copied()) {
            match decoded {
                Ok(letter @ ('"' | '\\')) if !escaped => text.extend(['\\', letter]),
                Ok(letter) if !escaped && letter > '\u{1f}' => text.push(letter),
                Ok(letter) => {
                    for unit in letter.encode_utf16(&mut [0; 2]) {
                        text.push_str(&format!("\\u{unit:04x}"));
                    }
                }
                Err(lone) => text.push_str(&format!("\\u{:04X}", lone.unpaired_surrogate())),
            }
        }
        text.push('"');
        text
    }

    fn unit() -> impl Strategy<Value = u16> {
        prop_oneof![
            0xD800..=0xDFFFu16,
            Just(u16::from(b'\\')),
            Just(u16::from(b'u')),
            Just(u16::from(b'd')),
            any::<u16>()
        ]
    }

    proptest! {
        #[test]
        fn every_javascript_string_reads_as_its_lossy_self(units in prop::collection::vec(unit(), 0..40), escaped: bool) {
            prop_assert_eq!(read(written(&units, escaped).as_bytes()), String::from_utf16_lossy(&units));
        }

        #[test]
        fn any_bytes_come_out_as_utf8_and_stay_so(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let once = repair_json_text(&bytes).into_owned();
            prop_assert!(std::str::from_utf8(&once).is_ok());
            let twice = repair_json_text(&once);
            prop_assert_eq!(twice.as_ref(), once.as_slice());
        }

        #[test]
        fn json_without_surrogates_is_untouched(text in "\\PC{0,60}") {
            let json = serde_json::to_vec(&text).unwrap();
            prop_assert!(matches!(repair_json_text(&json), Cow::Borrowed(_)));
        }
    }
}
