//! Organisations: made, listed and changed by the operator.

mod acts;
mod change;
mod own;

use std::collections::HashMap;

use domain::organisation::{Endpoint, Profile, Settings};
use domain::{CallbackUrl, Currency, Mode, OrgId, Organisation, Secret, Timestamp};
use store::epochs::{self, Epoch};
use store::{StoreError, Tx, heads, organisations};

pub use self::own::{Callbacks, Details, OwnChange, OwnError};
use crate::keys::Purpose;
use crate::{Actor, App, Balances};

/// Why an organisation could not be made or changed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such organisation.
    #[error("organisation not found")]
    Unknown,
    /// A field does not fit; named as on the wire.
    #[error("{field} {why}")]
    Field {
        /// Which.
        field: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An organisation with what it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// The organisation.
    pub organisation: Organisation,
    /// Its balances.
    pub balances: Balances,
}

/// What is wanted of the fields that can be set; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct Change {
    pub name: Option<String>,
    pub tax_liable: Option<String>,
    pub addr1: Option<String>,
    pub addr2: Option<String>,
    pub city: Option<String>,
    pub country: Option<String>,
    pub postcode: Option<String>,
    pub notes: Option<String>,
    pub business_type: Option<String>,
    pub website: Option<String>,
    pub product_description: Option<String>,
    pub groups: Option<Vec<String>>,
    /// The empty text takes the URL away.
    pub callback_url: Option<String>,
    pub callback_version: Option<String>,
    pub usage_events: Option<String>,
    /// Percentages; none at all are the usual ones.
    pub usage_steps: Option<Vec<i64>>,
    /// Kinds beside usage.
    pub callback_events: Option<Vec<String>>,
    /// In minor units; zero is the usual one.
    pub low_balance: Option<i64>,
    pub senders: Option<Vec<String>>,
    pub ip_allow_list: Option<Vec<String>>,
    /// Zero takes the limit away.
    pub rate_limit: Option<i64>,
    /// In minor units; zero takes a bound away, here and below.
    pub topup_minimum: Option<i64>,
    pub topup_daily_maximum: Option<i64>,
    pub auto_topup_threshold: Option<i64>,
    pub auto_topup_amount: Option<i64>,
    /// The empty text is the standard list.
    pub price_list: Option<String>,
    /// Zero switches refunds off.
    pub refund_days: Option<i64>,
    pub billing: Option<String>,
}

impl App {
    /// Makes an organisation with its first key, which is its primary one.
    pub async fn add_organisation(
        &self,
        actor: Actor,
        mode: Mode,
        currency: &str,
        change: &Change,
    ) -> Result<(Detail, Secret<String>), Error> {
        self.add_organisation_as(self.org_id(), actor, (mode, currency), change).await
    }

    pub(crate) async fn add_organisation_as(
        &self,
        id: OrgId,
        actor: Actor,
        (mode, currency): (Mode, &str),
        change: &Change,
    ) -> Result<(Detail, Secret<String>), Error> {
        let currency = Currency::parse(currency).map_err(|_| Error::Field {
            field: "currency",
            why: "must be three capital letters such as USD",
        })?;
        let mut organisation = Organisation {
            id,
            known_as: id,
            mode,
            currency,
            profile: Profile::default(),
            settings: Settings::default(),
            endpoint: Endpoint::default(),
            created_at: self.now(),
        };
        change.apply(&mut organisation)?;
        self.check_receiver(&organisation)?;
        if organisation.profile.name.is_empty() {
            return Err(Error::Field { field: "name", why: "must not be empty" });
        }
        let mut key = self.new_key(organisation.id, Purpose::Reseller(mode), "first key");
        key.key.primary_at = Some(key.key.created_at);
        let text = key.text.clone();
        let (act, now) = (self.act(actor, "organisation.add"), self.now());
        let detail = self
            .store()
            .write(OrgId::HOUSE, move |tx| {
                heads::insert(tx, id)?;
                organisations::insert(tx, &organisation)?;
                key.insert(tx)?;
                act.note(tx, Some(id), id, &organisation.profile.name)?;
                detail(tx, id, now)
            })
            .await?;
        Ok((detail, text))
    }

