//! eSIMs as they go out, in every version.

use app::catalogue::Catalogue;
use app::esims::Detail;
use app::esims::files::Links;
use domain::Msisdn;
use domain::esim::{Entry, Esim, Seen};
use serde::Serialize;

use crate::lists::Paging;
use crate::query::Query;
use crate::versions::{Change, Version};

/// The branding of an eSIM for which none was chosen.
const BRANDING: &str = "(default)";

#[derive(Serialize)]
pub(super) struct Listed<'e> {
    pub(super) esims: Vec<WireListed<'e>>,
    #[serde(flatten)]
    pub(super) paging: Paging,
}

/// An eSIM of a list. What a version does not have is not there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireListed<'e> {
    iccid: &'e str,
    customer_ref: &'e str,
    last_action: &'e str,
    action_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    physical: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assigned_date: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    msisdn: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
}

impl<'e> WireListed<'e> {
    pub(super) fn of(esim: &'e Esim, version: Version) -> Self {
        let dated = Change::EsimDates.seen_by(version);
        let detailed = Change::EsimState.seen_by(version);
        Self {
            iccid: esim.iccid.as_str(),
            customer_ref: &esim.customer_ref,
            last_action: &esim.last_action,
            action_date: esim.action_at.map(|at| at.to_string()),
            physical: dated.then_some(false),
            assigned_date: dated.then(|| esim.assigned_at.to_string()),
            msisdn: detailed.then(|| msisdn(esim)),
            state: detailed.then(|| esim.state()),
        }
    }
}

fn msisdn(esim: &Esim) -> &str {
    esim.msisdn.as_ref().map_or("", Msisdn::as_str)
}

/// Links beside the codes: values by comma or by repetition; what nobody knows is ignored.
pub(super) fn links(query: &Query) -> Links {
    let mut asked = Links::None;
    for value in query.all("additionalFields").flat_map(|value| value.split(',')) {
        match value.trim() {
            "installUrl" => return Links::AppleAndAndroid,
            "appleInstallUrl" => asked = Links::Apple,
            _ => {}
        }
    }
    asked
}

/// When an eSIM was first installed: a text, a number, or nothing, but always there.
#[derive(Serialize)]
#[serde(untagged)]
enum Installed {
    Text(String),
    Milliseconds(i64),
    Never,
}

/// One eSIM. What a version does not have is not there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireDetail<'e> {
    iccid: &'e str,
    matching_id: &'e str,
    smdp_address: &'e str,
    profile_status: &'static str,
    pin: &'e str,
    puk: &'e str,
    first_installed_date_time: Installed,
    #[serde(skip_serializing_if = "Option::is_none")]
    customer_ref: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    msisdn: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branding_id: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    profile_name: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    apple_install_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    android_install_url: Option<String>,
}

impl<'e> WireDetail<'e> {
    pub(super) fn of(detail: &'e Detail, links: Links, version: Version) -> Self {
        let Detail { esim, smdp_address, secrets } = detail;
        let detailed = Change::EsimState.seen_by(version);
        let in_ms = Change::EsimInstalled.seen_by(version);
        Self {
            iccid: esim.iccid.as_str(),
            matching_id: secrets.matching_id.expose(),
            smdp_address,
            profile_status: esim.status.name(),
            pin: secrets.pin.expose(),
            puk: secrets.puk.expose(),
            first_installed_date_time: match esim.first_installed_at {
                None => Installed::Never,
                Some(at) if in_ms => Installed::Milliseconds(at.ms()),
                Some(at) => Installed::Text(at.to_string()),
            },
            customer_ref: in_ms.then_some(esim.customer_ref.as_str()),
            msisdn: detailed.then(|| msisdn(esim)),
            state: detailed.then(|| esim.state()),
            branding_id: detailed.then_some(BRANDING),
            profile_name: detailed.then_some(esim.profile_name.as_str()),
            apple_install_url: (detailed || links.has_apple()).then(|| detail.code().apple_url()),
            android_install_url: (detailed || links.has_android())
                .then(|| detail.code().android_url()),
        }
    }
}

#[derive(Serialize)]
pub(super) struct History<'e> {
    pub(super) actions: Vec<WireEntry<'e>>,
    #[serde(flatten)]
    pub(super) paging: Paging,
}

/// An entry of the history. What a version does not have is not there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireEntry<'e> {
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle_name: Option<&'e str>,
    date: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle_state: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    alert_type: Option<String>,
}

impl<'e> WireEntry<'e> {
    pub(super) fn of(entry: &'e Entry, version: Version) -> Self {
        let (bundle, state) =
            entry.bundle.as_ref().map_or(("", ""), |(bundle, state)| (bundle, state));
        let named = Change::HistoryBundles.seen_by(version);
        let renamed = Change::HistoryPages.seen_by(version);
        let alert = || entry.percent.map_or_else(String::new, |percent| format!("{percent}% Used"));
        Self {
            name: entry.kind.name(),
            bundle: (named && !renamed).then_some(bundle),
            bundle_name: renamed.then_some(bundle),
            date: entry.at.to_string(),
            bundle_state: named.then_some(state),
            alert_type: Change::HistoryAlerts.seen_by(version).then(alert),
        }
    }
}

/// Where an eSIM was last seen; empty texts when it never was.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireLocation<'e> {
    mobile_network_code: &'e str,
    network_name: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    network_brand_name: Option<&'e str>,
    country: &'e str,
    last_seen: Option<String>,
}

impl<'e> WireLocation<'e> {
    pub(super) fn of(seen: Option<&'e Seen>, catalogue: &'e Catalogue, version: Version) -> Self {
        let (country, code) =
            seen.map_or(("", ""), |seen| (seen.country.as_str(), seen.network.as_str()));
        let network = catalogue.network(country, code);
        let brand = network.map_or("", |network| network.brand.as_str());
        Self {
            mobile_network_code: code,
            network_name: network.map_or("", |network| network.name.as_str()),
            network_brand_name: Change::NetworkBrands.seen_by(version).then_some(brand),
            country,
            last_seen: seen.map(|seen| seen.at.to_string()),
        }
    }
}
