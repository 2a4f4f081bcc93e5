//! Settings: defaults, then a file, then `TERN_*` in the environment, then flags.

use std::path::{Path, PathBuf};

use ipnet::IpNet;
use serde::{Deserialize, Serialize};

/// Every setting, with its default. `config.example.toml` explains each; a test holds the two
/// together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub listen: String,
    pub public_url: String,
    pub data: PathBuf,
    pub database: String,
    pub vault: String,
    pub tls_certificate: String,
    pub tls_key: String,
    pub trusted_proxies: Vec<String>,
    pub metrics_listen: String,
    pub console_email: String,
    pub callbacks_inside: bool,
    pub keep_deliveries_days: u16,
    pub keep_records_days: u16,
    pub log_format: LogFormat,
    pub log_level: LogLevel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    Human,
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".into(),
            public_url: String::new(),
            data: "tern-data".into(),
            database: String::new(),
            vault: String::new(),
            tls_certificate: String::new(),
            tls_key: String::new(),
            trusted_proxies: Vec::new(),
            metrics_listen: String::new(),
            console_email: "admin@localhost".into(),
            callbacks_inside: false,
            keep_deliveries_days: 30,
            keep_records_days: 400,
            log_format: LogFormat::Human,
            log_level: LogLevel::Info,
        }
    }
}

/// What was given on the command line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flags {
    pub(crate) config: Option<PathBuf>,
    pub(crate) data: Option<PathBuf>,
    pub(crate) database: Option<String>,
    pub(crate) listen: Option<String>,
}

impl Config {
    /// The address people reach the service at, as far as settings tell.
    pub(crate) fn reached_at(&self) -> String {
        let scheme = if self.tls_certificate.is_empty() { "http" } else { "https" };
        match self.public_url.trim_end_matches('/') {
            "" => format!("{scheme}://{}", self.listen),
            url => url.to_owned(),
        }
    }

    /// Reads all sources. An error says which one and what to do.
    pub(crate) fn load(
        flags: &Flags,
        environment: impl Iterator<Item = (String, String)>,
    ) -> Result<Self, String> {
        let mut table = match &flags.config {
            Some(path) => read(path)?,
            None => toml::Table::new(),
        };
        let known = toml::Table::try_from(Self::default()).unwrap_or_default();
        for (name, value) in environment {
            let Some(setting) = name.strip_prefix("TERN_").map(str::to_lowercase) else { continue };
            // Others set variables of that prefix too, for a service of that name.
            if !known.contains_key(&setting) {
                continue;
            }
            let value = read_as(&known[&setting], &value);
            table.insert(setting, value);
        }
        let mut config: Self = table.try_into().map_err(|error: toml::de::Error| {
            let from =
                flags.config.as_ref().map_or("the environment".into(), |p| p.display().to_string());
            format!("a setting in {from} or in TERN_* is wrong: {}", error.message())
        })?;
        if let Some(data) = &flags.data {
            config.data.clone_from(data);
        }
        if let Some(database) = &flags.database {
            config.database.clone_from(database);
        }
        if let Some(listen) = &flags.listen {
            config.listen.clone_from(listen);
        }
        config.trusted_proxies()?;
        Ok(config)
    }

    /// The proxies whose word on the client's address is taken.
    pub(crate) fn trusted_proxies(&self) -> Result<Vec<IpNet>, String> {
        let network = |text: &String| {
            let why =
                format!("trusted_proxies: {text} is no address or network such as 10.0.0.0/8");
            app::access::network(text).ok_or(why)
        };
        self.trusted_proxies.iter().map(network).collect()
    }

    /// The database, by default a file in the data folder.
    pub(crate) fn database(&self) -> Result<store::Database, String> {
        match self.database.as_str() {
            "" => Ok(store::Database::file(&self.data.join("tern.db"))),
            text => store::Database::parse(text),
        }
    }

    /// The vault file, by default in the data folder.
    pub(crate) fn vault(&self) -> PathBuf {
        match self.vault.as_str() {
            "" => self.data.join("vault.toml"),
            path => path.into(),
        }
    }
}

/// The variables of this process that are text.
pub(crate) fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

/// A text of the environment as the kind of value a setting has; what is no such value stays a
/// text, and is named as wrong later.
fn read_as(known: &toml::Value, text: &str) -> toml::Value {
    match known {
        toml::Value::Array(_) => list(text),
        toml::Value::Boolean(_) => text.parse().map_or_else(|_| text.into(), toml::Value::Boolean),
        toml::Value::Integer(_) => text.parse().map_or_else(|_| text.into(), toml::Value::Integer),
        _ => text.into(),
    }
}

fn list(text: &str) -> toml::Value {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    toml::Value::Array(items.map(Into::into).collect())
}

fn read(path: &Path) -> Result<toml::Table, String> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| format!("the settings file {}: {error}", path.display()))?;
    text.parse().map_err(|error: toml::de::Error| {
        format!("the settings file {} is not TOML: {}", path.display(), error.message())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = include_str!("../../../config.example.toml");

    fn load(file: &str, environment: &[(&str, &str)]) -> Result<Config, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("tern.toml");
        std::fs::write(&path, file).expect("written");
        let flags = Flags { config: Some(path), ..Flags::default() };
        let pairs: Vec<_> =
            environment.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        Config::load(&flags, pairs.into_iter())
    }

    #[test]
    fn the_example_holds_every_setting_at_its_default() {
        assert_eq!(load(EXAMPLE, &[]), Ok(Config::default()));
        let table: toml::Table = EXAMPLE.parse().expect("TOML");
        let all = toml::Table::try_from(Config::default()).expect("a table");
        let missing: Vec<_> = all.keys().filter(|key| !table.contains_key(*key)).collect();
        assert!(missing.is_empty(), "not in config.example.toml: {missing:?}");
    }

    #[test]
    fn the_environment_overrides_the_file_and_flags_override_both() {
        let file = "listen = \"127.0.0.1:1\"\ndatabase = \"a.db\"";
        let environment = [
            ("TERN_LISTEN", "127.0.0.1:2"),
            ("TERN_PORT", "tcp://10.0.0.1:80"),
            ("TERN_TRUSTED_PROXIES", "10.0.0.0/8, ::1"),
        ];
        let config = load(file, &environment).expect("settings");
        assert_eq!((config.listen.as_str(), config.database.as_str()), ("127.0.0.1:2", "a.db"));
        assert_eq!(config.trusted_proxies.len(), 2);
    }

    #[test]
    fn mistakes_are_named() {
        let unknown = load("lisen = \"x\"", &[]).expect_err("refused");
        assert!(unknown.contains("lisen"), "{unknown}");
        let odd = load("", &[("TERN_LOG_LEVEL", "loud")]).expect_err("refused");
        assert!(odd.contains("loud"), "{odd}");
        let proxy = load("trusted_proxies = [\"10.0.0.0/99\"]", &[]).expect_err("refused");
        assert!(proxy.contains("10.0.0.0/99"), "{proxy}");
        assert!(load("listen = ", &[]).expect_err("refused").contains("not TOML"));
    }
}
