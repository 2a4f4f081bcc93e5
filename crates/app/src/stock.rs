//! The stock of profiles: brought by the operator, line by line, safe to repeat.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use domain::esim::InstallCode;
use domain::stock::{Line, NewProfile, Secrets};
use domain::{Iccid, Mode, OrgId, Secret, limits};
use store::esims::Install;
use store::profiles::{self, NewEsim};
use store::{Sealed, StoreError};

use crate::{Actor, App};

/// What became of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is new stock.
    Added,
    /// There is such a profile already; nothing was changed.
    Known,
    /// It cannot be stock.
    Rejected(&'static str),
}

/// A line of an import, judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Its place in the file.
    pub line: usize,
    /// Its number as written; empty when it is none.
    pub iccid: String,
    /// What became of it.
    pub verdict: Verdict,
}

/// Why no line was looked at.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Too many at once.
    #[error("at most 1000 lines can be imported at once")]
    TooMany,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Adds profiles to the stock, in one transaction.
    pub async fn import_stock(
        &self,
        actor: Actor,
        mode: Mode,
        lines: Vec<(usize, Line)>,
    ) -> Result<Vec<Judged>, Error> {
        if lines.len() > limits::STOCK_LINES_MAX {
            return Err(Error::TooMany);
        }
        let mut seen = HashSet::new();
        let mut judged = Vec::with_capacity(lines.len());
        let mut profiles = Vec::with_capacity(lines.len());
        for (line, fields) in lines {
            let read = fields.clone().read();
            let iccid = read.as_ref().map(|p| p.iccid.to_string()).unwrap_or(fields.iccid);
            let verdict = match read {
                Err(why) => Verdict::Rejected(why),
                Ok(profile) if !seen.insert(profile.iccid.clone()) => {
                    Verdict::Rejected("iccid stands twice")
                }
                Ok(profile) => {
                    profiles.push(self.sealed_profile(profile));
                    Verdict::Known
                }
            };
            judged.push(Judged { line, iccid, verdict });
        }
        let (added, elsewhere) = self.add_stock(actor, mode, profiles).await?;
        for one in judged.iter_mut().filter(|one| one.verdict == Verdict::Known) {
            if added.contains(&one.iccid) {
                one.verdict = Verdict::Added;
            } else if elsewhere.contains(&one.iccid) {
                one.verdict = Verdict::Rejected(match mode {
                    Mode::Live => "iccid is known as a sandbox profile",
                    Mode::Sandbox => "iccid is known as a live profile",
                });
            }
        }
        Ok(judged)
    }

    /// Says which were added, and which exist in the other mode.
    async fn add_stock(
        &self,
        actor: Actor,
        mode: Mode,
        profiles: Vec<NewEsim>,
    ) -> Result<(HashSet<String>, HashSet<String>), StoreError> {
        if profiles.is_empty() {
            return Ok(Default::default());
        }
        let act = self.act(actor, "stock.import");
        self.store()
            .write(OrgId::HOUSE, move |tx| {
                let added = profiles::import(tx, mode, &profiles, act.at)?;
                if !added.is_empty() {
                    act.note(tx, None, mode.name(), &format!("{} profiles", added.len()))?;
                }
                let all: Vec<_> = profiles.iter().map(|profile| profile.iccid.clone()).collect();
                let elsewhere = if added.len() < all.len() {
                    profiles::of_other_mode(tx, mode, &all)?
                } else {
                    Vec::new()
                };
                let texts = |iccids: &[Iccid]| iccids.iter().map(ToString::to_string).collect();
                Ok((texts(&added), texts(&elsewhere)))
            })
            .await
    }

    /// How many profiles are left, by mode and profile.
    pub async fn stock(&self) -> Result<Vec<(Mode, String, i64)>, StoreError> {
        self.store().read(profiles::free).await
    }

    /// Counts the stock now and then, for monitoring, and says when some of it runs low.
    pub async fn watch_stock(self) {
        loop {
            if let Ok(counted) = self.stock().await {
                self.levels().put(counted);
            }
            self.rt().sleep(limits::STOCK_LOOK).await;
        }
    }

    /// The stock as it was last counted; what has run out is there with nothing.
    pub fn stock_levels(&self) -> Vec<(Mode, String, i64)> {
        self.levels().all()
    }

    fn sealed_profile(&self, profile: NewProfile) -> NewEsim {
        let NewProfile { iccid, smdp_address, secrets, msisdn, profile_name } = profile;
        let Secrets { matching_id, pin, puk, imsi } = &secrets;
        let parts = [matching_id, pin, puk, imsi].map(|secret| secret.expose().as_str());
        let owner = owner_of_profile(&iccid);
        let sealed = self.vault().seal(self.rt().random(), &owner, parts.join("\n").as_bytes());
        NewEsim { iccid, smdp_address, sealed, msisdn, profile_name }
    }

    /// What only the owner of a profile may know.
    pub(crate) fn secrets(&self, iccid: &Iccid, sealed: &Sealed) -> Result<Secrets, StoreError> {
        let odd = || StoreError::Corrupt { column: 2, row: iccid.to_string() };
        let text = self.vault().open_text(&owner_of_profile(iccid), sealed).ok_or_else(odd)?;
        let mut parts = text.expose().split('\n').map(|part| Secret::new(part.to_owned()));
        let mut next = || parts.next().ok_or_else(odd);
        Ok(Secrets { matching_id: next()?, pin: next()?, puk: next()?, imsi: next()? })
    }

    /// The codes that install eSIMs.
    pub(crate) fn install_codes(
        &self,
        installs: Vec<Install>,
    ) -> Result<Vec<InstallCode>, StoreError> {
        let open = |install: Install| {
            let Install { iccid, smdp_address, sealed, .. } = install;
            let matching_id = self.secrets(&iccid, &sealed)?.matching_id;
            Ok(InstallCode { iccid, matching_id, smdp_address })
        };
        installs.into_iter().map(open).collect()
    }
}

/// The stock as it was last counted.
#[derive(Default)]
pub(crate) struct Levels(Mutex<Vec<(Mode, String, i64)>>);

impl Levels {
    /// What is not among it has run out.
    fn put(&self, mut counted: Vec<(Mode, String, i64)>) {
        let mut levels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (mode, profile, was) in levels.iter() {
            let found = counted.iter().find(|(m, p, _)| (m, p) == (mode, profile));
            let free = found.map_or(0, |(.., free)| *free);
            if free < limits::STOCK_LOW && *was >= limits::STOCK_LOW {
                low(*mode, profile, free);
            }
            if found.is_none() {
                counted.push((*mode, profile.clone(), 0));
            }
        }
        let known = |mode: &Mode, profile: &String| {
            levels.iter().any(|(m, p, _)| (m, p) == (mode, profile))
        };
        for (mode, profile, free) in &counted {
            if *free < limits::STOCK_LOW && !known(mode, profile) {
                low(*mode, profile, *free);
            }
        }
        *levels = counted;
    }

    fn all(&self) -> Vec<(Mode, String, i64)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn low(mode: Mode, profile: &str, free: i64) {
    let mode = mode.name();
    let text = "the stock of eSIM profiles runs low; bring more with `tern stock import`";
    tracing::warn!(mode, profile, free, "{text}");
}

/// Bound into the seal of a profile's secrets. Not the organisation: the profile changes hands.
fn owner_of_profile(iccid: &Iccid) -> String {
    format!("tern profile v1 {iccid}")
}
