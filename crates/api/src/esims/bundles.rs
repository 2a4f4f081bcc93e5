//! What is on an eSIM: `GET /esims/{iccid}/bundles`, `GET /esims/{iccid}/bundles/{name}`.

use app::catalogue::Catalogue;
use app::esims::OnEsim;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::catalogue::Allowance;
use serde::Serialize;
use serde_json::json;

use super::not_yours;
use crate::Api;
use crate::caller::By;
use crate::json::ok;
use crate::lists;
use crate::path::Params;
use crate::problem::Problem;
use crate::query::Query;
use crate::versions::{Change, Version};

/// Bundles of a list when no size is asked for, from the contract.
const PAGE_DEFAULT: i64 = 15;
const BYTES_PER_MB: i64 = 1_000_000;

/// `GET /esims/{iccid}/bundles`.
pub(crate) async fn list(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
    query: Query,
) -> Result<Response, Problem> {
    let number = params.iccid()?;
    let page = lists::page(&query, PAGE_DEFAULT)?;
    let hides = Change::UsedBundlesHidden.seen_by(api.version);
    let shows_used = !hides || lists::flag(&query, "includeUsed")?.unwrap_or(false);
    let on = api.app.bundles_on(&caller, &number).await?.ok_or_else(not_yours)?;
    let shown = on.iter().filter(|one| shows_used || !one.assignment.state.is_finished());
    let mut groups: Vec<(&str, Vec<&OnEsim>)> = Vec::new();
    for one in shown {
        let name = one.stored.bundle.as_str();
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(one),
            None => groups.push((name, vec![one])),
        }
    }
    let groups = page.of(&groups);
    if !Change::AssignmentsNotOffers.seen_by(api.version) {
        let promotion = |(name, group): &(&str, Vec<&OnEsim>)| {
            let offers = offers(group);
            json!({ "moniker": name, "activeOffers": offers })
        };
        let promotions: Vec<_> = groups.iter().map(promotion).collect();
        return Ok(ok(json!({ "Promotions": promotions })).into_response());
    }
    let catalogue = api.app.catalogue().await?;
    let form = Form { version: api.version, unit: Unit::Megabytes, catalogue: &catalogue };
    let bundle = |(name, group): &(&str, Vec<&OnEsim>)| WireBundle {
        name: (*name).to_owned(),
        description: Change::BundleDescriptions
            .seen_by(api.version)
            .then(|| group.first().map_or_else(String::new, |one| one.stored.description.clone())),
        assignments: group.iter().map(|one| form.assignment(one)).collect(),
    };
    let bundles: Vec<_> = groups.iter().map(bundle).collect();
    Ok(ok(json!({ "bundles": bundles })).into_response())
}

/// `GET /esims/{iccid}/bundles/{name}`: the latest application only.
pub(crate) async fn show(
    By(caller): By,
    State(api): State<Api>,
    params: Params,
) -> Result<Response, Problem> {
    let number = params.iccid()?;
    let on = api.app.bundles_on(&caller, &number).await?.ok_or_else(not_yours)?;
    let latest: Vec<_> = on
        .iter()
        .find(|one| one.stored.bundle.as_str() == params.get("name"))
        .into_iter()
        .collect();
    if !Change::AssignmentsNotOffers.seen_by(api.version) {
        return Ok(ok(json!({ "activeOffers": offers(&latest) })).into_response());
    }
    let catalogue = api.app.catalogue().await?;
    let form = Form { version: api.version, unit: Unit::Bytes, catalogue: &catalogue };
    let assignments: Vec<_> = latest.into_iter().map(|one| form.assignment(one)).collect();
    Ok(ok(json!({ "assignments": assignments })).into_response())
}

/// The form of the first version, in which all quantities are texts.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Offer {
    element_id: &'static str,
    offer_id: String,
    call_type_group: &'static str,
    initial_quantity: String,
    remaining_quantity: String,
    start_time: Option<String>,
    end_time: Option<String>,
}

fn offers(group: &[&OnEsim]) -> Vec<Offer> {
    let offer = |one: &&OnEsim| Offer {
        element_id: "1",
        offer_id: one.assignment.id.to_string(),
        call_type_group: "data",
        initial_quantity: one.assignment.initial_bytes().to_string(),
        remaining_quantity: one.remaining.to_string(),
        start_time: one.assignment.started_at.map(|at| at.to_string()),
        end_time: one.assignment.ends_at.map(|at| at.to_string()),
    };
    group.iter().map(offer).collect()
}

#[derive(Serialize)]
struct WireBundle {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    assignments: Vec<WireAssignment>,
}

/// A bundle on an eSIM. What a version does not have is not there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireAssignment {
    id: String,
    call_type_group: &'static str,
    initial_quantity: i64,
    remaining_quantity: i64,
    start_time: Option<String>,
    end_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignment_date_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    assignment_reference: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bundle_state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unlimited: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowances: Option<Vec<WireAllowance>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WireAllowance {
    #[serde(rename = "type")]
    kind: String,
    service: String,
    description: String,
    initial_amount: i64,
    remaining_amount: i64,
    unit: String,
    unlimited: bool,
}

/// The unit of data in allowances: one operation tells bytes, the other megabytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Bytes,
    Megabytes,
}

struct Form<'c> {
    version: Version,
    unit: Unit,
    catalogue: &'c Catalogue,
}

impl Form<'_> {
    fn assignment(&self, one: &OnEsim) -> WireAssignment {
        let has = |change: Change| change.seen_by(self.version);
        let OnEsim { assignment, stored, remaining } = one;
        WireAssignment {
            id: assignment.id.to_string(),
            call_type_group: "data",
            initial_quantity: assignment.initial_bytes(),
            remaining_quantity: *remaining,
            start_time: assignment.started_at.map(|at| at.to_string()),
            end_time: assignment.ends_at.map(|at| at.to_string()),
            assignment_date_time: has(Change::BundleStates)
                .then(|| assignment.assigned_at.to_string()),
            assignment_reference: has(Change::BundleStates).then(|| stored.own_reference()),
            bundle_state: has(Change::BundleStates).then(|| assignment.state.name()),
            unlimited: has(Change::BundleDescriptions)
                .then(|| assignment.terms.data.is_unlimited()),
            allowances: has(Change::EsimAllowances).then(|| self.allowances(one)),
        }
    }

    fn allowances(&self, one: &OnEsim) -> Vec<WireAllowance> {
        let bundle = self.catalogue.bundle(one.stored.bundle.as_str());
        let all = bundle.map(domain::catalogue::Bundle::allowances).unwrap_or_default();
        all.into_iter().map(|allowance| self.allowance(one, allowance)).collect()
    }

    fn allowance(&self, one: &OnEsim, allowance: Allowance) -> WireAllowance {
        let Allowance { kind, service, description, amount, unit, is_unlimited } = allowance;
        let (initial_amount, remaining_amount, unit) = match (kind.as_str(), self.unit) {
            ("DATA", Unit::Bytes) => {
                (one.assignment.initial_bytes(), one.remaining, "BYTES".to_owned())
            }
            ("DATA", Unit::Megabytes) => {
                let megabytes = |bytes: i64| bytes / BYTES_PER_MB;
                (megabytes(one.assignment.initial_bytes()), megabytes(one.remaining), unit)
            }
            // Only data is counted.
            _ => (amount, amount, unit),
        };
        let unlimited = is_unlimited;
        WireAllowance {
            kind,
            service,
            description,
            initial_amount,
            remaining_amount,
            unit,
            unlimited,
        }
    }
}
