//! Every answer, from an eSIM that is as it should be with one thing wrong.

use domain::assignment::Terms;
use domain::catalogue::{DurationUnit, Start};
use domain::esim::Seen;
use domain::{BundleName, Iccid};
use store::assignments::Stored;

use super::*;

const DAY_MS: i64 = 86_400_000;

fn now() -> Timestamp {
    Timestamp::from_ms(20_000 * DAY_MS + 5_000)
}

fn iccid() -> Iccid {
    Iccid::parse("8943001000000026411").expect("an ICCID")
}

/// Installed, seen in France, used.
fn esim() -> Esim {
    let before = now().plus_ms(-DAY_MS);
    Esim {
        iccid: iccid(),
        profile_name: "Profile 1".to_owned(),
        status: ProfileStatus::Installed,
        msisdn: None,
        customer_ref: String::new(),
        last_action: String::new(),
        action_at: None,
        assigned_at: before,
        first_installed_at: Some(before),
        first_used_at: Some(before),
        suspended_by: None,
        seen: Some(Seen { at: before, country: "FR".to_owned(), network: String::new() }),
        leaves_at: None,
    }
}

fn bundle(id: i64, state: State) -> OnEsim {
    let (from, to) = (now().plus_ms(-DAY_MS), now().plus_ms(6 * DAY_MS));
    let has_begun = !matches!(state, State::Queued | State::Processing);
    let assignment = Assignment {
        id,
        state,
        terms: Terms {
            data: Data::Megabytes(1_000),
            duration: 7,
            unit: DurationUnit::Day,
            start: Start::FirstUse,
        },
        assigned_at: from,
        ready_at: from,
        wanted_at: None,
        started_at: has_begun.then_some(from),
        ends_at: has_begun.then_some(to),
        ended_at: state.is_finished().then_some(now()),
        used: 0,
        used_that_day: 0,
        used_on: 0,
    };
    let stored = Stored {
        assignment: assignment.clone(),
        iccid: iccid(),
        bundle: BundleName::parse("eu_1gb_7d").expect("a name"),
        description: "Europe 1 GB".to_owned(),
        reference: "r".to_owned(),
        n: 0,
        item: 0,
        lot: None,
    };
    OnEsim { remaining: assignment.remaining_bytes(now()), assignment, stored }
}

fn findings(esim: &Esim, bundles: &[OnEsim]) -> Vec<Finding> {
    let covers = |bundle: &str, country: &str| bundle == "eu_1gb_7d" && country == "FR";
    diagnose(&Known {
        esim,
        bundles,
        clock: now(),
        last_use: esim.first_used_at,
        network_error: None,
        covers: &covers,
    })
}

fn name() -> String {
    "Europe 1 GB".to_owned()
}

#[test]
fn all_is_well() {
    let last_use = esim().first_used_at;
    assert_eq!(findings(&esim(), &[bundle(1, State::Active)]), [Finding::Fine { last_use }]);
    let unused = Esim { first_used_at: None, ..esim() };
    assert_eq!(findings(&unused, &[bundle(1, State::Active)]), [Finding::Unused]);
}

#[test]
fn the_profile_comes_before_the_bundle() {
    let on = [bundle(1, State::Queued)];
    let fresh = Esim { first_installed_at: None, first_used_at: None, seen: None, ..esim() };
    for (status, found) in [
        (ProfileStatus::Released, Finding::NeverDownloaded),
        (ProfileStatus::Downloaded, Finding::NotInstalled),
        (ProfileStatus::Installed, Finding::NeverAttached),
        (ProfileStatus::Unavailable, Finding::Unavailable),
        (ProfileStatus::Deactivated, Finding::Deactivated),
    ] {
        assert_eq!(findings(&Esim { status, ..fresh.clone() }, &on), [found]);
    }
    let removed = Esim { status: ProfileStatus::Released, ..esim() };
    assert_eq!(findings(&removed, &on), [Finding::Removed]);
    let both = findings(&fresh, &[]);
    assert_eq!(both, [Finding::NeverAttached, Finding::NoBundle]);
    // Seen on a network it is installed, whatever was told of it.
    let lost = Esim { first_installed_at: None, ..removed };
    assert_eq!(findings(&lost, &[]), [Finding::NoBundle]);
}

