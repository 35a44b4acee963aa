//! The paper as a preprint server shows it.

use std::fmt::Write as _;

use super::pages::escape;
use super::rng::Rng;
use super::scenario::{Paper, Scenario};

const CSS: &str = include_str!("pages/paper.css");

/// Name of the site; it stands in the tab's title too.
pub const SITE: &str = "Openfield Preprints";

/// Authors, title and journal of works that can be cited.
const CITED: &[(&str, &str, &str)] = &[
    ("Abara C, Lund M", "What field notes leave out", "Annals of Observation"),
    ("Bergqvist T", "Counting is not measuring", "Measurement and Society"),
    (
        "Cho H, Adler R, Mensah K",
        "Planning repeated measurements: how long is long enough?",
        "Methods Review",
    ),
    ("Dimitrova E", "Missing values and what they mean", "Journal of Applied Statistics Practice"),
    ("Escobar L, Whitfield J", "Open data in small research groups", "Research Commons"),
    ("Fontaine P", "Reading an uneven record", "Annals of Observation"),
    ("Gupta S, Olsen B", "Registered reports, five years on", "Research Commons"),
    ("Halonen A, Ito M", "Sampling where people live", "Measurement and Society"),
];

/// The whole page.
pub fn render(scenario: &Scenario) -> String {
    let paper = &scenario.paper;
    let topic = paper.topic();
    let section = |heading: &str, texts: &[&str]| {
        let texts: String =
            texts.iter().map(|text| format!("<p>{}</p>", escape(&paper.fill(text)))).collect();
        format!("<h2>{heading}</h2>{texts}")
    };
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · {SITE}</title>
<link rel="icon" href="data:,">
<style>{CSS}</style>
</head>
<body>
<header class="site"><svg viewBox="0 0 22 22" fill="none" stroke="#8fd3c1" stroke-width="1.8" aria-hidden="true"><path d="M3 17c4-9 12-9 16 0M7 17c2-5 6-5 8 0M11 17v1"/></svg><span>{SITE}</span><span>Not peer reviewed</span></header>
<article class="sheet">
<p class="kicker">{kind}</p>
<h1>{title}</h1>
{byline}
<div class="columns">
<div>
<h2>Abstract</h2>
<p>{summary}</p>
<p class="keywords"><b>Keywords:</b> {keywords}</p>
<section class="significance"><h2>Significance</h2><p>{significance}</p></section>
{introduction}
{methods}
{results}
{figure}
{discussion}
{references}
</div>
{about}
</div>
{notes}
</article>
</body>
</html>
"##,
        title = escape(&paper.title),
        kind = escape(paper.article_type),
        byline = byline(paper),
        summary = escape(&paper.summary),
        keywords = escape(&paper.keywords.join("; ")),
        significance = escape(paper.significance),
        introduction = section("Introduction", &topic.introduction),
        methods = section("Materials and methods", &[topic.procedure]),
        results = section("Results", &topic.results),
        figure = figure(scenario),
        discussion = section("Discussion", &[topic.discussion, topic.limits]),
        references = references(scenario),
        about = about(paper),
        notes = notes(paper),
    )
}

fn byline(paper: &Paper) -> String {
    let mut authors: Vec<String> = Vec::new();
    for (at, author) in paper.authors.iter().enumerate() {
        let star = if at == paper.corresponding { ",*" } else { "" };
        authors.push(format!("{}<sup>{}{star}</sup>", escape(&author.name()), author.affiliation + 1));
    }
    let last = authors.pop().unwrap_or_default();
    let mut html = format!("<p class=\"byline\">{} and {last}</p><ol class=\"places\">", authors.join(", "));
    for (at, place) in paper.affiliations.iter().enumerate() {
        let _ = write!(
            html,
            "<li><sup>{}</sup> {}, {}, {}</li>",
            at + 1,
            escape(place.department),
            escape(place.institution),
            escape(place.country)
        );
    }
    html.push_str("</ol>");
    html
}

/// The table beside the text.
fn about(paper: &Paper) -> String {
    let rows = [
        ("Article type", paper.article_type.to_owned()),
        ("Running head", paper.running_head.to_owned()),
        ("Subject area", paper.topic().area.to_owned()),
        ("Methods", paper.methods.join("; ")),
        ("Word count", thousands(paper.words)),
        ("Figures", paper.figures.to_string()),
        ("Tables", paper.tables.to_string()),
        ("References", paper.references.to_string()),
        ("Manuscript completed", paper.completed.printed(paper.date_style)),
        ("Posted", paper.posted.printed(paper.date_style)),
        ("Version", "1".to_owned()),
        ("DOI of this preprint", paper.preprint_doi.clone()),
    ];
    let rows: String = rows
        .iter()
        .map(|(name, value)| format!("<tr><th scope=\"row\">{name}</th><td>{}</td></tr>", escape(value)))
        .collect();
    format!("<aside><table><caption>About this preprint</caption><tbody>{rows}</tbody></table></aside>")
}

