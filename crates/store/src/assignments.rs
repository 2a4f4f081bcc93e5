//! Bundles on eSIMs.

use domain::order::Assigned;
use domain::{BundleName, Iccid, OrderId, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, Value, args};

const INSERT: &str = "INSERT INTO assignments (org_id, iccid, bundle, order_id, item, n, esim, \
     lot_id, state, assigned_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
const OF_ORDERS: &str = "SELECT order_id, item, n, iccid, bundle, esim FROM assignments \
     WHERE order_id IN ({list}) ORDER BY order_id, n";
const READY: &str = "UPDATE assignments SET state = 'queued', lot_id = $3 \
     WHERE order_id = $1 AND item = $2 AND state = 'processing'";
const REVOKE: &str = "UPDATE assignments SET state = 'revoked' \
     WHERE order_id = $1 AND state = 'processing'";

/// Puts bundles on eSIMs. Those of an order that is still processed have no lot yet; by item, it is
/// the lot their units come from.
pub fn insert(
    tx: &mut Tx<'_>,
    (org, order): (OrgId, OrderId),
    assigned: &[Assigned],
    lots: Option<&[i64]>,
    at: Timestamp,
) -> Result<(), StoreError> {
    let state = if lots.is_some() { "queued" } else { "processing" };
    let rows = assigned.iter().map(|one| {
        let Assigned { item, n, iccid, bundle, is_new_esim } = one;
        let place = usize::try_from(*item).unwrap_or(usize::MAX);
        let lot = lots.and_then(|lots| lots.get(place).copied());
        let esim = if *is_new_esim { "new" } else { "named" };
        args![org, iccid, bundle.as_str(), order, *item, *n, esim, lot, state, at].to_vec()
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

/// An item of a processed order is done: its bundles wait for use.
pub fn ready(tx: &mut Tx<'_>, order: OrderId, item: i64, lot: i64) -> Result<u64, StoreError> {
    tx.exec(READY, args![order, item, lot])
}

/// A processed order failed: its bundles never were.
pub fn revoke(tx: &mut Tx<'_>, order: OrderId) -> Result<(), StoreError> {
    tx.later(REVOKE, args![order])
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
