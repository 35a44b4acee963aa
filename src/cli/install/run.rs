//! Plan, then apply, browser by browser: one that fails does not stop the others.

use std::path::Path;

use crate::cli::files;
use crate::cli::origins;
use crate::paths::Paths;

use super::apply::{self, Outcome, Status};
use super::plan::{Place, Step, Surroundings, step};
use super::record::Record;
use super::report::{Report, Row};
use super::{InstallError, InstallHostArgs, catalog, detect};

/// Registers `program` (see [`super::program_path`]) with the browsers that are there.
///
/// # Errors
/// [`InstallError`] when it failed before the first browser.
pub fn install(
    args: &InstallHostArgs,
    paths: &Paths,
    surroundings: &Surroundings,
    program: &Path,
) -> Result<Report, InstallError> {
    let record_before = Record::load(&paths.registered());
    let mut record = record_before.clone();
    let added = add_origins(args, paths, &mut record)?;
    let origins = origins::origins_with(&added);
    let text = catalog::manifest(program, &origins)?;

    let mut rows = Vec::new();
    for browser in catalog::browsers()? {
        let presence = detect::detect(&browser, surroundings);
        if presence.usable {
            let step = step(&browser, surroundings);
            rows.push(carry_out(&step, &mut record, |place| apply::put(place, text.as_bytes(), args.force)));
        }
        if let Some(sandbox) = presence.confined {
            rows.push(confined(&browser, sandbox));
        }
    }
    let mut notes = Vec::new();
    if let Err(error) = record.save(&paths.registered(), &record_before) {
        notes.push(format!("Folders that were made will stay after uninstall-host: {error}"));
    }
    if let Err(error) = leave_hint(paths, program) {
        notes.push(format!("The side panel cannot show the command for this host: {error}"));
    }
    let usable = rows.iter().any(|row| row.status != Status::Unsupported);
    if !usable {
        notes.push(
            "No Chromium-family browser that can start a host was found. Install Chrome, Chromium (not the snap), \
             Edge or Brave, start it once, and run this again."
                .to_owned(),
        );
    }
    let ok = usable && !rows.iter().any(|row| matches!(row.status, Status::Failed | Status::Foreign));
    let program = program.to_str().map(str::to_owned);
    Ok(Report { schema_version: 1, command: "install-host", ok, program, origins, browsers: rows, notes })
}

/// Takes back what [`install`] did, in every place that it knows or recorded.
///
/// # Errors
/// [`InstallError`] when it failed before the first browser.
pub fn uninstall(paths: &Paths, surroundings: &Surroundings) -> Result<Report, InstallError> {
    let mut record = Record::load(&paths.registered());
    let mut steps: Vec<Step> =
        catalog::browsers()?.iter().map(|browser| step(browser, surroundings)).collect();
    let known = |path: &str| steps.iter().flat_map(|step| &step.places).any(|place| names(place, path));
    let elsewhere: Vec<Place> = record
        .manifests
        .iter()
        .filter(|path| !known(path))
        .map(|path| Place::Manifest(path.into()))
        .collect();
    if !elsewhere.is_empty() {
        steps.push(Step { id: "other".to_owned(), name: "Recorded".to_owned(), places: elsewhere });
    }
    let rows: Vec<Row> = steps
        .iter()
        .map(|step| carry_out(step, &mut record, apply::take))
        .filter(|row| row.status != Status::Nothing)
        .collect();
    let ok = !rows.iter().any(|row| row.status == Status::Failed);
    let mut notes = Vec::new();
    if ok {
        files::remove(&paths.origins())?;
        files::remove(&paths.registered())?;
        record.remove_empty_folders();
    }
    if rows.is_empty() {
        notes.push("Nothing to remove: no browser knows this host.".to_owned());
    }
    Ok(Report {
        schema_version: 1,
        command: "uninstall-host",
        ok,
        program: None,
        origins: Vec::new(),
        browsers: rows,
        notes,
    })
}

fn names(place: &Place, path: &str) -> bool {
    matches!(place, Place::Manifest(manifest) if manifest.to_str() == Some(path))
}

fn add_origins(
    args: &InstallHostArgs,
    paths: &Paths,
    record: &mut Record,
) -> Result<Vec<origins::ExtensionId>, InstallError> {
    let mut added = origins::added(paths)?;
    let before = added.len();
    for id in &args.ext_ids {
        if !added.contains(id) {
            added.push(id.clone());
        }
    }
    if added.len() > before {
        let made = origins::keep(paths, &added)?;
        record.add(None, &made);
    }
    Ok(added)
}

fn carry_out(
    step: &Step,
    record: &mut Record,
    mut act: impl FnMut(&Place) -> Result<Outcome, InstallError>,
) -> Row {
    let mut row = Row {
        browser: step.id.clone(),
        name: step.name.clone(),
        status: Status::Nothing,
        places: step.places.iter().map(ToString::to_string).collect(),
        notes: Vec::new(),
    };
    for place in &step.places {
        match act(place) {
            Ok(outcome) => {
                if matches!(outcome.status, Status::Registered | Status::Updated) {
                    let (Place::Manifest(manifest) | Place::Key { manifest, .. }) = place;
                    record.add(Some(manifest), &outcome.made);
                }
                row.status = row.status.max(outcome.status);
                row.notes.extend(outcome.note);
            }
            Err(error) => {
                row.status = Status::Failed;
                row.notes.push(error.to_string());
            }
        }
    }
    row
}

fn confined(browser: &catalog::Browser, sandbox: &str) -> Row {
    Row {
        browser: browser.id.clone(),
        name: format!("{} ({sandbox})", browser.name),
        status: Status::Unsupported,
        places: Vec::new(),
        notes: vec![format!(
            "the {sandbox} keeps the browser from starting programs outside; use the vendor's own package instead"
        )],
    }
}

/// Tells a staged extension the command that registers this host, for its "host not installed" state.
/// It is in `extension` beside the program's folder, or in Browy's own.
fn leave_hint(paths: &Paths, program: &Path) -> Result<(), files::FileError> {
    let beside = program.ancestors().nth(2).map(|folder| folder.join("extension"));
    let staged = [beside, Some(paths.app().join("extension"))].into_iter().flatten();
    let Some(extension) = staged.into_iter().find(|folder| folder.join("manifest.json").is_file()) else {
        return Ok(());
    };
    let command = format!("{} install-host", quoted(&program.to_string_lossy()));
    let hint = format!("{}\n", serde_json::json!({ "command": command }));
    let path = extension.join("install-hint.json");
    if files::read(&path)?.as_deref() == Some(hint.as_bytes()) {
        return Ok(());
    }
    files::write(&path, hint.as_bytes()).map(drop)
}

/// The path as a shell takes it; quoted only when it must be.
fn quoted(path: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:\\".contains(c);
    if path.chars().all(plain) {
        path.to_owned()
    } else if cfg!(windows) {
        format!("\"{path}\"")
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn odd_paths_are_quoted_for_the_shell() {
        assert_eq!(quoted("/home/ana/.browy/app/bin/browy"), "/home/ana/.browy/app/bin/browy");
        assert_eq!(quoted("/home/ana/a b/it's $HOME/browy"), r"'/home/ana/a b/it'\''s $HOME/browy'");
    }
}
