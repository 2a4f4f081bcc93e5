//! One delivery: what was sent, every attempt, and sending it again.

use app::callbacks::{Again, Attempt, Delivery};
use axum::extract::{Path, State};
use axum::response::Response;
use domain::Right;
use domain::organisation::CallbackVersion;
use domain::{Timestamp, callback};
use maud::{Markup, html};

use super::deliveries::{self, not_sent};
use super::{Page, Part, callbacks, clock};
use crate::kit::form::{self, Kind};
use crate::kit::table::{Head, Row, Table, terminal};
use crate::kit::{Mood, facts, figures, live, section, strip};
use crate::reseller::desk::Desk;
use crate::reseller::{Routes, Trouble, Visit, done};
use crate::words::developers::deliveries as words;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get("/portal/developers/deliveries/{seq}", Right::Develop, page).post(
        "/portal/developers/deliveries/{seq}/again",
        Right::Develop,
        again,
    )
}

/// Where the delivery of an event is shown.
pub(super) fn href(seq: i64) -> String {
    format!("{}/{seq}", deliveries::HOME)
}

async fn page(
    State(desk): State<Desk>,
    visit: Visit,
    Path(seq): Path<String>,
) -> Result<Response, Trouble> {
    let seq = seq.parse().map_err(|_| Trouble::Missing)?;
    let found = desk.app.delivery(visit.member.org(), seq).await;
    let (delivery, attempts, due) = found.map_err(callbacks::trouble)?;
    let now = clock(&desk, &visit).await?;
    let content = html! {
        (live("state", html! {
            (summary(&delivery, (due, attempts.last()), now))
            (section(words::TRIED, None, tried(&attempts, now)))
        }))
        (section(words::BODY, Some(copy(&delivery)), body(&delivery)))
        (section(words::HEADERS, None, headers(&delivery)))
        p { (form::link_button(Kind::Plain, words::BACK, deliveries::HOME)) }
    };
    let button = form::button(Kind::Plain, words::AGAIN);
    let again = form::form(&format!("{}/again", href(seq)), &visit.csrf, None, button);
    let title = words::title(&delivery.kind, seq);
    Ok(Page::behind(Part::Deliveries, &title).action(again).show_live(&visit, &content))
}

fn summary(
    delivery: &Delivery,
    (due, last): (Option<Timestamp>, Option<&Attempt>),
    clock: Timestamp,
) -> Markup {
    let mut known = vec![
        (words::STATE, deliveries::badge(delivery.state)),
        (words::EVENT_TIME, figures::time(delivery.at, clock)),
    ];
    match (delivery.state, due, last) {
        (callback::State::Waiting, Some(due), _) => {
            known.push((words::NEXT, figures::time(due, clock)));
        }
        // By the organisation's clock, as everything here.
        (callback::State::Delivered, _, Some(last)) => {
            known.push((words::DONE, figures::time(last.at, clock)));
        }
        _ => {}
    }
    if !delivery.lane.is_empty() {
        let link = format!("/portal/esims/{}", delivery.lane);
        known.push((words::ESIM, html! { a href=(link) { (figures::iccid(&delivery.lane)) } }));
    }
    strip(&known)
}

fn tried(attempts: &[Attempt], now: Timestamp) -> Markup {
    if attempts.is_empty() {
        return html! { p { (words::NOT_TRIED) } };
    }
    let row = |one: &Attempt| {
        let begins = match one.status {
            Some(_) if !one.answer.is_empty() => html! { code.wrap { (one.answer) } },
            _ => figures::none(),
        };
        Row::plain([
            figures::count(one.n),
            answer((one.status, &one.answer)),
            figures::duration(one.took_ms),
            figures::time(one.at, now),
            begins,
        ])
    };
    let rows: Vec<Row> = attempts.iter().rev().map(row).collect();
    let [no, answer, took, when, begins] = words::TRIED_HEADS;
    let heads = [
        Head::text(no),
        Head::text(answer),
        Head::number(took),
        Head::text(when),
        Head::text(begins),
    ];
    html! { (Table::new(words::TRIED, &heads, &rows)) }
}

/// What came back: a status, or why there is none.
pub(super) fn answer((status, text): (Option<i64>, &str)) -> Markup {
    match status {
        Some(200..300) => figures::badge(Mood::Good, &status.unwrap_or(0).to_string()),
        Some(status) => figures::badge(Mood::Bad, &status.to_string()),
        None if text.is_empty() => figures::note(Mood::Bad, words::NO_ANSWER),
        None => figures::note(Mood::Bad, text),
    }
}

fn copy(delivery: &Delivery) -> Markup {
    html! { span.copyable { small { (words::BODY_COPY) }
    (figures::copy_button(&delivery.body, words::BODY)) } }
}

fn body(delivery: &Delivery) -> Markup {
    html! {
        (terminal(words::BODY_CAPTION, &super::events::pretty(&delivery.body)))
        p { small { (words::BODY_SAYS) } }
    }
}

fn headers(delivery: &Delivery) -> Markup {
    let plain = words::PLAIN_HEADERS.iter();
    let mut known: Vec<_> =
        plain.map(|(name, value)| (*name, html! { code { (value) } })).collect();
    if delivery.form == CallbackVersion::V3 {
        let id = delivery.event.to_string();
        known.push(("webhook-id", figures::copyable(&id, "webhook-id")));
        let signed = words::SIGNED_HEADERS.iter();
        known.extend(signed.map(|(name, says)| (*name, html! { (says) })));
    }
    facts(&known)
}

async fn again(
    State(desk): State<Desk>,
    visit: Visit,
    Path(seq): Path<String>,
) -> Result<Response, Trouble> {
    let seq = seq.parse().map_err(|_| Trouble::Missing)?;
    let (actor, org) = (visit.member.actor(), visit.member.org());
    match desk.app.send_again(actor, org, Again::One(seq)).await {
        Ok(_) => Ok(done(&href(seq), words::SENT_ONE)),
        Err(error) => not_sent(error, &href(seq)),
    }
}
