//! The head of an organisation: the one row that every write of it locks first, holding what is
//! counted per organisation.

use domain::{OrgId, Timestamp};

use crate::{Row, StoreError, Tx, Value, args};

/// What is counted per organisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The last number given to an event of this organisation; the next one follows without a gap.
    pub event_seq: i64,
    /// Prepaid balance, in minor units.
    pub balance: i64,
    /// Promotional credit, in minor units.
    pub test_credit: i64,
    /// When the promotional credit ends.
    pub test_credit_expires_at: Option<Timestamp>,
    /// How far the clock of a sandbox organisation runs ahead. Only grows.
    pub clock_offset_ms: i64,
    /// Since when asynchronous work of a sandbox organisation waits.
    pub held_at: Option<Timestamp>,
}

impl Head {
    /// The organisation's own time at the wall-clock time `now`.
    pub fn clock(&self, now: Timestamp) -> Timestamp {
        now.plus_ms(self.clock_offset_ms)
    }
}

const LOCK: &str = "SELECT event_seq, balance, test_credit, test_credit_expires_at, \
     clock_offset_ms, held_at FROM org_heads WHERE org_id = $1 {for update}";
const FIND: &str = "SELECT event_seq, balance, test_credit, test_credit_expires_at, \
     clock_offset_ms, held_at FROM org_heads WHERE org_id = $1";
const PAGE: &str = "SELECT event_seq, balance, test_credit, test_credit_expires_at, \
     clock_offset_ms, held_at, org_id FROM org_heads WHERE org_id > $1 ORDER BY org_id LIMIT $2";
const SAVE: &str = "UPDATE org_heads SET event_seq = $2, balance = $3, test_credit = $4, \
     test_credit_expires_at = $5, clock_offset_ms = $6, held_at = $7 WHERE org_id = $1";
const INSERT: &str = "INSERT INTO org_heads (org_id, event_seq, balance, test_credit, \
     clock_offset_ms) VALUES ($1, 0, 0, 0, 0)";

/// Locks the row until the transaction ends.
pub(crate) fn lock(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<Head>, StoreError> {
    tx.maybe(LOCK, args![org])?.map(|row| head(&row)).transpose()
}

/// Looks without locking. Within a write of that organisation it is the head at hand, which may
/// hold changes that are not in the table yet.
pub fn find(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<Head>, StoreError> {
    if tx.org() == Some(org) {
        return Ok(tx.head().cloned());
    }
    tx.maybe(FIND, args![org])?.map(|row| head(&row)).transpose()
}

/// Heads in the order of their organisations, after the given one.
pub fn page(tx: &mut Tx<'_>, after: OrgId, most: i64) -> Result<Vec<(OrgId, Head)>, StoreError> {
    let rows = tx.all(PAGE, args![after, most])?;
    rows.iter().map(|row| Ok((row.parsed(6, OrgId::parse)?, head(row)?))).collect()
}

/// The head of a new organisation: nothing counted yet.
pub fn insert(tx: &mut Tx<'_>, org: OrgId) -> Result<(), StoreError> {
    tx.exec(INSERT, args![org]).map(drop)
}

/// The statement that writes a head back; the writer runs it once per group.
pub(crate) fn saving(org: OrgId, head: &Head) -> (&'static str, [Value; 7]) {
    let args = [
        Value::from(org),
        Value::from(head.event_seq),
        Value::from(head.balance),
        Value::from(head.test_credit),
        Value::from(head.test_credit_expires_at),
        Value::from(head.clock_offset_ms),
        Value::from(head.held_at),
    ];
    (SAVE, args)
}

fn head(row: &Row) -> Result<Head, StoreError> {
    Ok(Head {
        event_seq: row.int(0)?,
        balance: row.int(1)?,
        test_credit: row.int(2)?,
        test_credit_expires_at: row.time_or_none(3)?,
        clock_offset_ms: row.int(4)?,
        held_at: row.time_or_none(5)?,
    })
}
