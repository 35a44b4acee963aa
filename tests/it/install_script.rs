//! install/install.sh and install/uninstall.sh, from a release archive into a temporary home.

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use regex::Regex;

const MANIFEST: &str = ".config/chromium/NativeMessagingHosts/com.browy.host.json";

/// An unpacked release archive, an empty home, and a `PATH` with a fake browser and a fake npm in front.
struct Machine {
    folder: tempfile::TempDir,
}

/// Copies in a process of its own: a descriptor open for writing, inherited by what another test starts at the
/// same moment, would make the copy "busy" for execution.
fn copy(from: impl AsRef<Path>, to: impl AsRef<Path>) {
    assert!(Command::new("cp").arg("-p").arg(from.as_ref()).arg(to.as_ref()).status().unwrap().success());
}

impl Machine {
    fn new() -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap() };
        let project = Path::new(env!("CARGO_MANIFEST_DIR"));
        for folder in ["home", "bin", "archive/extension", "archive/install/copilot"] {
            std::fs::create_dir_all(machine.at(folder)).unwrap();
        }
        for script in ["install/install.sh", "install/uninstall.sh"] {
            copy(project.join(script), machine.at("archive").join(script));
        }
        for file in ["install/copilot/package.json", "install/copilot/package-lock.json"] {
            copy(project.join(file), machine.at("archive").join(file));
        }
        copy(env!("CARGO_BIN_EXE_browy"), machine.at("archive/browy"));
        std::fs::write(machine.at("archive/extension/manifest.json"), "{}\n").unwrap();
        machine.add_program("bin/chromium", "exit 0");
        machine.add_program(
            "bin/npm",
            r#"while [ "$1" != --prefix ]; do shift; done
               test -f "$2/package-lock.json" || exit 1
               mkdir -p "$2/node_modules/@github/copilot-linux-x64"
               echo > "$2/node_modules/@github/copilot-linux-x64/copilot"
               chmod 755 "$2/node_modules/@github/copilot-linux-x64/copilot""#,
        );
        machine
    }

    fn at(&self, relative: &str) -> PathBuf {
        self.folder.path().join(relative)
    }

    fn add_program(&self, relative: &str, body: &str) {
        let written = self.at("written");
        std::fs::write(&written, format!("#!/bin/sh\n{body}\n")).unwrap();
        std::fs::set_permissions(&written, std::fs::Permissions::from_mode(0o755)).unwrap();
        copy(written, self.at(relative));
    }

    fn run(&self, script: &str, args: &[&str]) -> Output {
        Command::new("sh")
            .arg(self.at("archive/install").join(script))
            .args(args)
            .env_clear()
            .env("HOME", self.at("home"))
            .env("PATH", format!("{}:/usr/bin:/bin", self.at("bin").display()))
            .current_dir(self.folder.path())
            .output()
            .unwrap()
    }

    fn run_well(&self, script: &str, args: &[&str]) -> String {
        let output = self.run(script, args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        text
    }

    fn names_below_home(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.at("home")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.push(path.strip_prefix(self.at("home")).unwrap().display().to_string());
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }
}

