//! Lanes: what must stay in order on its way to a receiver. A lane is there while something waits
//! in it, and only the node that owns it sends.

use domain::{OrgId, Timestamp};

use crate::{Row, StoreError, Tx, Value, args};

const HURRY: &str = "INSERT INTO lanes (org_id, lane, due_at) VALUES ($1, $2, $3) \
     ON CONFLICT (org_id, lane) DO UPDATE SET due_at = excluded.due_at \
     WHERE lanes.due_at > excluded.due_at";
const OPEN: &str = "INSERT INTO lanes (org_id, lane, due_at) VALUES ($1, $2, $3) \
     ON CONFLICT (org_id, lane) DO NOTHING";
// From organisation to organisation by the index, however many lanes each has.
const ORGS: &str = "WITH RECURSIVE o (org_id) AS (\
     SELECT MIN(org_id) FROM lanes WHERE owner IS NULL \
     UNION ALL SELECT (SELECT MIN(l.org_id) FROM lanes l WHERE l.owner IS NULL \
                       AND l.org_id > o.org_id) FROM o WHERE o.org_id IS NOT NULL) \
     SELECT o.org_id, (SELECT MIN(l.due_at) FROM lanes l WHERE l.org_id = o.org_id \
                       AND l.owner IS NULL) - h.clock_offset_ms \
     FROM o JOIN org_heads h ON h.org_id = o.org_id WHERE h.held_at IS NULL \
     AND NOT EXISTS (SELECT 1 FROM organisations g WHERE g.id = o.org_id \
                     AND g.callbacks_paused_at IS NOT NULL)";
const CLAIM: &str = "UPDATE lanes SET owner = $2 WHERE org_id = $1 AND lane IN \
     (SELECT n.lane FROM lanes n WHERE n.org_id = $1 AND n.owner IS NULL AND n.due_at <= $3 \
      ORDER BY n.due_at, n.lane LIMIT $4) \
     RETURNING lane, (SELECT MIN(d.seq) FROM deliveries d WHERE d.org_id = lanes.org_id \
                      AND d.lane = lanes.lane AND d.state = 'waiting')";
const NEXT_DUE: &str = "SELECT MIN(due_at) FROM lanes WHERE org_id = $1 AND owner IS NULL";
// The first that waits, by the index: a planner that knows nothing yet of a new table would look
// for any by reading everything that waits, once for each lane.
const CLOSE: &str = "DELETE FROM lanes WHERE org_id = $1 AND owner = $2 \
     AND (SELECT MIN(d.seq) FROM deliveries d WHERE d.org_id = lanes.org_id \
          AND d.lane = lanes.lane AND d.state = 'waiting') IS NULL AND lane IN ({list})";
const FREE: &str = "UPDATE lanes SET owner = NULL, due_at = $3 \
     WHERE org_id = $1 AND owner = $2 AND lane IN ({list})";
const IN_FLIGHT: &str = "SELECT COUNT(*) FROM lanes WHERE org_id = $1 AND owner IS NOT NULL";
const RELEASE: &str = "UPDATE lanes SET owner = NULL WHERE owner >= $1 AND owner < $2";
const LET_GO: &str = "UPDATE lanes SET owner = NULL WHERE org_id = $1 AND owner = $2";
const RELEASE_ALL: &str = "UPDATE lanes SET owner = NULL WHERE owner IS NOT NULL";
const DROP_ALL: &str = "DELETE FROM lanes WHERE org_id = $1";
const DUE: &str = "SELECT due_at FROM lanes WHERE org_id = $1 AND lane = $2";

/// Opens a lane of the organisation of this write, due now; an open one stays as it is.
pub fn open(tx: &mut Tx<'_>, org: OrgId, lane: &str, due: Timestamp) -> Result<(), StoreError> {
    tx.later(OPEN, args![org, lane, due])
}

/// Opens lanes, due now, also those that wait for later.
pub fn hurry(
    tx: &mut Tx<'_>,
    org: OrgId,
    lanes: &[String],
    due: Timestamp,
) -> Result<(), StoreError> {
    tx.later_rows(HURRY, lanes.iter().map(|lane| args![org, lane, due].to_vec()).collect())
}

/// Organisations that have something to send, each with the real moment at which the first of it
/// is due. Those that are held or paused are left out.
pub fn orgs(tx: &mut Tx<'_>) -> Result<Vec<(OrgId, Timestamp)>, StoreError> {
    let rows = tx.all(ORGS, &[])?;
    rows.iter().map(|row| Ok((row.parsed(0, OrgId::parse)?, row.time(1)?))).collect()
}

/// Takes lanes of an organisation that are due by then, and says the first delivery of each.
pub fn claim(
    tx: &mut Tx<'_>,
    org: OrgId,
    owner: &str,
    by: Timestamp,
    most: usize,
) -> Result<Vec<(String, Option<i64>)>, StoreError> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let rows = tx.all(CLAIM, args![org, owner, by, most])?;
    let taken = |row: &Row| Ok((row.text(0)?.to_owned(), row.int_or_none(1)?));
    rows.iter().map(taken).collect()
}

/// When the next lane of an organisation is due that nobody sends.
pub fn next_due(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<Timestamp>, StoreError> {
    tx.one(NEXT_DUE, args![org])?.time_or_none(0)
}

/// When a lane is due, if something waits in it.
pub fn due(tx: &mut Tx<'_>, org: OrgId, lane: &str) -> Result<Option<Timestamp>, StoreError> {
    tx.maybe(DUE, args![org, lane])?.map(|row| row.time(0)).transpose()
}

/// Gives lanes back, due at that moment; those in which nothing waits are gone.
pub fn give_back(
    tx: &mut Tx<'_>,
    (org, owner): (OrgId, &str),
    lanes: &[String],
    due: Timestamp,
) -> Result<(), StoreError> {
    let lanes: Vec<_> = lanes.iter().map(Value::from).collect();
    tx.later_in(CLOSE, args![org, owner], &lanes)?;
    tx.later_in(FREE, args![org, owner, due], &lanes)
}

/// How many lanes of an organisation are being sent.
pub fn in_flight(tx: &mut Tx<'_>, org: OrgId) -> Result<i64, StoreError> {
    tx.one(IN_FLIGHT, args![org])?.int(0)
}

/// Frees the lanes of an organisation that somebody owns, due as they were.
pub fn let_go(tx: &mut Tx<'_>, (org, owner): (OrgId, &str)) -> Result<(), StoreError> {
    tx.exec(LET_GO, args![org, owner]).map(drop)
}

/// Frees the lanes of a node that is gone.
pub fn release(tx: &mut Tx<'_>, node: &str) -> Result<(), StoreError> {
    // The names of a node's senders begin with its own, and a colon, which a semicolon follows.
    tx.exec(RELEASE, args![node, format!("{node};")]).map(drop)
}

/// Frees everything: for a database that only one process works on.
pub fn release_all(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    tx.exec(RELEASE_ALL, &[]).map(drop)
}

/// Forgets all lanes of an organisation.
pub fn drop_all(tx: &mut Tx<'_>, org: OrgId) -> Result<(), StoreError> {
    tx.exec(DROP_ALL, args![org]).map(drop)
}
