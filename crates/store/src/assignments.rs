//! Bundles on eSIMs.

use domain::assignment::{Assignment, State, Terms};
use domain::catalogue::Start;
use domain::order::Assigned;
use domain::{BundleName, Iccid, OrderId, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, Value, args, catalogue};

/// A bundle that is put on an eSIM.
#[derive(Debug, Clone)]
pub struct New {
    /// Which, and on which.
    pub assigned: Assigned,
    /// What it gives.
    pub terms: Terms,
    /// The lot it comes from; none yet while its order is processed.
    pub lot: Option<i64>,
    /// When it is wanted to start.
    pub wanted_at: Option<Timestamp>,
}

impl New {
    /// The same, as far as what happens next goes.
    pub fn placed(&self) -> Placed {
        let Self { assigned, terms, wanted_at, .. } = self;
        Placed {
            iccid: assigned.iccid.clone(),
            bundle: assigned.bundle.clone(),
            waits_for_use: terms.start == Start::FirstUse && wanted_at.is_none(),
        }
    }
}

/// A bundle that was put on an eSIM and waits there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The eSIM.
    pub iccid: Iccid,
    /// The bundle.
    pub bundle: BundleName,
    /// Whether nothing but its first use starts it.
    pub waits_for_use: bool,
}

/// A bundle on an eSIM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// How it is.
    pub assignment: Assignment,
    /// The eSIM.
    pub iccid: Iccid,
    /// The bundle.
    pub bundle: BundleName,
    /// The same for people.
    pub description: String,
    /// The reference of the order or apply that put it there.
    pub reference: String,
    /// Its number within that.
    pub n: i64,
    /// The item of the order it belongs to.
    pub item: i64,
    /// The lot it came from.
    pub lot: Option<i64>,
}

impl Stored {
    /// Its reference, as others name it.
    pub fn own_reference(&self) -> String {
        format!("{}-{}", self.reference, self.n)
    }
}

const INSERT: &str = "INSERT INTO assignments (org_id, iccid, bundle, order_id, item, n, esim, \
     lot_id, state, assigned_at, ready_at, wanted_at, data_mb, daily_mb, throttle_kbps, duration, \
     duration_unit, starts) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)";
const OF_ORDERS: &str = "SELECT order_id, item, n, iccid, bundle, esim FROM assignments \
     WHERE order_id IN ({list}) ORDER BY order_id, n";
const PAGE_OF_ORDER: &str = "SELECT order_id, item, n, iccid, bundle, esim FROM assignments \
     WHERE order_id = $1 AND n >= $2 ORDER BY n LIMIT $3";
const FIRST_OF_ORDERS: &str = "SELECT order_id, item, n, iccid, bundle, esim FROM assignments \
     WHERE order_id IN ({list}) AND n = 0";
const INSTALL_STATES: &str = "SELECT COUNT(*), \
     COALESCE(SUM(CASE WHEN e.profile_status = 'Deactivated' THEN 1 ELSE 0 END), 0) \
     FROM assignments a JOIN esims e ON e.iccid = a.iccid \
     WHERE a.order_id = $1 AND a.n >= $2 AND a.n <= $3 AND e.org_id = $4";
const OF_ESIMS: &str = "SELECT a.id, a.state, a.assigned_at, a.ready_at, a.wanted_at, \
     a.started_at, a.ends_at, a.ended_at, a.used, a.used_that_day, a.used_on, a.data_mb, \
     a.daily_mb, a.throttle_kbps, a.duration, a.duration_unit, a.starts, a.iccid, a.bundle, \
     o.reference, a.n, a.lot_id, b.description, a.item FROM assignments a \
     JOIN orders o ON o.id = a.order_id JOIN bundles b ON b.name = a.bundle \
     WHERE a.org_id = $1 AND a.iccid IN ({list}) ORDER BY a.id";
