//! Understanding a form: which fact a label asks for, and which of the offered answers fits.

use super::super::kind::Kind;

/// One reading of a label: all of `all` and one of `any` (if there are any) occur in it.
struct Reading {
    all: &'static [&'static str],
    any: &'static [&'static str],
    kind: Kind,
}

const fn any(any: &'static [&'static str], kind: Kind) -> Reading {
    Reading { all: &[], any, kind }
}

const fn with(all: &'static [&'static str], any: &'static [&'static str], kind: Kind) -> Reading {
    Reading { all, any, kind }
}

/// The first reading that fits counts, so the more telling words come first.
const READINGS: &[Reading] = &[
    any(&["orcid"], Kind::Orcid),
    any(&["e-mail", "email"], Kind::Email),
    any(&["running head", "running title", "short title", "abbreviated"], Kind::ShortTitle),
    any(&["preregist", "pre-regist"], Kind::Preregistered),
    any(&["compet", "conflict"], Kind::Competing),
    with(&["data"], &["doi", "identifier"], Kind::DataDoi),
    any(&["data collection", "study start", "start of the study"], Kind::StudyStart),
    any(&["complet", "finished"], Kind::Completed),
    any(&["source code", "analysis code", "the code", "code is"], Kind::CodePublic),
    any(&["grant", "award", "funding reference"], Kind::Grant),
    any(&["fund"], Kind::Funder),
    any(&["ethic", "irb"], Kind::Ethics),
    any(&["licen"], Kind::Licence),
    any(&["country"], Kind::Country),
    any(&["affiliation", "institution", "department"], Kind::Affiliation),
    with(&["author"], &["number of", "how many", "count", "total"], Kind::AuthorCount),
    with(&["author"], &["correspond", "contact", "name"], Kind::AuthorName),
    any(&["keyword", "key word", "index term"], Kind::Keywords),
    with(&["word"], &["count", "number", "length", "main text"], Kind::WordCount),
    any(&["figure"], Kind::FigureCount),
    any(&["significan", "matters"], Kind::Significance),
    any(&["abstract", "summary"], Kind::Abstract),
    any(&["article type", "type of", "kind of", "submission type"], Kind::ArticleType),
    any(&["subject", "field", "discipline"], Kind::SubjectArea),
    any(&["method"], Kind::Methods),
    any(&["title"], Kind::Title),
];

/// What a label asks for.
pub fn kind_of(label: &str) -> Option<Kind> {
    let label = label.to_lowercase().replace('’', "'");
    READINGS
        .iter()
        .find(|reading| {
            reading.all.iter().all(|word| label.contains(word))
                && (reading.any.is_empty() || reading.any.iter().any(|word| label.contains(word)))
        })
        .map(|reading| reading.kind)
}

/// The place of the option that fits best; `None` if nothing fits.
pub fn best_option(wanted: &str, options: &[String]) -> Option<usize> {
    let wanted = tokens(wanted);
    let score = |option: &String| {
        let option = tokens(option);
        let common = wanted.iter().filter(|word| option.contains(word)).count();
        let all = wanted.len() + option.len() - common;
        // In thousandths, so that options can be compared exactly.
        (common * 1000).checked_div(all).unwrap_or(0)
    };
    let (at, best) =
        options.iter().map(score).enumerate().max_by_key(|(at, score)| (*score, usize::MAX - at))?;
    (best >= 250).then_some(at)
}

/// The place of the option that says yes or no.
pub fn yes_or_no(yes: bool, options: &[String]) -> Option<usize> {
    let negative = |option: &String| {
        matches!(tokens(option).first().map(String::as_str), Some("no" | "none" | "not" | "never"))
    };
    let hits: Vec<usize> =
        options.iter().enumerate().filter(|(_, option)| negative(option) != yes).map(|(at, _)| at).collect();
    (hits.len() == 1).then(|| hits[0])
}

fn tokens(text: &str) -> Vec<String> {
    text.to_lowercase()
        .split(|c: char| !(c.is_alphanumeric() || c == '.'))
        .map(|word| word.trim_matches('.').to_owned())
        .filter(|word| !word.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(options: &[&str]) -> Vec<String> {
        options.iter().map(|option| (*option).to_owned()).collect()
    }

    #[test]
    fn a_licence_is_not_mistaken_for_its_neighbour() {
        let long = owned(&[
            "Creative Commons Attribution-NonCommercial 4.0 (CC BY-NC 4.0)",
            "Creative Commons Attribution 4.0 (CC BY 4.0)",
            "Creative Commons Zero 1.0 (CC0 1.0)",
        ]);
        assert_eq!(best_option("CC BY 4.0", &long), Some(1));
        assert_eq!(best_option("CC BY-NC 4.0", &long), Some(0));
        assert_eq!(best_option("CC0 1.0", &long), Some(2));
        assert_eq!(best_option("MIT", &long), None);
    }

    #[test]
    fn yes_and_no_are_told_apart_in_any_wording() {
        for options in [
            ["None declared", "Declared in the text"],
            ["No", "Yes"],
            ["No competing interests", "Competing interests declared"],
        ] {
            assert_eq!(yes_or_no(false, &owned(&options)), Some(0));
            assert_eq!(yes_or_no(true, &owned(&options)), Some(1));
        }
        assert_eq!(yes_or_no(true, &owned(&["Maybe", "Perhaps"])), None);
    }

    #[test]
    fn labels_that_ask_for_something_else_are_left_alone() {
        for label in ["Postal code", "Fax", "Cover letter", "I agree to the terms"] {
            assert_eq!(kind_of(label), None, "{label}");
        }
    }
}
