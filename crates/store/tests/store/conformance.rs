//! What the seam promises, the same on both databases.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use domain::{OrgId, Timestamp, limits};
use store::{Rt, StoreError, Value, args, heads};

use crate::fixture::{ADD, COUNT, Fixture, count, count_up, new_org};
use crate::on_both;

on_both! {
    an_error_undoes_the_write_and_only_it,
    nothing_goes_in_and_comes_out_as_nothing,
    arguments_may_repeat_and_come_in_any_order,
    too_few_or_too_many_arguments_are_refused,
    a_wrong_type_is_refused,
    a_taken_unique_key_is_recognised,
    an_error_that_is_swallowed_still_undoes_the_write,
    text_sorts_by_bytes,
    substrings_are_found_with_their_case,
    the_head_counts_without_gaps_under_concurrency,
    a_refused_write_leaves_no_gap,
    guarded_updates_never_overdraw,
    a_panic_fails_its_own_write_only,
    held_back_writes_are_seen_by_the_next_read,
    a_read_cannot_write,
    a_failed_held_write_is_not_blamed_on_neighbours,
    many_writes_share_a_commit,
    a_full_queue_says_busy_and_forgets_nothing,
    a_caller_who_hangs_up_changes_nothing,
    closing_finishes_what_waits,
}

async fn an_error_undoes_the_write_and_only_it(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let (kept, undone) = tokio::join!(
        store.write(org, |tx| tx.exec(ADD, args!["kept", 1])),
        store.write(org, |tx| {
            tx.exec(ADD, args!["undone", 2])?;
            Err::<(), _>(StoreError::Busy)
        }),
    );
    assert_eq!(kept, Ok(1));
    assert_eq!(undone, Err(StoreError::Busy));
    assert_eq!(count(&store).await, 1);
}

async fn nothing_goes_in_and_comes_out_as_nothing(fixture: Fixture) {
    let store = fixture.store().await;
    let row = store
        .write(OrgId::HOUSE, |tx| {
            let sql = "INSERT INTO things (id, n, t, b) VALUES ($1, $2, $3, $4)";
            tx.exec(sql, &[Value::from("a"), Value::Null, Value::Null, Value::Null])?;
            tx.one("SELECT n, t, b FROM things WHERE id = $1", args!["a"])
        })
        .await
        .expect("a row");
    assert_eq!(row.int_or_none(0), Ok(None));
    assert_eq!(row.text_or_none(1), Ok(None));
    assert!(matches!(row.bytes(2), Err(StoreError::Corrupt { column: 2, .. })));
}

async fn arguments_may_repeat_and_come_in_any_order(fixture: Fixture) {
    let store = fixture.store().await;
    let row = store
        .write(OrgId::HOUSE, |tx| {
            let sql = "INSERT INTO things (id, n, t) VALUES ($2, $1, $2) RETURNING id, n, t";
            tx.one(sql, args![7, "x"])
        })
        .await
        .expect("a row");
    assert_eq!((row.text(0), row.int(1), row.text(2)), (Ok("x"), Ok(7), Ok("x")));
}

async fn too_few_or_too_many_arguments_are_refused(fixture: Fixture) {
    let store = fixture.store().await;
    for args in [args!["x"].to_vec(), args!["x", 1, 2].to_vec()] {
        let refused = store.write(OrgId::HOUSE, move |tx| tx.exec(ADD, &args)).await;
        assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    }
    assert_eq!(count(&store).await, 0);
}

async fn a_wrong_type_is_refused(fixture: Fixture) {
    let store = fixture.store().await;
    let refused = store.write(OrgId::HOUSE, |tx| tx.exec(ADD, args!["x", "seven"])).await;
    assert!(matches!(refused, Err(StoreError::Refused(_))), "{refused:?}");
    assert_eq!(count(&store).await, 0);
}

async fn a_taken_unique_key_is_recognised(fixture: Fixture) {
    let store = fixture.store().await;
    let add = |tx: &mut store::Tx<'_>| tx.exec(ADD, args!["same", 1]);
    assert_eq!(store.write(OrgId::HOUSE, add).await, Ok(1));
    let again = store.write(OrgId::HOUSE, add).await.expect_err("taken");
    assert!(again.is_unique("things(id)"), "{again:?}");
}

async fn an_error_that_is_swallowed_still_undoes_the_write(fixture: Fixture) {
    let store = fixture.store().await;
    let outcome: Result<(), StoreError> = store
        .write(OrgId::HOUSE, |tx| {
            tx.exec(ADD, args!["a", 1])?;
            let _swallowed = tx.exec(ADD, args!["a", 1]);
            Ok(())
        })
        .await;
    assert!(outcome.expect_err("undone").is_unique("things(id)"));
    assert_eq!(count(&store).await, 0);
}

