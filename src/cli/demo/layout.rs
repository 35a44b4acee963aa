//! The form of a scenario: which fields, how they are built and named, what belongs into them.

use super::kind::Kind;
use super::rng::Rng;
use super::scenario::Paper;
use super::topics::{AREAS, METHODS};
use super::wording::{ARTICLE_TYPES, COMPETING, COUNTRIES, LICENCES, labels};

/// How a field is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named by the element")]
pub enum Control {
    Text,
    Email,
    Number,
    Date,
    TextArea,
    RichText,
    Select,
    MultiSelect,
    Radio,
    Checkbox,
    Combobox,
    /// A text field inside an open shadow root.
    ShadowText,
    /// A text field inside a frame of the same origin.
    FrameText,
}

/// One field of the form.
#[derive(Debug, Clone)]
pub struct Field {
    /// What it asks for.
    pub kind: Kind,
    /// How it is built.
    pub control: Control,
    /// The element's id; a radio group's buttons append `-0`, `-1`, ….
    pub id: String,
    /// The element's name.
    pub name: String,
    /// What people read.
    pub label: &'static str,
    /// Value and label of each option, in the page's order.
    pub options: Vec<(String, String)>,
    /// Columns of twelve.
    pub span: u8,
    /// What must be in it in the end.
    pub answer: Answer,
}

/// What a field must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Any of these texts; the first is the best.
    Text(Vec<String>),
    /// Words in any order, separated by commas or semicolons.
    Words(Vec<String>),
    /// The option with this label.
    Option(String),
    /// Exactly the options with these labels.
    Options(Vec<String>),
    /// Ticked or not.
    Tick(bool),
}

/// Fields under one heading, row by row.
#[derive(Debug, Clone)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// What stands under it.
    pub lead: &'static str,
    /// Rows whose spans add up to twelve.
    pub rows: Vec<Vec<Field>>,
}

/// Rows of one section: (kind, control, span); fields of equal span change places.
type Plan = &'static [&'static [(Kind, Control, u8)]];

const PLANS: &[(&str, &str, Plan)] = &[
    (
        "Manuscript",
        "What readers will see first.",
        &[
            &[(Kind::Title, Control::Text, 8), (Kind::ShortTitle, Control::Text, 4)],
            &[(Kind::Abstract, Control::TextArea, 6), (Kind::Significance, Control::RichText, 6)],
            &[(Kind::Keywords, Control::Text, 8), (Kind::SubjectArea, Control::Combobox, 4)],
            &[(Kind::ArticleType, Control::Radio, 12)],
        ],
    ),
    (
        "Corresponding author",
        "We write to this person only.",
        &[
            &[
                (Kind::AuthorName, Control::Text, 4),
                (Kind::Email, Control::Email, 4),
                (Kind::Orcid, Control::Text, 4),
            ],
            &[
                (Kind::Affiliation, Control::Text, 5),
                (Kind::Country, Control::Select, 4),
                (Kind::AuthorCount, Control::Number, 3),
            ],
        ],
    ),
    (
        "Study",
        "How and when the work was done.",
        &[
            &[
                (Kind::StudyStart, Control::Date, 3),
                (Kind::Completed, Control::Date, 3),
                (Kind::WordCount, Control::Number, 3),
                (Kind::FigureCount, Control::Number, 3),
            ],
            &[
                (Kind::Methods, Control::MultiSelect, 6),
                (Kind::Ethics, Control::Text, 6),
                (Kind::Preregistered, Control::Checkbox, 6),
                (Kind::CodePublic, Control::Checkbox, 6),
            ],
        ],
    ),
    (
        "Funding and openness",
        "Printed with the article.",
        &[
            &[
                (Kind::Funder, Control::Text, 4),
                (Kind::Grant, Control::ShadowText, 4),
                (Kind::DataDoi, Control::FrameText, 4),
            ],
            &[(Kind::Licence, Control::Select, 6), (Kind::Competing, Control::Radio, 6)],
        ],
    ),
];

/// Lays the form out.
pub fn sections(rng: &mut Rng, paper: &Paper) -> Vec<Section> {
    let mut sections: Vec<Section> = PLANS
        .iter()
        .map(|(title, lead, plan)| {
            let mut rows: Vec<Vec<Field>> = plan
                .iter()
                .map(|row| {
                    let mut row: Vec<Field> = row.iter().map(|slot| field(rng, paper, *slot)).collect();
                    // The block around the tall multi-select keeps its place: the others stack beside it.
                    let first = usize::from(row[0].control == Control::MultiSelect);
                    rng.shuffle(&mut row[first..]);
                    row
                })
                .collect();
            rng.shuffle(&mut rows);
            Section { title, lead, rows }
        })
        .collect();
    rng.shuffle(&mut sections);
    sections
}

