//! Reading a paper: general patterns over its text, the way a careful person looks for things.

use std::collections::BTreeMap;

use super::super::kind::Kind;

/// What is known for a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fact {
    /// Text as it goes into a field; dates as `2026-03-31`, numbers without separators.
    Text(String),
    /// Several things.
    List(Vec<String>),
    /// Whether something is so.
    Flag(bool),
}

/// Everything that was found in the paper.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts(BTreeMap<Kind, Fact>);

impl Facts {
    /// What is known.
    pub fn get(&self, kind: Kind) -> Option<&Fact> {
        self.0.get(&kind)
    }

    /// How many things are known.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    fn text(&mut self, kind: Kind, value: Option<impl Into<String>>) {
        if let Some(value) = value.map(Into::into).filter(|value| !value.trim().is_empty()) {
            self.0.insert(kind, Fact::Text(value.trim().to_owned()));
        }
    }

    fn list(&mut self, kind: Kind, value: Option<&str>) {
        let items: Vec<String> = value
            .unwrap_or_default()
            .split(';')
            .map(|item| item.trim().trim_end_matches('.').to_owned())
            .filter(|item| !item.is_empty())
            .collect();
        if !items.is_empty() {
            self.0.insert(kind, Fact::List(items));
        }
    }

    fn flag(&mut self, kind: Kind, value: Option<bool>) {
        if let Some(value) = value {
            self.0.insert(kind, Fact::Flag(value));
        }
    }

    /// Reads the text of a paper; `tab_title` is what the browser shows for its tab.
    pub fn read(text: &str, tab_title: &str) -> Self {
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let lines = lines.as_slice();
        let mut facts = Self::default();
        let title = title(lines, tab_title);
        facts.text(Kind::Title, title);
        facts.text(Kind::ShortTitle, entry(lines, &["running head", "running title", "short title"]));
        facts.text(Kind::ArticleType, entry(lines, &["article type", "type of article"]));
        facts.text(Kind::SubjectArea, entry(lines, &["subject area", "subject", "field"]));
        facts.list(Kind::Methods, entry(lines, &["methods"]));
        facts.text(Kind::WordCount, entry(lines, &["word count", "words"]).and_then(number));
        facts.text(Kind::FigureCount, entry(lines, &["figures", "number of figures"]).and_then(number));
        facts
            .text(Kind::Completed, entry(lines, &["manuscript completed", "completed"]).and_then(first_date));
        facts.list(Kind::Keywords, note(lines, &["keywords", "key words"]));
        facts.text(Kind::Abstract, paragraph_below(lines, "abstract"));
        facts.text(Kind::Significance, paragraph_below(lines, "significance"));
        facts.text(
            Kind::StudyStart,
            after(lines, &["data collection began", "data collection started", "data were collected from"])
                .and_then(first_date),
        );
        facts.people(lines, title);
        facts.declarations(lines);
        facts
    }

    fn people(&mut self, lines: &[&str], title: Option<&str>) {
        let Some(contact) = note(lines, &["correspondence", "corresponding author"]) else { return };
        let name = contact.split([',', '(', '<']).next().unwrap_or_default().trim();
        self.text(Kind::AuthorName, Some(name));
        self.text(Kind::Email, email(contact));
        self.text(Kind::Orcid, orcid_of(lines, name));
        let below = lines.iter().position(|line| Some(*line) == title).map_or(0, |at| at + 1);
        let Some(byline) = lines.iter().skip(below).find(|line| line.contains(name)) else { return };
        let authors = byline
            .replace(" and ", ", ")
            .split(',')
            .filter(|part| part.chars().filter(|c| c.is_alphabetic()).count() > 2)
            .count();
        self.text(Kind::AuthorCount, Some(authors.to_string()));
        let mark: String = byline
            .split(name)
            .nth(1)
            .unwrap_or_default()
            .trim_start()
            .chars()
            .take_while(char::is_ascii_digit)
            .collect();
        let place = lines.iter().find_map(|line| {
            let place = line.strip_prefix(mark.as_str())?.trim_start_matches(['.', ')', ' ', '\t']);
            (place.starts_with(char::is_alphabetic) && place.contains(", ")).then_some(place)
        });
        if let Some((institution, country)) =
            place.filter(|_| !mark.is_empty()).and_then(|p| p.rsplit_once(", "))
        {
            self.text(Kind::Affiliation, Some(institution));
            self.text(Kind::Country, Some(country));
        }
    }

    fn declarations(&mut self, lines: &[&str]) {
        self.text(
            Kind::Ethics,
            after(lines, &["approval number", "approval no.", "ethics protocol"]).and_then(first_code),
        );
        let funding = note(lines, &["funding"]).unwrap_or_default();
        let funder = ["supported by", "funded by"].iter().find_map(|words| funding.split_once(words));
        let funder = funder.map(|(_, rest)| rest.trim().trim_start_matches("the "));
        self.text(Kind::Funder, funder.and_then(|rest| rest.split([',', '(', '.']).next()));
        let grant = ["grant", "award"].iter().find_map(|word| funding.split_once(word));
        self.text(Kind::Grant, grant.and_then(|(_, rest)| first_code(rest)));
        self.text(Kind::DataDoi, note(lines, &["data", "data availability"]).and_then(doi));
        let code = note(lines, &["code", "code availability"]).map(str::to_lowercase);
        self.flag(
            Kind::CodePublic,
            code.map(|text| !text.contains("request") && (text.contains("public") || text.contains("open"))),
        );
        let registered = note(lines, &["preregistration", "registration"]).map(str::to_lowercase);
        self.flag(
            Kind::Preregistered,
            registered.map(|text| text.contains("registered") && !text.contains("not ")),
        );
        let interests = note(lines, &["competing interests", "conflict of interest"]).map(str::to_lowercase);
        // "X advises Y; the other authors declare no …" is a declaration, so only the beginning counts.
        self.flag(
            Kind::Competing,
            interests.map(|text| !text.starts_with("the authors declare no") && !text.starts_with("none")),
        );
        self.text(Kind::Licence, note(lines, &["licence", "license"]).and_then(licence));
    }
}

