//! What an owner does to an eSIM: a note on it, a fresh registration, suspending, giving it up.

use domain::esim::{EntryKind, ProfileStatus, SuspendedBy};
use domain::event::Event;
use domain::{Iccid, Mode, OrgId, Organisation, Timestamp, limits};
use store::{StoreError, Tx, esims};

use super::{Loaded, owner_of};
use crate::idempotency::{self, Request};
use crate::ids::Ids;
use crate::jobs::{NETWORK, REFRESH};
use crate::orders::Intent;
use crate::organisations::own;
use crate::{Actor, Answer, App, Caller};

/// What is to be done.
#[derive(Debug, Clone)]
pub enum Change {
    /// Another note on it.
    CustomerRef(String),
    /// Make the network forget where it is.
    Refresh,
    /// Suspend it.
    Suspend,
    /// Lift that.
    Resume,
    /// Give it up for good.
    Delete,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The note is on it.
    Updated,
    /// It registers again.
    Refreshed,
    /// It is suspended.
    Suspended,
    /// It is not suspended any more.
    Resumed,
    /// It is gone.
    Deleted,
    /// Unknown, or somebody else's.
    NotYourEsim,
    /// Dead for good.
    Deactivated,
    /// The note is too long.
    TooLong,
    /// It was suspended before.
    AlreadySuspended,
    /// It was not suspended.
    NotSuspended,
    /// The suspension is not the owner's.
    Locked,
}

/// Why there is no outcome.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no network to tell.
    #[error("service unavailable")]
    NetworkAway,
    /// Its key.
    #[error(transparent)]
    Key(#[from] idempotency::Error),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why the operator's word was not taken.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    /// No organisation has such an eSIM.
    #[error("esim not found")]
    Unknown,
    /// A reason is missing or too long.
    #[error("reason must have 1 to 1000 characters")]
    Reason,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// What the operator decides about somebody's eSIM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Policy {
    /// Suspended, and the owner cannot lift it.
    Suspend,
    /// That is lifted.
    Resume,
    /// Dead for good.
    Deactivate,
}

impl App {
    /// Changes one of the caller's eSIMs.
    pub async fn change_esim(
        &self,
        caller: &Caller,
        (iccid, change): (Iccid, Change),
        request: &Request,
    ) -> Result<Answer, Error> {
        let (app, org, ids) = (self.clone(), caller.org(), self.ids());
        let write =
            move |tx: &mut Tx<'_>| app.changed(tx, org, (&iccid, &change), &mut ids.clone());
        let answer = self
            .once(org, request, write, |answers, form, outcome| answers.change(form, *outcome))
            .await?;
        if self.network(caller.mode()).is_some() {
            self.work().wake();
        }
        Ok(answer)
    }

    fn changed(
        &self,
        tx: &mut Tx<'_>,
        org: OrgId,
        (iccid, change): (&Iccid, &Change),
        ids: &mut Ids,
    ) -> Result<Outcome, Error> {
        let (organisation, clock) = own(tx, org, ids.now)?;
        if matches!(change, Change::CustomerRef(text)
            if text.chars().count() > limits::CUSTOMER_REF_CHARS_MAX)
        {
            return Ok(Outcome::TooLong);
        }
        let found = match change {
            Change::Delete => self.ready(tx, (org, iccid), Intent::Transaction, ids)?,
            _ => Loaded::find(tx, org, iccid)?,
        };
        let Some(mut loaded) = found else { return Ok(Outcome::NotYourEsim) };
        loaded.advance(clock);
        let dead = loaded.esim.is_deactivated();
        let outcome = match (change, loaded.esim.suspended_by) {
            (Change::CustomerRef(text), _) => {
                loaded.esim.customer_ref.clone_from(text);
                loaded.note(clock, EntryKind::Updated);
                Outcome::Updated
            }
            (Change::Delete, _) => {
                self.let_go(tx, (loaded, &organisation), clock, ids)?;
                return Ok(Outcome::Deleted);
            }
            _ if dead => return Ok(Outcome::Deactivated),
            (Change::Refresh, _) => {
                self.forget_location(tx, (iccid, organisation.mode), clock, ids)?;
                loaded.note(clock, EntryKind::Refreshed);
                Outcome::Refreshed
            }
            (Change::Suspend, Some(_)) => return Ok(Outcome::AlreadySuspended),
            (Change::Suspend, None) => {
                loaded.esim.suspended_by = Some(SuspendedBy::Owner);
                Outcome::Suspended
            }
            (Change::Resume, None) => return Ok(Outcome::NotSuspended),
            (Change::Resume, Some(SuspendedBy::Policy | SuspendedBy::Both)) => {
                return Ok(Outcome::Locked);
            }
            (Change::Resume, Some(SuspendedBy::Owner)) => {
                loaded.esim.suspended_by = None;
                Outcome::Resumed
            }
        };
        loaded.close(self, tx, organisation.mode, ids)?;
        Ok(outcome)
    }

