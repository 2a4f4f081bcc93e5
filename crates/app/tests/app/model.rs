//! What must be true, in a few numbers.

use app::Answer;
use domain::Timestamp;

use crate::commerce::has_fallen;
use crate::far_side::fate;

/// A key that was used, and what it says for ever once it says something.
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) amount: i64,
    pub(crate) answer: Option<Answer>,
}

#[derive(Default)]
pub(crate) struct Model {
    /// Amounts of the charges that were begun, in order.
    pub(crate) begun: Vec<i64>,
    pub(crate) keys: Vec<Key>,
    /// Credit of the operator: how much, how often.
    pub(crate) credit: (i64, usize),
    /// How often that brought the balance down to a mark.
    pub(crate) lows: usize,
    /// The same of promotional credit that was given.
    pub(crate) given: (i64, usize),
    /// And of that which expired.
    pub(crate) expired: (i64, usize),
    /// What is left of it, and until when.
    pub(crate) pot: (i64, Option<Timestamp>),
    pub(crate) minimum: i64,
    /// Automatic top-up: under which balance, and how much.
    pub(crate) auto: Option<(i64, i64)>,
}

impl Model {
    pub(crate) fn is_refused(&self, amount: i64) -> bool {
        amount < self.minimum
    }

    pub(crate) fn credit(&mut self, amount: i64, balance: i64, has_auto_charge: bool) {
        self.credit = (self.credit.0 + amount, self.credit.1 + 1);
        self.lows += usize::from(has_fallen(balance - amount, balance));
        if let Some((threshold, amount)) = self.auto
            && balance < threshold
            && !has_auto_charge
        {
            self.begun.push(amount);
        }
    }

    pub(crate) fn give(&mut self, amount: i64, until: Timestamp) {
        self.given = (self.given.0 + amount, self.given.1 + 1);
        self.pot = (self.pot.0 + amount, self.pot.1.max(Some(until)));
    }

    pub(crate) fn pass(&mut self, clock: Timestamp) {
        if self.pot.1.is_some_and(|end| end <= clock) {
            self.expired = (self.expired.0 + self.pot.0, self.expired.1 + 1);
            self.pot = (0, None);
        }
    }

    /// What will have been paid by card, and how often, once everything is decided.
    pub(crate) fn paid(&self) -> (i64, usize) {
        let paid = self.begun.iter().filter(|amount| fate(**amount).is_paid);
        (paid.clone().sum(), paid.count())
    }
}