    /// Organisations in the order they were made, after the given one.
    pub async fn organisations(
        &self,
        after: Option<OrgId>,
        most: i64,
    ) -> Result<Vec<Detail>, Error> {
        let (after, now) = (after.unwrap_or(OrgId::HOUSE), self.now());
        self.store()
            .read(move |tx| {
                let page = organisations::page(tx, after, most)?;
                let ids: Vec<_> = page.iter().map(|organisation| organisation.id).collect();
                let heads: HashMap<_, _> = heads::of_orgs(tx, &ids)?.into_iter().collect();
                let detail = |organisation: Organisation| {
                    let head = heads.get(&organisation.id).ok_or(Error::Unknown)?;
                    Ok(with_balances(organisation, head, now))
                };
                page.into_iter().map(detail).collect()
            })
            .await
    }

    /// One organisation.
    pub async fn organisation(&self, id: OrgId) -> Result<Detail, Error> {
        let now = self.now();
        self.store().read(move |tx| detail(tx, id, now)).await
    }

    /// Changes what is named, leaves the rest.
    pub async fn change_organisation(
        &self,
        actor: Actor,
        id: OrgId,
        change: Change,
    ) -> Result<Detail, Error> {
        let (app, act) = (self.clone(), self.act(actor, "organisation.change"));
        let changed = self
            .store()
            .write(OrgId::HOUSE, move |tx| {
                let mut organisation = organisations::find(tx, id)?.ok_or(Error::Unknown)?;
                change.apply(&mut organisation)?;
                if change.callback_url.is_some() {
                    app.check_receiver(&organisation)?;
                    // Whoever says where callbacks go wants them to go there.
                    organisations::switch_on(tx, id)?;
                }
                if organisation.profile.name.is_empty() {
                    return Err(Error::Field { field: "name", why: "must not be empty" });
                }
                organisations::update(tx, &organisation)?;
                epochs::bump(tx, Epoch::Access)?;
                act.note(tx, Some(id), id, &change.named().join(" "))?;
                detail(tx, id, act.at)
            })
            .await?;
        self.forget().await;
        self.consider_topup(id).await?;
        Ok(changed)
    }

    /// Somebody's inside is no place for callbacks, unless the operator says so.
    fn check_receiver(&self, organisation: &Organisation) -> Result<(), Error> {
        let url = organisation.settings.callback_url.as_ref();
        if url.is_some_and(CallbackUrl::is_inside) && !self.ports().options.inside_callbacks {
            let why = "must be on the public network";
            return Err(Error::Field { field: "callbackUrl", why });
        }
        Ok(())
    }

    /// The organisation that is met under an id, which may have taken the place of that one.
    pub async fn organisation_known_as(&self, id: OrgId) -> Result<Option<OrgId>, StoreError> {
        self.store().read(move |tx| organisations::known_as(tx, id)).await
    }

    /// A threshold above the balance charges at once.
    async fn consider_topup(&self, id: OrgId) -> Result<(), Error> {
        let draft = self.auto_draft();
        let considered = self.store().write(id, move |tx| {
            let organisation = organisations::find(tx, id)?.ok_or(Error::Unknown)?;
            Ok::<_, Error>(Self::top_up_if_low(tx, &organisation, &draft)?)
        });
        considered.await?;
        self.work().wake();
        Ok(())
    }
}

/// The organisation of this write, and its own time.
pub(crate) fn own(
    tx: &mut Tx<'_>,
    org: OrgId,
    now: Timestamp,
) -> Result<(Organisation, Timestamp), StoreError> {
    let gone = || StoreError::Corrupt { column: 0, row: org.to_string() };
    let organisation = organisations::find(tx, org)?.ok_or_else(gone)?;
    let clock = tx.head().ok_or_else(gone)?.clock(now);
    Ok((organisation, clock))
}

fn detail(tx: &mut Tx<'_>, id: OrgId, now: Timestamp) -> Result<Detail, Error> {
    let organisation = organisations::find(tx, id)?.ok_or(Error::Unknown)?;
    let head = heads::find(tx, id)?.ok_or(Error::Unknown)?;
    Ok(with_balances(organisation, &head, now))
}

fn with_balances(organisation: Organisation, head: &store::Head, now: Timestamp) -> Detail {
    Detail { balances: Balances::of(head, organisation.currency, now), organisation }
}
