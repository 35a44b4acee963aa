//! Registration with fake browsers in a temporary home.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use browy::cli::install::apply::Status;
use browy::cli::install::plan::{Surroundings, System, step};
use browy::cli::install::report::{Report, Row};
use browy::cli::install::{
    InstallError, InstallHostArgs, MANIFEST_FILE, catalog, install, program_path, uninstall,
};
use browy::cli::origins::trusted_origins;
use browy::paths::Paths;

const ADDED: &str = "abcdefghijklmnopabcdefghijklmnop";

/// A home with a program in it and browsers that exist only as folders or as files on `PATH`.
struct FakeHome {
    folder: tempfile::TempDir,
}

impl FakeHome {
    fn new() -> Self {
        let home = Self { folder: tempfile::tempdir().unwrap() };
        home.add_program("opt/browy");
        std::fs::create_dir_all(home.at("bin")).unwrap();
        home
    }

    fn at(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    fn add_program(&self, relative: &str) {
        let path = self.at(relative);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        allow(&path, 0o755);
    }

    fn add_browser_folder(&self, relative: &str) {
        std::fs::create_dir_all(self.at(".config").join(relative)).unwrap();
    }

    fn paths(&self) -> Paths {
        Paths::below(self.folder.path())
    }

    fn surroundings(&self) -> Surroundings {
        Surroundings {
            system: System::Linux,
            home: self.folder.path().to_owned(),
            browsers: self.at(".config"),
            programs: vec![self.at("bin"), self.at("snap-bin")],
            snap_programs: self.at("snap-bin"),
        }
    }

    fn program(&self) -> PathBuf {
        program_path(&self.at("opt/browy")).unwrap()
    }

    fn install(&self, args: &InstallHostArgs) -> Report {
        install(args, &self.paths(), &self.surroundings(), &self.program()).unwrap()
    }

    fn uninstall(&self) -> Report {
        uninstall(&self.paths(), &self.surroundings()).unwrap()
    }

    fn manifest_of(&self, browser: &str) -> PathBuf {
        self.at(".config").join(browser).join("NativeMessagingHosts").join(MANIFEST_FILE)
    }

    /// Every file, folder and link below the home with content, mode and time of last change.
    fn snapshot(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let meta = path.symlink_metadata().unwrap();
                let content = if meta.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
                let time =
                    if meta.is_file() { format!("{:?}", meta.modified().unwrap()) } else { String::new() };
                found.insert(path.clone(), format!("{:?} {content:?} {time}", meta.permissions()));
                if meta.is_dir() {
                    folders.push(path);
                }
            }
        }
        found
    }
}

fn allow(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn row<'a>(report: &'a Report, browser: &str) -> &'a Row {
    report
        .browsers
        .iter()
        .find(|row| row.browser == browser)
        .unwrap_or_else(|| panic!("no row for {browser}"))
}

fn adding(id: &str) -> InstallHostArgs {
    InstallHostArgs { ext_ids: vec![id.parse().unwrap()], ..Default::default() }
}

const FOREIGN: &str = r#"{"name":"com.browy.host","description":"Browy AI agent native host",
"path":"/home/ana/.browy/host/browy-host.sh","type":"stdio","allowed_origins":["chrome-extension://x/"]}"#;

#[test]
fn manifest_is_right_byte_for_byte() {
    let home = FakeHome::new();
    home.add_browser_folder("google-chrome");
    let report = home.install(&InstallHostArgs::default());
    assert!(report.ok, "{report:?}");
    let written = std::fs::read_to_string(home.manifest_of("google-chrome")).unwrap();
    let expected = r#"{
  "name": "com.browy.host",
  "description": "Browy: an agent that lives in the browser you already use",
  "path": "PROGRAM",
  "type": "stdio",
  "allowed_origins": [
    "chrome-extension://jgkgphpbigilgffedfkcdbfknedodmkn/",
    "chrome-extension://lfeljbgjlkoabhepbkdbjgpbhfmpgmkc/",
    "chrome-extension://iondecjdokngnlkfpipgolgkfegpmjca/"
  ]
}
"#;
    assert_eq!(written, expected.replace("PROGRAM", home.program().to_str().unwrap()));
}

