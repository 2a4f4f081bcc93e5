//! Putting bundles from the inventory on eSIMs: one transaction, all or nothing.

use std::collections::HashMap;

use domain::assignment::State;
use domain::esim::Esim;
use domain::inventory::{Lot, Move};
use domain::order::{
    Assigned, Item, ItemKind, Order, PROCESSING, Status, Target, completed_message,
};
use domain::{BundleName, Iccid, Organisation, Timestamp, limits};
use store::assignments::{self, New};
use store::catalogue::{self, Plan};
use store::lots::{self, Cause};
use store::{StoreError, Tx, esims, orders};

use super::is_sold;
use crate::credit::Purse;
use crate::idempotency::{self, Request};
use crate::ids::Ids;
use crate::jobs::ORDER;
use crate::orders::Processing;
use crate::orders::buy::{Issued, OutOfStock};
use crate::organisations::own;
use crate::{Answer, App, Caller};

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Command {
    /// The eSIM that everything goes onto; none = each bundle gets a new one.
    pub iccid: Option<Iccid>,
    /// What.
    pub lines: Vec<Line>,
    /// When large ones are worked on.
    pub processing: Processing,
    /// Whether it is shown as an order.
    pub is_listed: bool,
    /// The address it came from.
    pub source_ip: String,
}

/// A bundle that is to be applied.
#[derive(Debug, Clone)]
pub struct Line {
    /// Its name, as it was sent.
    pub bundle: String,
    /// How many times.
    pub repeat: i64,
    /// When it is to start.
    pub start_at: Option<Timestamp>,
    /// Whether an eSIM that it does not fit may be replaced by a new one.
    pub allow_reassign: bool,
}

impl Command {
    fn bundles(&self) -> i64 {
        self.lines.iter().fold(0, |sum, line| sum.saturating_add(line.repeat))
    }

    fn is_later(&self) -> bool {
        self.processing == Processing::Later && self.bundles() > limits::SYNCHRONOUS_BUNDLES_MAX
    }
}

/// A rule that is broken. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// None of a bundle.
    Quantity,
    /// Too many at once.
    TooMany,
    /// Neither for sale to the caller nor in its inventory.
    UnknownBundle(String),
    /// Not enough of it in the inventory.
    NoneLeft(String),
    /// Unknown, or somebody else's.
    NotYourEsim,
    /// Dead for good.
    Deactivated,
    /// The bundle does not fit the eSIM.
    NotCompatible,
}

/// What became of it.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// On eSIMs, or on the way there.
    Applied {
        /// Its reference.
        reference: String,
        /// What went where.
        assigned: Vec<Assigned>,
        /// Whether it is still worked on.
        is_processing: bool,
    },
    /// Refused.
    Refused(Refusal),
}

/// Why there is no outcome: trying again may have one.
#[derive(Debug, thiserror::Error)]
pub enum Error {
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

impl From<OutOfStock> for Error {
    fn from(_: OutOfStock) -> Self {
        Self::OutOfStock
    }
}

/// Why it goes no further.
enum Stop {
    Refused(Refusal),
    Failed(Error),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// A bundle of the request with what is known of it.
struct Planned<'c> {
    line: &'c Line,
    name: BundleName,
    plan: Plan,
    /// The eSIM it goes onto; none = new ones.
    target: Option<Iccid>,
}

impl App {
    /// Applies bundles for the caller.
    pub async fn apply(
        &self,
        caller: &Caller,
        command: Command,
        request: &Request,
    ) -> Result<Answer, Error> {
        let (app, org, ids) = (self.clone(), caller.org(), self.ids());
        let is_later = command.is_later();
        let write = move |tx: &mut Tx<'_>| {
            let (organisation, clock) = own(tx, org, ids.now)?;
            match app.put_on(tx, (&organisation, clock), &command, &mut ids.clone()) {
                Ok(outcome) => Ok(outcome),
                Err(Stop::Refused(refusal)) => Ok(Outcome::Refused(refusal)),
                Err(Stop::Failed(error)) => Err(error),
            }
        };
        let answer = self
            .once(org, request, write, |answers, form, outcome| answers.apply(form, outcome))
            .await?;
        if is_later {
            self.work().wake();
        }
        Ok(answer)
    }

