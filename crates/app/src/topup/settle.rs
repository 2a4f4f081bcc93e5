//! The other half of a top-up: the job that asks the provider and settles what it says.

use std::sync::Arc;

use domain::event::Event;
use domain::ledger::{Account, Entry, Kind};
use domain::order::{Item, ItemKind, Order, Status, Target, completed_message};
use domain::ports::payments::{self, Payments};
use domain::{EventId, Money, OrderId, OrgId, Organisation, Secret, Timestamp, limits};
use store::charges::{self, Charge, ChargeCard, State};
use store::jobs::Job;
use store::{StoreError, Tx, orders, organisations};

use super::{AUTO, outcome};
use crate::App;
use crate::credit::{Purse, refused};
use crate::jobs::Verdict;
use crate::orders::random_uuid;
use crate::organisations::own;

/// The job: asks the provider, with no transaction open, and settles what it says.
pub(crate) async fn work(app: &App, job: &Job) -> Result<Verdict, StoreError> {
    let Some((payments, question)) = question(app, job).await? else {
        return Ok(Verdict::Again("no card or no payment provider".to_owned()));
    };
    let asked = payments.charge(&question);
    let said = tokio::select! {
        // In this order, so that a seeded run repeats itself.
        biased;
        said = asked => said,
        () = app.rt().sleep(limits::PAYMENT_ANSWER) => {
            payments::Outcome::Undecided("no answer in time".to_owned())
        }
    };
    let state = match said {
        payments::Outcome::Undecided(why) => return Ok(Verdict::Again(why)),
        payments::Outcome::Paid => State::Paid,
        payments::Outcome::Declined => State::Declined,
    };
    let (settling, own_job) = (Settling::new(app), job.clone());
    let id: i64 = job.subject.parse().unwrap_or(0);
    let closure_app = app.clone();
    app.store()
        .write(job.org, move |tx| closure_app.settle_charge(tx, &own_job, state, &settling))
        .await?;
    app.work().tell(id);
    Ok(Verdict::Settled)
}

/// Who to ask, and what.
async fn question(
    app: &App,
    job: &Job,
) -> Result<Option<(Arc<dyn Payments>, payments::Charge)>, StoreError> {
    let (org, id, now) = (job.org, job.subject.parse().unwrap_or(0), app.now());
    let found = app
        .store()
        .read(move |tx| {
            let charge = charges::find(tx, org, id)?;
            // The one it began with: another that is stored by now has not agreed to it.
            let card = charges::charge_card(tx, id)?.map(|card| card.sealed);
            let organisation = organisations::find(tx, org)?;
            let head = store::heads::find(tx, org)?;
            Ok::<_, StoreError>(charge.zip(card).zip(organisation.zip(head)))
        })
        .await?;
    let Some(((charge, card), (organisation, head))) = found else { return Ok(None) };
    let card: Option<Secret<String>> = app.vault().open_text(&owner_of_card(org), &card);
    let Some((card, payments)) = card.zip(app.payments(organisation.mode)) else {
        return Ok(None);
    };
    let question = payments::Charge {
        reference: charge.reference,
        card,
        amount: Money::minor(charge.amount, organisation.currency),
        asked_at: charge.created_at,
        now: head.clock(now),
    };
    Ok(Some((payments, question)))
}

/// Bound into the seal of a card.
pub(crate) fn owner_of_card(org: OrgId) -> String {
    format!("tern card v1 {org}")
}

/// Everything about a settlement that is made outside the transaction.
struct Settling {
    event: EventId,
    order: OrderId,
    reference: String,
    random: [u8; 16],
    now: Timestamp,
}

impl Settling {
    fn new(app: &App) -> Self {
        Self {
            event: app.event_id(),
            order: app.order_id(),
            reference: random_uuid(app.rt().random()),
            random: app.rt().random(),
            now: app.now(),
        }
    }
}

impl App {
    /// Credits or refuses, once: everything the decision causes, in one transaction.
    fn settle_charge(
        &self,
        tx: &mut Tx<'_>,
        job: &Job,
        state: State,
        settling: &Settling,
    ) -> Result<(), StoreError> {
        if !self.is_mine(tx, job)? {
            return Ok(());
        }
        store::jobs::done(tx, job.id)?;
        let id = job.subject.parse().unwrap_or(0);
        let Some(mut charge) = charges::find(tx, job.org, id)? else { return Ok(()) };
        if charge.state != State::Undecided {
            return Ok(());
        }
        let (organisation, clock) = own(tx, job.org, settling.now)?;
        if state == State::Paid {
            charge.after = Some(self.credit_charge(tx, &charge, &organisation, settling)?);
        }
        let card = charges::charge_card(tx, id)?.filter(|card| card.new_at.is_some());
        if let Some(ChargeCard { label, sealed, .. }) = card
            && state == State::Paid
        {
            charges::put_card(tx, job.org, &label, &sealed, settling.now)?;
        }
        charges::drop_charge_card(tx, id)?;
        charge.state = state;
        charges::decide(tx, &charge, state, charge.after, clock)?;
        if let Some(key) = &charge.key_digest {
            let said = outcome(&charge, organisation.currency);
            let answer = self.ports().answers.topup(&charge.form, &said);
            let sealed = answer.sealed(self.vault(), settling.random, job.org, key);
            store::idempotency::finish(tx, job.org, key, &sealed)?;
        }
        Ok(())
    }

    /// Ledger, order and event of a charge that was paid; the balances after it.
    fn credit_charge(
        &self,
        tx: &mut Tx<'_>,
        charge: &Charge,
        organisation: &Organisation,
        settling: &Settling,
    ) -> Result<(i64, i64), StoreError> {
        let (_, clock) = own(tx, charge.org, settling.now)?;
        let balance = |tx: &Tx<'_>| tx.head().map_or(0, |head| head.on(Account::Available));
        let old = Money::minor(balance(tx), organisation.currency);
        let moved = [(Account::Available, charge.amount), (Account::Card, -charge.amount)];
        let entry = Entry::new(Kind::Topup, &charge.id.to_string(), &charge.kind, &moved)
            .map_err(|error| StoreError::Refused(error.to_string()))?;
        store::ledger::post(tx, clock, &entry).map_err(refused)?;
        let new = Money::minor(balance(tx), organisation.currency);
        let kind = if charge.kind == AUTO { ItemKind::AutoTopup } else { ItemKind::ApiTopup };
        let order = Order {
            id: settling.order,
            org: charge.org,
            reference: settling.reference.clone(),
            status: Status::Completed,
            status_message: completed_message(Target::Nowhere, 0),
            target: Target::Nowhere,
            total: charge.amount,
            test_credit: 0,
            running_balance: Purse::of(tx, clock)?.total(),
            source_ip: String::new(),
            created_at: clock,
            finished_at: Some(clock),
            is_listed: true,
        };
        let item = Item {
            kind,
            item: charge.id.to_string(),
            quantity: 1,
            sub_total: charge.amount,
            price_per_unit: charge.amount,
            allow_reassign: false,
        };
        orders::insert(tx, &order, &[item])?;
        let event = match charge.kind.as_str() {
            AUTO => Event::AutoTopup { old, new },
            _ => Event::Topup { old, new },
        };
        self.tell(tx, organisation, (settling.event, clock), &event)?;
        let valid = tx.head().map(|head| {
            crate::Balances::of(head, organisation.currency, settling.now).test_credit.in_minor()
        });
        Ok((new.in_minor(), valid.unwrap_or(0)))
    }
}
