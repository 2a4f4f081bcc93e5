//! Orders and their items. Each order has a number within its organisation, so that a page is a
//! range of numbers, however many orders there are.

use domain::filter::{Direction, NumberTest, Page, TextTest};
use domain::order::{Item, ItemKind, Order, Status, Target};
use domain::{OrderId, OrgId, Timestamp};

use crate::sql::Select;
use crate::{Row, StoreError, Tx, Value, args};

/// What orders to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Conditions on the status.
    pub status: Vec<TextTest>,
    /// Conditions on the reference.
    pub reference: Vec<TextTest>,
    /// Conditions on the total, in minor units.
    pub total: Vec<NumberTest>,
    /// Conditions on the time, in milliseconds.
    pub created_at: Vec<NumberTest>,
}

impl Filter {
    fn is_empty(&self) -> bool {
        self.status.is_empty()
            && self.reference.is_empty()
            && self.total.is_empty()
            && self.created_at.is_empty()
    }
}

/// What orders are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SortBy {
    /// The moment they were placed.
    CreatedAt,
    /// Their total.
    Total,
    /// Their status.
    Status,
    /// Their reference.
    Reference,
}

const INSERT: &str = "INSERT INTO orders (id, org_id, seq, reference, status, status_message, \
     target, total, test_credit, running_balance, source_ip, created_at, finished_at) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
const INSERT_ITEM: &str = "INSERT INTO order_items (order_id, n, kind, item, quantity, sub_total, \
     price_per_unit, reassign) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
const COLUMNS: &str = "id, org_id, reference, status, status_message, target, total, test_credit, \
     running_balance, source_ip, created_at, finished_at, seq";
const FIND: &str = "SELECT id, org_id, reference, status, status_message, target, total, \
     test_credit, running_balance, source_ip, created_at, finished_at, seq \
     FROM orders \
     WHERE reference = $1 AND org_id = $2";
const FIND_BY_ID: &str = "SELECT id, org_id, reference, status, status_message, target, total, \
     test_credit, running_balance, source_ip, created_at, finished_at, seq \
     FROM orders \
     WHERE id = $1 AND org_id = $2";
const FIND_ANYWHERE: &str = "SELECT id, org_id, reference, status, status_message, target, total, \
     test_credit, running_balance, source_ip, created_at, finished_at, seq \
     FROM orders \
     WHERE reference = $1";
const NEWEST: &str = "SELECT id, org_id, reference, status, status_message, target, total, \
     test_credit, running_balance, source_ip, created_at, finished_at, seq \
     FROM orders \
     WHERE org_id = $1 AND seq > $2 AND seq <= $3 AND seq <> 0 ORDER BY seq DESC";
const BEFORE: &str = "SELECT id, org_id, reference, status, status_message, target, total, \
     test_credit, running_balance, source_ip, created_at, finished_at, seq \
     FROM orders \
     WHERE org_id = $1 AND seq >= $2 AND seq <= $3 AND seq <> 0 \
     AND ($4 = '' OR status = $4) ORDER BY seq DESC LIMIT $5";
const AFTER: &str = "SELECT id, org_id, reference, status, status_message, target, total, \
     test_credit, running_balance, source_ip, created_at, finished_at, seq \
     FROM orders \
     WHERE org_id = $1 AND seq >= $2 AND seq <= $3 AND seq <> 0 \
     AND ($4 = '' OR status = $4) ORDER BY seq LIMIT $5";
const CALLED: &str = "SELECT id, org_id, reference, status, status_message, target, total, \
     test_credit, running_balance, source_ip, created_at, finished_at, seq \
     FROM orders \
     WHERE org_id = $1 AND reference >= $2 AND reference < $3 AND seq <> 0 \
     ORDER BY reference LIMIT $4";
const ITEMS: &str = "SELECT kind, item, quantity, sub_total, price_per_unit, reassign \
     FROM order_items WHERE order_id = $1 ORDER BY n";
const ITEMS_OF: &str = "SELECT order_id, kind, item, quantity, sub_total, price_per_unit, reassign \
     FROM order_items WHERE order_id IN ({list}) ORDER BY order_id, n";
const FIRST_ITEMS: &str = "SELECT f.order_id, f.kind, f.item, \
     (SELECT COUNT(*) FROM order_items i WHERE i.order_id = f.order_id), \
     (SELECT SUM(i.quantity) FROM order_items i WHERE i.order_id = f.order_id) \
     FROM order_items f WHERE f.order_id IN ({list}) AND f.n = 0";
const FINISH: &str = "UPDATE orders SET status = $2, status_message = $3, finished_at = $4 \
     WHERE id = $1 AND status = 'processing'";

