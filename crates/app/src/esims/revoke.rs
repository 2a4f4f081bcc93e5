//! Taking a bundle off an eSIM, and giving back what can be given back.

use domain::assignment::{Assignment, State};
use domain::esim::EntryKind;
use domain::inventory::{Lot, Move};
use domain::{Iccid, OrgId, Organisation, Timestamp};
use store::assignments::Stored;
use store::lots::{self, Cause};
use store::{StoreError, Tx, heads, orders, organisations};

use super::Loaded;
use crate::idempotency::{self, Request};
use crate::ids::Ids;
use crate::orders::Intent;
use crate::organisations::own;
use crate::{Answer, App, Caller};

/// What is wanted.
#[derive(Debug, Clone)]
pub struct Command {
    /// From which eSIM.
    pub iccid: Iccid,
    /// Which bundle.
    pub bundle: String,
    /// Which assignment of it; none = the oldest unused one, or else the one in use.
    pub id: Option<i64>,
    /// To check it or to do it.
    pub intent: Intent,
    /// Whether money is wanted instead of the bundle.
    pub to_balance: bool,
    /// The address it came from.
    pub source_ip: String,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The bundle is back in the inventory.
    ToInventory,
    /// Its price is back on the balance.
    ToBalance,
    /// It is gone.
    Nothing,
    /// Unknown, or somebody else's eSIM.
    NotYourEsim,
    /// There is nothing of that name or number to take off.
    UnknownAssignment,
}

/// What taking a bundle off would give back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GivesBack {
    /// Which assignment.
    pub id: i64,
    /// Whether the bundle would go back to the inventory; nothing comes back otherwise.
    pub bundle: bool,
    /// What it would give instead, as money, in minor units; none where it cost nothing.
    pub money: Option<i64>,
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

impl App {
    /// Takes a bundle off one of the caller's eSIMs, or says what that would give back.
    pub async fn revoke(
        &self,
        caller: &Caller,
        command: Command,
        request: &Request,
    ) -> Result<Answer, Error> {
        let (app, org, ids) = (self.clone(), caller.org(), self.ids());
        let write = move |tx: &mut Tx<'_>| -> Result<_, Error> {
            Ok(app.take_off(tx, org, &command, &mut ids.clone())?)
        };
        self.once(org, request, write, |answers, form, outcome| answers.revoke(form, *outcome))
            .await
    }

    /// What would come back of each bundle on one of the caller's eSIMs that is not over. Changes
    /// nothing.
    pub async fn gives_back(
        &self,
        caller: &Caller,
        iccid: &Iccid,
    ) -> Result<Vec<GivesBack>, StoreError> {
        let (org, iccid, now) = (caller.org(), iccid.clone(), self.now());
        self.store()
            .read(move |tx| {
                let Some(organisation) = organisations::find(tx, org)? else { return Ok(vec![]) };
                let Some(mut loaded) = Loaded::find(tx, org, &iccid)? else { return Ok(vec![]) };
                let clock = heads::find(tx, org)?.map_or(now, |head| head.clock(now));
                loaded.advance(clock);
                let open: Vec<_> = loaded.queue.assignments().to_vec();
                let mut gives = Vec::new();
                for one in open.iter().filter(|one| !one.state.is_finished()) {
                    let Some(stored) = loaded.stored(one.id) else { continue };
                    let lot = given_back_to(tx, (&organisation, clock), (one, stored))?;
                    let paid = lot.as_ref().filter(|lot| !lot.cost_nothing());
                    let money = paid.map(|lot| lot.refund(1).amount);
                    gives.push(GivesBack { id: one.id, bundle: lot.is_some(), money });
                }
                Ok(gives)
            })
            .await
    }

    fn take_off(
        &self,
        tx: &mut Tx<'_>,
        org: OrgId,
        command: &Command,
        ids: &mut Ids,
    ) -> Result<Outcome, StoreError> {
        let (organisation, clock) = own(tx, org, ids.now)?;
        let Some(mut loaded) = self.ready(tx, (org, &command.iccid), command.intent, ids)? else {
            return Ok(Outcome::NotYourEsim);
        };
        loaded.advance(clock);
        let Some((one, stored)) = chosen(&loaded, command) else {
            return Ok(Outcome::UnknownAssignment);
        };
        let lot = given_back_to(tx, (&organisation, clock), (&one, &stored))?;
        let outcome = match &lot {
            None => Outcome::Nothing,
            // What cost nothing is worth nothing as money; the bundle is worth more.
            Some(lot) if command.to_balance && !lot.cost_nothing() => Outcome::ToBalance,
            Some(_) => Outcome::ToInventory,
        };
        if command.intent == Intent::Validate {
            return Ok(outcome);
        }
        let reference = stored.own_reference();
        let steps = loaded.queue.revoke(one.id, clock);
        loaded.happened(&steps);
        let came_back = match outcome {
            Outcome::ToInventory => Some(EntryKind::RefundedToInventory),
            Outcome::ToBalance => Some(EntryKind::RefundedToBalance),
            _ => None,
        };
        if let Some(kind) = came_back {
            loaded.note_bundle(clock, kind, (one.id, State::Revoked), None);
        }
        if let Some(lot) = lot {
            let owned = (&organisation, clock);
            self.give_back_unit(tx, owned, (&lot, &reference, outcome), (command, ids))?;
        }
        loaded.close(self, tx, organisation.mode, ids)?;
        Ok(outcome)
    }

    /// An eSIM on which nothing is being processed: what is, is finished first, since only then it
    /// is known what it came from. To look only, it is taken as it is.
    pub(super) fn ready(
        &self,
        tx: &mut Tx<'_>,
        (org, iccid): (OrgId, &Iccid),
        intent: Intent,
        ids: &mut Ids,
    ) -> Result<Option<Loaded>, StoreError> {
        let Some(loaded) = Loaded::find(tx, org, iccid)? else { return Ok(None) };
        let processed =
            loaded.bundles().iter().filter(|one| one.assignment.state == State::Processing);
        let mut references: Vec<_> = processed.map(|one| one.reference.clone()).collect();
        references.dedup();
        if references.is_empty() || intent == Intent::Validate {
            return Ok(Some(loaded));
        }
        for reference in references {
            if let Some(order) = orders::find(tx, org, &reference)? {
                self.finish_order(tx, order.id, ids)?;
            }
        }
        Loaded::find(tx, org, iccid)
    }

    fn give_back_unit(
        &self,
        tx: &mut Tx<'_>,
        (organisation, clock): (&Organisation, Timestamp),
        (lot, reference, outcome): (&Lot, &str, Outcome),
        (command, ids): (&Command, &mut Ids),
    ) -> Result<(), StoreError> {
        let cause = Cause { kind: Move::Returned, reference, at: clock };
        App::return_units(tx, (organisation.id, lot.id), 1, (cause, ids))?;
        if outcome == Outcome::ToBalance {
            let owned = (organisation, clock);
            self.pay_back(tx, owned, (lot, 1), (&command.source_ip, ids))?;
        }
        Ok(())
    }
}

