//! What was bought and not used yet: `GET /inventory`, `POST /inventory/refund`.

use app::Answer as Rendered;
use app::catalogue::Catalogue;
use app::inventory::{Error, Refund};
use axum::extract::State;
use domain::catalogue::{Bundle, Start};
use domain::filter::TextTest;
use domain::inventory::Lot;
use serde::Serialize;
use serde_json::json;

use crate::Api;
use crate::answers::{Kept, done, refused, version_of};
use crate::caller::By;
use crate::catalogue::{WireAllowance, allowances, names_of_countries};
use crate::front::{Exchange, Repeatable};
use crate::json::{Answer, Count, Fields, ok};
use crate::lists::{self, Paging};
use crate::problem::Problem;
use crate::query::Query;
use crate::versions::{Change, Version};

#[derive(Serialize)]
pub(crate) struct Inventory {
    bundles: Vec<Held>,
    #[serde(flatten)]
    paging: Paging,
}

/// A bundle with its lots. What a version does not have is not there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Held {
    name: String,
    desc: String,
    available: Vec<Available>,
    countries: Vec<String>,
    data: i64,
    duration: i64,
    duration_unit: &'static str,
    autostart: bool,
    speed: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unlimited: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    use_dms: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    allowances: Option<Vec<WireAllowance>>,
}

#[derive(Serialize)]
struct Available {
    id: i64,
    total: i64,
    remaining: i64,
    expiry: String,
}

/// `GET /inventory`.
pub(crate) async fn list(
    By(caller): By,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<Inventory>, Problem> {
    let page = lists::page_or_whole(&query)?;
    let (names, countries) = if Change::Filters.seen_by(api.version) {
        (lists::texts(&query, "name")?, lists::texts(&query, "countries")?)
    } else {
        (Vec::new(), Vec::new())
    };
    let sorts = Change::Filters.seen_by(api.version);
    let descending = sorts && is_descending(&query)?;
    let (lots, catalogue) = api.app.inventory(&caller).await?;
    let mut held = grouped(lots, &catalogue, api.version);
    let passes = |tests: &[TextTest], texts: &[String]| {
        tests.iter().all(|test| texts.iter().any(|text| test.passes(text)))
    };
    held.retain(|one| {
        passes(&names, std::slice::from_ref(&one.name)) && passes(&countries, &one.countries)
    });
    if sorts && query.one("orderBy") == Some("countries") {
        held.sort_by(|a, b| a.countries.cmp(&b.countries));
    }
    if descending {
        held.reverse();
    }
    let rows = i64::try_from(held.len()).unwrap_or(i64::MAX);
    let Some(page) = page else {
        return Ok(ok(Inventory { bundles: held, paging: Paging::whole(rows) }));
    };
    let from = usize::try_from(page.offset()).unwrap_or(usize::MAX);
    let size = usize::try_from(page.size).unwrap_or(usize::MAX);
    let bundles = held.into_iter().skip(from).take(size).collect();
    Ok(ok(Inventory { bundles, paging: Paging::of(page, rows) }))
}

fn is_descending(query: &Query) -> Result<bool, Problem> {
    if query.one("orderBy").is_some_and(|by| !["name", "countries"].contains(&by)) {
        return Err(Problem::invalid("orderBy"));
    }
    Ok(lists::direction(query)? == Some(domain::filter::Direction::Descending))
}

/// Lots come by bundle, earliest expiry first.
fn grouped(lots: Vec<Lot>, catalogue: &Catalogue, version: Version) -> Vec<Held> {
    let mut held: Vec<Held> = Vec::new();
    for lot in lots {
        if held.last().is_none_or(|last| last.name != lot.bundle.as_str()) {
            // Bundles are withdrawn, never removed, so each lot has one.
            let Some(bundle) = catalogue.bundle(lot.bundle.as_str()) else { continue };
            held.push(Held::of(bundle, catalogue, version));
        }
        if let Some(last) = held.last_mut() {
            last.available.push(Available {
                id: lot.id,
                total: lot.total,
                remaining: lot.remaining,
                expiry: lot.expires_at.to_string(),
            });
        }
    }
    held
}

impl Held {
    fn of(bundle: &Bundle, catalogue: &Catalogue, version: Version) -> Self {
        let detailed = Change::InventoryAllowances.seen_by(version);
        Self {
            name: bundle.name.to_string(),
            desc: bundle.description.clone(),
            available: Vec::new(),
            countries: names_of_countries(catalogue, bundle),
            data: bundle.data.megabytes(),
            duration: bundle.duration,
            duration_unit: bundle.duration_unit.name(),
            autostart: bundle.start == Start::Auto,
            speed: bundle.speeds.clone(),
            unlimited: Change::BundleGroups.seen_by(version).then(|| bundle.data.is_unlimited()),
            use_dms: detailed.then_some(false),
            allowances: detailed.then(|| allowances(bundle)),
        }
    }
}

/// `POST /inventory/refund`.
pub(crate) async fn refund(
    By(caller): By,
    State(api): State<Api>,
    exchange: Exchange,
    Repeatable { mut request, body }: Repeatable,
) -> Result<Kept, Problem> {
    let mut fields = Fields::read(&body)?;
    let usage = match fields.count("usageId")? {
        Count::Absent => return Err(Problem::missing("usageId")),
        Count::Whole(usage) => usage,
        // No lot has such a number.
        Count::Odd => 0,
    };
    let quantity = match fields.count("quantity")? {
        Count::Whole(quantity) => quantity,
        Count::Absent | Count::Odd => 0,
    };
    api.version.name().clone_into(&mut request.form);
    let from = exchange.client().to_canonical().to_string();
    Ok(Kept(api.app.refund(&caller, (usage, quantity), from, &request).await?))
}

/// The answer to a refund, in the form of the version that asked.
pub(crate) fn refund_answer(form: &str, refund: Refund) -> Rendered {
    match refund {
        Refund::Done => {
            let text = "Successfully refunded bundles to balance";
            if Change::StatusNotMessage.seen_by(version_of(form)) {
                return done(&json!({ "status": text }));
            }
            done(&json!({ "message": text }))
        }
        Refund::UnknownUsage => refused("unknown-usage", "usage not found"),
        Refund::Quantity => refused("invalid-quantity", "quantity must be a positive integer"),
        Refund::ExceedsRemaining => {
            refused("refund-exceeds-remaining", "refund quantity exceeds remaining quantity")
        }
        Refund::NotRefundable => refused("not-refundable", "bundle is not eligible for refund"),
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Key(error) => error.into(),
            Error::Store(cause) => cause.into(),
        }
    }
}
