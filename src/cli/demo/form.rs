//! The journal's submission form.

use std::fmt::Write as _;

use super::kind::Kind;
use super::layout::{Control, Field};
use super::pages::escape;
use super::scenario::Scenario;

const CSS: &str = include_str!("pages/form.css");
const JS: &str = include_str!("pages/form.js");
const DEPOSIT_CSS: &str = include_str!("pages/deposit.css");
const DEPOSIT_JS: &str = include_str!("pages/deposit.js");

/// Name of the journal.
pub const JOURNAL: &str = "Fieldnotes";

/// The whole page. `take_back` names a field whose value the page silently removes again.
pub fn render(scenario: &Scenario, take_back: Option<Kind>) -> String {
    let mut cards = String::new();
    for section in &scenario.sections {
        let rows: String = section
            .rows
            .iter()
            .map(|row| format!("<div class=\"row\">{}</div>", row.iter().map(field).collect::<String>()))
            .collect();
        let _ = write!(
            cards,
            "<section class=\"card\"><header><h2>{}</h2><span>{}</span></header><div class=\"rows\">{rows}</div></section>",
            section.title, section.lead
        );
    }
    let taken = take_back
        .and_then(|kind| scenario.fields().find(|field| field.kind == kind))
        .map(|field| format!(" data-take-back=\"{}\"", field.id))
        .unwrap_or_default();
    format!(
        r##"<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Submit a manuscript · {JOURNAL}</title>
<link rel="icon" href="data:,">
<style>{CSS}</style>
</head>
<body>
<header class="top"><svg class="mark" viewBox="0 0 26 26" aria-hidden="true"><rect width="26" height="26" rx="7" fill="#3f51b5"/><path d="M7 19c1-6 5-11 12-12-1 7-5 11-11 11" fill="none" stroke="#fff" stroke-width="1.8" stroke-linecap="round"/></svg><b>{JOURNAL}</b><nav><span>Journal</span><span>Submissions</span><span>Reviews</span></nav><span class="who">Draft, not sent</span></header>
<main>
<h1>Submit a manuscript</h1>
<p class="lead">All 26 fields are needed before the editors can start. You can change everything until you submit.</p>
<form novalidate autocomplete="off"{taken}>
{cards}
<div class="bar"><output>0 of 26 answered</output><div class="meter"><i></i></div><button type="submit">Submit manuscript</button></div>
</form>
</main>
<script>{JS}</script>
</body>
</html>
"##
    )
}

/// The framed page with the one field that lives in it.
pub fn render_deposit(scenario: &Scenario) -> String {
    let Some(field) = scenario.fields().find(|field| field.control == Control::FrameText) else {
        return String::new();
    };
    format!(
        r#"<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Data deposit</title><style>{DEPOSIT_CSS}</style></head>
<body><label for="{id}">{label}</label><input id="{id}" name="{name}" type="text" required autocomplete="off">
<script>{DEPOSIT_JS}</script></body></html>
"#,
        id = field.id,
        name = field.name,
        label = escape(field.label),
    )
}

fn rule(kind: Kind) -> &'static str {
    match kind {
        Kind::Email => "email",
        Kind::Orcid => "orcid",
        Kind::DataDoi => "doi",
        Kind::ShortTitle => "short",
        Kind::Keywords => "keywords",
        Kind::Abstract | Kind::Significance => "words",
        Kind::AuthorCount | Kind::WordCount | Kind::FigureCount => "count",
        _ => "",
    }
}

