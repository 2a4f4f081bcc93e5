//! The stored card: entered on a page of the provider, stored by its first payment, taken away.

use domain::ports::payments::CardPage;
use domain::{Mode, OrgId};
use store::StoreError;
use store::charges::{self, ChargeCard};

use super::{Error, owner_of_card};
use crate::idempotency::Request;
use crate::sandbox::{TEST_CARDS, test_card_label};
use crate::{Actor, Answer, App, Caller};

/// Why a card was not taken.
#[derive(Debug, thiserror::Error)]
pub enum CardError {
    /// There is nobody who could take one.
    #[error("cards cannot be stored here: no payment provider is set up; ask the operator")]
    NoProvider,
    /// There is no such card.
    #[error("card must be pays, declines, silent or late")]
    Card,
    /// The payment.
    #[error(transparent)]
    Topup(#[from] Error),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Where the caller enters a card, before coming back to that address.
    pub fn card_page(&self, caller: &Caller, back: &str) -> Result<CardPage, CardError> {
        let reference = domain::hex(&self.rt().random::<16>());
        let payments = self.payments(caller.mode());
        payments.and_then(|one| one.card_page(&reference, back)).ok_or(CardError::NoProvider)
    }

    /// Charges a card for the first time. If it pays it is stored, in place of any other; if it
    /// does not, everything stays as it was. Not while another charge is undecided.
    pub async fn first_payment(
        &self,
        caller: &Caller,
        card: &str,
        amount: i64,
        request: &Request,
    ) -> Result<Answer, CardError> {
        // The provider of live organisations would tell us of a card itself; none does yet.
        if caller.mode() == Mode::Live {
            return Err(CardError::NoProvider);
        }
        if !TEST_CARDS.contains(&card) {
            return Err(CardError::Card);
        }
        let owner = owner_of_card(caller.org());
        let sealed = self.vault().seal(self.rt().random(), &owner, card.as_bytes());
        let (label, new_at) = (test_card_label(card), Some(self.now()));
        let card = ChargeCard { label, sealed, new_at };
        Ok(self.topup_with(caller, (amount, Some(card)), request).await?)
    }

    /// What the caller's stored card is called.
    pub async fn card(&self, caller: &Caller) -> Result<Option<String>, StoreError> {
        let org = caller.org();
        self.store().read(move |tx| charges::card_label(tx, org)).await
    }

    /// Takes the stored card away; says whether there was one.
    pub async fn remove_card(&self, actor: Actor, org: OrgId) -> Result<bool, StoreError> {
        let act = self.act(actor, "card.remove");
        self.store()
            .write(org, move |tx| {
                let Some(label) = charges::card_label(tx, org)? else { return Ok(false) };
                charges::remove_card(tx, org)?;
                act.note(tx, Some(org), org, &label)?;
                Ok(true)
            })
            .await
    }
}
