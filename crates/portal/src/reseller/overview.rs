//! The overview: how things stand, at a glance.

use app::callbacks::Health;
use app::overview::{Few, InUse, Overview};
use axum::extract::State;
use axum::response::Response;
use domain::esim::ProfileStatus;
use domain::{Money, Right, Timestamp};
use maud::{Markup, html};

use super::desk::Desk;
use super::orders;
use super::{Routes, Trouble, Visit};
use crate::kit::chart::{self, Series, Share, Unit};
use crate::kit::form::{self, Kind};
use crate::kit::table::{Head, Row, Table, empty};
use crate::kit::{Area, Mood, figures, live, section, strip, tiles};
use crate::print;
use crate::words::orders as order_words;
use crate::words::overview as words;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get("/portal", Right::See, page)
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let overview = desk.app.overview(visit.member.caller()).await?;
    let buy = form::link_button(Kind::Main, words::BUY, "/portal/catalogue");
    let step = if visit.may(Right::Pay) {
        buy.clone()
    } else {
        html! {}
    };
    let is_new = overview.esims == 0 && overview.orders.is_empty();
    let content = html! {
        @if is_new { (empty(words::EMPTY_TITLE, words::EMPTY, step, None)) }
        (live("strip", summary(&visit, &overview)))
        (live("charts", charts(&visit, &overview)))
        (live("lists", lists(&visit, &overview)))
    };
    let action = visit.may(Right::Pay).then_some(buy);
    Ok(visit.live_page((Area::Home, words::TITLE), action, content))
}

fn summary(visit: &Visit, overview: &Overview) -> Markup {
    let used = overview.used_by_day.iter().map(|(_, bytes)| *bytes).sum();
    let mut facts = Vec::new();
    if visit.may(Right::Books) {
        facts.push((words::BALANCE, figures::money(overview.balances.balance)));
        if overview.balances.test_credit.in_minor() > 0 {
            facts.push((words::TEST_CREDIT, figures::money(overview.balances.test_credit)));
        }
    }
    facts.push((words::ESIMS, figures::count(overview.esims)));
    facts.push((words::USED, figures::bytes(used)));
    if overview.expiring.bundles > 0 {
        facts.push((words::EXPIRING, figures::count(overview.expiring.bundles)));
    }
    if visit.may(Right::Develop) {
        facts.push((words::CALLBACKS, callbacks(&overview.callbacks)));
    }
    strip(&facts)
}

/// How callbacks do, in a word and two numbers.
fn callbacks(health: &Health) -> Markup {
    let (mood, word) = match health {
        Health { url: None, .. } => (Mood::Quiet, words::NO_RECEIVER),
        health if health.endpoint.off_at.is_some() => (Mood::Bad, words::SWITCHED_OFF),
        health if health.endpoint.paused_at.is_some() => (Mood::Warn, words::PAUSED),
        health if health.endpoint.failing_since.is_some() => (Mood::Bad, words::FAILING),
        _ => (Mood::Good, words::WORKING),
    };
    html! {
        a href="/portal/developers/callbacks" { (figures::badge(mood, word)) }
        @for (count, word) in [(health.waiting, words::WAITING), (health.dead, words::GIVEN_UP)] {
            @if count > 0 { " " small { (print::count(count)) " " (word) } }
        }
    }
}

fn charts(visit: &Visit, overview: &Overview) -> Markup {
    let currency = overview.balances.balance.currency();
    let course: Vec<(Timestamp, i64)> =
        overview.balance_by_day.iter().map(|(day, money)| (*day, money.in_minor())).collect();
    let states: Vec<Share> = overview
        .esims_by_status
        .iter()
        .map(|(status, counted)| Share {
            word: status.name(),
            mood: mood_of(*status),
            count: counted.count,
        })
        .collect();
    let balance =
        Series { name: words::BALANCE_COURSE, unit: Unit::Money(currency), points: &course };
    let used =
        Series { name: words::USED_COURSE, unit: Unit::Bytes, points: &overview.used_by_day };
    let mut pictures = vec![chart::bars(&used)];
    if visit.may(Right::Books) {
        pictures.push(chart::area(&balance));
    }
    pictures.push(chart::states(words::BY_STATE, &states));
    tiles(&pictures)
}

/// How a profile's state is to be taken: what is not installed yet is no news.
fn mood_of(status: ProfileStatus) -> Mood {
    match status {
        ProfileStatus::Installed => Mood::Good,
        ProfileStatus::Downloaded => Mood::Busy,
        ProfileStatus::Released => Mood::Quiet,
        ProfileStatus::Unavailable => Mood::Warn,
        ProfileStatus::Deactivated => Mood::Bad,
    }
}

fn lists(visit: &Visit, overview: &Overview) -> Markup {
    let all = form::link_button(Kind::Plain, words::ALL, "/portal/orders");
    html! {
        (tiles(&[
            in_use((words::ENDING, words::ENDING_NONE), &overview.ending, overview.clock),
            in_use((words::NEARLY, words::NEARLY_NONE), &overview.nearly_used, overview.clock),
        ]))
        @if !overview.orders.is_empty() {
            (section(words::ORDERS, Some(all), latest(visit, overview)))
        }
    }
}

fn in_use((title, none): (&str, &str), few: &Few<InUse>, clock: Timestamp) -> Markup {
    let row = |bundle: &InUse| {
        let left = bundle.megabytes.saturating_mul(1_000_000).saturating_sub(bundle.used);
        Row::link(
            format!("/portal/esims/{}", bundle.iccid),
            [
                figures::iccid(bundle.iccid.as_str()),
                html! { small { (bundle.bundle.as_str()) } },
                if bundle.megabytes < 0 {
                    html! { (words::UNLIMITED) }
                } else {
                    figures::bytes(left.max(0))
                },
                figures::time(bundle.ends_at, clock),
            ],
        )
    };
    let rows: Vec<Row> = few.first.iter().map(row).collect();
    let [esim, bundle, left, ends] = words::IN_USE_HEADS;
    let heads = [Head::text(esim), Head::text(bundle), Head::number(left), Head::text(ends)];
    let is_cut = usize::try_from(few.counted.count).is_ok_and(|count| count > rows.len());
    let body = html! {
        @if rows.is_empty() { p.quiet { (none) } } @else { (Table::new(title, &heads, &rows)) }
        @if is_cut { p.quiet { (words::more(few.counted.count, few.counted.is_more)) } }
    };
    section(title, None, body)
}

fn latest(visit: &Visit, overview: &Overview) -> Markup {
    let currency = overview.balances.balance.currency();
    let rows: Vec<Row> = overview
        .orders
        .iter()
        .map(|order| {
            Row::link(
                format!("/portal/orders/{}", order.reference),
                [
                    html! { code { (order_words::short(&order.reference)) } },
                    orders::badge(order.status),
                    visit.money(Money::minor(order.total, currency)),
                    figures::time(order.created_at, overview.clock),
                ],
            )
        })
        .collect();
    let [order, state, total, placed] = words::ORDER_HEADS;
    let heads = [Head::text(order), Head::text(state), Head::number(total), Head::text(placed)];
    html! { (Table::new(words::ORDERS, &heads, &rows)) }
}
