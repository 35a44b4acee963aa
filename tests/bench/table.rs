//! The table: on the terminal, and in `docs/benchmarks.md`.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use crate::pairs::{Pairs, shown};

/// Between these the table stands in the document.
const BEGIN: &str = "<!-- measured -->\n";
const END: &str = "<!-- /measured -->";

/// One line for each measurement.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
}

/// What was measured, and against what.
#[derive(Default)]
pub struct Row {
    pub what: &'static str,
    pub ours: String,
    /// The baseline's own number, with its name.
    pub baseline: String,
    pub ratio: String,
    pub target: &'static str,
    /// `None`: there is no target.
    pub met: Option<bool>,
}

impl Row {
    /// Medians of both, and of their ratios.
    pub fn of(what: &'static str, pairs: &Pairs, baseline: &str) -> Self {
        Self {
            what,
            ours: shown(pairs.ours()),
            baseline: format!("{} {baseline}", shown(pairs.baseline())),
            ratio: ratio(pairs.ratio()),
            ..Self::default()
        }
    }

    /// The median of ours alone, against a limit in milliseconds.
    pub fn limit(what: &'static str, pairs: &Pairs, target: &'static str, ms: u64) -> Self {
        let met = pairs.ours() <= std::time::Duration::from_millis(ms);
        Self { what, ours: shown(pairs.ours()), ..Self::default() }.target(target, met)
    }

    pub fn target(self, target: &'static str, met: bool) -> Self {
        Self { target, met: Some(met), ..self }
    }

    fn cells(&self) -> [&str; 6] {
        let verdict = self.met.map_or("", |met| if met { "yes" } else { "MISSED" });
        [self.what, &self.ours, &self.baseline, &self.ratio, self.target, verdict]
    }
}

/// A ratio with as many digits as say something.
pub fn ratio(value: f64) -> String {
    match value {
        ..0.1 => format!("{value:.3} ×"),
        ..10.0 => format!("{value:.2} ×"),
        _ => format!("{value:.0} ×"),
    }
}

impl Table {
    pub fn push(&mut self, row: Row) {
        self.rows.push(row);
    }

    pub fn print(&self) -> ExitCode {
        for row in &self.rows {
            let [what, ours, baseline, ratio, target, verdict] = row.cells();
            println!("{what:<46} {ours:>9}  {baseline:<36} {ratio:>8}  {target:<22} {verdict}");
        }
        let (passed, failed): (Vec<_>, Vec<_>) =
            self.rows.iter().filter_map(|row| row.met).partition(|met| *met);
        println!("{} passed, {} failed", passed.len(), failed.len());
        if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// Puts the numbers of this run into the document.
    pub fn rewrite(&self) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join("benchmarks.md");
        let text = std::fs::read_to_string(&file).unwrap();
        let (head, rest) = text.split_once(BEGIN).expect("the document says where its table begins");
        let (_, tail) = rest.split_once(END).expect("the document says where its table ends");
        std::fs::write(&file, format!("{head}{BEGIN}{}{END}{tail}", self.markdown())).unwrap();
    }

    fn markdown(&self) -> String {
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or_default();
        let mut text = format!(
            "Measured on {} with {cores} cores, load average {load} at the end.\n\n\
             | what | Browy | baseline | ratio | target | met |\n|---|---|---|---|---|---|\n",
            std::env::consts::ARCH
        );
        for row in &self.rows {
            let _ = writeln!(text, "| {} |", row.cells().join(" | "));
        }
        text
    }
}
