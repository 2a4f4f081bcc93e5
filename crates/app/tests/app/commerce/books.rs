//! What one organisation must have: its accounts, lots, orders, charges and eSIMs.

use std::collections::{BTreeMap, BTreeSet};

use app::Answer;
use domain::ledger::Account;
use domain::order::{Status, Target};
use domain::{Iccid, Timestamp};

use super::wish::Wish;
use crate::far_side::fate;

const DAY_MS: i64 = 24 * 3_600 * 1_000;
const LOT_LIFE_DAYS: i64 = 365;
const PATIENCE_MS: i64 = 10 * 60 * 1_000;
const WAIT_DAYS: i64 = 365;
const IDLE_DAYS: i64 = 365;

/// What was agreed with an organisation.
#[derive(Default)]
pub(crate) struct Terms {
    /// Pays what partners pay.
    pub(crate) is_partner: bool,
    pub(crate) refund_days: i64,
    pub(crate) topup_minimum: i64,
    /// Automatic top-up: under which balance, and how much.
    pub(crate) auto: Option<(i64, i64)>,
}

#[derive(Default)]
pub(crate) struct Books {
    pub(crate) terms: Terms,
    pub(crate) is_held: bool,
    pub(crate) accounts: [i64; 8],
    pub(crate) entries: usize,
    pub(crate) events: usize,
    pub(crate) pot: Option<Pot>,
    pots: usize,
    pub(crate) lots: Vec<Lot>,
    pub(crate) orders: Vec<Order>,
    pub(crate) charges: Vec<Charge>,
    pub(crate) keys: Vec<Key>,
    pub(crate) esims: BTreeMap<Iccid, &'static str>,
    /// Those that have left for good.
    pub(crate) left: BTreeSet<Iccid>,
    /// Things that are worth counting, in order.
    pub(crate) happened: Vec<&'static str>,
}

/// Whether a balance has fallen to or below 100, 75, 50 or 10 dollars, all in cents.
pub(crate) fn has_fallen(before: i64, after: i64) -> bool {
    [10_000, 7_500, 5_000, 1_000].iter().any(|mark| before > *mark && after <= *mark)
}

/// Test credit until it ends; what is given after that is another pot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pot {
    number: usize,
    pub(crate) end: Timestamp,
}

/// Units that came together, and where each of them is now.
#[derive(Debug)]
pub(crate) struct Lot {
    /// The number that the service gave it.
    pub(crate) id: Option<i64>,
    pub(crate) bundle: String,
    pub(crate) price: i64,
    /// How much of the whole was test credit, and from which pot.
    pub(crate) test_credit: i64,
    pot: Option<usize>,
    pub(crate) is_granted: bool,
    pub(crate) came: i64,
    pub(crate) held: i64,
    pub(crate) applied: i64,
    pub(crate) refunded: i64,
    expired: i64,
    pub(crate) came_at: Timestamp,
}

impl Lot {
    pub(crate) fn ends_at(&self) -> Timestamp {
        self.came_at.plus_ms(LOT_LIFE_DAYS * DAY_MS)
    }

    pub(crate) fn assert_adds_up(&self) {
        let Self { came, held, applied, refunded, expired, .. } = self;
        assert_eq!(*came, held + applied + refunded + expired, "{self:?}");
        assert!([held, applied, refunded, expired].iter().all(|units| **units >= 0), "{self:?}");
    }

    /// What all test credit that came back with so many units comes to.
    fn test_credit_of(&self, units: i64) -> i64 {
        self.test_credit * units / self.came
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Item {
    pub(crate) bundle: String,
    pub(crate) quantity: i64,
    pub(crate) price: i64,
    pub(crate) allow_reassign: bool,
    /// The eSIMs it goes onto; none = a new one of this profile.
    pub(crate) targets: Vec<Option<Iccid>>,
    pub(crate) profile: &'static str,
}

/// A purchase or a refund.
#[derive(Debug)]
pub(crate) struct Order {
    /// The name that the service gave it.
    pub(crate) reference: Option<String>,
    pub(crate) status: Status,
    /// Nowhere: a refund.
    pub(crate) target: Target,
    pub(crate) items: Vec<Item>,
    pub(crate) total: i64,
    pub(crate) test_credit: i64,
    pot: Option<usize>,
    pub(crate) running_balance: i64,
    pub(crate) placed_at: Timestamp,
    pub(crate) finished_at: Option<Timestamp>,
    /// What it was given, as told by the service.
    pub(crate) iccids: Vec<Iccid>,
    /// What whoever asked for it heard.
    pub(crate) answer: Option<Answer>,
}

/// A charge to the card, and whether it was paid once that is decided.
#[derive(Debug)]
pub(crate) struct Charge {
    pub(crate) amount: i64,
    pub(crate) is_auto: bool,
    pub(crate) is_keyed: bool,
    pub(crate) is_paid: Option<bool>,
}

/// A key that was used.
#[derive(Clone)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) wish: Wish,
    /// What it says for ever, once it says something.
    pub(crate) answer: Option<Answer>,
    /// The charge that decides it.
    pub(crate) charge: Option<usize>,
}

impl Order {
    /// When what it put on eSIMs has waited too long: nothing is ever used here.
    pub(crate) fn lapses_at(&self) -> Timestamp {
        self.placed_at.plus_ms(WAIT_DAYS * DAY_MS)
    }
}

impl Books {
    /// Whether an eSIM is no stock because of this organisation.
    pub(crate) fn has_or_had(&self, iccid: &Iccid) -> bool {
        self.esims.contains_key(iccid) || self.left.contains(iccid)
    }

