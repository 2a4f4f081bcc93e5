//! The bare loop that references on SQLite share: the same settings as ours, one commit after the
//! other.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use store::Rt;

use crate::harness::{Sample, timed};

/// Opens a database with the settings the service uses: every commit is synced.
pub(crate) fn open(path: &Path) -> Connection {
    let connection = Connection::open(path).expect("the database opens");
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
             PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16000;",
        )
        .expect("the same settings");
    connection
}

/// Does one piece of work after the other; it is told the time in milliseconds.
pub(crate) fn round(time: Duration, mut one: impl FnMut(i64) -> rusqlite::Result<()>) -> Sample {
    let rt = Rt::real();
    timed(|| {
        let mut count = 0;
        while rt.monotonic() < time {
            one(rt.now().ms()).expect("committed");
            count += 1;
        }
        count
    })
}
