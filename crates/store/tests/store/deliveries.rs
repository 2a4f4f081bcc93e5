//! Deliveries of events and their attempts, on both databases.

use domain::callback::State;
use domain::organisation::CallbackVersion;
use domain::{EventId, OrgId, Timestamp, limits};
use store::deliveries::{self, Attempt, Delivery, Ready, Sent};
use store::{StoreError, Tx, events, lanes};

use crate::fixture::{Fixture, new_org};
use crate::lanes::tell;
use crate::on_both;

on_both! {
    what_is_ready_has_its_own_bytes_or_those_of_its_event,
    only_what_waits_is_delivered_and_once,
    what_fails_waits_or_is_given_up,
    lanes_are_given_up_and_sent_again,
    deliveries_page_from_the_newest,
    a_delivery_is_found_with_its_attempts,
    what_is_dead_is_found_in_order,
    events_before_a_moment_are_found_by_halving,
    delays_are_those_of_the_newest_that_arrived,
    counting_ends_at_a_bound,
    what_is_old_is_forgotten_a_little_at_a_time,
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// As many events in one lane, made at 1, 2, 3 and so on.
fn several(tx: &mut Tx<'_>, org: OrgId, count: i64) -> Result<(), StoreError> {
    (1..=count).try_for_each(|n| tell(tx, org, "a", at(n)).map(drop))
}

fn state(tx: &mut Tx<'_>, org: OrgId, seq: i64) -> Result<(State, i64, Option<i64>), StoreError> {
    let (found, _) = deliveries::find(tx, org, seq)?.expect("there");
    Ok((found.state, found.attempts, found.done_at.map(Timestamp::ms)))
}

fn ready(tx: &mut Tx<'_>, org: OrgId, seqs: &[i64]) -> Result<Vec<Ready>, StoreError> {
    let mut ready = deliveries::ready(tx, org, seqs)?;
    ready.sort_by_key(|one| one.seq);
    Ok(ready)
}

fn attempt(seq: i64, n: i64) -> Attempt {
    let status = (n % 2 == 0).then_some(500 + n);
    Attempt { seq, n, at: at(n), status, took_ms: 10 * n, answer: format!("said {n}\nü") }
}

async fn what_is_ready_has_its_own_bytes_or_those_of_its_event(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        tell(tx, org, "lane", at(5))?;
        let id = EventId::new(at(6), [6; 10]);
        let seq = events::add(tx, id, "Topup", at(7), "full")?;
        let own = (CallbackVersion::V2, Some("short".to_owned()));
        deliveries::add(tx, org, (seq, ""), own, at(8))?;
        assert_eq!(ready(tx, org, &[])?, []);
        assert_eq!(ready(tx, other, &[1, 2])?, []);
        let all: Vec<_> = (1..=700).collect();
        let both = ready(tx, org, &all)?;
        let Ready { form, body, lane, made_at, attempts, tries, .. } = &both[0];
        assert_eq!((*form, body.as_str()), (CallbackVersion::V3, "full 1"));
        assert_eq!((lane.as_str(), *made_at, *attempts, *tries), ("lane", at(5), 0, 0));
        let expected = Ready {
            seq: 2,
            lane: String::new(),
            form: CallbackVersion::V2,
            body: "short".into(),
            attempts: 0,
            tries: 0,
            made_at: at(8),
            event: id,
        };
        assert_eq!(both[1..], [expected]);
        deliveries::delivered(tx, org, &[2], at(9))?;
        assert_eq!(ready(tx, org, &[1, 2])?, both[..1], "only what waits");
        let (found, attempts) = deliveries::find(tx, org, 2)?.expect("there");
        assert_eq!((found.body.as_str(), found.kind.as_str(), found.at), ("short", "Topup", at(7)));
        assert_eq!(attempts, []);
        Ok::<_, StoreError>(())
    });
    assert_eq!(checks.await, Ok(()));
}