/// Adds an order with its items, as the next one of the organisation this write belongs to.
pub fn insert(tx: &mut Tx<'_>, order: &Order, items: &[Item]) -> Result<(), StoreError> {
    let refused = || StoreError::Refused("an order outside a write of its organisation".into());
    if tx.org() != Some(order.org) {
        return Err(refused());
    }
    let head = tx.head_mut().ok_or_else(refused)?;
    let seq = if order.is_listed {
        head.order_seq += 1;
        head.order_seq
    } else {
        0
    };
    tx.later(
        INSERT,
        args![
            order.id,
            order.org,
            seq,
            &order.reference,
            order.status.name(),
            &order.status_message,
            order.target.name(),
            order.total,
            order.test_credit,
            order.running_balance,
            &order.source_ip,
            order.created_at,
            order.finished_at
        ],
    )?;
    let rows = items.iter().zip(0_i64..).map(|(item, n)| {
        let Item { kind, item, quantity, sub_total, price_per_unit, allow_reassign } = item;
        let reassign = if *allow_reassign { "yes" } else { "no" };
        args![order.id, n, kind.name(), item, *quantity, *sub_total, *price_per_unit, reassign]
            .to_vec()
    });
    tx.later_rows(INSERT_ITEM, rows.collect())
}

/// The order of that reference.
pub fn find(tx: &mut Tx<'_>, org: OrgId, reference: &str) -> Result<Option<Order>, StoreError> {
    tx.maybe(FIND, args![reference, org])?.map(|row| order(&row)).transpose()
}

/// The order of that reference, whoever's it is: for those who prove in another way that they may
/// see it.
pub fn find_anywhere(tx: &mut Tx<'_>, reference: &str) -> Result<Option<Order>, StoreError> {
    tx.maybe(FIND_ANYWHERE, args![reference])?.map(|row| order(&row)).transpose()
}

/// The order of that id.
pub fn find_by_id(tx: &mut Tx<'_>, org: OrgId, id: OrderId) -> Result<Option<Order>, StoreError> {
    tx.maybe(FIND_BY_ID, args![id, org])?.map(|row| order(&row)).transpose()
}

/// A page of an organisation's orders, newest first unless sorted otherwise, and how many there
/// are. Without conditions a page is a range of numbers, and the count is the last number.
pub fn list(
    tx: &mut Tx<'_>,
    org: OrgId,
    filter: &Filter,
    sort: Option<(SortBy, Direction)>,
    page: Page,
) -> Result<(Vec<Order>, i64), StoreError> {
    if filter.is_empty() && sort.is_none() {
        let count = crate::heads::find(tx, org)?.map_or(0, |head| head.order_seq);
        let to = count.saturating_sub(page.offset()).max(0);
        let from = to.saturating_sub(page.size).max(0);
        let rows = tx.all(NEWEST, args![org, from, to])?;
        return Ok((rows.iter().map(order).collect::<Result<_, _>>()?, count));
    }
    let mut select = Select::from("FROM orders WHERE org_id = $1 AND seq <> 0", args![org]);
    for test in &filter.status {
        // The one status of which there are ever few has an index of its own.
        match test {
            TextTest::Is(status) if status == "processing" => select.processing(),
            test => select.text("status", test),
        }
    }
    for test in &filter.reference {
        select.text("reference", test);
    }
    for test in &filter.total {
        select.number("total", *test);
    }
    for test in &filter.created_at {
        select.number("created_at", *test);
    }
    let count = select.count(tx)?;
    let rows = select.page(tx, COLUMNS, order_by(sort), page)?;
    Ok((rows.iter().map(order).collect::<Result<_, _>>()?, count))
}

/// Which orders of an organisation to leaf through, by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// The newest of these numbers.
    NewestOf(i64, i64),
    /// The oldest of these numbers.
    OldestOf(i64, i64),
}

/// At most so many orders with their numbers, newest first. No more of them are looked at than the
/// numbers allow.
pub fn leaf(
    tx: &mut Tx<'_>,
    (org, status): (OrgId, Option<Status>),
    leaf: Leaf,
    most: i64,
) -> Result<Vec<(i64, Order)>, StoreError> {
    let status = status.map_or("", Status::name);
    let (sql, (from, to)) = match leaf {
        Leaf::NewestOf(from, to) => (BEFORE, (from, to)),
        Leaf::OldestOf(from, to) => (AFTER, (from, to)),
    };
    let rows = tx.all(sql, args![org, from, to, status, most])?;
    let mut found = rows.iter().map(numbered).collect::<Result<Vec<_>, _>>()?;
    if sql == AFTER {
        found.reverse();
    }
    Ok(found)
}