/// The line that the tab's title begins with.
fn title<'a>(lines: &[&'a str], tab_title: &str) -> Option<&'a str> {
    lines
        .iter()
        .copied()
        .filter(|line| line.chars().count() > 12 && tab_title.trim().starts_with(line))
        .max_by_key(|line| line.len())
}

/// The rest of a line that begins with one of the names, or the line below it.
fn rest_of<'a>(lines: &[&'a str], names: &[&str], ends: &[char]) -> Option<&'a str> {
    lines.iter().enumerate().find_map(|(at, line)| {
        let line = line.trim_start_matches(['*', '#', '|', ' ']);
        let name = names.iter().find(|name| {
            line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
                && line[name.len()..].chars().next().is_none_or(|c| ends.contains(&c))
        })?;
        let rest = line[name.len()..]
            .trim_start_matches(['*', ':', '.', '|', '\t', ' '])
            .trim_end_matches(['|', ' ']);
        if rest.is_empty() { lines.get(at + 1).copied() } else { Some(rest) }
    })
}

/// An entry of a table or list: `Word count  4,512`.
fn entry<'a>(lines: &[&'a str], names: &[&str]) -> Option<&'a str> {
    // The longest name first, so that `subject area` is not read as `subject` with the value `area …`.
    rest_of(lines, names, &['\t', ':', '|', ' '])
}

/// A note with a heading of its own: `Funding. This work …`, `Keywords: …`.
fn note<'a>(lines: &[&'a str], names: &[&str]) -> Option<&'a str> {
    rest_of(lines, names, &['.', ':', '\t'])
}

/// The paragraph under a heading.
fn paragraph_below<'a>(lines: &[&'a str], heading: &str) -> Option<&'a str> {
    let at =
        lines.iter().position(|line| line.trim_start_matches(['#', ' ']).eq_ignore_ascii_case(heading))?;
    lines.get(at + 1).copied()
}

/// What follows the first of the words that occurs.
fn after<'a>(lines: &[&'a str], words: &[&str]) -> Option<&'a str> {
    lines.iter().find_map(|line| {
        let lower = line.to_lowercase();
        words.iter().find_map(|word| {
            let at = lower.find(word)?;
            line.get(at + word.len()..)
        })
    })
}

/// A whole number, without its separators.
fn number(text: &str) -> Option<String> {
    let digits: String = text
        .trim_start()
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, ',' | '\u{202f}' | '\u{a0}'))
        .filter(char::is_ascii_digit)
        .collect();
    (!digits.is_empty()).then_some(digits)
}

fn email(text: &str) -> Option<&str> {
    text.split([' ', ',', ';', '(', ')', '<', '>', '\t'])
        .map(|word| word.trim_end_matches('.'))
        .find(|word| word.split_once('@').is_some_and(|(user, host)| !user.is_empty() && host.contains('.')))
}

