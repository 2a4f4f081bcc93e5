//! What the command line prints: aligned for people, JSON for machines.

use std::fs;
use std::io::{IsTerminal, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde_json::Value;

/// Writes one line to stdout; a closed pipe is no fault of ours.
pub(crate) fn line(text: &str) {
    let _closed = writeln!(std::io::stdout(), "{text}");
}

/// Writes one line to stderr, for people who wait.
pub(crate) fn note(text: &str) {
    let _closed = writeln!(std::io::stderr(), "{text}");
}

/// A number as people read it: `1,234,567`.
pub(crate) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let (mut text, length) = (String::new(), digits.len());
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (length - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Prints JSON on one line.
pub(crate) fn json(value: &Value) {
    line(&value.to_string());
}

/// Prints rows under their heads, columns aligned.
pub(crate) fn table(heads: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<_> = (0..heads.len()).map(width).collect();
    let print = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        line(padded.collect::<Vec<_>>().join("  ").trim_end());
    };
    print(heads.to_vec());
    for row in rows {
        print(row.iter().map(String::as_str).collect());
    }
}

/// Prints names and values, one pair a line.
pub(crate) fn pairs(pairs: &[(&str, String)]) {
    let width = pairs.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in pairs {
        line(&format!("{name:<width$}  {value}"));
    }
}

/// Colours, on a terminal that wants them; never the only sign of anything.
#[derive(Clone, Copy)]
pub(crate) struct Ink(bool);

impl Ink {
    pub(crate) fn of_stdout() -> Self {
        Self(std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none())
    }

    #[cfg(test)]
    pub(crate) fn plain() -> Self {
        Self(false)
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn quiet(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn warn(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Writes a file that only its owner can read, in place of one that was left behind.
pub(crate) fn write_secret(path: &Path, text: &str) -> Result<(), String> {
    let in_file = |error: std::io::Error| format!("{}: {error}", path.display());
    // Not overwritten in place: the old one's mode may be wider.
    let _none = fs::remove_file(path);
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(path).map_err(in_file)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(in_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped() {
        for (number, text) in
            [(0, "0"), (999, "999"), (1_000, "1,000"), (12_345, "12,345"), (1_234_567, "1,234,567")]
        {
            assert_eq!(grouped(number), text);
        }
    }
}
