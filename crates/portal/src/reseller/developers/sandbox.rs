//! The sandbox: its clock, its work, its card, its faults, and a fresh start.

use std::time::Duration;

use app::sandbox::{Act, Error, Fault, Sandbox};
use axum::extract::State;
use axum::response::Response;
use domain::Right;
use maud::{Markup, html};

use super::{Page, Part};
use crate::kit::form::{self, Choice, Field, Kind};
use crate::kit::table::{Head, Row, Table};
use crate::kit::{Mood, figures, live, section, strip};
use crate::reseller::desk::Desk;
use crate::reseller::{Form, Routes, Trouble, Visit, done, refused};
use crate::words::developers as all;
use crate::words::developers::sandbox as words;

pub(super) const HOME: &str = "/portal/developers/sandbox";
const CLOCK: &str = "/portal/developers/sandbox/clock";
const SETTLE: &str = "/portal/developers/sandbox/settle";
const HOLD: &str = "/portal/developers/sandbox/hold";
const CARD: &str = "/portal/developers/sandbox/card";
const FAULTS: &str = "/portal/developers/sandbox/faults";
const RESET: &str = "/portal/developers/sandbox/reset";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get(HOME, Right::Develop, page)
        .post(CLOCK, Right::Develop, advance)
        .post(SETTLE, Right::Develop, settle)
        .post(HOLD, Right::Develop, hold)
        .post(CARD, Right::Develop, card)
        .post(FAULTS, Right::Develop, fault)
        .post(RESET, Right::Develop, reset)
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let sandbox = match desk.app.sandbox(visit.member.caller()).await {
        Ok(sandbox) => sandbox,
        Err(Error::Store(error)) => return Err(error.into()),
        Err(_) => return Err(Trouble::Missing),
    };
    let reset = form::form(RESET, &visit.csrf, None, form::button(Kind::Danger, words::RESET));
    let content = html! {
        (live("state", summary(&sandbox, &visit)))
        (section(words::CLOCK, None, clock(&visit)))
        (section(words::WORK, None, work(&sandbox, &visit)))
        (section(words::CARD, None, test_card(&sandbox, &visit)))
        (section(words::FAULTS, None, faults(&sandbox, &desk, &visit)))
        (section(words::PHONES, None, html! {
            p { (words::PHONES_SAYS) }
            (form::link_button(Kind::Plain, words::PHONES_LINK, "/portal/esims"))
        }))
        (section(words::RESET, None, form::confirm(words::RESET, words::RESET_SAYS, reset)))
    };
    Ok(Page::of(Part::Sandbox).show_live(&visit, &content))
}

fn summary(sandbox: &Sandbox, visit: &Visit) -> Markup {
    let ahead = sandbox.clock.ms() - visit.now.ms();
    let work = match sandbox.held_at {
        None => figures::badge(Mood::Good, words::RUNS),
        Some(at) => html! {
            (figures::badge(Mood::Warn, words::HELD))
            " " small { (figures::time(at, sandbox.clock)) }
        },
    };
    strip(&[
        (words::CLOCK, figures::exact(sandbox.clock)),
        (words::AHEAD, if ahead == 0 { figures::none() } else { figures::duration(ahead) }),
        (words::WORK, work),
        (words::CARD, html! { (sandbox.card.as_deref().unwrap_or(words::NO_CARD)) }),
        (words::FAULTS, html! { (words::faults(sandbox.faults.len())) }),
    ])
}

fn clock(visit: &Visit) -> Markup {
    let steps = words::STEPS
        .map(|(seconds, label)| form::button_with(Kind::Plain, label, ("step", seconds)));
    let by_seconds = html! {
        (Field::number("seconds", words::SECONDS).required().bounds(Some(0), None))
        (form::button(Kind::Plain, words::ADVANCE))
    };
    let settle = form::button(Kind::Plain, words::SETTLE);
    html! {
        p { (words::CLOCK_SAYS) }
        div.buttons {
            (form::form(CLOCK, &visit.csrf, None, form::buttons(&steps)))
            (form::form(SETTLE, &visit.csrf, None, settle))
        }
        (form::form(CLOCK, &visit.csrf, None, by_seconds))
    }
}

fn work(sandbox: &Sandbox, visit: &Visit) -> Markup {
    let button = match sandbox.held_at {
        None => form::button_with(Kind::Plain, words::HOLD, ("on", "yes")),
        Some(_) => form::button_with(Kind::Main, words::GO_ON, ("on", "")),
    };
    html! { p { (words::WORK_SAYS) } (form::form(HOLD, &visit.csrf, None, button)) }
}

fn choices(words: &[(&'static str, &'static str)]) -> Vec<Choice<'static>> {
    words.iter().map(|(value, label)| Choice { value, label }).collect()
}

