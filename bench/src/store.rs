//! `bench store`: what grouping writes buys.
//!
//! The work is the heart of an order: lock the organisation's head, look at a lot, take one from it
//! by a guarded update, write an assignment, an order and an event, count the event in the head.
//! Ours runs it as closures of 32 callers; the references run the very same statements, one
//! transaction each: a bare SQLite loop, and 32 clients of pgbench on one organisation's row.

pub(crate) mod pgbench;
mod plain;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::{OrgId, Timestamp};
use store::{Database, Rt, Store, StoreError, args, heads, migrate};

use crate::callers;
use crate::harness::{Bar, By, Case, Outcome, ROUNDS_MIN, Sample, run as measure};

/// As many as a busy shop has at once.
const CALLERS: usize = 32;
/// How long a round of ours lasts; the references run as long.
const ROUND: Duration = Duration::from_secs(3);

const LOOK: &str = "SELECT remaining FROM bench_lots WHERE id = $1";
const TAKE: &str =
    "UPDATE bench_lots SET remaining = remaining - 1 WHERE id = $1 AND remaining >= 1";
const ASSIGN: &str =
    "INSERT INTO bench_assignments (org_id, lot_id, iccid, state) VALUES ($1, $2, $3, $4)";
const ORDER: &str = "INSERT INTO bench_orders (org_id, reference, total) VALUES ($1, $2, $3)";
const EVENT: &str = "INSERT INTO bench_events (org_id, seq, body) VALUES ($1, $2, $3)";

const TABLES: [&str; 4] = [
    "CREATE TABLE bench_lots (id BIGINT PRIMARY KEY, remaining BIGINT NOT NULL)",
    "CREATE TABLE bench_assignments (id {identity}, org_id TEXT NOT NULL, lot_id BIGINT NOT NULL, \
     iccid TEXT NOT NULL, state TEXT NOT NULL)",
    "CREATE TABLE bench_orders (id {identity}, org_id TEXT NOT NULL, reference TEXT NOT NULL, \
     total BIGINT NOT NULL)",
    "CREATE TABLE bench_events (id {identity}, org_id TEXT NOT NULL, seq BIGINT NOT NULL, \
     body TEXT NOT NULL)",
];

/// Runs the bench.
pub(crate) fn run() -> Vec<Outcome> {
    vec![on_sqlite(), on_postgres()]
}

fn on_sqlite() -> Outcome {
    let ours = tempfile::tempdir().expect("a folder");
    let bare = tempfile::tempdir().expect("a folder");
    let world = World::new(&Database::file(&ours.path().join("tern.db")));
    let mut plain = plain::Loop::new(&prepared(&bare.path().join("tern.db")), world.org);
    measure(
        Case {
            bench: "store",
            case: "sqlite-grouped".into(),
            unit: "writes/s",
            bar: Bar::AtLeast(3.0),
            by: By::Clock,
            dir: ours.path().to_owned(),
            ours: Box::new(|| world.round()),
            reference: Box::new(|| plain.round(ROUND)),
        },
        ROUNDS_MIN,
    )
}

fn on_postgres() -> Outcome {
    let url = std::env::var("TERN_TEST_POSTGRES").expect("run by `cargo xtask bench store`");
    let database = Database::parse(&url).expect("a database URL");
    let world = World::new(&database);
    let script = pgbench::Script::new(&url, world.org);
    let dir = tempfile::tempdir().expect("a folder");
    measure(
        Case {
            bench: "store",
            case: "postgres-hot-organisation".into(),
            unit: "writes/s",
            bar: Bar::AtLeast(3.0),
            by: By::Clock,
            dir: dir.path().to_owned(),
            ours: Box::new(|| world.round()),
            reference: Box::new(|| script.round(CALLERS, ROUND)),
        },
        ROUNDS_MIN,
    )
}

/// A store with one organisation and one lot that never runs out.
struct World {
    runtime: tokio::runtime::Runtime,
    store: Store,
    org: OrgId,
}

impl World {
    fn new(database: &Database) -> Self {
        let rt = Rt::real();
        migrate::up(database, rt.now()).expect("migrated");
        let runtime = callers::runtime();
        let store = Store::open(database, &rt);
        let org = OrgId::new(Timestamp::from_ms(1), [1; 10]);
        runtime.block_on(set_up(&store, org)).expect("tables for the bench");
        Self { runtime, store, org }
    }

    fn round(&self) -> Sample {
        let (store, org) = (self.store.clone(), self.org);
        callers::round(&self.runtime, (CALLERS, ROUND), move || {
            let store = store.clone();
            async move { store.write(org, move |tx| order(tx, org)).await.expect("written") }
        })
    }
}

async fn set_up(store: &Store, org: OrgId) -> Result<(), StoreError> {
    let tables = Arc::new(tables(store.database()));
    store
        .write(OrgId::HOUSE, move |tx| {
            for table in tables.iter() {
                tx.exec(table, &[])?;
            }
            tx.exec(STOCK_LOT, args![STOCK])?;
            heads::insert(tx, org)
        })
        .await
}

const STOCK_LOT: &str = "INSERT INTO bench_lots (id, remaining) VALUES (1, $1)";
const STOCK: i64 = 1_000_000_000;

/// The transaction under test.
fn order(tx: &mut store::Tx<'_>, org: OrgId) -> Result<(), StoreError> {
    tx.one(LOOK, args![1])?;
    if tx.exec(TAKE, args![1])? != 1 {
        return Err(StoreError::Busy);
    }
    tx.later(ASSIGN, args![org, 1, ICCID, "queued"])?;
    tx.later(ORDER, args![org, REFERENCE, 1_250])?;
    let head = tx.head_mut().expect("the organisation is there");
    head.event_seq += 1;
    let seq = head.event_seq;
    tx.later(EVENT, args![org, seq, BODY])
}

const ICCID: &str = "8943000000000000018";
const REFERENCE: &str = "0b6c1d1e-3f0a-4c55-9a0e-2f4b7c1d9e10";
const BODY: &str = "{\"type\":\"bundle.assigned\",\"iccid\":\"8943000000000000018\"}";

fn tables(database: &Database) -> Vec<String> {
    let identity = match database.dialect() {
        store::sql::Dialect::Sqlite => "INTEGER PRIMARY KEY",
        store::sql::Dialect::Postgres => "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
    };
    TABLES.iter().map(|table| table.replace("{identity}", identity)).collect()
}

/// A second SQLite file with the same schema, for the bare loop.
fn prepared(path: &Path) -> std::path::PathBuf {
    let world = World::new(&Database::file(path));
    world.runtime.block_on(world.store.close());
    path.to_owned()
}
