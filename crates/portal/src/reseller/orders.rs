//! Orders: the list, one of them, and everything to take along from it.

mod order;
mod take;

use app::catalogue::Catalogue;
use app::orders::Status;
use app::orders::leaf::{Leafed, Listed, Place};
use axum::extract::State;
use axum::response::Response;
use domain::order::ItemKind;
use domain::{Money, Right};
use maud::{Markup, html};

use super::desk::Desk;
use super::fields::address;
use super::{Routes, Trouble, Visit, catalogue};
use crate::kit::form::{self, Kind};
use crate::kit::table::{self, Chip, Head, Pages, Row, Search, Table};
use crate::kit::{Area, figures};
use crate::words::orders as words;

pub(super) const HOME: &str = "/portal/orders";
const PAGE_SIZE: i64 = 50;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get(HOME, Right::See, list)
        .get("/portal/orders/{reference}", Right::See, order::show)
        .get("/portal/orders/{reference}/esims.csv", Right::Codes, take::table)
        .get("/portal/orders/{reference}/codes.zip", Right::Codes, take::pictures)
        .get("/portal/orders/{reference}/print", Right::Codes, take::print)
}

async fn list(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let (text, status) = (visit.query.text("q").to_lowercase(), visit.query.text("status"));
    let status = Status::parse(status);
    let place = match (visit.query.number("before"), visit.query.number("after")) {
        _ if !text.is_empty() => Place::Called(text.clone()),
        (Some(number), _) => Place::Before(number),
        (None, Some(number)) => Place::After(number),
        (None, None) => Place::Newest,
    };
    let caller = visit.member.caller();
    let leafed = desk.app.leaf_orders(caller, status, (place, PAGE_SIZE)).await?;
    if leafed.count == 0 {
        return Ok(empty(&desk, &visit));
    }
    let shelf = desk.app.catalogue().await?;
    let chosen = status.map_or("", Status::name);
    let search = Search {
        action: HOME,
        value: &text,
        hint: words::SEARCH_HINT,
        kept: &[("status", chosen)].into_iter().filter(|(_, v)| !v.is_empty()).collect::<Vec<_>>(),
        chips: &chips(&text, status),
    };
    let content = html! {
        (search)
        (table::results(rows(&visit, &leafed, &shelf, (status, &text))))
    };
    Ok(visit.page((Area::Orders, words::TITLE), None, content))
}

fn empty(desk: &Desk, visit: &Visit) -> Response {
    let curl = format!(
        "curl -H \"X-API-Key: $TERN_KEY\" {}/v2.5/orders \\\n  -d '{{\"type\":\"transaction\",\
         \"order\":[{{\"item\":\"esim_1GB_7D_PT_V2\",\"quantity\":1}}]}}'",
        desk.public_url
    );
    let step = form::link_button(Kind::Main, words::EMPTY_STEP, catalogue::HOME);
    let content = table::empty(words::EMPTY, words::EMPTY_WHY, step, Some(&curl));
    visit.page((Area::Orders, words::TITLE), None, content)
}

fn chips(text: &str, chosen: Option<Status>) -> Vec<Chip> {
    let all = Chip {
        label: words::ALL.to_owned(),
        href: address(HOME, &[("q", text)]),
        on: chosen.is_none(),
        count: None,
    };
    let chip = |status: Status| Chip {
        label: words::status(status).1.to_owned(),
        href: address(HOME, &[("q", text), ("status", status.name())]),
        on: chosen == Some(status),
        count: None,
    };
    [all].into_iter().chain(words::STATUSES.map(chip)).collect()
}

