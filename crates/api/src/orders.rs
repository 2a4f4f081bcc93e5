//! Orders: `GET` and `POST /orders`, `GET /orders/{orderReference}`.

mod wire;

use app::orders::{Codes, Command, Error, Filter, Intent, Line, Processing, SortBy, StoredFilter};
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use domain::filter::Direction;
use domain::limits;
use domain::order::Target;
use http::StatusCode;
use serde::Serialize;

use self::wire::WireOrder;
pub(crate) use self::wire::{Form, order_answer};
use crate::Api;
use crate::answers::Kept;
use crate::caller::By;
use crate::front::{Exchange, Repeatable};
use crate::json::{Count, Fields, ok};
use crate::lists::{self, Paging};
use crate::path::{Named, iccid};
use crate::problem::Problem;
use crate::query::Query;
use crate::versions::Change;

/// Orders of a page when no size is asked for, from the contract.
const PAGE_DEFAULT: i64 = 10;
/// The same where a list has no pages.
const NEWEST_DEFAULT: i64 = 1_000;
/// eSIMs of an order up to which it says how to install them in a list, from the contract.
const CODES_MAX: usize = 5;

#[derive(Serialize)]
struct Listed {
    orders: Vec<WireOrder>,
    #[serde(flatten)]
    paging: Paging,
}

/// `GET /orders`.
pub(crate) async fn list(
    By(caller): By,
    State(api): State<Api>,
    query: Query,
) -> Result<Response, Problem> {
    let form = form(&api, &query)?;
    let codes = if form.shows_esims() { Codes::UpTo(CODES_MAX) } else { Codes::None };
    let filters = Change::Filters.seen_by(api.version);
    let default_size = if filters { PAGE_DEFAULT } else { NEWEST_DEFAULT };
    let page = lists::page(&query, default_size)?;
    let (filter, sort) = if filters {
        (filter(&api, &caller, &query)?, sort(&query)?)
    } else {
        (Filter::default(), None)
    };
    let (orders, rows) = api.app.orders(&caller, filter, sort, (page, codes)).await?;
    let wire = |shown| WireOrder::of(&shown, form, &api.public_url);
    let orders: Vec<_> = orders.into_iter().map(wire).collect();
    if Change::ListEnvelopes.seen_by(api.version) {
        return Ok(ok(Listed { orders, paging: Paging::of(page, rows) }).into_response());
    }
    Ok(ok(orders).into_response())
}

fn filter(api: &Api, caller: &app::Caller, query: &Query) -> Result<Filter, Problem> {
    let currency = caller.market().currency;
    Ok(Filter {
        stored: StoredFilter {
            status: lists::texts(query, "status")?,
            reference: lists::texts(query, "orderReference")?,
            total: lists::numbers(query, "total", |text| {
                lists::amount(text, currency, api.version)
            })?,
            created_at: lists::numbers(query, "createdAt", lists::moment)?,
        },
        currency: lists::texts(query, "currency")?,
    })
}

fn sort(query: &Query) -> Result<Option<(SortBy, Direction)>, Problem> {
    let direction = lists::direction(query)?;
    let by = match query.one("orderBy") {
        // The list's own order is by time.
        None => return Ok(direction.map(|direction| (SortBy::CreatedAt, direction))),
        // One organisation has one currency.
        Some("createdAt" | "currency") => SortBy::CreatedAt,
        Some("total") => SortBy::Total,
        Some("status") => SortBy::Status,
        Some("orderReference") => SortBy::Reference,
        Some(_) => return Err(Problem::invalid("orderBy")),
    };
    Ok(Some((by, direction.unwrap_or(Direction::Ascending))))
}

/// `GET /orders/{orderReference}`.
pub(crate) async fn show(
    By(caller): By,
    State(api): State<Api>,
    Named(reference): Named,
    query: Query,
) -> Result<Response, Problem> {
    let form = form(&api, &query)?;
    let most = usize::try_from(limits::ORDER_BUNDLES_MAX).unwrap_or(usize::MAX);
    let codes = match (form.shows_esims(), Change::AllEsimsOfAnOrder.seen_by(api.version)) {
        (false, _) => Codes::None,
        (true, false) => Codes::UpTo(CODES_MAX),
        (true, true) => Codes::UpTo(most),
    };
    let shown = api.app.order(&caller, &reference, codes).await?;
    let unknown = || Problem::bad_request("unknown-order", "order not found");
    let shown = shown.ok_or_else(unknown)?;
    Ok(ok(WireOrder::of(&shown, form, &api.public_url)).into_response())
}