    /// When an eSIM leaves; none while something on it is processed.
    pub(crate) fn leaves_at(&self, iccid: &Iccid) -> Option<Timestamp> {
        let of_it = self.orders.iter().filter(|order| order.iccids.contains(iccid));
        let over = of_it.map(|order| match order.status {
            Status::Processing => None,
            Status::Completed => Some(order.lapses_at()),
            Status::Failed => order.finished_at,
        });
        let over: Option<Vec<_>> = over.collect();
        Some(over?.into_iter().max()?.plus_ms(IDLE_DAYS * DAY_MS))
    }

    pub(crate) fn new(terms: Terms) -> Self {
        Self { terms, ..Self::default() }
    }

    pub(crate) fn on(&self, account: Account) -> i64 {
        self.accounts[account as usize]
    }

    /// What it can spend, once time has passed.
    pub(crate) fn purse(&self) -> i64 {
        self.on(Account::Available) + self.on(Account::TestCredit)
    }

    fn post(&mut self, moved: &[(Account, i64)]) {
        assert_eq!(moved.iter().map(|(_, amount)| amount).sum::<i64>(), 0, "{moved:?}");
        for (account, amount) in moved {
            self.accounts[*account as usize] += amount;
        }
        let owned = [Account::Available, Account::Held, Account::TestCredit];
        assert!(owned.iter().all(|account| self.on(*account) >= 0), "{:?}", self.accounts);
        self.entries += usize::from(moved.iter().any(|(_, amount)| *amount != 0));
    }

    /// Everything that ends by then ends.
    pub(crate) fn pass(&mut self, now: Timestamp) {
        if self.pot.is_some_and(|pot| pot.end <= now) {
            let left = self.on(Account::TestCredit);
            self.post(&[(Account::TestCredit, -left), (Account::Breakage, left)]);
            self.pot = None;
        }
        for n in 0..self.lots.len() {
            let lot = &mut self.lots[n];
            if lot.ends_at() > now || lot.held == 0 {
                continue;
            }
            let worth = lot.held * lot.price;
            lot.expired += std::mem::take(&mut lot.held);
            self.post(&[(Account::Sales, -worth), (Account::Breakage, worth)]);
            self.happened.push("lot expired");
        }
    }

    pub(crate) fn credit(&mut self, amount: i64) {
        let before = self.on(Account::Available);
        self.post(&[(Account::Available, amount), (Account::OperatorCredit, -amount)]);
        self.events += 1;
        self.tell_if_low(before);
        self.top_up_if_low();
    }

    pub(crate) fn give_test_credit(&mut self, amount: i64, until: Timestamp, now: Timestamp) {
        self.pass(now);
        self.post(&[(Account::TestCredit, amount), (Account::OperatorCredit, -amount)]);
        let fresh = Pot { number: self.pots, end: until };
        let pot = self.pot.get_or_insert(fresh);
        pot.end = pot.end.max(until);
        self.pots = pot.number + 1;
    }

    pub(crate) fn grant(&mut self, bundle: &str, units: i64, now: Timestamp) {
        self.lots.push(Lot {
            id: None,
            bundle: bundle.to_owned(),
            price: 0,
            test_credit: 0,
            pot: None,
            is_granted: true,
            came: units,
            held: units,
            applied: 0,
            refunded: 0,
            expired: 0,
            came_at: now,
        });
    }

    /// Takes the money of an order that it can pay, and hands it over if that is done at once.
    pub(crate) fn place(
        &mut self,
        items: Vec<Item>,
        (target, is_later): (Target, bool),
        now: Timestamp,
    ) {
        self.pass(now);
        let total = items.iter().map(|item| item.price * item.quantity).sum::<i64>();
        let test_credit = total.min(self.on(Account::TestCredit));
        let into = if is_later { Account::Held } else { Account::Sales };
        let (before, from_balance) = (self.on(Account::Available), test_credit - total);
        let from_pot = (Account::TestCredit, -test_credit);
        self.post(&[(Account::Available, from_balance), from_pot, (into, total)]);
        self.orders.push(Order {
            reference: None,
            status: Status::Processing,
            target,
            items,
            total,
            test_credit,
            pot: self.pot.map(|pot| pot.number),
            running_balance: self.purse(),
            placed_at: now,
            finished_at: None,
            iccids: Vec::new(),
            answer: None,
        });
        if !is_later {
            self.hand_over(self.orders.len() - 1, now);
        }
        self.tell_if_low(before);
        self.top_up_if_low();
    }

    /// It is told when its balance has fallen to a mark.
    fn tell_if_low(&mut self, before: i64) {
        if has_fallen(before, self.on(Account::Available)) {
            self.events += 1;
            self.happened.push("low balance");
        }
    }

