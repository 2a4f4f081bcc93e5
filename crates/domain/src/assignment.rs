//! Bundles on an eSIM: when each starts, waits and ends, and which one pays for data that is used.
//!
//! Pure and complete: time is told by [`Queue::advance`], use by [`Queue::rate`], and both say what
//! changed. Nothing happens by itself; [`Queue::next_due`] says when to look again.

use crate::catalogue::{Data, DurationUnit, Start};
use crate::{Timestamp, limits};

const BYTES_PER_MB: i64 = 1_000_000;
/// Percentages of a bundle whose use is worth telling of, from the contract.
pub const STEPS: [i64; 4] = [1, 50, 80, 100];

/// How far an assignment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Being assigned.
    Processing,
    /// On the eSIM, unused.
    Queued,
    /// In use.
    Active,
    /// No data left, time not over.
    Depleted,
    /// Time over.
    Expired,
    /// Taken off the eSIM.
    Revoked,
    /// Waited too long.
    Lapsed,
}

impl State {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Processing,
        Self::Queued,
        Self::Active,
        Self::Depleted,
        Self::Expired,
        Self::Revoked,
        Self::Lapsed,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Processing => "processing",
            Self::Queued => "queued",
            Self::Active => "active",
            Self::Depleted => "depleted",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
            Self::Lapsed => "lapsed",
        }
    }

    /// The state of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == text)
    }

    /// Whether nothing more can be used of it.
    pub fn is_finished(self) -> bool {
        matches!(self, Self::Depleted | Self::Expired | Self::Revoked | Self::Lapsed)
    }
}

/// What a bundle gives, fixed when it was put on the eSIM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// How much data.
    pub data: Data,
    /// How long, in its unit.
    pub duration: i64,
    /// The unit.
    pub unit: DurationUnit,
    /// When it starts.
    pub start: Start,
}

/// A bundle on an eSIM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Its number; later ones have higher numbers.
    pub id: i64,
    /// How far it is.
    pub state: State,
    /// What it gives.
    pub terms: Terms,
    /// When it was put on the eSIM.
    pub assigned_at: Timestamp,
    /// When it was ready for use; while it is being processed, when it was put there.
    pub ready_at: Timestamp,
    /// When it is wanted to start.
    pub wanted_at: Option<Timestamp>,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// When its time is over.
    pub ends_at: Option<Timestamp>,
    /// When it was finished, which may be before.
    pub ended_at: Option<Timestamp>,
    /// Bytes used of it.
    pub used: i64,
    /// Bytes used of an unlimited one on the day of `used_on`.
    pub used_that_day: i64,
    /// The UTC day of its last use, counted from 1970.
    pub used_on: i64,
}

impl Assignment {
    /// What it started with: all its data, or what it has a day at full speed.
    pub fn initial_bytes(&self) -> i64 {
        let megabytes = match self.terms.data {
            Data::Megabytes(megabytes) => megabytes,
            Data::Unlimited { daily_mb, .. } => daily_mb,
        };
        megabytes.saturating_mul(BYTES_PER_MB)
    }

    /// What is left of that, on the day of `now` for an unlimited one.
    pub fn remaining_bytes(&self, now: Timestamp) -> i64 {
        if !self.terms.data.is_unlimited() {
            return (self.initial_bytes() - self.used).max(0);
        }
        let used = if self.used_on == now.day() { self.used_that_day } else { 0 };
        (self.initial_bytes() - used).max(0)
    }

    /// Those of these percentages of it that were passed since so much less of it was used. An
    /// unlimited bundle has none.
    pub fn passed(&self, taken: i64, steps: &[i64]) -> Vec<i64> {
        if self.terms.data.is_unlimited() {
            return Vec::new();
        }
        let share = |bytes: i64| i128::from(bytes) * 100;
        let passed = |percent: &i64| {
            let mark = i128::from(self.initial_bytes()) * i128::from(*percent);
            share(self.used - taken) < mark && mark <= share(self.used)
        };
        steps.iter().copied().filter(passed).collect()
    }

    fn finish(&mut self, to: State, at: Timestamp) {
        self.state = to;
        // What was used up has ended then, not when its time is over.
        self.ended_at.get_or_insert(at);
    }

    fn begin(&mut self, at: Timestamp) {
        self.state = State::Active;
        self.started_at = Some(at);
        self.ends_at = Some(match self.terms.unit {
            DurationUnit::Day => at.plus_days(self.terms.duration),
            DurationUnit::Month => at.plus_months(self.terms.duration),
        });
    }

    /// Takes what it can of so many bytes and says how much that was.
    fn charge(&mut self, bytes: i64, now: Timestamp) -> i64 {
        let taken = match self.terms.data {
            Data::Unlimited { .. } => bytes,
            Data::Megabytes(_) => bytes.min(self.initial_bytes() - self.used),
        };
        self.used = self.used.saturating_add(taken);
        if self.used_on != now.day() {
            (self.used_on, self.used_that_day) = (now.day(), 0);
        }
        self.used_that_day = self.used_that_day.saturating_add(taken);
        taken
    }

    fn is_used_up(&self) -> bool {
        !self.terms.data.is_unlimited() && self.used >= self.initial_bytes()
    }

    fn lapses_at(&self) -> Timestamp {
        self.assigned_at.plus(limits::ASSIGNMENT_WAIT)
    }
}

/// A change of an assignment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Which.
    pub id: i64,
    /// What it became.
    pub to: State,
    /// When.
    pub at: Timestamp,
}

/// What became of a usage record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rated {
    /// What changed.
    pub steps: Vec<Step>,
    /// Which assignments paid, and how many bytes each.
    pub charged: Vec<(i64, i64)>,
    /// Bytes that nobody paid.
    pub overshoot: i64,
}

