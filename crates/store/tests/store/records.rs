//! Records of networks and installation servers: each counts once, on both databases.

use std::collections::HashSet;

use domain::{OrgId, Timestamp};
use store::records::{self, Digest, Record, Stray};
use store::{Store, StoreError, args};

use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::profiles::iccid;

on_both! {
    a_record_is_kept_once,
    a_record_that_several_bring_at_once_counts_once,
    what_nobody_paid_for_is_noted_on_its_record,
    what_comes_twice_in_one_call_is_new_once,
    a_record_that_was_emptied_is_known_still,
    strays_are_kept_once_until_they_are_found_or_forgotten,
}

const KEPT: &str = "SELECT org_id, iccid, kind, at, arrived_at, bytes, overshoot, country, network \
     FROM records WHERE source = $1 AND id = $2";

fn record(source: &str, id: &str) -> Record {
    Record {
        source: source.into(),
        id: id.into(),
        iccid: iccid(1),
        kind: "usage",
        at: Timestamp::from_ms(11),
        arrived_at: Timestamp::from_ms(12),
        bytes: 13,
        overshoot: 14,
        country: "DE".into(),
        network: "DEUD1".into(),
    }
}

fn digests(records: &[Record]) -> HashSet<Digest> {
    records.iter().map(Record::digest).collect()
}

/// Whose a record is, and the record, as the table has it.
async fn kept(store: &Store, source: &'static str, id: &'static str) -> Option<(OrgId, Record)> {
    let kept = store.read(move |tx| {
        let Some(row) = tx.maybe(KEPT, args![source, id])? else { return Ok(None) };
        let record = Record {
            source: source.into(),
            id: id.into(),
            iccid: row.parsed(1, domain::Iccid::parse)?,
            kind: if row.text(2)? == "usage" { "usage" } else { "another" },
            at: row.time(3)?,
            arrived_at: row.time(4)?,
            bytes: row.int(5)?,
            overshoot: row.int(6)?,
            country: row.text(7)?.to_owned(),
            network: row.text(8)?.to_owned(),
        };
        Ok::<_, StoreError>(Some((row.parsed(0, OrgId::parse)?, record)))
    });
    kept.await.expect("read")
}

async fn add(store: &Store, org: OrgId, record: Record) -> bool {
    let digest = record.digest();
    let added = store.write(org, move |tx| records::add(tx, org, std::slice::from_ref(&record)));
    let new = added.await.unwrap_or_else(|error: StoreError| panic!("{error}"));
    assert!(new.iter().all(|known_by| *known_by == digest), "nothing but this one is new");
    new.len() == 1
}

async fn a_record_is_kept_once(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    assert!(add(&store, org, record("net", "1")).await);
    assert!(!add(&store, org, record("net", "1")).await, "known");
    // Whatever it says the second time, and whoever's it is then.
    let changed = Record { bytes: 99, country: "FR".into(), iccid: iccid(2), ..record("net", "1") };
    assert!(!add(&store, other, changed).await);
    assert_eq!(kept(&store, "net", "1").await, Some((org, record("net", "1"))));
    // Another source or another id is another record, also with letters of another case.
    let (blank, empty) = (String::new(), Record { bytes: 0, ..record("net", "") });
    let empty = Record { country: blank.clone(), network: blank, ..empty };
    for other in [record("NET", "1"), record("other", "1"), record("net", "2"), empty.clone()] {
        assert!(add(&store, org, other).await);
    }
    assert_eq!(kept(&store, "net", "").await, Some((org, empty)));
    assert_eq!(kept(&store, "net", "3").await, None);
    let refused: Result<bool, StoreError> = store
        .write(org, move |tx| {
            let third = [record("net", "3")];
            assert_eq!(records::add(tx, org, &third)?, digests(&third));
            assert_eq!(records::add(tx, org, &third)?, HashSet::new(), "within the write");
            Err(StoreError::Busy)
        })
        .await;
    assert_eq!(refused, Err(StoreError::Busy));
    assert!(add(&store, org, record("net", "3")).await, "what was undone was never known");
}

async fn a_record_that_several_bring_at_once_counts_once(fixture: Fixture) {
    let store = fixture.store().await;
    let mut tasks = Vec::new();
    for n in 1..=6 {
        let org = new_org(&store, n).await;
        for _ in 0..3 {
            let store = store.clone();
            tasks.push(fixture.rt.task(async move { add(&store, org, record("net", "1")).await }));
        }
    }
    let mut new = 0;
    for task in tasks {
        new += i64::from(task.await.expect("ran"));
    }
    assert_eq!(new, 1);
}

async fn what_nobody_paid_for_is_noted_on_its_record(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    for (source, id) in [("net", "1"), ("net", "2"), ("other", "1")] {
        assert!(add(&store, org, record(source, id)).await);
    }
    // Nothing but that is changed.
    let more = Record { overshoot: 1_000, bytes: 7, ..record("net", "1") };
    let noted = store.write(org, move |tx| records::put_overshoot(tx, &more)).await;
    assert_eq!(noted, Ok::<_, StoreError>(()));
    let expected = Record { overshoot: 1_000, ..record("net", "1") };
    assert_eq!(kept(&store, "net", "1").await, Some((org, expected)));
    assert_eq!(kept(&store, "net", "2").await, Some((org, record("net", "2"))));
    assert_eq!(kept(&store, "other", "1").await, Some((org, record("other", "1"))));
}

