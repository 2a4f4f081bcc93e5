//! The reference of buying: a loop that runs the statements of one order and commits them, one
//! order at a time, with full fsync.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, params};

use crate::bare;
use crate::harness::Sample;

pub(super) struct Loop {
    connection: Connection,
    org: String,
    bundle: String,
    n: i64,
}

const HEAD: &str = "SELECT event_seq, test_credit_expires_at, clock_offset_ms, held_at, \
     ledger_seq, ledger_hash, balance, held, test_credit, card, sales, refunds, breakage, \
     operator_credit, order_seq, test_credit_since FROM org_heads WHERE org_id = ?1";
const ORGANISATION: &str = "SELECT id, mode, currency, created_at, name, tax_liable, addr1, addr2, \
     city, country, postcode, notes, business_type, website, product_description, bundle_groups, \
     callback_url, callback_version, usage_events, senders, ip_allow_list, rate_limit, \
     topup_minimum, topup_daily_maximum, auto_topup_threshold, auto_topup_amount, price_list, \
     refund_days, billing FROM organisations WHERE id = ?1";
const OFFER: &str = "SELECT b.profile_name, b.member_of, p.list, p.minor FROM bundles b \
     JOIN prices p ON p.bundle = b.name WHERE b.name = ?1 AND b.withdrawn_at IS NULL \
     AND p.currency = 'USD' AND (p.list = '' OR p.list = ?2)";
const ENTRY: &str = "INSERT INTO ledger_entries (org_id, seq, at, kind, reference, reason, \
     postings, hash) VALUES (?1, ?2, ?3, 'order', ?4, '', 'available -240 sales 240', ?5)";
const ORDER: &str = "INSERT INTO orders (id, org_id, seq, reference, status, status_message, \
     target, total, test_credit, running_balance, source_ip, created_at, finished_at) \
     VALUES (?1, ?2, ?3, ?4, 'completed', 'Order completed', 'inventory', 240, 0, ?5, \
     '127.0.0.1', ?6, ?6)";
const ITEM: &str = "INSERT INTO order_items (order_id, n, kind, item, quantity, sub_total, \
     price_per_unit, reassign) VALUES (?1, 0, 'bundle', ?2, 1, 240, 240, 'no')";
const LOT: &str = "INSERT INTO lots (org_id, bundle, price, test_credit, total, remaining, \
     refunded, bought_at, expires_at) VALUES (?1, ?2, 240, 0, 1, 1, 0, ?3, ?4) RETURNING id";
const MOVE: &str = "INSERT INTO lot_moves (lot_id, kind, reference, quantity, at) \
     VALUES (?1, 'bought', ?2, 1, ?3)";
const JOB: &str = "INSERT INTO jobs (id, org_id, kind, subject, due_at, wake_at, attempts, error, \
     created_at) VALUES (?1, ?2, 'lot-expiry', '', ?3, ?3, 0, '', ?4) \
     ON CONFLICT (org_id, kind, subject) DO UPDATE SET due_at = excluded.due_at, \
     wake_at = excluded.wake_at WHERE jobs.due_at > excluded.due_at";
const EVENT: &str = "INSERT INTO events (org_id, seq, id, kind, at, data) \
     VALUES (?1, ?2, ?3, 'order.completed', ?4, ?5)";
const SAVE: &str = "UPDATE org_heads SET event_seq = ?2, ledger_seq = ?3, ledger_hash = ?4, \
     balance = ?5, sales = ?6, order_seq = ?7 WHERE org_id = ?1";

impl Loop {
    pub(super) fn new(path: &Path, org: &str, bundle: &str) -> Self {
        Self { connection: bare::open(path), org: org.to_owned(), bundle: bundle.to_owned(), n: 0 }
    }

    pub(super) fn round(&mut self, time: Duration) -> Sample {
        bare::round(time, |now| self.one(now))
    }

    fn one(&mut self, now: i64) -> rusqlite::Result<()> {
        self.n += 1;
        let (db, org, hash) = (&self.connection, &self.org, [7_u8; 32]);
        let id = format!("01a1dd{:02x}-0000-7000-8000-{:012x}", self.n & 0xff, self.n);
        let reference = format!("{:08x}-1111-4000-8000-{:012x}", self.n * 7_919, self.n);
        db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let (event, entry, balance, sales, seq): (i64, i64, i64, i64, i64) =
            db.prepare_cached(HEAD)?.query_row([org], |row| {
                Ok((row.get(0)?, row.get(4)?, row.get(6)?, row.get(10)?, row.get(14)?))
            })?;
        let _mode: String = db.prepare_cached(ORGANISATION)?.query_row([org], |row| row.get(1))?;
        let _price: i64 =
            db.prepare_cached(OFFER)?.query_row([self.bundle.as_str(), ""], |row| row.get(3))?;
        db.prepare_cached(ENTRY)?.execute(params![org, entry + 1, now, reference, hash])?;
        db.prepare_cached(ORDER)?.execute(params![id, org, seq + 1, reference, balance, now])?;
        db.prepare_cached(ITEM)?.execute(params![id, self.bundle])?;
        let expiry = now + 365 * 86_400_000;
        let lot: i64 = db
            .prepare_cached(LOT)?
            .query_row(params![org, self.bundle, now, expiry], |row| row.get(0))?;
        db.prepare_cached(MOVE)?.execute(params![lot, reference, now])?;
        db.prepare_cached(JOB)?.execute(params![id, org, expiry, now])?;
        let data = format!(
            "{{\"event\":\"order.completed\",\"orderReference\":\"{reference}\",\
             \"status\":\"completed\",\"statusMessage\":\"Order completed\",\"total\":2.4,\
             \"currency\":\"USD\",\"date\":\"2026-11-15T05:30:16.161Z\"}}"
        );
        db.prepare_cached(EVENT)?.execute(params![org, event + 1, id, now, data])?;
        db.prepare_cached(SAVE)?.execute(params![
            org,
            event + 1,
            entry + 1,
            hash,
            balance - 240,
            sales + 240,
            seq + 1
        ])?;
        db.prepare_cached("COMMIT")?.execute([]).map(drop)
    }
}
