//! Double entry: an entry is a set of postings that sums to zero. Entries are never changed; what
//! went wrong is put right by a further entry with a reason.

use crate::{OrgId, Timestamp};

/// An account of an organisation. The first three are what it has; the others say where money came
/// from or went, seen from the organisation, so that all of them together are always zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Account {
    /// Prepaid balance it can spend.
    Available,
    /// Taken from the balance for something that is not decided yet.
    Held,
    /// Promotional credit.
    TestCredit,
    /// Paid in by card.
    Card,
    /// Spent on bundles.
    Sales,
    /// Given back for bundles.
    Refunds,
    /// Expired without use.
    Breakage,
    /// Given or corrected by the operator.
    OperatorCredit,
}

/// Every account with its name in the database and in statements.
const ACCOUNTS: [(Account, &str); 8] = [
    (Account::Available, "available"),
    (Account::Held, "held"),
    (Account::TestCredit, "testCredit"),
    (Account::Card, "card"),
    (Account::Sales, "sales"),
    (Account::Refunds, "refunds"),
    (Account::Breakage, "breakage"),
    (Account::OperatorCredit, "operatorCredit"),
];

impl Account {
    /// All accounts.
    pub const ALL: [Self; 8] = [
        Self::Available,
        Self::Held,
        Self::TestCredit,
        Self::Card,
        Self::Sales,
        Self::Refunds,
        Self::Breakage,
        Self::OperatorCredit,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        ACCOUNTS.iter().find(|(account, _)| *account == self).map_or("", |(_, name)| name)
    }

    /// The account of that name.
    pub fn parse(text: &str) -> Option<Self> {
        ACCOUNTS.iter().find(|(_, name)| *name == text).map(|(account, _)| *account)
    }

    /// Whether it may never fall below zero.
    pub fn is_owned(self) -> bool {
        matches!(self, Self::Available | Self::Held | Self::TestCredit)
    }
}

/// An amount, in minor units, on an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// Where.
    pub account: Account,
    /// How much; what an account loses is negative.
    pub amount: i64,
}

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Paid in by card.
    Topup,
    /// Given or corrected by the operator.
    Credit,
    /// Promotional credit given.
    TestCredit,
    /// Promotional credit expired.
    TestCreditExpiry,
    /// Bundles bought; for an order that is still processed the money is held.
    Order,
    /// A processed order was completed: what was held is spent.
    OrderCompleted,
    /// A processed order failed: what was held is returned.
    OrderFailed,
    /// Bundles given back.
    Refund,
    /// Bundles expired in the inventory.
    LotExpiry,
}

impl Kind {
    /// Its name in the database and in statements.
    pub fn name(self) -> &'static str {
        match self {
            Self::Topup => "topup",
            Self::Credit => "credit",
            Self::TestCredit => "testCredit",
            Self::TestCreditExpiry => "testCreditExpiry",
            Self::Order => "order",
            Self::OrderCompleted => "orderCompleted",
            Self::OrderFailed => "orderFailed",
            Self::Refund => "refund",
            Self::LotExpiry => "lotExpiry",
        }
    }
}

/// Postings that are no entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unbalanced {
    /// They do not sum to zero.
    #[error("postings do not sum to zero")]
    Sum,
    /// There are none, one of them moves nothing, or an account is named twice.
    #[error("postings must move something, on each account once")]
    Shape,
}

/// An entry about to be posted. Its cause names it: the same cause posts once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    kind: Kind,
    reference: String,
    reason: String,
    postings: Vec<Posting>,
}

impl Entry {
    /// An entry of these postings, if they are one.
    pub fn new(
        kind: Kind,
        reference: &str,
        reason: &str,
        postings: &[(Account, i64)],
    ) -> Result<Self, Unbalanced> {
        let postings: Vec<_> =
            postings.iter().map(|&(account, amount)| Posting { account, amount }).collect();
        balanced(&postings)?;
        Ok(Self { kind, reference: reference.into(), reason: reason.into(), postings })
    }

    /// What it is about.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The thing that caused it.
    pub fn reference(&self) -> &str {
        &self.reference
    }

    /// Why, for a person.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What moves.
    pub fn postings(&self) -> &[Posting] {
        &self.postings
    }
}