#[test]
fn every_browser_that_is_there_is_registered_and_no_other() {
    let home = FakeHome::new();
    let all = catalog::browsers().unwrap();
    for browser in all.iter().filter(|browser| browser.id != "chromium") {
        home.add_browser_folder(&browser.linux.folder);
    }
    let report = home.install(&InstallHostArgs::default());
    let registered: Vec<_> = report.browsers.iter().map(|row| (row.browser.as_str(), row.status)).collect();
    let expected: Vec<_> = all
        .iter()
        .filter(|browser| browser.id != "chromium")
        .map(|browser| (browser.id.as_str(), Status::Registered))
        .collect();
    assert_eq!(registered, expected);
    assert!(!home.at(".config/chromium").exists());
}

#[test]
fn program_on_path_counts_as_installed() {
    let home = FakeHome::new();
    home.add_program("bin/chromium");
    let report = home.install(&InstallHostArgs::default());
    assert_eq!(row(&report, "chromium").status, Status::Registered);
    assert!(home.manifest_of("chromium").is_file());
}

#[test]
fn second_run_changes_nothing() {
    let home = FakeHome::new();
    home.add_browser_folder("google-chrome");
    home.add_program("bin/brave-browser");
    home.install(&adding(ADDED));
    let before = home.snapshot();
    let report = home.install(&InstallHostArgs::default());
    assert!(report.browsers.iter().all(|row| row.status == Status::Unchanged), "{report:?}");
    assert_eq!(home.snapshot(), before);
}

#[test]
fn uninstall_leaves_the_home_as_it_was() {
    let home = FakeHome::new();
    home.add_browser_folder("google-chrome/NativeMessagingHosts");
    home.add_browser_folder("microsoft-edge");
    home.add_program("bin/chromium");
    home.add_program("bin/brave-browser");
    std::fs::create_dir_all(home.manifest_of("google-chrome-beta").parent().unwrap()).unwrap();
    std::fs::write(home.manifest_of("google-chrome-beta"), FOREIGN).unwrap();
    let before = home.snapshot();

    let report = home.install(&InstallHostArgs { force: true, ..adding(ADDED) });
    assert!(report.ok, "{report:?}");
    assert_ne!(home.snapshot(), before);
    let report = home.uninstall();
    assert!(report.ok, "{report:?}");
    assert_eq!(home.snapshot(), before);
    assert!(home.uninstall().browsers.iter().all(|row| row.status == Status::Foreign));
}

#[test]
fn uninstall_finds_what_was_registered_under_another_configuration_folder() {
    let home = FakeHome::new();
    std::fs::create_dir_all(home.at("elsewhere/chromium")).unwrap();
    let before = home.snapshot();
    let elsewhere = Surroundings { browsers: home.at("elsewhere"), ..home.surroundings() };
    install(&InstallHostArgs::default(), &home.paths(), &elsewhere, &home.program()).unwrap();
    let report = home.uninstall();
    assert_eq!(row(&report, "other").status, Status::Removed);
    assert_eq!(home.snapshot(), before);
}

#[test]
fn foreign_manifest_is_left_alone_and_told() {
    let home = FakeHome::new();
    home.add_browser_folder("google-chrome/NativeMessagingHosts");
    home.add_browser_folder("chromium");
    std::fs::write(home.manifest_of("google-chrome"), FOREIGN).unwrap();
    let report = home.install(&InstallHostArgs::default());
    assert!(!report.ok);
    assert_eq!(row(&report, "chrome").status, Status::Foreign);
    assert!(row(&report, "chrome").notes[0].contains("/home/ana/.browy/host/browy-host.sh"));
    assert_eq!(row(&report, "chromium").status, Status::Registered);
    assert_eq!(std::fs::read_to_string(home.manifest_of("google-chrome")).unwrap(), FOREIGN);
}

#[test]
fn force_keeps_the_foreign_manifest_aside() {
    let home = FakeHome::new();
    home.add_browser_folder("google-chrome/NativeMessagingHosts");
    std::fs::write(home.manifest_of("google-chrome"), FOREIGN).unwrap();
    let report = home.install(&InstallHostArgs { force: true, ..Default::default() });
    assert!(report.ok);
    assert!(catalog::is_ours(&std::fs::read(home.manifest_of("google-chrome")).unwrap()));
    let aside = home.manifest_of("google-chrome").with_extension("json.before-browy");
    assert_eq!(std::fs::read_to_string(aside).unwrap(), FOREIGN);
}