async fn only_what_waits_is_delivered_and_once(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        several(tx, org, 3)?;
        deliveries::delivered(tx, org, &[], at(9))?;
        deliveries::delivered(tx, other, &[1], at(9))?;
        assert_eq!(state(tx, org, 1)?, (State::Waiting, 0, None));
        deliveries::delivered(tx, org, &[1, 2, 99], at(9))?;
        deliveries::delivered(tx, org, &[1], at(10))?;
        deliveries::failed(tx, org, (1, 1), Some(at(11)))?;
        assert_eq!(state(tx, org, 1)?, (State::Delivered, 1, Some(9)), "once is enough");
        assert_eq!(state(tx, org, 2)?, (State::Delivered, 1, Some(9)));
        state(tx, org, 3)
    });
    assert_eq!(checks.await, Ok((State::Waiting, 0, None)));
}

async fn what_fails_waits_or_is_given_up(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let checks = store.write(org, move |tx| {
        several(tx, org, 2)?;
        for n in 1..=3 {
            deliveries::failed(tx, org, (1, n - 1), None)?;
            // Told twice, as when the answer of a commit was lost: an attempt counts once.
            deliveries::failed(tx, org, (1, n - 1), None)?;
            assert_eq!(state(tx, org, 1)?, (State::Waiting, n, None));
        }
        deliveries::failed(tx, org, (1, 3), Some(at(9)))?;
        assert_eq!(state(tx, org, 1)?, (State::Dead, 4, Some(9)));
        deliveries::failed(tx, org, (1, 4), None)?;
        assert_eq!(state(tx, org, 1)?, (State::Dead, 4, Some(9)), "it is over");
        deliveries::delivered(tx, org, &[1], at(9))?;
        assert_eq!(state(tx, org, 1)?, (State::Dead, 4, Some(9)));
        assert_eq!(ready(tx, org, &[1, 2])?.len(), 1);
        // A full set of attempts: the numbers of the attempts go on.
        deliveries::again(tx, org, &[1, 2])?;
        deliveries::failed(tx, org, (1, 4), None)?;
        let numbers = |one: &Ready| (one.seq, one.attempts, one.tries);
        Ok::<_, StoreError>(ready(tx, org, &[1, 2])?.iter().map(numbers).collect::<Vec<_>>())
    });
    assert_eq!(checks.await, Ok(vec![(1, 5, 1), (2, 0, 0)]));
}

async fn lanes_are_given_up_and_sent_again(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        for lane in ["a", "b", "a", "", "c"] {
            tell(tx, org, lane, at(1))?;
        }
        deliveries::delivered(tx, org, &[1], at(2))?;
        deliveries::give_up(tx, org, &[], at(3))?;
        deliveries::give_up(tx, other, &["a".to_owned()], at(3))?;
        deliveries::give_up(tx, org, &["a".to_owned(), String::new()], at(4))?;
        let all =
            |tx: &mut Tx<'_>| (1..=5).map(|seq| state(tx, org, seq)).collect::<Result<Vec<_>, _>>();
        let (waiting, given_up) = ((State::Waiting, 0, None), (State::Dead, 0, Some(4)));
        let first = (State::Delivered, 1, Some(2));
        assert_eq!(all(tx)?, [first, waiting, given_up, given_up, waiting]);
        deliveries::again(tx, org, &[])?;
        deliveries::again(tx, other, &[3])?;
        deliveries::again(tx, org, &[1, 2, 3])?;
        let first = (State::Waiting, 1, None);
        assert_eq!(all(tx)?, [first, waiting, waiting, given_up, waiting]);
        lanes::claim(tx, org, "me", at(9), 1)
    });
    assert_eq!(checks.await, Ok(vec![(String::new(), None)]), "an empty lane is due, too");
}

