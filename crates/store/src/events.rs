//! The event feed: facts of an organisation, numbered without gaps.

use domain::{EventId, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, args};

/// A fact as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its number, from 1 on.
    pub seq: i64,
    /// Its id.
    pub id: EventId,
    /// Its kind.
    pub kind: String,
    /// When, by the organisation's clock.
    pub at: Timestamp,
    /// What happened, as JSON text.
    pub data: String,
}

const INSERT: &str = "INSERT INTO events (org_id, seq, id, kind, at, data) \
     VALUES ($1, $2, $3, $4, $5, $6)";
const PAGE: &str = "SELECT seq, id, kind, at, data FROM events \
     WHERE org_id = $1 AND seq > $2 ORDER BY seq LIMIT $3";
const PAGE_BEFORE: &str = "SELECT seq, id, kind, at, data FROM events \
     WHERE org_id = $1 AND seq < $2 ORDER BY seq DESC LIMIT $3";

const PAGE_OF_KIND: &str = "SELECT seq, id, kind, at, data FROM events \
     WHERE org_id = $1 AND seq < $2 AND seq >= $3 AND kind = $4 ORDER BY seq DESC LIMIT $5";

/// Adds a fact of the organisation this write belongs to.
pub fn add(
    tx: &mut Tx<'_>,
    id: EventId,
    kind: &str,
    at: Timestamp,
    data: &str,
) -> Result<i64, StoreError> {
    let refused = || StoreError::Refused("an event outside a write of its organisation".into());
    let org = tx.org().ok_or_else(refused)?;
    let head = tx.head_mut().ok_or_else(refused)?;
    head.event_seq += 1;
    let seq = head.event_seq;
    tx.later(INSERT, args![org, seq, id, kind, at, data])?;
    Ok(seq)
}

/// Facts in order, after that number.
pub fn page(tx: &mut Tx<'_>, org: OrgId, after: i64, most: i64) -> Result<Vec<Stored>, StoreError> {
    tx.all(PAGE, args![org, after, most])?.iter().map(stored).collect()
}

/// The same from the newest on, before that number.
pub fn page_before(
    tx: &mut Tx<'_>,
    org: OrgId,
    before: i64,
    most: i64,
) -> Result<Vec<Stored>, StoreError> {
    tx.all(PAGE_BEFORE, args![org, before, most])?.iter().map(stored).collect()
}

/// Facts of a kind, newest first, from before one number down to another.
pub fn page_of_kind(
    tx: &mut Tx<'_>,
    (org, kind): (OrgId, &str),
    (before, down_to): (i64, i64),
    most: i64,
) -> Result<Vec<Stored>, StoreError> {
    tx.all(PAGE_OF_KIND, args![org, before, down_to, kind, most])?.iter().map(stored).collect()
}

fn stored(row: &Row) -> Result<Stored, StoreError> {
    Ok(Stored {
        seq: row.int(0)?,
        id: row.parsed(1, EventId::parse)?,
        kind: row.text(2)?.to_owned(),
        at: row.time(3)?,
        data: row.text(4)?.to_owned(),
    })
}
