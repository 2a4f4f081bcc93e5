//! The inventory: lots come in by orders and grants, and go by refunds and expiry. (Putting them on
//! eSIMs is another use-case.)

use std::sync::Arc;

use domain::inventory::{Lot, Move};
use domain::ledger::{Account, Kind};
use domain::order::{Item, ItemKind, Order, REFUNDED, Status, Target};
use domain::{BundleName, JobId, OrgId, Organisation, Timestamp, limits};
use store::jobs::Job;
pub use store::lots::HeldBundle;
use store::lots::{self, Cause};
use store::{StoreError, Tx, heads, orders, organisations};

use crate::catalogue::Catalogue;
use crate::credit::{self, Purse};
use crate::idempotency::{self, Request};
use crate::ids::Ids;
use crate::jobs::{LOT_EXPIRY, Verdict};
use crate::organisations::own;
use crate::{Actor, Answer, App, Caller};

/// What a refund came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refund {
    /// The money is back.
    Done,
    /// There is no such lot.
    UnknownUsage,
    /// Not a number of bundles.
    Quantity,
    /// More than there are.
    ExceedsRemaining,
    /// Too late, or refunds are switched off.
    NotRefundable,
}

/// Lots that are held at a moment.
#[derive(Debug, Clone)]
pub struct Held {
    /// The lots, by bundle.
    pub lots: Vec<Lot>,
    /// The organisation's own time.
    pub clock: Timestamp,
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Its key.
    #[error(transparent)]
    Key(#[from] idempotency::Error),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why nothing was granted.
#[derive(Debug, thiserror::Error)]
pub enum GrantError {
    /// There is no such organisation.
    #[error("organisation not found")]
    UnknownOrganisation,
    /// There is no such bundle.
    #[error("bundle not found: {0}")]
    UnknownBundle(String),
    /// Too few or too many.
    #[error("quantity must be between 1 and 1000")]
    Quantity,
    /// A reason is missing or too long.
    #[error("reason must have 1 to 1000 characters")]
    Reason,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// What the caller holds, by bundle, earliest expiry first; and the catalogue to explain it.
    pub async fn inventory(
        &self,
        caller: &Caller,
    ) -> Result<(Vec<Lot>, Arc<Catalogue>), StoreError> {
        Ok((self.held(caller, None).await?.lots, self.catalogue().await?))
    }

    /// What the caller holds, or holds of one bundle, earliest expiry first, and at which time.
    pub async fn held(
        &self,
        caller: &Caller,
        bundle: Option<BundleName>,
    ) -> Result<Held, StoreError> {
        let (org, now) = (caller.org(), self.now());
        self.store()
            .read(move |tx| {
                let clock = clock(tx, org, now)?;
                let lots = match &bundle {
                    None => lots::held(tx, org, clock)?,
                    Some(name) => lots::held_of(tx, (org, name), clock, limits::LOTS_SHOWN)?,
                };
                Ok(Held { lots, clock })
            })
            .await
    }

    /// A page of what the caller holds, after the lot of that number.
    pub async fn held_page(
        &self,
        caller: &Caller,
        after: Option<i64>,
        most: i64,
    ) -> Result<Held, StoreError> {
        let (org, now) = (caller.org(), self.now());
        self.store()
            .read(move |tx| {
                let clock = clock(tx, org, now)?;
                let after = after.map_or(Ok(None), |id| lots::find(tx, org, id))?;
                Ok(Held { lots: lots::held_page(tx, org, clock, after.as_ref(), most)?, clock })
            })
            .await
    }

    /// The first bundles by name that the caller holds for eSIMs of that profile.
    pub async fn held_bundles(
        &self,
        caller: &Caller,
        profile: &str,
    ) -> Result<Vec<HeldBundle>, StoreError> {
        let (org, profile, now) = (caller.org(), profile.to_owned(), self.now());
        self.store()
            .read(move |tx| {
                let clock = clock(tx, org, now)?;
                lots::by_bundle(tx, (org, &profile), clock, limits::HELD_BUNDLES_SHOWN)
            })
            .await
    }

    /// Gives units of a lot back for money.
    pub async fn refund(
        &self,
        caller: &Caller,
        (usage, quantity): (i64, i64),
        source_ip: String,
        request: &Request,
    ) -> Result<Answer, Error> {
        let (app, org, ids) = (self.clone(), caller.org(), self.ids());
        let write = move |tx: &mut Tx<'_>| {
            app.give_back(tx, org, (usage, quantity), (&source_ip, &mut ids.clone()))
        };
        self.once(org, request, write, |answers, form, refund| answers.refund(form, *refund)).await
    }

    fn give_back(
        &self,
        tx: &mut Tx<'_>,
        org: OrgId,
        (usage, quantity): (i64, i64),
        (source_ip, ids): (&str, &mut Ids),
    ) -> Result<Refund, Error> {
        if quantity < 1 {
            return Ok(Refund::Quantity);
        }
        let (organisation, clock) = own(tx, org, ids.now)?;
        let Some(lot) = lots::find(tx, org, usage)? else { return Ok(Refund::UnknownUsage) };
        if lot.cost_nothing() || !lot.is_refundable(organisation.settings.refund_days, clock) {
            return Ok(Refund::NotRefundable);
        }
        if quantity > lot.remaining {
            return Ok(Refund::ExceedsRemaining);
        }
        self.pay_back(tx, (&organisation, clock), (&lot, quantity), (source_ip, ids))?;
        Ok(Refund::Done)
    }

    /// Pays units of a lot back that are in the inventory, and makes the order that says so.
    pub(crate) fn pay_back(
        &self,
        tx: &mut Tx<'_>,
        (organisation, clock): (&Organisation, Timestamp),
        (lot, quantity): (&Lot, i64),
        (source_ip, ids): (&str, &mut Ids),
    ) -> Result<(), StoreError> {
        let reference = ids.reference();
        let cause = Cause { kind: Move::Refunded, reference: &reference, at: clock };
        if !lots::take(tx, organisation.id, lot.id, quantity, cause)? {
            return Err(StoreError::Refused("a refund of more than there is".into()));
        }
        let refund = lot.refund(quantity);
        if refund.amount > 0 {
            let back = credit::Back { test_credit: refund.test_credit, spent_at: lot.bought_at };
            let mut moved = vec![(Account::Refunds, -refund.amount)];
            moved.extend(credit::returned(tx, refund.amount, back, clock)?);
            credit::post(tx, clock, (Kind::Refund, &reference), &moved)?;
        }
        let order = Order {
            id: ids.order(),
            org: organisation.id,
            reference,
            status: Status::Completed,
            status_message: REFUNDED.to_owned(),
            target: Target::Nowhere,
            total: refund.amount,
            test_credit: refund.test_credit,
            running_balance: Purse::of(tx, clock)?.total(),
            source_ip: source_ip.to_owned(),
            created_at: clock,
            finished_at: Some(clock),
            is_listed: true,
        };
        let item = Item {
            kind: ItemKind::BundleRefund,
            item: lot.bundle.to_string(),
            quantity,
            sub_total: refund.amount,
            price_per_unit: lot.price,
            allow_reassign: false,
        };
        orders::insert(tx, &order, &[item])?;
        self.tell_order(tx, ids.event(), &order, organisation)
    }

    /// Puts units back into the inventory that were taken from a lot.
    pub(crate) fn return_units(
        tx: &mut Tx<'_>,
        (org, id): (OrgId, i64),
        units: i64,
        (cause, ids): (Cause<'_>, &mut Ids),
    ) -> Result<(), StoreError> {
        let Some(lot) = lots::find(tx, org, id)? else { return Ok(()) };
        lots::put_back(tx, (org, id), units, cause)?;
        App::expire_by(tx, ids.job(), lot.expires_at, ids.now)
    }

    /// Gives an organisation bundles for nothing.
    pub async fn grant_bundles(
        &self,
        actor: Actor,
        org: OrgId,
        (bundle, quantity): (&str, i64),
        reason: &str,
    ) -> Result<Lot, GrantError> {
        if !(1..=limits::ITEM_QUANTITY_MAX).contains(&quantity) {
            return Err(GrantError::Quantity);
        }
        if !(1..=limits::TEXT_CHARS_MAX).contains(&reason.chars().count()) {
            return Err(GrantError::Reason);
        }
        let unknown = || GrantError::UnknownBundle(bundle.to_owned());
        let name = BundleName::parse(bundle).map_err(|_| unknown())?;
        self.catalogue().await?.bundle(bundle).ok_or_else(unknown)?;
        let (act, job) = (self.act(actor, "bundles.grant"), self.job_id());
        let reason = reason.to_owned();
        self.store()
            .write(org, move |tx| {
                organisations::find(tx, org)?.ok_or(GrantError::UnknownOrganisation)?;
                let head = tx.head().ok_or(GrantError::UnknownOrganisation)?;
                let clock = head.clock(act.at);
                let mut lot = Lot::new(name.clone(), quantity, (0, 0), clock);
                let reference = act.reference();
                let cause = Cause { kind: Move::Granted, reference: &reference, at: clock };
                lot.id = lots::insert(tx, org, &lot, cause)?;
                App::expire_by(tx, job, lot.expires_at, act.at)?;
                act.note(tx, Some(org), lot.id, &format!("{quantity} {name}: {reason}"))?;
                Ok(lot)
            })
            .await
    }

    /// The lots of an order's items. What goes onto eSIMs is taken out again at once: each unit
    /// belongs to a lot, so that it can come back with its price and its date.
    pub(crate) fn stock_up(
        tx: &mut Tx<'_>,
        order: &Order,
        items: &[Item],
        (job, now): (JobId, Timestamp),
    ) -> Result<Vec<i64>, StoreError> {
        let mut test_credit = order.test_credit;
        let mut ids = Vec::with_capacity(items.len());
        for (item, n) in items.iter().zip(0..) {
            let share = test_credit.min(item.sub_total);
            test_credit -= share;
            let odd = |_| StoreError::Corrupt { column: 1, row: order.id.to_string() };
            let name = BundleName::parse(&item.item).map_err(odd)?;
            let paid = (item.price_per_unit, share);
            let lot = Lot::new(name, item.quantity, paid, order.created_at);
            let reference = format!("{}-{n}", order.reference);
            let cause = Cause { kind: Move::Bought, reference: &reference, at: order.created_at };
            let id = lots::insert(tx, order.org, &lot, cause)?;
            if order.target == Target::Esims {
                let cause = Cause { kind: Move::Applied, ..cause };
                lots::take(tx, order.org, id, item.quantity, cause)?;
            } else {
                App::expire_by(tx, job, lot.expires_at, now)?;
            }
            ids.push(id);
        }
        Ok(ids)
    }
}

/// The job: units that nobody used expire. One per organisation, due when its next lot expires.
pub(crate) async fn expire(app: &App, job: &Job) -> Result<Verdict, StoreError> {
    let (worker, own_job, now) = (app.clone(), job.clone(), app.now());
    app.store().write(job.org, move |tx| worker.expire_lots(tx, &own_job, now)).await?;
    Ok(Verdict::Settled)
}

impl App {
    /// Makes sure that the job comes no later than then.
    fn expire_by(
        tx: &mut Tx<'_>,
        job: JobId,
        at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        App::add_job_sooner(tx, job, (LOT_EXPIRY, ""), at, now)
    }

    fn expire_lots(&self, tx: &mut Tx<'_>, job: &Job, now: Timestamp) -> Result<(), StoreError> {
        if !self.is_mine(tx, job)? {
            return Ok(());
        }
        let (_, clock) = own(tx, job.org, now)?;
        for lot in lots::expired(tx, job.org, clock, limits::LOTS_EXPIRED_AT_ONCE)? {
            // Units of an apply that failed may come back to a lot that has expired before.
            let reference = match lots::expiries(tx, lot.id)? {
                0 => lot.id.to_string(),
                n => format!("{}-{n}", lot.id),
            };
            let cause = Cause { kind: Move::Expired, reference: &reference, at: clock };
            lots::take(tx, job.org, lot.id, lot.remaining, cause)?;
            let worth = lot.price.saturating_mul(lot.remaining);
            if worth > 0 {
                let moved = [(Account::Sales, -worth), (Account::Breakage, worth)];
                credit::post(tx, clock, (Kind::LotExpiry, &reference), &moved)?;
            }
        }
        match lots::next_expiry(tx, job.org)? {
            None => store::jobs::done(tx, job.id),
            Some(next) => App::again_at(tx, job, next),
        }
    }
}

/// The organisation's own time.
fn clock(tx: &mut Tx<'_>, org: OrgId, now: Timestamp) -> Result<Timestamp, StoreError> {
    let gone = || StoreError::Corrupt { column: 0, row: org.to_string() };
    Ok(heads::find(tx, org)?.ok_or_else(gone)?.clock(now))
}
