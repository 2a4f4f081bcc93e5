//! What happened to it, what is under way, and what was sent about it and to it.

use app::esims::sms::Message;
use domain::filter::Page;
use domain::{Mode, Right};
use maud::{Markup, html};

use super::one::About;
use crate::kit::form::{self, Field, Kind};
use crate::kit::table::{Head, Pages, Row, Table};
use crate::kit::{self, facts, figures};
use crate::reseller::desk::Desk;
use crate::reseller::{Trouble, Visit};
use crate::words::esims as words;

/// Entries of the history on the page.
const ENTRIES: i64 = 12;
/// Callbacks on the page.
const DELIVERIES: i64 = 10;

pub(super) async fn history(desk: &Desk, visit: &Visit, about: &About) -> Result<Markup, Trouble> {
    let iccid = &about.esim().iccid;
    let number = visit.query.number("history").filter(|n| (1..1_000_000).contains(n)).unwrap_or(1);
    let page = Page { number, size: ENTRIES };
    let found = desk.app.esim_history(visit.member.caller(), iccid, Some(page)).await?;
    let (entries, count) = found.ok_or(Trouble::Missing)?;
    let rows: Vec<Row> = entries
        .iter()
        .map(|entry| {
            let what = html! {
                (entry.kind.name())
                @if let Some(percent) = entry.percent { " " small { (percent) "\u{a0}%" } }
            };
            let bundle = match &entry.bundle {
                Some((bundle, _)) => html! { (named(about, bundle)) },
                None => figures::none(),
            };
            Row::plain([figures::time(entry.at, about.clock()), what, bundle])
        })
        .collect();
    let link = |number: i64| format!("{}?history={number}", super::home(iccid));
    let previous = (number > 1).then(|| link(number - 1));
    let next = (number < page.count(count)).then(|| link(number + 1));
    let pages = Pages { previous: previous.as_deref(), next: next.as_deref(), says: "" };
    let heads = words::HISTORY_HEADS.map(Head::text);
    let body = html! {
        @if rows.is_empty() { p.quiet { (words::NO_HISTORY) } }
        @else { (Table::new(words::HISTORY, &heads, &rows).pages(pages)) }
    };
    Ok(kit::section(words::HISTORY, None, body))
}

/// A bundle as people know it.
fn named<'a>(about: &'a About, bundle: &'a str) -> &'a str {
    about.catalogue.bundle(bundle).map_or(bundle, |known| known.description.as_str())
}

/// What it is.
pub(super) fn facts_about(about: &About) -> Markup {
    let (esim, clock) = (about.esim(), about.clock());
    let time = |at: Option<_>| at.map_or_else(figures::none, |at| figures::time(at, clock));
    let location = match &esim.seen {
        None => figures::none(),
        Some(seen) => {
            let network = about.catalogue.network(&seen.country, &seen.network);
            let network = network.map_or(seen.network.as_str(), |known| known.brand.as_str());
            html! {
                (about.country(&seen.country))
                @if !network.is_empty() { ", " (network) }
                " " small { (figures::time(seen.at, clock)) }
            }
        }
    };
    let text = |text: &str| match text {
        "" => figures::none(),
        text => html! { (text) },
    };
    let mut known = vec![
        (words::ICCID, figures::iccid_copy(esim.iccid.as_str())),
        (words::REFERENCE, text(&esim.customer_ref)),
        (words::LOCATION, location),
        (words::MSISDN, text(esim.msisdn.as_ref().map_or("", |number| number.as_str()))),
        (words::KIND, html! { (esim.profile_name) }),
        (words::YOURS_SINCE, time(Some(esim.assigned_at))),
        (words::INSTALLED, time(esim.first_installed_at)),
        (words::FIRST_USED, time(esim.first_used_at)),
    ];
    if esim.leaves_at.is_some() {
        known.push((words::LEAVES, time(esim.leaves_at)));
    }
    kit::section(words::ABOUT, None, facts(&known))
}