fn notes(paper: &Paper) -> String {
    let contact = paper.contact();
    let orcids: Vec<String> =
        paper.authors.iter().map(|author| format!("{} {}", author.name(), author.orcid)).collect();
    let code = match &paper.code {
        Some(place) => format!("The analysis code is public at {place}."),
        None => "The analysis code is available from the corresponding author on request.".to_owned(),
    };
    let preregistration = match &paper.preregistration {
        Some(place) => format!("The study was preregistered at {place} before the first measurement."),
        None => "The study was not preregistered.".to_owned(),
    };
    let competing = match &paper.competing {
        Some(text) => format!("{text}; the other authors declare no competing interests."),
        None => "The authors declare no competing interests.".to_owned(),
    };
    let lines = [
        ("* Correspondence:", format!("{}, {}", contact.name(), paper.email)),
        ("ORCID iDs:", format!("{}.", orcids.join("; "))),
        (
            "Ethics.",
            format!("The work was reviewed by the regional ethics board (approval number {}).", paper.ethics),
        ),
        (
            "Funding.",
            format!(
                "This work was supported by the {} (grant {}). The funder had no part in the design of the study.",
                paper.funder, paper.grant
            ),
        ),
        ("Data.", format!("The data set is deposited under doi:{}.", paper.data_doi)),
        ("Code.", code),
        ("Preregistration.", preregistration),
        ("Competing interests.", competing),
        ("Licence.", format!("© 2026 The authors. Distributed under {}.", paper.licence)),
    ];
    let lines: String =
        lines.iter().map(|(head, text)| format!("<p><b>{head}</b> {}</p>", escape(text))).collect();
    format!("<section class=\"notes\"><h2>Notes</h2>{lines}</section>")
}

/// What the paper cites; invented like the rest.
fn references(scenario: &Scenario) -> String {
    let mut rng = Rng::new(scenario.seed ^ 0x5EF5);
    let items: String = rng
        .sample(CITED, 6)
        .into_iter()
        .map(|(authors, title, journal)| {
            let (year, volume, page) = (rng.between(2009, 2024), rng.between(4, 61), rng.between(11, 840));
            format!(
                "<li>{authors} ({year}) {title}. <i>{journal}</i> {volume}: {page}–{}. doi:10.5072/cited.{}</li>",
                page + rng.between(7, 24),
                rng.between(10_400, 98_700)
            )
        })
        .collect();
    format!("<h2>References</h2><ol class=\"references\">{items}</ol>")
}

fn thousands(number: u64) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

/// Two curves that part company, drawn from the seed.
fn figure(scenario: &Scenario) -> String {
    let [caption, axis, first, second] = scenario.paper.topic().figure;
    let mut rng = Rng::new(scenario.seed ^ 0xF16);
    let mut curve = |slope: i64| {
        let mut y = 218_i64;
        let mut points = String::new();
        for step in 0..13_i64 {
            let wobble = i64::try_from(rng.between(0, 14)).unwrap_or(0) - 7;
            let _ = write!(points, "{},{} ", 64 + step * 46, y + wobble);
            y -= slope - step * slope / 30;
        }
        points
    };
    let (high, low) = (curve(19), curve(8));
    let grid: String = (0..5)
        .map(|line| {
            let y = 30 + line * 50;
            format!(
                r##"<line x1="64" x2="632" y1="{y}" y2="{y}" stroke="#e3e7e4"/><text x="54" y="{ty}" text-anchor="end">{value}</text>"##,
                ty = y + 4,
                value = (4 - line) * 20
            )
        })
        .collect();
    format!(
        r##"<figure><svg viewBox="0 0 660 280" font-family="Inter, 'Liberation Sans', sans-serif" font-size="12" fill="#5d6a70" role="img" aria-label="{caption}">
{grid}<text x="64" y="16">{axis}</text>
<polyline points="{low}" fill="none" stroke="#b98a3e" stroke-width="2.4" stroke-linejoin="round" stroke-linecap="round"/>
<polyline points="{high}" fill="none" stroke="#0b6b5d" stroke-width="2.4" stroke-linejoin="round" stroke-linecap="round"/>
<g transform="translate(64 262)"><circle r="4" cx="6" cy="-4" fill="#0b6b5d"/><text x="16">{first}</text><circle r="4" cx="166" cy="-4" fill="#b98a3e"/><text x="176">{second}</text></g>
</svg><figcaption><b>Figure 1.</b> {caption}</figcaption></figure>"##
    )
}
