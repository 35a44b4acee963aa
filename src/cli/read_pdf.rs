//! `browy __read-pdf …`: reads one PDF file from stdin and says its text, under limits that hold for it alone.

use std::io::{Read, Write};
use std::process::ExitCode;

use crate::pdf::{self, Limits, Said, Wanted};

/// Reads if the program's arguments ask for it. `None`: they do not.
pub(super) fn run_if_asked() -> Option<ExitCode> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [reader, word, parent, first, only, characters] = args.as_slice() else { return None };
    if reader != pdf::READER {
        return None;
    }
    let (Ok(first), Ok(only), Ok(characters)) = (first.parse(), only.parse(), characters.parse()) else {
        return Some(ExitCode::from(2));
    };
    Some(match run(word, parent, Wanted { first, only, characters }) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    })
}

fn run(word: &str, parent: &str, wanted: Wanted) -> std::io::Result<()> {
    Limits::default().take(parent)?;
    let mut content = Vec::new();
    std::io::stdin().lock().read_to_end(&mut content)?;
    let mut say = |said: Said| {
        let Ok(line) = serde_json::to_string(&said) else { return false };
        let mut out = std::io::stdout().lock();
        // On a line of its own, whatever a library printed before.
        writeln!(out, "\n{word}{line}").and_then(|()| out.flush()).is_ok()
    };
    // Some files nest deep.
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(64 * 1024 * 1024);
        reader.spawn_scoped(scope, || pdf::read(&content, wanted, &mut say)).map(drop)
    })
}