/// Whether postings are an entry: asked when one is made and again when it is read back.
pub fn balanced(postings: &[Posting]) -> Result<(), Unbalanced> {
    let names: std::collections::BTreeSet<_> = postings.iter().map(|p| p.account).collect();
    let moves_nothing = |posting: &Posting| posting.amount == 0;
    if names.len() != postings.len() || postings.len() < 2 || postings.iter().any(moves_nothing) {
        return Err(Unbalanced::Shape);
    }
    let sum: i128 = postings.iter().map(|posting| i128::from(posting.amount)).sum();
    if sum == 0 { Ok(()) } else { Err(Unbalanced::Sum) }
}

/// Postings as one line of text: `available 500 card -500`.
pub fn write_postings(postings: &[Posting]) -> String {
    let parts = postings.iter().map(|p| format!("{} {}", p.account.name(), p.amount));
    parts.collect::<Vec<_>>().join(" ")
}

/// Reads such a line; none if it is not one.
pub fn read_postings(text: &str) -> Option<Vec<Posting>> {
    let words: Vec<_> = text.split(' ').collect();
    let pairs = words.chunks(2).map(|pair| match pair {
        [account, amount] => {
            Some(Posting { account: Account::parse(account)?, amount: amount.parse().ok()? })
        }
        _ => None,
    });
    pairs.collect()
}

/// Everything about an entry that its hash covers.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// Whose.
    pub org: OrgId,
    /// Its number, from 1 on without a gap.
    pub seq: i64,
    /// When, by the organisation's clock.
    pub at: Timestamp,
    /// Name of its kind.
    pub kind: &'a str,
    /// The thing that caused it.
    pub reference: &'a str,
    /// Why.
    pub reason: &'a str,
    /// What moves, as one line.
    pub postings: &'a str,
}

/// The bytes that are hashed together with the hash before. The first byte is the version of this
/// form: a later one gets another number, and old entries keep theirs.
pub fn canonical_bytes(facts: &Facts<'_>) -> Vec<u8> {
    let org = facts.org.to_string();
    let (seq, at) = (facts.seq.to_string(), facts.at.ms().to_string());
    let fields = [&org, &seq, &at, facts.kind, facts.reference, facts.reason, facts.postings];
    let mut bytes = vec![1];
    for field in fields {
        // Lengths keep neighbours apart: "ab" + "c" is not "a" + "bc".
        let length = u32::try_from(field.len()).unwrap_or(u32::MAX);
        bytes.extend(length.to_be_bytes());
        bytes.extend(field.as_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_sums_to_zero() {
        let entry = |postings: &[(Account, i64)]| Entry::new(Kind::Topup, "1", "", postings);
        assert!(entry(&[(Account::Available, 5), (Account::Card, -5)]).is_ok());
        let sum = entry(&[(Account::Available, 5), (Account::Card, -4)]);
        assert_eq!(sum, Err(Unbalanced::Sum));
        for odd in [
            &[][..],
            &[(Account::Available, 0), (Account::Card, 0)],
            &[(Account::Available, 5), (Account::Available, -5)],
            &[(Account::Available, 5)],
        ] {
            assert_eq!(entry(odd), Err(Unbalanced::Shape));
        }
        let wraps = [(Account::Available, i64::MAX), (Account::Card, i64::MAX), (Account::Held, 2)];
        assert_eq!(entry(&wraps), Err(Unbalanced::Sum));
    }

    #[test]
    fn postings_read_back() {
        let postings = [
            Posting { account: Account::Available, amount: 5 },
            Posting { account: Account::Card, amount: -5 },
        ];
        let text = write_postings(&postings);
        assert_eq!(text, "available 5 card -5");
        assert_eq!(read_postings(&text).as_deref(), Some(&postings[..]));
        for odd in ["", "available", "available x", "nowhere 5", "available 5 "] {
            assert_eq!(read_postings(odd), None, "{odd}");
        }
        for account in Account::ALL {
            assert_eq!(Account::parse(account.name()), Some(account));
        }
    }

    #[test]
    fn every_fact_changes_the_bytes_and_neighbours_stay_apart() {
        let facts = Facts {
            org: OrgId::HOUSE,
            seq: 1,
            at: Timestamp::from_ms(2),
            kind: "topup",
            reference: "ab",
            reason: "c",
            postings: "available 5 card -5",
        };
        let base = canonical_bytes(&facts);
        let others = [
            Facts { seq: 2, ..facts },
            Facts { at: Timestamp::from_ms(3), ..facts },
            Facts { kind: "credit", ..facts },
            Facts { reference: "a", reason: "bc", ..facts },
            Facts { postings: "available 6 card -6", ..facts },
        ];
        for other in others {
            assert_ne!(canonical_bytes(&other), base);
        }
        assert_eq!(base[0], 1);
    }
}
