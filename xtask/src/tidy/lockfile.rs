//! What Cargo.lock may hold: no C library for TLS, and no crate in more versions than needed.

use std::collections::BTreeMap;

use toml::{Table, Value};

use super::Finding;
use super::source::Source;

/// Crates that bring a second crypto provider or need more than a C compiler to build.
const REFUSED: [&str; 5] = ["aws-lc-rs", "aws-lc-sys", "cmake", "native-tls", "openssl-sys"];

const VERSIONS_MAX: usize = 3;

/// Crates in more than one version, and whose fault that is. A line that is not needed any more
/// is a finding too.
const SEVERAL: [(&str, &str); 9] = [
    ("base64", "postgres-protocol stays on 0.22"),
    ("bit-vec", "0.8 from jsonschema, 0.9 from rcgen"),
    ("const-oid", "0.9 from x509-cert under tokio-postgres-rustls, 0.10 from argon2"),
    ("fallible-iterator", "0.2 from tokio-postgres, 0.3 from rusqlite"),
    ("getrandom", "0.2 from ring, 0.3 from jsonschema, 0.4 from tempfile and rand"),
    ("r-efi", "one for each getrandom; not built on Linux"),
    ("syn", "derive macros are half-way from 2 to 3"),
    ("wasi", "mio and whoami; not built on Linux"),
    ("windows-sys", "ring stays on 0.52; not built on Linux"),
];

pub(super) fn versions(files: &[Source]) -> Vec<Finding> {
    let lock = files.iter().find(|file| file.path == "Cargo.lock");
    lock.map_or_else(Vec::new, |file| check(file, &SEVERAL))
}

fn check(file: &Source, several: &[(&str, &str)]) -> Vec<Finding> {
    let Some(counts) = counts(&file.text) else {
        return vec![file.finding(1, "lock", "the file cannot be read")];
    };
    let listed = |name: &str| several.iter().any(|(own, _)| *own == name);
    let judge = |(name, count): (&String, &usize)| {
        if REFUSED.contains(&name.as_str()) {
            return Some((name.clone(), "refused; use ring, and turn off the feature that asks"));
        }
        match *count {
            1 => None,
            n if n > VERSIONS_MAX => {
                Some((name.clone(), "in too many versions; bring them together"))
            }
            _ if listed(name) => None,
            _ => {
                Some((name.clone(), "in several versions; bring them together, or list the reason"))
            }
        }
    };
    let stale = several.iter().filter(|(name, _)| counts.get(*name).is_none_or(|n| *n < 2));
    let stale =
        stale.map(|(name, _)| ((*name).to_owned(), "no longer in several versions; unlist it"));
    let all = counts.iter().filter_map(judge).chain(stale);
    all.map(|(name, advice)| {
        let line = file.line_of(&format!("name = \"{name}\""));
        file.finding(line, "lock", &format!("{name} is {advice}"))
    })
    .collect()
}

/// How many versions there are of each crate.
fn counts(lock: &str) -> Option<BTreeMap<String, usize>> {
    let lock: Table = lock.parse().ok()?;
    let mut counts = BTreeMap::new();
    for package in lock.get("package")?.as_array()? {
        let name = package.get("name").and_then(Value::as_str)?;
        *counts.entry(name.to_owned()).or_insert(0) += 1;
    }
    Some(counts)
}

#[cfg(test)]
mod tests {
    use super::super::lines;
    use super::*;

    fn check_names(names: &[&str], several: &[(&str, &str)]) -> Vec<usize> {
        let entry = |(n, name): (usize, &&str)| {
            format!("[[package]]\nname = \"{name}\"\nversion = \"{n}.0.0\"\n")
        };
        let text: String = names.iter().enumerate().map(entry).collect();
        lines(&check(&Source::new("Cargo.lock", &text), several))
    }

    #[test]
    fn some_crates_are_refused() {
        assert_eq!(check_names(&["ring", "openssl-sys"], &[]), [5]);
        assert_eq!(check_names(&["ring", "openssl-probe"], &[]), [0; 0]);
    }

    #[test]
    fn a_second_version_needs_a_reason_and_a_fourth_has_none() {
        let reason = [("syn", "macros")];
        assert_eq!(check_names(&["syn", "syn"], &[]), [2]);
        assert_eq!(check_names(&["syn", "syn"], &reason), [0; 0]);
        assert_eq!(check_names(&["syn", "syn", "syn"], &reason), [0; 0]);
        assert_eq!(check_names(&["syn", "syn", "syn", "syn"], &reason), [2]);
    }

    #[test]
    fn a_reason_that_is_not_needed_is_a_finding() {
        assert_eq!(check_names(&["ring", "syn"], &[("syn", "macros")]), [5]);
        assert_eq!(check_names(&["ring"], &[("syn", "macros")]), [1]);
    }
}
