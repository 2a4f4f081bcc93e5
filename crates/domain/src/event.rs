//! Facts that others want to hear of.

use crate::order::Status;
use crate::{Iccid, Money, Msisdn, Timestamp};

/// A bundle on an eSIM, as events tell of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InUse {
    /// The number of the assignment.
    pub id: i64,
    /// Its reference.
    pub reference: String,
    /// The bundle.
    pub name: String,
    /// The same for people.
    pub description: String,
    /// What it started with, in bytes.
    pub initial: i64,
    /// What is left of that.
    pub remaining: i64,
    /// When it started.
    pub started_at: Option<Timestamp>,
    /// When its time is over.
    pub ends_at: Option<Timestamp>,
    /// Whether it has no end but that.
    pub is_unlimited: bool,
}

/// What is left of the money.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Short {
    /// The balance.
    pub balance: Money,
    /// What counts as low.
    pub threshold: Money,
}

impl Short {
    /// The balance as thousandths of a percent of the threshold.
    pub fn percent_thousandths(&self) -> i64 {
        let threshold = i128::from(self.threshold.in_minor()).max(1);
        let share = i128::from(self.balance.in_minor()) * 100_000 / threshold;
        i64::try_from(share).unwrap_or(i64::MAX)
    }
}

/// Kinds that are sent only where an organisation has switched them on. Usage is always sent, how
/// orders end never.
pub const OPTIONAL: [&str; 11] = [
    "FirstUse",
    "FirstAttachment",
    "CountryChange",
    "Topup",
    "AutoTopup",
    "Credit",
    "LowBalance",
    "InsufficientBalance",
    "SMSFailed",
    "esim.deletion_scheduled",
    "esim.deleted",
];

/// A fact about an organisation, written in the transaction of its cause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The balance was raised by card.
    Topup {
        /// Before.
        old: Money,
        /// After.
        new: Money,
    },
    /// The same, by itself, because the balance was low.
    AutoTopup {
        /// Before.
        old: Money,
        /// After.
        new: Money,
    },
    /// The operator gave or corrected something.
    Credit {
        /// Before.
        old: Money,
        /// After.
        new: Money,
    },
    /// An order was completed or has failed.
    Order {
        /// Its reference.
        reference: String,
        /// How it ended.
        status: Status,
        /// The same for a person.
        message: String,
        /// What it cost.
        total: Money,
        /// When it ended.
        at: Timestamp,
    },
    /// Data was used.
    Utilisation {
        /// On which eSIM.
        iccid: Iccid,
        /// Of which bundle.
        bundle: InUse,
    },
    /// Data was used on an eSIM for the first time.
    FirstUse {
        /// Which.
        iccid: Iccid,
        /// Of which bundle.
        bundle: InUse,
    },
    /// An eSIM registered on a network for the first time.
    FirstAttachment {
        /// Which.
        iccid: Iccid,
    },
    /// An eSIM registered in a country it has not been in for a while.
    CountryChange {
        /// Which.
        iccid: Iccid,
        /// ISO code of the country.
        code: String,
        /// Its name.
        name: String,
    },
    /// The balance has fallen to a mark at which the organisation wants to know.
    LowBalance(Short),
    /// Something could not be bought for lack of money.
    InsufficientBalance(Short),
    /// Somebody wants to see whether callbacks arrive: an example of a usage event.
    Test {
        /// An eSIM that nobody has.
        iccid: Iccid,
        /// A bundle that nobody has.
        bundle: InUse,
    },
    /// A text message could not be delivered.
    SmsFailed {
        /// To which eSIM.
        iccid: Iccid,
        /// To which number.
        msisdn: Msisdn,
        /// When that was known.
        at: Timestamp,
    },
    /// An idle eSIM is going to leave its organisation.
    DeletionScheduled {
        /// Which.
        iccid: Iccid,
        /// When this was decided.
        at: Timestamp,
    },
    /// An eSIM has left its organisation.
    Deleted {
        /// Which.
        iccid: Iccid,
        /// When.
        at: Timestamp,
    },
}

impl Event {
    /// Its kind, as the feed and callbacks name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Topup { .. } => "Topup",
            Self::AutoTopup { .. } => "AutoTopup",
            Self::Credit { .. } => "Credit",
            Self::Order { status: Status::Failed, .. } => "order.failed",
            Self::Order { .. } => "order.completed",
            Self::Utilisation { .. } => "Utilisation",
            Self::FirstUse { .. } => "FirstUse",
            Self::FirstAttachment { .. } => "FirstAttachment",
            Self::CountryChange { .. } => "CountryChange",
            Self::LowBalance(_) => "LowBalance",
            Self::InsufficientBalance(_) => "InsufficientBalance",
            Self::Test { .. } => "Test",
            Self::SmsFailed { .. } => "SMSFailed",
            Self::DeletionScheduled { .. } => "esim.deletion_scheduled",
            Self::Deleted { .. } => "esim.deleted",
        }
    }

    /// The eSIM it is about.
    pub fn iccid(&self) -> Option<&Iccid> {
        match self {
            Self::Utilisation { iccid, .. }
            | Self::FirstUse { iccid, .. }
            | Self::FirstAttachment { iccid }
            | Self::CountryChange { iccid, .. }
            | Self::SmsFailed { iccid, .. }
            | Self::DeletionScheduled { iccid, .. }
            | Self::Deleted { iccid, .. } => Some(iccid),
            Self::Topup { .. }
            | Self::AutoTopup { .. }
            | Self::Credit { .. }
            | Self::Order { .. }
            | Self::LowBalance(_)
            | Self::InsufficientBalance(_)
            | Self::Test { .. } => None,
        }
    }

    /// Whether an organisation that has switched these kinds on is sent it.
    pub fn is_sent(&self, switched_on: &[String]) -> bool {
        match self {
            Self::Utilisation { .. } | Self::Test { .. } => true,
            Self::Order { .. } => false,
            _ => switched_on.iter().any(|kind| kind == self.kind()),
        }
    }
}

/// Writes an event in the form receivers know. Synchronous, since it is called inside the
/// transaction of the cause: every reader sees the same bytes for ever.
pub trait Forms: Send + Sync {
    /// The fuller form, as JSON text.
    fn full(&self, event: &Event) -> String;
    /// The shorter form, where it is another one.
    fn short(&self, event: &Event) -> Option<String>;
    /// A kept form without what tells of a person: numbers and places are empty, as what is not
    /// known is. None where nothing is to be taken out.
    fn without_person(&self, kept: &str) -> Option<String>;
}