const PLACED: &str = "SELECT item, n, iccid, bundle, esim, starts, wanted_at FROM assignments \
     WHERE order_id = $1 AND state = 'queued' ORDER BY n";
const READY: &str = "UPDATE assignments SET state = 'queued', lot_id = $3, ready_at = $4 \
     WHERE order_id = $1 AND item = $2 AND state = 'processing'";
const READY_ALL: &str = "UPDATE assignments SET state = 'queued', ready_at = $2 \
     WHERE order_id = $1 AND state = 'processing'";
const REVOKE: &str = "UPDATE assignments SET state = 'revoked', ended_at = $2 \
     WHERE order_id = $1 AND state = 'processing'";
const SAVE: &str = "UPDATE assignments SET state = $2, started_at = $3, ends_at = $4, \
     ended_at = $5, used = $6, used_that_day = $7, used_on = $8 WHERE id = $1";
const LOTS_OF_ORDER: &str = "SELECT lot_id, COUNT(*) FROM assignments \
     WHERE order_id = $1 AND state = 'processing' AND lot_id IS NOT NULL \
     GROUP BY lot_id ORDER BY lot_id";

/// Puts bundles on eSIMs. Those of an order that is still processed cannot be used yet.
pub fn insert(
    tx: &mut Tx<'_>,
    (org, order): (OrgId, OrderId),
    new: &[New],
    state: State,
    at: Timestamp,
) -> Result<(), StoreError> {
    let rows = new.iter().map(|New { assigned, terms, lot, wanted_at }| {
        let Assigned { item, n, iccid, bundle, is_new_esim } = assigned;
        let esim = if *is_new_esim { "new" } else { "named" };
        let (daily_mb, throttle_kbps) = terms.data.daily();
        args![
            org,
            iccid,
            bundle.as_str(),
            order,
            *item,
            *n,
            esim,
            *lot,
            state.name(),
            at,
            at,
            *wanted_at,
            terms.data.megabytes(),
            daily_mb,
            throttle_kbps,
            terms.duration,
            terms.unit.name(),
            terms.start.name()
        ]
        .to_vec()
    });
    tx.later_rows(INSERT, rows.collect())
}

/// The assignments of several orders, each with its order.
pub fn of_orders(
    tx: &mut Tx<'_>,
    orders: &[OrderId],
) -> Result<Vec<(OrderId, Assigned)>, StoreError> {
    let ids: Vec<_> = orders.iter().map(|id| Value::from(*id)).collect();
    let rows = tx.all_in(OF_ORDERS, &[], &ids)?;
    rows.iter().map(|row| Ok((row.parsed(0, OrderId::parse)?, assigned(row, 1)?))).collect()
}

/// The first assignment of each of several orders.
pub fn first_of_orders(
    tx: &mut Tx<'_>,
    orders: &[OrderId],
) -> Result<Vec<(OrderId, Assigned)>, StoreError> {
    let ids: Vec<_> = orders.iter().map(|id| Value::from(*id)).collect();
    let rows = tx.all_in(FIRST_OF_ORDERS, &[], &ids)?;
    rows.iter().map(|row| Ok((row.parsed(0, OrderId::parse)?, assigned(row, 1)?))).collect()
}

/// Assignments of an order from the n-th on.
pub fn page_of_order(
    tx: &mut Tx<'_>,
    order: OrderId,
    from: i64,
    most: i64,
) -> Result<Vec<Assigned>, StoreError> {
    tx.all(PAGE_OF_ORDER, args![order, from, most])?.iter().map(|row| assigned(row, 1)).collect()
}

/// Of the assignments of an order from one number to another: how many are on eSIMs that the
/// organisation still has, and on how many of those that are dead.
pub fn install_states(
    tx: &mut Tx<'_>,
    org: OrgId,
    order: OrderId,
    (from, to): (i64, i64),
) -> Result<(i64, i64), StoreError> {
    let row = tx.one(INSTALL_STATES, args![order, from, to, org])?;
    Ok((row.int(0)?, row.int(1)?))
}