fn doi(text: &str) -> Option<&str> {
    let start = text.find("10.")?;
    let found = text[start..].split([' ', ',', ';', ')', '\t']).next()?.trim_end_matches('.');
    found.contains('/').then_some(found)
}

/// The first word with a digit and a dash in it, such as a grant number.
fn first_code(text: &str) -> Option<&str> {
    text.split([' ', ',', ';', '(', ')', '\t'])
        .map(|word| word.trim_matches(['.', ':']))
        .find(|word| word.contains('-') && word.chars().any(|c| c.is_ascii_digit()))
}

/// The ORCID iD that stands right behind the name.
fn orcid_of(lines: &[&str], name: &str) -> Option<String> {
    lines.iter().find_map(|line| {
        line.match_indices(name).find_map(|(at, _)| {
            let rest = line[at + name.len()..].trim_start_matches([' ', '(', ':', ',', '\t']);
            let candidate = rest.get(..19)?;
            let shape = candidate.char_indices().all(|(at, c)| {
                if at % 5 == 4 { c == '-' } else { c.is_ascii_digit() || (at == 18 && c == 'X') }
            });
            shape.then(|| candidate.to_owned())
        })
    })
}

/// A Creative Commons licence with its version.
fn licence(text: &str) -> Option<String> {
    let start = text.find("CC")?;
    let mut words: Vec<&str> = Vec::new();
    for word in text[start..].split_whitespace() {
        let word = word.trim_end_matches(['.', ',', ')']);
        words.push(word);
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return Some(words.join(" "));
        }
    }
    None
}

/// The first date, however it is written, as `2026-03-31`.
fn first_date(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let words: Vec<&str> = text
        .split([' ', ',', ';', '(', ')', '\t'])
        .map(|w| w.trim_end_matches('.'))
        .filter(|w| !w.is_empty())
        .collect();
    let month = |word: &str| {
        let start = word.get(..3)?.to_lowercase();
        MONTHS.iter().position(|month| *month == start).map(|at| at + 1)
    };
    let day = |word: &str| word.parse::<u32>().ok().filter(|day| (1..=31).contains(day));
    let year = |word: &str| word.parse::<u32>().ok().filter(|year| (1900..=2100).contains(year));
    for (at, word) in words.iter().enumerate() {
        let parts: Vec<&str> = word.split('-').collect();
        if let [y, m, d] = parts.as_slice()
            && let (Some(y), Ok(m @ 1..=12), Some(d)) = (year(y), m.parse::<u32>(), day(d))
        {
            return Some(format!("{y:04}-{m:02}-{d:02}"));
        }
        let [second, third] = [words.get(at + 1), words.get(at + 2)].map(|w| w.copied().unwrap_or_default());
        let found = match (day(word), month(second)) {
            (Some(d), Some(m)) => year(third).map(|y| (y, m, d)),
            _ => match (month(word), day(second)) {
                (Some(m), Some(d)) => year(third).map(|y| (y, m, d)),
                _ => None,
            },
        };
        if let Some((y, m, d)) = found {
            return Some(format!("{y:04}-{m:02}-{d:02}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_every_style() {
        assert_eq!(first_date("on 4 May 2024 and ended on 30 June 2025").as_deref(), Some("2024-05-04"));
        assert_eq!(first_date("on December 31, 2023 at noon").as_deref(), Some("2023-12-31"));
        assert_eq!(first_date("2026-03-09").as_deref(), Some("2026-03-09"));
        assert_eq!(first_date("in May, 2024").as_deref(), None);
        assert_eq!(first_date("2026-13-09"), None);
    }

    #[test]
    fn the_id_of_somebody_else_is_not_taken() {
        let lines = ["ORCID iDs: Ada Holm 0000-0001-1111-1111; Ines Raman 0000-0002-2222-222X."];
        assert_eq!(orcid_of(&lines, "Ines Raman").as_deref(), Some("0000-0002-2222-222X"));
        assert_eq!(orcid_of(&lines, "Noor Eze"), None);
    }

    #[test]
    fn what_the_paper_does_not_say_is_not_known() {
        let facts = Facts::read("A short note about nothing at all\nAbstract\nNothing happened.", "A tab");
        assert_eq!(facts.get(Kind::Abstract), Some(&Fact::Text("Nothing happened.".to_owned())));
        assert_eq!(facts.get(Kind::Funder), None);
        assert_eq!(facts.get(Kind::Preregistered), None);
    }
}
