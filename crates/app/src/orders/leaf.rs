//! Leafing through orders and through the eSIMs of one: pages by key, each of a bounded size,
//! however many there are.

use std::collections::HashMap;

use domain::esim::Esim;
use domain::order::{Assigned, Item, ItemKind, Order, Status, Target};
use domain::{Currency, Timestamp, limits};
pub use store::orders::Gist;
use store::orders::Leaf;
use store::{StoreError, Tx, assignments, esims, heads, orders};

use crate::{App, Caller};

/// Where a page of orders is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// The newest.
    Newest,
    /// Those right before the order of that number.
    Before(i64),
    /// Those right after the order of that number.
    After(i64),
    /// Those whose reference begins so.
    Called(String),
}

/// An order of a page.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The order.
    pub order: Order,
    /// Its number within the organisation.
    pub number: i64,
    /// What it is about.
    pub gist: Option<Gist>,
    /// The bundle it is about, where it is about bundles.
    pub bundle: Option<String>,
}

/// A page of orders, newest first.
#[derive(Debug, Clone)]
pub struct Leafed {
    /// The orders.
    pub orders: Vec<Listed>,
    /// The currency of their amounts.
    pub currency: Currency,
    /// How many there are, of every status.
    pub count: i64,
    /// Where newer ones are, if there may be any.
    pub newer: Option<Place>,
    /// Where older ones are, if there may be any.
    pub older: Option<Place>,
    /// The organisation's own time.
    pub clock: Timestamp,
}

/// An order with a page of its eSIMs.
#[derive(Debug, Clone)]
pub struct Page {
    /// The order.
    pub order: Order,
    /// The currency of its amounts.
    pub currency: Currency,
    /// Its items; none of an apply, whose eSIMs say it all.
    pub items: Vec<Item>,
    /// Where its receipt is, below the service's own address, if it has one.
    pub receipt: Option<String>,
    /// How many bundles it puts on eSIMs.
    pub assigned: i64,
    /// Those from the wanted one on, each with its eSIM while the organisation has it.
    pub esims: Vec<(Assigned, Option<Esim>)>,
    /// The organisation's own time.
    pub clock: Timestamp,
}

impl App {
    /// A page of the caller's orders.
    pub async fn leaf_orders(
        &self,
        caller: &Caller,
        status: Option<Status>,
        (place, most): (Place, i64),
    ) -> Result<Leafed, StoreError> {
        let (org, now, currency) = (caller.org(), self.now(), caller.market().currency);
        self.store()
            .read(move |tx| {
                let gone = || StoreError::Corrupt { column: 0, row: org.to_string() };
                let head = heads::find(tx, org)?.ok_or_else(gone)?;
                let count = head.order_seq;
                let (found, edges) = match &place {
                    Place::Called(text) => {
                        let mut found = orders::called(tx, org, text, most)?;
                        found.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
                        found.retain(|(_, order)| status.is_none_or(|one| order.status == one));
                        (found, (None, None))
                    }
                    place => {
                        let leaf = window(place, count);
                        let found = orders::leaf(tx, (org, status), leaf, most)?;
                        let edges = edges(leaf, (&found, most), count);
                        (found, edges)
                    }
                };
                let orders = listed(tx, found)?;
                let (newer, older) = edges;
                Ok(Leafed { orders, currency, count, newer, older, clock: head.clock(now) })
            })
            .await
    }