pub(super) fn work(about: &About) -> Markup {
    let work = &about.work;
    let mut rows: Vec<Row> = Vec::new();
    for job in &work.jobs {
        rows.push(Row::plain([
            html! { (words::work(&job.kind)) },
            figures::time(job.due_at, about.clock()),
            figures::count(job.attempts),
            html! { @if job.error.is_empty() { (figures::none()) } @else { (job.error) } },
        ]));
    }
    if let Some(due) = work.callback_due {
        let due = figures::time(due, about.clock());
        let what = html! { (words::CALLBACK_DUE) };
        rows.push(Row::plain([what, due, figures::none(), figures::none()]));
    }
    let [what, due, tries, error] = words::WORK_HEADS;
    let heads = [Head::text(what), Head::text(due), Head::number(tries), Head::text(error)];
    let body = html! {
        @if rows.is_empty() { p.quiet { (words::NO_WORK) } }
        @else { (Table::new(words::WORK, &heads, &rows)) }
    };
    kit::section(words::WORK, None, body)
}

pub(super) async fn messages(desk: &Desk, visit: &Visit, about: &About) -> Result<Markup, Trouble> {
    let iccid = &about.esim().iccid;
    let kept = desk.app.messages(visit.member.caller(), iccid).await?.unwrap_or_default();
    let is_live = visit.member.caller().mode() == Mode::Live;
    let row = |one: &Message| {
        let at = figures::time(one.at, about.clock());
        Row::plain([at, html! { (one.sender) }, html! { (one.body) }])
    };
    let rows: Vec<Row> = kept.iter().map(row).collect();
    let heads = words::MESSAGE_HEADS.map(Head::text);
    let body = html! {
        @if rows.is_empty() { p.quiet { (words::NO_MESSAGES) } }
        @else { (Table::new(words::MESSAGES, &heads, &rows)) }
        @if is_live { p.quiet { (words::MESSAGES_LIVE) } }
        @if about.esim().msisdn.is_none() { p.quiet { (words::NO_NUMBER) } }
        @else if visit.may(Right::Care) { (send(visit, about)) }
    };
    Ok(kit::section(words::MESSAGES, None, body))
}

fn send(visit: &Visit, about: &About) -> Markup {
    let fields = html! {
        (Field::textarea("message", words::MESSAGE).longest(160).required())
        (Field::text("sender", words::SENDER).hint(words::SENDER_HINT).longest(16))
        (form::buttons(&[form::button(Kind::Main, words::SEND_BUTTON)]))
    };
    let action = super::deed(&about.esim().iccid, "sms");
    let form = form::form(&action, &visit.csrf, Some(&visit.once), fields);
    form::confirm(words::SEND, words::MESSAGE_HINT, form)
}

/// Callbacks about it, the newest; each leads to what was sent and answered.
pub(super) async fn callbacks(
    desk: &Desk,
    visit: &Visit,
    about: &About,
) -> Result<Markup, Trouble> {
    let lane = (visit.member.org(), &about.esim().iccid);
    let piece = desk.app.deliveries_about(lane, None, None, DELIVERIES).await?;
    let rows: Vec<Row> = piece
        .found
        .iter()
        .map(|one| {
            let (mood, word) = words::delivery(one.state);
            Row::link(
                format!("/portal/developers/deliveries/{}", one.seq),
                [
                    html! { (one.kind) },
                    figures::badge(mood, word),
                    figures::count(one.attempts),
                    figures::time(one.made_at, visit.now),
                ],
            )
        })
        .collect();
    let [event, state, tries, when] = words::CALLBACK_HEADS;
    let heads = [Head::text(event), Head::text(state), Head::number(tries), Head::text(when)];
    let body = html! {
        @if rows.is_empty() { p.quiet { (words::NO_CALLBACKS) } }
        @else { (Table::new(words::CALLBACKS, &heads, &rows)) }
    };
    Ok(kit::section(words::CALLBACKS, None, body))
}