async fn text_sorts_by_bytes(fixture: Fixture) {
    let store = fixture.store().await;
    let words = ["a", "B", "_", "ä", "Z", "1", "aa", "A-b", "A_b"];
    let sorted = store
        .write(OrgId::HOUSE, move |tx| {
            for word in words {
                tx.later(ADD, args![word, 1])?;
            }
            let rows = tx.all("SELECT id FROM things ORDER BY id", &[])?;
            rows.iter().map(|row| row.text(0).map(ToOwned::to_owned)).collect::<Result<Vec<_>, _>>()
        })
        .await
        .expect("rows");
    let mut expected = words.to_vec();
    expected.sort_unstable();
    assert_eq!(sorted, expected);
}

async fn substrings_are_found_with_their_case(fixture: Fixture) {
    let store = fixture.store().await;
    let found = store
        .write(OrgId::HOUSE, |tx| {
            tx.later(ADD, args!["eSIM, 1GB", 1])?;
            tx.later(ADD, args!["esim, 1gb", 2])?;
            tx.all("SELECT n FROM things WHERE {position}(id, $1) > 0", args!["1GB"])
        })
        .await
        .expect("rows");
    assert_eq!(found.iter().map(|row| row.int(0)).collect::<Vec<_>>(), [Ok(1)]);
}

async fn the_head_counts_without_gaps_under_concurrency(fixture: Fixture) {
    let store = fixture.store().await;
    let orgs = [new_org(&store, 1).await, new_org(&store, 2).await, new_org(&store, 3).await];
    let mut tasks = Vec::new();
    for at in 0..90 {
        let (store, org) = (store.clone(), orgs[at % 3]);
        tasks.push(fixture.rt.task(async move { count_up(&store, org).await }));
    }
    for task in tasks {
        task.await.expect("ran").expect("counted");
    }
    for org in orgs {
        let head: Result<_, StoreError> = store.read(move |tx| heads::find(tx, org)).await;
        assert_eq!(head.expect("read").expect("there").event_seq, 30);
    }
    assert_eq!(count(&store).await, 90);
}

async fn a_refused_write_leaves_no_gap(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let mut tasks = Vec::new();
    for at in 0..60 {
        let store = store.clone();
        tasks.push(fixture.rt.task(async move {
            if at % 2 == 0 {
                return count_up(&store, org).await.map(Some);
            }
            let refused: Result<i64, StoreError> = store
                .write(org, |tx| {
                    tx.head_mut().expect("there").event_seq += 1;
                    tx.exec(ADD, args!["never", 1])?;
                    Err(StoreError::Busy)
                })
                .await;
            assert_eq!(refused, Err(StoreError::Busy));
            Ok(None)
        }));
    }
    let mut numbers = Vec::new();
    for task in tasks {
        numbers.extend(task.await.expect("ran").expect("written"));
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=30).collect::<Vec<_>>());
}

async fn guarded_updates_never_overdraw(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    store.write(org, |tx| tx.exec(ADD, args!["stock", 25])).await.expect("stocked");
    let mut tasks = Vec::new();
    for _ in 0..40 {
        let store = store.clone();
        tasks.push(fixture.rt.task(async move {
            let sql = "UPDATE things SET n = n - $2 WHERE id = $1 AND n >= $2";
            store.write(org, move |tx| tx.exec(sql, args!["stock", 1])).await
        }));
    }
    let mut taken = 0;
    for task in tasks {
        taken += task.await.expect("ran").expect("written");
    }
    assert_eq!(taken, 25);
}

async fn a_panic_fails_its_own_write_only(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let (before, panicked, after) = tokio::join!(
        store.write(org, |tx| tx.exec(ADD, args!["before", 1])),
        store.write(org, |tx| -> Result<(), StoreError> {
            tx.exec(ADD, args!["never", 1])?;
            panic!("a bug");
        }),
        store.write(org, |tx| tx.exec(ADD, args!["after", 1])),
    );
    assert_eq!((before, panicked, after), (Ok(1), Err(StoreError::Panicked), Ok(1)));
    assert_eq!(count(&store).await, 2);
    let read: Result<(), StoreError> = store.read(|_| panic!("a bug")).await;
    assert_eq!(read, Err(StoreError::Panicked));
    assert_eq!(count(&store).await, 2);
}

async fn held_back_writes_are_seen_by_the_next_read(fixture: Fixture) {
    let store = fixture.store().await;
    let seen: Result<i64, StoreError> = store
        .write(OrgId::HOUSE, |tx| {
            tx.later(ADD, args!["a", 1])?;
            tx.later(ADD, args!["b", 1])?;
            tx.one(COUNT, &[])?.int(0)
        })
        .await;
    assert_eq!(seen, Ok(2));
}

async fn a_read_cannot_write(fixture: Fixture) {
    let store = fixture.store().await;
    let refused = store.read(|tx| tx.exec(ADD, args!["a", 1])).await;
    assert!(refused.is_err());
    assert_eq!(count(&store).await, 0);
}

