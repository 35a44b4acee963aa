//! Which Copilot CLI to start.
//!
//! npm's `copilot` is a Node script that starts the real binary of a package for this platform. That
//! binary is started directly: no Node is needed, and the parent-death signal reaches it.
//!
//! The CLI unpacks a light runtime into its cache on its first run. It speaks the same protocol and is
//! there after 16 ms instead of 720, so it is preferred when its version is that of the located CLI.
//! Its place is an internal detail of the CLI: whatever is wrong with it, the full CLI is used.

use std::path::{Path, PathBuf};

use super::environment::Environment;
use crate::agent::AgentError;
use crate::paths::Paths;

/// A CLI that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The program.
    pub program: PathBuf,
    /// Its version, when a `package.json` beside it says so.
    pub version: Option<String>,
}

/// This platform's names in the CLI's packages, most likely first.
pub fn platforms() -> Vec<String> {
    let arch = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    match std::env::consts::OS {
        "linux" => vec![format!("linux-{arch}"), format!("linuxmusl-{arch}")],
        "macos" => vec![format!("darwin-{arch}")],
        "windows" => vec![format!("win32-{arch}")],
        other => vec![format!("{other}-{arch}")],
    }
}

const BINARY: &str = if cfg!(windows) { "copilot.exe" } else { "copilot" };

/// Finds the CLI: `COPILOT_CLI_PATH`, the setting, Browy's own copy, `PATH`.
///
/// # Errors
/// [`AgentError::CliMissing`] with what was tried and what to do.
pub fn locate(env: &Environment, setting: Option<&Path>, paths: &Paths) -> Result<Located, AgentError> {
    let explicit = env
        .path("COPILOT_CLI_PATH")
        .map(|path| (path, "COPILOT_CLI_PATH"))
        .or_else(|| setting.map(|path| (path.to_owned(), "`cli_path` in the settings")));
    if let Some((path, origin)) = explicit {
        // Whoever names a CLI wants that one, not another.
        return resolve(&path).map_err(|why| {
            missing(&[format!("{} ({origin}): {why}", path.display())], "Correct it, or remove it")
        });
    }
    let mut tried = Vec::new();
    let own = paths.app().join("copilot").join("node_modules").join("@github");
    for platform in platforms() {
        let program = own.join(format!("copilot-{platform}")).join(BINARY);
        if program.is_file() {
            return Ok(located(program));
        }
    }
    tried.push(format!("{}: not there", own.display()));
    match on_path(env) {
        Some(found) => match resolve(&found) {
            Ok(located) => return Ok(located),
            Err(why) => tried.push(format!("{}: {why}", found.display())),
        },
        None => tried.push("`copilot` on PATH: not there".to_owned()),
    }
    Err(missing(&tried, "Install it"))
}

fn missing(tried: &[String], advice: &str) -> AgentError {
    AgentError::CliMissing(format!(
        "The GitHub Copilot CLI was not found. Tried: {}. {advice}: run `./install/install.sh` in Browy's \
         folder, or `npm install -g @github/copilot`.",
        tried.join("; ")
    ))
}

fn on_path(env: &Environment) -> Option<PathBuf> {
    let names: &[&str] = if cfg!(windows) { &["copilot.exe", "copilot.cmd"] } else { &["copilot"] };
    std::env::split_paths(env.get("PATH")?)
        // A relative entry means whatever folder the browser was started in.
        .filter(|folder| folder.is_absolute())
        .flat_map(|folder| names.iter().map(move |name| folder.join(name)))
        .find(|candidate| candidate.is_file())
}

/// The program behind a path: npm's launcher gives the platform's binary, anything else itself.
fn resolve(path: &Path) -> Result<Located, String> {
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    if !real.is_file() {
        return Err("no file".to_owned());
    }
    let extension = real.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !matches!(extension, "js" | "mjs" | "cjs" | "cmd" | "ps1") {
        return Ok(located(real));
    }
    let mut looked = Vec::new();
    for modules in real.ancestors().skip(1).take(4) {
        // Beside the launcher's package, inside it, and where Windows keeps global packages.
        for folder in [
            modules.join("@github"),
            modules.join("node_modules").join("@github"),
            modules.join("node_modules/@github/copilot/node_modules/@github"),
        ] {
            for platform in platforms() {
                let program = folder.join(format!("copilot-{platform}")).join(BINARY);
                if program.is_file() {
                    return Ok(located(program));
                }
                looked.push(program);
            }
        }
    }
    let package = platforms().first().map(|platform| format!("@github/copilot-{platform}"));
    Err(format!(
        "this is npm's launcher, but the package {} with the program itself is not installed with it",
        package.unwrap_or_default()
    ))
}

fn located(program: PathBuf) -> Located {
    let version = program.parent().and_then(|folder| package_version(&folder.join("package.json")));
    Located { program, version }
}

fn package_version(file: &Path) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Package {
        name: String,
        version: String,
    }
    let package: Package = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    package.name.starts_with("@github/copilot").then_some(package.version)
}

