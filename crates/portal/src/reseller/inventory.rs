//! The inventory: lots by bundle; what is left of one, given back or put on eSIMs.

mod bundle;

use app::catalogue::Catalogue;
use axum::extract::State;
use axum::response::Response;
use domain::inventory::Lot;
use domain::{Money, Right, Timestamp, limits};
use maud::{Markup, html};

use super::desk::Desk;
use super::fields::address;
use super::{Routes, Trouble, Visit, catalogue};
use crate::kit::form::{self, Kind};
use crate::kit::table::{self, Head, Pages, Row, Table};
use crate::kit::{Area, Mood, figures};
use crate::words::inventory as words;

pub(super) const HOME: &str = "/portal/inventory";
const PAGE_SIZE: i64 = 50;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get(HOME, Right::See, list)
        .get("/portal/inventory/{bundle}", Right::See, bundle::show)
        .post("/portal/inventory/refund", Right::Pay, bundle::refund)
        .post("/portal/inventory/apply", Right::Care, bundle::apply)
}

/// Where the page of a bundle is.
pub(super) fn href(bundle: &str) -> String {
    format!("{HOME}/{bundle}")
}

/// What pages need to know to show a lot.
struct Shelf<'v> {
    visit: &'v Visit,
    catalogue: &'v Catalogue,
    clock: Timestamp,
}

async fn list(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let after = visit.query.number("after");
    // One more than is shown says whether there are more.
    let held = desk.app.held_page(visit.member.caller(), after, PAGE_SIZE + 1).await?;
    let buy = visit.may(Right::Pay);
    if held.lots.is_empty() && after.is_none() {
        let curl = format!(
            "curl -H \"X-API-Key: $TERN_KEY\" {}/v2.5/orders \\\n  -d '{{\"type\":\"transaction\",\
             \"assign\":false,\n  \"order\":[{{\"item\":\"esim_1GB_7D_PT_V2\",\
             \"quantity\":10}}]}}'",
            desk.public_url
        );
        let step = form::link_button(Kind::Main, words::EMPTY_STEP, catalogue::HOME);
        let empty = table::empty(words::EMPTY, words::EMPTY_WHY, step, Some(&curl));
        return Ok(visit.page((Area::Inventory, words::TITLE), None, empty));
    }
    let goods = desk.app.catalogue().await?;
    let shelf = Shelf { visit: &visit, catalogue: &goods, clock: held.clock };
    let content = shelf.list(&held.lots, after.map(|_| HOME));
    let action = buy.then(|| form::link_button(Kind::Main, words::BUY_MORE, catalogue::HOME));
    Ok(visit.page((Area::Inventory, words::TITLE), action, content))
}

impl Shelf<'_> {
    fn list(&self, lots: &[Lot], previous: Option<&str>) -> Markup {
        let shown = lots.get(..usize::try_from(PAGE_SIZE).unwrap_or(0)).unwrap_or(lots);
        if shown.is_empty() {
            return table::nothing_found(words::NOTHING_FOUND, HOME);
        }
        let mut last = None;
        let mut row = |lot: &Lot| {
            let name = lot.bundle.as_str();
            // Lots of one bundle read as one group: it is named once.
            let is_again = last.replace(lot.bundle.clone()).is_some_and(|last| last == lot.bundle);
            let first = if is_again {
                html! { small { (name) } }
            } else {
                self.name(name)
            };
            let mut cells = vec![first];
            cells.extend(self.facts(lot));
            Row::link(href(name), cells)
        };
        let rows: Vec<_> = shown.iter().map(&mut row).collect();
        let heads = self.heads(words::HEADS);
        let last = shown.last().filter(|_| shown.len() < lots.len());
        let next = last.map(|lot| address(HOME, &[("after", lot.id.to_string().as_str())]));
        let pages = Pages { previous, next: next.as_deref(), says: "" };
        html! { (Table::new(words::LIST, &heads, &rows).pages(pages)) }
    }

    fn sees_prices(&self) -> bool {
        self.visit.may(Right::Books) || self.visit.may(Right::Pay)
    }

    fn heads(
        &self,
        [first, left, bought, expires, until]: [&'static str; 5],
    ) -> Vec<Head<'static>> {
        let mut heads = vec![Head::text(first), Head::number(left)];
        if self.sees_prices() {
            heads.push(Head::number(words::PAID));
        }
        heads.extend([bought, expires, until].map(Head::text));
        heads
    }

    fn name(&self, name: &str) -> Markup {
        self.catalogue.bundle(name).map_or_else(|| html! { (name) }, catalogue::named)
    }

    fn money(&self, minor: i64) -> Money {
        Money::minor(minor, self.visit.member.organisation().currency)
    }

    /// Everything about a lot but what it is.
    fn facts(&self, lot: &Lot) -> Vec<Markup> {
        let mut cells = vec![html! {
            span { (figures::count(lot.remaining)) " " small { (words::of(lot.total)) } }
        }];
        if self.sees_prices() {
            cells.push(if lot.cost_nothing() {
                html! { small { (words::NOTHING_PAID) } }
            } else {
                figures::money(self.money(lot.price))
            });
        }
        cells.push(figures::time(lot.bought_at, self.clock));
        cells.push(self.expiry(lot));
        cells.push(self.refundable(lot));
        cells
    }

    fn expiry(&self, lot: &Lot) -> Markup {
        let is_soon = lot.expires_at < self.clock.plus_days(limits::LOT_SOON_DAYS);
        html! {
            span {
                (figures::time(lot.expires_at, self.clock))
                @if is_soon { " " (figures::badge(Mood::Warn, words::SOON)) }
            }
        }
    }

    fn can_be_given_back(&self, lot: &Lot) -> bool {
        let days = self.visit.member.organisation().settings.refund_days;
        !lot.cost_nothing() && lot.is_refundable(days, self.clock)
    }

    fn refundable(&self, lot: &Lot) -> Markup {
        if lot.cost_nothing() {
            return figures::none();
        }
        if !self.can_be_given_back(lot) {
            return html! { span.quiet { (words::OVER) } };
        }
        let days = self.visit.member.organisation().settings.refund_days;
        figures::time(lot.refundable_until(days), self.clock)
    }
}