    /// The built-in network of the sandbox forgets at once; one outside hears of it by a job.
    fn forget_location(
        &self,
        tx: &mut Tx<'_>,
        (iccid, mode): (&Iccid, Mode),
        clock: Timestamp,
        ids: &mut Ids,
    ) -> Result<(), Error> {
        match (mode, self.network(mode)) {
            (Mode::Sandbox, _) => Ok(()),
            (Mode::Live, None) => Err(Error::NetworkAway),
            (Mode::Live, Some(_)) => {
                let work = (REFRESH, iccid.as_str());
                Ok(App::add_job(tx, ids.job(), work, clock, ids.now)?)
            }
        }
    }

    /// It leaves its organisation for good, with everything on it.
    pub(super) fn let_go(
        &self,
        tx: &mut Tx<'_>,
        (mut loaded, organisation): (Loaded, &Organisation),
        clock: Timestamp,
        ids: &mut Ids,
    ) -> Result<(), StoreError> {
        let open: Vec<_> =
            loaded.queue.assignments().iter().filter(|one| !one.state.is_finished()).collect();
        let open: Vec<_> = open.into_iter().map(|one| one.id).collect();
        // From the last to the first, so that none starts because the one before it ended.
        for id in open.into_iter().rev() {
            let steps = loaded.queue.revoke(id, clock);
            loaded.happened(&steps);
        }
        loaded.save(tx)?;
        let iccid = loaded.esim.iccid.clone();
        esims::leave(tx, &iccid)?;
        let event = Event::Deleted { iccid: iccid.clone(), at: clock };
        self.tell(tx, organisation, (ids.event(), clock), &event)?;
        if self.network(organisation.mode).is_some() {
            App::add_job(tx, ids.job(), (NETWORK, iccid.as_str()), clock, ids.now)?;
        }
        Ok(())
    }

    /// The operator suspends somebody's eSIM, lifts that, or ends it for good. Says in which state
    /// it is then; asking for what is so already changes nothing.
    pub async fn police_esim(
        &self,
        actor: Actor,
        iccid: &Iccid,
        policy: Policy,
        reason: &str,
    ) -> Result<&'static str, OperatorError> {
        if !(1..=limits::TEXT_CHARS_MAX).contains(&reason.chars().count()) {
            return Err(OperatorError::Reason);
        }
        let organisation = owner_of(self, iccid).await?.ok_or(OperatorError::Unknown)?;
        let act = self.act(
            actor,
            match policy {
                Policy::Suspend => "esim.suspend",
                Policy::Resume => "esim.resume",
                Policy::Deactivate => "esim.deactivate",
            },
        );
        let (app, ids, iccid) = (self.clone(), self.ids(), iccid.clone());
        let reason = reason.to_owned();
        let state = self
            .store()
            .write(organisation.id, move |tx| {
                let (org, mut ids) = (organisation.id, ids);
                let (_, clock) = own(tx, org, ids.now)?;
                let mut loaded = Loaded::find(tx, org, &iccid)?.ok_or(OperatorError::Unknown)?;
                loaded.advance(clock);
                let by = &mut loaded.esim.suspended_by;
                match policy {
                    Policy::Suspend => *by = Some(by.map_or(SuspendedBy::Policy, with_policy)),
                    Policy::Resume => *by = by.and_then(without_policy),
                    Policy::Deactivate => loaded.esim.status = ProfileStatus::Deactivated,
                }
                let state = loaded.esim.state();
                loaded.close(&app, tx, organisation.mode, &mut ids)?;
                act.note(tx, Some(org), &iccid, &reason)?;
                Ok::<_, OperatorError>(state)
            })
            .await?;
        self.work().wake();
        Ok(state)
    }
}

/// The owner's own suspension stays beside the operator's.
fn with_policy(by: SuspendedBy) -> SuspendedBy {
    match by {
        SuspendedBy::Owner | SuspendedBy::Both => SuspendedBy::Both,
        SuspendedBy::Policy => SuspendedBy::Policy,
    }
}

/// And outlasts it.
fn without_policy(by: SuspendedBy) -> Option<SuspendedBy> {
    match by {
        SuspendedBy::Owner | SuspendedBy::Both => Some(SuspendedBy::Owner),
        SuspendedBy::Policy => None,
    }
}