async fn deliveries_page_from_the_newest(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        several(tx, org, 9)?;
        deliveries::delivered(tx, org, &[1, 4, 7], at(20))?;
        for seq in [2, 5, 8] {
            deliveries::failed(tx, org, (seq, 0), Some(at(30)))?;
        }
        let page = |tx: &mut Tx<'_>, before, most, state| {
            let page = deliveries::page(tx, org, before, most, state)?;
            Ok::<_, StoreError>(page.iter().map(|one| one.seq).collect::<Vec<_>>())
        };
        assert_eq!(page(tx, i64::MAX, 3, None)?, [9, 8, 7]);
        assert_eq!(page(tx, 7, 3, None)?, [6, 5, 4]);
        assert_eq!(page(tx, 2, 3, None)?, [1]);
        for (state, expected) in
            [(State::Waiting, [9, 6, 3]), (State::Delivered, [7, 4, 1]), (State::Dead, [8, 5, 2])]
        {
            let all = page(tx, i64::MAX, 99, Some(state))?;
            assert_eq!(all, expected, "{state:?}");
            assert_eq!(page(tx, all[0], 1, Some(state))?, expected[1..2], "{state:?}");
            assert_eq!(page(tx, 1, 9, Some(state))?, [], "{state:?}");
        }
        assert_eq!(deliveries::page(tx, other, i64::MAX, 9, None)?, []);
        Ok::<_, StoreError>(deliveries::page(tx, org, 9, 1, None)?.remove(0))
    });
    let eighth = checks.await.expect("read");
    let expected = Delivery {
        seq: 8,
        event: eighth.event,
        kind: "Utilisation".into(),
        at: at(8),
        lane: "a".into(),
        form: CallbackVersion::V3,
        state: State::Dead,
        attempts: 1,
        made_at: at(8),
        done_at: Some(at(30)),
        body: "full 8".into(),
    };
    assert_eq!(eighth, expected);
}

async fn a_delivery_is_found_with_its_attempts(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        several(tx, org, 2)?;
        deliveries::attempted(tx, org, &[])?;
        deliveries::attempted(tx, org, &[attempt(1, 1), attempt(2, 1)])?;
        deliveries::attempted(tx, org, &[attempt(1, 3), attempt(1, 2)])?;
        // What was noted stays as it was noted.
        deliveries::attempted(tx, org, &[Attempt { answer: "other".into(), ..attempt(1, 2) }])?;
        assert_eq!(deliveries::find(tx, org, 3)?, None);
        assert_eq!(deliveries::find(tx, other, 1)?, None);
        let second = deliveries::find(tx, org, 2)?.expect("there");
        assert_eq!((second.0.seq, second.1), (2, vec![attempt(2, 1)]));
        assert_eq!(deliveries::last_attempts(tx, org, &[1, 2])?, [], "none is counted yet");
        deliveries::failed(tx, org, (1, 0), None)?;
        deliveries::failed(tx, org, (1, 1), None)?;
        assert_eq!(deliveries::last_attempts(tx, org, &[1, 2])?, [attempt(1, 2)]);
        assert_eq!(deliveries::last_attempts(tx, org, &[])?, []);
        assert_eq!(deliveries::last_attempts(tx, other, &[1])?, []);
        Ok::<_, StoreError>(deliveries::find(tx, org, 1)?.expect("there").1)
    });
    assert_eq!(checks.await, Ok(vec![attempt(1, 1), attempt(1, 2), attempt(1, 3)]));
}

async fn what_is_dead_is_found_in_order(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let checks = store.write(org, move |tx| {
        for lane in ["a", "b", "a", "b", "a"] {
            tell(tx, org, lane, at(1))?;
        }
        for seq in [5, 1, 4] {
            deliveries::failed(tx, org, (seq, 0), Some(at(2)))?;
        }
        deliveries::delivered(tx, org, &[3], at(2))?;
        let named = |seq: i64, lane: &str| (seq, lane.to_owned());
        assert_eq!(deliveries::dead(tx, org, 0, 2)?, [named(1, "a"), named(4, "b")]);
        assert_eq!(deliveries::dead(tx, org, 4, 2)?, [named(5, "a")]);
        assert_eq!(deliveries::dead(tx, org, 5, 2)?, []);
        let sent = |seq: i64, lane: &str, state| Sent { seq, lane: lane.into(), state, at: at(1) };
        let first = [sent(1, "a", State::Dead), sent(2, "b", State::Waiting)];
        assert_eq!(deliveries::after(tx, org, 0, 2)?, first);
        assert_eq!(deliveries::after(tx, org, 2, 1)?, [sent(3, "a", State::Delivered)]);
        deliveries::after(tx, org, 5, 9)
    });
    assert_eq!(checks.await, Ok(vec![]));
}