#[test]
fn linked_manifest_is_never_written_through() {
    let home = FakeHome::new();
    home.add_browser_folder("google-chrome/NativeMessagingHosts");
    let target = home.at("precious.json");
    std::fs::write(&target, "precious").unwrap();
    std::os::unix::fs::symlink(&target, home.manifest_of("google-chrome")).unwrap();
    assert_eq!(row(&home.install(&InstallHostArgs::default()), "chrome").status, Status::Foreign);
    assert!(home.install(&InstallHostArgs { force: true, ..Default::default() }).ok);
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
    assert!(!home.manifest_of("google-chrome").is_symlink());
}

#[test]
fn linked_hosts_folder_is_refused() {
    let home = FakeHome::new();
    home.add_browser_folder("google-chrome");
    std::fs::create_dir_all(home.at("away")).unwrap();
    std::os::unix::fs::symlink(home.at("away"), home.manifest_of("google-chrome").parent().unwrap()).unwrap();
    assert_eq!(row(&home.install(&InstallHostArgs::default()), "chrome").status, Status::Failed);
    assert_eq!(std::fs::read_dir(home.at("away")).unwrap().count(), 0);
}

#[test]
fn one_failing_browser_does_not_stop_the_others() {
    let home = FakeHome::new();
    home.add_browser_folder("google-chrome");
    home.add_browser_folder("chromium");
    home.add_browser_folder("microsoft-edge");
    // A file in the folder's place fails for root as well.
    std::fs::write(home.manifest_of("chromium").parent().unwrap(), "in the way").unwrap();
    let report = home.install(&InstallHostArgs::default());
    assert!(!report.ok);
    assert_eq!(row(&report, "chrome").status, Status::Registered);
    assert_eq!(row(&report, "chromium").status, Status::Failed);
    assert!(!row(&report, "chromium").notes.is_empty());
    assert_eq!(row(&report, "edge").status, Status::Registered);
}

#[test]
fn added_extension_is_trusted_by_manifest_and_host_and_survives_the_next_run() {
    let home = FakeHome::new();
    home.add_browser_folder("chromium");
    home.install(&adding(ADDED));
    home.install(&adding("ponmlkjihgfedcbaponmlkjihgfedcba"));
    home.install(&InstallHostArgs::default());
    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(home.manifest_of("chromium")).unwrap()).unwrap();
    let origins = trusted_origins(&home.paths());
    assert_eq!(manifest["allowed_origins"], serde_json::json!(origins));
    assert_eq!(origins.len(), 5);
    assert!(origins.contains(&format!("chrome-extension://{ADDED}/")));
    home.uninstall();
    assert_eq!(trusted_origins(&home.paths()).len(), 3);
}

#[test]
fn unusable_origins_file_stops_registration_and_is_kept() {
    let home = FakeHome::new();
    home.add_browser_folder("chromium");
    std::fs::create_dir_all(home.paths().browy()).unwrap();
    std::fs::write(home.paths().origins(), "{broken").unwrap();
    let outcome = install(&adding(ADDED), &home.paths(), &home.surroundings(), &home.program());
    assert!(matches!(outcome, Err(InstallError::Origins(_))));
    assert_eq!(std::fs::read_to_string(home.paths().origins()).unwrap(), "{broken");
    assert!(!home.manifest_of("chromium").exists());
}

#[test]
fn program_that_others_can_replace_is_refused() {
    let home = FakeHome::new();
    for mode in [0o777, 0o775] {
        allow(&home.at("opt"), mode);
        match program_path(&home.at("opt/browy")) {
            Err(InstallError::Unsafe { path, .. }) => {
                assert_eq!(path, home.at("opt").canonicalize().unwrap())
            }
            other => panic!("{other:?}"),
        }
    }
    allow(&home.at("opt"), 0o755);
    allow(&home.at("opt/browy"), 0o757);
    assert!(matches!(program_path(&home.at("opt/browy")), Err(InstallError::Unsafe { .. })));
    allow(&home.at("opt/browy"), 0o755);
    assert!(program_path(&home.at("opt/browy")).is_ok());
}

#[test]
fn manifest_names_the_program_itself_not_a_link_to_it() {
    let home = FakeHome::new();
    std::os::unix::fs::symlink(home.at("opt/browy"), home.at("bin/browy")).unwrap();
    assert_eq!(program_path(&home.at("bin/browy")).unwrap(), home.at("opt/browy").canonicalize().unwrap());
}

#[test]
fn confined_browsers_are_told_and_not_written() {
    let home = FakeHome::new();
    home.add_program("snap-bin/chromium");
    home.add_program("bin/chromium-browser");
    std::fs::create_dir_all(home.at(".var/app/com.google.Chrome")).unwrap();
    let before = home.snapshot();
    let report = home.install(&InstallHostArgs::default());
    assert!(!report.ok);
    assert_eq!(row(&report, "chromium").status, Status::Unsupported);
    assert_eq!(row(&report, "chrome").status, Status::Unsupported);
    assert_eq!(home.snapshot(), before);
}

