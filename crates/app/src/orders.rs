//! Orders: seen one by one, as a list, and as a receipt. Placing them is in `buy`, finishing the
//! large ones in `process`.

pub(crate) mod buy;
pub mod leaf;
mod plan;
pub(crate) mod process;

use std::collections::HashMap;

use domain::esim::InstallCode;
use domain::filter::{Direction, Page, TextTest};
pub use domain::order::{Assigned, Item, ItemKind, Order, Status, Target};
use domain::{Currency, Iccid, Organisation};
pub use store::orders::{Filter as StoredFilter, SortBy};
use store::{StoreError, Tx, assignments, esims, orders, organisations};

pub use self::buy::{Command, Error, Intent, Line, Outcome, Processing, Refusal, Validated};
use crate::{App, Caller};

/// An order with everything that belongs to it.
#[derive(Debug, Clone)]
pub struct Shown {
    /// The order.
    pub order: Order,
    /// The currency of its amounts.
    pub currency: Currency,
    /// Its items.
    pub items: Vec<Item>,
    /// What went onto eSIMs.
    pub assigned: Vec<Assigned>,
    /// How to install those eSIMs, where that was asked for.
    pub codes: Vec<InstallCode>,
    /// Where its receipt is, below the service's own address; of payments, which alone link to it.
    pub receipt: Option<String>,
}

/// What orders to list.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// What is asked of the tables.
    pub stored: StoredFilter,
    /// Conditions on the currency, which all orders of an organisation share.
    pub currency: Vec<TextTest>,
}

/// How much of the eSIMs of an order is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Codes {
    /// None of it.
    None,
    /// How to install them, for orders of at most this many eSIMs.
    UpTo(usize),
}

/// What a receipt says.
#[derive(Debug, Clone)]
pub struct Receipt {
    /// Whose.
    pub organisation: Organisation,
    /// The order.
    pub shown: Shown,
}

impl App {
    /// A page of the caller's orders, newest first unless sorted otherwise, and how many there are.
    pub async fn orders(
        &self,
        caller: &Caller,
        filter: Filter,
        sort: Option<(SortBy, Direction)>,
        (page, codes): (Page, Codes),
    ) -> Result<(Vec<Shown>, i64), StoreError> {
        let (app, org) = (self.clone(), caller.org());
        let currency = caller.market().currency;
        if !filter.currency.iter().all(|test| test.passes(currency.code())) {
            return Ok((Vec::new(), 0));
        }
        self.store()
            .read(move |tx| {
                let (found, rows) = orders::list(tx, org, &filter.stored, sort, page)?;
                Ok((app.shown(tx, found, currency, codes)?, rows))
            })
            .await
    }

    /// One of the caller's orders.
    pub async fn order(
        &self,
        caller: &Caller,
        reference: &str,
        codes: Codes,
    ) -> Result<Option<Shown>, StoreError> {
        let (app, org, reference) = (self.clone(), caller.org(), reference.to_owned());
        let currency = caller.market().currency;
        self.store()
            .read(move |tx| {
                let found = orders::find(tx, org, &reference)?;
                let found = found.into_iter().filter(|order| order.is_listed).collect();
                Ok(app.shown(tx, found, currency, codes)?.pop())
            })
            .await
    }

    /// The receipt of an order for whoever has the link to it.
    pub async fn receipt(
        &self,
        reference: &str,
        seal: &str,
    ) -> Result<Option<Receipt>, StoreError> {
        let (app, reference, seal) = (self.clone(), reference.to_owned(), seal.to_owned());
        self.store()
            .read(move |tx| {
                let Some(order) = orders::find_anywhere(tx, &reference)? else { return Ok(None) };
                if !app.fits(&order, &seal) {
                    return Ok(None);
                }
                let Some(organisation) = organisations::find(tx, order.org)? else {
                    return Ok(None);
                };
                let shown = app.shown(tx, vec![order], organisation.currency, Codes::None)?.pop();
                Ok(shown.map(|shown| Receipt { organisation, shown }))
            })
            .await
    }

    /// Orders with what belongs to them, in the same order.
    fn shown(
        &self,
        tx: &mut Tx<'_>,
        found: Vec<Order>,
        currency: Currency,
        codes: Codes,
    ) -> Result<Vec<Shown>, StoreError> {
        let ids: Vec<_> = found.iter().map(|order| order.id).collect();
        let mut items = grouped(orders::items_of(tx, &ids)?);
        let with_esims = found.iter().filter(|order| order.target == Target::Esims);
        let with_esims: Vec<_> = with_esims.map(|order| order.id).collect();
        let mut assigned = grouped(assignments::of_orders(tx, &with_esims)?);
        let mut all = Vec::with_capacity(found.len());
        for order in found {
            let items = items.remove(&order.id).unwrap_or_default();
            let assigned = assigned.remove(&order.id).unwrap_or_default();
            all.push(self.with_codes(tx, (order, items, assigned), currency, codes)?);
        }
        Ok(all)
    }

    fn with_codes(
        &self,
        tx: &mut Tx<'_>,
        (order, items, assigned): (Order, Vec<Item>, Vec<Assigned>),
        currency: Currency,
        codes: Codes,
    ) -> Result<Shown, StoreError> {
        let wanted = match codes {
            Codes::UpTo(most) => order.status == Status::Completed && assigned.len() <= most,
            Codes::None => false,
        };
        let codes = if wanted {
            let iccids: Vec<Iccid> = assigned.iter().map(|one| one.iccid.clone()).collect();
            self.install_codes(esims::install(tx, order.org, &iccids)?)?
        } else {
            Vec::new()
        };
        let is_payment = items.iter().any(|item| item.kind.is_topup());
        let receipt = is_payment.then(|| self.receipt_path(&order));
        Ok(Shown { order, currency, items, assigned, codes, receipt })
    }

    /// A path that only this service can make and nobody can guess.
    fn receipt_path(&self, order: &Order) -> String {
        format!("/receipts/{}/{}", order.reference, self.receipt_seal(order))
    }

    fn receipt_seal(&self, order: &Order) -> String {
        let text = format!("receipt v1 {} {}", order.org, order.reference);
        domain::hex(&self.vault().digest(&text)[..16])
    }

    fn fits(&self, order: &Order, seal: &str) -> bool {
        // Digests are compared, so that the time this takes says nothing of the seal.
        self.vault().digest(&self.receipt_seal(order)) == self.vault().digest(seal)
    }
}

fn grouped<K: std::hash::Hash + Eq, V>(rows: Vec<(K, V)>) -> HashMap<K, Vec<V>> {
    let mut groups: HashMap<K, Vec<V>> = HashMap::new();
    for (key, value) in rows {
        groups.entry(key).or_default().push(value);
    }
    groups
}

/// A reference on the wire is a random UUID (version 4).
pub(crate) fn random_uuid(random: [u8; 16]) -> String {
    let mut bytes = random;
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex = domain::hex(&bytes);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
