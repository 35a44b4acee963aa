//! Names of files as the model gives them: what can be a name inside the folder, and nothing else.

use std::path::Path;

use super::FilesError;

/// Folders inside folders.
const DEPTH: usize = 12;

/// UTF-8 bytes of one part, room for the temporary name included.
const PART: usize = 200;

/// UTF-8 bytes of a whole name.
const WHOLE: usize = 1_000;

/// Begins the names of files that are being written.
pub(super) const TEMPORARY: &str = ".browy-";

/// What looks like `/`, `\`, `:` or `.`, or becomes one when somebody normalises it.
const LOOK_ALIKES: &str = "\u{2044}\u{2215}\u{29f8}\u{ff0f}\u{2571}\u{29f6}\u{ff3c}\u{fe68}\u{2216}\u{29f5}\u{29f9}\u{2572}\u{ff1a}\u{fe55}\u{fe13}\u{2236}\u{a789}\u{2024}\u{fe52}\u{ff0e}";

/// Parts of a name, outermost folder first; at least one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name(Vec<String>);

impl Name {
    /// Reads a name. Absolute paths are names when they lie below one of the `roots`, letter by letter.
    pub(super) fn parse(name: &str, roots: &[&Path]) -> Result<Self, FilesError> {
        let inside = roots
            .iter()
            .filter_map(|root| name.strip_prefix(root.to_str()?)?.strip_prefix('/'))
            .next()
            .unwrap_or(name);
        let wrong = |why: &str| Err(FilesError::Name(why.to_owned()));
        if inside.is_empty() {
            return wrong("it is empty");
        }
        if inside.len() > WHOLE {
            return wrong("it is too long");
        }
        if inside.starts_with('/') || inside.starts_with('\\') {
            return wrong("it is an absolute path; give the name alone");
        }
        let parts: Vec<String> = inside.split('/').map(str::to_owned).collect();
        if parts.len() > DEPTH {
            return wrong("it has too many folders in it");
        }
        for part in &parts {
            if let Some(why) = fault(part) {
                return wrong(why);
            }
        }
        Ok(Self(parts))
    }

    /// The folders, and the name in the last of them.
    pub(super) fn split(&self) -> (&[String], &str) {
        match self.0.split_last() {
            Some((last, folders)) => (folders, last),
            None => (&[], ""),
        }
    }

    /// With `/` between the parts.
    pub(super) fn written(&self) -> String {
        self.0.join("/")
    }
}

/// A name for a file made of words that others wrote; `otherwise` when nothing of them is left.
pub fn plain_name(words: &str, otherwise: &str) -> String {
    let plain: String = words.chars().map(|c| if c.is_alphanumeric() { c } else { ' ' }).collect();
    let plain = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = plain.chars().take(80).collect();
    while short.len() > PART - 20 {
        short.pop();
    }
    let short = short.trim_end();
    if short.is_empty() || fault(short).is_some() { otherwise.to_owned() } else { short.to_owned() }
}

/// Why a part of a name is none, on any system that the folder may be carried to.
fn fault(part: &str) -> Option<&'static str> {
    if part.is_empty() {
        return Some("it has an empty part");
    }
    if part.len() > PART {
        return Some("a part of it is too long");
    }
    if part.chars().all(|c| c == '.') || part == "~" {
        return Some("it leads to another folder");
    }
    if part.chars().any(|c| c.is_control() || is_invisible(c)) {
        return Some("it has characters in it that cannot be seen");
    }
    if part.contains(['\\', ':', '*', '?', '"', '<', '>', '|']) {
        return Some("it has one of \\ : * ? \" < > | in it");
    }
    if part.chars().any(|c| LOOK_ALIKES.contains(c)) {
        return Some("it has a character in it that only looks like a separator");
    }
    if part.ends_with(['.', ' ']) || part.starts_with(' ') {
        return Some("a part of it begins or ends with a space, or ends with a dot");
    }
    if part.to_ascii_lowercase().starts_with(TEMPORARY) {
        return Some("names that begin with .browy- are taken");
    }
    if hides_separator(part) {
        return Some("it has a separator in it in its percent form");
    }
    is_device(part).then_some("it is the name of a device on some systems")
}

/// Turns text around or hides in it. Joiners that scripts and emoji need may stay.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// `%2e%2e`, `%2F`, `%252f`, `%00`, and the overlong forms of old decoders.
fn hides_separator(part: &str) -> bool {
    let mut text = part.to_ascii_lowercase();
    for _ in 0..4 {
        if ["%2e", "%2f", "%5c", "%3a", "%00", "%c0", "%c1", "%u002", "%u005", "%u221", "%uff0"]
            .iter()
            .any(|form| text.contains(form))
        {
            return true;
        }
        if !text.contains("%25") {
            return false;
        }
        text = text.replace("%25", "%");
    }
    true
}

/// `CON`, `nul.txt`, `COM1 .log`, `LPT³`: Windows opens a device for them.
fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    let numbered = |rest: &str| {
        matches!(rest, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³")
    };
    matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" | "CLOCK$")
        || stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT")).is_some_and(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(name: &str) -> Result<String, FilesError> {
        Name::parse(name, &[Path::new("/home/me/.browy/data/files")]).map(|name| name.written())
    }

    #[test]
    fn names_that_people_use_are_names() {
        for name in [
            "a.txt",
            "f10-größe 価格.txt",
            "reports/2031/march.csv",
            ".hidden",
            "100% sure.txt",
            "50%25.txt",
            "a..b.txt",
            "…",
            "console.log",
            "command.com.txt",
            "👩‍👩‍👧.png",
            "naïve-файл",
            "a,b;c=d&e(f)[g]{h}!@#$^~`'+",
        ] {
            // Percent forms of separators are the one thing that may look like an honest name.
            assert_eq!(parsed(name).ok().as_deref(), Some(name), "{name:?}");
        }
    }

    #[test]
    fn absolute_path_inside_is_a_name() {
        assert_eq!(parsed("/home/me/.browy/data/files/a/b.txt").unwrap(), "a/b.txt");
        assert!(parsed("/home/me/.browy/data/files/../x").is_err());
        assert!(parsed("/home/me/.browy/data/filesystem").is_err());
        assert!(parsed("/home/me/.browy/data/files").is_err());
    }
}
