//! Records in over HTTP, 1,000 at a time, against a bare loop of the same statements.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, params};
use tokio::runtime::Runtime;

use super::RECORDS;
use super::world::BODY;
use super::world::{ESIMS, Service};
use crate::bare;
use crate::harness::{Bar, By, Case, Outcome, ROUNDS_MIN, Sample, run as measure, timed};
use crate::world::FIRST;

/// Records of one transaction, as the service cuts them.
const PER_COMMIT: i64 = 200;

/// Nobody receives callbacks: what is measured is taking records in.
pub(super) fn taken(runtime: &Runtime, folder: &Path) -> Outcome {
    let service = Service::new(&folder.join("records"), "", 1);
    let copy = folder.join("records.db");
    std::fs::copy(service.data().join("tern.db"), &copy).expect("copied");
    let mut plain = Loop::new(&copy, &service.world.orgs[0].0.to_string());
    let tern = service.start();
    let mut round = 0;
    let ours = || {
        round += 1;
        timed(|| {
            service.send(runtime, &tern, (round, 3 * RECORDS));
            3 * RECORDS as u64
        })
    };
    measure(
        Case {
            bench: "callbacks",
            case: "sqlite-records-in".into(),
            unit: "records/s",
            bar: Bar::AtLeast(0.5),
            by: By::Clock,
            dir: service.data().to_owned(),
            ours: Box::new(ours),
            reference: Box::new(|| plain.round()),
        },
        ROUNDS_MIN,
    )
}

/// The statements that records make, each run by itself, 200 records to a commit.
struct Loop {
    connection: Connection,
    org: String,
    n: i64,
}

impl Loop {
    fn new(path: &Path, org: &str) -> Self {
        Self { connection: bare::open(path), org: org.to_owned(), n: 0 }
    }

    fn round(&mut self) -> Sample {
        let sample = bare::round(Duration::from_secs(3), |now| self.commit(now));
        Sample { ops: sample.ops * u64::try_from(PER_COMMIT).expect("small"), ..sample }
    }

    fn commit(&mut self, now: i64) -> rusqlite::Result<()> {
        self.connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let mut seq: i64 = self
            .connection
            .prepare_cached("SELECT event_seq FROM org_heads WHERE org_id = ?1")?
            .query_row([&self.org], |row| row.get(0))?;
        for _ in 0..PER_COMMIT {
            seq += 1;
            self.one(now, seq)?;
        }
        let save = "UPDATE org_heads SET event_seq = ?2 WHERE org_id = ?1";
        self.connection.prepare_cached(save)?.execute(params![self.org, seq])?;
        self.connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    fn one(&mut self, now: i64, seq: i64) -> rusqlite::Result<()> {
        self.n += 1;
        let (db, org, iccid) = (&self.connection, &self.org, (FIRST + self.n % ESIMS).to_string());
        for read in [
            "SELECT * FROM esims WHERE org_id = ?1 AND iccid = ?2",
            "SELECT * FROM assignments WHERE org_id = ?1 AND iccid = ?2",
            "SELECT * FROM esim_visits WHERE org_id = ?1 AND iccid = ?2",
        ] {
            let mut statement = db.prepare_cached(read)?;
            let mut rows = statement.query(params![org, iccid])?;
            while let Some(row) = rows.next()? {
                let _first: rusqlite::types::Value = row.get(0)?;
            }
        }
        let digest = u128::try_from(self.n).expect("positive").wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let digest = (digest.rotate_left(64) ^ digest).to_be_bytes();
        db.prepare_cached(
            "INSERT INTO records (digest, source, id, org_id, iccid, kind, at, arrived_at, bytes, \
             overshoot, country, network) VALUES (?1, 'bench', ?2, ?3, ?4, 'use', ?5, ?5, 1000, \
             0, 'PT', '') ON CONFLICT (digest) DO NOTHING RETURNING digest",
        )?
        .query_row(params![&digest[..], self.n.to_string(), org, iccid, now], |_| Ok(()))?;
        db.prepare_cached(
            "UPDATE assignments SET state = 'active', used = used + 1000, started_at = ?3, \
             ends_at = ?3 + 1, used_that_day = used_that_day + 1000 \
             WHERE org_id = ?1 AND iccid = ?2",
        )?
        .execute(params![org, iccid, now])?;
        db.prepare_cached(
            "UPDATE esims SET seen_at = ?2, seen_country = 'PT', first_used_at = 1 \
             WHERE iccid = ?1",
        )?
        .execute(params![iccid, now])?;
        let id = format!("01a1de00-0000-7000-8000-{:012}", self.n);
        db.prepare_cached(
            "INSERT INTO events (org_id, seq, id, kind, at, data) \
             VALUES (?1, ?2, ?3, 'Utilisation', ?4, ?5)",
        )?
        .execute(params![org, seq, id, now, BODY])?;
        for who in [iccid.as_str(), ""] {
            db.prepare_cached(
                "INSERT INTO usage_sums (org_id, iccid, hour, country, bytes) \
                 VALUES (?1, ?2, ?3, 'PT', 1000) ON CONFLICT (org_id, iccid, hour, country) \
                 DO UPDATE SET bytes = usage_sums.bytes + excluded.bytes",
            )?
            .execute(params![org, who, now / 3_600_000])?;
        }
        Ok(())
    }
}
