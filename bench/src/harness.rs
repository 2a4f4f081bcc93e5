//! Runs a case against its reference, turn by turn in one process, and judges the ratio of the two.
//!
//! Absolute numbers say more about the machine than about us. What stays true on another machine is
//! how we compare with something well known that did the same work a moment before.

mod meter;

pub(crate) use meter::{cpu_time_of, timed};

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use meter::{TICK, fsync_time};
use serde_json::{Value, json};

/// A median of fewer rounds is no median.
pub(crate) const ROUNDS_MIN: usize = 3;

/// How far the reference may move between its rounds, fastest over slowest.
const CALM_MAX: f64 = 1.3;

/// How often a case is measured again because its reference moved too far.
const REPEATS_MAX: usize = 3;

/// What one round did and what it cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) ops: u64,
    pub(crate) wall: Duration,
    /// Of this process and of children that were waited for; see `timed`.
    pub(crate) cpu: Duration,
}

impl Sample {
    /// Operations per second of the clock.
    fn rate(&self) -> f64 {
        per_second(self.ops, self.wall)
    }

    /// Operations per second of processor time; what is too little to measure counts as one tick.
    fn cpu_rate(&self) -> f64 {
        per_second(self.ops, self.cpu.max(TICK))
    }
}

/// The ratio a case must keep.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bar {
    AtLeast(f64),
    AtMost(f64),
}

/// Which time the ratio is taken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum By {
    /// What a waiting person sees.
    Clock,
    /// What it costs, whoever else shares the machine.
    Processor,
}

impl Bar {
    pub(crate) fn is_kept(self, ratio: f64) -> bool {
        match self {
            Self::AtLeast(limit) => ratio >= limit,
            Self::AtMost(limit) => ratio <= limit,
        }
    }

    fn limit(self) -> f64 {
        match self {
            Self::AtLeast(limit) | Self::AtMost(limit) => limit,
        }
    }

    fn sign(self) -> &'static str {
        match self {
            Self::AtLeast(_) => "≥",
            Self::AtMost(_) => "≤",
        }
    }
}

/// One comparison. Each closure runs one round of the same work.
pub(crate) struct Case<'a> {
    pub(crate) bench: &'static str,
    pub(crate) case: String,
    /// What is counted, for people: `orders/s`.
    pub(crate) unit: &'static str,
    pub(crate) bar: Bar,
    pub(crate) by: By,
    /// Where the data lies: syncing is timed there.
    pub(crate) dir: PathBuf,
    pub(crate) ours: Box<dyn FnMut() -> Sample + 'a>,
    pub(crate) reference: Box<dyn FnMut() -> Sample + 'a>,
}

/// A judged case. Rates are medians of the rounds.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub(crate) bench: &'static str,
    pub(crate) case: String,
    pub(crate) unit: &'static str,
    pub(crate) bar: Bar,
    pub(crate) ours: f64,
    pub(crate) reference: f64,
    pub(crate) ratio: f64,
    pub(crate) cpu_ratio: f64,
    pub(crate) fsync_before: Duration,
    pub(crate) fsync_after: Duration,
    /// The reference never held still, so the ratio means little.
    pub(crate) noisy: bool,
    pub(crate) ok: bool,
}

/// A case that is looked at once: no time is taken.
pub(crate) fn single(
    (bench, case, unit): (&'static str, &str, &'static str),
    bar: Bar,
    ours: f64,
    reference: f64,
) -> Outcome {
    let ratio = ours / reference;
    Outcome {
        bench,
        case: case.to_owned(),
        unit,
        bar,
        ours,
        reference,
        ratio,
        cpu_ratio: ratio,
        fsync_before: Duration::ZERO,
        fsync_after: Duration::ZERO,
        noisy: false,
        ok: bar.is_kept(ratio),
    }
}

/// Measures a case, again if the machine was restless, and keeps the calmest measurement.
pub(crate) fn run(mut case: Case<'_>, rounds: usize) -> Outcome {
    let fsync_before = fsync_time(&case.dir);
    let mut calmest = measure(&mut case, rounds);
    for _ in 0..REPEATS_MAX {
        if calmest.is_calm() {
            break;
        }
        let again = measure(&mut case, rounds);
        if again.spread() < calmest.spread() {
            calmest = again;
        }
    }
    let fsync_after = fsync_time(&case.dir);
    let outcome = judge(&case, &calmest, (fsync_before, fsync_after));
    // Whoever waits for a long bench sees how it goes.
    eprintln!("{}", outcome.line());
    outcome
}