    /// One of the caller's orders with at most so many of its eSIMs, from the n-th on.
    pub async fn order_page(
        &self,
        caller: &Caller,
        reference: &str,
        (from, most): (i64, i64),
    ) -> Result<Option<Page>, StoreError> {
        let (app, org, reference) = (self.clone(), caller.org(), reference.to_owned());
        let (now, currency) = (self.now(), caller.market().currency);
        self.store()
            .read(move |tx| {
                let clock = heads::find(tx, org)?.map_or(now, |head| head.clock(now));
                let found = orders::find(tx, org, &reference)?.filter(|order| order.is_listed);
                let Some(order) = found else { return Ok(None) };
                let gist = orders::gists(tx, &[order.id])?.pop().map(|(_, gist)| gist);
                let is_apply =
                    gist.as_ref().is_some_and(|gist| gist.kind == ItemKind::BundleAssignment);
                let items = if is_apply { Vec::new() } else { orders::items(tx, order.id)? };
                let assigned = gist.map_or(0, |gist| match (order.target, is_apply) {
                    (Target::Esims, true) => gist.items,
                    (Target::Esims, false) => gist.quantity,
                    _ => 0,
                });
                let esims = if assigned == 0 {
                    Vec::new()
                } else {
                    let page = assignments::page_of_order(tx, order.id, from, most)?;
                    let iccids: Vec<_> = page.iter().map(|one| one.iccid.clone()).collect();
                    let known = esims::of_org(tx, org, &iccids)?.into_iter();
                    let known: HashMap<_, _> =
                        known.map(|esim| (esim.iccid.clone(), esim)).collect();
                    let with = |one: Assigned| (known.get(&one.iccid).cloned(), one);
                    page.into_iter().map(with).map(|(esim, one)| (one, esim)).collect()
                };
                let is_payment = items.iter().any(|item| item.kind.is_topup());
                let receipt = is_payment.then(|| app.receipt_path(&order));
                Ok(Some(Page { order, currency, items, receipt, assigned, esims, clock }))
            })
            .await
    }
}

/// The numbers that are looked at.
fn window(place: &Place, count: i64) -> Leaf {
    let reach = limits::ORDERS_LOOKED_AT;
    match place {
        Place::Before(number) => {
            let to = number.saturating_sub(1).min(count);
            Leaf::NewestOf(to.saturating_sub(reach).max(0) + 1, to)
        }
        Place::After(number) => {
            let from = number.saturating_add(1).max(1);
            Leaf::OldestOf(from, from.saturating_add(reach))
        }
        Place::Newest | Place::Called(_) => Leaf::NewestOf((count - reach).max(0) + 1, count),
    }
}

/// What is left on both sides of a page.
fn edges(
    leaf: Leaf,
    (found, most): (&[(i64, Order)], i64),
    count: i64,
) -> (Option<Place>, Option<Place>) {
    let is_full = i64::try_from(found.len()) == Ok(most);
    let (newest, oldest) = (found.first(), found.last());
    let (from, to) = match leaf {
        Leaf::NewestOf(from, to) => {
            let from = oldest.filter(|_| is_full).map_or(from, |(number, _)| *number);
            (from, to)
        }
        Leaf::OldestOf(from, to) => {
            let to = newest.filter(|_| is_full).map_or(to, |(number, _)| *number);
            (from, to)
        }
    };
    ((to < count).then_some(Place::After(to)), (from > 1).then_some(Place::Before(from)))
}

fn listed(tx: &mut Tx<'_>, found: Vec<(i64, Order)>) -> Result<Vec<Listed>, StoreError> {
    let ids: Vec<_> = found.iter().map(|(_, order)| order.id).collect();
    let mut gists: HashMap<_, _> = orders::gists(tx, &ids)?.into_iter().collect();
    let applies = gists.iter().filter(|(_, gist)| gist.kind == ItemKind::BundleAssignment);
    let applies: Vec<_> = applies.map(|(id, _)| *id).collect();
    let firsts = assignments::first_of_orders(tx, &applies)?.into_iter();
    let firsts: HashMap<_, _> = firsts.map(|(id, one)| (id, one.bundle.to_string())).collect();
    let one = |(number, order): (i64, Order)| {
        let gist = gists.remove(&order.id);
        let bundle = gist.as_ref().and_then(|gist| match gist.kind {
            ItemKind::Bundle | ItemKind::BundleRefund => Some(gist.item.clone()),
            ItemKind::BundleAssignment => firsts.get(&order.id).cloned(),
            ItemKind::ApiTopup | ItemKind::Topup | ItemKind::AutoTopup => None,
        });
        Listed { order, number, gist, bundle }
    };
    Ok(found.into_iter().map(one).collect())
}
