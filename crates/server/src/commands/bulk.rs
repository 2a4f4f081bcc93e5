//! Long files that are brought in step by step: where they come from, how far they are, what was
//! not taken, and how it ended.

mod progress;
mod rejected;

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) use self::progress::{Counted, Progress};
pub(super) use self::rejected::Rejected;
use crate::output::{self, grouped, note};

/// What is read, and how long it is if that is known.
pub(super) type Opened = (Counted<Box<dyn Read + Send>>, Option<u64>);

/// How many lines became what.
#[derive(Default, Clone, Copy)]
pub(super) struct Tally {
    /// They are in now.
    pub(super) taken: usize,
    /// They were in before.
    pub(super) known: usize,
    /// They were not taken.
    pub(super) rejected: usize,
}

impl Tally {
    pub(super) fn lines(self) -> usize {
        self.taken + self.known + self.rejected
    }

    /// An error that ends the import, with what stays and what to do.
    pub(super) fn broken_off(self, error: &impl ToString) -> String {
        format!(
            "{}\n  {} lines are done and stay done\n  next: the same command again",
            error.to_string(),
            grouped(self.lines())
        )
    }

    /// Prints the counts for people; those that are in have a name of their own.
    pub(super) fn print(self, taken: &str) {
        let shown = |count| format!("{:>11}", grouped(count));
        let Self { taken: count, known, rejected } = self;
        let counts =
            [(taken, shown(count)), ("known", shown(known)), ("rejected", shown(rejected))];
        output::pairs(&counts);
    }

    /// Says what to do about lines that were not taken, and how the command ends.
    pub(super) fn end(self, lists: &[PathBuf]) -> ExitCode {
        if self.lines() == 0 {
            note("There was no line to bring in.");
        }
        if self.rejected == 0 {
            return ExitCode::SUCCESS;
        }
        let shown: Vec<_> = lists.iter().map(|path| path.display().to_string()).collect();
        let listed = match shown.as_slice() {
            [] => String::new(),
            [one] => format!("; {one} lists them"),
            more => format!("; {} list them", more.join(" and ")),
        };
        note(&format!(
            "{} of the lines were not taken{listed}\n  next: mend them, then the same command \
             again; lines that are in already do no harm",
            grouped(self.rejected)
        ));
        ExitCode::FAILURE
    }
}

/// Opens a file, or standard input for `-`.
pub(super) fn open(path: &Path) -> Result<Opened, String> {
    if is_stdin(path) {
        return Ok((Counted::new(Box::new(std::io::stdin())), None));
    }
    let unread = |error| format!("{}: {error}\n  next: check the path", path.display());
    let file = File::open(path).map_err(unread)?;
    let size = file.metadata().map_err(unread)?.len();
    Ok((Counted::new(Box::new(file)), Some(size)))
}

pub(super) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}
