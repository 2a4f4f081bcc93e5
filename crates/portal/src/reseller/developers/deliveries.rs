//! The log of deliveries, and sending several again.

use app::callbacks::{Again, Error, Logged};
use axum::extract::State;
use axum::response::Response;
use domain::callback::State as Sent;
use domain::{Iccid, Right, Timestamp};
use maud::{Markup, html};

use super::address::{Place, SIZE};
use super::{Page, Part, callbacks, clock, delivery};
use crate::kit::form::{self, Field, Kind};
use crate::kit::table::{self, Chip, Head, Pages, Row, Search, Table, nothing_found, results};
use crate::kit::{Mood, figures, live, menu};
use crate::reseller::desk::Desk;
use crate::reseller::fields::address;
use crate::reseller::{Form, Routes, Trouble, Visit, done, refused};
use crate::words::developers::deliveries as words;

pub(super) const HOME: &str = "/portal/developers/deliveries";
const AGAIN: &str = "/portal/developers/deliveries/again";

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get(HOME, Right::Develop, page).post(AGAIN, Right::Develop, again)
}

/// The list, narrowed to a state.
pub(super) fn narrowed(state: &str) -> String {
    address(HOME, &[("state", state)])
}

/// What the list is narrowed to.
struct Wanted {
    state: Option<Sent>,
    text: String,
    place: Place,
}

impl Wanted {
    fn of(visit: &Visit) -> Self {
        let state = Sent::parse(visit.query.text("state"));
        let text = visit.query.text("q").replace(' ', "");
        Self { state, text, place: Place::of(visit) }
    }

    fn state_name(&self) -> &'static str {
        self.state.map_or("", Sent::name)
    }

    fn kept(&self) -> [(&str, &str); 2] {
        [("q", &self.text), ("state", self.state_name())]
    }
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let wanted = Wanted::of(&visit);
    let content = content(&desk, &visit, &wanted).await?;
    Ok(Page::of(Part::Deliveries).action(send_again(&visit)).show_live(&visit, &content))
}

async fn content(desk: &Desk, visit: &Visit, wanted: &Wanted) -> Result<Markup, Trouble> {
    let org = visit.member.org();
    let chips = chips(wanted);
    let kept = [("state", wanted.state_name())];
    let search =
        Search { action: HOME, value: &wanted.text, hint: words::HINT, kept: &kept, chips: &chips };
    let iccid = Some(wanted.text.as_str()).filter(|text| !text.is_empty()).map(Iccid::parse);
    let Ok(iccid) = iccid.transpose() else {
        let nothing = nothing_found(words::NOT_AN_ICCID, HOME);
        return Ok(html! { (search) (results(live("log", nothing))) });
    };
    let narrowing = (wanted.state, iccid.as_ref());
    let piece = desk.app.delivery_log(org, narrowing, wanted.place.before, SIZE).await?;
    let is_narrow = wanted.state.is_some() || iccid.is_some() || wanted.place.before.is_some();
    if piece.found.is_empty() && !is_narrow {
        return Ok(live("log", empty()));
    }
    let next = piece.next.map(|before| wanted.place.next(HOME, &wanted.kept(), before));
    let previous = wanted.place.previous(HOME, &wanted.kept());
    let pages = Pages { previous: previous.as_deref(), next: next.as_deref(), says: "" };
    let log = if piece.found.is_empty() {
        let says = if next.is_some() { words::NOTHING_HERE } else { words::NOTHING };
        html! { (nothing_found(says, HOME)) (pages) }
    } else {
        let now = clock(desk, visit).await?;
        table_of(&piece.found, now, pages)
    };
    Ok(html! { (search) (results(live("log", log))) })
}

fn empty() -> Markup {
    let step = form::link_button(Kind::Main, words::EMPTY_STEP, callbacks::HOME);
    table::empty(words::EMPTY, words::EMPTY_SAYS, step, None)
}