/// In which form orders are wanted. Versions that never or always show ICCIDs do not look at what
/// was asked.
fn form(api: &Api, query: &Query) -> Result<Form, Problem> {
    let version = api.version;
    let may_ask = Change::IncludeIccids.seen_by(version) && !Change::IccidsAlways.seen_by(version);
    let asked = if may_ask { lists::flag(query, "includeIccids")? } else { None };
    Ok(Form { version, asks_for_iccids: asked.unwrap_or(false) })
}

/// `POST /orders`.
pub(crate) async fn buy(
    By(caller): By,
    State(api): State<Api>,
    query: Query,
    exchange: Exchange,
    Repeatable { mut request, body }: Repeatable,
) -> Result<Kept, Problem> {
    let form = form(&api, &query)?;
    let fields = Fields::read(&body)?;
    let command = command(fields, &api, exchange.client().to_canonical().to_string())?;
    request.form = form.name();
    Ok(Kept(api.app.buy(&caller, command, &request).await?))
}

fn command(mut fields: Fields, api: &Api, source_ip: String) -> Result<Command, Problem> {
    let odd_type = || Problem::bad_request("invalid-order-type", "Invalid Order type");
    let intent = match fields.text("type")?.as_deref() {
        Some("validate") => Intent::Validate,
        Some("transaction") => Intent::Transaction,
        _ => return Err(odd_type()),
    };
    let assign = fields.lenient_boolean("assign")?.unwrap_or(false);
    let profile = fields.text("profileID")?.filter(|profile| !profile.is_empty());
    let items = fields.objects("order")?.unwrap_or_default();
    if items.is_empty() {
        return Err(Problem::bad_request("no-order-items", "Order must contain Order Items"));
    }
    let mut lines = Vec::with_capacity(items.len());
    for mut item in items {
        if item.text("type")?.is_some_and(|kind| kind != "bundle") {
            return Err(odd_type());
        }
        lines.push(line(&mut item)?);
    }
    if profile.is_some() && Change::BundleProfiles.seen_by(api.version) {
        return Err(unknown_profile(assign));
    }
    let target = if assign { Target::Esims } else { Target::Inventory };
    let processing = if Change::LargeOrdersLater.seen_by(api.version) {
        Processing::Later
    } else {
        Processing::Now
    };
    Ok(Command { intent, target, lines, processing, source_ip })
}

fn line(item: &mut Fields) -> Result<Line, Problem> {
    let bundle = item.text("item")?.filter(|name| !name.is_empty());
    let bundle = bundle.ok_or_else(|| Problem::missing("item"))?;
    let quantity = match item.count("quantity")? {
        Count::Absent => return Err(Problem::missing("quantity")),
        Count::Whole(quantity) => quantity,
        // Out of every range, so that the rule names the field.
        Count::Odd => 0,
    };
    let iccids = item.texts("iccids")?.unwrap_or_default();
    let iccids = iccids.iter().filter(|text| !text.is_empty()).map(|text| iccid(text));
    Ok(Line {
        bundle,
        quantity,
        iccids: iccids.collect::<Result<_, _>>()?,
        allow_reassign: item.boolean("allowReassign")?.unwrap_or(false),
    })
}

/// Nobody has branding profiles yet, so every one is unknown.
fn unknown_profile(assign: bool) -> Problem {
    if assign {
        return Problem::bad_request("unknown-profile", "profileID not found");
    }
    let text = "profileID can only be specified when assign is true";
    Problem::bad_request("profile-without-assign", text)
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let text = error.to_string();
        match error {
            Error::BalanceTooLow => Self::bad_request("balance-too-low", text),
            Error::OutOfStock => Self::new(StatusCode::SERVICE_UNAVAILABLE, "out-of-stock", text),
            Error::Key(error) => error.into(),
            Error::Store(cause) => cause.into(),
        }
    }
}