/// A held-back statement that fails after all shows up in somebody else's write; the group is run
/// again one by one, so that only the culprit fails.
async fn a_failed_held_write_is_not_blamed_on_neighbours(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let mut tasks = Vec::new();
    for at in 0..20 {
        let store = store.clone();
        tasks.push(fixture.rt.task(async move {
            let n = if at == 7 { -1 } else { 1 };
            store.write(org, move |tx| tx.later(ADD, args![format!("t{at}"), n])).await
        }));
    }
    let mut failed = Vec::new();
    for (at, task) in tasks.into_iter().enumerate() {
        if task.await.expect("ran").is_err() {
            failed.push(at);
        }
    }
    assert_eq!(failed, [7]);
    assert_eq!(count(&store).await, 19);
}

async fn many_writes_share_a_commit(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let before = store.stats().groups.load(Ordering::Relaxed);
    let mut tasks = Vec::new();
    for _ in 0..400 {
        let store = store.clone();
        tasks.push(fixture.rt.task(async move { count_up(&store, org).await }));
    }
    for task in tasks {
        task.await.expect("ran").expect("written");
    }
    let groups = store.stats().groups.load(Ordering::Relaxed) - before;
    assert!(groups < 200, "{groups} commits for 400 writes");
}

async fn a_full_queue_says_busy_and_forgets_nothing(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let (open, gate) = std::sync::mpsc::channel::<()>();
    let gate = Arc::new(std::sync::Mutex::new(gate));
    let entered = Arc::new(tokio::sync::Notify::new());
    let blocker = {
        let (store, entered) = (store.clone(), entered.clone());
        fixture.rt.task(async move {
            store
                .write(org, move |_| {
                    entered.notify_one();
                    let gate = gate.lock().expect("not poisoned");
                    let _opened = gate.recv_timeout(Duration::from_secs(20));
                    Ok::<_, StoreError>(())
                })
                .await
        })
    };
    entered.notified().await;
    let mut tasks = Vec::new();
    for _ in 0..limits::QUEUE_PER_ORGANISATION_MAX + 100 {
        let store = store.clone();
        tasks.push(fixture.rt.task(async move { count_up(&store, org).await }));
    }
    while store.waiting() < limits::QUEUE_PER_ORGANISATION_MAX {
        fixture.rt.sleep(Duration::from_millis(5)).await;
    }
    // Those that found no room are answered while the writer is still stuck.
    let busy = tokio::time::timeout(Duration::from_secs(10), count_up(&store, org)).await;
    assert_eq!(busy.expect("answered at once"), Err(StoreError::Busy));
    open.send(()).expect("the writer waits");
    blocker.await.expect("ran").expect("written");
    let mut written = 0;
    for task in tasks {
        written += i64::from(task.await.expect("ran").is_ok());
    }
    assert!(written >= 1_000, "{written}");
    assert_eq!(count(&store).await, written);
}

async fn a_caller_who_hangs_up_changes_nothing(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let entered = Arc::new(tokio::sync::Notify::new());
    let task = {
        let (store, entered) = (store.clone(), entered.clone());
        fixture.rt.task(async move {
            store
                .write(org, move |tx| {
                    entered.notify_one();
                    tx.exec(ADD, args!["a", 1])
                })
                .await
        })
    };
    entered.notified().await;
    task.abort();
    store.write(org, |_| Ok::<_, StoreError>(())).await.expect("the next write goes on");
    assert_eq!(count(&store).await, 1);
}

async fn closing_finishes_what_waits(fixture: Fixture) {
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let written = Arc::new(AtomicU32::new(0));
    let mut tasks = Vec::new();
    for _ in 0..100 {
        let (store, written) = (store.clone(), written.clone());
        tasks.push(fixture.rt.task(async move {
            let outcome = count_up(&store, org).await;
            written.fetch_add(u32::from(outcome.is_ok()), Ordering::Relaxed);
            outcome
        }));
    }
    tokio::task::yield_now().await;
    store.close().await;
    for task in tasks {
        let outcome = task.await.expect("ran");
        assert!(outcome.as_ref().is_ok_and(|n| *n > 0) || outcome.is_err_and(|e| e.is_passing()));
    }
    let again = fixture.database.clone();
    let store = store::Store::open(&again, &fixture.rt);
    assert_eq!(count(&store).await, i64::from(written.load(Ordering::Relaxed)));
}

#[tokio::test]
async fn an_inline_store_repeats_itself() {
    let fixture = Fixture::sqlite();
    let rt = Rt::seeded(42, Timestamp::from_ms(5_000));
    let store = fixture.inline_store(&rt).await;
    let org = new_org(&store, 1).await;
    for expected in 1..=20 {
        assert_eq!(count_up(&store, org).await, Ok(expected));
    }
    assert_eq!(count(&store).await, 20);
    assert_eq!(store.waiting(), 0);
    assert_eq!(rt.now(), Timestamp::from_ms(5_000));
}