    /// An order that was processed has ended. True if it failed.
    pub(crate) fn finish(&mut self, n: usize, at: Timestamp) -> bool {
        self.pass(at);
        let Order { total, test_credit, pot, placed_at, .. } = self.orders[n];
        if at <= placed_at.plus_ms(PATIENCE_MS) {
            self.post(&[(Account::Held, -total), (Account::Sales, total)]);
            self.hand_over(n, at);
            self.happened.push("large order completed");
            return false;
        }
        self.give_back(Account::Held, total, (test_credit, pot));
        let order = &mut self.orders[n];
        (order.status, order.finished_at) = (Status::Failed, Some(at));
        self.events += 1;
        self.happened.push("large order failed");
        true
    }

    fn hand_over(&mut self, n: usize, at: Timestamp) {
        self.events += 1;
        let order = &mut self.orders[n];
        (order.status, order.finished_at) = (Status::Completed, Some(at));
        let mut test_credit = order.test_credit;
        for item in &order.items {
            let share = test_credit.min(item.price * item.quantity);
            test_credit -= share;
            let is_applied = order.target == Target::Esims;
            let (held, applied) = if is_applied { (0, item.quantity) } else { (item.quantity, 0) };
            self.lots.push(Lot {
                id: None,
                bundle: item.bundle.clone(),
                price: item.price,
                test_credit: share,
                pot: order.pot,
                is_granted: false,
                came: item.quantity,
                held,
                applied,
                refunded: 0,
                expired: 0,
                came_at: order.placed_at,
            });
        }
    }

    /// Gives an amount back, test credit to the pot it came from if that has not ended.
    fn give_back(&mut self, from: Account, amount: i64, credit: (i64, Option<usize>)) {
        let (test_credit, pot) = credit;
        let is_same_pot = self.pot.is_some_and(|now| Some(now.number) == pot);
        let to = if is_same_pot { Account::TestCredit } else { Account::Breakage };
        self.post(&[
            (from, -amount),
            (Account::Available, amount - test_credit),
            (to, test_credit),
        ]);
        if test_credit > 0 {
            let ended = "test credit back too late";
            self.happened.push(if is_same_pot { "test credit back" } else { ended });
        }
    }

    /// What asking for the money of so many units comes to.
    pub(crate) fn refund(&mut self, usage: i64, units: i64, now: Timestamp) -> &'static str {
        self.pass(now);
        if units < 1 {
            return "Quantity";
        }
        let place = self.lots.iter().position(|lot| lot.id == Some(usage));
        let Some(lot) = place.map(|place| &mut self.lots[place]) else { return "UnknownUsage" };
        let last = lot.came_at.plus_ms(self.terms.refund_days * DAY_MS);
        if lot.is_granted || self.terms.refund_days == 0 || now > last || now >= lot.ends_at() {
            return "NotRefundable";
        }
        if units > lot.held {
            return "ExceedsRemaining";
        }
        let test_credit =
            lot.test_credit_of(lot.refunded + units) - lot.test_credit_of(lot.refunded);
        lot.held -= units;
        lot.refunded += units;
        let (pot, total) = (lot.pot, lot.price * units);
        let item = Item {
            bundle: lot.bundle.clone(),
            quantity: units,
            price: lot.price,
            allow_reassign: false,
            targets: Vec::new(),
            profile: "",
        };
        self.give_back(Account::Refunds, total, (test_credit, pot));
        self.events += 1;
        self.orders.push(Order {
            reference: None,
            status: Status::Completed,
            target: Target::Nowhere,
            items: vec![item],
            total,
            test_credit,
            pot,
            running_balance: self.purse(),
            placed_at: now,
            finished_at: Some(now),
            iccids: Vec::new(),
            answer: None,
        });
        "Done"
    }

    /// Begins a charge to the card, unless one without a key is begun already.
    pub(crate) fn topup(&mut self, amount: i64, is_keyed: bool) {
        let is_open =
            |charge: &Charge| !charge.is_auto && !charge.is_keyed && charge.is_paid.is_none();
        if is_keyed || !self.charges.iter().any(is_open) {
            self.charges.push(Charge { amount, is_auto: false, is_keyed, is_paid: None });
        }
    }

    fn top_up_if_low(&mut self) {
        let Some((threshold, amount)) = self.terms.auto else { return };
        let is_open = self.charges.iter().any(|charge| charge.is_auto && charge.is_paid.is_none());
        if self.on(Account::Available) < threshold && !is_open && amount >= self.terms.topup_minimum
        {
            self.charges.push(Charge { amount, is_auto: true, is_keyed: false, is_paid: None });
        }
    }

    /// A charge is decided.
    pub(crate) fn decide(&mut self, n: usize) {
        let Charge { amount, is_paid, .. } = &mut self.charges[n];
        let paid = if fate(*amount).is_paid { *amount } else { 0 };
        *is_paid = Some(paid > 0);
        self.post(&[(Account::Available, paid), (Account::Card, -paid)]);
        self.events += usize::from(paid > 0);
    }
}
