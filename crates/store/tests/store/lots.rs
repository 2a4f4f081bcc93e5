//! Lots of the inventory and the moves of their units, on both databases.

use domain::assignment::State;
use domain::catalogue::PROFILE_NAME;
use domain::inventory::{Lot, Move};
use domain::{Mode, OrgId, Timestamp};
use store::assignments::New;
use store::lots::{self, Cause, HeldBundle, Moved};
use store::{Store, StoreError, assignments, orders, profiles};

use crate::assignments::unit;
use crate::commerce::{name, put_bundles};
use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::orders::order;
use crate::profiles::profile;

on_both! {
    units_move_as_they_are_noted,
    nothing_is_taken_beyond_what_is_left,
    the_same_cause_moves_once,
    held_lots_come_by_bundle_and_expiry,
    lots_of_one_bundle_come_by_expiry,
    held_lots_come_in_pages_and_in_sums,
    units_are_put_back_where_they_were,
    expired_lots_are_found_and_the_next_is_known,
    units_on_esims_are_counted_by_lot,
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_ms(ms)
}

fn lot(bundle: &str, total: i64, expires_at: i64) -> Lot {
    Lot {
        id: 0,
        bundle: name(bundle),
        price: 500,
        test_credit: 123,
        total,
        remaining: total,
        refunded: 0,
        bought_at: at(10),
        expires_at: at(expires_at),
    }
}

fn cause(kind: Move, reference: &str) -> Cause<'_> {
    Cause { kind, reference, at: at(20) }
}

async fn add_lot(store: &Store, org: OrgId, reference: &'static str, lot: Lot) -> i64 {
    let cause = cause(Move::Bought, reference);
    store.write(org, move |tx| lots::insert(tx, org, &lot, cause)).await.expect("a lot")
}

