//! What the members of a group may never do to each other, and what one organisation may never do
//! to another.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use store::{Rt, Store, StoreError, Tx, args, heads};

use crate::faults::{Reached, over_a_line};
use crate::fixture::{ADD, Fixture, count, count_up, new_org};
use crate::lines::Commit;

const UP: &str = "UPDATE things SET n = n + $2 WHERE id = $1";
const LOOK: &str = "SELECT COUNT(*) FROM things";

/// Holds a closure up. Rules never do this.
fn pause(ms: u64) {
    let (_keep, never) = mpsc::channel::<()>();
    let _timed_out = never.recv_timeout(Duration::from_millis(ms));
}

/// A gate that a closure can wait at, and be run again.
fn gate() -> (mpsc::Sender<()>, Arc<Mutex<mpsc::Receiver<()>>>) {
    let (open, gate) = mpsc::channel();
    (open, Arc::new(Mutex::new(gate)))
}

fn wait_at(gate: &Mutex<mpsc::Receiver<()>>) {
    let _opened = gate.lock().expect("not poisoned").recv_timeout(Duration::from_secs(9));
}

async fn number_of(store: &Store, id: &'static str) -> i64 {
    let sql = "SELECT n FROM things WHERE id = $1";
    let read: Result<i64, StoreError> = store.read(move |tx| tx.one(sql, args![id])?.int(0)).await;
    read.expect("read")
}

/// Two nodes on one PostgreSQL, an organisation each, and two rows to fight over.
async fn two_nodes() -> (Store, Store, domain::OrgId, domain::OrgId) {
    let fixture = Fixture::postgres().await;
    let one = fixture.store().await;
    let two = Store::open(&fixture.database, &fixture.rt);
    let (left, right) = (new_org(&one, 1).await, new_org(&one, 2).await);
    for name in ["a", "b"] {
        one.write(left, move |tx| tx.exec(ADD, args![name, 0])).await.expect("added");
    }
    (one, two, left, right)
}

/// A deadlock victim whose rerun fails at its commit is told so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rerun_that_is_not_committed_is_not_reported_done() {
    let (one, two, left, right) = two_nodes().await;
    let runs = Arc::new(AtomicU32::new(0));
    let meet = Arc::new(std::sync::Barrier::new(2));
    let crossing = |first: &'static str, second: &'static str| {
        let (runs, meet) = (runs.clone(), meet.clone());
        move |tx: &mut Tx<'_>| {
            tx.exec(UP, args![first, 1])?;
            let run = runs.fetch_add(1, Ordering::SeqCst);
            if run < 2 {
                meet.wait();
            }
            tx.exec(UP, args![second, 1])?;
            if run >= 2 {
                // Held back, and refused when the commit sends it.
                tx.later(ADD, args!["negative", -1])?;
            }
            Ok::<_, StoreError>(())
        }
    };
    let (first, second) =
        tokio::join!(one.write(left, crossing("a", "b")), two.write(right, crossing("b", "a")));
    let done = [&first, &second].into_iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(done, 1, "{first:?} {second:?}");
    assert_eq!((number_of(&one, "a").await, number_of(&one, "b").await), (1, 1));
}

/// A held-back statement loses a deadlock while a neighbour flushes it: neither of the two is lost,
/// and neither is reported done without being so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_back_victim_is_not_lost_with_its_neighbour() {
    let (one, two, left, right) = two_nodes().await;
    // The statements are prepared, so that what is held back really is.
    let warm = |tx: &mut Tx<'_>| {
        tx.exec(UP, args!["a", 0])?;
        tx.one(LOOK, &[]).map(drop)
    };
    one.write(left, warm).await.expect("warm");
    let rt = Rt::real();
    let ((open, blocked), (a_has, a_waits), (b_has, b_waits)) = (gate(), gate(), gate());
    let node = one.clone();
    let blocker = rt.task(async move {
        node.write(left, move |_| {
            wait_at(&blocked);
            Ok::<_, StoreError>(())
        })
        .await
    });
    rt.sleep(Duration::from_millis(100)).await;
    let other = rt.task(async move {
        two.write(right, move |tx| {
            tx.exec(UP, args!["b", 10])?;
            let _told = b_has.send(());
            wait_at(&a_waits);
            tx.exec(UP, args!["a", 10])
        })
        .await
    });
    let node = one.clone();
    let culprit = rt.task(async move {
        node.write(left, move |tx| {
            tx.head_mut().expect("there").event_seq += 1;
            tx.exec(UP, args!["a", 1])?;
            let _told = a_has.send(());
            tx.later(UP, args!["b", 1])
        })
        .await
    });
    rt.sleep(Duration::from_millis(50)).await;
    let (node, runs) = (one.clone(), AtomicU32::new(0));
    let neighbour = rt.task(async move {
        node.write(left, move |tx| {
            if runs.fetch_add(1, Ordering::SeqCst) == 0 {
                pause(500);
            }
            tx.one(LOOK, &[]).map(drop)
        })
        .await
    });
    rt.sleep(Duration::from_millis(50)).await;
    tokio::task::spawn_blocking(move || wait_at(&b_waits)).await.expect("waited");
    open.send(()).expect("the writer waits");
    blocker.await.expect("ran").expect("written");
    let culprit = culprit.await.expect("ran");
    assert_eq!(neighbour.await.expect("ran"), Ok(()));
    let other = other.await.expect("ran");
    let expected = i64::from(culprit.is_ok()) + if other.is_ok() { 10 } else { 0 };
    assert_eq!((number_of(&one, "a").await, number_of(&one, "b").await), (expected, expected));
    let head: Result<_, StoreError> = one.read(move |tx| heads::find(tx, left)).await;
    let counted = head.expect("read").expect("there").event_seq;
    assert_eq!(counted, i64::from(culprit.is_ok()), "{culprit:?}");
}