async fn events_before_a_moment_are_found_by_halving(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let late = i64::try_from(limits::RECORD_AHEAD.as_millis()).expect("minutes");
    let checks = store.write(org, move |tx| {
        assert_eq!(deliveries::before(tx, org, at(9))?, 0, "there are none");
        // Two at each of twenty moments, ten apart.
        for n in 1..=40 {
            tell(tx, org, "a", at((n + 1) / 2 * 10))?;
        }
        for (moment, expected) in [
            (0, 0),
            (10, 0),
            (11, 2),
            (20, 2),
            (21, 4),
            (105, 20),
            (200, 38),
            (201, 40),
            (9_999, 40),
        ] {
            assert_eq!(deliveries::before(tx, org, at(moment + late))?, expected, "{moment}");
            // Nothing from that moment on is left out.
            let rest = deliveries::after(tx, org, expected, 99)?;
            assert!(rest.iter().all(|one| one.at >= at(moment)), "{moment}");
        }
        deliveries::before(tx, other, at(9_999_999))
    });
    assert_eq!(checks.await, Ok(0));
}

async fn delays_are_those_of_the_newest_that_arrived(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        several(tx, org, 6)?;
        for (seq, done) in [(1, 21), (3, 13), (2, 42), (6, 17)] {
            deliveries::delivered(tx, org, &[seq], at(done))?;
        }
        deliveries::failed(tx, org, (4, 0), Some(at(30)))?;
        assert_eq!(deliveries::delays(tx, other, 9)?, []);
        let newest = [(at(42), 40), (at(21), 20)];
        assert_eq!(deliveries::delays(tx, org, 3)?, newest, "one of the newest is dead");
        deliveries::delays(tx, org, 9)
    });
    let delays = vec![(at(42), 40), (at(21), 20), (at(17), 11), (at(13), 10)];
    assert_eq!(checks.await, Ok(delays));
}

async fn counting_ends_at_a_bound(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let checks = store.write(org, move |tx| {
        several(tx, org, 5)?;
        assert_eq!(deliveries::counts(tx, org)?, (5, 0));
        deliveries::delivered(tx, org, &[1], at(2))?;
        deliveries::failed(tx, org, (2, 0), Some(at(2)))?;
        deliveries::failed(tx, org, (3, 0), None)?;
        deliveries::counts(tx, org)
    });
    assert_eq!(checks.await, Ok((3, 1)));
    let most = limits::DELIVERIES_COUNTED_MAX;
    let rows = format!(
        "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < {}) \
         INSERT INTO deliveries (org_id, seq, lane, form, state, attempts, tries, made_at) \
         SELECT '{org}', 10 + n, '', 'V3', CASE WHEN n % 2 = 0 THEN 'dead' ELSE 'waiting' END, \
         0, 0, 1 FROM n",
        2 * most + 8
    );
    store.close().await;
    fixture.script(&rows).await;
    let store = fixture.store_again();
    let counted: Result<_, StoreError> = store.read(move |tx| deliveries::counts(tx, org)).await;
    assert_eq!(counted, Ok((most, most)));
}

async fn what_is_old_is_forgotten_a_little_at_a_time(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let checks = store.write(org, move |tx| {
        several(tx, org, 6)?;
        let noted: Vec<_> = (1..=6).map(|seq| attempt(seq, 1)).collect();
        deliveries::attempted(tx, org, &noted)?;
        for (seq, done) in [(1, 30), (2, 10), (3, 20), (4, 40)] {
            deliveries::delivered(tx, org, &[seq], at(done))?;
        }
        deliveries::failed(tx, org, (5, 0), Some(at(15)))?;
        assert!(!deliveries::has_old(tx, org, at(10))?);
        assert!(!deliveries::has_old(tx, other, at(99))?);
        assert!(deliveries::has_old(tx, org, at(11))?);
        deliveries::forget(tx, org, at(31), 2)?;
        let left = |tx: &mut Tx<'_>| {
            let page = deliveries::page(tx, org, i64::MAX, 9, None)?;
            Ok::<_, StoreError>(page.iter().map(|one| one.seq).collect::<Vec<_>>())
        };
        assert_eq!(left(tx)?, [6, 4, 3, 1], "those that were done first");
        deliveries::forget(tx, org, at(31), 9)?;
        deliveries::forget(tx, org, at(31), 9)?;
        assert_eq!(left(tx)?, [6, 4], "what waits is never old");
        assert!(!deliveries::has_old(tx, org, at(31))?);
        let count = tx.one("SELECT COUNT(*) FROM attempts", &[])?.int(0)?;
        Ok::<_, StoreError>((count, events::page(tx, org, 0, 9)?.len()))
    });
    assert_eq!(checks.await, Ok((2, 6)), "attempts go with them, events stay");
}
