//! What must become of a request, from what the shop and the organisations have.

use std::collections::BTreeMap;

use app::orders::{Command, Intent, Line, Processing, Refusal};
use domain::order::{Status, Target};
use domain::{Iccid, Timestamp};

use super::books::{Books, Item};
use super::shop::Good;
use super::wish::{Unsaid, Wish};

/// Larger orders are processed after the answer, where the caller knows of that.
const AT_ONCE_MAX: i64 = 5;
const ITEM_MAX: i64 = 1_000;
const ORDER_MAX: i64 = 10_000;

pub(crate) struct Model {
    pub(crate) goods: Vec<Good>,
    /// Profiles that nobody has.
    pub(crate) stock: BTreeMap<Iccid, &'static str>,
    pub(crate) orgs: Vec<Books>,
}

impl Model {
    /// What a request does now, and the code of what it is answered: one of several, where it
    /// breaks several rules.
    pub(crate) fn act(
        &mut self,
        n: usize,
        wish: &Wish,
        is_keyed: bool,
        now: Timestamp,
    ) -> Result<Vec<String>, Unsaid> {
        match wish {
            Wish::Buy(command) => self.buy(n, command, now),
            Wish::Refund(usage, units) => {
                Ok(vec![self.orgs[n].refund(*usage, *units, now).to_owned()])
            }
            Wish::Topup(amount) if *amount < self.orgs[n].terms.topup_minimum => {
                Ok(vec!["below-minimum".to_owned()])
            }
            Wish::Topup(amount) => {
                self.orgs[n].topup(*amount, is_keyed);
                // Nobody works meanwhile.
                Err(Unsaid::Undecided)
            }
        }
    }

    fn buy(&mut self, n: usize, command: &Command, now: Timestamp) -> Result<Vec<String>, Unsaid> {
        let items = match self.items(n, command) {
            Ok(items) => items,
            Err(broken) => return Ok(broken.iter().map(|rule| format!("{rule:?}")).collect()),
        };
        let is_in_stock = self.has_stock_for(&items);
        let total = items.iter().map(|item| item.price * item.quantity).sum::<i64>();
        let units = items.iter().map(|item| item.quantity).sum::<i64>();
        let books = &mut self.orgs[n];
        books.pass(now);
        let is_covered = books.purse() >= total;
        match (command.intent, is_covered, is_in_stock) {
            (Intent::Transaction, false, _) => return Err(Unsaid::BalanceTooLow),
            (_, _, false) => return Err(Unsaid::OutOfStock),
            (Intent::Validate, true, true) => return Ok(vec![format!("covered {total}")]),
            (Intent::Validate, false, true) => return Ok(vec![format!("uncovered {total}")]),
            (Intent::Transaction, true, true) => {}
        }
        let is_later = command.processing == Processing::Later && units > AT_ONCE_MAX;
        books.place(items, (command.target, is_later), now);
        let status = if is_later { Status::Processing } else { Status::Completed };
        Ok(vec![status.name().to_owned()])
    }

