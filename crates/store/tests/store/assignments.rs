//! Bundles on eSIMs: what each gives, how far it is, and what an order put where; on both
//! databases.

use std::collections::BTreeMap;

use domain::assignment::{Assignment, State, Terms};
use domain::catalogue::{Data, DurationUnit, Start};
use domain::esim::ProfileStatus;
use domain::inventory::{Lot, Move};
use domain::order::{Assigned, Order};
use domain::{Iccid, OrderId, OrgId, Timestamp};
use store::assignments::{self, New, Placed, Stored};
use store::lots::{self, Cause};
use store::{Store, StoreError, Tx, esims, orders};

use crate::commerce::{PLAIN, name, put_bundles};
use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::orders::order;
use crate::profiles::{LIVE, iccid, iccids, import, issue};

on_both! {
    what_is_put_on_an_esim_reads_back,
    an_esim_shows_what_its_owner_put_there_oldest_first,
    what_became_of_a_bundle_is_saved,
    what_waits_is_placed,
    an_order_pages_through_what_it_put_where,
    the_install_states_of_an_order_are_counted,
    an_item_is_ready_once_and_with_its_lot,
    an_apply_is_ready_with_the_lots_it_took,
    what_never_was_is_revoked,
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

/// A plain bundle on an eSIM: which item it belongs to, its number, and whether the eSIM is new.
pub(crate) fn unit((item, n): (i64, i64), iccid: Iccid, is_new_esim: bool) -> New {
    let assigned = Assigned { item, n, iccid, bundle: name("a"), is_new_esim };
    New { assigned, terms: PLAIN, lot: None, wanted_at: None }
}

/// Two organisations with three eSIMs each, and a bundle.
async fn start(store: &Store) -> (OrgId, OrgId) {
    put_bundles(store, &["a", "b"]).await;
    let (org, other) = (new_org(store, 1).await, new_org(store, 2).await);
    import(store, LIVE, 1..=6).await;
    assert_eq!(issue(store, org, LIVE, 3).await, Ok(iccids(1..=3)));
    assert_eq!(issue(store, other, LIVE, 3).await, Ok(iccids(4..=6)));
    (org, other)
}

async fn place(store: &Store, order: &Order, new: Vec<New>, state: State, ms: i64) {
    let order = order.clone();
    let placed = store.write(order.org, move |tx| {
        orders::insert(tx, &order, &[])?;
        assignments::insert(tx, (order.org, order.id), &new, state, at(ms))
    });
    assert_eq!(placed.await, Ok::<_, StoreError>(()));
}

/// A lot of the first bundle.
async fn add_lot(store: &Store, org: OrgId, reference: &'static str) -> i64 {
    let lot = Lot::new(name("a"), 9, (5, 0), at(1));
    let cause = Cause { kind: Move::Bought, reference, at: at(1) };
    store.write(org, move |tx| lots::insert(tx, org, &lot, cause)).await.expect("a lot")
}

async fn on_esims(store: &Store, org: OrgId, numbers: &[u64]) -> Vec<Stored> {
    let iccids = iccids(numbers.iter().copied());
    let stored = store.read(move |tx| assignments::of_esims(tx, org, &iccids)).await;
    stored.unwrap_or_else(|error: StoreError| panic!("{error}"))
}

/// Every kind of data, unit and start, and every field that may be missing.
fn every_kind() -> Vec<(Terms, Option<i64>)> {
    let unlimited = Data::Unlimited { daily_mb: 2_500, throttle_kbps: 1_250 };
    let slow = Data::Unlimited { daily_mb: 0, throttle_kbps: 64 };
    let mut kinds = Vec::new();
    for (data, duration) in [(Data::Megabytes(0), 1), (unlimited, 30), (slow, 365), (PLAIN.data, 7)]
    {
        for (unit, start) in [
            (DurationUnit::Day, Start::Auto),
            (DurationUnit::Day, Start::FirstUse),
            (DurationUnit::Month, Start::Auto),
            (DurationUnit::Month, Start::FirstUse),
        ] {
            let terms = Terms { data, duration, unit, start };
            kinds.extend([(terms, None), (terms, Some(77))]);
        }
    }
    kinds
}

async fn what_is_put_on_an_esim_reads_back(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = start(&store).await;
    let lot = add_lot(&store, org, "order").await;
    let kinds = every_kind();
    let new: Vec<_> = kinds
        .iter()
        .zip(0_i64..)
        .map(|((terms, wanted), n)| New {
            terms: *terms,
            lot: (n % 3 == 0).then_some(lot),
            wanted_at: wanted.map(at),
            ..unit((n / 10, n), iccid(1), n % 2 == 0)
        })
        .collect();
    let order = order(org, 1);
    place(&store, &order, new.clone(), State::Queued, 33).await;
    let stored = on_esims(&store, org, &[1]).await;
    assert_eq!(stored.len(), new.len());
    for (stored, new) in stored.iter().zip(&new) {
        let expected = Stored {
            assignment: Assignment {
                id: stored.assignment.id,
                state: State::Queued,
                terms: new.terms,
                assigned_at: at(33),
                ready_at: at(33),
                wanted_at: new.wanted_at,
                started_at: None,
                ends_at: None,
                ended_at: None,
                used: 0,
                used_that_day: 0,
                used_on: 0,
            },
            iccid: iccid(1),
            bundle: name("a"),
            description: "All of a".into(),
            reference: order.reference.clone(),
            n: new.assigned.n,
            item: new.assigned.item,
            lot: new.lot,
        };
        assert_eq!(*stored, expected);
        assert_eq!(stored.own_reference(), format!("{}-{}", order.reference, new.assigned.n));
    }
    assert!(stored.is_sorted_by_key(|stored| stored.assignment.id), "later ones come later");
    assert_eq!(on_esims(&store, other, &[1]).await, [], "another organisation's");
    assert_eq!(on_esims(&store, org, &[2]).await, []);
}

async fn an_esim_shows_what_its_owner_put_there_oldest_first(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = start(&store).await;
    let other_bundle = |unit: New| New {
        assigned: Assigned { bundle: name("b"), ..unit.assigned.clone() },
        ..unit
    };
    let first = vec![unit((0, 0), iccid(2), true), unit((0, 1), iccid(1), true)];
    let second = vec![other_bundle(unit((0, 0), iccid(1), false)), unit((0, 1), iccid(2), false)];
    // The reference of the later order sorts before that of the earlier one.
    place(&store, &order(org, 9), first, State::Queued, 1).await;
    place(&store, &order(org, 2), second, State::Processing, 2).await;
    place(&store, &order(other, 5), vec![unit((0, 0), iccid(4), true)], State::Queued, 3).await;
    let names = |stored: Vec<Stored>| -> Vec<(Iccid, String, State, String)> {
        let name = |one: Stored| {
            let own = one.own_reference();
            (one.iccid, one.bundle.as_str().to_owned(), one.assignment.state, own)
        };
        stored.into_iter().map(name).collect()
    };
    let [old, new] = [order(org, 9).reference, order(org, 2).reference];
    let on_two = [
        (iccid(2), "a".to_owned(), State::Queued, format!("{old}-0")),
        (iccid(1), "a".to_owned(), State::Queued, format!("{old}-1")),
        (iccid(1), "b".to_owned(), State::Processing, format!("{new}-0")),
        (iccid(2), "a".to_owned(), State::Processing, format!("{new}-1")),
    ];
    assert_eq!(names(on_esims(&store, org, &[1, 2, 3, 4]).await), on_two);
    assert_eq!(names(on_esims(&store, org, &[1]).await), [on_two[1].clone(), on_two[2].clone()]);
    assert_eq!(on_esims(&store, other, &[1, 4]).await.len(), 1);
    assert_eq!(on_esims(&store, org, &[]).await, []);
}

async fn what_became_of_a_bundle_is_saved(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, _) = start(&store).await;
    let new = (0..=7).map(|n| unit((0, n), iccid(1), false)).collect();
    place(&store, &order(org, 1), new, State::Queued, 1).await;
    let mut expected = on_esims(&store, org, &[1]).await;
    for (one, state) in expected.iter_mut().zip(State::ALL) {
        let n = 10 * one.n;
        one.assignment.state = state;
        one.assignment.started_at = Some(at(n + 1));
        one.assignment.ends_at = Some(at(n + 2));
        one.assignment.ended_at = Some(at(n + 3));
        one.assignment.used = i64::MAX - n;
        one.assignment.used_that_day = n + 5;
        one.assignment.used_on = n + 6;
    }
    let saving: Vec<_> = expected[..7].iter().map(|one| one.assignment.clone()).collect();
    let saved =
        store.write(org, move |tx| saving.iter().try_for_each(|one| assignments::save(tx, one)));
    assert_eq!(saved.await, Ok::<_, StoreError>(()));
    assert_eq!(on_esims(&store, org, &[1]).await, expected, "and the last is as it was");
    // What was there can be missing again.
    let blank =
        Assignment { started_at: None, ends_at: None, ended_at: None, ..expected[3].assignment };
    expected[3].assignment = blank.clone();
    let saved = store.write(org, move |tx| assignments::save(tx, &blank)).await;
    assert_eq!((saved, on_esims(&store, org, &[1]).await), (Ok::<_, StoreError>(()), expected));
}