    fn put_on(
        &self,
        tx: &mut Tx<'_>,
        (organisation, clock): (&Organisation, Timestamp),
        command: &Command,
        ids: &mut Ids,
    ) -> Result<Outcome, Stop> {
        if command.lines.iter().any(|line| line.repeat < 1) {
            return Err(Refusal::Quantity.into());
        }
        if command.bundles() > limits::APPLY_BUNDLES_MAX {
            return Err(Refusal::TooMany.into());
        }
        let mut held = held(tx, (organisation, clock), command)?;
        let planned = planned(tx, organisation, command)?;
        let units = held.take(&planned)?;
        let assigned = issue(tx, (organisation, clock), &planned)?;
        let is_later = command.is_later();
        let order = order((organisation, clock), command, (&assigned, ids), Purse::of(tx, clock)?);
        orders::insert(tx, &order, &items(&order, &planned))?;
        for (lot, quantity) in held.taken {
            let cause = Cause { kind: Move::Applied, reference: &order.reference, at: clock };
            lots::take_held(tx, (organisation.id, lot), quantity, cause)?;
        }
        let new: Vec<_> = news(&planned, &assigned, &units, clock);
        let owned = (organisation.id, order.id);
        if is_later {
            assignments::insert(tx, owned, &new, State::Processing, clock)?;
            App::add_job(tx, ids.job(), (ORDER, &order.id.to_string()), clock, ids.now)?;
        } else {
            assignments::insert(tx, owned, &new, State::Queued, clock)?;
            let placed: Vec<_> = new.iter().map(New::placed).collect();
            self.settle_in(tx, (organisation.id, organisation.mode), &placed, ids)?;
            if order.is_listed {
                self.tell_order(tx, ids.event(), &order, organisation)?;
            }
        }
        Ok(Outcome::Applied { reference: order.reference, assigned, is_processing: is_later })
    }
}

/// Lots that a request may take from, and what it takes.
struct Held {
    /// Of each bundle, earliest expiry first.
    lots: HashMap<String, Vec<Lot>>,
    taken: Vec<(i64, i64)>,
}

/// What the inventory has of the bundles that are asked for.
fn held(
    tx: &mut Tx<'_>,
    (organisation, clock): (&Organisation, Timestamp),
    command: &Command,
) -> Result<Held, Stop> {
    let mut wanted: HashMap<&str, i64> = HashMap::new();
    for line in &command.lines {
        *wanted.entry(&line.bundle).or_default() += line.repeat;
    }
    let mut lots: HashMap<String, Vec<Lot>> = HashMap::new();
    for line in &command.lines {
        if lots.contains_key(&line.bundle) {
            continue;
        }
        let unknown = || Refusal::UnknownBundle(line.bundle.clone());
        let name = BundleName::parse(&line.bundle).map_err(|_| unknown())?;
        let most = wanted[line.bundle.as_str()];
        let found = lots::held_of(tx, (organisation.id, &name), clock, most)?;
        if found.is_empty() && !is_sold(tx, organisation, &name)? {
            return Err(unknown().into());
        }
        lots.insert(line.bundle.clone(), found);
    }
    Ok(Held { lots, taken: Vec::new() })
}

impl Held {
    /// The lot of each unit, in the order of the request.
    fn take(&mut self, planned: &[Planned<'_>]) -> Result<Vec<i64>, Refusal> {
        let mut units = Vec::new();
        for Planned { line, .. } in planned {
            let lots = self.lots.entry(line.bundle.clone()).or_default();
            for _ in 0..line.repeat {
                let first = lots.iter_mut().find(|lot| lot.remaining > 0);
                let lot = first.ok_or_else(|| Refusal::NoneLeft(line.bundle.clone()))?;
                lot.remaining -= 1;
                units.push(lot.id);
            }
        }
        for id in &units {
            match self.taken.iter_mut().find(|(lot, _)| lot == id) {
                Some((_, count)) => *count += 1,
                None => self.taken.push((*id, 1)),
            }
        }
        Ok(units)
    }
}

/// Which eSIM each line goes onto, or a rule that it breaks.
fn planned<'c>(
    tx: &mut Tx<'_>,
    organisation: &Organisation,
    command: &'c Command,
) -> Result<Vec<Planned<'c>>, Stop> {
    let esim = match &command.iccid {
        None => None,
        Some(iccid) => {
            let esim = esims::find(tx, organisation.id, iccid)?.ok_or(Refusal::NotYourEsim)?;
            if esim.is_deactivated() {
                return Err(Refusal::Deactivated.into());
            }
            Some(esim)
        }
    };
    let mut plans: HashMap<&str, (BundleName, Plan)> = HashMap::new();
    let mut planned = Vec::with_capacity(command.lines.len());
    for line in &command.lines {
        if !plans.contains_key(line.bundle.as_str()) {
            let unknown = || Refusal::UnknownBundle(line.bundle.clone());
            let name = BundleName::parse(&line.bundle).map_err(|_| unknown())?;
            let plan = catalogue::plan(tx, &name)?.ok_or_else(unknown)?;
            plans.insert(&line.bundle, (name, plan));
        }
        let (name, plan) = plans[line.bundle.as_str()].clone();
        let target = target(esim.as_ref(), &plan, line)?;
        planned.push(Planned { line, name, plan, target });
    }
    Ok(planned)
}

