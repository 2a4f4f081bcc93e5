//! Facts that others want to hear of.

use crate::Money;

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
}

impl Event {
    /// Its kind, as the feed and callbacks name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Topup { .. } => "Topup",
            Self::AutoTopup { .. } => "AutoTopup",
            Self::Credit { .. } => "Credit",
        }
    }
}

/// Writes an event in the form receivers know. Synchronous, since it is called inside the
/// transaction of the cause: every reader sees the same bytes for ever.
pub trait Forms: Send + Sync {
    /// The fuller form, as JSON text.
    fn full(&self, event: &Event) -> String;
}
