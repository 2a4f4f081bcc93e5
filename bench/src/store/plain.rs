//! The reference on SQLite: the same statements in a bare loop, one transaction per commit,
//! prepared once, with the same pragmas.

use std::path::Path;
use std::time::Duration;

use domain::OrgId;
use rusqlite::{Connection, params};

use super::{ASSIGN, BODY, EVENT, ICCID, LOOK, ORDER, REFERENCE, TAKE};
use crate::bare;
use crate::harness::Sample;

pub(super) struct Loop {
    connection: Connection,
    org: String,
}

impl Loop {
    pub(super) fn new(path: &Path, org: OrgId) -> Self {
        Self { connection: bare::open(path), org: org.to_string() }
    }

    pub(super) fn round(&mut self, time: Duration) -> Sample {
        bare::round(time, |_| self.one())
    }

    fn one(&mut self) -> rusqlite::Result<()> {
        let (connection, org) = (&self.connection, &self.org);
        connection.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        let seq: i64 =
            connection.prepare_cached(&numbered(HEAD))?.query_row([org], |row| row.get(0))?;
        connection.prepare_cached(&numbered(LOOK))?.query_row([1], |row| row.get::<_, i64>(0))?;
        connection.prepare_cached(&numbered(TAKE))?.execute([1])?;
        connection.prepare_cached(&numbered(ASSIGN))?.execute(params![org, 1, ICCID, "queued"])?;
        connection.prepare_cached(&numbered(ORDER))?.execute(params![org, REFERENCE, 1_250])?;
        connection.prepare_cached(&numbered(EVENT))?.execute(params![org, seq + 1, BODY])?;
        connection.prepare_cached(&numbered(COUNT))?.execute(params![org, seq + 1])?;
        connection.prepare_cached("COMMIT")?.execute([]).map(drop)
    }
}

const HEAD: &str = "SELECT event_seq, balance, test_credit, test_credit_expires_at, \
     clock_offset_ms, held_at FROM org_heads WHERE org_id = $1";
const COUNT: &str = "UPDATE org_heads SET event_seq = $2 WHERE org_id = $1";

/// SQLite numbers `?1`, not `$1`.
fn numbered(sql: &str) -> String {
    sql.replace('$', "?")
}
