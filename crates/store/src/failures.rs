//! The last requests of an organisation that failed.

use domain::{KeyId, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, args};

/// A request that failed. Never a query, a key or a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its number; given by the database, later ones have higher numbers.
    pub id: i64,
    /// When, by the real clock.
    pub at: Timestamp,
    /// The name that is also in the answer.
    pub request: String,
    /// What was wanted of the route.
    pub method: String,
    /// The pattern of the route.
    pub route: String,
    /// The status of the answer.
    pub status: u16,
    /// The stable code of the error; may be empty.
    pub code: String,
    /// What the caller was told; may be empty.
    pub message: String,
    /// Where it came from.
    pub client: String,
    /// The key it came with.
    pub key: KeyId,
}

const INSERT: &str = "INSERT INTO failures (org_id, at, request_id, method, route, status, code, \
     message, client, key_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
const KEEP: &str = "DELETE FROM failures WHERE org_id = $1 AND id <= \
     (SELECT id FROM failures WHERE org_id = $1 ORDER BY id DESC LIMIT 1 OFFSET $2)";
const PAGE: &str = "SELECT id, at, request_id, method, route, status, code, message, client, \
     key_id FROM failures WHERE org_id = $1 AND id < $2 AND at >= $3 ORDER BY id DESC LIMIT $4";
const HAS_OLD: &str = "SELECT id FROM failures WHERE org_id = $1 AND at < $2 ORDER BY id LIMIT 1";
const FORGET: &str = "DELETE FROM failures WHERE org_id = $1 AND at < $2";

/// Adds failures of an organisation in order, and keeps so many of the newest.
pub fn add(tx: &mut Tx<'_>, org: OrgId, failures: &[Failure], keep: i64) -> Result<(), StoreError> {
    let row = |one: &Failure| {
        args![
            org,
            one.at,
            &one.request,
            &one.method,
            &one.route,
            i64::from(one.status),
            &one.code,
            &one.message,
            &one.client,
            one.key
        ]
        .to_vec()
    };
    tx.later_rows(INSERT, failures.iter().map(row).collect())?;
    tx.later(KEEP, args![org, keep])
}

/// Failures of an organisation since a moment, newest first, before that number.
pub fn page(
    tx: &mut Tx<'_>,
    org: OrgId,
    (before, since): (i64, Timestamp),
    most: i64,
) -> Result<Vec<Failure>, StoreError> {
    tx.all(PAGE, args![org, before, since, most])?.iter().map(failure).collect()
}

/// Whether an organisation has some from before a moment. Few are kept, so few are looked at.
pub fn has_old(tx: &mut Tx<'_>, org: OrgId, before: Timestamp) -> Result<bool, StoreError> {
    Ok(tx.maybe(HAS_OLD, args![org, before])?.is_some())
}

/// Forgets them.
pub fn forget(tx: &mut Tx<'_>, org: OrgId, before: Timestamp) -> Result<(), StoreError> {
    tx.later(FORGET, args![org, before])
}

fn failure(row: &Row) -> Result<Failure, StoreError> {
    Ok(Failure {
        id: row.int(0)?,
        at: row.time(1)?,
        request: row.text(2)?.to_owned(),
        method: row.text(3)?.to_owned(),
        route: row.text(4)?.to_owned(),
        status: u16::try_from(row.int(5)?).unwrap_or(0),
        code: row.text(6)?.to_owned(),
        message: row.text(7)?.to_owned(),
        client: row.text(8)?.to_owned(),
        key: row.parsed(9, KeyId::parse)?,
    })
}
