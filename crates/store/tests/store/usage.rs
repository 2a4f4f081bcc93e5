//! Running sums of data used, on both databases.

use domain::{Iccid, OrgId};
use store::usage::{self, Sum};
use store::{Store, StoreError};

use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::profiles::iccid;

on_both! {
    data_is_added_up_by_hour_and_country,
    sums_of_an_esim_are_apart_from_those_of_all,
    many_sums_are_added_at_once,
}

fn sum(hour: i64, country: &str, bytes: i64) -> Sum {
    Sum { hour, country: country.into(), bytes }
}

async fn add(store: &Store, org: OrgId, sums: &[(Option<Iccid>, Sum)]) {
    let sums = sums.to_vec();
    let added = store.write(org, move |tx| usage::add(tx, org, &sums)).await;
    assert_eq!(added, Ok::<_, StoreError>(()));
}

async fn span(store: &Store, of: (OrgId, Option<Iccid>), hours: (i64, i64)) -> Vec<Sum> {
    let span = store.read(move |tx| usage::span(tx, (of.0, of.1.as_ref()), hours)).await;
    span.unwrap_or_else(|error: StoreError| panic!("{error}"))
}

async fn data_is_added_up_by_hour_and_country(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    add(&store, org, &[]).await;
    add(&store, org, &[(None, sum(7, "DE", 5)), (None, sum(7, "", 1)), (None, sum(8, "DE", 2))])
        .await;
    add(&store, org, &[(None, sum(7, "DE", 1_000_000_000_000)), (None, sum(-1, "FR", 3))]).await;
    let whole = [sum(-1, "FR", 3), sum(7, "", 1), sum(7, "DE", 1_000_000_000_005), sum(8, "DE", 2)];
    // From the first hour to before the second.
    for (from, to, expected) in [
        (-1, 9, &whole[..]),
        (i64::MIN, i64::MAX, &whole),
        (0, 8, &whole[1..3]),
        (7, 8, &whole[1..3]),
        (8, 8, &[]),
        (8, 9, &whole[3..]),
        (9, 99, &[]),
        (8, 7, &[]),
    ] {
        assert_eq!(span(&store, (org, None), (from, to)).await, expected, "{from} to {to}");
    }
}

async fn sums_of_an_esim_are_apart_from_those_of_all(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let all = [
        (None, sum(7, "DE", 30)),
        (Some(iccid(1)), sum(7, "DE", 10)),
        (Some(iccid(2)), sum(7, "DE", 20)),
    ];
    add(&store, org, &all).await;
    // The same eSIM, as another organisation has it later.
    add(&store, other, &[(Some(iccid(1)), sum(7, "DE", 4))]).await;
    for (of, expected) in [
        ((org, None), Some(30)),
        ((org, Some(iccid(1))), Some(10)),
        ((org, Some(iccid(2))), Some(20)),
        ((org, Some(iccid(3))), None),
        ((other, Some(iccid(1))), Some(4)),
        ((other, None), None),
    ] {
        let expected: Vec<_> = expected.map(|bytes| sum(7, "DE", bytes)).into_iter().collect();
        assert_eq!(span(&store, of, (0, 9)).await, expected);
    }
}

async fn many_sums_are_added_at_once(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let many: Vec<_> = (0..700).map(|hour| (Some(iccid(1)), sum(hour, "DE", hour + 1))).collect();
    for times in 1..=2 {
        add(&store, org, &many).await;
        let expected: Vec<_> = (0..700).map(|hour| sum(hour, "DE", times * (hour + 1))).collect();
        assert_eq!(span(&store, (org, Some(iccid(1))), (0, 700)).await, expected);
    }
}
