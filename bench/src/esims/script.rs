//! The statements that one apply makes, as a plain transaction: run by a bare loop on SQLite and by
//! pgbench on PostgreSQL. Written once, with `:names` that both understand.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rusqlite::{Connection, named_params};

use crate::bare;
use crate::harness::{Sample, timed};
use crate::world::BUNDLE;

const HEAD: &str = "SELECT event_seq AS event, test_credit_expires_at, clock_offset_ms, held_at, \
     ledger_seq, ledger_hash, balance, held, test_credit, card, sales, refunds, breakage, \
     operator_credit, order_seq AS seq, test_credit_since, esims FROM org_heads \
     WHERE org_id = :org";
const LOT: &str = "SELECT id AS lot, bundle, price, test_credit, total, remaining, refunded, \
     bought_at, expires_at FROM lots WHERE org_id = :org AND bundle = :bundle AND remaining > 0 \
     AND expires_at > :now ORDER BY expires_at, id LIMIT 1";
/// What is read and only looked at.
const READS: [&str; 3] = [
    "SELECT id, mode, currency, created_at, name, tax_liable, addr1, addr2, city, country, \
     postcode, notes, business_type, website, product_description, bundle_groups, callback_url, \
     callback_version, usage_events, senders, ip_allow_list, rate_limit, topup_minimum, \
     topup_daily_maximum, auto_topup_threshold, auto_topup_amount, price_list, refund_days, \
     billing FROM organisations WHERE id = :org",
    "SELECT iccid, profile_name, profile_status, msisdn, customer_ref, last_action, action_at, \
     assigned_at, first_installed_at, first_used_at, suspended_by, seen_at, seen_country, \
     seen_network, leaves_at FROM esims WHERE iccid = :iccid AND org_id = :org",
    "SELECT profile_name, data_mb, daily_mb, throttle_kbps, duration, duration_unit, starts \
     FROM bundles WHERE name = :bundle",
];
const WRITES: [&str; 7] = [
    "INSERT INTO orders (id, org_id, seq, reference, status, status_message, target, total, \
     test_credit, running_balance, source_ip, created_at, finished_at) VALUES (:id, :org, \
     :seq + 1, :id, 'completed', 'Order completed: 1 eSIMs assigned', 'esims', 0, 0, 0, \
     '127.0.0.1', :now, :now)",
    "INSERT INTO order_items (order_id, n, kind, item, quantity, sub_total, price_per_unit, \
     reassign) VALUES (:id, 0, 'bundleAssignment', :id, 0, 0, 0, 'no')",
    "UPDATE lots SET remaining = remaining - 1 WHERE id = :lot AND org_id = :org \
     AND remaining >= 1",
    "INSERT INTO lot_moves (lot_id, kind, reference, quantity, at) \
     VALUES (:lot, 'applied', :id, 1, :now)",
    "INSERT INTO assignments (org_id, iccid, bundle, order_id, item, n, esim, lot_id, state, \
     assigned_at, ready_at, data_mb, duration, duration_unit, starts) VALUES (:org, :iccid, \
     :bundle, :id, 0, 0, 'named', :lot, 'queued', :now, :now, 1000, 7, 'day', 'use')",
    "INSERT INTO esim_history (org_id, iccid, at, kind, bundle, state) \
     VALUES (:org, :iccid, :now, 'Bundle Applied', :bundle, 'queued')",
    "UPDATE esims SET last_action = 'Bundle Applied', action_at = :now, leaves_at = NULL \
     WHERE iccid = :iccid",
];
const ENDS: [&str; 3] = [
    "INSERT INTO jobs (id, org_id, kind, subject, due_at, wake_at, attempts, error, created_at) \
     VALUES (:id, :org, 'esim', :iccid, :now + 31536000000, :now + 31536000000, 0, '', :now) \
     ON CONFLICT (org_id, kind, subject) DO UPDATE SET due_at = excluded.due_at, \
     wake_at = excluded.wake_at WHERE jobs.due_at > excluded.due_at OR jobs.failed_at IS NOT NULL",
    "INSERT INTO events (org_id, seq, id, kind, at, data) VALUES (:org, :event + 1, :id, \
     'order.completed', :now, '{\"event\":\"order.completed\",\"orderReference\":\
     \"6513270e-269e-4d37-b2a7-4de452e6b438\",\"status\":\"completed\",\"statusMessage\":\
     \"Order completed: 1 eSIMs assigned\",\"total\":0,\"currency\":\"USD\",\
     \"date\":\"2026-11-15T05:30:16.161Z\"}')",
    "UPDATE org_heads SET event_seq = :event + 1, order_seq = :seq + 1 WHERE org_id = :org",
];

