//! How the journal's form can name its fields. The model does not read this file: it has to
//! understand the labels that the tools show it.

use super::kind::Kind;

/// The labels a field can carry.
pub fn labels(kind: Kind) -> &'static [&'static str] {
    LABELS.iter().find(|(known, _)| *known == kind).map_or(&[], |(_, labels)| labels.as_slice())
}

const LABELS: [(Kind, [&str; 4]); 26] = [
    (Kind::Title, ["Title of the manuscript", "Full title", "Manuscript title", "Title"]),
    (Kind::ShortTitle, ["Running head", "Short title", "Running title", "Abbreviated title"]),
    (
        Kind::Abstract,
        ["Abstract", "Abstract of the manuscript", "Abstract (unstructured)", "Summary (abstract)"],
    ),
    (Kind::Keywords, ["Keywords", "Key words", "Keywords, separated by semicolons", "Index terms"]),
    (
        Kind::Significance,
        ["Significance statement", "Why it matters", "Significance", "Statement of significance"],
    ),
    (Kind::ArticleType, ["Article type", "Type of manuscript", "Kind of contribution", "Submission type"]),
    (Kind::SubjectArea, ["Subject area", "Research field", "Discipline", "Primary subject"]),
    (
        Kind::AuthorName,
        [
            "Corresponding author",
            "Name of the corresponding author",
            "Contact author",
            "Author for correspondence",
        ],
    ),
    (
        Kind::Email,
        ["Corresponding author's e-mail", "Contact e-mail", "E-mail for correspondence", "Email address"],
    ),
    (Kind::Orcid, ["ORCID iD", "ORCID of the corresponding author", "ORCID", "Author's ORCID iD"]),
    (
        Kind::Affiliation,
        [
            "Affiliation",
            "Institution of the corresponding author",
            "Department and institution",
            "Primary affiliation",
        ],
    ),
    (
        Kind::Country,
        ["Country", "Country of the corresponding author", "Country or territory", "Country of affiliation"],
    ),
    (Kind::AuthorCount, ["Number of authors", "How many authors?", "Author count", "Authors in total"]),
    (Kind::WordCount, ["Word count", "Words in the main text", "Length in words", "Number of words"]),
    (Kind::FigureCount, ["Number of figures", "Figures", "How many figures?", "Figure count"]),
    (Kind::Methods, ["Methods used", "Research methods", "Methodology", "Methods (all that apply)"]),
    (
        Kind::StudyStart,
        [
            "Data collection began",
            "Start of data collection",
            "First day of data collection",
            "Study start date",
        ],
    ),
    (
        Kind::Completed,
        ["Manuscript completed on", "Date of completion", "Completion date", "Manuscript finished on"],
    ),
    (
        Kind::Ethics,
        [
            "Ethics approval number",
            "Ethics protocol",
            "Reference of the ethics approval",
            "Approval number (ethics)",
        ],
    ),
    (
        Kind::Preregistered,
        [
            "The study was preregistered",
            "This study has a preregistration",
            "Preregistered study",
            "Study is preregistered",
        ],
    ),
    (
        Kind::CodePublic,
        [
            "Analysis code is public",
            "The code is openly available",
            "Code is available to everyone",
            "Public analysis code",
        ],
    ),
    (Kind::Funder, ["Funder", "Funding body", "Funding agency", "Who funded the work?"]),
    (Kind::Grant, ["Grant number", "Award number", "Grant reference", "Funding reference"]),
    (Kind::DataDoi, ["DOI of the data set", "Dataset DOI", "Data DOI", "Persistent identifier of the data"]),
    (Kind::Licence, ["Licence", "License", "Copyright licence", "Licence for the published version"]),
    (
        Kind::Competing,
        [
            "Competing interests",
            "Conflict of interest",
            "Do the authors declare competing interests?",
            "Conflicting interests",
        ],
    ),
];

/// How the two answers about competing interests can read: none, some.
pub const COMPETING: &[(&str, &str)] = &[
    ("None declared", "Declared in the text"),
    ("No competing interests", "Competing interests declared"),
    ("No", "Yes"),
];

/// How the journal can name the licences: short, long.
pub const LICENCES: &[(&str, &str)] = &[
    ("CC BY 4.0", "Creative Commons Attribution 4.0 (CC BY 4.0)"),
    ("CC BY-NC 4.0", "Creative Commons Attribution-NonCommercial 4.0 (CC BY-NC 4.0)"),
    ("CC BY-SA 4.0", "Creative Commons Attribution-ShareAlike 4.0 (CC BY-SA 4.0)"),
    ("CC BY-ND 4.0", "Creative Commons Attribution-NoDerivatives 4.0 (CC BY-ND 4.0)"),
    ("CC0 1.0", "Creative Commons Zero 1.0 (CC0 1.0)"),
];

/// Kinds of article, with a remark that some forms put after the name.
pub const ARTICLE_TYPES: &[(&str, &str)] = &[
    ("Research article", "up to 8,000 words"),
    ("Review", "by invitation"),
    ("Short report", "up to 3,000 words"),
    ("Registered report", "stage 2"),
];

/// Countries that the journal offers.
pub const COUNTRIES: &[&str] = &[
    "Argentina",
    "Austria",
    "Brazil",
    "Canada",
    "Denmark",
    "Estonia",
    "Finland",
    "Ghana",
    "India",
    "Ireland",
    "Japan",
    "Kenya",
    "Netherlands",
    "New Zealand",
    "Norway",
    "Portugal",
    "South Korea",
    "Spain",
    "Sweden",
    "Uruguay",
];