async fn what_waits_is_placed(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, _) = start(&store).await;
    let kinds = every_kind();
    let new: Vec<_> = kinds
        .into_iter()
        .zip(0_i64..)
        .map(|((terms, wanted), n)| New {
            terms,
            wanted_at: wanted.map(at),
            ..unit((0, n), iccid(1 + u64::try_from(n % 3).expect("small")), n % 2 == 0)
        })
        .collect();
    let expected: Vec<Placed> = new.iter().map(New::placed).collect();
    let waiting = expected.iter().filter(|placed| placed.waits_for_use).count();
    assert_eq!((expected.len(), waiting), (32, 8), "those that nobody wants to start earlier");
    let (done, processed) = (order(org, 1), order(org, 2));
    place(&store, &done, new.clone(), State::Queued, 1).await;
    place(&store, &processed, new, State::Processing, 1).await;
    let placed = async |order: OrderId| -> Vec<Placed> {
        let placed = store.read(move |tx| assignments::placed(tx, order)).await;
        placed.unwrap_or_else(|error: StoreError| panic!("{error}"))
    };
    assert_eq!(placed(done.id).await, expected);
    assert_eq!(placed(processed.id).await, [], "it cannot be used yet");
    let started = Assignment {
        state: State::Active,
        ..on_esims(&store, org, &[1]).await[0].assignment.clone()
    };
    let saved = store.write(org, move |tx| assignments::save(tx, &started)).await;
    assert_eq!(saved, Ok::<_, StoreError>(()));
    assert_eq!(placed(done.id).await, expected[1..], "what has started waits no longer");
}

