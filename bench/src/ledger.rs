//! `bench ledger`: postings of 256 waiting callers, grouped, against a bare loop of the same
//! statements that commits each. Both on SQLite with every commit synced.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::ledger::{Account, Entry, Kind};
use domain::{OrgId, Timestamp};
use rusqlite::{Connection, params};
use store::{Database, Rt, Store, StoreError, heads, ledger, migrate};

use crate::harness::{Bar, By, Case, Outcome, ROUNDS_MIN, Sample, run as measure};
use crate::{bare, callers};

const CALLERS: usize = 256;
const ROUND: Duration = Duration::from_secs(3);

/// Runs the bench.
pub(crate) fn run() -> Vec<Outcome> {
    let ours = tempfile::tempdir().expect("a folder");
    let bare = tempfile::tempdir().expect("a folder");
    let world = World::new(&ours.path().join("tern.db"));
    let reference = World::new(&bare.path().join("tern.db"));
    reference.runtime.block_on(reference.store.close());
    let mut plain = Loop::new(&bare.path().join("tern.db"), reference.org);
    vec![measure(
        Case {
            bench: "ledger",
            case: "sqlite-postings".into(),
            unit: "postings/s",
            bar: Bar::AtLeast(3.0),
            by: By::Clock,
            dir: ours.path().to_owned(),
            ours: Box::new(|| world.round()),
            reference: Box::new(|| plain.round(ROUND)),
        },
        ROUNDS_MIN,
    )]
}

struct World {
    runtime: tokio::runtime::Runtime,
    store: Store,
    rt: Rt,
    org: OrgId,
    next: Arc<AtomicU64>,
}

impl World {
    fn new(path: &Path) -> Self {
        let (rt, database) = (Rt::real(), Database::file(path));
        migrate::up(&database, rt.now()).expect("migrated");
        let runtime = callers::runtime();
        let store = Store::open(&database, &rt);
        let org = OrgId::new(Timestamp::from_ms(1), [1; 10]);
        runtime
            .block_on(store.write(OrgId::HOUSE, move |tx| heads::insert(tx, org)))
            .expect("an organisation");
        Self { runtime, store, rt, org, next: Arc::default() }
    }

    fn round(&self) -> Sample {
        let (store, org, next) = (self.store.clone(), self.org, self.next.clone());
        let rt = self.rt.clone();
        callers::round(&self.runtime, (CALLERS, ROUND), move || {
            let (store, now) = (store.clone(), rt.now());
            let entry = entry(next.fetch_add(1, Ordering::Relaxed));
            async move {
                let post = move |tx: &mut store::Tx<'_>| {
                    let posted = ledger::post(tx, now, &entry);
                    posted.map_err(|error| StoreError::Refused(error.to_string()))
                };
                store.write(org, post).await.expect("posted");
            }
        })
    }
}

fn entry(n: u64) -> Entry {
    let moved = [(Account::Available, 100), (Account::Card, -100)];
    Entry::new(Kind::Topup, &n.to_string(), "apiTopup", &moved).expect("an entry")
}

/// The reference.
struct Loop {
    connection: Connection,
    org: String,
    n: i64,
}

const HEAD: &str = "SELECT event_seq, test_credit_expires_at, clock_offset_ms, held_at, \
     ledger_seq, ledger_hash, balance, held, test_credit, card, sales, refunds, breakage, \
     operator_credit FROM org_heads WHERE org_id = ?1";
const INSERT: &str = "INSERT INTO ledger_entries (org_id, seq, at, kind, reference, reason, \
     postings, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
const SAVE: &str = "UPDATE org_heads SET ledger_seq = ?2, ledger_hash = ?3, balance = ?4, \
     card = ?5 WHERE org_id = ?1";

impl Loop {
    fn new(path: &Path, org: OrgId) -> Self {
        Self { connection: bare::open(path), org: org.to_string(), n: 0 }
    }

    fn round(&mut self, time: Duration) -> Sample {
        bare::round(time, |now| self.one(now))
    }

    fn one(&mut self, now: i64) -> rusqlite::Result<()> {
        self.n += 1;
        let (connection, org, hash) = (&self.connection, &self.org, [7_u8; 32]);
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let (seq, balance, card): (i64, i64, i64) = connection
            .prepare_cached(HEAD)?
            .query_row([org], |row| Ok((row.get(4)?, row.get(6)?, row.get(9)?)))?;
        let postings = "available 100 card -100";
        let reference = self.n.to_string();
        connection.prepare_cached(INSERT)?.execute(params![
            org,
            seq + 1,
            now,
            "topup",
            reference,
            "apiTopup",
            postings,
            hash
        ])?;
        connection.prepare_cached(SAVE)?.execute(params![
            org,
            seq + 1,
            hash,
            balance + 100,
            card - 100
        ])?;
        connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }
}
