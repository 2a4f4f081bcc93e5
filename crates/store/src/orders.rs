//! Orders and their items.

use domain::{OrderId, OrgId, Timestamp};

use crate::{Row, StoreError, Tx, args};

/// An order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// Its id, inside.
    pub id: OrderId,
    /// Whose.
    pub org: OrgId,
    /// Its reference, outside.
    pub reference: String,
    /// `processing`, `completed` or `failed`.
    pub status: String,
    /// The same for a person.
    pub status_message: String,
    /// In minor units.
    pub total: i64,
    /// When it was placed, by the organisation's clock.
    pub created_at: Timestamp,
}

/// One line of an order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// `apiTopup`, `autoTopup`, …
    pub kind: String,
    /// What it is.
    pub item: String,
    /// How many.
    pub quantity: i64,
    /// In minor units.
    pub sub_total: i64,
    /// In minor units.
    pub price_per_unit: i64,
}

const INSERT: &str = "INSERT INTO orders (id, org_id, reference, status, status_message, total, \
     created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)";
const INSERT_ITEM: &str = "INSERT INTO order_items (order_id, n, kind, item, quantity, sub_total, \
     price_per_unit) VALUES ($1, $2, $3, $4, $5, $6, $7)";
const PAGE: &str = "SELECT id, org_id, reference, status, status_message, total, created_at \
     FROM orders WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT $3";
const ITEMS: &str = "SELECT kind, item, quantity, sub_total, price_per_unit FROM order_items \
     WHERE order_id = $1 ORDER BY n";

/// Adds an order with its items.
pub fn insert(tx: &mut Tx<'_>, order: &Order, items: &[Item]) -> Result<(), StoreError> {
    let Order { id, org, reference, status, status_message, total, created_at } = order;
    tx.later(INSERT, args![*id, *org, reference, status, status_message, *total, *created_at])?;
    for (n, item) in items.iter().enumerate() {
        let n = i64::try_from(n).unwrap_or(i64::MAX);
        let Item { kind, item, quantity, sub_total, price_per_unit } = item;
        let args = args![*id, n, kind, item, *quantity, *sub_total, *price_per_unit];
        tx.later(INSERT_ITEM, args)?;
    }
    Ok(())
}

/// Orders of an organisation in the order they were placed, after the given one.
pub fn page(
    tx: &mut Tx<'_>,
    org: OrgId,
    after: Option<OrderId>,
    most: i64,
) -> Result<Vec<Order>, StoreError> {
    let after = after.map_or_else(String::new, |id| id.to_string());
    tx.all(PAGE, args![org, after, most])?.iter().map(order).collect()
}

/// The items of an order.
pub fn items(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<Item>, StoreError> {
    tx.all(ITEMS, args![order])?.iter().map(item).collect()
}

fn order(row: &Row) -> Result<Order, StoreError> {
    Ok(Order {
        id: row.parsed(0, OrderId::parse)?,
        org: row.parsed(1, OrgId::parse)?,
        reference: row.text(2)?.to_owned(),
        status: row.text(3)?.to_owned(),
        status_message: row.text(4)?.to_owned(),
        total: row.int(5)?,
        created_at: row.time(6)?,
    })
}

fn item(row: &Row) -> Result<Item, StoreError> {
    Ok(Item {
        kind: row.text(0)?.to_owned(),
        item: row.text(1)?.to_owned(),
        quantity: row.int(2)?,
        sub_total: row.int(3)?,
        price_per_unit: row.int(4)?,
    })
}
