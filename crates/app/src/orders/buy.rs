//! Placing an order: one transaction that takes the money and either hands over the bundles or, for
//! a large order, leaves that to a job.

use std::collections::HashMap;

use domain::assignment::State;
use domain::ledger::{Account, Kind};
use domain::order::{Assigned, Order, PROCESSING, Status, Target, completed_message};
use domain::{EventId, Iccid, Money, OrderId, Organisation, Timestamp, limits};
use store::assignments::{self, New};
use store::{StoreError, Tx, heads, orders, organisations, profiles};

use super::plan::{Plan, Stop};
use super::{Codes, Shown};
use crate::credit::{self, Purse};
use crate::idempotency::{self, Request};
use crate::ids::Ids;
use crate::jobs::ORDER;
use crate::organisations::own;
use crate::{Answer, App, Caller, topup};

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Command {
    /// To check it or to buy.
    pub intent: Intent,
    /// Into the inventory or onto eSIMs.
    pub target: Target,
    /// What.
    pub lines: Vec<Line>,
    /// When large orders are worked on.
    pub processing: Processing,
    /// The address it came from.
    pub source_ip: String,
}

impl Command {
    /// How many bundles it is about.
    pub(super) fn bundles(&self) -> i64 {
        self.lines.iter().fold(0, |sum, line| sum.saturating_add(line.quantity))
    }

    /// Whether it is worked on after its answer.
    fn is_later(&self) -> bool {
        self.processing == Processing::Later && self.bundles() > limits::SYNCHRONOUS_BUNDLES_MAX
    }
}

/// To check or to buy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Intent {
    /// All checks, no effect.
    Validate,
    /// Buy.
    Transaction,
}

/// When an order of many bundles is worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processing {
    /// Before the answer.
    Now,
    /// After it.
    Later,
}

/// A line of an order.
#[derive(Debug, Clone)]
pub struct Line {
    /// Name of a bundle, as it was sent.
    pub bundle: String,
    /// How many.
    pub quantity: i64,
    /// Which eSIMs; none = new ones.
    pub iccids: Vec<Iccid>,
    /// Whether an eSIM that does not fit may be replaced by a new one.
    pub allow_reassign: bool,
}

/// A rule an order breaks. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// An item has no, or too many, bundles.
    Quantity,
    /// The order has too many.
    TooLarge,
    /// eSIMs are named for what goes into the inventory.
    IccidsWithoutAssign,
    /// Not as many as bundles.
    IccidsMismatch,
    /// Not for sale to the caller.
    UnknownBundle(String),
    /// Unknown, or somebody else's.
    NotYourEsim,
    /// Dead for good.
    Deactivated,
    /// The bundle does not fit the eSIM.
    NotCompatible,
}

/// An order that was checked only.
#[derive(Debug, Clone)]
pub struct Validated {
    /// What it would be.
    pub shown: Shown,
    /// Whether there is enough money.
    pub is_covered: bool,
    /// What can be spent at that moment, with valid test credit, in minor units.
    pub available: i64,
    /// Whether it would be worked on after its answer.
    pub is_later: bool,
}

/// What became of an order.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Placed.
    Placed(Box<Shown>),
    /// Checked.
    Validated(Box<Validated>),
    /// Refused.
    Refused(Refusal),
}