/// The assignments of one eSIM, in the order they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queue(Vec<Assignment>);

impl Queue {
    /// The assignments of an eSIM, in any order.
    pub fn new(mut assignments: Vec<Assignment>) -> Self {
        assignments.sort_by_key(|one| one.id);
        Self(assignments)
    }

    /// The assignments, in the order they came.
    pub fn assignments(&self) -> &[Assignment] {
        &self.0
    }

    /// The one of that number.
    pub fn get(&self, id: i64) -> Option<&Assignment> {
        self.0.iter().find(|one| one.id == id)
    }

    /// The one in use.
    pub fn active(&self) -> Option<&Assignment> {
        self.0.iter().find(|one| one.state == State::Active)
    }

    /// Lets everything happen that is due by `now`, each at its own moment, in order.
    pub fn advance(&mut self, now: Timestamp) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some((at, place, to)) = self.due(now) {
            let one = &mut self.0[place];
            match to {
                State::Active => one.begin(at),
                to => one.finish(to, at),
            }
            steps.push(Step { id: one.id, to, at });
        }
        steps
    }

    /// The next thing that happens by `now`: when, to which, what.
    fn due(&self, now: Timestamp) -> Option<(Timestamp, usize, State)> {
        let ends = self.0.iter().enumerate().filter_map(|(place, one)| match one.state {
            State::Active | State::Depleted => Some((one.ends_at?, place, State::Expired)),
            State::Queued => Some((one.lapses_at(), place, State::Lapsed)),
            _ => None,
        });
        let first = ends.chain(self.start()).min_by_key(|(at, place, _)| (*at, *place));
        first.filter(|(at, ..)| *at <= now)
    }

    /// What starts next without being used, while nothing else is in use: whatever starts by
    /// itself, or was wanted by then. Not before what was in use before it has ended.
    fn start(&self) -> Option<(Timestamp, usize, State)> {
        if self.active().is_some() {
            return None;
        }
        let free_since = self.free_since();
        let candidates = self.0.iter().enumerate().filter_map(|(place, one)| {
            let wanted = match (one.state, one.terms.start, one.wanted_at) {
                (State::Queued, Start::Auto, _) => one.ready_at,
                (State::Queued, Start::FirstUse, Some(wanted)) => wanted.max(one.ready_at),
                _ => return None,
            };
            Some((free_since.map_or(wanted, |since| since.max(wanted)), place, State::Active))
        });
        candidates.min_by_key(|(at, place, _)| (*at, *place))
    }

    /// When the last one in use stopped being in use.
    fn free_since(&self) -> Option<Timestamp> {
        let started = self.0.iter().filter(|one| one.started_at.is_some());
        started.filter_map(|one| one.ended_at).max()
    }

    /// Since when everything that was ever on it is over; none while something is not.
    pub fn idle_since(&self) -> Option<Timestamp> {
        let over = |one: &Assignment| match one.state {
            // Used up before its time, it is over when its time is.
            State::Expired => one.ends_at,
            State::Revoked | State::Lapsed => one.ended_at.max(Some(one.assigned_at)),
            _ => None,
        };
        let ends: Option<Vec<_>> = self.0.iter().map(over).collect();
        ends?.into_iter().max()
    }

    /// Charges data that was used at `used_at` and told of at `now`.
    pub fn rate(&mut self, bytes: i64, used_at: Timestamp, now: Timestamp) -> Rated {
        let mut rated = Rated { steps: self.advance(now), ..Rated::default() };
        // It belongs to a bundle that is over; what came after must not pay for it.
        let is_late = |one: &Assignment| {
            one.state == State::Expired && one.ends_at.is_some_and(|end| used_at < end)
        };
        if self.0.iter().any(is_late) {
            rated.overshoot = bytes;
            return rated;
        }
        let mut left = bytes;
        while left > 0 {
            let Some(place) = self.payer(now, &mut rated.steps) else { break };
            let one = &mut self.0[place];
            let taken = one.charge(left, now);
            left -= taken;
            rated.charged.push((one.id, taken));
            if one.is_used_up() {
                one.finish(State::Depleted, now);
                rated.steps.push(Step { id: one.id, to: State::Depleted, at: now });
                rated.steps.extend(self.advance(now));
            }
        }
        rated.overshoot = left;
        rated
    }

    /// The one that pays: the one in use, or the first that waits, which starts with that.
    fn payer(&mut self, now: Timestamp, steps: &mut Vec<Step>) -> Option<usize> {
        if let Some(place) = self.0.iter().position(|one| one.state == State::Active) {
            return Some(place);
        }
        let place = self.0.iter().position(|one| one.state == State::Queued)?;
        self.0[place].begin(now);
        steps.push(Step { id: self.0[place].id, to: State::Active, at: now });
        Some(place)
    }

    /// Takes an assignment off. Says what changed; nothing if it was over.
    pub fn revoke(&mut self, id: i64, now: Timestamp) -> Vec<Step> {
        let mut steps = self.advance(now);
        let Some(one) = self.0.iter_mut().find(|one| one.id == id && !one.state.is_finished())
        else {
            return steps;
        };
        one.finish(State::Revoked, now);
        steps.push(Step { id, to: State::Revoked, at: now });
        steps.extend(self.advance(now));
        steps
    }

    /// When something happens next without being used.
    pub fn next_due(&self) -> Option<Timestamp> {
        self.due(Timestamp::from_ms(i64::MAX)).map(|(at, ..)| at)
    }
}

#[cfg(test)]
mod tests;
