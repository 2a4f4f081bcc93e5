//! How a file of Rust looks: its name, its first line, its length and the width of its lines.

use super::Finding;
use super::source::{Source, numbered};

const LINES_MAX: usize = 500;
const TEST_LINES_MAX: usize = 800;
const COLUMNS_MAX: usize = 100;

/// Names that say nothing and so collect everything.
const DUSTY: [&str; 4] = ["utils.rs", "helpers.rs", "common.rs", "types.rs"];

/// Every file says first what it is for.
pub(super) fn header(file: &Source) -> Vec<Finding> {
    if !file.is("rs") || file.file_name() == "build.rs" || file.text.starts_with("//!") {
        return Vec::new();
    }
    vec![file.finding(1, "header", "begin with a `//!` sentence that says what the file is for")]
}

/// A file can be read in one go.
pub(super) fn length(file: &Source) -> Vec<Finding> {
    let max = if file.is_test() { TEST_LINES_MAX } else { LINES_MAX };
    let lines = file.text.lines().count();
    if !file.is("rs") || lines <= max {
        return Vec::new();
    }
    vec![file.finding(max + 1, "length", &format!("{lines} lines, at most {max}; divide the file"))]
}

/// A line fits beside another one on the screen, and looks the same everywhere.
pub(super) fn lines(file: &Source) -> Vec<Finding> {
    if !file.is("rs") {
        return Vec::new();
    }
    let wide = numbered(&file.text).filter(|(_, line)| is_too_wide(line));
    let wide = wide.map(|(number, line)| {
        let columns = line.chars().count();
        file.finding(number, "width", &format!("{columns} columns, at most {COLUMNS_MAX}"))
    });
    let tabs = numbered(&file.text).filter(|(_, line)| line.contains('\t'));
    let tabs = tabs.map(|(number, _)| file.finding(number, "tab", "indent with blanks"));
    wide.chain(tabs).collect()
}

/// Text without a blank, such as a key or an address, cannot be broken.
fn is_too_wide(line: &str) -> bool {
    let unbreakable = line.contains('"') && !line.trim().contains(' ');
    line.chars().count() > COLUMNS_MAX && !unbreakable
}

/// A file is named after a thing of the trade.
pub(super) fn name(file: &Source) -> Vec<Finding> {
    let name = file.file_name();
    if DUSTY.contains(&name) {
        return vec![file.finding(1, "name", "name the file after what it holds")];
    }
    let allowed = file.path.starts_with("crates/store/src/sql/") || file.path.contains("/tests/");
    if name == "mod.rs" && !allowed {
        return vec![file.finding(1, "name", "the root of a module is `name.rs` beside `name/`")];
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::super::lines as numbers;
    use super::*;

    fn check(rule: fn(&Source) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        numbers(&rule(&Source::new(path, text)))
    }

    #[test]
    fn a_file_begins_with_its_purpose() {
        assert_eq!(check(header, "a.rs", "use std::fmt;\n"), [1]);
        assert_eq!(check(header, "a.rs", "\n//! Late.\n"), [1]);
        assert_eq!(check(header, "a.rs", "//! What it is for.\n"), [0; 0]);
        assert_eq!(check(header, "x/build.rs", ""), [0; 0]);
        assert_eq!(check(header, "a.md", ""), [0; 0]);
    }

    #[test]
    fn a_file_is_not_too_long() {
        assert_eq!(check(length, "a.rs", &"x\n".repeat(500)), [0; 0]);
        assert_eq!(check(length, "a.rs", &"x\n".repeat(501)), [501]);
        assert_eq!(check(length, "a/tests/b.rs", &"x\n".repeat(800)), [0; 0]);
        assert_eq!(check(length, "a/tests/b.rs", &"x\n".repeat(801)), [801]);
    }

    #[test]
    fn a_line_is_not_too_wide_and_has_no_tab() {
        let wide = format!("//! a {}", "ü".repeat(95));
        assert_eq!(check(lines, "a.rs", &wide), [1]);
        assert_eq!(check(lines, "a.rs", &wide[..wide.len() - 2]), [0; 0]);
        assert_eq!(check(lines, "a.rs", &format!("    \"{}\",", "k".repeat(120))), [0; 0]);
        assert_eq!(check(lines, "a.rs", "x\n\ty"), [2]);
        assert_eq!(check(lines, "a.sql", &wide), [0; 0]);
    }

    #[test]
    fn a_name_says_something() {
        for path in
            ["crates/app/src/utils.rs", "e2e/tests/helpers.rs", "crates/app/src/jobs/mod.rs"]
        {
            assert_eq!(check(name, path, ""), [1], "{path}");
        }
        for path in ["crates/store/src/sql/mod.rs", "e2e/tests/world/mod.rs", "a/jobs.rs"] {
            assert_eq!(check(name, path, ""), [0; 0], "{path}");
        }
    }
}
