//! The words that the pages, the check and the model share. No answers here.

/// What a field asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "named by what they ask for")]
pub enum Kind {
    Title,
    ShortTitle,
    Abstract,
    Keywords,
    Significance,
    ArticleType,
    SubjectArea,
    AuthorName,
    Email,
    Orcid,
    Affiliation,
    Country,
    AuthorCount,
    WordCount,
    FigureCount,
    Methods,
    StudyStart,
    Completed,
    Ethics,
    Preregistered,
    CodePublic,
    Funder,
    Grant,
    DataDoi,
    Licence,
    Competing,
}
