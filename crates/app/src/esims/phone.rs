//! The phone of a sandbox organisation: it installs an eSIM, registers, uses data, all by the
//! organisation's own clock.

use domain::esim::{Esim, ProfileStatus};
use domain::{EventId, Iccid, Mode, Msisdn, OrgId, Timestamp, limits};
use store::records::{self, Record};
use store::{StoreError, Tx};

use super::Loaded;
use crate::catalogue::Catalogue;
use crate::ids::Ids;
use crate::organisations::own;
use crate::usage::{Charged, Place, Sums, country_name, progressed};
use crate::{App, Caller};

/// What the phone does.
#[derive(Debug, Clone)]
pub enum Act {
    /// Downloads and installs the eSIM.
    Install,
    /// Removes it.
    Remove,
    /// Registers on a network, which installs it first if needed.
    Attach(Place),
    /// Uses data, which registers first if needed.
    Use(i64),
    /// It is given a number, or loses it.
    Number(Option<Msisdn>),
}

/// Why the phone did nothing.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A live organisation has real phones.
    #[error("only a sandbox organisation has a phone here")]
    Live,
    /// Unknown, or somebody else's.
    #[error("access denied")]
    NotYourEsim,
    /// Dead for good.
    #[error("esim is deactivated")]
    Deactivated,
    /// The network refuses it.
    #[error("esim is suspended")]
    Suspended,
    /// It cannot be installed.
    #[error("esim cannot be installed")]
    Unavailable,
    /// There is no such country.
    #[error("invalid country")]
    Country,
    /// There is no such network there.
    #[error("invalid network")]
    Network,
    /// Not an amount of data.
    #[error("invalid bytes")]
    Bytes,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Who the records of these phones come from.
const SOURCE: &str = "sandbox";

impl App {
    /// Does something with one of the caller's eSIMs.
    pub async fn phone(
        &self,
        caller: &Caller,
        iccid: &Iccid,
        act: Act,
    ) -> Result<(Esim, Charged), Error> {
        if caller.mode() == Mode::Live {
            return Err(Error::Live);
        }
        let catalogue = self.catalogue().await?;
        let act = checked(act, &catalogue)?;
        let (app, org, ids) = (self.clone(), caller.org(), self.ids());
        let iccid = iccid.clone();
        let done = self
            .store()
            .write(org, move |tx| {
                let owned = (org, &iccid);
                app.do_with_phone(tx, owned, (&act, &catalogue), &mut ids.clone())
            })
            .await?;
        self.outgoing().wake();
        Ok(done)
    }

    fn do_with_phone(
        &self,
        tx: &mut Tx<'_>,
        (org, iccid): (OrgId, &Iccid),
        (act, catalogue): (&Act, &Catalogue),
        ids: &mut Ids,
    ) -> Result<(Esim, Charged), Error> {
        let (organisation, clock) = own(tx, org, ids.now)?;
        let mut loaded = Loaded::find(tx, org, iccid)?.ok_or(Error::NotYourEsim)?;
        if loaded.esim.is_deactivated() {
            return Err(Error::Deactivated);
        }
        loaded.advance(clock);
        let mut charged = Charged::default();
        match act {
            Act::Number(msisdn) => loaded.esim.msisdn.clone_from(msisdn),
            Act::Remove => progressed(&mut loaded, ProfileStatus::Released, clock),
            Act::Install => install(&mut loaded, clock)?,
            Act::Attach(place) => {
                on_the_air(&mut loaded, clock)?;
                let there = (place, catalogue);
                self.attached(tx, (&organisation, &mut loaded), there, (clock, ids))?;
            }
            Act::Use(bytes) => {
                on_the_air(&mut loaded, clock)?;
                let place = whereabouts(&loaded, catalogue);
                if loaded.esim.seen.is_none() {
                    let there = (&place, catalogue);
                    let owned = (&organisation, &mut loaded);
                    self.attached(tx, owned, there, (clock, &mut *ids))?;
                }
                let owned = (&organisation, &mut loaded);
                charged = self.rated(tx, owned, (*bytes, clock), (clock, &mut *ids))?;
                let used = (*bytes, charged.overshoot);
                let record = record(iccid, (ids.event(), clock), place, used);
                records::add(tx, org, std::slice::from_ref(&record))?;
                let mut sums = Sums::default();
                sums.add(&record);
                sums.write(tx, org)?;
            }
        }
        let esim = loaded.esim.clone();
        loaded.close(self, tx, Mode::Sandbox, ids)?;
        Ok((esim, charged))
    }
}

fn checked(act: Act, catalogue: &Catalogue) -> Result<Act, Error> {
    match act {
        Act::Use(bytes) if !(1..=limits::RECORD_BYTES_MAX).contains(&bytes) => Err(Error::Bytes),
        Act::Attach(Place { country, network }) => {
            country_name(catalogue, &country).ok_or(Error::Country)?;
            let networks = catalogue.networks_of(&country);
            let known = networks.iter().any(|one| one.tadig == network);
            let network = match network.as_str() {
                "" => networks.first().map(|one| one.tadig.clone()).unwrap_or_default(),
                _ if known => network,
                _ => return Err(Error::Network),
            };
            Ok(Act::Attach(Place { country, network }))
        }
        act => Ok(act),
    }
}

fn install(loaded: &mut Loaded, clock: Timestamp) -> Result<(), Error> {
    if loaded.esim.status == ProfileStatus::Unavailable {
        return Err(Error::Unavailable);
    }
    progressed(loaded, ProfileStatus::Downloaded, clock);
    progressed(loaded, ProfileStatus::Installed, clock);
    Ok(())
}

/// Installed, and let onto the network.
fn on_the_air(loaded: &mut Loaded, clock: Timestamp) -> Result<(), Error> {
    if loaded.esim.suspended_by.is_some() {
        return Err(Error::Suspended);
    }
    install(loaded, clock)
}

/// Where it is: where it was last seen, or else somewhere its bundle works.
fn whereabouts(loaded: &Loaded, catalogue: &Catalogue) -> Place {
    if let Some(seen) = &loaded.esim.seen {
        return Place { country: seen.country.clone(), network: seen.network.clone() };
    }
    let names = loaded.bundles().iter().rev().map(|one| one.bundle.as_str());
    let works = names.filter_map(|name| catalogue.bundle(name));
    let countries = works.flat_map(|bundle| bundle.roaming.iter().chain(&bundle.countries));
    let mut known = countries.filter(|iso| catalogue.country(iso).is_some());
    let country = known.next().cloned().unwrap_or_default();
    let network = catalogue.networks_of(&country).first().map(|one| one.tadig.clone());
    Place { country, network: network.unwrap_or_default() }
}

fn record(
    iccid: &Iccid,
    (id, at): (EventId, Timestamp),
    Place { country, network }: Place,
    (bytes, overshoot): (i64, i64),
) -> Record {
    Record {
        source: SOURCE.to_owned(),
        id: id.to_string(),
        iccid: iccid.clone(),
        kind: "use",
        at,
        arrived_at: id.made_at(),
        bytes,
        overshoot,
        country,
        network,
    }
}