async fn an_order_pages_through_what_it_put_where(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, _) = start(&store).await;
    // Written in an order that is not that of the numbers.
    let new: Vec<_> = (0..7).map(|n| unit((n / 2, n * 3 % 7), iccid(1), n == 0)).collect();
    let mut all: Vec<_> = new.iter().map(|new| new.assigned.clone()).collect();
    all.sort_by_key(|one| one.n);
    let (mine, neighbour) = (order(org, 1), order(org, 2));
    place(&store, &mine, new.clone(), State::Queued, 1).await;
    place(&store, &neighbour, new, State::Processing, 1).await;
    for size in [1, 2, 3, 7, 100] {
        let (mut seen, mut from) = (Vec::new(), 0);
        loop {
            let page = store.read(move |tx| assignments::page_of_order(tx, mine.id, from, size));
            let page: Result<Vec<Assigned>, StoreError> = page.await;
            let page = page.expect("a page");
            assert!(page.len() <= usize::try_from(size).expect("small"));
            let Some(last) = page.last() else { break };
            from = last.n + 1;
            seen.extend(page);
        }
        assert_eq!(seen, all, "pages of {size}");
    }
    let none = store.read(move |tx| assignments::page_of_order(tx, order(org, 3).id, 0, 9)).await;
    assert_eq!(none, Ok::<_, StoreError>(vec![]));
}

async fn the_install_states_of_an_order_are_counted(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = start(&store).await;
    // Two bundles on the first, one each on the others.
    let on = [1, 2, 1, 3];
    let new = on.into_iter().zip(0..).map(|(on, n)| unit((0, n), iccid(on), true)).collect();
    let placed = order(org, 1);
    place(&store, &placed, new, State::Queued, 1).await;
    let id = placed.id;
    let states = async |org: OrgId, from: i64, to: i64| -> (i64, i64) {
        let states = store.read(move |tx| assignments::install_states(tx, org, id, (from, to)));
        states.await.unwrap_or_else(|error: StoreError| panic!("{error}"))
    };
    assert_eq!(states(org, 0, 3).await, (4, 0));
    assert_eq!(states(org, 1, 2).await, (2, 0), "from and to are both within");
    assert_eq!(states(org, 4, 9).await, (0, 0));
    assert_eq!(states(other, 0, 3).await, (0, 0), "another organisation's");
    let dead = store.write(org, move |tx| {
        let esim = esims::find(tx, org, &iccid(1))?.expect("issued");
        esims::save(tx, &domain::esim::Esim { status: ProfileStatus::Deactivated, ..esim })?;
        esims::leave(tx, &iccid(2))
    });
    assert_eq!(dead.await, Ok::<_, StoreError>(()));
    assert_eq!(states(org, 0, 3).await, (3, 2), "two on the dead one; one has left");
    assert_eq!(states(org, 1, 1).await, (0, 0));
    assert_eq!(states(org, 3, i64::MAX).await, (1, 0));
}

