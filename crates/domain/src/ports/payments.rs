//! Charging a stored card.

use std::future::Future;
use std::pin::Pin;

use crate::{Money, Secret, Timestamp};

/// A charge to be made, or asked about again: the reference is the same each time, so that the far
/// side recognises it and never charges twice.
#[derive(Debug, Clone)]
pub struct Charge {
    /// Names the charge on both sides.
    pub reference: String,
    /// The card, as the processor knows it.
    pub card: Secret<String>,
    /// How much.
    pub amount: Money,
    /// When the charge was first asked for, by the organisation's clock.
    pub asked_at: Timestamp,
    /// Now, by the same clock.
    pub now: Timestamp,
}

/// What became of a charge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The money is ours.
    Paid,
    /// It is not and will not be.
    Declined,
    /// Not known yet; ask again with the same reference.
    Undecided(String),
}

/// The answer, some time.
pub type Answer<'a> = Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>;

/// Where a person enters a card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CardPage {
    /// On a page of our own, which knows all the cards there are: those for tests.
    Own,
    /// On a page of the provider, so that we never see the card.
    Hosted(String),
}

/// A payment provider.
pub trait Payments: Send + Sync {
    /// Charges the card, or says what became of the charge of that reference.
    fn charge<'a>(&'a self, charge: &'a Charge) -> Answer<'a>;

    /// Where a person enters a card that is to be known by that reference, before coming back to
    /// an address of ours. None where a provider only charges cards that it has already.
    fn card_page(&self, _reference: &str, _back: &str) -> Option<CardPage> {
        None
    }
}