#[test]
fn who_suspended_it_is_told_apart() {
    let on = [bundle(1, State::Active)];
    let by = |by| findings(&Esim { suspended_by: Some(by), ..esim() }, &on);
    assert_eq!(by(SuspendedBy::Owner), [Finding::SuspendedByOwner]);
    assert_eq!(by(SuspendedBy::Policy), [Finding::SuspendedByOperator]);
    let both = [Finding::SuspendedByOperator, Finding::SuspendedByOwner];
    assert_eq!(by(SuspendedBy::Both), both);
}

#[test]
fn bundles_that_wait_say_for_what() {
    assert_eq!(findings(&esim(), &[bundle(1, State::Queued)]), [Finding::WaitsForUse(name())]);
    let mut later = bundle(1, State::Queued);
    let at = now().plus_ms(DAY_MS);
    later.assignment.wanted_at = Some(at);
    assert_eq!(findings(&esim(), &[later]), [Finding::WaitsUntil(name(), at)]);
    let busy = [bundle(1, State::Processing)];
    assert_eq!(findings(&esim(), &busy), [Finding::Processing(name())]);
}

#[test]
fn a_bundle_works_where_it_works() {
    let seen = Seen { at: now(), country: "JP".to_owned(), network: String::new() };
    let abroad = Esim { seen: Some(seen), ..esim() };
    let found = Finding::NotCovered { bundle: name(), country: "JP".to_owned() };
    for state in [State::Active, State::Queued] {
        assert_eq!(findings(&abroad, &[bundle(1, state)]), std::slice::from_ref(&found));
    }
}

#[test]
fn what_is_over_says_how_it_ended() {
    let ends = bundle(1, State::Expired).assignment.ends_at;
    assert_eq!(findings(&esim(), &[bundle(1, State::Expired)]), [Finding::Expired(name(), ends)]);
    for state in [State::Depleted, State::Expired] {
        let mut used = bundle(1, state);
        used.assignment.used = 1_000_000_000;
        assert_eq!(findings(&esim(), &[used]), [Finding::Depleted(name(), Some(now()))]);
    }
    let lapsed = [bundle(1, State::Lapsed)];
    assert_eq!(findings(&esim(), &lapsed), [Finding::Lapsed(name(), Some(now()))]);
    assert_eq!(findings(&esim(), &[bundle(1, State::Revoked)]), [Finding::TakenOff]);
    // What was taken off after it does not hide how the one before it ended.
    let two = [bundle(2, State::Revoked), bundle(1, State::Expired)];
    assert_eq!(findings(&esim(), &two), [Finding::Expired(name(), ends)]);
    assert_eq!(findings(&esim(), &[]), [Finding::NoBundle]);
}

#[test]
fn the_next_one_counts_when_one_is_over() {
    let two = [bundle(2, State::Queued), bundle(1, State::Depleted)];
    assert_eq!(findings(&esim(), &two), [Finding::WaitsForUse(name())]);
}

#[test]
fn unlimited_is_slow_until_tomorrow() {
    let mut one = bundle(1, State::Active);
    one.assignment.terms.data = Data::Unlimited { daily_mb: 1_000, throttle_kbps: 512 };
    one.assignment.used_that_day = 1_000_000_000;
    one.assignment.used_on = now().day();
    one.remaining = one.assignment.remaining_bytes(now());
    let until = now().next_day();
    let found = Finding::Throttled { bundle: name(), kbps: 512, until };
    assert_eq!(findings(&esim(), &[one]), [found]);
}

#[test]
fn a_network_that_was_not_told_is_named() {
    let found = diagnose(&Known {
        esim: &esim(),
        bundles: &[bundle(1, State::Active)],
        clock: now(),
        last_use: None,
        network_error: Some("no answer in time"),
        covers: &|_, _| true,
    });
    assert_eq!(found, [Finding::NetworkAway("no answer in time".to_owned())]);
    assert!(!found[0].is_well());
}