async fn take(
    store: &Store,
    (org, lot): (OrgId, i64),
    (kind, reference): (Move, &'static str),
    quantity: i64,
) -> Result<bool, StoreError> {
    store.write(org, move |tx| lots::take(tx, org, lot, quantity, cause(kind, reference))).await
}

async fn found(store: &Store, org: OrgId, id: i64) -> Option<Lot> {
    store.read(move |tx| lots::find(tx, org, id)).await.expect("read")
}

/// What moved in all lots of an organisation, in a fixed order.
async fn moved(store: &Store, org: OrgId) -> Vec<Moved> {
    let moved = store.read(move |tx| lots::moved(tx, org, 0, i64::MAX)).await;
    let mut moved: Vec<Moved> = moved.expect("read");
    moved.sort_by(|a, b| (a.lot, &a.kind).cmp(&(b.lot, &b.kind)));
    moved
}

fn sum(lot: i64, kind: Move, sum: i64, least: i64) -> Moved {
    Moved { lot, kind: kind.name().into(), sum, least }
}

async fn units_move_as_they_are_noted(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let id = add_lot(&store, org, "order 1", lot("a", 10, 100)).await;
    let foreign = add_lot(&store, other, "order 1", lot("a", 4, 100)).await;
    assert_ne!(id, foreign);
    assert_eq!(found(&store, org, id).await, Some(Lot { id, ..lot("a", 10, 100) }));
    assert_eq!(found(&store, other, id).await, None, "another organisation's");
    let here = (org, id);
    assert_eq!(take(&store, here, (Move::Applied, "apply 1"), 3).await, Ok(true));
    assert_eq!(take(&store, here, (Move::Applied, "apply 2"), 1).await, Ok(true));
    assert_eq!(take(&store, here, (Move::Refunded, "refund 1"), 2).await, Ok(true));
    let left = Lot { id, remaining: 4, refunded: 2, ..lot("a", 10, 100) };
    assert_eq!(found(&store, org, id).await, Some(left.clone()));
    assert_eq!(take(&store, here, (Move::Expired, "end"), 4).await, Ok(true));
    let left = Lot { remaining: 0, ..left };
    assert_eq!(found(&store, org, id).await, Some(left.clone()));
    let expected = [
        sum(id, Move::Applied, 4, 1),
        sum(id, Move::Bought, 10, 10),
        sum(id, Move::Expired, 4, 4),
        sum(id, Move::Refunded, 2, 2),
    ];
    assert_eq!(moved(&store, org).await, expected);
    assert_eq!(moved(&store, other).await, [sum(foreign, Move::Bought, 4, 4)]);
    let page = store.read(move |tx| lots::page(tx, org, 0, 10)).await;
    assert_eq!(page, Ok::<_, StoreError>(vec![left]));
    let edges = store.read(move |tx| {
        let (before, after) =
            (lots::moved(tx, org, 0, id - 1)?, lots::moved(tx, org, id, i64::MAX)?);
        Ok::<_, StoreError>((before.len(), lots::moved(tx, org, id - 1, id)?.len(), after.len()))
    });
    assert_eq!(edges.await, Ok((0, 4, 0)), "after the first number, up to the second");
}

async fn nothing_is_taken_beyond_what_is_left(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let id = add_lot(&store, org, "order 1", lot("a", 5, 100)).await;
    assert_eq!(take(&store, (org, id), (Move::Applied, "apply 1"), 2).await, Ok(true));
    for (kind, reference) in [(Move::Applied, "apply 2"), (Move::Refunded, "refund 1")] {
        assert_eq!(take(&store, (org, id), (kind, reference), 4).await, Ok(false), "{kind:?}");
        assert_eq!(take(&store, (other, id), (kind, reference), 1).await, Ok(false), "foreign");
        assert_eq!(take(&store, (org, id + 9), (kind, reference), 1).await, Ok(false), "none");
    }
    assert_eq!(found(&store, org, id).await, Some(Lot { id, remaining: 3, ..lot("a", 5, 100) }));
    assert_eq!(
        moved(&store, org).await,
        [sum(id, Move::Applied, 2, 2), sum(id, Move::Bought, 5, 5)]
    );
    // What was refused before may happen with fewer, and the last unit can be taken.
    assert_eq!(take(&store, (org, id), (Move::Refunded, "refund 1"), 3).await, Ok(true));
    assert_eq!(take(&store, (org, id), (Move::Applied, "apply 2"), 1).await, Ok(false));
}

async fn the_same_cause_moves_once(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let org = new_org(&store, 1).await;
    let id = add_lot(&store, org, "order 1", lot("a", 5, 100)).await;
    assert_eq!(take(&store, (org, id), (Move::Applied, "one"), 1).await, Ok(true));
    for quantity in [1, 2] {
        let again = take(&store, (org, id), (Move::Applied, "one"), quantity).await;
        let again = again.expect_err("once");
        assert!(again.is_unique("lot_moves(lot_id, kind, reference)"), "{again:?}");
    }
    assert_eq!(found(&store, org, id).await.map(|lot| lot.remaining), Some(4));
    // Another kind or another lot is another cause.
    assert_eq!(take(&store, (org, id), (Move::Refunded, "one"), 1).await, Ok(true));
    let second = add_lot(&store, org, "order 1", lot("a", 1, 100)).await;
    assert_eq!(take(&store, (org, second), (Move::Applied, "one"), 1).await, Ok(true));
}

async fn held_lots_come_by_bundle_and_expiry(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a", "B", "c"]).await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let mut ids = Vec::new();
    for (bundle, expires_at) in
        [("c", 50), ("a", 200), ("a", 100), ("B", 100), ("a", 100), ("c", 101)]
    {
        ids.push(add_lot(&store, org, "order", lot(bundle, 1, expires_at)).await);
    }
    add_lot(&store, other, "order", lot("a", 1, 100)).await;
    let empty = add_lot(&store, org, "order", lot("a", 1, 150)).await;
    assert_eq!(take(&store, (org, empty), (Move::Applied, "one"), 1).await, Ok(true));
    let held = async |now: i64| -> Vec<i64> {
        let lots = store.read(move |tx| lots::held(tx, org, at(now))).await;
        let lots: Vec<Lot> = lots.expect("read");
        lots.into_iter().map(|lot| lot.id).collect()
    };
    let [c50, a200, a100, b100, a100_too, c101] = ids[..] else { panic!("six lots") };
    assert_eq!(held(49).await, [b100, a100, a100_too, a200, c50, c101]);
    assert_eq!(held(50).await, [b100, a100, a100_too, a200, c101], "expired at its moment");
    assert_eq!(held(99).await, [b100, a100, a100_too, a200, c101]);
    assert_eq!(held(100).await, [a200, c101]);
    assert_eq!(held(200).await, [0; 0]);
}

async fn lots_of_one_bundle_come_by_expiry(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a", "A"]).await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let mut ids = Vec::new();
    for (bundle, expires_at) in [("a", 300), ("a", 100), ("A", 50), ("a", 200), ("a", 100)] {
        ids.push(add_lot(&store, org, "order", lot(bundle, 2, expires_at)).await);
    }
    add_lot(&store, other, "order", lot("a", 2, 60)).await;
    let empty = add_lot(&store, org, "order", lot("a", 1, 70)).await;
    assert_eq!(take(&store, (org, empty), (Move::Applied, "one"), 1).await, Ok(true));
    let held = async |bundle: &'static str, now: i64, most: i64| -> Vec<i64> {
        let lots = store.read(move |tx| lots::held_of(tx, (org, &name(bundle)), at(now), most));
        let lots: Vec<Lot> = lots.await.unwrap_or_else(|error: StoreError| panic!("{error}"));
        lots.into_iter().map(|lot| lot.id).collect()
    };
    let [a300, a100, capital, a200, a100_too] = ids[..] else { panic!("five lots") };
    assert_eq!(held("a", 0, 9).await, [a100, a100_too, a200, a300], "then by number");
    assert_eq!(held("a", 0, 3).await, [a100, a100_too, a200]);
    assert_eq!(held("a", 99, 1).await, [a100]);
    assert_eq!(held("a", 100, 9).await, [a200, a300], "expired at its moment");
    assert_eq!(held("a", 300, 9).await, [0; 0]);
    assert_eq!(held("A", 0, 9).await, [capital], "case matters");
    assert_eq!(held("b", 0, 9).await, [0; 0]);
}

