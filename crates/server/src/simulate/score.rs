//! What is counted while travellers play: records, callbacks, and how long one takes to cause the
//! other.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use super::travellers::Act;

/// Over how long a rate is taken.
const RATE_OVER: Duration = Duration::from_secs(10);
/// Over how long delays are looked at, and how long a record waits for its callback.
const LAG_OVER: Duration = Duration::from_mins(1);
/// Delays that are kept at most.
const LAGS_MAX: usize = 100_000;
/// Happenings that are shown.
pub(super) const HAPPENINGS: usize = 6;

/// A count, and how fast it grows.
#[derive(Default)]
pub(super) struct Meter {
    pub(super) total: u64,
    recent: VecDeque<(Duration, u64)>,
}

impl Meter {
    pub(super) fn add(&mut self, count: u64, now: Duration) {
        self.total += count;
        self.recent.push_back((now, count));
        self.forget(now);
    }

    /// Per second, in tenths.
    pub(super) fn tenths(&self, now: Duration) -> u64 {
        let over = now.clamp(Duration::from_secs(1), RATE_OVER);
        let recent = self.recent.iter().filter(|(at, _)| *at + RATE_OVER > now);
        let count: u64 = recent.map(|(_, count)| count).sum();
        count * 10_000 / u64::try_from(over.as_millis()).unwrap_or(1).max(1)
    }

    fn forget(&mut self, now: Duration) {
        while self.recent.front().is_some_and(|(at, _)| *at + RATE_OVER <= now) {
            self.recent.pop_front();
        }
    }
}

/// Everything so far. Times count from the start.
#[derive(Default)]
pub(super) struct Score {
    pub(super) esims: usize,
    pub(super) sent: Meter,
    pub(super) accepted: u64,
    pub(super) duplicate: u64,
    pub(super) rejected: u64,
    pub(super) callbacks: Meter,
    pub(super) bytes: i64,
    pub(super) bought: u64,
    pub(super) happenings: VecDeque<String>,
    /// Whether callbacks can come.
    pub(super) is_listening: bool,
    /// Records of each eSIM that have not caused a callback yet, oldest first.
    pending: HashMap<String, VecDeque<(u64, Duration)>>,
    lags: VecDeque<(Duration, Duration)>,
}

/// A score that several tasks write on.
#[derive(Clone, Default)]
pub(crate) struct Shared(Arc<Mutex<Score>>);

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, Score> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Score {
    /// Records go out. Told before they are sent: a callback may be quicker than the answer.
    pub(super) fn sending(&mut self, acts: &[Act], now: Duration) {
        self.sent.add(acts.len() as u64, now);
        if !self.is_listening {
            return;
        }
        for act in acts.iter().filter(|act| act.bytes > 0) {
            self.pending.entry(act.iccid.clone()).or_default().push_back((act.number, now));
        }
    }

    /// What became of a record.
    pub(super) fn judged(&mut self, act: &Act, verdict: &str, why: &str) {
        match verdict {
            "accepted" => {
                self.accepted += 1;
                self.bytes += act.bytes;
                self.happened(&act.words);
                return;
            }
            "duplicate" => self.duplicate += 1,
            _ => {
                self.rejected += 1;
                self.happened(&format!("a record about {} was rejected: {why}", act.iccid));
            }
        }
        if let Some(waiting) = self.pending.get_mut(&act.iccid) {
            waiting.retain(|(number, _)| *number != act.number);
        }
    }

    /// A callback came. Those about use belong to the records of their eSIM, in order.
    pub(super) fn called(&mut self, body: &Value, now: Duration) {
        self.callbacks.add(1, now);
        if body["alertType"] != "Utilisation" {
            return;
        }
        let iccid = body["iccid"].as_str().unwrap_or_default();
        let Some(waiting) = self.pending.get_mut(iccid) else { return };
        // One that never came must not be taken for all that follow.
        while waiting.front().is_some_and(|(_, sent)| *sent + LAG_OVER < now) {
            waiting.pop_front();
        }
        let Some((_, sent)) = waiting.pop_front() else { return };
        self.lags.push_back((now, now.saturating_sub(sent)));
        if self.lags.len() > LAGS_MAX {
            self.lags.pop_front();
        }
    }

    pub(super) fn happened(&mut self, words: &str) {
        self.happenings.push_back(words.to_owned());
        if self.happenings.len() > HAPPENINGS {
            self.happenings.pop_front();
        }
    }

    /// The delay that half of the callbacks of the last minute had at most, and the one that all
    /// but a hundredth had.
    pub(super) fn lag(&self, now: Duration) -> Option<(Duration, Duration)> {
        let recent = self.lags.iter().filter(|(at, _)| *at + LAG_OVER >= now);
        let mut all: Vec<_> = recent.map(|(_, lag)| *lag).collect();
        all.sort_unstable();
        let at = |percent: usize| all.get((all.len() * percent / 100).min(all.len() - 1)).copied();
        if all.is_empty() { None } else { at(50).zip(at(99)) }
    }

    /// All of it for programs.
    pub(super) fn json(&self, now: Duration) -> Value {
        let ms = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let lag = self.lag(now).map(|(half, most)| json!({"p50": ms(half), "p99": ms(most)}));
        json!({
            "seconds": now.as_secs(),
            "esims": self.esims,
            "sent": self.sent.total,
            "accepted": self.accepted,
            "duplicate": self.duplicate,
            "rejected": self.rejected,
            "callbacks": self.callbacks.total,
            "lagMs": lag,
            "bytes": self.bytes,
            "bought": self.bought,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn act(number: u64, iccid: &str, bytes: i64) -> Act {
        Act { iccid: iccid.into(), number, event: Value::Null, bytes, words: "x".into() }
    }

    fn at(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn used(iccid: &str) -> Value {
        json!({"iccid": iccid, "alertType": "Utilisation"})
    }

    #[test]
    fn a_callback_belongs_to_the_oldest_record_of_its_esim() {
        let mut score = Score { is_listening: true, ..Score::default() };
        let acts = [act(1, "a", 5), act(2, "a", 0), act(3, "a", 5), act(4, "b", 5)];
        score.sending(&acts, at(1_000));
        score.sending(&[act(5, "a", 5)], at(2_000));
        for one in &acts {
            score.judged(one, if one.number == 3 { "duplicate" } else { "accepted" }, "");
        }
        assert_eq!(score.lag(at(3_000)), None);
        score.called(&used("a"), at(1_030));
        score.called(&json!({"iccid": "a", "alertType": "FirstUse"}), at(1_040));
        score.called(&used("a"), at(2_010));
        score.called(&used("c"), at(2_020));
        assert_eq!(score.lag(at(3_000)), Some((at(30), at(30))));
        assert_eq!((score.callbacks.total, score.bytes), (4, 10));
        // The one of b came too late to say anything.
        score.called(&used("b"), at(90_000));
        assert_eq!(score.lag(at(90_000)), None);
        assert_eq!(score.json(at(90_000))["lagMs"], Value::Null);
    }

    #[test]
    fn rates_are_those_of_the_last_seconds() {
        let mut meter = Meter::default();
        for second in 0..30 {
            meter.add(5, at(second * 1_000));
        }
        assert_eq!((meter.total, meter.tenths(at(29_000))), (150, 50));
        assert_eq!(meter.tenths(at(60_000)), 0);
        let mut first = Meter::default();
        first.add(2, at(100));
        assert_eq!(first.tenths(at(500)), 20);
    }
}
