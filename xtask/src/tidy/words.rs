//! Words that must not stand in some places: what a crate may not know, and what is not finished.

use super::Finding;
use super::source::{Source, begins_word, has_word, numbered};

struct Ban {
    folder: &'static str,
    found: fn(&str) -> bool,
    advice: &'static str,
}

const BANS: [Ban; 8] = [
    Ban {
        folder: "crates/domain/",
        found: |line| line.contains(".await"),
        advice: "domain awaits nothing; a port only declares a future",
    },
    Ban {
        folder: "crates/domain/",
        found: |line| has_word(line, "SystemTime"),
        advice: "domain reads no clock; take `now: Timestamp`",
    },
    Ban {
        folder: "crates/domain/",
        found: |line| begins_word(line, "serde"),
        advice: "domain has no wire format; convert at the edge",
    },
    Ban {
        folder: "crates/domain/",
        found: |line| has_word(line, "f32") || has_word(line, "f64"),
        advice: "domain counts in whole units; use integers",
    },
    Ban {
        folder: "crates/app/",
        found: |line| has_word(line, "Version"),
        advice: "only api knows versions; hand app a plain parameter that says what differs",
    },
    Ban {
        folder: "crates/app/",
        found: |line| begins_word(line, "axum"),
        advice: "app speaks no HTTP; keep axum in api and portal",
    },
    Ban {
        folder: "crates/app/",
        found: |line| begins_word(line, "http::"),
        advice: "app speaks no HTTP; return a refusal and let api choose the status",
    },
    Ban {
        folder: "crates/app/",
        found: |line| begins_word(line, "serde_json"),
        advice: "app speaks no JSON; let the caller render, and hand over bytes",
    },
];

/// What a crate may not know.
pub(super) fn banned(file: &Source) -> Vec<Finding> {
    let bans = BANS.iter().filter(|ban| file.path.starts_with(ban.folder));
    let find = |ban: &'static Ban| {
        let lines = numbered(&file.scan.code).filter(|(_, line)| (ban.found)(line));
        lines.map(|(line, _)| file.finding(line, "crate", ban.advice)).collect::<Vec<_>>()
    };
    bans.flat_map(find).collect()
}

/// Only the seam names a database driver.
pub(super) fn drivers(file: &Source) -> Vec<Finding> {
    if file.path.starts_with("crates/store/src/sql/") || file.is_test() || file.is_bench() {
        return Vec::new();
    }
    let named = |line: &str| ["rusqlite", "tokio_postgres"].iter().any(|d| begins_word(line, d));
    let lines = numbered(&file.scan.code).filter(|(_, line)| named(line));
    let advice = "only crates/store/src/sql/ names a driver; use the types of the seam";
    lines.map(|(line, _)| file.finding(line, "driver", advice)).collect()
}

/// Only the store holds SQL.
pub(super) fn sql(file: &Source) -> Vec<Finding> {
    if file.path.starts_with("crates/store/") || file.is_test() || file.is_bench() {
        return Vec::new();
    }
    let strings = file.scan.strings.iter().filter(|literal| is_sql(&literal.text));
    let advice = "only crates/store holds SQL; call a function of the store";
    strings.map(|literal| file.finding(literal.line, "sql", advice)).collect()
}

fn is_sql(text: &str) -> bool {
    ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE"].iter().any(|verb| {
        let rest = text.trim_start().strip_prefix(verb);
        rest.is_some_and(|rest| rest.starts_with(char::is_whitespace))
    })
}

const UNFINISHED: [(&str, &str); 5] = [
    ("todo!(", "finish it, or leave it out"),
    ("unimplemented!(", "finish it, or leave it out"),
    ("#[ignore", "a test runs or is deleted"),
    ("#[allow(", "write #[expect(lint, reason = \"…\")], which goes stale with an error"),
    ("#![allow(", "write #![expect(lint, reason = \"…\")], which goes stale with an error"),
];

/// Nothing is left for later without a word, and no lint is silenced for ever.
pub(super) fn unfinished(file: &Source) -> Vec<Finding> {
    let in_code = numbered(&file.scan.code).flat_map(|(number, line)| {
        let found = UNFINISHED.iter().filter(move |(needle, _)| line.contains(needle));
        found.map(move |(_, advice)| file.finding(number, "unfinished", advice))
    });
    // Joined here, so that this line is no finding itself.
    let mark = ["FIX", "ME"].concat();
    let kinds = ["rs", "sql", "toml"];
    let text = if kinds.iter().any(|kind| file.is(kind)) { file.text.as_str() } else { "" };
    let marks = numbered(text).filter(|(_, line)| line.contains(&mark));
    let advice = "mend it now, or write down the limit it leaves";
    in_code.chain(marks.map(|(number, _)| file.finding(number, "unfinished", advice))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::lines;
    use super::*;

    fn check(rule: fn(&Source) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        lines(&rule(&Source::new(path, text)))
    }

    #[test]
    fn domain_is_pure() {
        let text =
            "//! serde, f64\nuse serde::Serialize;\nx().await;\nSystemTime::now()\n1_f64 as f32";
        let path = "crates/domain/src/money.rs";
        let mut found = check(banned, path, text);
        found.sort_unstable();
        assert_eq!(found, [2, 3, 4, 5]);
        assert_eq!(check(banned, "crates/api/src/money.rs", text), [0; 0]);
        assert_eq!(check(banned, path, "fn of64(half32: u8) {} // .await"), [0; 0]);
    }

    #[test]
    fn app_knows_no_version_and_no_http() {
        let text = "fn f(v: Version) {}\nuse axum::Router;\nhttp::Status\nserde_json::json!(1)";
        assert_eq!(check(banned, "crates/app/src/apply.rs", text), [1, 2, 3, 4]);
        let fine = "struct ConversionError; // Version\nlet v = \"Version\"; xhttp::y";
        assert_eq!(check(banned, "crates/app/src/apply.rs", fine), [0; 0]);
    }

    #[test]
    fn drivers_are_named_by_the_seam_alone() {
        let text = "use rusqlite::Connection;\nuse tokio_postgres_rustls::Make;\n// rusqlite";
        assert_eq!(check(drivers, "crates/store/src/orders.rs", text), [1, 2]);
        for path in ["crates/store/src/sql/sqlite.rs", "bench/src/main.rs", "e2e/tests/a.rs"] {
            assert_eq!(check(drivers, path, text), [0; 0], "{path}");
        }
    }

    #[test]
    fn sql_is_written_in_the_store_alone() {
        let text =
            "f(\"SELECT 1\");\ng(r\"\n  INSERT\n  INTO t\");\nh(\"SELECTED x\", \"Update y\");";
        assert_eq!(check(sql, "crates/app/src/apply.rs", text), [1, 2]);
        assert_eq!(check(sql, "crates/store/src/orders.rs", text), [0; 0]);
        assert_eq!(check(sql, "crates/api/tests/all.rs", text), [0; 0]);
    }

    #[test]
    fn nothing_is_left_for_later() {
        let text =
            "todo!()\nunimplemented!()\n#[ignore]\n#[allow(dead_code)]\n#![allow(x)]\n// FIX";
        let text = format!("{text}ME\n#[expect(x, reason = \"todo!()\")]");
        assert_eq!(check(unfinished, "crates/app/src/a.rs", &text), [1, 2, 3, 4, 5, 6]);
        assert_eq!(check(unfinished, "a.sql", &["-- FIX", "ME"].concat()), [1]);
    }
}
