//! eSIMs of an organisation: seen one by one, as a list, with what is on them and what happened to
//! them. What changes them stands in the files beside.

pub mod apply;
pub mod change;
pub mod codes;
pub mod diagnosis;
pub(crate) mod due;
pub mod files;
pub mod found;
mod loaded;
pub(crate) mod network;
pub mod open;
pub mod phone;
pub mod revoke;
pub mod sms;
mod zip;

use domain::assignment::{Assignment, Queue};
use domain::esim::{Entry, Esim, InstallCode};
use domain::filter::{Direction, Page};
use domain::stock::Secrets;
use domain::{Iccid, Organisation, Timestamp};
use store::assignments::{self, Stored};
pub use store::esims::{Filter, SortBy};
use store::{StoreError, Tx, catalogue, heads, history, organisations};

pub(crate) use self::loaded::Loaded;
use crate::{App, Caller};

/// An eSIM with what its owner needs to install and unlock it.
#[derive(Debug, Clone)]
pub struct Detail {
    /// The eSIM.
    pub esim: Esim,
    /// Its installation server.
    pub smdp_address: String,
    /// What only its owner may know.
    pub secrets: Secrets,
}

impl Detail {
    /// How to install it.
    pub fn code(&self) -> InstallCode {
        InstallCode {
            iccid: self.esim.iccid.clone(),
            matching_id: self.secrets.matching_id.clone(),
            smdp_address: self.smdp_address.clone(),
        }
    }
}

/// A bundle on an eSIM as it is now.
#[derive(Debug, Clone)]
pub struct OnEsim {
    /// How it is.
    pub assignment: Assignment,
    /// The bundle and where it came from.
    pub stored: Stored,
    /// What is left of it, in bytes.
    pub remaining: i64,
}

impl App {
    /// A page of the caller's eSIMs, and how many there are.
    pub async fn esims(
        &self,
        caller: &Caller,
        filter: Filter,
        sort: (SortBy, Direction),
        page: Page,
    ) -> Result<(Vec<Esim>, i64), StoreError> {
        let org = caller.org();
        self.store().read(move |tx| store::esims::list(tx, org, &filter, sort, page)).await
    }

    /// One of the caller's eSIMs.
    pub async fn esim(&self, caller: &Caller, iccid: &Iccid) -> Result<Option<Esim>, StoreError> {
        let (org, iccid) = (caller.org(), iccid.clone());
        self.store().read(move |tx| store::esims::find(tx, org, &iccid)).await
    }

    /// The same with everything needed to install it.
    pub async fn esim_detail(
        &self,
        caller: &Caller,
        iccid: &Iccid,
    ) -> Result<Option<Detail>, StoreError> {
        let (org, wanted) = (caller.org(), iccid.clone());
        let found = self.store().read(move |tx| store::esims::detail(tx, org, &wanted)).await?;
        let Some((esim, install)) = found else { return Ok(None) };
        let secrets = self.secrets(&esim.iccid, &install.sealed)?;
        Ok(Some(Detail { esim, smdp_address: install.smdp_address, secrets }))
    }

    /// A number that moves with every write of the caller's organisation: what was read since holds
    /// for as long as it stands. None where it is not known who else writes.
    pub fn stamp(&self, caller: &Caller) -> Option<u64> {
        self.store().stamp(caller.org())
    }

    /// What happened to one of the caller's eSIMs, newest first, and how much that is.
    pub async fn esim_history(
        &self,
        caller: &Caller,
        iccid: &Iccid,
        page: Option<Page>,
    ) -> Result<Option<(Vec<Entry>, i64)>, StoreError> {
        let (org, iccid) = (caller.org(), iccid.clone());
        self.store()
            .read(move |tx| {
                if store::esims::find(tx, org, &iccid)?.is_none() {
                    return Ok(None);
                }
                history::list(tx, org, &iccid, page).map(Some)
            })
            .await
    }

    /// What is and was on one of the caller's eSIMs, newest first, as it is at this moment.
    pub async fn bundles_on(
        &self,
        caller: &Caller,
        iccid: &Iccid,
    ) -> Result<Option<Vec<OnEsim>>, StoreError> {
        let (org, iccid, now) = (caller.org(), iccid.clone(), self.now());
        self.store()
            .read(move |tx| {
                if store::esims::find(tx, org, &iccid)?.is_none() {
                    return Ok(None);
                }
                let clock = heads::find(tx, org)?.map_or(now, |head| head.clock(now));
                let stored = assignments::of_esims(tx, org, std::slice::from_ref(&iccid))?;
                Ok(Some(as_it_is(stored, clock)))
            })
            .await
    }

    /// Whether a bundle fits one of the caller's eSIMs; one that does not exist fits none.
    pub async fn is_compatible(
        &self,
        caller: &Caller,
        iccid: &Iccid,
        bundle: &str,
    ) -> Result<Option<bool>, StoreError> {
        let Some(esim) = self.esim(caller, iccid).await? else { return Ok(None) };
        let catalogue = self.catalogue().await?;
        let fits = catalogue.bundle(bundle).is_some_and(|b| b.profile_name == esim.profile_name);
        Ok(Some(fits))
    }
}

/// Bundles as they are at a moment, newest first. What is due by then has happened, whether or not
/// anybody has looked at them since.
pub(crate) fn as_it_is(stored: Vec<Stored>, clock: Timestamp) -> Vec<OnEsim> {
    let mut queue = Queue::new(stored.iter().map(|one| one.assignment.clone()).collect());
    queue.advance(clock);
    let on = |(assignment, stored): (&Assignment, Stored)| OnEsim {
        assignment: assignment.clone(),
        remaining: assignment.remaining_bytes(clock),
        stored,
    };
    let mut all: Vec<_> = queue.assignments().iter().zip(stored).map(on).collect();
    all.reverse();
    all
}

/// Whether an organisation can buy a bundle of that name.
fn is_sold(
    tx: &mut Tx<'_>,
    organisation: &Organisation,
    name: &domain::BundleName,
) -> Result<bool, StoreError> {
    Ok(catalogue::offer(tx, &organisation.market(), name)?.is_some())
}

/// The organisation that an eSIM belongs to.
async fn owner_of(app: &App, iccid: &Iccid) -> Result<Option<Organisation>, StoreError> {
    let iccid = iccid.clone();
    app.store()
        .read(move |tx| match store::esims::owner(tx, &iccid)? {
            None => Ok(None),
            Some(org) => organisations::find(tx, org),
        })
        .await
}
