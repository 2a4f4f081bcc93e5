//! Every dependency is under a licence that lets anybody host, change and sell this service.

use serde_json::Value;

use super::Finding;
use crate::process;

const ACCEPTED: [&str; 15] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

pub(super) fn licences() -> Result<Vec<Finding>, String> {
    let mut cargo = process::cargo();
    let text = process::output(cargo.args(["metadata", "--format-version", "1", "--locked"]))?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    Ok(check(&metadata))
}

fn check(metadata: &Value) -> Vec<Finding> {
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let judge = |package: &Value| {
        let licence = package["license"].as_str().unwrap_or("");
        let name = package["name"].as_str().unwrap_or("?");
        (!is_accepted(licence)).then(|| Finding {
            file: "Cargo.lock".into(),
            line: 1,
            rule: "licence",
            advice: format!("{name} is under \"{licence}\"; do without it, or accept the licence"),
        })
    };
    packages.filter_map(judge).collect()
}

/// An expression of licences, as SPDX writes them; older crates write a slash for `OR`.
fn is_accepted(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any_of(&mut rest) == Some(true) && rest.is_empty()
}

/// Of alternatives one is enough. `None` is an expression we do not understand.
fn any_of(rest: &mut &[&str]) -> Option<bool> {
    let mut accepted = all_of(rest)?;
    while take(rest, "OR") {
        accepted |= all_of(rest)?;
    }
    Some(accepted)
}

/// What is joined by `AND` binds closer, and all of it must be accepted.
fn all_of(rest: &mut &[&str]) -> Option<bool> {
    let mut accepted = one(rest)?;
    while take(rest, "AND") {
        accepted &= one(rest)?;
    }
    Some(accepted)
}

fn one(rest: &mut &[&str]) -> Option<bool> {
    if take(rest, "(") {
        let inside = any_of(rest)?;
        return take(rest, ")").then_some(inside);
    }
    let (name, after) = rest.split_first()?;
    *rest = after;
    if take(rest, "WITH") {
        let (exception, after) = rest.split_first()?;
        *rest = after;
        return Some(ACCEPTED.contains(&format!("{name} WITH {exception}").as_str()));
    }
    Some(ACCEPTED.contains(name))
}

fn take(rest: &mut &[&str], word: &str) -> bool {
    let found = rest.first() == Some(&word);
    if found {
        *rest = &rest[1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn expressions_are_understood() {
        for fine in [
            "MIT",
            "MIT/Apache-2.0",
            "Apache-2.0 / MIT",
            "MIT OR LGPL-2.1-or-later",
            "(MIT OR GPL-3.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-2.0",
            "GPL-2.0 AND MIT OR ISC",
        ] {
            assert!(is_accepted(fine), "{fine}");
        }
        for bad in [
            "",
            "GPL-3.0",
            "MIT AND GPL-3.0",
            "GPL-2.0 WITH Classpath-exception",
            "MIT OR",
            "(MIT",
            "MIT ISC",
            "GPL-3.0 AND (MIT OR ISC)",
        ] {
            assert!(!is_accepted(bad), "{bad}");
        }
    }

    #[test]
    fn a_crate_without_a_good_licence_is_named() {
        let packages = json!({ "packages": [
            { "name": "fine", "license": "MIT" },
            { "name": "bad", "license": "AGPL-3.0" },
            { "name": "silent", "license": null },
        ] });
        let found: Vec<String> = check(&packages).into_iter().map(|f| f.advice).collect();
        assert!(found[0].starts_with("bad is") && found[1].starts_with("silent is"), "{found:?}");
        assert_eq!(found.len(), 2);
    }
}