async fn held_lots_come_in_pages_and_in_sums(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a", "B", "c"]).await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    for (bundle, units, expires_at) in
        [("c", 4, 50), ("a", 3, 200), ("a", 2, 100), ("B", 1, 100), ("a", 5, 100)]
    {
        add_lot(&store, org, "order", lot(bundle, units, expires_at)).await;
    }
    add_lot(&store, other, "order", lot("a", 9, 100)).await;
    for (now, most) in [(0, 1), (0, 2), (0, 9), (50, 2), (100, 1), (200, 9)] {
        let whole = store.read(move |tx| lots::held(tx, org, at(now))).await;
        let whole: Vec<Lot> = whole.unwrap_or_else(|error: StoreError| panic!("{error}"));
        let mut paged: Vec<Lot> = Vec::new();
        loop {
            let after = paged.last().cloned();
            let page =
                store.read(move |tx| lots::held_page(tx, org, at(now), after.as_ref(), most));
            let page: Vec<Lot> = page.await.unwrap_or_else(|error: StoreError| panic!("{error}"));
            assert!(i64::try_from(page.len()).is_ok_and(|len| len <= most));
            if page.is_empty() {
                break;
            }
            paged.extend(page);
        }
        assert_eq!(paged, whole, "{now} {most}");
    }
    let sums = async |profile: &'static str, now: i64, most: i64| {
        let sums = store.read(move |tx| lots::by_bundle(tx, (org, profile), at(now), most)).await;
        let sums: Vec<HeldBundle> = sums.unwrap_or_else(|error: StoreError| panic!("{error}"));
        let plain = |sum: HeldBundle| (sum.bundle.to_string(), sum.remaining, sum.expires_at.ms());
        sums.into_iter().map(plain).collect::<Vec<_>>()
    };
    let sum = |bundle: &str, remaining, expires| (bundle.to_owned(), remaining, expires);
    let all = [sum("B", 1, 100), sum("a", 10, 100), sum("c", 4, 50)];
    assert_eq!(sums(PROFILE_NAME, 0, 9).await, all);
    assert_eq!(sums(PROFILE_NAME, 0, 2).await, all[..2]);
    assert_eq!(sums(PROFILE_NAME, 100, 9).await, [sum("a", 3, 200)]);
    assert_eq!(sums("another", 0, 9).await, []);
}

async fn units_are_put_back_where_they_were(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let org = new_org(&store, 1).await;
    let id = add_lot(&store, org, "order", lot("a", 5, 100)).await;
    let neighbour = add_lot(&store, org, "order", lot("a", 5, 100)).await;
    assert_eq!(take(&store, (org, id), (Move::Applied, "apply 1"), 5).await, Ok(true));
    let put_back = async |units: i64, reference: &'static str| -> Result<(), StoreError> {
        let cause = cause(Move::Returned, reference);
        store.write(org, move |tx| lots::put_back(tx, (org, id), units, cause)).await
    };
    assert_eq!(put_back(3, "apply 1").await, Ok(()));
    let again = put_back(3, "apply 1").await.expect_err("once");
    assert!(again.is_unique("lot_moves(lot_id, kind, reference)"), "{again:?}");
    assert_eq!(put_back(1, "apply 2").await, Ok(()));
    assert_eq!(found(&store, org, id).await, Some(Lot { id, remaining: 4, ..lot("a", 5, 100) }));
    let untouched = Lot { id: neighbour, ..lot("a", 5, 100) };
    assert_eq!(found(&store, org, neighbour).await, Some(untouched));
    let expected = [
        sum(id, Move::Applied, 5, 5),
        sum(id, Move::Bought, 5, 5),
        sum(id, Move::Returned, 4, 1),
        sum(neighbour, Move::Bought, 5, 5),
    ];
    assert_eq!(moved(&store, org).await, expected);
    // What came back can be held and taken like before.
    let held = store.read(move |tx| lots::held_of(tx, (org, &name("a")), at(0), 1)).await;
    let held: Vec<Lot> = held.unwrap_or_else(|error: StoreError| panic!("{error}"));
    assert_eq!(held.first().map(|lot| lot.id), Some(id));
    assert_eq!(take(&store, (org, id), (Move::Applied, "apply 3"), 4).await, Ok(true));
}

