//! Organisations: made, listed and changed by the operator.

use std::collections::HashMap;

use domain::CallbackUrl;
use domain::organisation::{
    Billing, CallbackVersion, Profile, Settings, TopupSettings, UsageEvents,
};
use domain::{Currency, Mode, OrgId, Organisation, Secret, Timestamp, limits};
use store::epochs::{self, Epoch};
use store::{StoreError, Tx, heads, organisations};

use crate::keys::Purpose;
use crate::{Actor, App, Balances, access};

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
            mode,
            currency,
            profile: Profile::default(),
            settings: Settings::default(),
            created_at: self.now(),
        };
        change.apply(&mut organisation)?;
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
                // Every organisation has a head, and only the house has one without being one.
                let heads: HashMap<_, _> = heads::page(tx, after, most)?.into_iter().collect();
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
        let act = self.act(actor, "organisation.change");
        let changed = self
            .store()
            .write(OrgId::HOUSE, move |tx| {
                let mut organisation = organisations::find(tx, id)?.ok_or(Error::Unknown)?;
                change.apply(&mut organisation)?;
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

impl Change {
    /// Every text field with its name on the wire.
    fn texts(&self) -> [(&'static str, &Option<String>); 11] {
        [
            ("name", &self.name),
            ("taxLiable", &self.tax_liable),
            ("addr1", &self.addr1),
            ("addr2", &self.addr2),
            ("city", &self.city),
            ("country", &self.country),
            ("postcode", &self.postcode),
            ("notes", &self.notes),
            ("businessType", &self.business_type),
            ("website", &self.website),
            ("productDescription", &self.product_description),
        ]
    }

    /// The names of the fields that are to change, for the audit log.
    fn named(&self) -> Vec<&'static str> {
        let texts = self.texts().into_iter().filter(|(_, text)| text.is_some()).map(|(n, _)| n);
        let others = [
            ("groups", self.groups.is_some()),
            ("callbackUrl", self.callback_url.is_some()),
            ("callbackVersion", self.callback_version.is_some()),
            ("usageEvents", self.usage_events.is_some()),
            ("senders", self.senders.is_some()),
            ("ipAllowList", self.ip_allow_list.is_some()),
            ("rateLimit", self.rate_limit.is_some()),
            ("topupMinimum", self.topup_minimum.is_some()),
            ("topupDailyMaximum", self.topup_daily_maximum.is_some()),
            ("autoTopupThreshold", self.auto_topup_threshold.is_some()),
            ("autoTopupAmount", self.auto_topup_amount.is_some()),
            ("priceList", self.price_list.is_some()),
            ("refundDays", self.refund_days.is_some()),
            ("billing", self.billing.is_some()),
        ];
        texts.chain(others.into_iter().filter(|(_, set)| *set).map(|(name, _)| name)).collect()
    }

    fn apply(&self, organisation: &mut Organisation) -> Result<(), Error> {
        for (field, text) in self.texts() {
            let long = |text: &String| text.chars().count() > limits::TEXT_CHARS_MAX;
            if text.as_ref().is_some_and(long) {
                return Err(Error::Field { field, why: "must be at most 1000 characters" });
            }
        }
        self.apply_profile(&mut organisation.profile);
        self.apply_settings(&mut organisation.settings)
    }

    fn apply_profile(&self, profile: &mut Profile) {
        let set = |field: &mut String, wanted: &Option<String>| {
            if let Some(text) = wanted {
                field.clone_from(text);
            }
        };
        set(&mut profile.name, &self.name);
        set(&mut profile.tax_liable, &self.tax_liable);
        set(&mut profile.addr1, &self.addr1);
        set(&mut profile.addr2, &self.addr2);
        set(&mut profile.city, &self.city);
        set(&mut profile.country, &self.country);
        set(&mut profile.postcode, &self.postcode);
        set(&mut profile.notes, &self.notes);
        set(&mut profile.business_type, &self.business_type);
        set(&mut profile.website, &self.website);
        set(&mut profile.product_description, &self.product_description);
    }

    fn apply_settings(&self, settings: &mut Settings) -> Result<(), Error> {
        if let Some(groups) = &self.groups {
            settings.groups = lines("groups", groups)?;
        }
        if let Some(url) = &self.callback_url {
            settings.callback_url = parsed_url(url)?;
        }
        if let Some(version) = &self.callback_version {
            settings.callback_version = match version.as_str() {
                "V2" => CallbackVersion::V2,
                "V3" => CallbackVersion::V3,
                _ => {
                    return Err(Error::Field { field: "callbackVersion", why: "must be V2 or V3" });
                }
            };
        }
        if let Some(events) = &self.usage_events {
            settings.usage_events = match events.as_str() {
                "every" => UsageEvents::Every,
                "steps" => UsageEvents::Steps,
                _ => {
                    return Err(Error::Field {
                        field: "usageEvents",
                        why: "must be every or steps",
                    });
                }
            };
        }
        if let Some(senders) = &self.senders {
            settings.senders = lines("senders", senders)?;
        }
        if let Some(networks) = &self.ip_allow_list {
            settings.ip_allow_list = lines("ipAllowList", networks)?
                .iter()
                .map(|text| network(text))
                .collect::<Result<_, _>>()?;
        }
        if let Some(limit) = self.rate_limit {
            settings.rate_limit = rate_limit(limit)?;
        }
        self.apply_sales(settings)?;
        self.apply_topup(&mut settings.topup)
    }

    /// What it pays, how, and how long it may change its mind.
    fn apply_sales(&self, settings: &mut Settings) -> Result<(), Error> {
        if let Some(list) = &self.price_list {
            let long = list.chars().count() > limits::TEXT_CHARS_MAX;
            if long || list.contains(char::is_control) {
                let why = "must be one line of at most 1000 characters";
                return Err(Error::Field { field: "priceList", why });
            }
            settings.price_list.clone_from(list);
        }
        if let Some(days) = self.refund_days {
            if !(0..=limits::REFUND_DAYS_MAX).contains(&days) {
                return Err(Error::Field { field: "refundDays", why: "must be 0 to 365" });
            }
            settings.refund_days = days;
        }
        if let Some(billing) = &self.billing {
            let why = "must be prepaid or consumption";
            let odd = Error::Field { field: "billing", why };
            settings.billing = Billing::parse(billing).ok_or(odd)?;
        }
        Ok(())
    }

    fn apply_topup(&self, topup: &mut TopupSettings) -> Result<(), Error> {
        let wanted = [
            ("topupMinimum", self.topup_minimum, &mut topup.minimum),
            ("topupDailyMaximum", self.topup_daily_maximum, &mut topup.daily_maximum),
            ("autoTopupThreshold", self.auto_topup_threshold, &mut topup.auto_threshold),
            ("autoTopupAmount", self.auto_topup_amount, &mut topup.auto_amount),
        ];
        for (field, wanted, place) in wanted {
            match wanted {
                None => {}
                Some(0) => *place = None,
                Some(amount) if (1..=limits::AMOUNT_MAX).contains(&amount) => *place = Some(amount),
                Some(_) => {
                    let why = "must be a positive whole number of minor units, or 0 or null";
                    return Err(Error::Field { field, why });
                }
            }
        }
        if topup.auto_threshold.is_some() != topup.auto_amount.is_some() {
            let why = "and autoTopupAmount are set together";
            return Err(Error::Field { field: "autoTopupThreshold", why });
        }
        Ok(())
    }
}

fn parsed_url(text: &str) -> Result<Option<CallbackUrl>, Error> {
    if text.is_empty() {
        return Ok(None);
    }
    let why = "must be an http or https URL that names a host and carries no user name";
    CallbackUrl::parse(text).map(Some).map_err(|_| Error::Field { field: "callbackUrl", why })
}

/// Short texts of one line each.
fn lines(field: &'static str, texts: &[String]) -> Result<Vec<String>, Error> {
    let odd = |text: &String| {
        let length = text.chars().count();
        !(1..=limits::TEXT_CHARS_MAX).contains(&length) || text.contains(char::is_control)
    };
    if texts.len() > limits::SETTINGS_LIST_MAX || texts.iter().any(odd) {
        let why = "must be at most 100 texts of 1 to 1000 characters";
        return Err(Error::Field { field, why });
    }
    Ok(texts.to_vec())
}

/// Networks are kept in one spelling.
fn network(text: &str) -> Result<String, Error> {
    let why = "must hold addresses or networks such as 192.0.2.7 or 192.0.2.0/24";
    let network = access::network(text).ok_or(Error::Field { field: "ipAllowList", why })?;
    Ok(network.to_string())
}

fn rate_limit(limit: i64) -> Result<Option<u32>, Error> {
    let why = "must be from 1 to 100000 requests per second, or 0 or null for no limit of its own";
    match u32::try_from(limit) {
        Ok(0) => Ok(None),
        Ok(limit) if limit <= limits::RATE_PER_SECOND_MAX => Ok(Some(limit)),
        _ => Err(Error::Field { field: "rateLimit", why }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_are_written_in_one_way() {
        assert_eq!(network("192.0.2.7").expect("an address"), "192.0.2.7/32");
        assert_eq!(network("192.0.2.7/24").expect("a network"), "192.0.2.0/24");
        assert_eq!(network("2001:db8::1").expect("an address"), "2001:db8::1/128");
        for text in ["", "1.2.3", "192.0.2.0/33", "example", "192.0.2.7 "] {
            assert!(network(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_it_pays_has_bounds_and_the_field_is_named() {
        let told = |change: Change| {
            let mut settings = Settings::default();
            let told = change.apply_settings(&mut settings).map_err(|error| error.to_string());
            told.map(|()| (settings.price_list, settings.refund_days, settings.billing))
        };
        let sales = |list: &str, days, billing: &str| Change {
            price_list: Some(list.to_owned()),
            refund_days: Some(days),
            billing: Some(billing.to_owned()),
            ..Change::default()
        };
        let set = ("Partners".to_owned(), 0, Billing::Consumption);
        assert_eq!(told(sales("Partners", 0, "consumption")), Ok(set));
        let unset = (String::new(), 365, Billing::Prepaid);
        assert_eq!(told(sales("", 365, "prepaid")), Ok(unset));
        let untouched = (String::new(), limits::REFUND_DAYS, Billing::Prepaid);
        assert_eq!(told(Change::default()), Ok(untouched));
        for (bad, why) in [
            (sales("a\nb", 0, "prepaid"), "priceList must be one line of at most 1000 characters"),
            (sales("", -1, "prepaid"), "refundDays must be 0 to 365"),
            (sales("", 366, "prepaid"), "refundDays must be 0 to 365"),
            (sales("", 0, "Prepaid"), "billing must be prepaid or consumption"),
        ] {
            assert_eq!(told(bad), Err(why.to_owned()));
        }
        let named = sales("", 0, "").named();
        assert_eq!(named, ["priceList", "refundDays", "billing"]);
    }
}
