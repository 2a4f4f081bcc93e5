//! Lots of the inventory, and every move of their units.

use domain::inventory::{Lot, Move};
use domain::{BundleName, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, args};

const INSERT: &str = "INSERT INTO lots (org_id, bundle, price, test_credit, total, remaining, \
     refunded, bought_at, expires_at) VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8) RETURNING id";
const MOVE: &str = "INSERT INTO lot_moves (lot_id, kind, reference, quantity, at) \
     VALUES ($1, $2, $3, $4, $5)";
const FIND: &str = "SELECT id, bundle, price, test_credit, total, remaining, refunded, bought_at, \
     expires_at FROM lots WHERE id = $1 AND org_id = $2";
const HELD: &str = "SELECT id, bundle, price, test_credit, total, remaining, refunded, bought_at, \
     expires_at FROM lots WHERE org_id = $1 AND remaining > 0 AND expires_at > $2 \
     ORDER BY bundle, expires_at, id";
// A sum with the expiry keeps the planners from the index of expiries, which would have to be
// sorted.
const HELD_PAGE: &str = "SELECT id, bundle, price, test_credit, total, remaining, refunded, \
     bought_at, expires_at FROM lots WHERE org_id = $1 AND remaining > 0 \
     AND (bundle, expires_at, id) > ($2, $3, $4) AND expires_at + 0 > $5 \
     ORDER BY bundle, expires_at, id LIMIT $6";
const BY_BUNDLE: &str = "SELECT bundle, SUM(remaining), MIN(expires_at) FROM lots \
     WHERE org_id = $1 AND remaining > 0 AND expires_at + 0 > $3 AND EXISTS \
     (SELECT 1 FROM bundles b WHERE b.name = lots.bundle AND b.profile_name = $2) \
     GROUP BY bundle ORDER BY bundle LIMIT $4";
const HELD_OF: &str = "SELECT id, bundle, price, test_credit, total, remaining, refunded, \
     bought_at, expires_at FROM lots WHERE org_id = $1 AND bundle = $2 AND remaining > 0 \
     AND expires_at > $3 ORDER BY expires_at, id LIMIT $4";
const PUT_BACK: &str = "UPDATE lots SET remaining = remaining + $3 WHERE id = $1 AND org_id = $2";
const EXPIRED: &str = "SELECT id, bundle, price, test_credit, total, remaining, refunded, \
     bought_at, expires_at FROM lots WHERE org_id = $1 AND remaining > 0 AND expires_at <= $2 \
     ORDER BY expires_at, id LIMIT $3";
const EXPIRIES: &str = "SELECT COUNT(*) FROM lot_moves WHERE lot_id = $1 AND kind = 'expired'";
const NEXT_EXPIRY: &str = "SELECT MIN(expires_at) FROM lots WHERE org_id = $1 AND remaining > 0";
const TAKE: &str = "UPDATE lots SET remaining = remaining - $3 \
     WHERE id = $1 AND org_id = $2 AND remaining >= $3";
const REFUND: &str = "UPDATE lots SET remaining = remaining - $3, refunded = refunded + $3 \
     WHERE id = $1 AND org_id = $2 AND remaining >= $3";
const PAGE: &str = "SELECT id, bundle, price, test_credit, total, remaining, refunded, bought_at, \
     expires_at FROM lots WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3";
const MOVED: &str = "SELECT m.lot_id, m.kind, SUM(m.quantity), MIN(m.quantity) FROM lot_moves m \
     JOIN lots l ON l.id = m.lot_id WHERE l.org_id = $1 AND l.id > $2 AND l.id <= $3 \
     GROUP BY m.lot_id, m.kind";
const ON_ESIMS: &str = "SELECT lot_id, COUNT(*) FROM assignments \
     WHERE org_id = $1 AND lot_id > $2 AND lot_id <= $3 GROUP BY lot_id";

/// Why units come in, and the thing that caused it.
#[derive(Debug, Clone, Copy)]
pub struct Cause<'a> {
    /// What happens.
    pub kind: Move,
    /// The order, apply, grant or the like; the same one moves once.
    pub reference: &'a str,
    /// When, by the organisation's clock.
    pub at: Timestamp,
}

/// Adds a lot with all its units in the inventory; its number is given here.
pub fn insert(tx: &mut Tx<'_>, org: OrgId, lot: &Lot, cause: Cause<'_>) -> Result<i64, StoreError> {
    let Lot { bundle, price, test_credit, total, bought_at, expires_at, .. } = lot;
    let args =
        args![org, bundle.as_str(), *price, *test_credit, *total, *total, *bought_at, *expires_at];
    let id = tx.one(INSERT, args)?.int(0)?;
    note(tx, id, *total, cause)?;
    Ok(id)
}

/// Takes units out; false if there are not so many.
pub fn take(
    tx: &mut Tx<'_>,
    org: OrgId,
    id: i64,
    quantity: i64,
    cause: Cause<'_>,
) -> Result<bool, StoreError> {
    let sql = if cause.kind == Move::Refunded { REFUND } else { TAKE };
    if tx.exec(sql, args![id, org, quantity])? == 0 {
        return Ok(false);
    }
    note(tx, id, quantity, cause)?;
    Ok(true)
}

/// Takes units out of a lot that was read in this write and has them: nobody else writes it.
pub fn take_held(
    tx: &mut Tx<'_>,
    (org, id): (OrgId, i64),
    quantity: i64,
    cause: Cause<'_>,
) -> Result<(), StoreError> {
    tx.later(TAKE, args![id, org, quantity])?;
    note(tx, id, quantity, cause)
}