/// Bundles that an order has put on eSIMs and that wait there.
pub fn placed(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<Placed>, StoreError> {
    let placed = |row: &Row| {
        let Assigned { iccid, bundle, .. } = assigned(row, 0)?;
        let start = row.parsed(5, |text| Start::parse(text).ok_or(()))?;
        let waits_for_use = start == Start::FirstUse && row.time_or_none(6)?.is_none();
        Ok(Placed { iccid, bundle, waits_for_use })
    };
    tx.all(PLACED, args![order])?.iter().map(placed).collect()
}

/// Everything an organisation has on some eSIMs, oldest first within each.
pub fn of_esims(tx: &mut Tx<'_>, org: OrgId, iccids: &[Iccid]) -> Result<Vec<Stored>, StoreError> {
    let list: Vec<_> = iccids.iter().map(Value::from).collect();
    tx.all_in(OF_ESIMS, args![org], &list)?.iter().map(stored).collect()
}

/// Writes back what became of an assignment.
pub fn save(tx: &mut Tx<'_>, one: &Assignment) -> Result<(), StoreError> {
    let args = args![
        one.id,
        one.state.name(),
        one.started_at,
        one.ends_at,
        one.ended_at,
        one.used,
        one.used_that_day,
        one.used_on
    ];
    tx.later(SAVE, args)
}

/// An item of a processed order is done: its bundles, of that lot, wait for use.
pub fn ready(
    tx: &mut Tx<'_>,
    order: OrderId,
    (item, lot): (i64, i64),
    at: Timestamp,
) -> Result<u64, StoreError> {
    tx.exec(READY, args![order, item, lot, at])
}

/// An apply is done: its bundles, whose lots are known, wait for use.
pub fn ready_all(tx: &mut Tx<'_>, order: OrderId, at: Timestamp) -> Result<u64, StoreError> {
    tx.exec(READY_ALL, args![order, at])
}

/// A processed order failed: its bundles never were.
pub fn revoke(tx: &mut Tx<'_>, order: OrderId, at: Timestamp) -> Result<(), StoreError> {
    tx.later(REVOKE, args![order, at])
}

/// The lots that a processed apply took from, and how many units of each.
pub fn lots_of_order(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<(i64, i64)>, StoreError> {
    let rows = tx.all(LOTS_OF_ORDER, args![order])?;
    rows.iter().map(|row| Ok((row.int(0)?, row.int(1)?))).collect()
}

fn assigned(row: &Row, from: usize) -> Result<Assigned, StoreError> {
    Ok(Assigned {
        item: row.int(from)?,
        n: row.int(from + 1)?,
        iccid: row.parsed(from + 2, Iccid::parse)?,
        bundle: row.parsed(from + 3, BundleName::parse)?,
        is_new_esim: row.text(from + 4)? == "new",
    })
}

fn stored(row: &Row) -> Result<Stored, StoreError> {
    Ok(Stored {
        assignment: Assignment {
            id: row.int(0)?,
            state: row.parsed(1, |text| State::parse(text).ok_or(()))?,
            terms: catalogue::terms(row, 11)?,
            assigned_at: row.time(2)?,
            ready_at: row.time(3)?,
            wanted_at: row.time_or_none(4)?,
            started_at: row.time_or_none(5)?,
            ends_at: row.time_or_none(6)?,
            ended_at: row.time_or_none(7)?,
            used: row.int(8)?,
            used_that_day: row.int(9)?,
            used_on: row.int(10)?,
        },
        iccid: row.parsed(17, Iccid::parse)?,
        bundle: row.parsed(18, BundleName::parse)?,
        reference: row.text(19)?.to_owned(),
        n: row.int(20)?,
        lot: row.int_or_none(21)?,
        description: row.text(22)?.to_owned(),
        item: row.int(23)?,
    })
}
