//! The list: searched as one types, narrowed by chips, page by page by number.

use app::esims::found::{Found, One, Wanted, Way};
use axum::extract::State;
use axum::response::Response;
use domain::Right;
use domain::assignment::State as Stage;
use domain::esim::ProfileStatus;
use maud::{Markup, html};

use super::LIST;
use crate::kit::chart;
use crate::kit::form::{self, Kind};
use crate::kit::table::{self, Chip, Head, Pages, Row, Search, Table};
use crate::kit::{Area, figures};
use crate::reseller::desk::Desk;
use crate::reseller::fields::address;
use crate::reseller::{Trouble, Visit};
use crate::words::esims as words;

/// eSIMs on a page.
const PAGE: i64 = 50;

pub(super) async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let text = visit.query.text("q");
    let status = ProfileStatus::parse(visit.query.text("state"));
    let way = match (visit.query.maybe("below"), visit.query.maybe("above")) {
        (Some(key), _) => Way::Below(key.to_owned()),
        (None, Some(key)) => Way::Above(key.to_owned()),
        (None, None) => Way::Top,
    };
    let is_whole = text.is_empty() && status.is_none() && way == Way::Top;
    let wanted = Wanted { text: text.to_owned(), status, way, most: PAGE };
    let found = desk.app.look_for_esims(visit.member.caller(), wanted).await?;
    let content = if is_whole && found.esims.is_empty() {
        empty(&desk)
    } else {
        listed(&found, (text, status))
    };
    let buy = || form::link_button(Kind::Main, words::EMPTY_STEP, "/portal/catalogue");
    let action = visit.may(Right::Pay).then(buy);
    Ok(visit.page((Area::Esims, words::TITLE), action, content))
}

fn empty(desk: &Desk) -> Markup {
    let step = form::link_button(Kind::Main, words::EMPTY_STEP, "/portal/catalogue");
    let curl = words::first_order(&desk.public_url);
    table::empty(words::EMPTY_TITLE, words::EMPTY_WHY, step, Some(&curl))
}

fn listed(found: &Found, (text, status): (&str, Option<ProfileStatus>)) -> Markup {
    let kept: Vec<(&str, &str)> = status.iter().map(|one| ("state", one.name())).collect();
    let chips = chips(text, status);
    let search =
        Search { action: LIST, value: text, hint: words::SEARCH, kept: &kept, chips: &chips };
    let heads = words::HEADS.map(Head::text);
    let rows: Vec<Row> = found.esims.iter().map(row).collect();
    let link = |way: &Option<Way>| way.as_ref().map(|way| page_at(text, status, way));
    let (previous, next) = (link(&found.previous), link(&found.next));
    let pages = Pages {
        previous: previous.as_deref(),
        next: next.as_deref(),
        says: if found.is_cut { words::LOOK_ON } else { "" },
    };
    let results = html! {
        @if rows.is_empty() {
            (table::nothing_found(words::NOTHING_FOUND, LIST))
            (pages)
        } @else {
            (Table::new(words::TITLE, &heads, &rows).pages(pages))
        }
    };
    html! { (search) (table::results(results)) }
}

fn chips(text: &str, status: Option<ProfileStatus>) -> Vec<Chip> {
    let chip = |label: &str, of: Option<ProfileStatus>| Chip {
        label: label.to_owned(),
        href: page_at(text, of, &Way::Top),
        on: of == status,
        count: None,
    };
    let all = std::iter::once(chip(words::ALL, None));
    let each = ProfileStatus::ALL.into_iter().map(|one| chip(words::chip(one), Some(one)));
    all.chain(each).collect()
}

/// The address of a page of the list.
fn page_at(text: &str, status: Option<ProfileStatus>, way: &Way) -> String {
    let way = match way {
        Way::Top => ("below", ""),
        Way::Below(key) => ("below", key.as_str()),
        Way::Above(key) => ("above", key.as_str()),
    };
    address(LIST, &[("q", text), ("state", status.map_or("", ProfileStatus::name)), way])
}

fn row(one: &One) -> Row {
    let esim = &one.esim;
    let (mood, word) = words::state(esim);
    let last = match esim.action_at {
        Some(at) => html! {
            span { (esim.last_action) " " small { (figures::time(at, one.clock)) } }
        },
        None => figures::none(),
    };
    let reference = html! {
        @if esim.customer_ref.is_empty() { (figures::none()) } @else { (esim.customer_ref) }
    };
    let cells = [
        figures::iccid(esim.iccid.as_str()),
        reference,
        figures::badge(mood, word),
        on_it(one),
        last,
    ];
    Row::link(super::home(&esim.iccid), cells).copying(esim.iccid.as_str())
}

/// The bundle that is in use with a bar, or the one that comes next, and how many more wait.
fn on_it(one: &One) -> Markup {
    let of = |stage: Stage| one.bundles.iter().rev().filter(move |b| b.assignment.state == stage);
    let waiting: Vec<_> = of(Stage::Queued).chain(of(Stage::Processing)).collect();
    let more = |count: usize| {
        html! { @if count > 0 { " " small { (words::more_queued(count)) } } }
    };
    if let Some(active) = of(Stage::Active).next() {
        let bar = super::bundles::bar(active, one.clock);
        return html! { div.holds { (chart::small_bundle(&bar)) (more(waiting.len())) } };
    }
    let Some((first, rest)) = waiting.split_first() else {
        return html! { span.quiet { (words::NOTHING_ON_IT) } };
    };
    let (mood, word) = words::bundle_state(first.assignment.state);
    html! {
        span {
            (first.stored.description) " " small { (figures::badge(mood, word)) } (more(rest.len()))
        }
    }
}
