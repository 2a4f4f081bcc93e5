//! Figures of an organisation at a glance. Each is read from running sums or along an index, and
//! none is counted beyond a bound.

use domain::esim::ProfileStatus;
use domain::{BundleName, Iccid, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, args};

/// A bundle in use, as a glance shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InUse {
    /// The number of the assignment.
    pub id: i64,
    /// The eSIM it is on.
    pub iccid: Iccid,
    /// The bundle.
    pub bundle: BundleName,
    /// When its time is over.
    pub ends_at: Timestamp,
    /// How much it gives, in megabytes; below zero is unlimited.
    pub megabytes: i64,
    /// Bytes used of it.
    pub used: i64,
}

const OF_STATUS: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM esims \
     WHERE org_id = $1 AND profile_status = $2 AND profile_status <> '' LIMIT $3) AS counted";
const USED_BY_DAY: &str = "SELECT hour / 24, SUM(bytes) FROM usage_sums WHERE org_id = $1 \
     AND iccid = '' AND hour >= $2 GROUP BY hour / 24 ORDER BY hour / 24";
const ENDING: &str = "SELECT id, iccid, bundle, ends_at, data_mb, used FROM assignments \
     WHERE org_id = $1 AND state = 'active' AND ends_at > $2 AND ends_at <= $3 \
     ORDER BY ends_at, id LIMIT $4";
const IN_USE: &str = "SELECT id, iccid, bundle, ends_at, data_mb, used FROM assignments \
     WHERE org_id = $1 AND state = 'active' AND ends_at > $2 ORDER BY ends_at, id LIMIT $3";
const EXPIRING: &str = "SELECT remaining FROM lots WHERE org_id = $1 AND remaining > 0 \
     AND expires_at > $2 AND expires_at <= $3 ORDER BY expires_at LIMIT $4";
const SIGNS: &str = "SELECT \
     (SELECT MAX(done_at) FROM deliveries WHERE org_id = $1 AND done_at IS NOT NULL), \
     (SELECT MIN(due_at) FROM lanes WHERE org_id = $1 AND owner IS NULL), \
     (SELECT a.seq * 1000 + a.n FROM attempts a WHERE a.org_id = $1 \
     ORDER BY a.seq DESC, a.n DESC LIMIT 1), \
     (SELECT MAX(id) FROM failures WHERE org_id = $1), \
     (SELECT COUNT(*) FROM charges WHERE org_id = $1 AND state = 'undecided'), \
     (SELECT MAX(id) FROM audit WHERE known_as = \
     COALESCE((SELECT known_as FROM organisations WHERE id = $1), $1))";

/// Signs that something happened to an organisation which its head does not count: callbacks sent
/// or due, failed requests, charges under way, what people did. Each is the end of an index.
pub fn signs(tx: &mut Tx<'_>, org: OrgId) -> Result<(Vec<i64>, String), StoreError> {
    let row = tx.one(SIGNS, args![org])?;
    let number = |column| Ok(row.int_or_none(column)?.unwrap_or(0));
    let numbers = (0..5).map(number).collect::<Result<_, StoreError>>()?;
    Ok((numbers, row.text_or_none(5)?.unwrap_or_default().to_owned()))
}

/// How many eSIMs have a status, counted up to a bound.
pub fn of_status(
    tx: &mut Tx<'_>,
    org: OrgId,
    status: ProfileStatus,
    most: i64,
) -> Result<i64, StoreError> {
    tx.one(OF_STATUS, args![org, status.name(), most])?.int(0)
}

/// Days, counted from 1970, and the data used on each; days without use are left out.
pub fn used_by_day(tx: &mut Tx<'_>, org: OrgId, from: i64) -> Result<Vec<(i64, i64)>, StoreError> {
    let rows = tx.all(USED_BY_DAY, args![org, from * 24])?;
    rows.iter().map(|row| Ok((row.int(0)?, row.int(1)?))).collect()
}

/// Bundles in use that end between two moments, the first to end first.
pub fn ending(
    tx: &mut Tx<'_>,
    org: OrgId,
    (from, to): (Timestamp, Timestamp),
    most: i64,
) -> Result<Vec<InUse>, StoreError> {
    tx.all(ENDING, args![org, from, to, most])?.iter().map(in_use).collect()
}

/// Bundles in use, the first to end first.
pub fn in_use_now(
    tx: &mut Tx<'_>,
    org: OrgId,
    now: Timestamp,
    most: i64,
) -> Result<Vec<InUse>, StoreError> {
    tx.all(IN_USE, args![org, now, most])?.iter().map(in_use).collect()
}

/// What is left of lots that expire between two moments, one number for each.
pub fn expiring(
    tx: &mut Tx<'_>,
    org: OrgId,
    (from, to): (Timestamp, Timestamp),
    most: i64,
) -> Result<Vec<i64>, StoreError> {
    tx.all(EXPIRING, args![org, from, to, most])?.iter().map(|row| row.int(0)).collect()
}

fn in_use(row: &Row) -> Result<InUse, StoreError> {
    Ok(InUse {
        id: row.int(0)?,
        iccid: row.parsed(1, Iccid::parse)?,
        bundle: row.parsed(2, BundleName::parse)?,
        ends_at: row.time(3)?,
        megabytes: row.int(4)?,
        used: row.int(5)?,
    })
}