fn target(esim: Option<&Esim>, plan: &Plan, line: &Line) -> Result<Option<Iccid>, Refusal> {
    match esim {
        None => Ok(None),
        Some(esim) if esim.profile_name == plan.profile_name => Ok(Some(esim.iccid.clone())),
        Some(_) if line.allow_reassign => Ok(None),
        Some(_) => Err(Refusal::NotCompatible),
    }
}

/// Each bundle on its eSIM, new ones taken from the stock.
fn issue(
    tx: &mut Tx<'_>,
    (organisation, clock): (&Organisation, Timestamp),
    planned: &[Planned<'_>],
) -> Result<Vec<Assigned>, Error> {
    let mut wanted: HashMap<&str, i64> = HashMap::new();
    for one in planned.iter().filter(|one| one.target.is_none()) {
        *wanted.entry(&one.plan.profile_name).or_default() += one.line.repeat;
    }
    let mut issued = Issued::of::<Error>(tx, organisation, wanted, clock)?;
    let mut assigned = Vec::new();
    for one in planned {
        for _ in 0..one.line.repeat {
            let fresh = || issued.next(&one.plan.profile_name);
            let iccid = one.target.clone().or_else(fresh).ok_or(Error::OutOfStock)?;
            let n = i64::try_from(assigned.len()).unwrap_or(i64::MAX);
            let is_new_esim = one.target.is_none();
            assigned.push(Assigned { item: n, n, iccid, bundle: one.name.clone(), is_new_esim });
        }
    }
    Ok(assigned)
}

fn news(
    planned: &[Planned<'_>],
    assigned: &[Assigned],
    units: &[i64],
    clock: Timestamp,
) -> Vec<New> {
    let lines = planned.iter().flat_map(|one| (0..one.line.repeat).map(move |_| one));
    let new = |((one, assigned), lot): ((&Planned<'_>, &Assigned), &i64)| New {
        assigned: assigned.clone(),
        terms: one.plan.terms,
        lot: Some(*lot),
        // A time in the past means now.
        wanted_at: one.line.start_at.map(|at| at.max(clock)),
    };
    lines.zip(assigned).zip(units).map(new).collect()
}

fn order(
    (organisation, clock): (&Organisation, Timestamp),
    command: &Command,
    (assigned, ids): (&[Assigned], &mut Ids),
    purse: Purse,
) -> Order {
    let is_later = command.is_later();
    Order {
        id: ids.order(),
        org: organisation.id,
        reference: ids.reference(),
        status: if is_later { Status::Processing } else { Status::Completed },
        status_message: if is_later {
            PROCESSING.to_owned()
        } else {
            completed_message(Target::Esims, assigned.len())
        },
        target: Target::Esims,
        total: 0,
        test_credit: 0,
        running_balance: purse.total(),
        source_ip: command.source_ip.clone(),
        created_at: clock,
        finished_at: (!is_later).then_some(clock),
        is_listed: command.is_listed,
    }
}

/// One for each assignment, since each can be asked for by its own reference.
fn items(order: &Order, planned: &[Planned<'_>]) -> Vec<Item> {
    let lines = planned.iter().flat_map(|one| (0..one.line.repeat).map(move |_| one));
    let item = |(one, n): (&Planned<'_>, i64)| Item {
        kind: ItemKind::BundleAssignment,
        item: format!("{}-{n}", order.reference),
        quantity: 0,
        sub_total: 0,
        price_per_unit: 0,
        allow_reassign: one.line.allow_reassign,
    };
    lines.zip(0_i64..).map(item).collect()
}
