//! One table of keys, as a US keyboard sends them.

/// What one key press carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// `KeyboardEvent.key`.
    pub key: String,
    /// `KeyboardEvent.code`.
    pub code: &'static str,
    /// Windows virtual key code (`keyCode`).
    pub virtual_key: u16,
    /// What it types, if anything.
    pub text: Option<String>,
}

/// Modifier bits as DevTools wants them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Modifiers(pub u8);

impl Modifiers {
    /// Alt.
    pub const ALT: Self = Self(1);
    /// Control.
    pub const CONTROL: Self = Self(2);
    /// Meta (Command, Windows key).
    pub const META: Self = Self(4);
    /// Shift.
    pub const SHIFT: Self = Self(8);

    /// The modifier of that name, any spelling.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "alt" | "option" => Self::ALT,
            "ctrl" | "control" => Self::CONTROL,
            "meta" | "cmd" | "command" | "win" | "super" => Self::META,
            "shift" => Self::SHIFT,
            _ => return None,
        })
    }

    /// Both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all of `other` are held.
    pub fn holds(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Named keys: spelling in lower case, `key`, `code`, virtual key, text.
const NAMED: &[(&str, &str, &str, u16, Option<&str>)] = &[
    ("enter", "Enter", "Enter", 13, Some("\r")),
    ("return", "Enter", "Enter", 13, Some("\r")),
    ("tab", "Tab", "Tab", 9, None),
    ("escape", "Escape", "Escape", 27, None),
    ("esc", "Escape", "Escape", 27, None),
    ("backspace", "Backspace", "Backspace", 8, None),
    ("delete", "Delete", "Delete", 46, None),
    ("del", "Delete", "Delete", 46, None),
    ("insert", "Insert", "Insert", 45, None),
    ("space", " ", "Space", 32, Some(" ")),
    ("arrowup", "ArrowUp", "ArrowUp", 38, None),
    ("up", "ArrowUp", "ArrowUp", 38, None),
    ("arrowdown", "ArrowDown", "ArrowDown", 40, None),
    ("down", "ArrowDown", "ArrowDown", 40, None),
    ("arrowleft", "ArrowLeft", "ArrowLeft", 37, None),
    ("left", "ArrowLeft", "ArrowLeft", 37, None),
    ("arrowright", "ArrowRight", "ArrowRight", 39, None),
    ("right", "ArrowRight", "ArrowRight", 39, None),
    ("home", "Home", "Home", 36, None),
    ("end", "End", "End", 35, None),
    ("pageup", "PageUp", "PageUp", 33, None),
    ("pagedown", "PageDown", "PageDown", 34, None),
    ("capslock", "CapsLock", "CapsLock", 20, None),
    ("contextmenu", "ContextMenu", "ContextMenu", 93, None),
    ("printscreen", "PrintScreen", "PrintScreen", 44, None),
    ("pause", "Pause", "Pause", 19, None),
    ("shift", "Shift", "ShiftLeft", 16, None),
    ("control", "Control", "ControlLeft", 17, None),
    ("ctrl", "Control", "ControlLeft", 17, None),
    ("alt", "Alt", "AltLeft", 18, None),
    ("meta", "Meta", "MetaLeft", 91, None),
    ("f1", "F1", "F1", 112, None),
    ("f2", "F2", "F2", 113, None),
    ("f3", "F3", "F3", 114, None),
    ("f4", "F4", "F4", 115, None),
    ("f5", "F5", "F5", 116, None),
    ("f6", "F6", "F6", 117, None),
    ("f7", "F7", "F7", 118, None),
    ("f8", "F8", "F8", 119, None),
    ("f9", "F9", "F9", 120, None),
    ("f10", "F10", "F10", 121, None),
    ("f11", "F11", "F11", 122, None),
    ("f12", "F12", "F12", 123, None),
];

/// Printable keys: plain, with Shift, `code`, virtual key. (A character's own code is another key's number:
/// 46 is Delete, not a full stop.)
const PRINTABLE: &[(char, char, &str, u16)] = &[
    ('a', 'A', "KeyA", 65),
    ('b', 'B', "KeyB", 66),
    ('c', 'C', "KeyC", 67),
    ('d', 'D', "KeyD", 68),
    ('e', 'E', "KeyE", 69),
    ('f', 'F', "KeyF", 70),
    ('g', 'G', "KeyG", 71),
    ('h', 'H', "KeyH", 72),
    ('i', 'I', "KeyI", 73),
    ('j', 'J', "KeyJ", 74),
    ('k', 'K', "KeyK", 75),
    ('l', 'L', "KeyL", 76),
    ('m', 'M', "KeyM", 77),
    ('n', 'N', "KeyN", 78),
    ('o', 'O', "KeyO", 79),
    ('p', 'P', "KeyP", 80),
    ('q', 'Q', "KeyQ", 81),
    ('r', 'R', "KeyR", 82),
    ('s', 'S', "KeyS", 83),
    ('t', 'T', "KeyT", 84),
    ('u', 'U', "KeyU", 85),
    ('v', 'V', "KeyV", 86),
    ('w', 'W', "KeyW", 87),
    ('x', 'X', "KeyX", 88),
    ('y', 'Y', "KeyY", 89),
    ('z', 'Z', "KeyZ", 90),
    ('0', ')', "Digit0", 48),
    ('1', '!', "Digit1", 49),
    ('2', '@', "Digit2", 50),
    ('3', '#', "Digit3", 51),
    ('4', '$', "Digit4", 52),
    ('5', '%', "Digit5", 53),
    ('6', '^', "Digit6", 54),
    ('7', '&', "Digit7", 55),
    ('8', '*', "Digit8", 56),
    ('9', '(', "Digit9", 57),
    (' ', ' ', "Space", 32),
    (';', ':', "Semicolon", 186),
    ('=', '+', "Equal", 187),
    (',', '<', "Comma", 188),
    ('-', '_', "Minus", 189),
    ('.', '>', "Period", 190),
    ('/', '?', "Slash", 191),
    ('`', '~', "Backquote", 192),
    ('[', '{', "BracketLeft", 219),
    ('\\', '|', "Backslash", 220),
    (']', '}', "BracketRight", 221),
    ('\'', '"', "Quote", 222),
];

impl Key {
    /// The key of that name (`Enter`, `a`, `F5`, `.`), any spelling of named keys. Other characters are keys
    /// without a code that type themselves. `None`: no such key.
    pub fn named(name: &str) -> Option<Self> {
        let mut chars = name.chars();
        if let (Some(only), None) = (chars.next(), chars.next()) {
            return Some(Self::of_char(only));
        }
        let wanted = name.trim().to_ascii_lowercase();
        NAMED.iter().find(|(spelling, ..)| *spelling == wanted).map(|(_, key, code, virtual_key, text)| {
            Self { key: (*key).to_owned(), code, virtual_key: *virtual_key, text: text.map(str::to_owned) }
        })
    }

    fn of_char(typed: char) -> Self {
        let known = PRINTABLE.iter().find(|(plain, shifted, ..)| *plain == typed || *shifted == typed);
        let (code, virtual_key) = known.map_or(("", 0), |(_, _, code, virtual_key)| (*code, *virtual_key));
        Self { key: typed.to_string(), code, virtual_key, text: Some(typed.to_string()) }
    }

    /// The key that types this character, and whether Shift is held for it. Line ends are Enter, tabs Tab.
    pub fn typing(typed: char) -> (Modifiers, Self) {
        let control = match typed {
            '\n' | '\r' => Self::named("Enter"),
            '\t' => Self::named("Tab"),
            _ => None,
        };
        let shifted = PRINTABLE.iter().any(|(plain, shifted, ..)| *shifted == typed && plain != shifted);
        let held = if shifted { Modifiers::SHIFT } else { Modifiers::default() };
        (held, control.unwrap_or_else(|| Self::of_char(typed)))
    }

    /// The key with Shift held: `a` is `A` then.
    fn shifted(self) -> Self {
        let mut chars = self.key.chars();
        let (Some(only), None) = (chars.next(), chars.next()) else { return self };
        match PRINTABLE.iter().find(|(plain, ..)| *plain == only) {
            Some((_, shifted, ..)) => Self::of_char(*shifted),
            None => self,
        }
    }

    /// A chord as people write it: `Control+Shift+a`, `Ctrl++`.
    ///
    /// # Errors
    /// The part that is no key.
    pub fn chord(text: &str) -> Result<(Modifiers, Self), String> {
        let text = if text.trim().is_empty() { text } else { text.trim() };
        let (held, last) = match text.strip_suffix("++") {
            Some(held) => (held, "+"),
            None if text == "+" => ("", "+"),
            None => text.rsplit_once('+').unwrap_or(("", text)),
        };
        let mut modifiers = Modifiers::default();
        for name in held.split('+').filter(|name| !name.is_empty()) {
            modifiers = modifiers.and(Modifiers::named(name).ok_or_else(|| name.trim().to_owned())?);
        }
        let key = Self::named(last).ok_or_else(|| last.to_owned())?;
        let key = if modifiers.holds(Modifiers::SHIFT) { key.shifted() } else { key };
        Ok((modifiers, key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stop_is_not_the_delete_key() {
        let stop = Key::named(".").unwrap();
        assert_eq!((stop.code, stop.virtual_key, stop.text.as_deref()), ("Period", 190, Some(".")));
        assert_eq!(Key::named("Delete").unwrap().virtual_key, 46);
    }

    #[test]
    fn chords_name_their_parts() {
        let (held, key) = Key::chord("Ctrl+Shift+a").unwrap();
        assert_eq!(held, Modifiers::CONTROL.and(Modifiers::SHIFT));
        assert_eq!((key.code, key.virtual_key), ("KeyA", 65));
        assert_eq!(Key::chord("Control++").unwrap().1.key, "+");
        assert_eq!(Key::chord("+").unwrap().1.key, "+");
        assert_eq!(Key::chord("Control+NoSuchKey"), Err("NoSuchKey".to_owned()));
        assert_eq!(Key::chord("Hyper+a"), Err("Hyper".to_owned()));
    }

    #[test]
    fn shift_types_the_other_character_of_the_key() {
        let (_, key) = Key::chord("Shift+a").unwrap();
        assert_eq!((key.key.as_str(), key.code, key.text.as_deref()), ("A", "KeyA", Some("A")));
        assert_eq!(Key::chord("Shift+/").unwrap().1.key, "?");
        assert_eq!(Key::chord("Shift+Tab").unwrap().1.key, "Tab");
        let (held, key) = Key::typing('?');
        assert_eq!((held, key.code, key.text.as_deref()), (Modifiers::SHIFT, "Slash", Some("?")));
        assert_eq!(Key::typing(' ').0, Modifiers::default());
        assert_eq!(Key::typing('\n').1.key, "Enter");
        assert_eq!(Key::typing('é').1.text.as_deref(), Some("é"));
    }

    #[test]
    fn every_virtual_key_belongs_to_one_code() {
        for (index, (_, _, code, virtual_key)) in PRINTABLE.iter().enumerate() {
            for (_, _, other_code, other) in &PRINTABLE[index + 1..] {
                assert!(virtual_key != other, "{code} and {other_code} share {virtual_key}");
            }
            assert!(NAMED.iter().all(|(_, key, _, other, _)| other != virtual_key || *key == " "), "{code}");
        }
    }
}
