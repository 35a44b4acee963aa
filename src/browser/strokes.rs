//! Keys pressed one after the other, wherever the keyboard is.

use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::Browser;
use super::cdp::CdpError;
use super::field::secret;
use super::keys::{Key, Modifiers};
use super::observe::{Observed, Patience, Watch};
use super::refusal::{ActError, Class, Refusal};

/// Most keys of one call.
const MOST: usize = 300;

/// One key with the keys held meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stroke {
    /// Held meanwhile.
    pub modifiers: Modifiers,
    /// The key.
    pub key: Key,
}

impl Stroke {
    /// A chord as people write it: `Enter`, `Control+a`, `Shift+Tab`.
    ///
    /// # Errors
    /// [`Class::BadArgument`] names the part that is no key.
    pub fn named(text: &str) -> Result<Self, Refusal> {
        let (modifiers, key) = Key::chord(text).map_err(|part| no_such_key(&part))?;
        Ok(Self { modifiers, key })
    }

    fn typed(letter: char) -> Self {
        let (modifiers, key) = Key::typing(letter);
        Self { modifiers, key }
    }

    /// Tab and Escape leave a field without telling or changing what it holds.
    fn leaves(&self) -> bool {
        let plain = !self.modifiers.holds(Modifiers::CONTROL)
            && !self.modifiers.holds(Modifiers::ALT)
            && !self.modifiers.holds(Modifiers::META);
        plain && matches!(self.key.code, "Tab" | "Escape")
    }
}

fn no_such_key(part: &str) -> Refusal {
    let part = super::text::quoted(part, 40);
    Refusal::new(
        Class::BadArgument,
        format!(
            "There is no key {part}. Keys are single characters, Enter, Tab, Escape, Backspace, Delete, Space, \
             ArrowUp, ArrowDown, ArrowLeft, ArrowRight, Home, End, PageUp, PageDown, Insert, F1 to F12; before \
             them Control+, Shift+, Alt+ or Meta+."
        ),
    )
}

/// Reads keys: one chord (`Control+a`), several named keys with spaces between (`Tab Tab Enter`), or plain text.
///
/// # Errors
/// [`Class::BadArgument`].
pub fn strokes(text: &str) -> Result<Vec<Stroke>, Refusal> {
    if text.is_empty() {
        return Err(Refusal::new(Class::BadArgument, "`keys` is empty: give a text or names of keys."));
    }
    if text.chars().count() > MOST * 4 {
        return Err(too_many());
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let all = if !words.is_empty() && words.iter().all(|word| is_named(word)) {
        words.into_iter().map(Stroke::named).collect::<Result<Vec<_>, _>>()?
    } else {
        text.replace("\r\n", "\n").chars().map(Stroke::typed).collect()
    };
    if all.len() > MOST { Err(too_many()) } else { Ok(all) }
}

fn too_many() -> Refusal {
    Refusal::new(
        Class::BadArgument,
        format!("At most {MOST} keys in one call; type_index enters long texts into a field at once."),
    )
}

/// A key by its name, or a chord: begins with the name of a key that is held. `a` and `+` are text.
fn is_named(word: &str) -> bool {
    if word.chars().nth(1).is_none() {
        return false;
    }
    match word.split_once('+') {
        Some((held, rest)) => !rest.is_empty() && Modifiers::named(held).is_some(),
        None => Key::named(word).is_some(),
    }
}

impl Browser {
    /// Presses keys one after the other and watches what they do. Where a secret field has the keyboard nothing
    /// but Tab and Escape is pressed. Returns how many were pressed: a dialog or another page ends it early.
    ///
    /// # Errors
    /// See [`ActError`]; a refusal after the first key has `pressed`.
    pub async fn strike(
        &self,
        cancel: &CancellationToken,
        strokes: &[Stroke],
    ) -> Result<(Observed, usize), ActError> {
        let tab = self.tab(cancel).await?.ok_or(super::view::ViewError::NoTab)?;
        self.prepare(cancel, tab).await?;
        let mut focus = self.focus(cancel).await?;
        let first = strokes.first();
        if focus.secret && first.is_some_and(|stroke| !stroke.leaves()) {
            return Err(secret().into());
        }
        let mut watch = Watch::start(self, cancel, &focus.element, None).await?;
        watch.arm(cancel, false).await?;
        let mut pressed = 0;
        let mut refused = None;
        for stroke in strokes {
            // Any key may have moved the keyboard into another field.
            if pressed > 0 && !stroke.leaves() {
                focus = match self.focus(cancel).await {
                    Ok(focus) => focus,
                    Err(ActError::Cancelled) => return Err(ActError::Cancelled),
                    // A dialog or a page on its way: the watch tells which.
                    Err(ActError::Refused(_)) => break,
                };
                if focus.secret {
                    refused = Some(secret().with("pressed", json!(pressed)));
                    break;
                }
            }
            match self.press_key(cancel, tab, &stroke.key, stroke.modifiers).await {
                Ok(()) => pressed += 1,
                Err(CdpError::Cancelled) => return Err(ActError::Cancelled),
                // It most likely came after the key went down.
                Err(CdpError::Dialog(_)) => {
                    pressed += 1;
                    break;
                }
                Err(error) if pressed == 0 => return Err(error.into()),
                Err(_) => break,
            }
        }
        let observed = watch.settle(cancel, Patience::Settle).await?;
        match refused {
            Some(refusal) => Err(refusal.into()),
            None => Ok((observed, pressed)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        strokes(text).unwrap().into_iter().map(|stroke| stroke.key.key).collect()
    }

    #[test]
    fn names_chords_and_text_are_told_apart() {
        assert_eq!(read("Enter"), ["Enter"]);
        assert_eq!(read("tab TAB enter"), ["Tab", "Tab", "Enter"]);
        assert_eq!(read("b"), ["b"]);
        assert_eq!(read("I end"), ["I", " ", "e", "n", "d"]);
        assert_eq!(read("1+1"), ["1", "+", "1"]);
        assert_eq!(read("a\r\nb"), ["a", "Enter", "b"]);
        let all = strokes("Control+A").unwrap();
        assert_eq!((all.len(), all[0].modifiers, all[0].key.virtual_key), (1, Modifiers::CONTROL, 65));
    }

    #[test]
    fn a_chord_with_an_unknown_key_is_no_text() {
        assert_eq!(strokes("Control+NoSuchKey").unwrap_err().class, Class::BadArgument);
        assert_eq!(strokes("").unwrap_err().class, Class::BadArgument);
        assert_eq!(strokes(&"x".repeat(301)).unwrap_err().class, Class::BadArgument);
    }

    #[test]
    fn only_tab_and_escape_leave_a_secret_field() {
        let leaves = |text: &str| Stroke::named(text).unwrap().leaves();
        assert!(leaves("Tab") && leaves("Shift+Tab") && leaves("Escape"));
        assert!(!leaves("Control+Tab") && !leaves("Enter") && !leaves("a") && !leaves("Control+a"));
    }
}
