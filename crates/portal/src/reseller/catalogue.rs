//! The catalogue: search, filter, buy with a summary before paying.

mod bundle;
mod buy;

use app::catalogue::{Catalogue, Filter, Offer};
use axum::extract::State;
use axum::response::Response;
use domain::Right;
use domain::catalogue::{Bundle, Data, DurationUnit};
use domain::filter::{Comparison, NumberTest, Page, TextTest};
use maud::{Markup, html};

use super::desk::Desk;
use super::fields::address;
use super::{Routes, Trouble, Visit};
use crate::kit::form::{self, Kind};
use crate::kit::table::{self, Chip, Head, Pages, Row, Search, Table};
use crate::kit::{Area, figures};
use crate::words::catalogue as words;

pub(super) const HOME: &str = "/portal/catalogue";
const PAGE_SIZE: i64 = 50;
/// Countries that a row names.
const NAMED: usize = 3;
/// Groups that have a chip each; a catalogue with more of them is searched by word.
const GROUP_CHIPS: usize = 8;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get(HOME, Right::See, list)
        .get("/portal/catalogue/{name}", Right::See, bundle::show)
        .post("/portal/catalogue/buy/check", Right::Pay, buy::check)
        .post("/portal/catalogue/buy", Right::Pay, buy::buy)
}

/// What the address asks for.
struct Asked<'v> {
    text: &'v str,
    data: &'v str,
    days: &'v str,
    group: &'v str,
}

impl<'v> Asked<'v> {
    fn of(visit: &'v Visit) -> Self {
        let text = |name| visit.query.text(name);
        Self { text: text("q"), data: text("data"), days: text("days"), group: text("group") }
    }

    /// The same list with other choices.
    fn href(&self, data: &str, days: &str, group: &str) -> String {
        address(HOME, &[("q", self.text), ("data", data), ("days", days), ("group", group)])
    }

    fn page(&self, number: i64) -> String {
        let number = number.to_string();
        let pairs = [("q", self.text), ("data", self.data), ("days", self.days)];
        let more = [("group", self.group), ("page", &number)];
        address(HOME, &[&pairs[..], &more[..]].concat())
    }

    fn filter(&self) -> Filter {
        let between = |ranges: &[(&str, &str, i64, i64)], wanted: &str| {
            let range = ranges.iter().find(|(word, ..)| *word == wanted);
            range.map_or_else(Vec::new, |(_, _, least, most)| {
                let least = NumberTest { comparison: Comparison::Gte, value: *least };
                vec![least, NumberTest { comparison: Comparison::Lte, value: *most }]
            })
        };
        let group = Some(self.group).filter(|group| !group.is_empty());
        Filter {
            group: group.map(|group| TextTest::Is(group.to_owned())).into_iter().collect(),
            data_amount: between(&words::DATA, self.data),
            duration: between(&words::DAYS, self.days),
            unlimited: (self.data == ENDLESS).then_some(true),
            ..Filter::default()
        }
    }

    fn chips(&self, groups: &[&str]) -> Vec<Chip> {
        let toggled = |word: &str, now: &str| if word == now { String::new() } else { word.into() };
        let chip = |label: &str, href, on| Chip { label: label.into(), href, on, count: None };
        let data = words::DATA.iter().map(|(word, label, ..)| (*word, *label));
        let data = data.chain([(ENDLESS, words::UNLIMITED)]).map(|(word, label)| {
            let href = self.href(&toggled(word, self.data), self.days, self.group);
            chip(label, href, word == self.data)
        });
        let days = words::DAYS.iter().map(|(word, label, ..)| {
            let href = self.href(self.data, &toggled(word, self.days), self.group);
            chip(label, href, *word == self.days)
        });
        // A choice of one is none.
        let groups = if groups.len() > 1 { groups } else { &[] };
        let groups = groups.iter().take(GROUP_CHIPS).map(|group| {
            let href = self.href(self.data, self.days, &toggled(group, self.group));
            chip(group, href, *group == self.group)
        });
        data.chain(days).chain(groups).collect()
    }
}

/// The word in the address for data without an end.
const ENDLESS: &str = "unlimited";

