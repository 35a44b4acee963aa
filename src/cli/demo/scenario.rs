//! One paper and one form, made from a seed. This is the truth that the demo is checked against;
//! the model never sees it.

use super::layout::{Field, Section, sections};
use super::rng::Rng;
use super::topics::{TOPICS, Topic};
use super::wording::LICENCES;

/// A day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "named by their parts")]
pub struct Day {
    pub year: u64,
    pub month: u64,
    pub day: u64,
}

/// Names of months.
pub const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

impl Day {
    /// As `<input type=date>` holds it.
    pub fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// As papers print it; `style` 0 to 2.
    #[allow(clippy::cast_possible_truncation, reason = "months are 1 to 12")]
    pub fn printed(self, style: u64) -> String {
        let month = MONTHS[(self.month as usize + 11) % 12];
        match style {
            0 => format!("{} {month} {}", self.day, self.year),
            1 => format!("{month} {}, {}", self.day, self.year),
            _ => self.iso(),
        }
    }
}

/// One of the people who wrote the paper.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "named by what they are")]
pub struct Author {
    pub given: &'static str,
    pub family: &'static str,
    pub orcid: String,
    /// Place in [`Paper::affiliations`].
    pub affiliation: usize,
}

impl Author {
    /// As printed.
    pub fn name(&self) -> String {
        format!("{} {}", self.given, self.family)
    }
}

/// Where somebody works.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "named by what they are")]
pub struct Affiliation {
    pub department: &'static str,
    pub institution: &'static str,
    pub domain: &'static str,
    pub country: &'static str,
}

/// The facts of the paper.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "named by what they are")]
pub struct Paper {
    pub topic_at: usize,
    pub title: String,
    pub running_head: &'static str,
    pub summary: String,
    pub significance: &'static str,
    pub keywords: Vec<&'static str>,
    pub article_type: &'static str,
    pub methods: Vec<&'static str>,
    pub authors: Vec<Author>,
    /// Place in `authors`.
    pub corresponding: usize,
    pub email: String,
    pub affiliations: Vec<Affiliation>,
    pub words: u64,
    pub figures: u64,
    pub tables: u64,
    pub references: u64,
    pub began: Day,
    pub ended: Day,
    pub completed: Day,
    pub posted: Day,
    pub ethics: String,
    pub preregistration: Option<String>,
    pub code: Option<String>,
    pub funder: &'static str,
    pub grant: String,
    pub data_doi: String,
    pub preprint_doi: String,
    pub licence: &'static str,
    /// What they declare; nothing, if they have nothing to declare.
    pub competing: Option<String>,
    pub date_style: u64,
    /// What replaces `{words}` in the topic's texts.
    pub slots: Vec<(&'static str, String)>,
}

impl Paper {
    /// Its topic.
    pub fn topic(&self) -> &'static Topic {
        &TOPICS[self.topic_at]
    }

    /// Who answers letters.
    pub fn contact(&self) -> &Author {
        &self.authors[self.corresponding]
    }

    /// A text of the topic with its numbers and places.
    pub fn fill(&self, template: &str) -> String {
        self.slots
            .iter()
            .fold(template.to_owned(), |text, (slot, value)| text.replace(&format!("{{{slot}}}"), value))
    }
}

/// The paper and the form of one seed.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// The seed.
    pub seed: u64,
    /// The paper.
    pub paper: Paper,
    /// The form.
    pub sections: Vec<Section>,
}

impl Scenario {
    /// Fields of the form, all of them to be filled.
    pub const FIELDS: usize = 26;

    /// Makes everything from the seed.
    pub fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let paper = paper(&mut rng);
        let sections = sections(&mut rng, &paper);
        Self { seed, paper, sections }
    }

    /// All fields in the order of the page.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.sections.iter().flat_map(|section| section.rows.iter().flatten())
    }
}

const GIVEN: &[&str] = &[
    "Mara", "Tomasz", "Ines", "Hiroshi", "Adaeze", "Linnea", "Rafael", "Priya", "Oskar", "Noor", "Callum",
    "Yuki", "Sofia", "Emeka", "Greta", "Mateo",
];
const FAMILY: &[&str] = &[
    "Lindqvist",
    "Okafor",
    "Ferreira",
    "Tanaka",
    "Novak",
    "Mbeki",
    "Castellanos",
    "Raman",
    "Haugen",
    "Sato",
    "MacLeod",
    "Virtanen",
    "Duarte",
    "Eze",
    "Holm",
    "Rossi",
];
const INSTITUTIONS: &[(&str, &str, &str)] = &[
    ("University of Nordhavn", "nordhavn.example", "Denmark"),
    ("Vestby University", "vestby.example", "Norway"),
    ("University of Alcova", "alcova.example", "Spain"),
    ("Kisumu Institute of Science", "kis.example", "Kenya"),
    ("Serra Azul University", "serraazul.example", "Portugal"),
    ("University of Lakemont", "lakemont.example", "Canada"),
    ("Miyako University", "miyako.example", "Japan"),
    ("Pohjola University", "pohjola.example", "Finland"),
];
const FUNDERS: &[(&str, &str)] = &[
    ("Nordic Council for Open Science", "NCOS"),
    ("Aurora Research Foundation", "ARF"),
    ("Ministry of Knowledge and Innovation", "MKI"),
    ("Meridian Science Trust", "MST"),
];