fn field(field: &Field) -> String {
    let Field { id, name, label, span, kind, .. } = field;
    let label = escape(label);
    let open = |tag: &str, class: &str, more: &str| {
        format!("<{tag} class=\"field {class}\" style=\"--span:{span}\" data-rule=\"{}\"{more}>", rule(*kind))
    };
    let problem = "<p class=\"problem\" role=\"status\"></p>";
    let labelled = |control: String| {
        format!("{}<label for=\"{id}\">{label}</label>{control}{problem}</div>", open("div", "", ""))
    };
    let input = |kind: &str, more: &str| {
        labelled(format!("<input class=\"box\" type=\"{kind}\" id=\"{id}\" name=\"{name}\" required{more}>"))
    };
    match field.control {
        Control::Text => input("text", ""),
        Control::Email => input("email", ""),
        Control::Number => input("number", " min=\"1\" max=\"20000\" step=\"1\""),
        Control::Date => input("date", ""),
        Control::TextArea => {
            labelled(format!("<textarea class=\"box\" id=\"{id}\" name=\"{name}\" required></textarea>"))
        }
        Control::RichText => format!(
            "{}<span class=\"label\" id=\"{id}-label\">{label}</span><div class=\"box rich\" id=\"{id}\" contenteditable=\"true\" role=\"textbox\" aria-multiline=\"true\" aria-required=\"true\" aria-labelledby=\"{id}-label\"></div>{problem}</div>",
            open("div", "", "")
        ),
        Control::Select => labelled(format!(
            "<select class=\"box\" id=\"{id}\" name=\"{name}\" required><option value=\"\">Choose…</option>{}</select>",
            options(field)
        )),
        Control::MultiSelect => format!(
            "{}<label for=\"{id}\">{label}</label><select class=\"box\" id=\"{id}\" name=\"{name}\" multiple required>{}</select>{problem}</div>",
            open("div", "tall", ""),
            options(field)
        ),
        Control::Radio => format!(
            "{}<legend>{label}</legend><div class=\"choices\">{}</div>{problem}</fieldset>",
            open("fieldset", "", ""),
            radios(field)
        ),
        Control::Checkbox => format!(
            "{}<label><input type=\"checkbox\" id=\"{id}\" name=\"{name}\" value=\"yes\">{label}</label></div>",
            open("div", "tick", "")
        ),
        Control::Combobox => format!("{}{}{problem}</div>", open("div", "", ""), combobox(field, &label)),
        Control::ShadowText => format!(
            "{}<funding-field data-id=\"{id}\" data-name=\"{name}\" data-label=\"{label}\"></funding-field></div>",
            open("div", "", &format!(" data-inner=\"{id}\""))
        ),
        Control::FrameText => format!(
            "{}<iframe src=\"/deposit\" title=\"Data deposit\"></iframe></div>",
            open("div", "", &format!(" data-inner=\"{id}\""))
        ),
    }
}

fn options(field: &Field) -> String {
    field
        .options
        .iter()
        .map(|(value, label)| format!("<option value=\"{value}\">{}</option>", escape(label)))
        .collect()
}

fn radios(field: &Field) -> String {
    let mut html = String::new();
    for (at, (value, label)) in field.options.iter().enumerate() {
        let _ = write!(
            html,
            "<label><input type=\"radio\" id=\"{}-{at}\" name=\"{}\" value=\"{value}\" required>{}</label>",
            field.id,
            field.name,
            escape(label)
        );
    }
    html
}

fn combobox(field: &Field, label: &str) -> String {
    let id = &field.id;
    let mut items = String::new();
    for (at, (value, label)) in field.options.iter().enumerate() {
        let _ = write!(
            items,
            "<li role=\"option\" id=\"{id}-{at}\" data-value=\"{value}\" aria-selected=\"false\">{}</li>",
            escape(label)
        );
    }
    format!(
        "<span class=\"label\" id=\"{id}-label\">{label}</span><div class=\"box combo\" id=\"{id}\" role=\"combobox\" tabindex=\"0\" aria-haspopup=\"listbox\" aria-expanded=\"false\" aria-required=\"true\" aria-controls=\"{id}-list\" aria-labelledby=\"{id}-label\"><span class=\"shown empty\">Choose…</span><svg class=\"chevron\" viewBox=\"0 0 12 12\" fill=\"none\" stroke-width=\"1.6\" stroke-linecap=\"round\" stroke-linejoin=\"round\" aria-hidden=\"true\"><path d=\"M2.5 4.5 6 8l3.5-3.5\"/></svg></div><ul class=\"list\" id=\"{id}-list\" role=\"listbox\" aria-labelledby=\"{id}-label\" hidden>{items}</ul>"
    )
}
