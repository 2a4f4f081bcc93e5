//! The files of the repository, as the rules see them.

use std::process::Command;

use super::Finding;
use super::lexer::{self, Scan};
use crate::process;

/// A text file. Of Rust also the code without comments and text, and the text apart.
pub(super) struct Source {
    pub(super) path: String,
    pub(super) text: String,
    pub(super) scan: Scan,
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let rust = has_extension(path, "rs");
        let scan = if rust { lexer::scan(text) } else { Scan::default() };
        Self { path: path.to_owned(), text: text.to_owned(), scan }
    }

    pub(super) fn is(&self, extension: &str) -> bool {
        has_extension(&self.path, extension)
    }

    pub(super) fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Black-box and integration tests; tests beside the code count as code.
    pub(super) fn is_test(&self) -> bool {
        self.path.starts_with("e2e/") || self.path.contains("/tests/")
    }

    /// A bench compares us with the bare drivers, so it may do what nobody else may.
    pub(super) fn is_bench(&self) -> bool {
        self.path.starts_with("bench/")
    }

    pub(super) fn finding(&self, line: usize, rule: &'static str, advice: &str) -> Finding {
        Finding { file: self.path.clone(), line, rule, advice: advice.to_owned() }
    }

    /// The number of the first line that holds a text, or of the first line of all.
    pub(super) fn line_of(&self, needle: &str) -> usize {
        self.text.lines().position(|line| line.contains(needle)).map_or(1, |at| at + 1)
    }
}

/// Everything that is committed or could be.
pub(super) fn load() -> Result<Vec<Source>, String> {
    let mut git = Command::new("git");
    git.current_dir(process::root());
    // In a container the folder often belongs to somebody else, and a list of names is harmless.
    git.args(["-c", "safe.directory=*", "ls-files", "-z", "-co", "--exclude-standard"]);
    let names = process::output(&mut git)?;
    let names = names.split('\0').filter(|name| !name.is_empty());
    // A file that was deleted but is not committed so cannot be read, nor can one that is no text.
    let read = |name: &str| {
        let text = std::fs::read_to_string(process::root().join(name)).ok()?;
        Some(Source::new(name, &text))
    };
    Ok(names.filter_map(read).collect())
}

/// Each line with its number, as editors count.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line))
}

/// Does the line hold the needle where no longer word begins before it?
pub(super) fn begins_word(line: &str, needle: &str) -> bool {
    places(line, needle).any(|at| !line[..at].ends_with(is_word))
}

/// Does the line hold the needle as a whole word?
pub(super) fn has_word(line: &str, needle: &str) -> bool {
    places(line, needle)
        .any(|at| !line[..at].ends_with(is_word) && !line[at + needle.len()..].starts_with(is_word))
}

fn places(line: &str, needle: &str) -> impl Iterator<Item = usize> {
    line.match_indices(needle).map(|(at, _)| at)
}

pub(super) fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

fn has_extension(path: &str, extension: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, end)| end == extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_two_ends() {
        assert!(has_word("use api::Version;", "Version"));
        assert!(!has_word("ApiVersion, Versions, Version_2", "Version"));
        assert!(begins_word("serde_json::Value", "serde"));
        assert!(!begins_word("deserde()", "serde"));
    }

    #[test]
    fn a_file_knows_its_kind() {
        let of = |path: &str| Source::new(path, "");
        assert!(of("crates/store/tests/all.rs").is_test() && of("e2e/src/world.rs").is_test());
        assert!(!of("crates/store/src/tests_run.rs").is_test());
        assert!(of("bench/src/main.rs").is_bench() && of("a/b.rs").file_name() == "b.rs");
    }
}