fn rows(
    visit: &Visit,
    leafed: &Leafed,
    shelf: &Catalogue,
    (status, text): (Option<Status>, &str),
) -> Markup {
    let pages = Leaves::of(leafed, status);
    let is_alone = leafed.newer.is_none() && leafed.older.is_none();
    if leafed.orders.is_empty() && (is_alone || !text.is_empty()) {
        return table::nothing_found(words::NOTHING_FOUND, HOME);
    }
    if leafed.orders.is_empty() {
        return html! { p.nothing { (words::NOTHING_YET) } (pages.as_pages()) };
    }
    let row = |listed| row(visit, leafed, shelf, listed);
    let rows: Vec<_> = leafed.orders.iter().map(row).collect();
    let [order, what, quantity, total, state, when] = words::HEADS;
    let mut heads = vec![Head::text(order), Head::text(what), Head::number(quantity)];
    if visit.may(Right::Books) {
        heads.push(Head::number(total));
    }
    heads.extend([Head::text(state), Head::text(when)]);
    html! { (Table::new(words::LIST, &heads, &rows).pages(pages.as_pages())) }
}

fn row(visit: &Visit, leafed: &Leafed, shelf: &Catalogue, listed: &Listed) -> Row {
    let order = &listed.order;
    let quantity = listed.gist.as_ref().map(|gist| match gist.kind {
        ItemKind::BundleAssignment => gist.items,
        _ => gist.quantity,
    });
    let is_money = listed.gist.as_ref().is_none_or(|gist| gist.kind.is_topup());
    let quantity = quantity.filter(|_| !is_money).map_or_else(figures::none, figures::count);
    let reference = html! { code { (words::short(&order.reference)) } };
    let mut cells = vec![reference, what(shelf, listed), quantity];
    if visit.may(Right::Books) {
        cells.push(figures::money(Money::minor(order.total, leafed.currency)));
    }
    cells.extend([badge(order.status), figures::time(order.created_at, leafed.clock)]);
    Row::link(href(&order.reference), cells)
}

fn what(shelf: &Catalogue, listed: &Listed) -> Markup {
    let Some(gist) = &listed.gist else { return figures::none() };
    let bundle = listed.bundle.as_deref().unwrap_or_default();
    let more = if gist.kind == ItemKind::Bundle { gist.items - 1 } else { 0 };
    html! {
        span {
            (words::about(gist.kind, bundle_title(shelf, bundle)))
            @if more > 0 { " " small { (words::more(more)) } }
        }
    }
}

/// What a bundle is called; those no longer sold are known too.
fn bundle_title<'c>(shelf: &'c Catalogue, name: &'c str) -> &'c str {
    shelf.bundle(name).map_or(name, catalogue::title)
}

pub(super) fn badge(status: Status) -> Markup {
    let (mood, word) = words::status(status);
    figures::badge(mood, word)
}

/// Where the page of an order is.
pub(super) fn href(reference: &str) -> String {
    format!("{HOME}/{reference}")
}

/// The neighbours of a page.
struct Leaves {
    newer: Option<String>,
    older: Option<String>,
    says: String,
}

impl Leaves {
    fn of(leafed: &Leafed, status: Option<Status>) -> Self {
        let status = status.map_or("", Status::name);
        let href = |place: &Place| match place {
            Place::Before(number) => Some(("before", number.to_string())),
            Place::After(number) => Some(("after", number.to_string())),
            Place::Newest | Place::Called(_) => None,
        };
        let href = |place: &Place| {
            href(place).map(|(name, n)| address(HOME, &[("status", status), (name, &n)]))
        };
        let is_whole = status.is_empty() && (leafed.newer.is_some() || leafed.older.is_some());
        let says = match (leafed.orders.first(), leafed.orders.last()) {
            // Numbers have no gaps, so they say where the page is.
            (Some(first), Some(last)) if is_whole => {
                let place = |listed: &Listed| leafed.count - listed.number + 1;
                words::showing(place(first), place(last), leafed.count)
            }
            _ => String::new(),
        };
        Self {
            newer: leafed.newer.as_ref().and_then(href),
            older: leafed.older.as_ref().and_then(href),
            says,
        }
    }

    fn as_pages(&self) -> Pages<'_> {
        Pages { previous: self.newer.as_deref(), next: self.older.as_deref(), says: &self.says }
    }
}
