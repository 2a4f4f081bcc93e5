//! `tern doctor`: what is wrong with a set-up and how to mend it. Looks only; makes nothing.

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;

use app::vault::Vault;
use serde_json::json;
use store::{Rt, Store, migrate};

use crate::config::Config;
use crate::output::Ink;
use crate::{output, tls};

/// How a check ended.
enum Finding {
    Good(String),
    /// Works, but think about it.
    Warn(String, &'static str),
    /// Does not work; what to do.
    Bad(String, &'static str),
}

use Finding::{Bad, Good, Warn};

/// Runs all checks; fails if one of them does.
pub(crate) async fn run(config: &Config, as_json: bool) -> ExitCode {
    let findings = vec![
        ("data folder", data_folder(config)),
        ("vault file", vault_file(config)),
        ("database", database(config)),
        ("vault fits", vault_fits(config).await),
        ("tls", tls_files(config)),
        ("listen", listen(config)),
        ("exposure", exposure(config)),
        ("leftovers", leftovers(config)),
    ];
    let failed = findings.iter().any(|(_, finding)| matches!(finding, Bad(..)));
    if as_json {
        output::json(&as_objects(&findings, !failed));
    } else {
        print(&findings);
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn as_objects(findings: &[(&str, Finding)], ok: bool) -> serde_json::Value {
    let checks: Vec<_> = findings
        .iter()
        .map(|(check, finding)| match finding {
            Good(text) => json!({ "check": check, "state": "good", "text": text, "next": "" }),
            Warn(text, next) => {
                json!({ "check": check, "state": "warn", "text": text, "next": next })
            }
            Bad(text, next) => {
                json!({ "check": check, "state": "bad", "text": text, "next": next })
            }
        })
        .collect();
    json!({ "ok": ok, "checks": checks })
}

fn print(findings: &[(&str, Finding)]) {
    let ink = Ink::of_stdout();
    for (check, finding) in findings {
        let (mark, text, next) = match finding {
            Good(text) => (ink.good("good"), text, None),
            Warn(text, next) => (ink.warn("warn"), text, Some(next)),
            Bad(text, next) => (ink.bad("bad "), text, Some(next)),
        };
        output::line(&format!("{mark}  {check:<12} {text}"));
        if let Some(next) = next {
            output::line(&format!("      {:<12} next: {next}", ""));
        }
    }
}

fn data_folder(config: &Config) -> Finding {
    let shown = config.data.display().to_string();
    let Ok(metadata) = fs::metadata(&config.data) else {
        return Warn(
            format!("{shown} does not exist yet"),
            "`tern serve` makes it at the first start",
        );
    };
    if !metadata.is_dir() {
        return Bad(format!("{shown} is not a folder"), "choose another with --data");
    }
    if metadata.permissions().mode() & 0o077 != 0 {
        return Warn(format!("{shown} is open to other users"), "chmod 700 the data folder");
    }
    Good(shown)
}

fn vault_file(config: &Config) -> Finding {
    let path = config.vault();
    if !path.exists() {
        let used = config
            .database()
            .is_ok_and(|database| migrate::current(&database).is_ok_and(|schema| schema.is_some()));
        if used {
            let text = format!("{} is missing, and the database needs it", path.display());
            return Bad(text, "put back the vault file that this database was made with");
        }
        let text = format!("{} does not exist yet", path.display());
        return Warn(text, "made at the first start");
    }
    match Vault::load(&path) {
        Ok(_) => Good(path.display().to_string()),
        Err(error) => Bad(error.to_string(), "see the text; every node needs the same file"),
    }
}

fn database(config: &Config) -> Finding {
    let database = match config.database() {
        Ok(database) => database,
        Err(error) => return Bad(error, "mend the database setting"),
    };
    match migrate::current(&database) {
        Err(error) => {
            Bad(error.to_string(), "is the server up, and are host, user and password right?")
        }
        Ok(None) => Warn("empty".into(), "`tern serve` makes the tables at the first start"),
        Ok(Some(schema)) if schema > migrate::newest() => {
            Bad(format!("schema {schema} is newer than this program"), "run a newer tern")
        }
        Ok(Some(schema)) if schema < migrate::newest() => {
            Warn(format!("schema {schema} is old"), "`tern serve` brings it up at the next start")
        }
        Ok(Some(schema)) => Good(format!("schema {schema}")),
    }
}

async fn vault_fits(config: &Config) -> Finding {
    let (Ok(vault), Ok(database)) = (Vault::load(&config.vault()), config.database()) else {
        return Warn("not asked".into(), "mend the vault file and the database first");
    };
    if migrate::current(&database) != Ok(Some(migrate::newest())) {
        return Warn("not asked".into(), "start the service once");
    }
    let store = Store::open(&database, &Rt::real());
    match app::vault_fits(&store, &vault).await {
        Ok(true) => Good("the vault file belongs to this database".into()),
        Ok(false) => Bad(app::OpenError::WrongVault.to_string(), "put back the right vault file"),
        Err(error) => {
            Bad(error.to_string(), "put back the vault file that this database was made with")
        }
    }
}

fn tls_files(config: &Config) -> Finding {
    match (config.tls_certificate.as_str(), config.tls_key.as_str()) {
        ("", "") => Good("off".into()),
        ("", _) | (_, "") => {
            Bad("only one of tls_certificate and tls_key is set".into(), "set both or neither")
        }
        (certificate, key) => match tls::Files::load(Path::new(certificate), Path::new(key)) {
            Ok(_) => Good("certificate and key fit".into()),
            Err(error) => Bad(error, "check the paths and that the two belong together"),
        },
    }
}

fn listen(config: &Config) -> Finding {
    match TcpListener::bind(&config.listen) {
        Ok(_) => Good(format!("{} is free", config.listen)),
        Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => Warn(
            format!("{} is in use", config.listen),
            "fine if that is tern; otherwise choose another with --listen",
        ),
        Err(error) => Bad(format!("{}: {error}", config.listen), "choose another with --listen"),
    }
}

fn exposure(config: &Config) -> Finding {
    let loopback = config.listen.parse::<SocketAddr>().is_ok_and(|a| a.ip().is_loopback());
    let tls = !config.tls_certificate.is_empty();
    if loopback || tls {
        return Good(if tls { "TLS" } else { "this machine only" }.into());
    }
    if config.trusted_proxies.is_empty() {
        let next = "set tls_certificate and tls_key, or put a TLS proxy in front and name it in \
                    trusted_proxies";
        return Warn("keys travel unencrypted, and no proxy is trusted".into(), next);
    }
    Good("behind a proxy".into())
}

fn leftovers(config: &Config) -> Finding {
    let path = config.data.join("first-start.txt");
    if path.exists() {
        let text = format!("{} still holds the first operator key", path.display());
        return Warn(text, "read it, keep the key where secrets are kept, delete the file");
    }
    Good("none".into())
}