fn judge(case: &Case<'_>, measured: &Measurement, fsync: (Duration, Duration)) -> Outcome {
    let rate = |sample: &Sample| match case.by {
        By::Clock => sample.rate(),
        By::Processor => sample.cpu_rate(),
    };
    let ours = median(measured.ours.iter().map(rate));
    let reference = median(measured.reference.iter().map(rate));
    let ratio = ours / reference;
    let cpu_ratio = median(measured.ours.iter().map(Sample::cpu_rate))
        / median(measured.reference.iter().map(Sample::cpu_rate));
    Outcome {
        bench: case.bench,
        case: case.case.clone(),
        unit: case.unit,
        bar: case.bar,
        ours,
        reference,
        ratio,
        cpu_ratio,
        fsync_before: fsync.0,
        fsync_after: fsync.1,
        noisy: !measured.is_calm(),
        ok: case.bar.is_kept(ratio),
    }
}

/// All rounds of one try.
struct Measurement {
    ours: Vec<Sample>,
    reference: Vec<Sample>,
}

/// Turn by turn, so that a machine that slows down slows down both.
fn measure(case: &mut Case<'_>, rounds: usize) -> Measurement {
    let mut measured = Measurement { ours: Vec::new(), reference: Vec::new() };
    for _ in 0..rounds.max(ROUNDS_MIN) {
        measured.reference.push((case.reference)());
        measured.ours.push((case.ours)());
    }
    measured
}

impl Measurement {
    fn is_calm(&self) -> bool {
        self.spread() <= CALM_MAX
    }

    /// The fastest round of the reference over its slowest.
    fn spread(&self) -> f64 {
        let rates = || self.reference.iter().map(Sample::rate);
        rates().fold(0.0, f64::max) / rates().fold(f64::INFINITY, f64::min)
    }
}

impl Outcome {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "bench": self.bench,
            "case": self.case,
            "ours": rounded(self.ours),
            "reference": rounded(self.reference),
            "ratio": rounded(self.ratio),
            "bar": self.bar.limit(),
            "ok": self.ok,
            "noisy": self.noisy,
            "unit": self.unit,
            "cpuRatio": rounded(self.cpu_ratio),
            "fsyncBeforeUs": micros(self.fsync_before),
            "fsyncAfterUs": micros(self.fsync_after),
        })
    }

    fn line(&self) -> String {
        let Self { bench, case, unit, bar, ours, reference, ratio, cpu_ratio, .. } = self;
        let name = format!("{bench}/{case}");
        let verdict = if self.ok { "ok" } else { "FAILED" };
        let noisy = if self.noisy { ", noisy" } else { "" };
        format!(
            "{name:<36} {ours:>12.0} {reference:>12.0} {unit:<13} {ratio:>7.2} {} {:<5} \
             {cpu_ratio:>6.2} {:>6}/{:<6} {verdict}{noisy}",
            bar.sign(),
            bar.limit(),
            micros(self.fsync_before),
            micros(self.fsync_after),
        )
    }
}

/// The results as JSON, one list.
pub(crate) fn as_json(outcomes: &[Outcome]) -> String {
    Value::Array(outcomes.iter().map(Outcome::to_json).collect()).to_string()
}

/// The results as a table for people.
pub(crate) fn as_table(outcomes: &[Outcome]) -> String {
    let mut text = format!(
        "{:<36} {:>12} {:>12} {:<13} {:>7} {:<7} {:>6} {:<13}\n",
        "case", "ours", "reference", "unit", "ratio", "bar", "cpu", "fsync µs",
    );
    for outcome in outcomes {
        writeln!(text, "{}", outcome.line()).expect("a string takes all text");
    }
    text
}

/// The middle one, or the mean of the two in the middle.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        return values[middle];
    }
    f64::midpoint(values[middle - 1], values[middle])
}