    /// What an order comes to, or all the rules it breaks.
    fn items(&self, n: usize, command: &Command) -> Result<Vec<Item>, Vec<Refusal>> {
        let (mut items, mut broken) = (Vec::new(), Vec::new());
        let quantities = command.lines.iter().map(|line| line.quantity);
        if quantities.clone().any(|quantity| !(1..=ITEM_MAX).contains(&quantity)) {
            broken.push(Refusal::Quantity);
        }
        if quantities.sum::<i64>() > ORDER_MAX {
            broken.push(Refusal::TooLarge);
        }
        for line in &command.lines {
            let units = usize::try_from(line.quantity).unwrap_or(0);
            match (command.target, line.iccids.len()) {
                (_, 0) => {}
                (Target::Esims, named) if named == units => {}
                (Target::Esims, _) => broken.push(Refusal::IccidsMismatch),
                _ => broken.push(Refusal::IccidsWithoutAssign),
            }
            let is_it = |good: &&Good| good.name == line.bundle && !good.is_withdrawn;
            let Some(good) = self.goods.iter().find(is_it) else {
                broken.push(Refusal::UnknownBundle(line.bundle.clone()));
                continue;
            };
            let targets = self.targets(n, good, line, &mut broken);
            let books = &self.orgs[n];
            let partner_price = good.partner_price.filter(|_| books.terms.is_partner);
            items.push(Item {
                bundle: line.bundle.clone(),
                quantity: line.quantity,
                price: partner_price.unwrap_or(good.price),
                allow_reassign: line.allow_reassign,
                targets: match (command.target, targets.len()) {
                    (Target::Esims, 0) => vec![None; units],
                    _ => targets,
                },
                profile: good.profile,
            });
        }
        if broken.is_empty() { Ok(items) } else { Err(broken) }
    }

    /// The named eSIMs that the good fits; a new one in the place of each other one.
    fn targets(
        &self,
        n: usize,
        good: &Good,
        line: &Line,
        broken: &mut Vec<Refusal>,
    ) -> Vec<Option<Iccid>> {
        let mut targets = Vec::new();
        for iccid in &line.iccids {
            match (self.orgs[n].esims.get(iccid), line.allow_reassign) {
                (None, _) => broken.push(Refusal::NotYourEsim),
                (Some(profile), _) if *profile == good.profile => targets.push(Some(iccid.clone())),
                (Some(_), true) => targets.push(None),
                (Some(_), false) => broken.push(Refusal::NotCompatible),
            }
        }
        targets
    }

    fn has_stock_for(&self, items: &[Item]) -> bool {
        let mut wanted: BTreeMap<&str, usize> = BTreeMap::new();
        for item in items {
            let new = item.targets.iter().filter(|target| target.is_none()).count();
            *wanted.entry(item.profile).or_default() += new;
        }
        wanted.iter().all(|(profile, count)| self.free(profile) >= *count)
    }

    /// How many profiles of a kind nobody has.
    pub(crate) fn free(&self, profile: &str) -> usize {
        self.stock.values().filter(|kind| **kind == profile).count()
    }

    /// The service says which eSIMs an order was given: those it named, and new ones of the stock.
    pub(crate) fn learn_iccids(&mut self, n: usize, place: usize, iccids: Vec<Iccid>) {
        let books = &mut self.orgs[n];
        let order = &mut books.orders[place];
        let wanted = order.items.iter();
        let wanted = wanted.flat_map(|item| item.targets.iter().map(move |t| (t, item)));
        assert_eq!(wanted.clone().count(), iccids.len(), "{order:?}, {iccids:?}");
        for ((target, item), iccid) in wanted.zip(&iccids) {
            if let Some(named) = target {
                assert_eq!(named, iccid, "the eSIM that was named");
                continue;
            }
            // Taken once: nobody else has it, and it is not twice among these.
            let profile = self.stock.remove(iccid);
            assert_eq!(profile, Some(item.profile), "{iccid} was free and fits");
            books.esims.insert(iccid.clone(), item.profile);
        }
        order.iccids = iccids;
    }

    /// An order that was processed has ended; eSIMs that carry nothing else go back to the stock.
    pub(crate) fn finish(&mut self, n: usize, place: usize, at: Timestamp) {
        let books = &mut self.orgs[n];
        if !books.finish(place, at) {
            return;
        }
        for iccid in books.orders[place].iccids.clone() {
            let mut alive = books.orders.iter().filter(|order| order.status != Status::Failed);
            if alive.any(|order| order.iccids.contains(&iccid)) {
                books.happened.push("esim kept for another order");
            } else if let Some(profile) = books.esims.remove(&iccid) {
                self.stock.insert(iccid, profile);
                books.happened.push("esim back in stock");
            }
        }
    }
}
