//! One order: how far it is, its items, its eSIMs.

use app::catalogue::Catalogue;
use app::orders::leaf::Page;
use app::orders::{Assigned, Item, Status, Target};
use axum::extract::{Path, State};
use axum::response::Response;
use domain::esim::Esim;
use domain::{Money, Right, limits};
use maud::{Markup, html};

use super::super::desk::Desk;
use super::super::fields::address;
use super::super::{Trouble, Visit, catalogue, inventory};
use super::{badge, bundle_title, href};
use crate::kit::form::{self, Kind};
use crate::kit::table::{Head, Pages, Row, Table};
use crate::kit::{Area, Mood, facts, figures, live, section, strip};
use crate::words::orders as words;

/// eSIMs on one page.
const ESIMS: i64 = 50;

pub(super) async fn show(
    State(desk): State<Desk>,
    visit: Visit,
    Path(reference): Path<String>,
) -> Result<Response, Trouble> {
    let from = visit.query.number("from").unwrap_or(0).clamp(0, limits::ORDER_BUNDLES_MAX);
    let page = desk.app.order_page(visit.member.caller(), &reference, (from, ESIMS)).await?;
    let page = page.ok_or(Trouble::Missing)?;
    let shelf = desk.app.catalogue().await?;
    let content = live("order", body(&visit, &shelf, (&page, from)));
    let title = words::title(&page.order.reference);
    let here = (Area::Orders, title.as_str());
    if page.order.status == Status::Processing {
        return Ok(visit.live_page(here, None, content));
    }
    Ok(visit.page(here, None, content))
}

fn body(visit: &Visit, shelf: &Catalogue, (page, from): (&Page, i64)) -> Markup {
    let order = &page.order;
    let has_codes = order.status == Status::Completed && page.assigned > 0;
    html! {
        (summary(visit, page))
        @if let Some(next) = words::next(order.status) { p { (next) } }
        @if has_codes && visit.may(Right::Codes) {
            (section(words::CODES, None, codes(&order.reference)))
        }
        @if page.assigned > 0 && order.status != Status::Failed {
            (section(words::ESIMS, None, esims(visit, shelf, (page, from))))
        }
        @if !page.items.is_empty() {
            (section(words::ITEMS, None, items(visit, shelf, page)))
        }
        (section(words::DETAILS, None, details(visit, page)))
    }
}

fn summary(visit: &Visit, page: &Page) -> Markup {
    let order = &page.order;
    let money = |minor| visit.money(Money::minor(minor, page.currency));
    let bundles: i64 =
        page.items.iter().filter(|item| !item.kind.is_topup()).map(|item| item.quantity).sum();
    let bundles = if page.items.is_empty() { page.assigned } else { bundles };
    let mut known = vec![(words::STATE, badge(order.status))];
    if visit.may(Right::Books) {
        known.push((words::TOTAL, money(order.total)));
    }
    if bundles > 0 {
        known.push((words::QUANTITY, figures::count(bundles)));
    }
    known.push((words::PLACED, figures::time(order.created_at, page.clock)));
    if let Some(at) = order.finished_at.filter(|at| *at != order.created_at) {
        known.push((words::FINISHED, figures::time(at, page.clock)));
    }
    strip(&known)
}

fn codes(reference: &str) -> Markup {
    let here = href(reference);
    let link = |label, path: &str| form::link_button(Kind::Plain, label, &format!("{here}/{path}"));
    html! {
        p { (words::CODES_SAY) }
        (form::buttons(&[
            link(words::CSV, "esims.csv"),
            link(words::ZIP, "codes.zip"),
            link(words::PRINT_SIX, "print?per=6"),
            link(words::PRINT_TWELVE, "print?per=12"),
        ]))
    }
}

