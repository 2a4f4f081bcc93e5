//! Bundles, networks, groups and rates as they go out.

use app::catalogue::{Catalogue, Offer};
use domain::catalogue::{Allowance, Bundle, Country, Group, Market, Network, Start};
use ring::digest::{SHA256, digest};
use serde::Serialize;

use crate::money::{self, Amount};
use crate::versions::{Change, Version};

/// A bundle. What a version does not have is not there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireBundle<'c> {
    name: &'c str,
    description: &'c str,
    countries: Vec<WireCountry<'c>>,
    data_amount: i64,
    duration: i64,
    speed: &'c [String],
    autostart: bool,
    roaming_enabled: Vec<WireCountry<'c>>,
    price: Amount,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<&'c [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'c [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unlimited: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image_url: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    billing_type: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_name: Option<&'c str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowances: Option<Vec<WireAllowance>>,
    #[serde(skip)]
    member_of: &'c [String],
}

impl<'c> WireBundle<'c> {
    pub(super) fn of(catalogue: &'c Catalogue, offer: &Offer<'c>, version: Version) -> Self {
        let bundle: &'c Bundle = offer.bundle;
        let countries = |isos: &'c [String]| {
            isos.iter().filter_map(|iso| catalogue.country(iso)).map(WireCountry::of).collect()
        };
        let described = Change::BundleGroups.seen_by(version);
        Self {
            name: bundle.name.as_str(),
            description: &bundle.description,
            countries: countries(&bundle.countries),
            data_amount: bundle.data.megabytes(),
            duration: bundle.days(),
            speed: &bundle.speeds,
            autostart: bundle.start == Start::Auto,
            roaming_enabled: countries(&bundle.roaming),
            price: money::print(offer.price, version),
            groups: None,
            group: None,
            unlimited: described.then(|| bundle.data.is_unlimited()),
            image_url: described.then_some(bundle.image_url.as_str()),
            billing_type: Change::BillingType.seen_by(version).then_some("FixedCost"),
            profile_name: Change::BundleProfiles
                .seen_by(version)
                .then_some(bundle.profile_name.as_str()),
            allowances: Change::BundleProfiles.seen_by(version).then(|| allowances(bundle)),
            member_of: &bundle.groups,
        }
    }

    /// In a list its groups stand under `groups`.
    pub(super) fn in_list(mut self, version: Version) -> Self {
        self.groups = Change::BundleGroups.seen_by(version).then_some(self.member_of);
        self
    }

    /// Alone they stand under `group`.
    pub(super) fn alone(mut self, version: Version) -> Self {
        self.group = Change::BundleGroups.seen_by(version).then_some(self.member_of);
        self
    }
}

#[derive(Serialize)]
struct WireCountry<'c> {
    name: &'c str,
    region: &'c str,
    iso: &'c str,
}

impl<'c> WireCountry<'c> {
    fn of(country: &'c Country) -> Self {
        Self { name: &country.name, region: &country.region, iso: &country.iso }
    }
}

/// Something a bundle holds.
#[derive(Serialize)]
pub(crate) struct WireAllowance {
    #[serde(rename = "type")]
    kind: String,
    service: String,
    description: String,
    amount: i64,
    unit: String,
    unlimited: bool,
}

impl From<Allowance> for WireAllowance {
    fn from(allowance: Allowance) -> Self {
        let Allowance { kind, service, description, amount, unit, is_unlimited } = allowance;
        Self { kind, service, description, amount, unit, unlimited: is_unlimited }
    }
}

/// Everything a bundle holds.
pub(crate) fn allowances(bundle: &Bundle) -> Vec<WireAllowance> {
    bundle.allowances().into_iter().map(WireAllowance::from).collect()
}

/// The names of a bundle's countries.
pub(crate) fn names_of_countries(catalogue: &Catalogue, bundle: &Bundle) -> Vec<String> {
    let known = bundle.countries.iter().filter_map(|iso| catalogue.country(iso));
    known.map(|country| country.name.clone()).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireGroup {
    name: String,
    desc: String,
    price_list_url: String,
    icon: String,
}

impl WireGroup {
    pub(super) fn of(group: &Group) -> Self {
        let Group { name, description, price_list_url, icon } = group.clone();
        Self { name, desc: description, price_list_url, icon }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WireNetworks {
    country_networks: Vec<CountryNetworks>,
}

#[derive(Serialize)]
struct CountryNetworks {
    name: String,
    networks: Vec<WireNetwork>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireNetwork {
    name: String,
    brand_name: String,
    mcc: String,
    mnc: String,
    tagid: String,
    speed: Vec<String>,
}

impl WireNetworks {
    pub(super) fn of<'c>(countries: impl Iterator<Item = (&'c Country, &'c [Network])>) -> Self {
        let network = |network: &Network| {
            let Network { name, brand, mcc, mnc, tadig, speeds, .. } = network.clone();
            WireNetwork { name, brand_name: brand, mcc, mnc, tagid: tadig, speed: speeds }
        };
        let of_country = |(country, networks): (&Country, &[Network])| CountryNetworks {
            name: country.name.clone(),
            networks: networks.iter().map(network).collect(),
        };
        Self { country_networks: countries.map(of_country).collect() }
    }
}

/// Prices per megabyte.
#[derive(Serialize)]
pub(crate) struct Rates {
    /// Changes when a price does.
    hash: String,
    prices: Vec<CountryRates>,
}

#[derive(Serialize)]
struct CountryRates {
    country: RateCountry,
    prices: Vec<WireRate>,
}

#[derive(Serialize)]
struct RateCountry {
    iso: String,
    name: String,
}

#[derive(Serialize)]
struct WireRate {
    id: String,
    price: String,
    currency: String,
    profile: String,
    country: String,
}

impl Rates {
    pub(super) fn of(catalogue: &Catalogue, market: &Market) -> Self {
        let mut prices: Vec<CountryRates> = Vec::new();
        for (id, rate) in catalogue.rates(market) {
            let wire = WireRate {
                id: id.to_owned(),
                price: rate.price.clone(),
                currency: rate.currency.to_string(),
                profile: rate.profile_name.clone(),
                country: rate.iso.clone(),
            };
            // They come by country.
            if prices.last().is_none_or(|last| last.country.iso != rate.iso) {
                let name = catalogue.country(&rate.iso).map(|country| country.name.clone());
                let country = RateCountry { iso: rate.iso.clone(), name: name.unwrap_or_default() };
                prices.push(CountryRates { country, prices: Vec::new() });
            }
            if let Some(last) = prices.last_mut() {
                last.prices.push(wire);
            }
        }
        let text = serde_json::to_vec(&prices).unwrap_or_default();
        Self { hash: domain::hex(digest(&SHA256, &text).as_ref()), prices }
    }
}
