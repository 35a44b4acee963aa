//! The settings file, `~/.browy/config.toml`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::paths::Paths;

/// Everything a person can set.
///
/// A word that is not known is an error: a mistyped `[provider]` must not send pages somewhere else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The model for new prompts; absent = the CLI's own default.
    pub model: Option<String>,
    /// The Copilot CLI to start; absent = Browy's own copy, then the one on `PATH`.
    pub cli_path: Option<PathBuf>,
    /// An own model provider instead of GitHub Copilot.
    pub provider: Option<Provider>,
}

/// What a provider speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProviderKind {
    /// OpenAI's chat completions, which most others speak too (Ollama, LM Studio, vLLM, OpenRouter …).
    #[default]
    Openai,
    /// Azure OpenAI.
    Azure,
    /// Anthropic's messages.
    Anthropic,
}

impl ProviderKind {
    /// Its word in the settings file and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
        }
    }

    /// The kind of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Openai, Self::Azure, Self::Anthropic].into_iter().find(|kind| kind.name() == name)
    }
}

/// A model provider of the person's own.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// What it speaks; `openai` when absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub kind: ProviderKind,
    /// For example `http://127.0.0.1:11434/v1`.
    pub base_url: String,
    /// The model's name at that endpoint.
    pub model: String,
    /// The key, if the endpoint wants one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key: Option<String>,
    /// Azure only: the dated API version; absent = the version without a date.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
}

fn is_default(kind: &ProviderKind) -> bool {
    *kind == ProviderKind::default()
}

impl Provider {
    /// Whether requests can go there.
    ///
    /// # Errors
    /// What is wrong and what is wanted.
    pub fn check(&self) -> Result<(), String> {
        if self.model.trim().is_empty() {
            return Err("the provider needs the name of a `model`".to_owned());
        }
        match url::Url::parse(&self.base_url) {
            Ok(url) if matches!(url.scheme(), "http" | "https") => Ok(()),
            Ok(url) => Err(format!(
                "`base_url` begins with {}:, but must begin with http:// or https://",
                url.scheme()
            )),
            Err(error) => {
                Err(format!("`base_url` is no address ({error}); it looks like http://127.0.0.1:11434/v1"))
            }
        }
    }
}

impl std::fmt::Debug for Provider {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Provider")
            .field("kind", &self.kind)
            .field("base_url", &self.base_url)
            .field("model", &self.model)
            .field("api_key", &self.api_key.as_ref().map(|_| "…"))
            .finish()
    }
}

/// The settings file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// It is there, but cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It is not the TOML that is expected.
    #[error("{path} is not valid: {source}")]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// The provider in it cannot be one.
    #[error("{path}: {why}")]
    Provider {
        /// The file.
        path: PathBuf,
        /// What is wrong with the address.
        why: String,
    },
    /// It cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

impl Config {
    /// Reads the file; a missing one gives the defaults.
    ///
    /// # Errors
    /// [`ConfigError`] when the file is there and unusable.
    pub fn load(paths: &Paths) -> Result<Self, ConfigError> {
        let path = paths.config();
        // A pipe or a device would be read for ever.
        let is_file = std::fs::metadata(&path).is_ok_and(|what| what.is_file());
        if !is_file && path.exists() {
            let source = std::io::Error::other("it is no ordinary file");
            return Err(ConfigError::Read { path, source });
        }
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(source) => return Err(ConfigError::Read { path, source }),
        };
        let config: Self = toml::from_str(&text)
            .map_err(|source| ConfigError::Parse { path: path.clone(), source: Box::new(source) })?;
        if let Some(provider) = &config.provider {
            provider.check().map_err(|why| ConfigError::Provider { path, why })?;
        }
        Ok(config)
    }

    /// Writes the file whole or not at all, readable by its owner only.
    ///
    /// # Errors
    /// [`ConfigError`]; the old file is untouched then. A file that cannot be read is not replaced: the person
    /// shall correct it, not lose it.
    pub fn save(&self, paths: &Paths) -> Result<(), ConfigError> {
        Self::load(paths)?;
        let path = paths.config();
        let write = || -> std::io::Result<()> {
            let text = toml::to_string_pretty(self).map_err(std::io::Error::other)?;
            let folder = paths.browy();
            crate::paths::create_private_dir(&folder)?;
            // A temporary file is 0600 and becomes the settings in one step.
            let mut file = tempfile::NamedTempFile::new_in(&folder)?;
            std::io::Write::write_all(&mut file, text.as_bytes())?;
            file.as_file().sync_all()?;
            file.persist(&path)?;
            Ok(())
        };
        write().map_err(|source| ConfigError::Write { path: path.clone(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_settings_are_read_back_and_private() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::below(home.path());
        assert_eq!(Config::load(&paths).unwrap(), Config::default());
        let config = Config {
            model: Some("gpt-5".to_owned()),
            cli_path: None,
            provider: Some(Provider {
                base_url: "http://127.0.0.1:1/v1".to_owned(),
                model: "local".to_owned(),
                api_key: Some("key-123".to_owned()),
                ..Provider::default()
            }),
        };
        config.save(&paths).unwrap();
        assert_eq!(Config::load(&paths).unwrap(), config);
        assert!(!format!("{config:?}").contains("key-123"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(paths.config()).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn broken_settings_say_where_and_why() {
        let home = tempfile::tempdir().unwrap();
        let paths = Paths::below(home.path());
        std::fs::create_dir_all(paths.browy()).unwrap();
        std::fs::write(paths.config(), "model = 3").unwrap();
        let error = Config::load(&paths).unwrap_err().to_string();
        assert!(error.contains("config.toml") && error.contains("model"), "{error}");
        for mistyped in [
            "[providers]\nbase_url = 'http://127.0.0.1:1/v1'\nmodel = 'x'",
            "[provider]\nbaseurl = 'http://127.0.0.1:1/v1'\nmodel = 'x'",
            "[provider]\nbase_url = 'http://127.0.0.1:1/v1\nmodel = 'x'",
            "[provider]\nbase_url = 'localhost'\nmodel = 'x'",
            "[provider]\nbase_url = 'ftp://localhost'\nmodel = 'x'",
            "[provider]\nbase_url = 'http://localhost'\nmodel = ' '",
            "[provider]\nkind = 'ollama'\nbase_url = 'http://localhost'\nmodel = 'x'",
        ] {
            std::fs::write(paths.config(), mistyped).unwrap();
            let error = Config::load(&paths).unwrap_err().to_string();
            assert!(error.contains("config.toml"), "{error}");
            // Nothing that a panel sets replaces what the person wrote.
            assert!(Config::default().save(&paths).is_err());
            assert_eq!(std::fs::read_to_string(paths.config()).unwrap(), mistyped);
        }
    }
}