/// The lot that a bundle goes back to when it is taken off; none where it is lost.
fn given_back_to(
    tx: &mut Tx<'_>,
    (organisation, clock): (&Organisation, Timestamp),
    (one, stored): (&Assignment, &Stored),
) -> Result<Option<Lot>, StoreError> {
    let lot = match stored.lot {
        _ if one.started_at.is_some() => None,
        Some(lot) => lots::find(tx, organisation.id, lot)?,
        None => lot_to_come(tx, organisation.id, stored)?,
    };
    Ok(lot.filter(|lot| lot.is_refundable(organisation.settings.refund_days, clock)))
}

/// The lot of a bundle whose order is still worked on, as it is going to be.
fn lot_to_come(tx: &mut Tx<'_>, org: OrgId, stored: &Stored) -> Result<Option<Lot>, StoreError> {
    let Some(order) = orders::find(tx, org, &stored.reference)? else { return Ok(None) };
    let place = usize::try_from(stored.item).unwrap_or(usize::MAX);
    let item = orders::items(tx, order.id)?.into_iter().nth(place);
    Ok(item.map(|item| {
        let paid = (item.price_per_unit, 0);
        Lot::new(stored.bundle.clone(), item.quantity, paid, order.created_at)
    }))
}

/// The assignment that is meant.
fn chosen(loaded: &Loaded, command: &Command) -> Option<(Assignment, Stored)> {
    let of_name = |one: &&Assignment| {
        let stored = loaded.stored(one.id);
        stored.is_some_and(|stored| stored.bundle.as_str() == command.bundle)
            && !one.state.is_finished()
    };
    let mut all = loaded.queue.assignments().iter().filter(of_name);
    let one = if let Some(id) = command.id {
        all.find(|one| one.id == id)
    } else {
        let (unused, used): (Vec<_>, Vec<_>) = all.partition(|one| one.started_at.is_none());
        unused.into_iter().next().or_else(|| used.into_iter().next_back())
    }?;
    Some((one.clone(), loaded.stored(one.id)?.clone()))
}
