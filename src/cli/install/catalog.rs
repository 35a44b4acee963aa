//! What `manifests/` says about browsers and about the manifest itself.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::InstallError;

/// The host's name, which is also the manifest's file name before `.json`.
pub const HOST_NAME: &str = "com.browy.host";

/// The manifest's file name.
pub const MANIFEST_FILE: &str = "com.browy.host.json";

const TEMPLATE: &str = include_str!("../../../manifests/com.browy.host.json");
const BROWSERS: &str = include_str!("../../../manifests/browsers.toml");

/// One browser's places; `manifests/browsers.toml` explains the fields.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Browser {
    /// Short name, unique.
    pub id: String,
    /// The name that people know.
    pub name: String,
    /// Places on Linux.
    pub linux: LinuxPlaces,
    /// Places on macOS.
    pub macos: MacosPlaces,
    /// Places on Windows.
    pub windows: WindowsPlaces,
}

/// Places on Linux.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinuxPlaces {
    /// Below the configuration folder.
    pub folder: String,
    /// Names on `PATH`.
    pub programs: Vec<String>,
    /// A snap that confines the browser.
    pub snap: Option<String>,
    /// A Flatpak application that confines the browser.
    pub flatpak: Option<String>,
}

/// Places on macOS.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MacosPlaces {
    /// Below `~/Library/Application Support`.
    pub folder: String,
    /// Further folders that the browser reads.
    #[serde(default)]
    pub also: Vec<String>,
}

/// Places on Windows.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowsPlaces {
    /// Below `%LOCALAPPDATA%`.
    pub folder: String,
    /// Below `HKEY_CURRENT_USER`.
    pub keys: Vec<String>,
}

#[derive(Deserialize)]
struct Catalog {
    browser: Vec<Browser>,
}

/// The browsers that Browy can be registered with.
///
/// # Errors
/// [`InstallError::Catalog`] when the embedded data is broken, which a test rules out.
pub fn browsers() -> Result<Vec<Browser>, InstallError> {
    toml::from_str::<Catalog>(BROWSERS)
        .map(|catalog| catalog.browser)
        .map_err(|error| InstallError::Catalog(error.to_string()))
}

/// The native-messaging manifest, in the order of the template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Manifest {
    name: String,
    description: String,
    path: String,
    #[serde(rename = "type")]
    kind: String,
    allowed_origins: Vec<String>,
}

fn template() -> Result<Manifest, InstallError> {
    serde_json::from_str(TEMPLATE).map_err(|error| InstallError::Catalog(error.to_string()))
}

/// The manifest's text for the program at `program` (absolute) and exact `origins`.
///
/// # Errors
/// [`InstallError::PathNotText`] when the path cannot stand in JSON.
pub fn manifest(program: &Path, origins: &[String]) -> Result<String, InstallError> {
    let path = program.to_str().ok_or_else(|| InstallError::PathNotText(program.to_owned()))?;
    let manifest = Manifest { path: path.to_owned(), allowed_origins: origins.to_vec(), ..template()? };
    let mut text =
        serde_json::to_string_pretty(&manifest).map_err(|error| InstallError::Catalog(error.to_string()))?;
    text.push('\n');
    Ok(text)
}

/// Whether a manifest is one that Browy's own installer wrote, whatever program it names.
pub fn is_ours(manifest: &[u8]) -> bool {
    let Ok(ours) = template() else { return false };
    serde_json::from_slice::<Manifest>(manifest)
        .is_ok_and(|found| found.name == ours.name && found.description == ours.description)
}

/// The program that a manifest names, whoever wrote it.
pub fn program_of(manifest: &[u8]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_slice(manifest).ok()?;
    value.get("path")?.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_data_is_sound() {
        let browsers = browsers().unwrap();
        let mut ids: Vec<_> = browsers.iter().map(|browser| browser.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), browsers.len());
        for browser in &browsers {
            let relative = std::iter::once(&browser.linux.folder)
                .chain([&browser.macos.folder])
                .chain(&browser.macos.also);
            assert!(relative.clone().all(|folder| !folder.starts_with('/') && !folder.contains("..")));
            assert!(browser.windows.keys.iter().all(|key| key.starts_with("Software\\")), "{}", browser.id);
        }
        assert_eq!(template().unwrap().name, HOST_NAME);
        assert_eq!(MANIFEST_FILE, format!("{HOST_NAME}.json"));
    }

    #[test]
    fn any_path_that_is_text_stands_in_the_manifest() {
        let odd = Path::new("/home/ana/a \"b\"\\c\n$HOME/browy");
        let text = manifest(odd, &["chrome-extension://a/".to_owned()]).unwrap();
        assert_eq!(program_of(text.as_bytes()).as_deref(), odd.to_str());
        assert!(is_ours(text.as_bytes()));
    }

    #[test]
    fn the_node_hosts_manifest_is_not_ours() {
        let theirs = br#"{"name":"com.browy.host","description":"Browy AI agent native host",
            "path":"/home/ana/.browy/host/browy-host.sh","type":"stdio","allowed_origins":[]}"#;
        assert!(!is_ours(theirs));
        assert!(!is_ours(b"{"));
    }
}
