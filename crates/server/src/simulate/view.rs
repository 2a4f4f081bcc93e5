//! What a person sees of travellers who play: a picture that is drawn anew in place on a terminal,
//! a line now and then elsewhere, or nothing.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use app::Rt;

use super::score::{HAPPENINGS, Meter, Score, Shared};
use crate::output::{self, Ink, grouped};

/// How often the picture is drawn.
const FRAME: Duration = Duration::from_millis(500);
/// How often there is a line where there is no picture.
const LINE: Duration = Duration::from_secs(5);
/// Columns of the picture: what is longer would break it.
const WIDTH: usize = 78;

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// A person at a terminal.
    Picture,
    /// A log.
    Lines,
    /// Nobody.
    Nothing,
}

impl View {
    /// What fits standard output.
    pub(crate) fn of_stdout() -> Self {
        if std::io::stdout().is_terminal() { Self::Picture } else { Self::Lines }
    }

    /// Something that is said once.
    pub(super) fn say(self, text: &str) {
        if self != Self::Nothing {
            output::note(text);
        }
    }

    /// Shows the score until it is dropped.
    pub(super) async fn show(self, score: &Shared, url: &str, clock: &Rt) {
        let mut drawn = Drawn(0);
        loop {
            match self {
                Self::Picture => {
                    drawn.draw(&picture(&score.lock(), clock.monotonic(), url, Ink::of_stdout()));
                    clock.sleep(FRAME).await;
                }
                Self::Lines => {
                    clock.sleep(LINE).await;
                    output::line(&line(&score.lock(), clock.monotonic()));
                }
                Self::Nothing => std::future::pending().await,
            }
        }
    }
}

/// The lines of the picture that stands there. The cursor is hidden while it does.
struct Drawn(usize);

impl Drawn {
    fn draw(&mut self, lines: &[String]) {
        let up = if self.0 > 0 { format!("\x1b[{}A", self.0) } else { "\x1b[?25l".to_owned() };
        let text = lines.join("\x1b[K\n");
        let mut stdout = std::io::stdout();
        let _closed = write!(stdout, "{up}\r{text}\x1b[K\n\x1b[J").and_then(|()| stdout.flush());
        self.0 = lines.len();
    }
}

impl Drop for Drawn {
    fn drop(&mut self) {
        if self.0 > 0 {
            let mut stdout = std::io::stdout();
            let _closed = write!(stdout, "\x1b[?25h").and_then(|()| stdout.flush());
        }
    }
}

fn picture(score: &Score, now: Duration, url: &str, ink: Ink) -> Vec<String> {
    let fact = |name: &str, value: &str, rate: &str, more: &str| {
        let line = format!("  {}{value:>9}", ink.quiet(&format!("{name:<10}")));
        if more.is_empty() { line } else { format!("{line}{rate:>10}  {}", ink.quiet(more)) }
    };
    let title = format!("simulated travellers at {url}, for {}", time(now));
    let (sent, callbacks) = (&score.sent, &score.callbacks);
    let rates = [sent, callbacks].map(|meter| per_second(meter, now));
    let mut lines = vec![
        String::new(),
        format!("  {}  {}", ink.bold("Tern"), cut(&title, WIDTH - 8)),
        String::new(),
        fact("eSIMs", &grouped(score.esims), "", ""),
        fact("Records", &grouped_u64(sent.total), &rates[0], &verdicts(score)),
        fact("Callbacks", &grouped_u64(callbacks.total), &rates[1], &lag(score, now)),
        fact("Data", &data(score.bytes), "", ""),
        fact("Bundles", &grouped_u64(score.bought), "", "bought when one was used up"),
        String::new(),
    ];
    lines.extend(score.happenings.iter().map(|words| format!("  {}", cut(words, WIDTH))));
    // The same height from the start.
    let missing = HAPPENINGS.saturating_sub(score.happenings.len());
    lines.extend(std::iter::repeat_n(String::new(), missing + 1));
    lines.push(ink.quiet("  Ctrl-C ends it."));
    lines
}

fn line(score: &Score, now: Duration) -> String {
    let [sent, callbacks] = [&score.sent, &score.callbacks]
        .map(|meter| (grouped_u64(meter.total), per_second(meter, now)));
    format!(
        "{}: {} records, {} ({}); {} callbacks, {} ({}); {} used",
        time(now),
        sent.0,
        sent.1,
        verdicts(score),
        callbacks.0,
        callbacks.1,
        lag(score, now),
        data(score.bytes)
    )
}

