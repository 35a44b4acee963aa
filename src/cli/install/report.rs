//! What was done, as a table for people or as JSON.

use std::io::{self, Write};
use std::path::Path;

use serde::Serialize;

use super::apply::Status;

/// One browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Short name.
    pub browser: String,
    /// The name that people know.
    pub name: String,
    /// What happened.
    pub status: Status,
    /// Where: manifests, on Windows also keys.
    pub places: Vec<String>,
    /// More, when there is more to say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The whole run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Version of this JSON, raised when a field changes its meaning.
    pub schema_version: u32,
    /// `install-host` or `uninstall-host`.
    pub command: &'static str,
    /// Whether all of it worked.
    pub ok: bool,
    /// The program that browsers start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// The extensions that may start it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
    /// The browsers.
    pub browsers: Vec<Row>,
    /// What else to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Report {
    /// One line of JSON.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)
    }

    /// A table; paths below `home` are shortened to `~`.
    ///
    /// # Errors
    /// When `out` cannot be written.
    pub fn write_table(&self, out: &mut dyn Write, home: &Path) -> io::Result<()> {
        if let Some(program) = &self.program {
            writeln!(out, "Host: {program}\n")?;
        }
        let wide = self.browsers.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
        for row in &self.browsers {
            let mut status = row.status.word();
            let mut name = row.name.as_str();
            for place in &row.places {
                writeln!(out, "{name:wide$}  {status:11}  {}", shorten(place, home))?;
                (name, status) = ("", "");
            }
            for note in &row.notes {
                writeln!(out, "{name:wide$}  {status:11}  {note}")?;
                (name, status) = ("", "");
            }
        }
        for note in &self.notes {
            writeln!(out, "{note}")?;
        }
        Ok(())
    }
}

fn shorten(place: &str, home: &Path) -> String {
    let below_home =
        home.to_str().and_then(|home| place.strip_prefix(home)).filter(|rest| rest.starts_with('/'));
    below_home.map_or_else(|| place.to_owned(), |rest| format!("~{rest}"))
}