/// State, lot, and when it was ready and ended, by number within the order.
fn by_number(
    stored: &[Stored],
    reference: &str,
) -> BTreeMap<i64, (State, Option<i64>, i64, Option<i64>)> {
    let of_order = stored.iter().filter(|one| one.reference == reference);
    let fields = |one: &Stored| {
        let Assignment { state, ready_at, ended_at, .. } = &one.assignment;
        (one.n, (*state, one.lot, ready_at.ms(), ended_at.map(Timestamp::ms)))
    };
    of_order.map(fields).collect()
}

async fn an_item_is_ready_once_and_with_its_lot(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, _) = start(&store).await;
    let lot = add_lot(&store, org, "order").await;
    let items = [(0, 0), (1, 1), (0, 2)];
    let new: Vec<_> = items.into_iter().map(|item| unit(item, iccid(1), false)).collect();
    let (mine, neighbour) = (order(org, 1), order(org, 2));
    place(&store, &mine, new.clone(), State::Processing, 1).await;
    place(&store, &neighbour, new, State::Processing, 1).await;
    let id = mine.id;
    let ready = store.write(org, move |tx| {
        let first = assignments::ready(tx, id, (0, lot), at(8))?;
        Ok::<_, StoreError>((first, assignments::ready(tx, id, (0, lot + 99), at(9))?))
    });
    assert_eq!(ready.await, Ok((2, 0)), "once");
    let stored = on_esims(&store, org, &[1]).await;
    let (done, waits) = ((State::Queued, Some(lot), 8, None), (State::Processing, None, 1, None));
    assert_eq!(by_number(&stored, &mine.reference), [(0, done), (1, waits), (2, done)].into());
    let untouched = by_number(&stored, &neighbour.reference);
    assert_eq!(untouched, [(0, waits), (1, waits), (2, waits)].into());
    assert!(stored.iter().all(|one| one.assignment.assigned_at == at(1)));
}

async fn an_apply_is_ready_with_the_lots_it_took(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, _) = start(&store).await;
    let (early, late) = (add_lot(&store, org, "early").await, add_lot(&store, org, "late").await);
    let of_lot = |n: i64, lot: Option<i64>| New { lot, ..unit((0, n), iccid(1), false) };
    let lots = [Some(late), Some(early), Some(late), None];
    let new: Vec<_> = lots.into_iter().zip(0..).map(|(lot, n)| of_lot(n, lot)).collect();
    let (mine, neighbour) = (order(org, 1), order(org, 2));
    place(&store, &mine, new.clone(), State::Processing, 1).await;
    place(&store, &neighbour, new, State::Processing, 1).await;
    let id = mine.id;
    let settled = store.write(org, move |tx| {
        let before = assignments::lots_of_order(tx, id)?;
        let ready =
            [assignments::ready_all(tx, id, at(8))?, assignments::ready_all(tx, id, at(9))?];
        let after = assignments::lots_of_order(tx, id)?;
        Ok::<_, StoreError>((before, ready, after))
    });
    let taken = vec![(early, 1), (late, 2)];
    assert_eq!(
        settled.await,
        Ok((taken.clone(), [4, 0], vec![])),
        "what is done is not given back"
    );
    let stored = on_esims(&store, org, &[1]).await;
    let found = by_number(&stored, &mine.reference);
    let expected = lots.into_iter().zip(0..).map(|(lot, n)| (n, (State::Queued, lot, 8, None)));
    assert_eq!(found, expected.collect());
    let other = store.read(move |tx| assignments::lots_of_order(tx, neighbour.id)).await;
    assert_eq!(other, Ok::<_, StoreError>(taken), "another order's");
}

async fn what_never_was_is_revoked(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, _) = start(&store).await;
    let units = || (0..2).map(|n| unit((n, n), iccid(1), false)).collect::<Vec<_>>();
    let (failed, neighbour) = (order(org, 1), order(org, 2));
    let (failed_id, lot) = (failed.id, add_lot(&store, org, "order").await);
    place(&store, &failed, units(), State::Processing, 1).await;
    place(&store, &neighbour, units(), State::Processing, 1).await;
    let revoke = move |tx: &mut Tx<'_>| {
        assignments::ready(tx, failed_id, (1, lot), at(2))?;
        assignments::revoke(tx, failed_id, at(7))?;
        assignments::revoke(tx, failed_id, at(8))
    };
    assert_eq!(store.write(org, revoke).await, Ok::<_, StoreError>(()));
    let stored = on_esims(&store, org, &[1]).await;
    let revoked = (State::Revoked, None, 1, Some(7));
    let ready = (State::Queued, Some(lot), 2, None);
    assert_eq!(by_number(&stored, &failed.reference), [(0, revoked), (1, ready)].into());
    let waits = (State::Processing, None, 1, None);
    assert_eq!(by_number(&stored, &neighbour.reference), [(0, waits), (1, waits)].into());
}
