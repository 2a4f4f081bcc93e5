//! Records of networks and installation servers: each counts once, on both databases.

use domain::{OrgId, Timestamp};
use store::records::{self, Record};
use store::{Store, StoreError, args};

use crate::fixture::{Fixture, new_org};
use crate::on_both;
use crate::profiles::iccid;

on_both! {
    a_record_is_kept_once,
    a_record_that_several_bring_at_once_counts_once,
    what_nobody_paid_for_is_noted_on_its_record,
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
    let added = store.write(org, move |tx| records::add(tx, org, &record)).await;
    added.unwrap_or_else(|error: StoreError| panic!("{error}"))
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
            assert_eq!(records::add(tx, org, &record("net", "3")), Ok(true));
            assert_eq!(records::add(tx, org, &record("net", "3")), Ok(false), "within the write");
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
