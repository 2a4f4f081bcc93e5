//! The inventory: lots of bundles that were bought together at one price.

use crate::{BundleName, Timestamp, limits};

/// Bundles bought together. Each unit belongs to its lot for life, in the inventory and on an eSIM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lot {
    /// Its number, the `usageId`.
    pub id: i64,
    /// What it holds.
    pub bundle: BundleName,
    /// Paid per unit, in minor units.
    pub price: i64,
    /// How much of the whole was paid from test credit.
    pub test_credit: i64,
    /// Units bought or granted.
    pub total: i64,
    /// Units that are still in the inventory.
    pub remaining: i64,
    /// Units given back for money.
    pub refunded: i64,
    /// When it was bought.
    pub bought_at: Timestamp,
    /// When what is left expires.
    pub expires_at: Timestamp,
}

/// What happens to units of a lot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Move {
    /// Bought.
    Bought,
    /// Given by the operator.
    Granted,
    /// Came back from an eSIM.
    Returned,
    /// Put on an eSIM.
    Applied,
    /// Given back for money.
    Refunded,
    /// Expired.
    Expired,
}

impl Move {
    /// Every move.
    pub const ALL: [Self; 6] =
        [Self::Bought, Self::Granted, Self::Returned, Self::Applied, Self::Refunded, Self::Expired];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bought => "bought",
            Self::Granted => "granted",
            Self::Returned => "returned",
            Self::Applied => "applied",
            Self::Refunded => "refunded",
            Self::Expired => "expired",
        }
    }

    /// The move of that name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == text)
    }

    /// Whether it puts units into the inventory; the others take them out.
    pub fn is_inward(self) -> bool {
        matches!(self, Self::Bought | Self::Granted | Self::Returned)
    }
}

/// Money given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refund {
    /// In all, in minor units.
    pub amount: i64,
    /// How much of it had been paid from test credit.
    pub test_credit: i64,
}

impl Lot {
    /// A lot that was bought, or given for nothing, at a moment; all of it is in the inventory. Its
    /// number is given by the database.
    pub fn new(
        bundle: BundleName,
        total: i64,
        (price, test_credit): (i64, i64),
        bought_at: Timestamp,
    ) -> Self {
        Self {
            id: 0,
            bundle,
            price,
            test_credit,
            total,
            remaining: total,
            refunded: 0,
            bought_at,
            expires_at: Self::expiry(bought_at),
        }
    }

    /// When a lot bought at that moment expires.
    fn expiry(bought_at: Timestamp) -> Timestamp {
        bought_at.plus(limits::LOT_LIFE)
    }

    /// Whether nothing was paid for it: then there is nothing to give back.
    pub fn cost_nothing(&self) -> bool {
        self.price == 0
    }

    /// Whether its units can be given back for money at that moment.
    pub fn is_refundable(&self, refund_days: i64, now: Timestamp) -> bool {
        refund_days > 0 && now <= self.refundable_until(refund_days) && now < self.expires_at
    }

    /// The last moment at which they could be, where they could at all.
    pub fn refundable_until(&self, refund_days: i64) -> Timestamp {
        self.bought_at.plus_days(refund_days)
    }

    /// What the next `quantity` units give back. The shares of test credit of all refunds of a lot
    /// add up to what was spent on it, whatever the steps: each is the difference of two roundings.
    pub fn refund(&self, quantity: i64) -> Refund {
        let share = |units: i64| {
            let whole = i128::from(self.test_credit) * i128::from(units);
            i64::try_from(whole / i128::from(self.total.max(1))).unwrap_or(i64::MAX)
        };
        Refund {
            amount: self.price.saturating_mul(quantity),
            test_credit: share(self.refunded + quantity) - share(self.refunded),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lot(total: i64, price: i64, test_credit: i64) -> Lot {
        let bundle = BundleName::parse("a").expect("a name");
        Lot::new(bundle, total, (price, test_credit), Timestamp::from_ms(0))
    }

    #[test]
    fn refunds_of_a_lot_return_its_test_credit_once_whatever_the_steps() {
        for steps in [vec![7], vec![1; 7], vec![3, 3, 1], vec![2, 5]] {
            let mut lot = lot(7, 100, 345);
            let (mut amount, mut credit) = (0, 0);
            for quantity in steps {
                let refund = lot.refund(quantity);
                assert!((0..=refund.amount).contains(&refund.test_credit));
                amount += refund.amount;
                credit += refund.test_credit;
                lot.refunded += quantity;
            }
            assert_eq!((amount, credit), (700, 345));
        }
    }

    #[test]
    fn the_refund_period_ends_with_its_last_millisecond() {
        let lot = lot(1, 100, 0);
        let day = 24 * 3_600 * 1_000;
        assert!(lot.is_refundable(60, Timestamp::from_ms(60 * day)));
        assert!(!lot.is_refundable(60, Timestamp::from_ms(60 * day + 1)));
        assert!(!lot.is_refundable(0, Timestamp::from_ms(0)));
        assert!(!lot.is_refundable(365, Timestamp::from_ms(365 * day)), "expired by then");
    }

    #[test]
    fn names_read_back() {
        for kind in Move::ALL {
            assert_eq!(Move::parse(kind.name()), Some(kind));
        }
    }
}