fn paper(rng: &mut Rng) -> Paper {
    #[allow(clippy::cast_possible_truncation, reason = "there are a handful of topics")]
    let topic_at = rng.between(0, TOPICS.len() as u64 - 1) as usize;
    let topic = &TOPICS[topic_at];
    let mut slots = slots(rng, topic);
    let date_style = rng.between(0, 2);
    let began = day(rng, 2023);
    let ended = Day { year: 2025, ..day(rng, 2025) };
    let completed = Day { year: 2026, month: rng.between(1, 4), day: rng.between(1, 28) };
    let posted = Day { month: completed.month + 2, day: rng.between(1, 28), ..completed };
    slots.push(("began", began.printed(date_style)));
    slots.push(("ended", ended.printed(date_style)));
    let (title, running_head) = rng.pick(topic.titles);
    let affiliations = affiliations(rng, topic);
    let authors = authors(rng, affiliations.len());
    #[allow(clippy::cast_possible_truncation, reason = "there are at most six authors")]
    let corresponding = rng.between(0, authors.len() as u64 - 1) as usize;
    let (funder, funder_short) = rng.pick(FUNDERS);
    let preregistered = rng.flip();
    let code_public = !preregistered || rng.flip();
    let article_type = ["Research article", "Short report", "Registered report"]
        [usize::from(rng.flip()) + usize::from(rng.flip())];
    // The journal says that a short report has up to 3,000 words.
    let longest = if article_type == "Short report" { 2950 } else { 7900 };
    let methods = 2 + usize::from(rng.flip());
    let contact = &authors[corresponding];
    let email = format!(
        "{}.{}@{}",
        contact.given.to_lowercase(),
        contact.family.to_lowercase(),
        affiliations[contact.affiliation].domain
    );
    let adviser = authors[(corresponding + 1) % authors.len()].name();
    let mut paper = Paper {
        topic_at,
        title: String::new(),
        running_head,
        summary: String::new(),
        significance: topic.significance,
        keywords: rng.sample(topic.keywords, 5),
        article_type,
        methods: rng.sample(topic.methods, methods),
        authors,
        corresponding,
        email,
        affiliations,
        words: rng.between(longest * 2 / 5, longest),
        figures: rng.between(3, 9),
        tables: rng.between(1, 4),
        references: rng.between(31, 88),
        began,
        ended,
        completed,
        posted,
        ethics: format!(
            "{}-{}-{}",
            rng.pick(&["REB", "ERC", "HREC"]),
            2022 + rng.between(0, 2),
            rng.between(104, 988)
        ),
        preregistration: preregistered.then(|| format!("osf.example/{}", rng.word(5))),
        code: code_public.then(|| format!("git.example/{}/{}", rng.word(6), rng.word(4))),
        funder,
        grant: format!("{funder_short}-{}-{}", rng.between(2021, 2024), rng.between(1012, 9876)),
        // 10.5072 is the prefix that DataCite reserves for tests.
        data_doi: format!("10.5072/data.{}", rng.between(100_243, 998_761)),
        preprint_doi: format!("10.5072/preprint.2026.{}", rng.between(1043, 9871)),
        licence: rng.pick(LICENCES).0,
        competing: rng
            .flip()
            .then(|| format!("{adviser} has advised a company that makes measuring equipment")),
        date_style,
        slots,
    };
    paper.title = paper.fill(title);
    paper.summary = paper.fill(topic.summary);
    paper
}

/// What replaces the words in braces in the topic's texts, but for the dates.
fn slots(rng: &mut Rng, topic: &Topic) -> Vec<(&'static str, String)> {
    let mut slots: Vec<(&'static str, String)> = [
        ("n", rng.between(120, 480)),
        ("years", rng.between(2, 6)),
        ("sites", rng.between(14, 40)),
        ("high", rng.between(8, 13)),
        ("pct", rng.between(21, 47)),
        ("low", rng.between(6, 18)),
    ]
    .map(|(slot, number)| (slot, number.to_string()))
    .into();
    slots.push(("place", rng.pick(topic.places).to_owned()));
    slots
}

fn day(rng: &mut Rng, year: u64) -> Day {
    Day { year, month: rng.between(1, 12), day: rng.between(1, 28) }
}

fn affiliations(rng: &mut Rng, topic: &Topic) -> Vec<Affiliation> {
    let count = 2 + usize::from(rng.flip());
    rng.sample(INSTITUTIONS, count)
        .into_iter()
        .map(|(institution, domain, country)| Affiliation {
            department: rng.pick(topic.departments),
            institution,
            domain,
            country,
        })
        .collect()
}

fn authors(rng: &mut Rng, affiliations: usize) -> Vec<Author> {
    #[allow(clippy::cast_possible_truncation, reason = "three to six")]
    let count = rng.between(3, 6) as usize;
    let given = rng.sample(GIVEN, count);
    let family = rng.sample(FAMILY, count);
    given
        .into_iter()
        .zip(family)
        .enumerate()
        .map(|(at, (given, family))| Author {
            given,
            family,
            orcid: orcid(rng),
            affiliation: at % affiliations,
        })
        .collect()
}

/// A well-formed ORCID iD: fifteen digits and their check digit (ISO 7064, MOD 11-2).
fn orcid(rng: &mut Rng) -> String {
    let digits: Vec<u64> = std::iter::repeat_n(0, 4).chain((0..11).map(|_| rng.between(0, 9))).collect();
    let total = digits.iter().fold(0, |total, digit| (total + digit) * 2);
    let check = (12 - total % 11) % 11;
    let mut text: String = digits.iter().map(u64::to_string).collect();
    text.push_str(&if check == 10 { "X".to_owned() } else { check.to_string() });
    [&text[..4], &text[4..8], &text[8..12], &text[12..]].join("-")
}