fn field(rng: &mut Rng, paper: &Paper, (kind, control, span): (Kind, Control, u8)) -> Field {
    let (options, answer) = options(rng, paper, kind);
    Field {
        kind,
        control,
        id: format!("{}-{}", rng.word(3), rng.word(5)),
        name: rng.word(7),
        label: rng.pick(labels(kind)),
        options: options.into_iter().map(|label| (rng.word(4), label)).collect(),
        span,
        answer,
    }
}

/// The options in the page's order, and what must be in the field.
fn options(rng: &mut Rng, paper: &Paper, kind: Kind) -> (Vec<String>, Answer) {
    let mut choose = |all: &[&str], right: &str| {
        let mut all: Vec<String> = all.iter().map(|label| (*label).to_owned()).collect();
        rng.shuffle(&mut all);
        (all, Answer::Option(right.to_owned()))
    };
    let contact = paper.contact();
    let home = &paper.affiliations[contact.affiliation];
    match kind {
        Kind::Country => {
            let (mut all, answer) = choose(COUNTRIES, home.country);
            all.sort_unstable();
            (all, answer)
        }
        Kind::SubjectArea => choose(AREAS, paper.topic().area),
        Kind::ArticleType => {
            let remarks = rng.flip();
            let label = |(name, remark): &(&str, &str)| {
                if remarks { format!("{name} ({remark})") } else { (*name).to_owned() }
            };
            let mut all: Vec<String> = ARTICLE_TYPES.iter().map(label).collect();
            let right = ARTICLE_TYPES.iter().find(|(name, _)| *name == paper.article_type).map(label);
            rng.shuffle(&mut all);
            (all, Answer::Option(right.unwrap_or_default()))
        }
        Kind::Licence => {
            let long = rng.flip();
            let label =
                |(short, name): &(&str, &str)| if long { (*name).to_owned() } else { (*short).to_owned() };
            let mut all: Vec<String> = LICENCES.iter().map(label).collect();
            let right = LICENCES.iter().find(|(short, _)| *short == paper.licence).map(label);
            rng.shuffle(&mut all);
            (all, Answer::Option(right.unwrap_or_default()))
        }
        Kind::Competing => {
            let (none, some) = rng.pick(COMPETING);
            let right = if paper.competing.is_some() { some } else { none };
            let mut all = vec![none.to_owned(), some.to_owned()];
            rng.shuffle(&mut all);
            (all, Answer::Option(right.to_owned()))
        }
        Kind::Methods => {
            let (all, _) = choose(METHODS, "");
            (all, Answer::Options(paper.methods.iter().map(|method| (*method).to_owned()).collect()))
        }
        _ => (Vec::new(), plain(paper, kind)),
    }
}

/// The answer of a field without options.
fn plain(paper: &Paper, kind: Kind) -> Answer {
    let contact = paper.contact();
    let home = &paper.affiliations[contact.affiliation];
    let one = |text: &str| Answer::Text(vec![text.to_owned()]);
    match kind {
        Kind::Title => one(&paper.title),
        Kind::ShortTitle => one(paper.running_head),
        Kind::Abstract => one(&paper.summary),
        Kind::Significance => one(paper.significance),
        Kind::Keywords => Answer::Words(paper.keywords.iter().map(|word| (*word).to_owned()).collect()),
        Kind::AuthorName => one(&contact.name()),
        Kind::Email => one(&paper.email),
        Kind::Orcid => one(&contact.orcid),
        Kind::Affiliation => {
            let both = format!("{}, {}", home.department, home.institution);
            Answer::Text(vec![both.clone(), format!("{both}, {}", home.country), home.institution.to_owned()])
        }
        Kind::AuthorCount => one(&paper.authors.len().to_string()),
        Kind::WordCount => one(&paper.words.to_string()),
        Kind::FigureCount => one(&paper.figures.to_string()),
        Kind::StudyStart => one(&paper.began.iso()),
        Kind::Completed => one(&paper.completed.iso()),
        Kind::Ethics => one(&paper.ethics),
        Kind::Funder => one(paper.funder),
        Kind::Grant => one(&paper.grant),
        Kind::DataDoi => {
            Answer::Text(vec![paper.data_doi.clone(), format!("https://doi.org/{}", paper.data_doi)])
        }
        Kind::Preregistered => Answer::Tick(paper.preregistration.is_some()),
        Kind::CodePublic => Answer::Tick(paper.code.is_some()),
        _ => Answer::Text(Vec::new()),
    }
}