#[test]
fn script_installs_program_extension_cli_and_registration() {
    let machine = Machine::new();
    let text = machine.run_well("install.sh", &[]);
    let app = machine.at("home/.browy/app");
    assert!(text.contains(&format!("Load unpacked: {}", app.join("extension").display())), "{text}");
    assert_eq!(app.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert!(app.join("copilot/node_modules/@github/copilot-linux-x64/copilot").is_file());

    let manifest: serde_json::Value =
        serde_json::from_slice(&std::fs::read(machine.at("home").join(MANIFEST)).unwrap()).unwrap();
    let program = app.join("bin/browy").canonicalize().unwrap();
    assert_eq!(manifest["path"], program.to_str().unwrap());
    let hint: serde_json::Value =
        serde_json::from_slice(&std::fs::read(app.join("extension/install-hint.json")).unwrap()).unwrap();
    assert_eq!(hint["command"], format!("{} install-host", program.display()));
}

#[test]
fn script_run_again_changes_nothing() {
    let machine = Machine::new();
    machine.run_well("install.sh", &[]);
    let before = machine.names_below_home();
    let text = machine.run_well("install.sh", &[]);
    assert_eq!(text.matches("    unchanged").count(), 2, "{text}");
    assert!(text.contains("unchanged    ~/.config/chromium"), "{text}");
    assert_eq!(machine.names_below_home(), before);
}

#[test]
fn script_replaces_a_program_that_runs() {
    let machine = Machine::new();
    machine.run_well("install.sh", &[]);
    let program = machine.at("home/.browy/app/bin/browy");
    copy("/bin/sleep", &program);
    let mut running = Command::new(&program).arg("60").spawn().unwrap();
    machine.run_well("install.sh", &[]);
    assert!(running.try_wait().unwrap().is_none(), "the running program ended");
    running.kill().unwrap();
    running.wait().unwrap();
    assert_eq!(std::fs::read(&program).unwrap(), std::fs::read(machine.at("archive/browy")).unwrap());
}

#[test]
fn removal_script_leaves_an_empty_home() {
    let machine = Machine::new();
    machine.run_well("install.sh", &[]);
    machine.run_well("uninstall.sh", &[]);
    assert_eq!(machine.names_below_home(), Vec::<String>::new());
}

#[test]
fn removal_script_keeps_settings_and_data() {
    let machine = Machine::new();
    machine.run_well("install.sh", &[]);
    std::fs::create_dir_all(machine.at("home/.browy/data")).unwrap();
    std::fs::write(machine.at("home/.browy/config.toml"), "model = \"x\"\n").unwrap();
    machine.run_well("uninstall.sh", &[]);
    assert_eq!(machine.names_below_home(), [".browy", ".browy/config.toml", ".browy/data"]);
    machine.run_well("uninstall.sh", &["--purge"]);
    assert_eq!(machine.names_below_home(), Vec::<String>::new());
}

#[test]
fn prefix_holds_program_and_extension() {
    let machine = Machine::new();
    let prefix = machine.at("else where");
    machine.run_well("install.sh", &["--prefix", prefix.to_str().unwrap()]);
    assert!(prefix.join("bin/browy").is_file());
    assert!(prefix.join("extension/install-hint.json").is_file());
    assert!(!machine.at("home/.browy/app/bin").exists());
    machine.run_well("uninstall.sh", &["--prefix", prefix.to_str().unwrap()]);
    assert!(!prefix.exists());
    assert_eq!(machine.names_below_home(), Vec::<String>::new());
}

#[test]
fn cli_on_path_is_kept_in_the_settings_and_none_is_fetched() {
    let machine = Machine::new();
    machine.add_program("bin/copilot", "exit 0");
    std::fs::create_dir_all(machine.at("home/.browy")).unwrap();
    std::fs::write(
        machine.at("home/.browy/config.toml"),
        "[provider]\nbase_url = \"http://127.0.0.1:1/v1\"\nmodel = \"y\"\n",
    )
    .unwrap();
    machine.run_well("install.sh", &[]);
    assert!(!machine.at("home/.browy/app/copilot").exists());
    let paths = browy::paths::Paths::below(machine.at("home"));
    let config = browy::config::Config::load(&paths).unwrap();
    assert_eq!(config.cli_path, Some(machine.at("bin/copilot")));
    assert!(config.provider.is_some());
}

#[test]
fn dry_run_writes_nothing() {
    let machine = Machine::new();
    let text = machine.run_well("install.sh", &["--dry-run", "--demo"]);
    assert!(text.contains("would run:"), "{text}");
    machine.run_well("uninstall.sh", &["--dry-run", "--purge"]);
    assert_eq!(machine.names_below_home(), Vec::<String>::new());
}

#[test]
fn browsers_can_be_left_alone() {
    let machine = Machine::new();
    let text = machine.run_well("install.sh", &["--no-browser-registration"]);
    assert!(text.contains("Before that, register the host"), "{text}");
    assert!(!machine.at("home/.config").exists());
}

#[test]
fn missing_npm_is_named() {
    let machine = Machine::new();
    std::fs::remove_file(machine.at("bin/npm")).unwrap();
    for tool in ["sh", "dirname", "uname", "find", "head", "cat", "env"] {
        let real = ["/bin", "/usr/bin"]
            .map(|folder| Path::new(folder).join(tool))
            .into_iter()
            .find(|path| path.exists());
        std::os::unix::fs::symlink(real.unwrap(), machine.at("bin").join(tool)).unwrap();
    }
    let output = Command::new("/bin/sh")
        .arg(machine.at("archive/install/install.sh"))
        .env_clear()
        .env("HOME", machine.at("home"))
        .env("PATH", machine.at("bin"))
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("npm, to get the Copilot CLI"), "{output:?}");
    assert_eq!(machine.names_below_home(), Vec::<String>::new());
}

#[test]
fn unknown_option_is_refused() {
    let machine = Machine::new();
    for script in ["install.sh", "uninstall.sh"] {
        let output = machine.run(script, &["--wat"]);
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains("unknown option --wat"));
    }
}

/// The options of a script's help, as `withdeps` whether it says `--with-deps` or `-WithDeps`.
fn options(script: &str, pattern: &str) -> BTreeSet<String> {
    let found = Regex::new(pattern).unwrap();
    found.captures_iter(script).map(|option| option[1].replace('-', "").to_lowercase()).collect()
}

#[test]
fn windows_scripts_offer_the_same_options_and_the_same_cli() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("install");
    let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for (name, not_on_windows) in [("install", vec!["withdeps", "demo"]), ("uninstall", vec![])] {
        let (unix, windows) = (text(&format!("{name}.sh")), text(&format!("{name}.ps1")));
        let mut wanted = options(&unix, r"(?m)^  (?:-h, )?--([a-z-]+)");
        wanted.retain(|option| !not_on_windows.contains(&option.as_str()));
        assert!(wanted.contains("dryrun") && wanted.contains("prefix"), "{wanted:?}");
        assert_eq!(options(&windows, r"(?m)^  -([A-Za-z]+)"), wanted, "the help of {name}.ps1");
        assert_eq!(
            options(&windows, r"(?m)^    \[.*\] \$([A-Za-z]+),?$"),
            wanted,
            "the parameters of {name}.ps1"
        );
        // Windows PowerShell reads a file without a mark as the system's code page.
        assert!(windows.is_ascii(), "{name}.ps1 is not plain ASCII");
    }
    for name in ["install.sh", "install.ps1"] {
        let script = text(name);
        assert!(script.contains("package-lock.json"), "{name} takes the CLI from elsewhere");
        assert!(!script.contains("@github/copilot@"), "{name} names a version of its own");
        assert!(
            script.contains("RELEASES=\"\"\n") || script.contains("$releases = ''\n"),
            "{name} has an address"
        );
    }
}
