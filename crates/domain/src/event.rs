//! Facts that others want to hear of.

use crate::order::Status;
use crate::{Money, Timestamp};

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
        }
    }
}

/// Writes an event in the form receivers know. Synchronous, since it is called inside the
/// transaction of the cause: every reader sees the same bytes for ever.
pub trait Forms: Send + Sync {
    /// The fuller form, as JSON text.
    fn full(&self, event: &Event) -> String;
}