/// The same on SQLite, one commit after the other, with full fsync.
pub(super) struct Loop {
    connection: Connection,
    org: String,
    iccids: Vec<String>,
    n: usize,
}

impl Loop {
    pub(super) fn new(path: &Path, org: &str, iccids: &[String]) -> Self {
        let (org, iccids) = (org.to_owned(), iccids.to_vec());
        Self { connection: bare::open(path), org, iccids, n: 0 }
    }

    pub(super) fn round(&mut self, time: Duration) -> Sample {
        bare::round(time, |now| self.one(now))
    }

    fn one(&mut self, now: i64) -> rusqlite::Result<()> {
        self.n += 1;
        let (db, org) = (&self.connection, &self.org);
        // Far apart, as callers are.
        let iccid = &self.iccids[self.n * 7_919 % self.iccids.len()];
        let id = format!("01a1de00-0000-7000-8000-{:012}", self.n);
        db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let (event, seq): (i64, i64) = db
            .prepare_cached(HEAD)?
            .query_row(named_params! { ":org": org }, |row| Ok((row.get(0)?, row.get(14)?)))?;
        let lot: i64 = db
            .prepare_cached(LOT)?
            .query_row(named_params! { ":org": org, ":bundle": BUNDLE, ":now": now }, |row| {
                row.get(0)
            })?;
        let names: [(&str, &dyn rusqlite::ToSql); 8] = [
            (":org", org),
            (":iccid", iccid),
            (":bundle", &BUNDLE),
            (":id", &id),
            (":lot", &lot),
            (":now", &now),
            (":seq", &seq),
            (":event", &event),
        ];
        let all = READS.iter().chain(&WRITES).chain(&ENDS);
        for sql in all {
            let mut statement = db.prepare_cached(sql)?;
            for (name, value) in names {
                if let Some(place) = statement.parameter_index(name)? {
                    statement.raw_bind_parameter(place, value)?;
                }
            }
            let mut rows = statement.raw_query();
            while let Some(row) = rows.next()? {
                let _first: rusqlite::types::Value = row.get(0)?;
            }
        }
        db.prepare_cached("COMMIT")?.execute([]).map(drop)
    }
}

/// The same on PostgreSQL: pgbench with prepared statements, a script for each organisation, one of
/// which is drawn for each transaction.
pub(super) struct Scripts {
    files: Vec<tempfile::NamedTempFile>,
    url: String,
    program: PathBuf,
}

impl Scripts {
    /// Organisations, each with the first of its eSIMs and how many it has.
    pub(super) fn new(url: &str, orgs: &[(String, i64, i64)]) -> Self {
        let script = |(org, first, count): &(String, i64, i64)| {
            let mut file = tempfile::NamedTempFile::new().expect("a file");
            file.write_all(text(org, *first, *count).as_bytes()).expect("written");
            file
        };
        let folder = std::env::var("TERN_TEST_POSTGRES_BIN").expect("run by `cargo xtask bench`");
        Self {
            files: orgs.iter().map(script).collect(),
            url: url.to_owned(),
            program: PathBuf::from(folder).join("pgbench"),
        }
    }

    pub(super) fn round(&self, clients: usize, time: Duration) -> Sample {
        let mut sample = timed(|| {
            let mut command = Command::new(&self.program);
            command.args(["--no-vacuum", "--protocol", "prepared", "--jobs", "2"]);
            command.args(["--client", &clients.to_string()]);
            command.args(["--time", &time.as_secs().to_string()]);
            for file in &self.files {
                command.arg("--file").arg(file.path());
            }
            let output = command.arg(&self.url).output().expect("pgbench runs");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            crate::store::pgbench::transactions(&String::from_utf8_lossy(&output.stdout))
        });
        // Connecting is not part of the work; pgbench measures from the moment it has connected.
        sample.wall = time;
        sample
    }
}

fn text(org: &str, first: i64, count: i64) -> String {
    let last = count - 1;
    let mut text = format!(
        "\\set e random(0, {last})\n\\set r random(1, 9000000000000000000)\n\
         \\set now 1800000000000\nBEGIN;\n"
    );
    let filled = |sql: &str| {
        sql.replace(":org", &format!("'{org}'"))
            .replace(":bundle", &format!("'{BUNDLE}'"))
            .replace(":iccid", &format!("CAST({first} + :e AS TEXT)"))
            .replace(":id", "CAST(:r AS TEXT)")
            .replace("\\\"", "\"")
    };
    text.push_str(&filled(HEAD));
    text.push_str(" FOR UPDATE \\gset\n");
    text.push_str(&filled(LOT));
    text.push_str(" \\gset\n");
    for sql in READS.iter().chain(&WRITES).chain(&ENDS) {
        text.push_str(&filled(sql));
        text.push_str(";\n");
    }
    text.push_str("COMMIT;\n");
    text
}
