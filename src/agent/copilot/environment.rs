//! The environment variables that the host reads, and the ones that the CLI gets.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

/// Environment variables, as data: tests bring their own.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    vars: BTreeMap<OsString, OsString>,
}

/// What the CLI gets if it is set: an allow-list, because a browser hands its host some 50 variables and
/// any of them may be a secret or change how programs behave (`LD_PRELOAD`, `NODE_OPTIONS`).
const PASSED: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TERM",
    "TMPDIR",
    "TZ",
    // Proxies, and the certificates of those that look inside.
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    // Where the sign-in is kept: the keyring, and GitHub's own command line.
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_CONFIG_DIR",
    "GH_HOST",
    // The CLI's own sign-in. No other child gets these.
    "GH_TOKEN",
    "GITHUB_TOKEN",
    // Windows.
    "SystemRoot",
    "SystemDrive",
    "ComSpec",
    "PATHEXT",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "ProgramData",
    "ProgramFiles",
    "TEMP",
    "TMP",
];

/// Beginnings of names that the CLI gets.
const PASSED_PREFIXES: &[&str] = &["LC_", "XDG_", "COPILOT_"];

impl Environment {
    /// This process's own.
    pub fn of_process() -> Self {
        Self { vars: std::env::vars_os().collect() }
    }

    /// With one variable set.
    #[must_use]
    pub fn with(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.vars.insert(name.into(), value.into());
        self
    }

    /// A variable that is set and not empty.
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that is a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.get(name).map(PathBuf::from)
    }

    /// What the CLI gets.
    pub fn for_cli(&self) -> BTreeMap<OsString, OsString> {
        let mut vars: BTreeMap<_, _> = self
            .vars
            .iter()
            .filter(|(name, _)| name.to_str().is_some_and(is_passed))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        // The host decides when the CLI changes, and a chat shall not wait for a look at GitHub.
        vars.insert("COPILOT_AUTO_UPDATE".into(), "false".into());
        vars
    }
}

fn is_passed(name: &str) -> bool {
    let same = |known: &&str| if cfg!(windows) { known.eq_ignore_ascii_case(name) } else { *known == name };
    PASSED.iter().any(same) || PASSED_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cli_gets_the_allow_list_and_nothing_else() {
        let env = Environment::default()
            .with("PATH", "/bin")
            .with("LC_ALL", "C")
            .with("COPILOT_HOME", "/h")
            .with("GH_TOKEN", "t")
            .with("AWS_SECRET_ACCESS_KEY", "no")
            .with("SSH_AUTH_SOCK", "no")
            .with("LD_PRELOAD", "no")
            .with("NODE_OPTIONS", "no")
            .with("BASH_ENV", "no");
        let names: Vec<_> = env.for_cli().into_keys().collect();
        assert_eq!(names, ["COPILOT_AUTO_UPDATE", "COPILOT_HOME", "GH_TOKEN", "LC_ALL", "PATH"]);
    }
}