async fn list(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let catalogue = desk.app.catalogue().await?;
    let market = visit.member.caller().market();
    let offers = catalogue.offers(market);
    if offers.is_empty() {
        let step = form::link_button(Kind::Plain, words::EMPTY_STEP, "/portal/account");
        let curl = words_curl(&desk);
        let empty = table::empty(words::EMPTY, words::EMPTY_WHY, step, Some(&curl));
        return Ok(visit.page((Area::Catalogue, words::TITLE), None, empty));
    }
    let asked = Asked::of(&visit);
    let groups: Vec<_> = catalogue.groups(market).iter().map(|group| &*group.name).collect();
    let chips = asked.chips(&groups);
    let found = catalogue.search(offers, asked.text, &asked.filter());
    let kept = [("data", asked.data), ("days", asked.days), ("group", asked.group)];
    let search = Search {
        action: HOME,
        value: asked.text,
        hint: words::SEARCH_HINT,
        kept: &kept.into_iter().filter(|(_, value)| !value.is_empty()).collect::<Vec<_>>(),
        chips: &chips,
    };
    let number = visit.query.number("page").unwrap_or(1).max(1);
    let page = Page { number, size: PAGE_SIZE };
    let content = html! {
        (search)
        (table::results(rows(&catalogue, &asked, (&found, page))))
    };
    Ok(visit.page((Area::Catalogue, words::TITLE), None, content))
}

fn words_curl(desk: &Desk) -> String {
    format!("curl -H \"X-API-Key: $TERN_KEY\" {}/v2.5/catalogue", desk.public_url)
}

fn rows(catalogue: &Catalogue, asked: &Asked, (found, page): (&[Offer], Page)) -> Markup {
    let shown = page.of(found);
    if shown.is_empty() {
        return table::nothing_found(words::NOTHING_FOUND, HOME);
    }
    let row = |offer: &Offer| {
        let bundle = offer.bundle;
        Row::link(
            href(bundle.name.as_str()),
            [
                named(bundle),
                data(bundle),
                lasts(bundle),
                works_in(catalogue, bundle),
                figures::money(offer.price),
            ],
        )
    };
    let rows: Vec<_> = shown.iter().map(row).collect();
    let [name, data, lasts, countries, price] = words::HEADS;
    let heads = [
        Head::text(name),
        Head::number(data),
        Head::number(lasts),
        Head::text(countries),
        Head::number(price),
    ];
    let all = i64::try_from(found.len()).unwrap_or(i64::MAX);
    let last = page.offset() + i64::try_from(shown.len()).unwrap_or(0);
    let previous = (page.number > 1).then(|| asked.page(page.number - 1));
    let next = (last < all).then(|| asked.page(page.number + 1));
    let says = words::showing(page.offset() + 1, last, all);
    let pages = Pages { previous: previous.as_deref(), next: next.as_deref(), says: &says };
    html! { (Table::new(words::LIST, &heads, &rows).pages(pages)) }
}

/// Where the page of a bundle is. Its name needs no quoting there.
pub(super) fn href(name: &str) -> String {
    format!("{HOME}/{name}")
}

/// A bundle as people call it, with its name below.
pub(super) fn named(bundle: &Bundle) -> Markup {
    html! { (title(bundle)) br; small { (bundle.name.as_str()) } }
}

/// What people call it.
pub(super) fn title(bundle: &Bundle) -> &str {
    if bundle.description.is_empty() { bundle.name.as_str() } else { &bundle.description }
}

/// How much data.
pub(super) fn data(bundle: &Bundle) -> Markup {
    match bundle.data {
        Data::Megabytes(megabytes) => figures::bytes(megabytes.saturating_mul(1_000_000)),
        Data::Unlimited { .. } => html! { (words::UNLIMITED) },
    }
}

/// How long.
pub(super) fn lasts(bundle: &Bundle) -> Markup {
    let unit = match bundle.duration_unit {
        DurationUnit::Day => "day",
        DurationUnit::Month => "month",
    };
    let plural = if bundle.duration == 1 { "" } else { "s" };
    html! { span.figure { (bundle.duration) small { "\u{a0}" (unit) (plural) } } }
}

/// The countries a bundle works in: of a regional one those it roams in.
pub(super) fn countries(bundle: &Bundle) -> &[String] {
    if bundle.roaming.is_empty() { &bundle.countries } else { &bundle.roaming }
}

fn works_in(catalogue: &Catalogue, bundle: &Bundle) -> Markup {
    let isos = countries(bundle);
    let names: Vec<_> = isos.iter().take(NAMED).map(|iso| country(catalogue, iso)).collect();
    let rest = isos.len().saturating_sub(NAMED);
    html! {
        (names.join(", "))
        @if rest > 0 { " " small { (words::more(rest)) } }
    }
}

fn country<'c>(catalogue: &'c Catalogue, iso: &'c str) -> &'c str {
    catalogue.country(iso).map_or(iso, |country| &country.name)
}