#[test]
fn no_browser_at_all_is_told() {
    let home = FakeHome::new();
    let before = home.snapshot();
    let report = home.install(&InstallHostArgs::default());
    assert!(!report.ok);
    assert!(report.notes[0].contains("No Chromium-family browser"), "{report:?}");
    assert_eq!(home.snapshot(), before);
}

#[test]
fn staged_extension_learns_the_command() {
    let home = FakeHome::new();
    home.add_browser_folder("chromium");
    let extension = home.paths().app().join("extension");
    std::fs::create_dir_all(&extension).unwrap();
    std::fs::write(extension.join("manifest.json"), "{}").unwrap();
    home.install(&InstallHostArgs::default());
    let hint: serde_json::Value =
        serde_json::from_slice(&std::fs::read(extension.join("install-hint.json")).unwrap()).unwrap();
    assert_eq!(hint["command"], format!("{} install-host", home.program().display()));
}

#[test]
fn homes_with_odd_names_work() {
    use std::os::unix::ffi::OsStrExt;
    let home = FakeHome::new();
    let odd: [&[u8]; 4] = [b"a b", b"q\"uo'te$HOME", b"new\nline", b"not-\xff-utf8"];
    for name in odd {
        let below = home.folder.path().join(std::ffi::OsStr::from_bytes(name));
        std::fs::create_dir_all(below.join(".config/chromium")).unwrap();
        let surroundings =
            Surroundings { home: below.clone(), browsers: below.join(".config"), ..home.surroundings() };
        let paths = Paths::below(&below);
        let report = install(&adding(ADDED), &paths, &surroundings, &home.program()).unwrap();
        assert!(report.ok, "{report:?}");
        assert!(uninstall(&paths, &surroundings).unwrap().ok);
        assert!(!below.join(".config/chromium/NativeMessagingHosts").join(MANIFEST_FILE).exists());
        let program = below.join("browy");
        std::fs::copy(home.at("opt/browy"), &program).unwrap();
        assert_eq!(program_path(&program).is_ok(), std::str::from_utf8(name).is_ok());
    }
}

fn plan_text(surroundings: &Surroundings) -> String {
    let mut text = String::new();
    for browser in catalog::browsers().unwrap() {
        let step = step(&browser, surroundings);
        text.push_str(&format!("{}\n", step.name));
        for place in step.places {
            text.push_str(&format!("  {place}\n"));
        }
    }
    text
}

#[test]
fn plans_of_all_three_systems() {
    let on = |system, home: &str, browsers: &str| Surroundings {
        system,
        home: home.into(),
        browsers: browsers.into(),
        programs: Vec::new(),
        snap_programs: "/snap/bin".into(),
    };
    insta::assert_snapshot!("plan_linux", plan_text(&on(System::Linux, "/home/ana", "/home/ana/.config")));
    insta::assert_snapshot!(
        "plan_macos",
        plan_text(&on(System::Macos, "/Users/ana", "/Users/ana/Library/Application Support"))
    );
    insta::assert_snapshot!(
        "plan_windows",
        plan_text(&on(System::Windows, r"C:\Users\ana", r"C:\Users\ana\AppData\Local"))
    );
}

#[test]
fn table_names_each_browser_result_and_place() {
    let home = FakeHome::new();
    home.add_browser_folder("google-chrome");
    home.add_program("bin/microsoft-edge");
    home.add_program("snap-bin/brave");
    let mut table = Vec::new();
    home.install(&InstallHostArgs::default()).write_table(&mut table, home.folder.path()).unwrap();
    let table = String::from_utf8(table).unwrap().replace(home.program().to_str().unwrap(), "/opt/browy");
    insta::assert_snapshot!("table", table);
}

#[test]
fn report_as_json_is_one_line() {
    let home = FakeHome::new();
    home.add_browser_folder("google-chrome");
    let mut text = Vec::new();
    home.install(&InstallHostArgs::default()).write_json(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert_eq!(text.lines().count(), 1);
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["ok"], true);
    assert_eq!(report["schemaVersion"], 1);
    assert_eq!(report["browsers"][0]["browser"], "chrome");
    assert_eq!(report["browsers"][0]["status"], "registered");
}
