//! Lives of bundles on an eSIM, told step by step and played at random.

use super::*;

const HOUR_MS: i64 = 3_600_000;
const GB: i64 = 1_000_000_000;

fn at(hours: i64) -> Timestamp {
    Timestamp::from_ms(hours * HOUR_MS)
}

fn queued(id: i64, start: Start) -> Assignment {
    let terms = Terms { data: Data::Megabytes(1_000), duration: 7, unit: DurationUnit::Day, start };
    Assignment {
        id,
        state: State::Queued,
        terms,
        assigned_at: at(0),
        ready_at: at(0),
        wanted_at: None,
        started_at: None,
        ends_at: None,
        ended_at: None,
        used: 0,
        used_that_day: 0,
        used_on: 0,
    }
}

fn unlimited(id: i64) -> Assignment {
    let data = Data::Unlimited { daily_mb: 1_000, throttle_kbps: 512 };
    let one = queued(id, Start::FirstUse);
    Assignment { terms: Terms { data, ..one.terms }, ..one }
}

fn told(steps: &[Step]) -> Vec<(i64, &'static str, i64)> {
    steps.iter().map(|s| (s.id, s.to.name(), s.at.ms() / HOUR_MS)).collect()
}

#[test]
fn first_use_starts_and_the_duration_ends() {
    let mut queue = Queue::new(vec![queued(1, Start::FirstUse)]);
    assert!(queue.advance(at(24)).is_empty());
    let rated = queue.rate(GB / 4, at(30), at(30));
    assert_eq!(told(&rated.steps), [(1, "active", 30)]);
    assert_eq!((rated.charged, rated.overshoot), (vec![(1, GB / 4)], 0));
    assert_eq!(queue.assignments()[0].remaining_bytes(at(30)), GB * 3 / 4);
    assert_eq!(queue.next_due(), Some(at(30 + 7 * 24)));
    assert_eq!(told(&queue.advance(at(1_000))), [(1, "expired", 198)]);
    assert_eq!(queue.next_due(), None);
}

#[test]
fn one_is_active_and_the_next_takes_over_at_the_moment_the_first_ends() {
    let mut queue = Queue::new(vec![queued(2, Start::Auto), queued(1, Start::Auto)]);
    assert_eq!(
        told(&queue.advance(at(500))),
        [(1, "active", 0), (1, "expired", 168), (2, "active", 168), (2, "expired", 336)]
    );
}

#[test]
fn a_wanted_start_waits_for_the_one_in_use() {
    let wanted = Assignment { wanted_at: Some(at(24)), ..queued(2, Start::FirstUse) };
    let mut queue = Queue::new(vec![queued(1, Start::Auto), wanted.clone()]);
    let steps = queue.advance(at(200));
    let expected = [(1, "active", 0), (1, "expired", 168), (2, "active", 168)];
    assert_eq!(told(&steps), expected);
    let mut alone = Queue::new(vec![queued(1, Start::FirstUse), wanted]);
    assert_eq!(alone.next_due(), Some(at(24)));
    assert_eq!(told(&alone.advance(at(25))), [(2, "active", 24)]);
}

#[test]
fn use_flows_from_one_into_the_next_and_the_rest_is_overshoot() {
    let mut queue = Queue::new(vec![queued(1, Start::FirstUse), queued(2, Start::FirstUse)]);
    let rated = queue.rate(5 * GB / 2, at(10), at(10));
    assert_eq!(rated.charged, [(1, GB), (2, GB)]);
    assert_eq!(rated.overshoot, GB / 2);
    let steps = [(1, "active", 10), (1, "depleted", 10), (2, "active", 10), (2, "depleted", 10)];
    assert_eq!(told(&rated.steps), steps);
    assert_eq!(told(&queue.advance(at(178))), [(1, "expired", 178), (2, "expired", 178)]);
}

#[test]
fn what_starts_by_itself_starts_when_the_one_in_use_is_used_up() {
    let mut queue = Queue::new(vec![queued(1, Start::FirstUse), queued(2, Start::Auto)]);
    assert_eq!(told(&queue.advance(at(1))), [(2, "active", 0)]);
    let mut queue = Queue::new(vec![queued(1, Start::Auto), queued(2, Start::Auto)]);
    queue.advance(at(1));
    let rated = queue.rate(GB, at(5), at(5));
    assert_eq!(told(&rated.steps), [(1, "depleted", 5), (2, "active", 5)]);
}

#[test]
fn a_record_from_the_time_of_a_bundle_that_is_over_is_nobodys() {
    let mut queue = Queue::new(vec![queued(1, Start::Auto), queued(2, Start::FirstUse)]);
    queue.advance(at(1));
    let late = queue.rate(GB, at(100), at(169));
    assert_eq!((late.charged.len(), late.overshoot), (0, GB));
    let after = queue.rate(GB / 2, at(169), at(169));
    assert_eq!(after.charged, [(2, GB / 2)]);
}