/// How it ended, for people.
pub(super) fn totals(score: &Score, now: Duration) {
    let count = |count: u64| format!("{:>11}", grouped_u64(count));
    output::pairs(&[
        ("time", format!("{:>11}", time(now))),
        ("esims", count(score.esims as u64)),
        ("sent", count(score.sent.total)),
        ("accepted", count(score.accepted)),
        ("duplicate", count(score.duplicate)),
        ("rejected", count(score.rejected)),
        ("callbacks", count(score.callbacks.total)),
        ("data", format!("{:>11}", data(score.bytes))),
        ("bought", count(score.bought)),
    ]);
}

fn per_second(meter: &Meter, now: Duration) -> String {
    let tenths = meter.tenths(now);
    format!("{}.{}/s", tenths / 10, tenths % 10)
}

fn verdicts(score: &Score) -> String {
    let [accepted, duplicate, rejected] =
        [score.accepted, score.duplicate, score.rejected].map(grouped_u64);
    format!("{accepted} accepted, {duplicate} duplicate, {rejected} rejected")
}

fn lag(score: &Score, now: Duration) -> String {
    match score.lag(now) {
        _ if !score.is_listening => "not listened for".to_owned(),
        Some((half, most)) => {
            format!("{} ms after the record, 99 % in {} ms", half.as_millis(), most.as_millis())
        }
        None if score.callbacks.total == 0 => "no callbacks yet".to_owned(),
        None => "none in the last minute".to_owned(),
    }
}

fn grouped_u64(count: u64) -> String {
    grouped(usize::try_from(count).unwrap_or(usize::MAX))
}

/// `950 B`, `12 MB`, `1.4 GB`.
pub(super) fn data(bytes: i64) -> String {
    let tenths = |unit: i64| format!("{}.{}", bytes / unit, bytes / (unit / 10) % 10);
    if bytes < 1_000_000 {
        format!("{bytes} B")
    } else if bytes < 1_000_000_000 {
        format!("{} MB", bytes / 1_000_000)
    } else if bytes < 1_000_000_000_000 {
        format!("{} GB", tenths(1_000_000_000))
    } else {
        format!("{} TB", tenths(1_000_000_000_000))
    }
}

/// `7 s`, `3 min 5 s`, `2 h 5 min`.
fn time(spent: Duration) -> String {
    let seconds = spent.as_secs();
    match (seconds / 3_600, seconds % 3_600 / 60) {
        (0, 0) => format!("{seconds} s"),
        (0, minutes) => format!("{minutes} min {} s", seconds % 60),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    text.chars().take(columns - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score() -> Score {
        let mut score = Score::default();
        (score.esims, score.accepted, score.bytes) = (20, 1_204, 24_310_000_000);
        score.is_listening = true;
        score.sent.add(1_204, Duration::from_secs(61));
        score.happened("8943…26411 in Spain used 12 MB, 412 MB left");
        score
    }

    #[test]
    fn the_picture_fits_a_terminal() {
        let mut score = score();
        score.happened(&"x".repeat(200));
        let lines = picture(&score, Duration::from_secs(65), &"u".repeat(99), Ink::plain());
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
        let all = lines.join("\n");
        for told in
            ["1,204   120.4/s  1,204", "1,204 accepted, 0 dup", "no callbacks yet", "24.3 GB"]
        {
            assert!(all.contains(told), "{told}: {all}");
        }
        assert!(all.contains("  8943…26411 in Spain used 12 MB, 412 MB left\n"), "{all}");
    }

    #[test]
    fn a_line_says_the_same() {
        assert_eq!(
            line(&score(), Duration::from_secs(65)),
            "1 min 5 s: 1,204 records, 120.4/s (1,204 accepted, 0 duplicate, 0 rejected); \
             0 callbacks, 0.0/s (no callbacks yet); 24.3 GB used"
        );
    }

    #[test]
    fn numbers_are_for_people() {
        assert_eq!(
            [0, 999_999, 12_345_678, 1_450_000_000, 2_000_000_000_000].map(data),
            ["0 B", "999999 B", "12 MB", "1.4 GB", "2.0 TB"]
        );
        let told = [7, 185, 7_500].map(|seconds| time(Duration::from_secs(seconds)));
        assert_eq!(told, ["7 s", "3 min 5 s", "2 h 5 min"]);
    }
}
