//! How far a long import is, for whoever waits: a line that moves on a terminal, a line now and
//! then in a log.

use std::io::{self, IsTerminal, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use store::Rt;

use super::Tally;
use crate::output::{grouped, note};

const BAR: usize = 24;
/// How often the line moves.
const STEP: Duration = Duration::from_millis(100);
/// How many lines there are between two notes in a log.
const NOTE_LINES: usize = 100_000;

/// A source that knows how much of it was read.
pub(in crate::commands) struct Counted<R> {
    source: R,
    bytes: Arc<AtomicU64>,
}

impl<R> Counted<R> {
    pub(in crate::commands) fn new(source: R) -> Self {
        Self { source, bytes: Arc::default() }
    }

    /// The bytes read so far, also later.
    pub(in crate::commands) fn count(&self) -> Arc<AtomicU64> {
        self.bytes.clone()
    }
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        self.bytes.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

pub(in crate::commands) struct Progress {
    rt: Rt,
    started: Duration,
    bytes: Arc<AtomicU64>,
    size: Option<u64>,
    is_terminal: bool,
    /// What lines are called that are in now.
    taken: &'static str,
    /// When the line moved last, while it stands there.
    drawn: Option<Duration>,
    noted: usize,
}

impl Progress {
    pub(in crate::commands) fn new(
        bytes: Arc<AtomicU64>,
        size: Option<u64>,
        taken: &'static str,
    ) -> Self {
        let rt = Rt::real();
        let (started, is_terminal) = (rt.monotonic(), io::stderr().is_terminal());
        Self { rt, started, bytes, size, is_terminal, taken, drawn: None, noted: 0 }
    }

    pub(in crate::commands) fn show(&mut self, tally: Tally) {
        let now = self.rt.monotonic();
        let spent = now.saturating_sub(self.started);
        if !self.is_terminal {
            let notes = tally.lines() / NOTE_LINES;
            if notes > self.noted {
                self.noted = notes;
                note(&told(tally, self.taken, spent));
            }
            return;
        }
        if self.drawn.is_some_and(|drawn| now.saturating_sub(drawn) < STEP) {
            return;
        }
        self.drawn = Some(now);
        let read = self.bytes.load(Ordering::Relaxed);
        let line = line(tally, spent, self.size.map(|size| (read, size)));
        let mut stderr = io::stderr();
        let _closed = write!(stderr, "\r{line}\x1b[K").and_then(|()| stderr.flush());
    }

    /// Makes room for another line.
    pub(in crate::commands) fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _closed = write!(io::stderr(), "\r\x1b[K");
        }
    }

    pub(in crate::commands) fn end(&mut self) {
        self.clear();
    }
}

fn told(tally: Tally, taken: &str, spent: Duration) -> String {
    let Tally { taken: count, known, rejected } = tally;
    let [lines, count, known, rejected] = [tally.lines(), count, known, rejected].map(grouped);
    let rate = grouped(rate(tally.lines(), spent));
    format!("{lines} lines: {count} {taken}, {known} known, {rejected} rejected, {rate} a second")
}

fn line(tally: Tally, spent: Duration, bytes: Option<(u64, u64)>) -> String {
    let (lines, rate) = (grouped(tally.lines()), grouped(rate(tally.lines(), spent)));
    let Some((read, size)) = bytes.filter(|(read, size)| *read > 0 && read <= size) else {
        return format!("{lines} lines  {rate}/s");
    };
    let share = |whole: usize| {
        let part = whole as u128 * u128::from(read) / u128::from(size);
        usize::try_from(part).unwrap_or(whole)
    };
    let done = share(BAR);
    let bar = format!("{}{}", "#".repeat(done), "-".repeat(BAR - done));
    let left = spent.as_millis() * u128::from(size - read) / u128::from(read) / 1_000;
    format!("[{bar}] {:>3} %  {lines} lines  {rate}/s  {} left", share(100), clock(left))
}

fn rate(lines: usize, spent: Duration) -> usize {
    let ms = usize::try_from(spent.as_millis()).unwrap_or(usize::MAX).max(1);
    lines.saturating_mul(1_000) / ms
}

/// `7 s`, `3 min`, `2 h 5 min`.
fn clock(seconds: u128) -> String {
    match (seconds / 3_600, seconds % 3_600 / 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_how_far_it_is() {
        let tally = Tally { taken: 41_000, known: 900, rejected: 100 };
        let spent = Duration::from_secs(5);
        assert_eq!(
            line(tally, spent, Some((42, 100))),
            "[##########--------------]  42 %  42,000 lines  8,400/s  6 s left"
        );
        assert_eq!(line(tally, spent, None), "42,000 lines  8,400/s");
        assert_eq!(line(tally, spent, Some((0, 0))), "42,000 lines  8,400/s");
        assert_eq!(
            told(tally, "added", spent),
            "42,000 lines: 41,000 added, 900 known, 100 rejected, 8,400 a second"
        );
        assert_eq!([59, 61, 7_500].map(clock), ["59 s", "1 min", "2 h 5 min"]);
    }
}