#[test]
fn an_unlimited_bundle_counts_by_the_day_and_never_runs_out() {
    let mut queue = Queue::new(vec![unlimited(1)]);
    let rated = queue.rate(3 * GB / 2, at(1), at(1));
    assert_eq!((rated.charged, rated.overshoot), (vec![(1, 3 * GB / 2)], 0));
    let one = &queue.assignments()[0];
    assert_eq!((one.initial_bytes(), one.remaining_bytes(at(2))), (GB, 0));
    assert_eq!(one.remaining_bytes(at(24)), GB, "the next day");
    queue.rate(GB / 10, at(25), at(25));
    assert_eq!(queue.assignments()[0].remaining_bytes(at(26)), GB * 9 / 10);
    assert_eq!(queue.assignments()[0].used, 16 * GB / 10);
    assert_eq!(told(&queue.advance(at(1_000))), [(1, "expired", 169)]);
}

#[test]
fn what_waits_a_year_lapses_and_what_is_processed_does_not_start() {
    let being = Assignment { state: State::Processing, ..queued(2, Start::Auto) };
    let mut queue = Queue::new(vec![queued(1, Start::FirstUse), being]);
    assert_eq!(queue.next_due(), Some(at(365 * 24)));
    assert_eq!(told(&queue.advance(at(9_000))), [(1, "lapsed", 8_760)]);
    assert_eq!(queue.rate(5, at(9_000), at(9_000)).overshoot, 5);
}

#[test]
fn a_revoked_one_gives_way_to_the_next() {
    let mut queue = Queue::new(vec![queued(1, Start::Auto), queued(2, Start::Auto)]);
    queue.advance(at(1));
    assert_eq!(told(&queue.revoke(1, at(5))), [(1, "revoked", 5), (2, "active", 5)]);
    assert!(queue.revoke(1, at(6)).is_empty(), "it is over");
    assert_eq!(told(&queue.advance(at(500))), [(2, "expired", 173)]);
}

#[test]
fn months_are_calendar_months() {
    let mut one = queued(1, Start::Auto);
    one.terms = Terms { duration: 1, unit: DurationUnit::Month, ..one.terms };
    one.ready_at = Timestamp::parse("2026-01-31T10:00:00Z").expect("a time");
    one.assigned_at = one.ready_at;
    let mut queue = Queue::new(vec![one]);
    queue.advance(Timestamp::parse("2026-02-01T00:00:00Z").expect("a time"));
    let end = queue.assignments()[0].ends_at.expect("it started");
    assert_eq!(end.to_string(), "2026-02-28T10:00:00Z");
}

/// Random lives: never two at once, states only move forward, nothing ends before it starts,
/// every byte is paid by somebody or nobody, and stopping often changes nothing.
#[test]
fn random_lives_keep_the_rules() {
    for seed in 1..400_u64 {
        let mut dice = Dice(seed);
        let mut queue = Queue::new((1..=dice.up_to(5)).map(|id| dice.assignment(id)).collect());
        let mut now = 0;
        let mut sum = 0;
        for _ in 0..40 {
            let before = queue.clone();
            now += dice.up_to(100);
            if dice.up_to(3) == 1 {
                let bytes = dice.up_to(2 * GB);
                let rated = queue.rate(bytes, at(now), at(now));
                let paid: i64 = rated.charged.iter().map(|(_, bytes)| bytes).sum();
                assert_eq!(paid + rated.overshoot, bytes, "seed {seed}");
                sum += paid;
            } else {
                let mut slowly = queue.clone();
                for hour in (now - 100).max(0)..=now {
                    slowly.advance(at(hour));
                }
                queue.advance(at(now));
                assert_eq!(slowly, queue, "seed {seed}: stopping on the way changes nothing");
            }
            check(&before, &queue, seed);
        }
        let used: i64 = queue.assignments().iter().map(|one| one.used).sum();
        assert_eq!(used, sum, "seed {seed}");
    }
}

fn check(before: &Queue, after: &Queue, seed: u64) {
    let active = after.assignments().iter().filter(|one| one.state == State::Active).count();
    assert!(active <= 1, "seed {seed}");
    for (old, new) in before.assignments().iter().zip(after.assignments()) {
        let rank = |state| State::ALL.iter().position(|known| *known == state);
        assert!(rank(old.state) <= rank(new.state), "seed {seed}");
        let started = new.started_at.is_some();
        assert_eq!(started, new.ends_at.is_some(), "seed {seed}");
        assert!(new.started_at <= new.ends_at, "seed {seed}");
        assert!(new.terms.data.is_unlimited() || new.used <= new.initial_bytes());
    }
}

/// A few random numbers, the same for the same seed.
struct Dice(u64);

impl Dice {
    fn up_to(&mut self, most: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let most = u64::try_from(most).expect("a positive number");
        i64::try_from((self.0 >> 33) % most + 1).expect("it fits")
    }

    fn assignment(&mut self, id: i64) -> Assignment {
        let start = if self.up_to(2) == 1 { Start::Auto } else { Start::FirstUse };
        let one = if self.up_to(4) == 1 { unlimited(id) } else { queued(id, start) };
        let wanted_at = (self.up_to(3) == 1).then(|| at(self.up_to(2_000)));
        Assignment { wanted_at, ..one }
    }
}
