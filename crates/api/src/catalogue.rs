//! What is for sale: `GET /catalogue`, `/catalogue/bundle/{name}`, `/catalogue/prices`, `/networks`
//! and `/organisation/groups`.

mod pages;
mod wire;

use app::catalogue::{Catalogue, Filter, SortBy};
use axum::extract::State;
use axum::response::Response;
use domain::catalogue::Market;
use domain::filter::{Direction, TextTest};
use http::StatusCode;
use serde::Serialize;

pub(crate) use self::pages::Pages;
use self::wire::{Rates, WireBundle, WireGroup, WireNetworks};
pub(crate) use self::wire::{WireAllowance, allowances, names_of_countries};
use crate::Api;
use crate::caller::{By, ByCosting};
use crate::json::{Answer, ok, rendered};
use crate::lists::{self, Paging};
use crate::path::Named;
use crate::problem::Problem;
use crate::query::Query;
use crate::versions::{Change, Version};

/// Bundles of a page when no size is asked for, from the contract.
const PAGE_DEFAULT: i64 = 50;
/// What listing everything costs where a rate limit is on, from the contract.
pub(crate) const LIST_COST: u32 = 5;

#[derive(Serialize)]
struct Listed<'c> {
    bundles: Vec<WireBundle<'c>>,
    #[serde(flatten)]
    paging: Paging,
}

/// `GET /catalogue`.
pub(crate) async fn list(
    ByCosting(caller): ByCosting<LIST_COST>,
    State(api): State<Api>,
    query: Query,
) -> Result<Response, Problem> {
    let catalogue = api.app.catalogue().await?;
    let (market, version) = (caller.market(), api.version);
    api.pages.page(&catalogue, (market, version), &query.canonical(), || {
        render(&catalogue, market, version, &query)
    })
}

fn render(
    catalogue: &Catalogue,
    market: &Market,
    version: Version,
    query: &Query,
) -> Result<Vec<u8>, Problem> {
    let page = lists::page(query, PAGE_DEFAULT)?;
    let filter = filter(query, market, version)?;
    let sort = sort(query, version)?;
    let found = catalogue.find(catalogue.offers(market), &filter, sort);
    let rows = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let wire = |offer| WireBundle::of(catalogue, offer, version).in_list(version);
    let bundles = page.of(&found).iter().map(wire).collect();
    if Change::ListEnvelopes.seen_by(version) {
        return rendered(&Listed { bundles, paging: Paging::of(page, rows) });
    }
    rendered(&bundles)
}

fn filter(query: &Query, market: &Market, version: Version) -> Result<Filter, Problem> {
    if !Change::Filters.seen_by(version) {
        let mut filter = Filter::default();
        if query.one("filterBy") == Some("bundleName")
            && let Some(value) = query.one("filter")
        {
            filter.name = vec![TextTest::contains(value)];
        }
        return Ok(filter);
    }
    let mut name = lists::texts(query, "name")?;
    name.extend(lists::texts(query, "bundleName")?);
    let codes = |value: &str| value.split(',').map(|code| code.trim().to_owned()).collect();
    Ok(Filter {
        name,
        description: lists::texts(query, "description")?,
        group: lists::texts(query, "group")?,
        countries: query.all("countries").map(codes).collect(),
        region: lists::texts(query, "region")?,
        data_amount: lists::numbers(query, "dataAmount", lists::whole)?,
        duration: lists::numbers(query, "duration", lists::whole)?,
        price: lists::numbers(query, "price", |text| {
            lists::amount(text, market.currency, version)
        })?,
        unlimited: lists::flag(query, "unlimited")?,
        autostart: lists::flag(query, "autostart")?,
    })
}

fn sort(query: &Query, version: Version) -> Result<(SortBy, Direction), Problem> {
    let direction = lists::direction(query)?.unwrap_or(Direction::Ascending);
    let by = match query.one("orderBy") {
        None | Some("bundleName") => SortBy::Name,
        Some("dataAmount") => SortBy::DataAmount,
        Some("duration") => SortBy::Duration,
        Some("autostart") => SortBy::Autostart,
        Some("roamingEnabled") => SortBy::Roaming,
        Some(other) if Change::Filters.seen_by(version) => match other {
            "name" => SortBy::Name,
            "description" => SortBy::Description,
            "group" => SortBy::Group,
            "countries" => SortBy::Countries,
            "region" => SortBy::Region,
            "price" => SortBy::Price,
            "unlimited" => SortBy::Unlimited,
            _ => return Err(Problem::invalid("orderBy")),
        },
        Some(_) => return Err(Problem::invalid("orderBy")),
    };
    Ok((by, direction))
}

/// `GET /catalogue/bundle/{name}`.
pub(crate) async fn bundle(
    By(caller): By,
    State(api): State<Api>,
    Named(name): Named,
) -> Result<Response, Problem> {
    let catalogue = api.app.catalogue().await?;
    let (market, version) = (caller.market(), api.version);
    let offer = catalogue.offer(market, &name).ok_or_else(|| unknown_bundle(&name))?;
    api.pages.page(&catalogue, (market, version), &format!("/{name}"), || {
        rendered(&WireBundle::of(&catalogue, &offer, version).alone(version))
    })
}

/// A name the caller's catalogue does not have. What was sent is said back, within reason.
pub(crate) fn unknown_bundle(name: &str) -> Problem {
    let name: String = name.chars().take(domain::limits::BUNDLE_NAME_CHARS_MAX).collect();
    Problem::bad_request("unknown-bundle", format!("bundle not found: {name}"))
}

/// `GET /catalogue/prices`.
pub(crate) async fn prices(
    By(caller): By,
    State(api): State<Api>,
) -> Result<Answer<Rates>, Problem> {
    let denied = || Problem::new(StatusCode::FORBIDDEN, "prices-not-available", "access denied");
    let catalogue = api.app.rates(&caller).await?.ok_or_else(denied)?;
    Ok(ok(Rates::of(&catalogue, caller.market())))
}

#[derive(Serialize)]
pub(crate) struct Groups {
    groups: Vec<WireGroup>,
}

/// `GET /organisation/groups`.
pub(crate) async fn groups(
    By(caller): By,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<Groups>, Problem> {
    let page = lists::page_or_whole(&query)?;
    let catalogue = api.app.catalogue().await?;
    let groups = catalogue.groups(caller.market());
    let groups = page.map_or(&groups[..], |page| page.of(&groups));
    Ok(ok(Groups { groups: groups.iter().map(|group| WireGroup::of(group)).collect() }))
}

/// `GET /networks`.
pub(crate) async fn networks(
    ByCosting(_): ByCosting<LIST_COST>,
    State(api): State<Api>,
    query: Query,
) -> Result<Answer<WireNetworks>, Problem> {
    let everything = lists::flag(&query, "returnAll")?.unwrap_or(false);
    let listed = |name: &str| -> Vec<String> {
        let values = query.all(name).flat_map(|value| value.split(','));
        values.map(|value| value.trim().to_lowercase()).filter(|v| !v.is_empty()).collect()
    };
    let (names, isos) = (listed("countries"), listed("isos"));
    if !everything && names.is_empty() && isos.is_empty() {
        return Err(Problem::missing("countries, isos or returnAll"));
    }
    let catalogue = api.app.catalogue().await?;
    let wanted = catalogue.networks().into_iter().filter(|(country, _)| {
        everything
            || names.contains(&country.name.to_lowercase())
            || isos.contains(&country.iso.to_lowercase())
    });
    Ok(ok(WireNetworks::of(wanted)))
}