#[expect(clippy::cast_precision_loss, reason = "a round has far fewer than 2^52 operations")]
fn per_second(ops: u64, time: Duration) -> f64 {
    ops as f64 / time.as_secs_f64()
}

/// Three digits after the point are more than any of this deserves.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::slice::from_ref;

    fn sample(ops: u64) -> Sample {
        Sample { ops, wall: Duration::from_secs(1), cpu: Duration::from_millis(500) }
    }

    /// A case whose rounds have the given rates, in turn and from the start again.
    fn case<'a>(bar: Bar, ours: &'a [u64], reference: &'a [u64]) -> Case<'a> {
        let play = |rates: &'a [u64]| {
            let mut turns = rates.iter().cycle();
            Box::new(move || sample(*turns.next().expect("a cycle has no end")))
        };
        Case {
            bench: "test",
            case: "sample".into(),
            unit: "ops/s",
            bar,
            by: By::Clock,
            dir: std::env::temp_dir(),
            ours: play(ours),
            reference: play(reference),
        }
    }

    fn is_near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn the_median_is_in_the_middle() {
        assert!(is_near(median([3.0, 1.0, 100.0]), 3.0));
        assert!(is_near(median([4.0, 1.0, 2.0, 100.0]), 3.0));
        assert!(is_near(median([7.0]), 7.0));
    }

    #[test]
    fn the_ratio_is_that_of_the_medians() {
        let outcome = run(case(Bar::AtLeast(2.0), &[300, 100, 200], &[90, 100, 110]), 3);
        assert!(is_near(outcome.ratio, 2.0) && is_near(outcome.cpu_ratio, 2.0));
        assert!(outcome.ok && !outcome.noisy);
    }

    #[test]
    fn a_bar_is_a_floor_or_a_ceiling() {
        for (bar, ok) in [
            (Bar::AtLeast(1.0), true),
            (Bar::AtLeast(1.01), false),
            (Bar::AtMost(1.0), true),
            (Bar::AtMost(0.99), false),
        ] {
            assert_eq!(run(case(bar, &[100], &[100]), 3).ok, ok, "{bar:?}");
        }
    }

    #[test]
    fn a_restless_reference_is_measured_again_and_then_called_noisy() {
        let rounds = Cell::new(0_u32);
        let mut restless = case(Bar::AtLeast(1.0), &[100], &[]);
        restless.reference = Box::new(|| {
            rounds.set(rounds.get() + 1);
            sample(if rounds.get().is_multiple_of(3) { 131 } else { 100 })
        });
        assert!(run(restless, 3).noisy);
        assert_eq!(rounds.get(), 3 * 4, "once, and three times again");
    }

    #[test]
    fn a_reference_that_calms_down_is_not_noisy() {
        let reference = [100, 200, 100, 100, 110, 120];
        let outcome = run(case(Bar::AtLeast(0.9), &[100], &reference), 3);
        assert!(!outcome.noisy && is_near(outcome.reference, 110.0));
        assert!(!run(case(Bar::AtLeast(1.0), &[100], &[100, 130, 115]), 3).noisy);
    }

    #[test]
    fn there_are_three_rounds_at_least_and_the_reference_begins() {
        let order = std::cell::RefCell::new(String::new());
        let mut turns = case(Bar::AtLeast(1.0), &[], &[]);
        let turn = |name: char| {
            order.borrow_mut().push(name);
            sample(1)
        };
        turns.ours = Box::new(|| turn('o'));
        turns.reference = Box::new(|| turn('r'));
        run(turns, 1);
        assert_eq!(*order.borrow(), "rororo");
    }

    #[test]
    fn json_has_the_promised_fields() {
        let outcome = run(case(Bar::AtLeast(3.0), &[200], &[100]), 3);
        let all: Value = serde_json::from_str(&as_json(from_ref(&outcome))).expect("it is JSON");
        assert_eq!(all[0]["case"], "sample");
        assert_eq!(all[0]["ours"], 200.0);
        assert_eq!((&all[0]["ratio"], &all[0]["bar"]), (&json!(2.0), &json!(3.0)));
        assert_eq!((&all[0]["ok"], &all[0]["noisy"]), (&json!(false), &json!(false)));
        assert!(as_table(from_ref(&outcome)).contains("FAILED"));
    }
}