fn test_card(sandbox: &Sandbox, visit: &Visit) -> Markup {
    let label = sandbox.card.as_deref().unwrap_or("");
    let held = words::CARDS.iter().map(|(name, _)| *name);
    let held = held.filter(|name| !name.is_empty()).find(|name| label.ends_with(name));
    let cards = choices(&words::CARDS);
    let fields = html! {
        (Field::select("card", words::CARD, &cards).value(held.unwrap_or("")).required())
        (form::buttons(&[form::button(Kind::Plain, all::SAVE)]))
    };
    html! { p { (words::CARD_SAYS) } (form::form(CARD, &visit.csrf, None, fields)) }
}

fn faults(sandbox: &Sandbox, desk: &Desk, visit: &Visit) -> Markup {
    let clear = |route: &str| {
        let fields = html! {
            input type="hidden" name="route" value=(route);
            input type="hidden" name="fault" value="drop";
            (form::button_with(Kind::Plain, words::CLEAR, ("times", "0")))
        };
        form::form(FAULTS, &visit.csrf, None, fields)
    };
    let row = |(route, fault, times): &(String, Fault, i64)| {
        let what = match fault {
            Fault::Status(status) => words::status(*status),
            Fault::Slow(time) => words::slow(time.as_secs()),
            Fault::Drop => words::DROP.to_owned(),
        };
        Row::plain([
            html! { code { (route) } },
            html! { (what) },
            figures::count(*times),
            clear(route),
        ])
    };
    let rows: Vec<Row> = sandbox.faults.iter().map(row).collect();
    let [route, what] = words::FAULT_HEADS.map(Head::text);
    let times = Head::number(words::FAULT_TIMES);
    let heads = [route, what, times, Head::text(words::FAULT_CLEAR_HEAD)];
    html! {
        p { (words::FAULTS_SAYS) }
        @if !rows.is_empty() { (Table::new(words::FAULTS, &heads, &rows)) }
        (form::form(FAULTS, &visit.csrf, None, new_fault(desk)))
    }
}

fn new_fault(desk: &Desk) -> Markup {
    let routes: Vec<_> =
        desk.operations.iter().map(|name| Choice { value: name, label: name }).collect();
    let kinds = choices(&words::FAULT_KINDS);
    html! {
        (Field::select("route", words::ROUTE, &routes).value("POST /orders").required())
        (Field::radio("fault", words::FAULT, &kinds).value("status").required())
        (Field::number("status", words::STATUS).value("503").hint(words::STATUS_HINT)
            .bounds(Some(400), Some(599)))
        (Field::number("seconds", words::SLOW_SECONDS).within("fault").value("10")
            .hint(words::SLOW_HINT).bounds(Some(0), Some(60)))
        (Field::number("times", words::TIMES).value("1").required().bounds(Some(1), Some(10_000)))
        (form::buttons(&[form::button(Kind::Plain, words::ADD)]))
    }
}

async fn advance(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let seconds = form.number("step").or_else(|| form.number("seconds"));
    let Some(seconds) = seconds else { return Ok(refused(HOME, words::SECONDS_WRONG)) };
    act(&desk, &visit, Act::Advance(seconds), words::ADVANCED).await
}

async fn settle(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    act(&desk, &visit, Act::Settle, words::SETTLED).await
}

async fn hold(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let on = form.is_on("on");
    let says = if on { words::IS_HELD } else { words::GOES_ON };
    act(&desk, &visit, Act::Hold(on), says).await
}

async fn card(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let card = form.maybe("card").map(str::to_owned);
    act(&desk, &visit, Act::Card(card), words::CARD_SAVED).await
}

async fn fault(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let Some((fault, times)) = asked(&form) else { return Ok(refused(HOME, words::FAULT_WRONG)) };
    let route = form.text("route").to_owned();
    // What was set through the API may have other names; to clear those is fine.
    if times > 0 && !desk.operations.contains(&route) {
        return Ok(refused(HOME, words::FAULT_WRONG));
    }
    let says = if times == 0 { words::FAULT_CLEARED } else { words::FAULT_SET };
    act(&desk, &visit, Act::Fault(route, fault, times), says).await
}

/// What is to go wrong, and how often.
fn asked(form: &Form) -> Option<(Fault, i64)> {
    let fault = match form.text("fault") {
        "status" => Fault::Status(u16::try_from(form.number("status")?).ok()?),
        "slow" => Fault::Slow(Duration::from_secs(u64::try_from(form.number("seconds")?).ok()?)),
        "drop" => Fault::Drop,
        _ => return None,
    };
    Some((fault, form.number("times")?))
}

async fn reset(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    act(&desk, &visit, Act::Reset, words::RESET_DONE).await
}

async fn act(desk: &Desk, visit: &Visit, act: Act, says: &str) -> Result<Response, Trouble> {
    let why = match desk.app.act_in_sandbox(&visit.member, act).await {
        Ok(()) => return Ok(done(HOME, says)),
        Err(Error::Live) => return Err(Trouble::Missing),
        Err(Error::Store(error)) => return Err(error.into()),
        Err(Error::Seconds) => words::SECONDS_WRONG,
        Err(Error::Card) => words::CARD_WRONG,
        Err(Error::Fault) => words::FAULT_WRONG,
    };
    Ok(refused(HOME, why))
}
