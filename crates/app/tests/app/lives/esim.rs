//! One eSIM as the contract has it: bundles that wait, start, pay and end, one after the other.

use domain::Timestamp;
use domain::assignment::State;
use domain::catalogue::{DurationUnit, Start};

use super::wares::Ware;

pub(crate) const DAY_MS: i64 = 24 * 3_600 * 1_000;
const WAIT_MS: i64 = 365 * DAY_MS;
const IDLE_MS: i64 = 365 * DAY_MS;

#[derive(Debug, Clone)]
pub(crate) struct Bundle {
    pub(crate) id: i64,
    pub(crate) ware: &'static Ware,
    /// The lot it came from; of what is still bought, none.
    pub(crate) lot: Option<i64>,
    /// The order that put it there.
    pub(crate) order: usize,
    pub(crate) state: State,
    pub(crate) assigned_at: Timestamp,
    pub(crate) ready_at: Timestamp,
    pub(crate) wanted_at: Option<Timestamp>,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ends_at: Option<Timestamp>,
    /// When it was over for good.
    pub(crate) over_at: Option<Timestamp>,
    pub(crate) used: i64,
    /// A day, and what was used on it.
    pub(crate) today: (i64, i64),
}

impl Bundle {
    pub(crate) fn remaining(&self, now: Timestamp) -> i64 {
        let used = match (self.ware.is_endless(), self.today) {
            (false, _) => self.used,
            (true, (day, bytes)) if day == day_of(now) => bytes,
            (true, _) => 0,
        };
        (self.ware.bytes() - used).max(0)
    }

    fn start(&mut self, at: Timestamp) {
        self.state = State::Active;
        self.started_at = Some(at);
        self.ends_at = Some(match self.ware.unit {
            DurationUnit::Day => at.plus_ms(self.ware.duration * DAY_MS),
            DurationUnit::Month => at.plus_months(self.ware.duration),
        });
    }
}

fn day_of(at: Timestamp) -> i64 {
    at.ms().div_euclid(DAY_MS)
}

#[derive(Debug, Clone)]
pub(crate) struct Esim {
    pub(crate) profile: &'static str,
    pub(crate) is_suspended: bool,
    pub(crate) is_dead: bool,
    /// How many charges its bundles have paid.
    pub(crate) charges: usize,
    /// Whether it was ever on a phone.
    pub(crate) is_installed: bool,
    pub(crate) bundles: Vec<Bundle>,
    /// Since when no bundle is in use, if one ever was.
    free_since: Option<Timestamp>,
    /// The moment of leaving that was announced.
    pub(crate) announced: Option<Timestamp>,
}

impl Esim {
    pub(crate) fn new(profile: &'static str) -> Self {
        Self {
            profile,
            is_suspended: false,
            is_dead: false,
            charges: 0,
            is_installed: false,
            bundles: Vec::new(),
            free_since: None,
            announced: None,
        }
    }

    /// Lets time pass.
    pub(crate) fn pass(&mut self, now: Timestamp) {
        while let Some((at, place, to)) = self.next().filter(|(at, ..)| *at <= now) {
            self.turn(place, to, at);
        }
    }

    /// What happens next by itself: when, to which, what. Ends come before starts.
    fn next(&self) -> Option<(Timestamp, usize, State)> {
        let ends = self.bundles.iter().enumerate().filter_map(|(place, one)| match one.state {
            State::Active | State::Depleted => Some((one.ends_at?, place, State::Expired)),
            State::Queued => Some((one.assigned_at.plus_ms(WAIT_MS), place, State::Lapsed)),
            _ => None,
        });
        let end = ends.min_by_key(|(at, place, _)| (*at, *place));
        if self.bundles.iter().any(|one| one.state == State::Active) {
            return end;
        }
        let starts = self.bundles.iter().enumerate().filter_map(|(place, one)| {
            let from = match one.ware.start {
                _ if one.state != State::Queued => return None,
                Start::Auto => one.ready_at,
                Start::FirstUse => one.wanted_at?.max(one.ready_at),
            };
            Some((from.max(self.free_since.unwrap_or(from)), place, State::Active))
        });
        let start = starts.min_by_key(|(at, place, _)| (*at, *place));
        match (end, start) {
            (Some(end), Some(start)) => Some(if start.0 < end.0 { start } else { end }),
            (end, start) => end.or(start),
        }
    }

    fn turn(&mut self, place: usize, to: State, at: Timestamp) {
        let one = &mut self.bundles[place];
        if one.state == State::Active {
            self.free_since = Some(at);
        }
        if to == State::Active {
            one.start(at);
            return;
        }
        one.state = to;
        if to != State::Depleted {
            one.over_at = Some(at);
        }
    }

    /// Charges data; who paid how much, and what nobody paid.
    pub(crate) fn rate(
        &mut self,
        bytes: i64,
        used_at: Timestamp,
        now: Timestamp,
    ) -> (Vec<(i64, i64)>, i64) {
        self.pass(now);
        let is_late = |one: &Bundle| {
            one.state == State::Expired && one.ends_at.is_some_and(|end| used_at < end)
        };
        if self.bundles.iter().any(is_late) {
            return (Vec::new(), bytes);
        }
        let (mut paid, mut left) = (Vec::new(), bytes);
        while left > 0 {
            let of = |state| self.bundles.iter().position(|one| one.state == state);
            let Some(place) = of(State::Active).or_else(|| of(State::Queued)) else { break };
            let one = &mut self.bundles[place];
            if one.state == State::Queued {
                one.start(now);
            }
            let room = if one.ware.is_endless() { left } else { one.ware.bytes() - one.used };
            let taken = left.min(room);
            left -= taken;
            one.used += taken;
            let before = if one.today.0 == day_of(now) { one.today.1 } else { 0 };
            one.today = (day_of(now), before + taken);
            paid.push((one.id, taken));
            if taken == room && !one.ware.is_endless() {
                self.turn(place, State::Depleted, now);
                self.pass(now);
            }
        }
        (paid, left)
    }

    /// Takes a bundle off.
    pub(crate) fn revoke(&mut self, id: i64, now: Timestamp) {
        self.pass(now);
        let place = self.bundles.iter().position(|one| one.id == id).expect("it is there");
        self.turn(place, State::Revoked, now);
        self.pass(now);
    }

    /// When it leaves; none while something on it is not over.
    pub(crate) fn leaves_at(&self) -> Option<Timestamp> {
        let over: Option<Vec<_>> =
            self.bundles.iter().map(|one| Some(one.over_at?.max(one.assigned_at))).collect();
        Some(over?.into_iter().max()?.plus_ms(IDLE_MS))
    }
}
