//! Top-up: charging the stored card and raising the balance, once.
//!
//! The charge is a row before the card is asked, and a job that asks until there is an answer. So a
//! crash at any moment loses nothing, and asking again uses the same reference.

mod card;
mod settle;

use std::time::Duration;

use domain::ledger::Account;
use domain::{JobId, Money, OrgId, Organisation, Timestamp, limits};
use store::charges::{self, ChargeCard};
pub use store::charges::{Charge, State};
use store::{StoreError, Tx, organisations};

pub use self::card::CardError;
pub(crate) use self::settle::{owner_of_card, work};
use crate::idempotency::{self, Known, Request, Token};
use crate::jobs::CHARGE;
use crate::organisations::own;
use crate::{Answer, App, Caller};

/// A top-up by the interface.
pub const API: &str = "apiTopup";
/// One that happened by itself.
pub const AUTO: &str = "autoTopup";

/// What a top-up came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Charged and credited.
    Paid {
        /// How much.
        amount: Money,
        /// The balance after it.
        balance: Money,
        /// Test credit that was valid then.
        test_credit: Money,
        /// Its number.
        reference: i64,
    },
    /// The card was declined.
    Declined,
    /// There is no card.
    NoCard,
    /// Less than the organisation's minimum.
    BelowMinimum,
    /// More than the organisation may charge in a day.
    DailyLimit,
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its key.
    #[error(transparent)]
    Key(#[from] idempotency::Error),
    /// The payment provider has not decided; it will be settled later.
    #[error("the payment is not decided yet")]
    Undecided,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

enum Begun {
    Answered(Answer),
    Charging(i64),
}

/// Everything about a charge that is made outside the transaction.
#[derive(Clone)]
struct Draft {
    reference: String,
    job: JobId,
    random: [u8; 16],
    now: Timestamp,
}

impl App {
    fn draft(&self) -> Draft {
        Draft {
            reference: domain::hex(&self.rt().random::<16>()),
            job: self.job_id(),
            random: self.rt().random(),
            now: self.now(),
        }
    }

    /// Charges the caller's card with so many minor units. A person waits until what was begun
    /// before is decided; a program says by a key that it wants another one.
    pub async fn topup(
        &self,
        caller: &Caller,
        amount: i64,
        request: &Request,
    ) -> Result<Answer, Error> {
        self.topup_with(caller, (amount, None), request).await
    }

    /// The same with a card that is not stored yet, and is if it pays.
    async fn topup_with(
        &self,
        caller: &Caller,
        (amount, card): (i64, Option<ChargeCard>),
        request: &Request,
    ) -> Result<Answer, Error> {
        let token = self.token(request).map_err(idempotency::Error::from)?;
        let (app, org, asked) = (self.clone(), caller.org(), request.clone());
        let (draft, held) = (self.draft(), token.clone());
        let begun = self.store().write(org, move |tx| {
            let wanted = (amount, card.as_ref());
            app.begin_topup(tx, org, wanted, (&asked, held.as_ref(), &draft))
        });
        let id = match begun.await? {
            Begun::Answered(answer) => return Ok(answer),
            Begun::Charging(id) => id,
        };
        self.work().wake();
        let charge = self.decided(org, id).await?;
        if let Some(token) = &token {
            // What was kept is what is said, to this caller and to every later one.
            return self.kept(org, token).await?.ok_or(Error::Undecided);
        }
        let currency = self.currency_of(org).await?;
        Ok(self.ports().answers.topup(&charge.form, &outcome(&charge, currency)))
    }

    /// Charges of an organisation in order, after that number.
    pub async fn charges(
        &self,
        org: OrgId,
        after: i64,
        most: i64,
    ) -> Result<Option<Vec<Charge>>, StoreError> {
        self.store()
            .read(move |tx| {
                if organisations::find(tx, org)?.is_none() {
                    return Ok(None);
                }
                charges::page(tx, org, after, most).map(Some)
            })
            .await
    }

    fn begin_topup(
        &self,
        tx: &mut Tx<'_>,
        org: OrgId,
        (amount, new): (i64, Option<&ChargeCard>),
        (request, token, draft): (&Request, Option<&Token>, &Draft),
    ) -> Result<Begun, Error> {
        if let Some(token) = token {
            match self.known(tx, org, token)? {
                Known::New => {}
                Known::Answered(answer) => return Ok(Begun::Answered(answer)),
                Known::Other => return Err(idempotency::Error::OtherRequest.into()),
                Known::Running(subject) => {
                    return Ok(Begun::Charging(subject.parse().unwrap_or(0)));
                }
            }
        }
        let (organisation, clock) = own(tx, org, draft.now)?;
        let is_alone = new.is_some() || request.deed.is_some();
        let card = new.map_or_else(|| stored(tx, org), |new| Ok(Some(new.clone())))?;
        let refused = refusal(tx, &organisation, (amount, card.is_some()), clock)?;
        let Some(card) = card.filter(|_| refused.is_none()) else {
            let refused = refused.unwrap_or(Outcome::NoCard);
            let answer = self.ports().answers.topup(&request.form, &refused);
            if let Some(token) = token {
                idempotency::begin(tx, org, token, "", draft.now)?;
                let sealed = answer.sealed(self.vault(), draft.random, org, &token.key);
                store::idempotency::finish(tx, org, &token.key, &sealed)?;
            }
            return Ok(Begun::Answered(answer));
        };
        if is_alone && charges::is_any_undecided(tx, org)?
            || token.is_none() && charges::undecided(tx, org, API)? > 0
        {
            return Err(Error::Undecided);
        }
        let key = token.map(|token| token.key.clone());
        let id = insert(tx, (org, API, amount), (&request.form, key), &card, (draft, clock))?;
        if let Some(deed) = &request.deed {
            deed.note(tx, org)?;
        }
        if let Some(token) = token {
            idempotency::begin(tx, org, token, &id.to_string(), draft.now)?;
        }
        Ok(Begun::Charging(id))
    }

    /// Charges the card by itself when the balance is low and the organisation wants that. Called
    /// in the transaction that lowered it.
    pub(crate) fn top_up_if_low(
        tx: &mut Tx<'_>,
        organisation: &Organisation,
        draft: &AutoDraft,
    ) -> Result<(), StoreError> {
        let settings = organisation.settings.topup;
        let (Some(threshold), Some(amount)) = (settings.auto_threshold, settings.auto_amount)
        else {
            return Ok(());
        };
        let org = organisation.id;
        let (_, clock) = own(tx, org, draft.0.now)?;
        let balance = tx.head().map_or(0, |head| head.on(Account::Available));
        let Some(card) = stored(tx, org)? else { return Ok(()) };
        let wanted = balance < threshold
            && charges::undecided(tx, org, AUTO)? == 0
            && refusal(tx, organisation, (amount, true), clock)?.is_none();
        if wanted {
            insert(tx, (org, AUTO, amount), ("", None), &card, (&draft.0, clock))?;
        }
        Ok(())
    }

    pub(crate) fn auto_draft(&self) -> AutoDraft {
        AutoDraft(self.draft())
    }

    /// The charge once it is decided; an error if that takes longer than a caller should wait.
    async fn decided(&self, org: OrgId, id: i64) -> Result<Charge, Error> {
        let until = self.rt().monotonic() + limits::PAYMENT_PATIENCE;
        loop {
            let settled = self.work().wait_for(id);
            let charge = self.store().read(move |tx| charges::find(tx, org, id)).await?;
            let charge = charge.ok_or(StoreError::Corrupt { column: 0, row: id.to_string() })?;
            if charge.state != State::Undecided {
                return Ok(charge);
            }
            let left = until.saturating_sub(self.rt().monotonic());
            if left.is_zero() {
                return Err(Error::Undecided);
            }
            tokio::select! {
                biased;
                _ = settled => {}
                // Another node may have settled it.
                () = self.rt().sleep(left.min(Duration::from_secs(1))) => {}
            }
        }
    }

    async fn kept(&self, org: OrgId, token: &Token) -> Result<Option<Answer>, StoreError> {
        let (app, token) = (self.clone(), token.clone());
        let known = self.store().read(move |tx| app.known(tx, org, &token)).await?;
        Ok(match known {
            Known::Answered(answer) => Some(answer),
            _ => None,
        })
    }

    /// The currency of the caller's organisation.
    pub async fn currency(&self, caller: &Caller) -> Result<domain::Currency, StoreError> {
        self.currency_of(caller.org()).await
    }

    async fn currency_of(&self, org: OrgId) -> Result<domain::Currency, StoreError> {
        let gone = StoreError::Corrupt { column: 0, row: org.to_string() };
        let found = self.store().read(move |tx| organisations::find(tx, org)).await?;
        found.map(|organisation| organisation.currency).ok_or(gone)
    }
}

/// What an automatic top-up needs from outside the transaction.
pub(crate) struct AutoDraft(Draft);

/// Why a charge is not even begun.
fn refusal(
    tx: &mut Tx<'_>,
    organisation: &Organisation,
    (amount, has_card): (i64, bool),
    clock: Timestamp,
) -> Result<Option<Outcome>, StoreError> {
    let settings = organisation.settings.topup;
    if !has_card {
        return Ok(Some(Outcome::NoCard));
    }
    if settings.minimum.is_some_and(|minimum| amount < minimum) {
        return Ok(Some(Outcome::BelowMinimum));
    }
    if let Some(most) = settings.daily_maximum {
        let today = charges::charged_since(tx, organisation.id, clock.start_of_day())?;
        if today.saturating_add(amount) > most {
            return Ok(Some(Outcome::DailyLimit));
        }
    }
    Ok(None)
}

/// The stored card, as that of a charge.
fn stored(tx: &mut Tx<'_>, org: OrgId) -> Result<Option<ChargeCard>, StoreError> {
    let card = charges::card(tx, org)?;
    Ok(card.map(|(label, sealed)| ChargeCard { label, sealed, new_at: None }))
}

/// The charge, with its card, and the job that makes it.
fn insert(
    tx: &mut Tx<'_>,
    (org, kind, amount): (OrgId, &str, i64),
    (form, key_digest): (&str, Option<Vec<u8>>),
    card: &ChargeCard,
    (draft, clock): (&Draft, Timestamp),
) -> Result<i64, StoreError> {
    let charge = Charge {
        id: 0,
        org,
        kind: kind.to_owned(),
        amount,
        state: State::Undecided,
        reference: draft.reference.clone(),
        form: form.to_owned(),
        key_digest,
        after: None,
        created_at: clock,
        decided_at: None,
    };
    let id = charges::insert(tx, &charge)?;
    charges::put_charge_card(tx, id, card)?;
    App::add_job(tx, draft.job, (CHARGE, &id.to_string()), clock, draft.now)?;
    Ok(id)
}

fn outcome(charge: &Charge, currency: domain::Currency) -> Outcome {
    let money = |minor| Money::minor(minor, currency);
    match (charge.state, charge.after) {
        (State::Paid, Some((balance, test_credit))) => Outcome::Paid {
            amount: money(charge.amount),
            balance: money(balance),
            test_credit: money(test_credit),
            reference: charge.id,
        },
        _ => Outcome::Declined,
    }
}