/// The lot of that number.
pub fn find(tx: &mut Tx<'_>, org: OrgId, id: i64) -> Result<Option<Lot>, StoreError> {
    tx.maybe(FIND, args![id, org])?.map(|row| lot(&row)).transpose()
}

/// What an organisation holds at a moment, by bundle, earliest expiry first.
pub fn held(tx: &mut Tx<'_>, org: OrgId, now: Timestamp) -> Result<Vec<Lot>, StoreError> {
    tx.all(HELD, args![org, now])?.iter().map(lot).collect()
}

/// The same in pages: lots after that one, at most so many.
pub fn held_page(
    tx: &mut Tx<'_>,
    org: OrgId,
    now: Timestamp,
    after: Option<&Lot>,
    most: i64,
) -> Result<Vec<Lot>, StoreError> {
    let first = ("", Timestamp::from_ms(i64::MIN), 0);
    let mark = after.map_or(first, |lot| (lot.bundle.as_str(), lot.expires_at, lot.id));
    let args = args![org, mark.0, mark.1, mark.2, now, most];
    tx.all(HELD_PAGE, args)?.iter().map(lot).collect()
}

/// What is held of a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBundle {
    /// Which.
    pub bundle: BundleName,
    /// How many units.
    pub remaining: i64,
    /// When the first of them expire.
    pub expires_at: Timestamp,
}

/// Bundles for eSIMs of that profile that an organisation holds, by name, at most so many.
pub fn by_bundle(
    tx: &mut Tx<'_>,
    (org, profile): (OrgId, &str),
    now: Timestamp,
    most: i64,
) -> Result<Vec<HeldBundle>, StoreError> {
    let rows = tx.all(BY_BUNDLE, args![org, profile, now, most])?;
    let held = |row: &Row| {
        let (remaining, expires_at) = (row.int(1)?, row.time(2)?);
        Ok(HeldBundle { bundle: row.parsed(0, BundleName::parse)?, remaining, expires_at })
    };
    rows.iter().map(held).collect()
}

/// Lots of a bundle that an organisation holds, earliest expiry first, at most so many.
pub fn held_of(
    tx: &mut Tx<'_>,
    (org, bundle): (OrgId, &BundleName),
    now: Timestamp,
    most: i64,
) -> Result<Vec<Lot>, StoreError> {
    tx.all(HELD_OF, args![org, bundle.as_str(), now, most])?.iter().map(lot).collect()
}

/// Puts units back that were taken.
pub fn put_back(
    tx: &mut Tx<'_>,
    (org, id): (OrgId, i64),
    quantity: i64,
    cause: Cause<'_>,
) -> Result<(), StoreError> {
    tx.later(PUT_BACK, args![id, org, quantity])?;
    note(tx, id, quantity, cause)
}

/// Lots with units that have expired by then.
pub fn expired(
    tx: &mut Tx<'_>,
    org: OrgId,
    by: Timestamp,
    most: i64,
) -> Result<Vec<Lot>, StoreError> {
    tx.all(EXPIRED, args![org, by, most])?.iter().map(lot).collect()
}

/// How often a lot has expired.
pub fn expiries(tx: &mut Tx<'_>, id: i64) -> Result<i64, StoreError> {
    tx.one(EXPIRIES, args![id])?.int(0)
}

/// When the next lot expires.
pub fn next_expiry(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<Timestamp>, StoreError> {
    tx.one(NEXT_EXPIRY, args![org])?.time_or_none(0)
}

/// Lots of an organisation in order, after that number.
pub fn page(tx: &mut Tx<'_>, org: OrgId, after: i64, most: i64) -> Result<Vec<Lot>, StoreError> {
    tx.all(PAGE, args![org, after, most])?.iter().map(lot).collect()
}

/// The moves of some lots, added up by lot and kind, and the smallest of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    /// Which lot.
    pub lot: i64,
    /// Which kind, as it is written.
    pub kind: String,
    /// How many units in all.
    pub sum: i64,
    /// How many the smallest move had.
    pub least: i64,
}

/// What moved in the lots after `after` up to `to`.
pub fn moved(tx: &mut Tx<'_>, org: OrgId, after: i64, to: i64) -> Result<Vec<Moved>, StoreError> {
    let rows = tx.all(MOVED, args![org, after, to])?;
    let moved = |row: &Row| {
        Ok(Moved {
            lot: row.int(0)?,
            kind: row.text(1)?.to_owned(),
            sum: row.int(2)?,
            least: row.int(3)?,
        })
    };
    rows.iter().map(moved).collect()
}

/// How many assignments the lots after `after` up to `to` have.
pub fn on_esims(
    tx: &mut Tx<'_>,
    org: OrgId,
    after: i64,
    to: i64,
) -> Result<Vec<(i64, i64)>, StoreError> {
    let rows = tx.all(ON_ESIMS, args![org, after, to])?;
    rows.iter().map(|row| Ok((row.int(0)?, row.int(1)?))).collect()
}

fn note(tx: &mut Tx<'_>, id: i64, quantity: i64, cause: Cause<'_>) -> Result<(), StoreError> {
    let Cause { kind, reference, at } = cause;
    tx.later(MOVE, args![id, kind.name(), reference, quantity, at])
}

fn lot(row: &Row) -> Result<Lot, StoreError> {
    Ok(Lot {
        id: row.int(0)?,
        bundle: row.parsed(1, BundleName::parse)?,
        price: row.int(2)?,
        test_credit: row.int(3)?,
        total: row.int(4)?,
        remaining: row.int(5)?,
        refunded: row.int(6)?,
        bought_at: row.time(7)?,
        expires_at: row.time(8)?,
    })
}
