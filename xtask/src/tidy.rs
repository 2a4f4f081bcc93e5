//! `cargo xtask tidy`: the rules of ARCHITECTURE.md and STYLE.md that a program can check.
//!
//! A rule is a small function from sources to findings. Tests beside it show that it bites.

mod floors;
mod layout;
mod lexer;
mod licences;
mod lockfile;
mod outside;
mod page;
mod source;
mod words;

use std::fmt;

use source::Source;

/// A place that breaks a rule, and what to do there.
#[derive(Debug, PartialEq, PartialOrd, Eq, Ord)]
struct Finding {
    file: String,
    line: usize,
    rule: &'static str,
    advice: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {} — {}", self.file, self.line, self.rule, self.advice)
    }
}

type Findings = Vec<Finding>;

/// Rules that need no more than one file.
const OF_ONE_FILE: [fn(&Source) -> Findings; 9] = [
    layout::header,
    layout::length,
    layout::lines,
    layout::name,
    outside::references,
    words::banned,
    words::drivers,
    words::sql,
    words::unfinished,
];

/// Rules about files together.
const OF_ALL_FILES: [fn(&[Source]) -> Findings; 3] =
    [floors::floors, lockfile::versions, page::names_every_crate];

pub(crate) fn run() -> Result<(), String> {
    let sources = source::load()?;
    let mut findings: Findings = sources
        .iter()
        .flat_map(|file| OF_ONE_FILE.iter().flat_map(move |rule| rule(file)))
        .collect();
    findings.extend(OF_ALL_FILES.iter().flat_map(|rule| rule(&sources)));
    findings.extend(licences::licences()?);
    findings.sort();
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => Ok(()),
        n => Err(format!("{n} places break a rule")),
    }
}

/// The lines of the findings, for tests.
#[cfg(test)]
fn lines(findings: &[Finding]) -> Vec<usize> {
    findings.iter().map(|finding| finding.line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_can_be_clicked() {
        let file = "crates/app/src/apply.rs".to_owned();
        let finding = Finding { file, line: 7, rule: "width", advice: "break it".into() };
        assert_eq!(finding.to_string(), "crates/app/src/apply.rs:7: width — break it");
    }
}