/// The light runtime that belongs to the located CLI, if the CLI has unpacked it.
pub fn light_runtime(env: &Environment, home: &Path, cli: &Located) -> Option<PathBuf> {
    let version = cli.version.as_deref()?;
    // The version becomes a folder's name.
    if version.contains(['/', '\\']) || version.starts_with('.') {
        return None;
    }
    let program = if cfg!(windows) { "copilot-runtime.exe" } else { "copilot-runtime" };
    let cache = package_cache(env, home);
    platforms().into_iter().find_map(|platform| {
        let folder = cache.join(&platform).join(version).join("prebuilds").join(&platform);
        let found = folder.join(program);
        (found.is_file() && folder.join("runtime.node").is_file() && only_ours(&found)).then_some(found)
    })
}

/// Where this CLI unpacks itself (read in its `sea-loader.js`).
fn package_cache(env: &Environment, home: &Path) -> PathBuf {
    if let Some(folder) = env.path("COPILOT_PKG_CACHE_HOME").or_else(|| env.path("COPILOT_CACHE_HOME")) {
        return folder.join("pkg");
    }
    let caches = if cfg!(target_os = "macos") {
        home.join("Library").join("Caches")
    } else if cfg!(windows) {
        env.path("LOCALAPPDATA").unwrap_or_else(|| home.join(".cache"))
    } else {
        env.path("XDG_CACHE_HOME").unwrap_or_else(|| home.join(".cache"))
    };
    caches.join("copilot").join("pkg")
}

/// Whether nobody but the owner and the group could have put the file there.
fn only_ours(file: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::metadata(file).is_ok_and(|meta| meta.permissions().mode() & 0o002 == 0)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        true
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn put(file: &Path, text: &str) {
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn npm(root: &Path, version: &str) -> PathBuf {
        let github = root.join("lib/node_modules/@github");
        let platform = platforms().remove(0);
        put(&github.join("copilot/npm-loader.js"), "#!/usr/bin/env node\n");
        let package = github.join(format!("copilot-{platform}"));
        put(&package.join("copilot"), "binary");
        put(
            &package.join("package.json"),
            &format!(r#"{{"name":"@github/copilot-{platform}","version":"{version}"}}"#),
        );
        github
    }

    #[test]
    fn npm_launcher_on_path_gives_the_platform_binary() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let github = npm(&root, "1.2.3");
        std::fs::create_dir_all(root.join("bin")).unwrap();
        std::os::unix::fs::symlink(github.join("copilot/npm-loader.js"), root.join("bin/copilot")).unwrap();
        let env = Environment::default().with("PATH", root.join("bin"));
        let found = locate(&env, None, &Paths::below(root.join("home"))).unwrap();
        let platform = platforms().remove(0);
        assert_eq!(found.program, github.join(format!("copilot-{platform}/copilot")));
        assert_eq!(found.version.as_deref(), Some("1.2.3"));
    }

    #[test]
    fn own_copy_wins_over_path_and_a_named_one_over_all() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let paths = Paths::below(root.join("home"));
        let platform = platforms().remove(0);
        let own = paths.app().join(format!("copilot/node_modules/@github/copilot-{platform}/copilot"));
        put(&own, "binary");
        put(&root.join("bin/copilot"), "other");
        let env = Environment::default().with("PATH", root.join("bin"));
        assert_eq!(locate(&env, None, &paths).unwrap().program, own);
        let named = root.join("bin/copilot");
        assert_eq!(locate(&env, Some(&named), &paths).unwrap(), Located { program: named, version: None });
    }

    #[test]
    fn a_named_cli_that_is_missing_is_not_replaced_by_another() {
        let temp = tempfile::tempdir().unwrap();
        put(&temp.path().join("bin/copilot"), "other");
        let env = Environment::default()
            .with("PATH", temp.path().join("bin"))
            .with("COPILOT_CLI_PATH", temp.path().join("gone"));
        let error = locate(&env, None, &Paths::below(temp.path())).unwrap_err().to_string();
        assert!(error.contains("COPILOT_CLI_PATH") && error.contains("install.sh"), "{error}");
    }

    #[test]
    fn nothing_found_says_what_was_tried_and_what_to_run() {
        let temp = tempfile::tempdir().unwrap();
        let env = Environment::default().with("PATH", "relative");
        let error = locate(&env, None, &Paths::below(temp.path())).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, AgentError::CliMissing(_)));
        assert!(text.contains("PATH") && text.contains("npm install -g @github/copilot"), "{text}");
    }

    #[test]
    fn light_runtime_must_have_the_version_of_the_cli() {
        let temp = tempfile::tempdir().unwrap();
        let platform = platforms().remove(0);
        let folder = temp.path().join(format!("c/pkg/{platform}/1.2.3/prebuilds/{platform}"));
        put(&folder.join("copilot-runtime"), "");
        let env = Environment::default().with("COPILOT_CACHE_HOME", temp.path().join("c"));
        let cli = |version: &str| Located { program: PathBuf::new(), version: Some(version.to_owned()) };
        assert_eq!(light_runtime(&env, temp.path(), &cli("1.2.3")), None, "half unpacked");
        put(&folder.join("runtime.node"), "");
        assert_eq!(light_runtime(&env, temp.path(), &cli("1.2.3")), Some(folder.join("copilot-runtime")));
        assert_eq!(light_runtime(&env, temp.path(), &cli("1.2.4")), None);
        assert_eq!(light_runtime(&env, temp.path(), &cli("../1.2.3")), None);
        let unknown = Located { program: PathBuf::new(), version: None };
        assert_eq!(light_runtime(&env, temp.path(), &unknown), None);
    }
}
