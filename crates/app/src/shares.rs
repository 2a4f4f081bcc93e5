//! Links for travellers: whoever has one sees how to install an eSIM and what is left on it. Made
//! and revoked by the eSIM's owner, by the real clock.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::esim::{InstallCode, ProfileStatus};
use domain::{Iccid, OrgId, Secret, ShareId, Timestamp, limits};
pub use store::shares::Share;
use store::{Sealed, StoreError, Tx, assignments, esims, heads, organisations, shares};

use crate::esims::{OnEsim, as_it_is};
use crate::{Actor, App};

/// A link with its text.
#[derive(Debug, Clone)]
pub struct Shared {
    /// The link.
    pub share: Share,
    /// What stands at its end.
    pub token: Secret<String>,
}

/// What a traveller sees.
#[derive(Debug, Clone)]
pub struct SharedEsim {
    /// Whose customer the traveller is.
    pub organisation: String,
    /// The eSIM.
    pub iccid: Iccid,
    /// What its installation server says of it.
    pub status: ProfileStatus,
    /// Whether it can be used, in one word.
    pub state: &'static str,
    /// How to install it.
    pub code: InstallCode,
    /// What is and was on it, newest first, as it is now.
    pub bundles: Vec<OnEsim>,
    /// Now, by the organisation's clock, which the times of bundles are told by.
    pub clock: Timestamp,
    /// When the link ends, by the real clock.
    pub expires_at: Timestamp,
}

/// Why a link was not made or revoked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Unknown, or somebody else's.
    #[error("access denied")]
    NotYourEsim,
    /// A link cannot last so long.
    #[error("days must be from 1 to 365")]
    Days,
    /// There are as many as there may be.
    #[error("too many links to this eSIM; revoke one first")]
    TooMany,
    /// There is no such link.
    #[error("link not found")]
    Unknown,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl App {
    /// Makes a link to one of an organisation's eSIMs that lasts so many days.
    pub async fn share(
        &self,
        actor: Actor,
        org: OrgId,
        iccid: &Iccid,
        days: i64,
    ) -> Result<Shared, Error> {
        if !(1..=limits::SHARE_DAYS_MAX).contains(&days) {
            return Err(Error::Days);
        }
        let act = self.act(actor, "share.make");
        let token = Secret::new(URL_SAFE_NO_PAD.encode(self.rt().random::<24>()));
        let share = Share {
            id: ShareId::new(act.at, self.rt().random()),
            org,
            iccid: iccid.clone(),
            created_at: act.at,
            expires_at: act.at.plus_days(days),
        };
        let made = Shared { share: share.clone(), token: token.clone() };
        let digest = self.share_digest(token.expose());
        let sealed = self.vault().seal(
            self.rt().random(),
            &owner_of_share(org, share.id),
            token.expose().as_bytes(),
        );
        self.store()
            .write(org, move |tx| {
                let Share { id, iccid, .. } = &share;
                own(tx, org, iccid)?;
                shares::remove_expired(tx, org, iccid, act.at)?;
                let there = shares::of_esim(tx, org, iccid)?.len();
                if there >= limits::SHARES_PER_ESIM_MAX {
                    return Err(Error::TooMany);
                }
                shares::insert(tx, &share, &digest, &sealed)?;
                act.note(tx, Some(org), id, &format!("{iccid} {days} days"))?;
                Ok(())
            })
            .await?;
        Ok(made)
    }

    /// The links to an eSIM that work, newest first.
    pub async fn shares(&self, org: OrgId, iccid: &Iccid) -> Result<Vec<Shared>, Error> {
        let (wanted, now) = (iccid.clone(), self.now());
        let found = self
            .store()
            .read(move |tx| {
                own(tx, org, &wanted)?;
                Ok::<_, Error>(shares::of_esim(tx, org, &wanted)?)
            })
            .await?;
        let works = |(share, _): &(Share, Sealed)| share.expires_at > now;
        let open = |(share, sealed): (Share, Sealed)| {
            let odd = || StoreError::Corrupt { column: 5, row: share.id.to_string() };
            let token = self.vault().open_text(&owner_of_share(org, share.id), &sealed);
            Ok(Shared { token: token.ok_or_else(odd)?, share })
        };
        found.into_iter().filter(works).map(open).collect()
    }

    /// Takes a link away.
    pub async fn revoke_share(&self, actor: Actor, org: OrgId, id: ShareId) -> Result<(), Error> {
        let act = self.act(actor, "share.revoke");
        self.store()
            .write(org, move |tx| {
                let share = shares::find(tx, org, id)?.ok_or(Error::Unknown)?;
                shares::remove(tx, org, id)?;
                act.note(tx, Some(org), id, share.iccid.as_str())?;
                Ok(())
            })
            .await
    }

    /// What a link leads to. One that has ended, was revoked or never was, and one to an eSIM that
    /// has left the organisation, lead nowhere and look alike.
    pub async fn shared(&self, token: &str) -> Result<Option<SharedEsim>, StoreError> {
        if token.len() != TOKEN_CHARS {
            return Ok(None);
        }
        let (app, digest, now) = (self.clone(), self.share_digest(token), self.now());
        self.store()
            .read(move |tx| {
                let share = shares::by_digest(tx, &digest)?.filter(|one| one.expires_at > now);
                match share {
                    Some(share) => app.led_to(tx, &share, now),
                    None => Ok(None),
                }
            })
            .await
    }

    fn led_to(
        &self,
        tx: &mut Tx<'_>,
        share: &Share,
        now: Timestamp,
    ) -> Result<Option<SharedEsim>, StoreError> {
        let org = share.org;
        let Some(organisation) = organisations::find(tx, org)? else { return Ok(None) };
        // A sandbox that has started afresh has none of its eSIMs any more.
        if organisations::known_as(tx, organisation.known_as)? != Some(org) {
            return Ok(None);
        }
        let Some((esim, install)) = esims::detail(tx, org, &share.iccid)? else { return Ok(None) };
        let clock = heads::find(tx, org)?.map_or(now, |head| head.clock(now));
        let stored = assignments::of_esims(tx, org, std::slice::from_ref(&esim.iccid))?;
        let secrets = self.secrets(&esim.iccid, &install.sealed)?;
        Ok(Some(SharedEsim {
            organisation: organisation.profile.name,
            iccid: esim.iccid.clone(),
            status: esim.status,
            state: esim.state(),
            code: InstallCode {
                iccid: esim.iccid,
                matching_id: secrets.matching_id,
                smdp_address: install.smdp_address,
            },
            bundles: as_it_is(stored, clock),
            clock,
            expires_at: share.expires_at,
        }))
    }

    fn share_digest(&self, token: &str) -> [u8; 32] {
        self.vault().digest(&format!("share {token}"))
    }
}

/// 24 random bytes in base64.
const TOKEN_CHARS: usize = 32;

fn own(tx: &mut Tx<'_>, org: OrgId, iccid: &Iccid) -> Result<(), Error> {
    esims::find(tx, org, iccid)?.map(drop).ok_or(Error::NotYourEsim)
}

/// Bound into the seal of a link.
fn owner_of_share(org: OrgId, id: ShareId) -> String {
    format!("tern share v1 {org} {id}")
}