fn chips(wanted: &Wanted) -> Vec<Chip> {
    let chip = |label: &str, state: Option<Sent>| Chip {
        label: label.to_owned(),
        href: address(HOME, &[("q", &wanted.text), ("state", state.map_or("", Sent::name))]),
        on: wanted.state == state,
        count: None,
    };
    vec![
        chip(words::ALL, None),
        chip(words::WAITING, Some(Sent::Waiting)),
        chip(words::DELIVERED, Some(Sent::Delivered)),
        chip(words::DEAD, Some(Sent::Dead)),
    ]
}

fn table_of(found: &[Logged], now: Timestamp, pages: Pages) -> Markup {
    let row = |one: &Logged| {
        let sent = &one.delivery;
        let esim = match sent.lane.as_str() {
            "" => figures::none(),
            iccid => figures::iccid(iccid),
        };
        let answer = one
            .last
            .as_ref()
            .map_or_else(figures::none, |last| delivery::answer((last.status, &last.answer)));
        Row::link(
            delivery::href(sent.seq),
            [
                html! { (sent.kind) },
                esim,
                badge(sent.state),
                answer,
                figures::count(sent.attempts),
                figures::time(sent.at, now),
            ],
        )
    };
    let rows: Vec<Row> = found.iter().map(row).collect();
    let [event, esim, state, answer, when] = words::HEADS.map(Head::text);
    let heads = [event, esim, state, answer, Head::number(words::ATTEMPTS), when];
    html! { (Table::new(super::words::DELIVERIES, &heads, &rows).pages(pages)) }
}

pub(super) fn badge(state: Sent) -> Markup {
    match state {
        Sent::Waiting => figures::badge(Mood::Busy, words::WAITING),
        Sent::Delivered => figures::badge(Mood::Good, words::DELIVERED),
        Sent::Dead => figures::badge(Mood::Bad, words::DEAD),
    }
}

fn send_again(visit: &Visit) -> Markup {
    let dead = html! {
        input type="hidden" name="what" value="dead";
        (form::button(Kind::Main, words::AGAIN))
    };
    let within = html! {
        input type="hidden" name="what" value="within";
        (Field::moment("from", words::FROM).required())
        (Field::moment("to", words::TO).required())
        (form::button(Kind::Main, words::AGAIN))
    };
    let sent = |fields: Markup| form::form(AGAIN, &visit.csrf, None, fields);
    menu(
        words::AGAIN,
        &[
            form::confirm(words::AGAIN_DEAD, words::AGAIN_DEAD_SAYS, sent(dead)),
            form::confirm(words::AGAIN_WITHIN, words::AGAIN_WITHIN_SAYS, sent(within)),
        ],
    )
}

async fn again(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let what = match form.text("what") {
        "dead" => Again::Dead,
        "within" => match (moment(form.text("from")), moment(form.text("to"))) {
            (Some(from), Some(to)) => Again::Within(from, to),
            _ => return Ok(refused(HOME, words::WRONG_TIME)),
        },
        _ => return Err(Trouble::Missing),
    };
    let (actor, org) = (visit.member.actor(), visit.member.org());
    match desk.app.send_again(actor, org, what).await {
        Ok(count) => Ok(done(HOME, words::sent(count))),
        Err(error) => not_sent(error, HOME),
    }
}

/// What a browser sends of a date and a time, in UTC: `2026-05-04T08:10`, perhaps with seconds.
fn moment(text: &str) -> Option<Timestamp> {
    let seconds = if text.len() == 16 { ":00" } else { "" };
    Timestamp::parse(&format!("{text}{seconds}Z")).ok()
}

pub(super) fn not_sent(error: Error, back: &str) -> Result<Response, Trouble> {
    let why = match error {
        Error::NoAddress => words::NO_ADDRESS,
        Error::Off => words::IS_OFF,
        Error::Window => words::WRONG_TIME,
        error => return Err(callbacks::trouble(error)),
    };
    Ok(refused(back, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_read_as_browsers_send_them() {
        let at = Timestamp::parse("2026-05-04T08:10:00Z").ok();
        assert_eq!(moment("2026-05-04T08:10"), at);
        assert_eq!(moment("2026-05-04T08:10:00"), at);
        for odd in ["", "2026-05-04", "tomorrow", "2026-05-04T08:10Z", "éééééééé"] {
            assert_eq!(moment(odd), None, "{odd}");
        }
    }
}