/// Why there is no outcome: trying again may have one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The balance is too low. Nothing was taken.
    #[error("Failed to process Order. No payment taken.")]
    BalanceTooLow,
    /// There are not enough profiles. Nothing was taken.
    #[error("no esim available, try again later")]
    OutOfStock,
    /// Its key.
    #[error(transparent)]
    Key(#[from] idempotency::Error),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Everything about an order that is made outside the transaction.
pub(crate) struct Draft {
    ids: Ids,
    auto: topup::AutoDraft,
}

impl App {
    /// Places or checks an order of the caller.
    pub async fn buy(
        &self,
        caller: &Caller,
        command: Command,
        request: &Request,
    ) -> Result<Answer, Error> {
        self.buy_as(caller.org(), command, request).await
    }

    /// Checks an order of the caller: everything that placing it would check, as a mere read.
    pub async fn validate(&self, caller: &Caller, command: Command) -> Result<Outcome, Error> {
        let (app, org, now) = (self.clone(), caller.org(), self.now());
        self.store()
            .read(move |tx| {
                let gone = || StoreError::Corrupt { column: 0, row: org.to_string() };
                let organisation = organisations::find(tx, org)?.ok_or_else(gone)?;
                let head = heads::find(tx, org)?.ok_or_else(gone)?;
                let clock = head.clock(now);
                let plan = match Plan::of(tx, &organisation, &command) {
                    Ok(plan) => plan,
                    Err(Stop::Refused(refusal)) => return Ok(Outcome::Refused(refusal)),
                    Err(Stop::Store(error)) => return Err(error.into()),
                };
                let purse = Purse::in_head(&head, clock);
                app.validated(tx, (&organisation, clock), &command, (&plan, purse))
            })
            .await
    }

    pub(crate) async fn buy_as(
        &self,
        org: domain::OrgId,
        command: Command,
        request: &Request,
    ) -> Result<Answer, Error> {
        let (app, draft) = (self.clone(), self.order_draft());
        let is_later = command.is_later();
        let write = move |tx: &mut Tx<'_>| app.place(tx, org, &command, &draft);
        let answer = self
            .once(org, request, write, |answers, form, outcome| answers.order(form, outcome))
            .await;
        if matches!(answer, Err(Error::BalanceTooLow)) {
            self.tell_of_lack(org).await;
        }
        let answer = answer?;
        self.outgoing().wake();
        // Most orders leave nothing to do; asking for work each time would cost a write.
        if is_later {
            self.work().wake();
        }
        Ok(answer)
    }

    fn order_draft(&self) -> Draft {
        Draft { ids: self.ids(), auto: self.auto_draft() }
    }

    fn place(
        &self,
        tx: &mut Tx<'_>,
        org: domain::OrgId,
        command: &Command,
        draft: &Draft,
    ) -> Result<Outcome, Error> {
        let (organisation, clock) = own(tx, org, draft.ids.now)?;
        let plan = match Plan::of(tx, &organisation, command) {
            Ok(plan) => plan,
            Err(Stop::Refused(refusal)) => return Ok(Outcome::Refused(refusal)),
            Err(Stop::Store(error)) => return Err(error.into()),
        };
        let purse = Purse::of(tx, clock)?;
        if command.intent == Intent::Validate {
            return self.validated(tx, (&organisation, clock), command, (&plan, purse));
        }
        if !purse.covers(plan.total) {
            return Err(Error::BalanceTooLow);
        }
        let shown = self.take(tx, (&organisation, clock), command, (&plan, draft))?;
        Ok(Outcome::Placed(Box::new(shown)))
    }

    fn validated(
        &self,
        tx: &mut Tx<'_>,
        (organisation, clock): (&Organisation, Timestamp),
        command: &Command,
        (plan, purse): (&Plan, Purse),
    ) -> Result<Outcome, Error> {
        for (profile, count) in plan.new_esims() {
            if !profiles::has(tx, (organisation.mode, profile), count)? {
                return Err(Error::OutOfStock);
            }
        }
        let order = Order {
            id: OrderId::new(clock, [0; 10]),
            org: organisation.id,
            reference: String::new(),
            status: Status::Processing,
            status_message: String::new(),
            target: command.target,
            total: plan.total,
            test_credit: 0,
            running_balance: 0,
            source_ip: String::new(),
            created_at: clock,
            finished_at: None,
            is_listed: true,
        };
        let parts = (order, plan.items(), Vec::new());
        let shown = self.with_codes(tx, parts, organisation.currency, Codes::None)?;
        Ok(Outcome::Validated(Box::new(Validated {
            shown,
            is_covered: purse.covers(plan.total),
            available: purse.total(),
            is_later: command.is_later(),
        })))
    }

    /// Takes the money and hands over what it buys.
    fn take(
        &self,
        tx: &mut Tx<'_>,
        (organisation, clock): (&Organisation, Timestamp),
        command: &Command,
        (plan, draft): (&Plan, &Draft),
    ) -> Result<Shown, Error> {
        let (is_later, mut ids) = (command.is_later(), draft.ids);
        let reference = ids.reference();
        let assigned = issue(tx, organisation, plan, clock)?;
        credit::expire_if_due(tx, clock)?;
        let into = if is_later { Account::Held } else { Account::Sales };
        let before = tx.head().map_or(0, |head| head.on(Account::Available));
        let paid = credit::pay(tx, clock, (Kind::Order, &reference), (plan.total, into))?;
        let status = if is_later { Status::Processing } else { Status::Completed };
        let order = Order {
            id: ids.order(),
            org: organisation.id,
            reference,
            status,
            status_message: match status {
                Status::Processing => PROCESSING.to_owned(),
                _ => completed_message(command.target, assigned.len()),
            },
            target: command.target,
            total: plan.total,
            test_credit: paid.test_credit,
            running_balance: Purse::of(tx, clock)?.total(),
            source_ip: command.source_ip.clone(),
            created_at: clock,
            finished_at: (!is_later).then_some(clock),
            is_listed: true,
        };
        let items = plan.items();
        orders::insert(tx, &order, &items)?;
        let owned = (order.org, order.id);
        if is_later {
            let new = plan.put_on(&assigned, &[]);
            assignments::insert(tx, owned, &new, State::Processing, clock)?;
            App::add_job(tx, ids.job(), (ORDER, &order.id.to_string()), clock, ids.now)?;
        } else {
            let lots = App::stock_up(tx, &order, &items, (ids.job(), ids.now))?;
            let new = plan.put_on(&assigned, &lots);
            assignments::insert(tx, owned, &new, State::Queued, clock)?;
            let placed: Vec<_> = new.iter().map(New::placed).collect();
            self.settle_in(tx, (order.org, organisation.mode), &placed, &mut ids)?;
            self.tell_order(tx, ids.event(), &order, organisation)?;
        }
        self.tell_if_low(tx, organisation, before, (ids.event(), clock))?;
        App::top_up_if_low(tx, organisation, &draft.auto)?;
        let codes = Codes::UpTo(usize::try_from(limits::SYNCHRONOUS_BUNDLES_MAX).unwrap_or(0));
        let parts = (order, items, assigned);
        Ok(self.with_codes(tx, parts, organisation.currency, codes)?)
    }

    /// Tells that an order has ended.
    pub(crate) fn tell_order(
        &self,
        tx: &mut Tx<'_>,
        id: EventId,
        order: &Order,
        organisation: &Organisation,
    ) -> Result<(), StoreError> {
        let at = order.finished_at.unwrap_or(order.created_at);
        let event = domain::event::Event::Order {
            reference: order.reference.clone(),
            status: order.status,
            message: order.status_message.clone(),
            total: Money::minor(order.total, organisation.currency),
            at,
        };
        self.tell(tx, organisation, (id, at), &event)
    }
}

/// The eSIMs that bundles go onto: the named ones, and new ones from the stock for the rest.
fn issue(
    tx: &mut Tx<'_>,
    organisation: &Organisation,
    plan: &Plan,
    clock: Timestamp,
) -> Result<Vec<Assigned>, Error> {
    let mut issued = Issued::of::<Error>(tx, organisation, plan.new_esims(), clock)?;
    let mut assigned = Vec::new();
    for (line, item) in plan.lines.iter().zip(0_i64..) {
        for target in &line.targets {
            let is_new_esim = target.is_none();
            let fresh = || issued.next(&line.plan.profile_name);
            let iccid = target.clone().or_else(fresh).ok_or(Error::OutOfStock)?;
            let n = i64::try_from(assigned.len()).unwrap_or(i64::MAX);
            assigned.push(Assigned { item, n, iccid, bundle: line.bundle.clone(), is_new_esim });
        }
    }
    Ok(assigned)
}

/// New eSIMs from the stock, by profile.
pub(crate) struct Issued(HashMap<String, std::vec::IntoIter<Iccid>>);

/// There are not enough profiles.
pub(crate) struct OutOfStock;

impl Issued {
    /// Takes as many of each profile as are wanted, or none at all.
    pub(crate) fn of<E: From<StoreError> + From<OutOfStock>>(
        tx: &mut Tx<'_>,
        organisation: &Organisation,
        wanted: HashMap<&str, i64>,
        clock: Timestamp,
    ) -> Result<Self, E> {
        let mut wanted: Vec<_> = wanted.into_iter().collect();
        // Always in one order, so that two nodes never wait for each other.
        wanted.sort_unstable();
        let mut issued = HashMap::new();
        for (profile, count) in wanted {
            let kind = (organisation.mode, profile);
            let iccids = profiles::issue(tx, organisation.id, kind, count, clock)?;
            if i64::try_from(iccids.len()) != Ok(count) {
                return Err(OutOfStock.into());
            }
            issued.insert(profile.to_owned(), iccids.into_iter());
        }
        Ok(Self(issued))
    }

    pub(crate) fn next(&mut self, profile: &str) -> Option<Iccid> {
        self.0.get_mut(profile).and_then(Iterator::next)
    }
}

impl From<OutOfStock> for Error {
    fn from(_: OutOfStock) -> Self {
        Self::OutOfStock
    }
}