fn esims(visit: &Visit, shelf: &Catalogue, (page, from): (&Page, i64)) -> Markup {
    let row = |(one, esim): &(Assigned, Option<Esim>)| {
        let cells = [
            figures::iccid(one.iccid.as_str()),
            html! { (bundle_title(shelf, one.bundle.as_str())) },
            html! { (if one.is_new_esim { words::NEW_ESIM } else { words::OLD_ESIM }) },
            state(esim.as_ref()),
        ];
        match esim {
            Some(esim) => Row::link(format!("/portal/esims/{}", esim.iccid), cells)
                .copying(one.iccid.as_str()),
            None => Row::plain(cells),
        }
    };
    let rows: Vec<_> = page.esims.iter().map(row).collect();
    let heads = words::ESIM_HEADS.map(Head::text);
    let path = visit.path.split('?').next().unwrap_or(&visit.path);
    let at = |from: i64| address(path, &[("from", from.to_string().as_str())]);
    let to = from + i64::try_from(rows.len()).unwrap_or(0);
    let previous = (from > 0).then(|| at((from - ESIMS).max(0)));
    let next = (to < page.assigned && !rows.is_empty()).then(|| at(to));
    let says = if page.assigned > ESIMS {
        words::showing((from + 1).min(page.assigned), to, page.assigned)
    } else {
        String::new()
    };
    let pages = Pages { previous: previous.as_deref(), next: next.as_deref(), says: &says };
    html! { (Table::new(words::ESIMS, &heads, &rows).pages(pages)) }
}

fn state(esim: Option<&Esim>) -> Markup {
    let Some(esim) = esim else { return figures::badge(Mood::Quiet, words::GONE) };
    let mood = match (esim.is_deactivated(), esim.suspended_by) {
        (true, _) => Mood::Bad,
        (false, Some(_)) => Mood::Warn,
        (false, None) if esim.first_installed_at.is_some() => Mood::Good,
        (false, None) => Mood::Quiet,
    };
    figures::badge(mood, words::esim(esim.status, esim.suspended_by.is_some()))
}

fn items(visit: &Visit, shelf: &Catalogue, page: &Page) -> Markup {
    let money = |minor| visit.money(Money::minor(minor, page.currency));
    let market = visit.member.caller().market();
    let sees_money = visit.may(Right::Books);
    let row = |item: &Item| {
        let title = words::about(item.kind, bundle_title(shelf, &item.item));
        let is_money = item.kind.is_topup();
        let quantity = if is_money { figures::none() } else { figures::count(item.quantity) };
        let each = if is_money { figures::none() } else { money(item.price_per_unit) };
        let mut cells = vec![html! { (title) }, quantity];
        if sees_money {
            cells.extend([each, money(item.sub_total)]);
        }
        match shelf.offer(market, &item.item).filter(|_| !is_money) {
            Some(offer) => Row::link(catalogue::href(offer.bundle.name.as_str()), cells),
            None => Row::plain(cells),
        }
    };
    let rows: Vec<_> = page.items.iter().map(row).collect();
    let [what, quantity, each, sum] = words::ITEM_HEADS;
    let mut heads = vec![Head::text(what), Head::number(quantity)];
    if sees_money {
        heads.extend([each, sum].map(Head::number));
    }
    html! { (Table::new(words::ITEMS, &heads, &rows)) }
}

fn details(visit: &Visit, page: &Page) -> Markup {
    let order = &page.order;
    let money = |minor| figures::money(Money::minor(minor, page.currency));
    let mut known = vec![(words::REFERENCE, figures::copyable(&order.reference, words::REFERENCE))];
    if order.target != Target::Nowhere {
        let target = html! {
            @if order.target == Target::Inventory {
                a href=(inventory::HOME) { (words::target(order.target)) }
            } @else { (words::target(order.target)) }
        };
        known.push((words::WHERE, target));
    }
    if visit.may(Right::Books) {
        if order.test_credit > 0 {
            known.push((words::TEST_CREDIT, money(order.test_credit)));
        }
        known.push((words::BALANCE, money(order.running_balance)));
        if let Some(receipt) = &page.receipt {
            known.push((words::RECEIPT, html! { a href=(receipt) { (words::OPEN_RECEIPT) } }));
        }
    }
    if !order.source_ip.is_empty() {
        known.push((words::FROM, html! { (order.source_ip) }));
    }
    facts(&known)
}
