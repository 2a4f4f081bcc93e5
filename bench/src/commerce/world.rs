//! The shop: the demo's catalogue and stock, and many more organisations and orders than the demo
//! has, written straight into the tables.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rusqlite::{Connection, params};
use serde_json::Value;

use crate::client::{self, Connection as Line};
use crate::peer::{Peer, part};

const ORGANISATIONS: i64 = 1_000;
const ORDERS: i64 = 1_000_000;
const LARGEST: i64 = 100_000;
/// Orders of the organisation whose filtered list is looked at: as many as most have.
const SMALL: i64 = 900;

/// A data folder, and who is in it.
pub(super) struct World {
    pub(super) data: PathBuf,
    /// The largest organisation.
    pub(super) org: String,
    pub(super) key: String,
    /// How many orders it has.
    pub(super) orders: i64,
    /// A key of one of the others.
    pub(super) small_key: String,
    pub(super) bundle: String,
}

impl World {
    pub(super) fn new(folder: &Path) -> Self {
        let world = Self::demo(&folder.join("shop"));
        let mut database = open(&world.data);
        let writing = database.transaction().expect("a transaction");
        // Money for as many orders as a round can place.
        let sql = "UPDATE org_heads SET balance = 1000000000000 WHERE org_id = ?1";
        writing.execute(sql, [&world.org]).expect("a rich organisation");
        let small = organisation_of(&writing, "Small");
        orders(&writing, &world.org, (LARGEST - 10, 0), &world.bundle);
        orders(&writing, &small, (SMALL, LARGEST), &world.bundle);
        let each = (ORDERS - LARGEST - SMALL) / (ORGANISATIONS - 2);
        for n in 2..ORGANISATIONS {
            let org = format!("0192f0c1-0000-7000-8000-{n:012}");
            organisation(&writing, &org, &world.org);
            orders(&writing, &org, (each, LARGEST + SMALL + n * each), &world.bundle);
        }
        writing.commit().expect("committed");
        database.execute_batch("ANALYZE; PRAGMA wal_checkpoint(TRUNCATE);").expect("settled");
        Self { orders: LARGEST - 10, ..world }
    }

    /// A shop with the small organisation only.
    pub(super) fn alone(&self) -> Self {
        let folder = self.data.parent().expect("a folder").join("alone");
        let world = Self::demo(&folder);
        let database = open(&world.data);
        let small = organisation_of(&database, "Small");
        orders(&database, &small, (SMALL, LARGEST), &world.bundle);
        world
    }

    /// The demo, and one more organisation.
    fn demo(data: &Path) -> Self {
        let mut command = part("tern");
        command.args(["demo", "--json", "--listen", "127.0.0.1:0", "--data"]).arg(data);
        let mut child = command.stdout(Stdio::piped()).spawn().expect("the demo starts");
        let out = child.stdout.take().expect("its stdout is ours");
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line).expect("the demo says what it made");
        child.kill().expect("it was running");
        child.wait().expect("it ended");
        let facts: Value = serde_json::from_str(&line).expect("JSON");
        let fact = |name: &str| facts[name].as_str().expect("a text").to_owned();
        let tern = Peer::tern(data);
        let small_key = add_small(&tern, &fact("operatorKey"));
        let bundle = facts["bundles"][0].as_str().expect("a bundle").to_owned();
        let (org, key) = (fact("organisation"), fact("apiKey"));
        Self { data: data.to_owned(), org, key, orders: 0, small_key, bundle }
    }

    /// The same data once more, for the reference to work on.
    pub(super) fn copy(&self, to: &Path) -> PathBuf {
        std::fs::create_dir(to).expect("a folder");
        let file = to.join("tern.db");
        std::fs::copy(self.data.join("tern.db"), &file).expect("copied");
        file
    }
}

fn add_small(tern: &Peer, operator_key: &str) -> String {
    let body = r#"{"name":"Small","currency":"USD","sandbox":true}"#;
    let length = body.len();
    let request = format!(
        "POST /operator/v1/organisations HTTP/1.1\r\nHost: bench\r\n\
         Authorization: Bearer {operator_key}\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let made = crate::callers::runtime().block_on(async {
        let answer: client::Answer = Line::open(&tern.address).await.send(request.as_bytes()).await;
        assert_eq!(answer.status, 201);
        answer.body
    });
    let made: Value = serde_json::from_slice(&made).expect("JSON");
    made["apiKey"].as_str().expect("a key").to_owned()
}

fn open(data: &Path) -> Connection {
    let database = Connection::open(data.join("tern.db")).expect("the database opens");
    database
        .execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;")
        .expect("in a hurry");
    database
}

fn organisation_of(database: &Connection, name: &str) -> String {
    let sql = "SELECT id FROM organisations WHERE name = ?1";
    database.query_row(sql, [name], |row| row.get(0)).expect("it was made")
}

/// One more organisation, like another one.
fn organisation(database: &Connection, id: &str, like: &str) {
    let head = "INSERT INTO org_heads (org_id, event_seq, balance, test_credit, clock_offset_ms) \
                VALUES (?1, 0, 0, 0, 0)";
    database.prepare_cached(head).expect("prepared").execute([id]).expect("a head");
    let columns = "mode, currency, name, tax_liable, addr1, addr2, city, country, postcode, notes, \
                   business_type, website, product_description, bundle_groups, callback_url, \
                   callback_version, usage_events, senders, ip_allow_list, rate_limit, created_at";
    let sql = format!(
        "INSERT INTO organisations (id, {columns}) SELECT ?1, {columns} FROM organisations \
         WHERE id = ?2"
    );
    database.prepare_cached(&sql).expect("prepared").execute([id, like]).expect("a row");
}

/// So many orders of one item, as if they had been placed one after the other.
fn orders(database: &Connection, org: &str, (count, first): (i64, i64), bundle: &str) {
    let sql = "SELECT order_seq FROM org_heads WHERE org_id = ?1";
    let seq: i64 = database.query_row(sql, [org], |row| row.get(0)).expect("a head");
    let mut order = database
        .prepare_cached(
            "INSERT INTO orders (id, org_id, seq, reference, status, status_message, target, \
             total, test_credit, running_balance, source_ip, created_at, finished_at) VALUES \
             (?1, ?2, ?3, ?4, 'completed', 'Order completed', 'inventory', ?5, 0, 1000, \
             '192.0.2.7', ?6, ?6)",
        )
        .expect("prepared");
    let mut item = database
        .prepare_cached(
            "INSERT INTO order_items (order_id, n, kind, item, quantity, sub_total, \
             price_per_unit, reassign) VALUES (?1, 0, 'bundle', ?2, 1, ?3, ?3, 'no')",
        )
        .expect("prepared");
    for n in 0..count {
        let number = first + n;
        // Times in the past, a minute apart; totals that differ.
        let (at, total) = (1_600_000_000_000 + n * 60_000, 100 + number % 997);
        let id = format!("{:08x}-{:04x}-7000-8000-{number:012x}", at >> 16, at & 0xffff);
        let reference = format!(
            "{:08x}-0000-4000-8000-{number:012x}",
            number.wrapping_mul(2_654_435_761) & 0xffff_ffff
        );
        order.execute(params![id, org, seq + n + 1, reference, total, at]).expect("an order");
        item.execute(params![id, bundle, total]).expect("an item");
    }
    let sql = "UPDATE org_heads SET order_seq = ?2 WHERE org_id = ?1";
    database.execute(sql, params![org, seq + count]).expect("counted");
}