async fn what_comes_twice_in_one_call_is_new_once(fixture: Fixture) {
    let store = fixture.store().await;
    let (org, other) = (new_org(&store, 1).await, new_org(&store, 2).await);
    // More than one statement holds, and a text that is cut elsewhere is another record.
    let many: Vec<_> = (0..700).map(|n| record("net", &format!("{n}"))).collect();
    assert_ne!(record("net", "1x").digest(), record("net1", "x").digest());
    let checks = store.write(org, move |tx| {
        assert_eq!(records::add(tx, org, &[])?, HashSet::new());
        let known = [record("net", "5"), record("net", "699")];
        assert_eq!(records::add(tx, other, &known)?, digests(&known));
        let twice: Vec<_> = many.iter().chain(many.iter().rev()).cloned().collect();
        let new = digests(&many).difference(&digests(&known)).copied().collect();
        assert_eq!(records::add(tx, org, &twice)?, new, "the first of each, but what is known");
        assert_eq!(records::add(tx, other, &twice)?, HashSet::new());
        let count = tx.one("SELECT COUNT(*) FROM records", &[])?.int(0)?;
        Ok::<_, StoreError>(count)
    });
    assert_eq!(checks.await, Ok(700));
    assert_eq!(kept(&store, "net", "5").await.map(|(owner, _)| owner), Some(other));
}

async fn a_record_that_was_emptied_is_known_still(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let came = |n: i64| {
        let arrived_at = Timestamp::from_ms(n);
        Record { arrived_at, ..record("net", &n.to_string()) }
    };
    let checks = store.write(org, move |tx| {
        records::add(tx, org, &(1..=5).map(came).collect::<Vec<_>>())?;
        let before = Timestamp::from_ms(4);
        assert_eq!(records::empty_old(tx, before, 2)?, 2, "so many at most, the oldest first");
        assert_eq!(records::empty_old(tx, before, 2)?, 1);
        assert_eq!(records::empty_old(tx, before, 2)?, 0, "an emptied one is not old again");
        assert_eq!(records::add(tx, org, &(1..=5).map(came).collect::<Vec<_>>())?, HashSet::new());
        let sql = "SELECT bytes, overshoot, at FROM records WHERE kind = '' AND source = '' \
                   AND id = '' AND iccid = '' AND country = '' AND network = ''";
        let emptied = tx.all(sql, &[])?;
        let numbers = |row: &store::Row| Ok((row.int(0)?, row.int(1)?, row.int(2)?));
        emptied.iter().map(numbers).collect::<Result<Vec<_>, StoreError>>()
    });
    assert_eq!(checks.await, Ok(vec![(13, 14, 11); 3]), "how much it was stays");
    for (id, is_kept) in [("1", false), ("2", false), ("3", false), ("4", true), ("5", true)] {
        assert_eq!(kept(&store, "net", id).await.is_some(), is_kept, "{id}");
    }
}

async fn strays_are_kept_once_until_they_are_found_or_forgotten(fixture: Fixture) {
    let store = fixture.store().await;
    let came = |n: i64, arrived: i64| {
        let arrived_at = Timestamp::from_ms(arrived);
        Record { arrived_at, ..record("net", &n.to_string()) }
    };
    let stray = move |n: i64, arrived: i64| {
        let Record { source, id, iccid, kind, at, arrived_at, bytes, .. } = came(n, arrived);
        Stray { source, id, iccid, kind: kind.to_owned(), at, arrived_at, bytes }
    };
    let checks = store.write(OrgId::HOUSE, move |tx| {
        records::stray(tx, &[])?;
        records::stray(tx, &[came(1, 10), came(2, 20), came(1, 10), came(3, 30)])?;
        assert_eq!(records::strays(tx, 9)?, [stray(3, 30), stray(2, 20), stray(1, 10)]);
        // Heard of again, whatever else it says.
        records::stray(tx, &[Record { bytes: 99, ..came(1, 40) }])?;
        assert_eq!(records::strays(tx, 2)?, [stray(1, 40), stray(3, 30)], "newest first");
        records::found(tx, &[])?;
        records::found(tx, &[came(3, 0).digest(), came(9, 0).digest()])?;
        assert_eq!(records::strays(tx, 9)?, [stray(1, 40), stray(2, 20)]);
        assert_eq!(records::forget_strays(tx, Timestamp::from_ms(20))?, 0);
        assert_eq!(records::forget_strays(tx, Timestamp::from_ms(21))?, 1);
        records::strays(tx, 9)
    });
    assert_eq!(checks.await, Ok::<_, StoreError>(vec![stray(1, 40)]));
}