/// At most so many orders whose reference begins so.
pub fn called(
    tx: &mut Tx<'_>,
    org: OrgId,
    beginning: &str,
    most: i64,
) -> Result<Vec<(i64, Order)>, StoreError> {
    // References are hexadecimal digits and hyphens; `~` comes after all of these.
    let rows = tx.all(CALLED, args![org, beginning, format!("{beginning}~"), most])?;
    rows.iter().map(numbered).collect()
}

fn numbered(row: &Row) -> Result<(i64, Order), StoreError> {
    Ok((row.int(12)?, order(row)?))
}

/// What an order is about, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gist {
    /// The kind of its first item.
    pub kind: ItemKind,
    /// That item.
    pub item: String,
    /// How many items it has.
    pub items: i64,
    /// How many bundles these have.
    pub quantity: i64,
}

/// The same of several orders, each with its order.
pub fn gists(tx: &mut Tx<'_>, orders: &[OrderId]) -> Result<Vec<(OrderId, Gist)>, StoreError> {
    let ids: Vec<_> = orders.iter().map(|id| Value::from(*id)).collect();
    let gist = |row: &Row| {
        let gist = Gist {
            kind: row.parsed(1, |text| ItemKind::parse(text).ok_or(()))?,
            item: row.text(2)?.to_owned(),
            items: row.int(3)?,
            quantity: row.int(4)?,
        };
        Ok((row.parsed(0, OrderId::parse)?, gist))
    };
    tx.all_in(FIRST_ITEMS, &[], &ids)?.iter().map(gist).collect()
}

fn order_by(sort: Option<(SortBy, Direction)>) -> &'static str {
    use Direction::{Ascending, Descending};
    match sort {
        None => "seq DESC",
        Some((SortBy::CreatedAt, Ascending)) => "created_at, seq",
        Some((SortBy::CreatedAt, Descending)) => "created_at DESC, seq DESC",
        Some((SortBy::Total, Ascending)) => "total, seq",
        Some((SortBy::Total, Descending)) => "total DESC, seq DESC",
        Some((SortBy::Status, Ascending)) => "status, seq",
        Some((SortBy::Status, Descending)) => "status DESC, seq DESC",
        Some((SortBy::Reference, Ascending)) => "reference",
        Some((SortBy::Reference, Descending)) => "reference DESC",
    }
}

/// The items of an order.
pub fn items(tx: &mut Tx<'_>, order: OrderId) -> Result<Vec<Item>, StoreError> {
    tx.all(ITEMS, args![order])?.iter().map(|row| item(row, 0)).collect()
}

/// The items of several orders, each with its order.
pub fn items_of(tx: &mut Tx<'_>, orders: &[OrderId]) -> Result<Vec<(OrderId, Item)>, StoreError> {
    let ids: Vec<_> = orders.iter().map(|id| Value::from(*id)).collect();
    let rows = tx.all_in(ITEMS_OF, &[], &ids)?;
    rows.iter().map(|row| Ok((row.parsed(0, OrderId::parse)?, item(row, 1)?))).collect()
}

/// Ends an order that was processed; false if it was ended before.
pub fn finish(
    tx: &mut Tx<'_>,
    id: OrderId,
    status: Status,
    message: &str,
    at: Timestamp,
) -> Result<bool, StoreError> {
    Ok(tx.exec(FINISH, args![id, status.name(), message, at])? == 1)
}

fn order(row: &Row) -> Result<Order, StoreError> {
    Ok(Order {
        id: row.parsed(0, OrderId::parse)?,
        org: row.parsed(1, OrgId::parse)?,
        reference: row.text(2)?.to_owned(),
        status: row.parsed(3, |text| Status::parse(text).ok_or(()))?,
        status_message: row.text(4)?.to_owned(),
        target: row.parsed(5, |text| Target::parse(text).ok_or(()))?,
        total: row.int(6)?,
        test_credit: row.int(7)?,
        running_balance: row.int(8)?,
        source_ip: row.text(9)?.to_owned(),
        created_at: row.time(10)?,
        finished_at: row.time_or_none(11)?,
        is_listed: row.int(12)? > 0,
    })
}

fn item(row: &Row, from: usize) -> Result<Item, StoreError> {
    Ok(Item {
        kind: row.parsed(from, |text| ItemKind::parse(text).ok_or(()))?,
        item: row.text(from + 1)?.to_owned(),
        quantity: row.int(from + 2)?,
        sub_total: row.int(from + 3)?,
        price_per_unit: row.int(from + 4)?,
        allow_reassign: row.text(from + 5)? == "yes",
    })
}