async fn expired_lots_are_found_and_the_next_is_known(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a", "b"]).await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let next = async || {
        let next = store.read(move |tx| lots::next_expiry(tx, org)).await;
        next.expect("read").map(|at: Timestamp| at.ms())
    };
    assert_eq!(next().await, None);
    add_lot(&store, other, "order", lot("a", 1, 1)).await;
    assert_eq!(next().await, None, "another organisation's");
    let late = add_lot(&store, org, "order", lot("a", 1, 90)).await;
    let first = add_lot(&store, org, "order", lot("b", 1, 30)).await;
    let twin = add_lot(&store, org, "order", lot("a", 1, 30)).await;
    let expired = async |by: i64, most: i64| -> Vec<i64> {
        let lots = store.read(move |tx| lots::expired(tx, org, at(by), most)).await;
        let lots: Vec<Lot> = lots.expect("read");
        lots.into_iter().map(|lot| lot.id).collect()
    };
    assert_eq!(next().await, Some(30));
    assert_eq!(expired(29, 10).await, [0; 0]);
    assert_eq!(expired(30, 10).await, [first, twin], "at its moment, by number");
    assert_eq!(expired(90, 10).await, [first, twin, late]);
    assert_eq!(expired(90, 1).await, [first]);
    for (lot, remaining) in [(first, [twin, late]), (twin, [late, late])] {
        assert_eq!(take(&store, (org, lot), (Move::Expired, "end"), 1).await, Ok(true));
        assert_eq!(expired(90, 10).await[0], remaining[0]);
    }
    assert_eq!(next().await, Some(90));
    assert_eq!(take(&store, (org, late), (Move::Applied, "one"), 1).await, Ok(true));
    assert_eq!((next().await, expired(90, 10).await), (None, vec![]));
}

async fn units_on_esims_are_counted_by_lot(fixture: Fixture) {
    let store = fixture.store().await;
    put_bundles(&store, &["a"]).await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let first = add_lot(&store, org, "order", lot("a", 9, 90)).await;
    let second = add_lot(&store, org, "order", lot("a", 9, 90)).await;
    let counted = store.write(org, move |tx| {
        profiles::import(tx, Mode::Live, &[profile(1, PROFILE_NAME)], at(1))?;
        let iccid = profiles::issue(tx, org, (Mode::Live, PROFILE_NAME), 1, at(2))?.remove(0);
        let units = |items: &[i64]| -> Vec<New> {
            let one = |(item, n): (&i64, i64)| unit((*item, n), iccid.clone(), n == 0);
            items.iter().zip(0..).map(one).collect()
        };
        let (done, processed) = (order(org, 1), order(org, 2));
        orders::insert(tx, &done, &[])?;
        orders::insert(tx, &processed, &[])?;
        let lots = [first, first, first, second];
        let bought: Vec<_> = units(&[0, 0, 0, 1])
            .into_iter()
            .zip(lots)
            .map(|(unit, lot)| New { lot: Some(lot), ..unit })
            .collect();
        assignments::insert(tx, (org, done.id), &bought, State::Queued, at(3))?;
        let units = units(&[0, 1, 1]);
        assignments::insert(tx, (org, processed.id), &units, State::Processing, at(3))?;
        let before = lots::on_esims(tx, org, 0, i64::MAX)?;
        let of_one = assignments::of_orders(tx, &[processed.id])?;
        let of_one: Vec<_> = of_one.into_iter().map(|(_, one)| one).collect();
        let expected: Vec<_> = units.into_iter().map(|unit| unit.assigned).collect();
        assert_eq!(of_one, expected);
        let all = assignments::of_orders(tx, &[done.id, processed.id])?;
        assert_eq!(all.iter().filter(|(id, _)| *id == done.id).count(), 4);
        assert_eq!(all.len(), 7);
        assert_eq!(assignments::ready(tx, processed.id, (1, second), at(4))?, 2);
        assert_eq!(assignments::ready(tx, processed.id, (1, second), at(5))?, 0, "once");
        assignments::revoke(tx, processed.id, at(6))?;
        let after = lots::on_esims(tx, org, 0, i64::MAX)?;
        let one = lots::on_esims(tx, org, first, second)?;
        Ok::<_, StoreError>((before, after, one, lots::on_esims(tx, other, 0, i64::MAX)?))
    });
    let (mut before, mut after, one, foreign) = counted.await.expect("counted");
    before.sort_unstable();
    after.sort_unstable();
    assert_eq!(before, [(first, 3), (second, 1)], "no lot, not counted");
    assert_eq!(after, [(first, 3), (second, 3)]);
    assert_eq!((one, foreign), (vec![(second, 3)], vec![]));
}
