//! What the store does when the world breaks: each rule of the grouped write, with a fault that
//! would show if the rule were missing.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use domain::{OrgId, limits};
use store::{Database, Rt, Store, StoreError, args, migrate};

use crate::fixture::{ADD, Fixture, count, count_up, in_own_schema, new_org, server};
use crate::lines::{Commit, Line};

pub(crate) struct Reached {
    pub(crate) line: Line,
    pub(crate) store: Store,
    pub(crate) org: OrgId,
}

/// A store that reaches PostgreSQL over a line that can be cut.
pub(crate) async fn over_a_line() -> Reached {
    let url = server("TERN_TEST_POSTGRES");
    let port = url.rsplit_once(':').and_then(|(_, rest)| rest.split_once('/')).expect("a port").0;
    let line = Line::to(port.parse().expect("a number")).await;
    let through = url.replace(&format!(":{port}/"), &format!(":{}/", line.port));
    let fixture = Fixture::at(&in_own_schema(&through).await);
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    assert!(line.connections() > 0, "the store uses the line");
    Reached { line, store, org }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_line_is_mended_without_anyone_noticing() {
    let Reached { line, store, org } = over_a_line().await;
    for n in 1..=5 {
        line.cut();
        assert_eq!(count_up(&store, org).await, Ok(n));
        line.cut();
        assert_eq!(count(&store).await, n);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_away_is_said_at_once_and_its_return_is_noticed() {
    let Reached { line, store, org } = over_a_line().await;
    line.away(true);
    let both = async { (count_up(&store, org).await, store.ping().await) };
    let (write, read) =
        tokio::time::timeout(Duration::from_secs(10), both).await.expect("answered soon");
    assert!(matches!(write, Err(StoreError::Unavailable(_))), "{write:?}");
    assert!(matches!(read, Err(StoreError::Unavailable(_))), "{read:?}");
    line.away(false);
    let mut outcome = Err(StoreError::Busy);
    for _ in 0..50 {
        outcome = count_up(&store, org).await;
        if outcome.is_ok() {
            break;
        }
        Rt::real().sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(outcome, Ok(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_answer_was_lost_is_found_done() {
    let Reached { line, store, org } = over_a_line().await;
    line.trap(Commit::AnswerLost);
    assert_eq!(count_up(&store, org).await, Ok(1));
    assert_eq!(store.stats().commits_doubted.load(Ordering::Relaxed), 1);
    assert_eq!(count(&store).await, 1);
    assert_eq!(count_up(&store, org).await, Ok(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_never_arrived_is_made_again() {
    let Reached { line, store, org } = over_a_line().await;
    line.trap(Commit::Lost);
    assert_eq!(count_up(&store, org).await, Ok(1));
    assert_eq!(store.stats().commits_doubted.load(Ordering::Relaxed), 1);
    assert_eq!(count(&store).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_of_unknown_fate_is_not_guessed() {
    let Reached { line, store, org } = over_a_line().await;
    line.trap_and_stay_away(Commit::AnswerLost);
    let unknown = count_up(&store, org).await;
    assert!(matches!(unknown, Err(StoreError::Unavailable(_))), "{unknown:?}");
    line.away(false);
    let mut seen = Err(StoreError::Busy);
    for _ in 0..100 {
        seen = store.read(|tx| tx.one("SELECT COUNT(*) FROM things", &[])?.int(0)).await;
        if seen.is_ok() {
            break;
        }
        Rt::real().sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(seen, Ok(1), "it was committed once, and not again");
}

/// Two nodes take two rows in opposite order. PostgreSQL names a victim; it is run again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadlock_victim_is_run_again() {
    let fixture = Fixture::postgres().await;
    let one = fixture.store().await;
    let two = Store::open(&fixture.database, &fixture.rt);
    let (left, right) = (new_org(&one, 1).await, new_org(&one, 2).await);
    for name in ["a", "b"] {
        one.write(left, move |tx| tx.exec(ADD, args![name, 0])).await.expect("added");
    }
    let runs = Arc::new(AtomicU32::new(0));
    let meet = Arc::new(std::sync::Barrier::new(2));
    let crossing = |first: &'static str, second: &'static str| {
        let (runs, meet) = (runs.clone(), meet.clone());
        move |tx: &mut store::Tx<'_>| {
            let sql = "UPDATE things SET n = n + 1 WHERE id = $1";
            tx.exec(sql, args![first])?;
            if runs.fetch_add(1, Ordering::SeqCst) < 2 {
                meet.wait();
            }
            tx.exec(sql, args![second])
        }
    };
    let (first, second) =
        tokio::join!(one.write(left, crossing("a", "b")), two.write(right, crossing("b", "a")));
    assert_eq!((first, second), (Ok(1), Ok(1)));
    // Once more, or more often: run again at once, the victim may take its row before the other one
    // wakes up to it.
    let runs = runs.load(Ordering::SeqCst);
    assert!((3..=2 + limits::DEADLOCK_RETRIES).contains(&runs), "{runs} runs of two writes");
    let sum: Result<i64, StoreError> = one
        .read(|tx| {
            let rows = tx.all("SELECT n FROM things", &[])?;
            rows.iter().map(|row| row.int(0)).sum()
        })
        .await;
    assert_eq!(sum, Ok(4));
}

/// SQLite ends the whole transaction when the disk is full; neighbours must not suffer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_fails_only_those_who_need_room() {
    let fixture = Fixture::sqlite();
    let store = fixture.store().await;
    let org = new_org(&store, 1).await;
    let limit = "PRAGMA max_page_count = 200";
    store.write(org, move |tx| tx.all(limit, &[]).map(drop)).await.expect("limited");
    let mut tasks = Vec::new();
    for at in 0..20 {
        let store = store.clone();
        tasks.push(fixture.rt.task(async move {
            let text = if at == 5 { "x".repeat(4_000_000) } else { "small".to_owned() };
            let sql = "INSERT INTO things (id, t) VALUES ($1, $2)";
            store.write(org, move |tx| tx.exec(sql, args![format!("t{at}"), &text])).await
        }));
    }
    for (at, task) in tasks.into_iter().enumerate() {
        let outcome = task.await.expect("ran");
        match at {
            5 => assert!(matches!(outcome, Err(StoreError::Unavailable(_))), "{outcome:?}"),
            _ => assert_eq!(outcome, Ok(1), "write {at}"),
        }
    }
    assert_eq!(count(&store).await, 19);
}

const CHILD: &str = "TERN_TEST_WRITER_DIES";

/// Run as a child process: makes the writer itself panic, by a value that panics when the writer
/// drops it because its caller has hung up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_writer_that_dies_ends_the_process() {
    struct PanicsWhenDropped;
    impl Drop for PanicsWhenDropped {
        fn drop(&mut self) {
            let by_the_writer = std::thread::current().name() == Some("writer-0");
            assert!(!by_the_writer, "dropped by the writer");
        }
    }
    if std::env::var(CHILD).is_ok() {
        let fixture = Fixture::sqlite();
        let store = fixture.store().await;
        let started = Arc::new(tokio::sync::Notify::new());
        let (notify, other) = (started.clone(), store.clone());
        let task = fixture.rt.task(async move {
            let slow = move |_: &mut store::Tx<'_>| {
                notify.notify_one();
                let (_keep, never) = std::sync::mpsc::channel::<()>();
                let _timed_out = never.recv_timeout(Duration::from_millis(300));
                Ok::<_, StoreError>(PanicsWhenDropped)
            };
            other.write(OrgId::HOUSE, slow).await.map(std::mem::forget)
        });
        started.notified().await;
        task.abort();
        fixture.rt.sleep(Duration::from_secs(20)).await;
        return;
    }
    let program = std::env::current_exe().expect("this test");
    let name = "faults::a_writer_that_dies_ends_the_process";
    let mut child = Command::new(program);
    child.args(["--exact", name]).env(CHILD, "1");
    let ended = child.output().expect("the child ran");
    assert!(!ended.status.success(), "the process went on without its writer");
    assert!(ended.status.code().is_none(), "ended by abort: {:?}", ended.status);
}

/// TLS with the name verified, a private socket, and a list of hosts whose first one is dead.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_way_to_reach_the_server_works() {
    let url = server("TERN_TEST_POSTGRES");
    let dead_first = url.replace("@127.0.0.1:", "@127.0.0.1:1,127.0.0.1:");
    let ways = [server("TERN_TEST_POSTGRES_TLS"), server("TERN_TEST_POSTGRES_SOCKET"), dead_first];
    for way in ways {
        let url = in_own_schema(&way).await;
        let database = Database::parse(&url).expect("a database URL");
        let rt = Rt::real();
        migrate::up(&database, rt.now()).unwrap_or_else(|e| panic!("{way}: {e}"));
        let store = Store::open(&database, &rt);
        assert_eq!(store.ping().await, Ok(()), "{way}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_cannot_prove_its_name_is_refused() {
    let url = server("TERN_TEST_POSTGRES_TLS");
    let (host, _) = url.split_once("&sslrootcert").expect("a root certificate");
    // Without the test's own root certificate nothing vouches for the server.
    let Ok(database) = Database::parse(host) else { return };
    let refused = migrate::current(&database);
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
}

/// A server that takes no writes is not one for us, when the URL says so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_standby_is_passed_over() {
    let url = server("TERN_TEST_POSTGRES");
    let read_only = "options=-c%20default_transaction_read_only%3Don";
    let any = Database::parse(&format!("{url}&{read_only}")).expect("a database URL");
    migrate::current(&any).expect("a standby can be looked at");
    let writable = format!("{url}&{read_only}&target_session_attrs=read-write");
    let refused = migrate::current(&Database::parse(&writable).expect("a database URL"));
    assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
}
