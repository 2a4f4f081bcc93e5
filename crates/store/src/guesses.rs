//! Wrong passwords: how many came lately, by the digest of whom they are counted for.

use domain::Timestamp;

use crate::{Row, StoreError, Tx, args};

/// Wrong passwords of somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guesses {
    /// How many.
    pub count: i64,
    /// When the last one came.
    pub last_at: Timestamp,
    /// Until when nothing is tried.
    pub wait_until: Timestamp,
}

const FIND: &str = "SELECT failures, last_at, wait_until FROM sign_in_failures WHERE digest = $1";
const PUT: &str = "INSERT INTO sign_in_failures (digest, failures, last_at, wait_until) \
     VALUES ($1, $2, $3, $4) ON CONFLICT (digest) DO UPDATE SET failures = excluded.failures, \
     last_at = excluded.last_at, wait_until = excluded.wait_until";
const FORGET: &str = "DELETE FROM sign_in_failures WHERE digest = $1";
const FORGET_OLD: &str = "DELETE FROM sign_in_failures WHERE last_at <= $1";

/// What is counted under that digest.
pub fn find(tx: &mut Tx<'_>, digest: &[u8]) -> Result<Option<Guesses>, StoreError> {
    let read = |row: &Row| {
        Ok(Guesses { count: row.int(0)?, last_at: row.time(1)?, wait_until: row.time(2)? })
    };
    tx.maybe(FIND, args![digest])?.as_ref().map(read).transpose()
}

/// Counts.
pub fn put(tx: &mut Tx<'_>, digest: &[u8], failures: Guesses) -> Result<(), StoreError> {
    let Guesses { count, last_at, wait_until } = failures;
    tx.exec(PUT, args![digest, count, last_at, wait_until]).map(drop)
}

/// Forgets what is counted under that digest.
pub fn forget(tx: &mut Tx<'_>, digest: &[u8]) -> Result<(), StoreError> {
    tx.exec(FORGET, args![digest]).map(drop)
}

/// Forgets what last happened by then.
pub fn forget_old(tx: &mut Tx<'_>, before: Timestamp) -> Result<(), StoreError> {
    tx.exec(FORGET_OLD, args![before]).map(drop)
}