/// A writer that cuts its groups short still serves organisations in turn.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_organisation_does_not_starve_one_that_sorts_later() {
    let fixture = Fixture::sqlite();
    let store = fixture.store().await;
    let (busy, quiet) = (new_org(&store, 1).await, new_org(&store, 2).await);
    let rt = Rt::real();
    let (open, blocked) = gate();
    let node = store.clone();
    let blocker = rt.task(async move {
        node.write(busy, move |_| {
            wait_at(&blocked);
            Ok::<_, StoreError>(())
        })
        .await
    });
    rt.sleep(Duration::from_millis(100)).await;
    let served = Arc::new(AtomicU32::new(0));
    let mut tasks = Vec::new();
    for _ in 0..100 {
        let (node, served) = (store.clone(), served.clone());
        tasks.push(rt.task(async move {
            node.write(busy, move |_| {
                pause(3);
                served.fetch_add(1, Ordering::SeqCst);
                Ok::<_, StoreError>(())
            })
            .await
        }));
    }
    let (node, before) = (store.clone(), served.clone());
    let late = rt.task(async move {
        node.write(quiet, move |_| Ok::<_, StoreError>(before.load(Ordering::SeqCst))).await
    });
    while store.waiting() < 101 {
        rt.sleep(Duration::from_millis(5)).await;
    }
    open.send(()).expect("the writer waits");
    blocker.await.expect("ran").expect("written");
    let before = late.await.expect("ran").expect("written");
    assert!(before < 20, "served after {before} of 100");
    for task in tasks {
        task.await.expect("ran").expect("written");
    }
}

/// The client gives up before the server has seen COMMIT; the server commits all the same. Also the
/// very first group of a writer, whose row nobody else can see yet, is not applied twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_arrives_late_is_not_made_twice() {
    let Reached { line, store, org } = over_a_line().await;
    for n in 1..=2 {
        line.trap(Commit::Late);
        assert_eq!(count_up(&store, org).await, Ok(n));
        assert_eq!(count(&store).await, n);
    }
}

/// Another process holds the SQLite file: everybody hears it after one wait, not one after another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_locked_file_is_waited_for_once() {
    let fixture = Fixture::sqlite();
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let path = fixture.database.path().expect("a file").to_owned();
    let holder = rusqlite::Connection::open(path).expect("opened");
    holder.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let rt = Rt::real();
    let started = rt.monotonic();
    let mut tasks = Vec::new();
    for _ in 0..6 {
        let store = store.clone();
        tasks.push(rt.task(async move { count_up(&store, org).await }));
    }
    for task in tasks {
        let outcome = task.await.expect("ran");
        assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    }
    // Two waits at most: those who came while the first group waited are the second group.
    assert!(rt.monotonic().saturating_sub(started) < Duration::from_secs(13));
    holder.execute_batch("ROLLBACK").expect("released");
    assert_eq!(count_up(&store, org).await, Ok(1));
}

/// Another node is stuck in a write of one organisation: others of the same writer go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organisation_locked_elsewhere_delays_others_only_a_little() {
    let fixture = Fixture::postgres().await;
    let store = fixture.store().await;
    // The same writer serves both: their numbers are both odd.
    let (stuck, free) = (new_org(&store, 1).await, new_org(&store, 3).await);
    let other = Store::open(&fixture.database, &fixture.rt);
    let rt = Rt::real();
    let (open, blocked) = gate();
    let holder = rt.task(async move {
        other
            .write(stuck, move |_| {
                wait_at(&blocked);
                Ok::<_, StoreError>(())
            })
            .await
    });
    rt.sleep(Duration::from_millis(300)).await;
    let started = rt.monotonic();
    let mut tasks = Vec::new();
    for _ in 0..8 {
        let store = store.clone();
        tasks.push(rt.task(async move { count_up(&store, stuck).await }));
    }
    assert_eq!(count_up(&store, free).await, Ok(1));
    assert!(rt.monotonic().saturating_sub(started) < Duration::from_secs(6));
    for task in tasks {
        let outcome = task.await.expect("ran");
        assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}");
    }
    open.send(()).expect("the holder waits");
    holder.await.expect("ran").expect("written");
    assert_eq!(count_up(&store, stuck).await, Ok(1));
}
