//! Every statement of the store prepares on both databases. The statements are found by scanning
//! the source, so none can be left out.

use std::path::{Path, PathBuf};

use store::StoreError;

use crate::fixture::Fixture;
use crate::on_both;

on_both! { every_statement_prepares }

async fn every_statement_prepares(fixture: Fixture) {
    let statements = statements();
    assert!(statements.len() >= 25, "the scan finds the statements: {}", statements.len());
    let store = fixture.store().await;
    for (place, sql) in statements {
        // The journal's own table is made by the migration that this store has run.
        let checked: Result<(), StoreError> = store.read(move |tx| tx.check(&sql)).await;
        assert_eq!(checked, Ok(()), "{place}");
    }
}

/// The statement of that name in a file of the source.
pub(crate) fn statement(file: &str, name: &str) -> String {
    let end = format!("/src/{file}: {name}");
    let found = statements().into_iter().find(|(place, _)| place.ends_with(&end));
    found.unwrap_or_else(|| panic!("no statement {name} in {file}")).1
}

/// Every `const NAME: &str = "…"` of the source that is a statement.
pub(crate) fn statements() -> Vec<(String, String)> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    for file in rust_files(&source) {
        let text = std::fs::read_to_string(&file).expect("readable source");
        for (at, _) in text.match_indices("const ") {
            let Some((name, rest)) = text[at + 6..].split_once(": &str") else { continue };
            let is_name = name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
            let Some(open) = rest.find('"').filter(|_| is_name) else { continue };
            let sql = literal(&rest[open + 1..]);
            let starts = ["SELECT ", "INSERT ", "UPDATE ", "DELETE ", "WITH "];
            if starts.iter().any(|start| sql.starts_with(start)) {
                let sql = sql.replace("{list}", &format!("${}", next_parameter(&sql)));
                found.push((format!("{}: {name}", file.display()), sql));
            }
        }
    }
    found
}

/// The number of the first parameter that a statement does not have.
pub(crate) fn next_parameter(sql: &str) -> usize {
    let missing = |n: &usize| !sql.contains(&format!("${n}"));
    (1..100).find(missing).expect("fewer than a hundred parameters")
}

/// The text of a string literal, up to its closing quote, with continued lines joined.
fn literal(text: &str) -> String {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' if chars.peek() == Some(&'\n') => {
                while chars.peek().is_some_and(|c| c.is_whitespace()) {
                    chars.next();
                }
            }
            '\\' => out.extend(chars.next()),
            other => out.push(other),
        }
    }
    out
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
    files
}
