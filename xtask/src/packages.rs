//! The programs of the system that tests and benches need, and their installation on Debian.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;

struct Package {
    name: &'static str,
    why: &'static str,
    is_there: fn() -> bool,
}

const PACKAGES: [Package; 9] = [
    Package {
        name: "chromium",
        why: "a browser for the stories about pages",
        is_there: || on_path("chromium"),
    },
    Package {
        name: "chromium-driver",
        why: "drives the browser",
        is_there: || on_path("chromedriver"),
    },
    Package {
        name: "fonts-dejavu-core",
        why: "letters for the browser, which brings none",
        is_there: || Path::new("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf").is_file(),
    },
    Package { name: "git", why: "tidy asks it for the list of files", is_there: || on_path("git") },
    Package {
        name: "openssl",
        why: "certificates of test servers",
        is_there: || on_path("openssl"),
    },
    Package { name: "postgresql", why: "half of all tests", is_there: || postgres_bin().is_some() },
    Package {
        name: "python3-pip",
        why: "a verifier of webhooks and a checker of pages that are not ours",
        is_there: || on_path("pip3"),
    },
    Package {
        name: "util-linux",
        why: "setpriv runs PostgreSQL, which refuses to be root",
        is_there: || on_path("setpriv"),
    },
    Package {
        name: "zbar-tools",
        why: "a reader of QR codes that is not ours",
        is_there: || on_path("zbarimg"),
    },
];

/// What only benches compare us with.
const PEERS: [Package; 2] = [
    Package {
        name: "python3-segno",
        why: "the QR codes that ours are compared with",
        is_there: || Path::new("/usr/lib/python3/dist-packages/segno").is_dir(),
    },
    Package {
        name: "qrencode",
        why: "the pictures that ours are compared with",
        is_there: || on_path("qrencode"),
    },
];

/// What we call of PostgreSQL; a folder with all of these is a whole installation.
const POSTGRES_PROGRAMS: [&str; 7] =
    ["createdb", "createuser", "initdb", "pg_isready", "pgbench", "postgres", "psql"];

/// Makes sure that everything tests need is there; installs what is missing if we may.
pub(crate) fn ensure() -> Result<(), String> {
    ensure_all(&PACKAGES)
}

/// The same for benches, which need more.
pub(crate) fn ensure_peers() -> Result<(), String> {
    ensure().and_then(|()| ensure_all(&PEERS))
}

fn ensure_all(packages: &[Package]) -> Result<(), String> {
    let missing: Vec<&Package> = packages.iter().filter(|package| !(package.is_there)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = missing.iter().map(|package| package.name).collect();
    if !process::is_root() {
        return Err(ask_for(&missing));
    }
    if process::find("apt-get").is_none() {
        return Err(format!("missing, and no apt-get to install it: {}", names.join(", ")));
    }
    eprintln!("installing {}", names.join(", "));
    install(&names)?;
    match missing.iter().find(|package| !(package.is_there)()) {
        None => Ok(()),
        Some(package) => Err(format!("{} was installed, but is not to be found", package.name)),
    }
}

/// Formatter and linter belong to the toolchain, but not to every installation of it.
pub(crate) fn ensure_components() -> Result<(), String> {
    for (command, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        process::output(process::cargo().args([command, "--version"])).map_err(|text| {
            format!("{text}\n{component} is missing: `rustup component add {component}`")
        })?;
    }
    Ok(())
}

/// The programs of the newest PostgreSQL. Debian keeps servers off the path.
pub(crate) fn postgres_bin() -> Option<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter_map(|path| Some((path.file_name()?.to_str()?.parse().ok()?, path.join("bin"))))
        .collect();
    versions.sort();
    let on_path = process::find("initdb").and_then(|file| file.canonicalize().ok());
    let elsewhere = on_path.and_then(|file| file.parent().map(Path::to_path_buf));
    let folders = versions.into_iter().rev().map(|(_, bin)| bin).chain(elsewhere);
    folders.into_iter().find(|bin| POSTGRES_PROGRAMS.iter().all(|name| bin.join(name).is_file()))
}

fn on_path(program: &str) -> bool {
    process::find(program).is_some()
}

fn ask_for(missing: &[&Package]) -> String {
    let mut text = "programs are missing, and only root may install them:\n".to_owned();
    let mut command =
        "  sudo apt-get update && sudo apt-get install -y --no-install-recommends".to_owned();
    for package in missing {
        writeln!(text, "  {} ({})", package.name, package.why).expect("a string takes all text");
        command = format!("{command} {}", package.name);
    }
    format!("{text}run\n{command}\nand then this command again")
}

fn install(names: &[&str]) -> Result<(), String> {
    if names.contains(&"postgresql") {
        forbid_main_cluster().map_err(|e| format!("{CLUSTER_SETTINGS} cannot be written: {e}"))?;
    }
    process::run(apt_get().args(["update", "--quiet"]))?;
    process::run(apt_get().args(["install", "--yes", "--no-install-recommends"]).args(names))
}

/// Apt asks nothing, and keeps settings files that are there already. Its messages go to stderr,
/// because stdout may belong to the result of a bench.
fn apt_get() -> Command {
    let mut command = Command::new("apt-get");
    command.stdout(std::io::stderr());
    command.env("DEBIAN_FRONTEND", "noninteractive").env("UCF_FORCE_CONFFOLD", "1");
    command
}

const CLUSTER_SETTINGS: &str = "/etc/postgresql-common/createcluster.conf";

/// Debian makes and starts a server of its own at installation, unless this file says no.
fn forbid_main_cluster() -> std::io::Result<()> {
    let file = Path::new(CLUSTER_SETTINGS);
    if let Some(dir) = file.parent() {
        std::fs::create_dir_all(dir)?;
    }
    let text = if file.exists() { std::fs::read_to_string(file)? } else { String::new() };
    std::fs::write(file, without_main_cluster(&text))
}

/// Keeps every other setting, and the comments.
fn without_main_cluster(settings: &str) -> String {
    let others = settings.lines().filter(|line| !line.trim().starts_with("create_main_cluster"));
    let mut text: String = others.flat_map(|line| [line, "\n"]).collect();
    text.push_str("create_main_cluster = false\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_main_cluster_in_a_new_file_and_in_an_old_one() {
        assert_eq!(without_main_cluster(""), "create_main_cluster = false\n");
        let old = "# ssl\nssl = on\ncreate_main_cluster = true";
        assert_eq!(without_main_cluster(old), "# ssl\nssl = on\ncreate_main_cluster = false\n");
        assert_eq!(without_main_cluster(&without_main_cluster(old)), without_main_cluster(old));
    }

    #[test]
    fn what_is_missing_is_asked_for_with_the_whole_command() {
        let named = |name| PACKAGES.iter().find(|package| package.name == name).expect("listed");
        let text = ask_for(&[named("openssl"), named("postgresql")]);
        assert!(text.contains("half of all tests"), "{text}");
        assert!(text.contains("--no-install-recommends openssl postgresql\n"), "{text}");
    }
}
