//! Callbacks: how they do, where they go and of what, the secret, and how to check them.

use app::callbacks::{Error, Health, Took};
use app::organisations::{Callbacks, OwnChange};
use axum::extract::State;
use axum::response::Response;
use domain::organisation::Settings;
use domain::{Money, Organisation, Right, Timestamp};
use maud::{Markup, html};

use super::secrets::ask_for_secret;
use super::{Page, Part, clock, deliveries, delivery};
use crate::kit::chart::{self, Latency};
use crate::kit::form::{self, Choice, Field, Kind};
use crate::kit::table::terminal;
use crate::kit::{Mood, figures, live, section, strip};
use crate::print;
use crate::reseller::desk::Desk;
use crate::reseller::trouble::not_set;
use crate::reseller::{Form, Routes, Trouble, Visit, done, refused};
use crate::words::developers as all;
use crate::words::developers::callbacks as words;

pub(super) const HOME: &str = "/portal/developers/callbacks";
const TEST: &str = "/portal/developers/callbacks/test";
const ROTATE: &str = "/portal/developers/callbacks/secret";

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .get(HOME, Right::Develop, page)
        .post(HOME, Right::Develop, save)
        .post(TEST, Right::Develop, test)
        .post(ROTATE, Right::Develop, rotate)
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let org = visit.member.org();
    let health = desk.app.callback_health(org).await.map_err(trouble)?;
    let times = desk.app.callback_times(org).await?;
    let now = clock(&desk, &visit).await?;
    let content = html! {
        (live("health", how_it_does(&health, &times, (now, visit.now))))
        (section(words::SETTINGS, None, settings(&visit)))
        (section(words::SECRET, None, secret(&visit)))
        (section(words::VERIFY, None, html! {
            p { (words::VERIFY_SAYS) }
            details.data {
                summary { (words::VERIFY_SECRET) }
                (terminal(words::VERIFY_SECRET, words::VERIFY_SECRET_CODE))
            }
            details.data {
                summary { (words::VERIFY_KEY) }
                (terminal(words::VERIFY_KEY, words::VERIFY_KEY_CODE))
            }
        }))
    };
    let page = Page::of(Part::Callbacks);
    if health.url.is_none() {
        return Ok(page.show_live(&visit, &content));
    }
    let test = form::form(TEST, &visit.csrf, None, form::button(Kind::Main, words::TEST));
    Ok(page.action(test).show_live(&visit, &content))
}

fn how_it_does(health: &Health, times: &[Took], (clock, now): (Timestamp, Timestamp)) -> Markup {
    let endpoint = &health.endpoint;
    // The wholesaler's pause is by the real clock, the rest by the organisation's.
    let (badge, since, says) = if health.url.is_none() {
        (figures::badge(Mood::Quiet, words::NONE), None, words::NONE_SAYS)
    } else if let Some(at) = endpoint.off_at {
        (figures::badge(Mood::Bad, words::OFF), Some((at, clock)), words::OFF_SAYS)
    } else if let Some(at) = endpoint.paused_at {
        (figures::badge(Mood::Warn, words::PAUSED), Some((at, now)), words::PAUSED_SAYS)
    } else if let Some(at) = endpoint.failing_since {
        (figures::badge(Mood::Warn, words::FAILING), Some((at, clock)), words::FAILING_SAYS)
    } else {
        (figures::badge(Mood::Good, words::WELL), None, "")
    };
    let state = html! {
        (badge)
        @if let Some((at, now)) = since {
            " " small { (words::FOR) " " (figures::duration(now.ms() - at.ms())) }
        }
    };
    let took = |ms: Option<i64>| ms.map_or_else(figures::none, figures::duration);
    let link = |count: i64, state: &str| {
        let href = deliveries::narrowed(state);
        html! {
            @if count == 0 { (figures::count(0)) }
            @else { a href=(href) { (figures::count(count)) } }
        }
    };
    let points: Vec<_> = times
        .iter()
        .map(|took| Latency { at: took.at, p50: took.p50_ms, p99: took.p99_ms })
        .collect();
    html! {
        (strip(&[
            (words::STATE, state),
            (words::WAITING, link(health.waiting, "waiting")),
            (words::DEAD, link(health.dead, "dead")),
            (words::P50, took(health.p50_ms)),
            (words::P99, took(health.p99_ms)),
        ]))
        @if endpoint.off_at.is_some() && !endpoint.off_why.is_empty() {
            p { (figures::note(Mood::Bad, &endpoint.off_why)) }
        }
        @if !says.is_empty() { p { (says) } }
        @if points.len() > 1 { (chart::latency(words::TIMES, &points)) }
    }
}

fn settings(visit: &Visit) -> Markup {
    let organisation = visit.member.organisation();
    let settings = &organisation.settings;
    let choices = |words: &[(&'static str, &'static str)]| -> Vec<Choice<'static>> {
        words.iter().map(|(value, label)| Choice { value, label }).collect()
    };
    let (versions, usages) = (choices(&words::VERSIONS), choices(&words::USAGES));
    let url = settings.callback_url.as_ref().map_or("", |url| url.as_str());
    let steps: Vec<_> = settings.usage_steps.iter().map(i64::to_string).collect();
    let (low, label, hint) = low_balance(organisation);
    let fields = html! {
        (Field::url("url", words::URL).value(url).hint(words::URL_HINT).complete("off"))
        (Field::radio("version", words::VERSION, &versions)
            .value(settings.callback_version.name()).required())
        (Field::radio("usage", words::USAGE, &usages).value(settings.usage_events.name())
            .required())
        (Field::text("steps", words::STEPS).value(&steps.join(", ")).hint(words::STEPS_HINT))
        (kinds(settings))
        (Field::amount("low", &label).value(&low).hint(&hint))
        (form::buttons(&[form::button(Kind::Main, all::SAVE)]))
    };
    form::form(HOME, &visit.csrf, None, fields)
}

fn kinds(settings: &Settings) -> Markup {
    let is_on = |kind: &str| settings.callback_events.iter().any(|on| on == kind);
    html! {
        fieldset.field {
            legend { (words::KINDS) }
            @for (kind, says) in words::KINDS_SAY {
                (Field::checkbox(&format!("kind-{kind}"), kind, is_on(kind)).hint(says))
            }
        }
    }
}

/// What is set, if anything, what it is called, and what it is otherwise.
fn low_balance(organisation: &Organisation) -> (String, String, String) {
    let mut usual = organisation.clone();
    usual.settings.low_balance = None;
    let set = organisation.settings.low_balance;
    let set = set.map(|minor| Money::minor(minor, organisation.currency).in_major());
    let usual = print::amount(usual.low_balance());
    let code = organisation.currency.code().to_owned();
    (set.unwrap_or_default(), words::low_balance(&code), words::low_balance_hint(&usual))
}

async fn save(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let Some(steps) = steps(form.text("steps")) else {
        return Ok(refused(HOME, words::STEPS_WRONG));
    };
    let currency = visit.member.organisation().currency;
    let low = match form.maybe("low").map(|text| Money::parse_major(text, currency)) {
        None => 0,
        Some(Ok(low)) => low.in_minor(),
        Some(Err(_)) => return Ok(refused(HOME, words::AMOUNT_WRONG)),
    };
    let is_ticked = |(kind, _): &&(&str, &str)| form.is_on(&format!("kind-{kind}"));
    let kinds = words::KINDS_SAY.iter().filter(is_ticked).map(|(kind, _)| (*kind).to_owned());
    let change = OwnChange::Callbacks(Callbacks {
        url: Some(form.text("url").to_owned()),
        version: Some(form.text("version").to_owned()),
        usage_events: Some(form.text("usage").to_owned()),
        usage_steps: Some(steps),
        events: Some(kinds.collect()),
        low_balance: Some(low),
    });
    match desk.app.change_own(&visit.member, change).await {
        Ok(_) => Ok(done(HOME, all::SAVED)),
        Err(error) => not_set(error, HOME),
    }
}

/// Percentages with commas or spaces between.
fn steps(text: &str) -> Option<Vec<i64>> {
    let parts = text.split([',', ' ', ';']).filter(|part| !part.is_empty());
    parts.map(|part| part.trim_end_matches('%').parse().ok()).collect()
}

async fn test(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let (actor, org) = (visit.member.actor(), visit.member.org());
    match desk.app.test_callback_of(actor, org).await {
        Ok((_, seq)) => Ok(done(&delivery::href(seq), words::TESTED)),
        Err(Error::NoAddress) => Ok(refused(HOME, words::NO_ADDRESS)),
        Err(Error::Off) => Ok(refused(HOME, words::IS_OFF)),
        Err(error) => Err(trouble(error)),
    }
}

fn secret(visit: &Visit) -> Markup {
    let button = form::button(Kind::Main, words::SECRET_ROTATE_BUTTON);
    let rotate = form::form(ROTATE, &visit.csrf, None, button);
    html! {
        p { (words::SECRET_SAYS) }
        (ask_for_secret(visit))
        (form::confirm(words::SECRET_ROTATE, words::SECRET_ROTATE_SAYS, rotate))
    }
}

async fn rotate(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let (actor, org) = (visit.member.actor(), visit.member.org());
    desk.app.rotate_webhook_secret(actor, org).await.map_err(trouble)?;
    Ok(done(HOME, words::SECRET_ROTATED))
}

pub(super) fn trouble(error: Error) -> Trouble {
    match error {
        Error::Store(error) => error.into(),
        _ => Trouble::Missing,
    }
}

#[cfg(test)]
mod tests {
    use domain::event;

    use super::*;

    #[test]
    fn every_kind_that_can_be_sent_is_explained() {
        assert_eq!(words::KINDS_SAY.map(|(kind, _)| kind), event::OPTIONAL);
    }

    #[test]
    fn steps_are_read_as_people_write_them() {
        assert_eq!(steps("50, 80,100"), Some(vec![50, 80, 100]));
        assert_eq!(steps("50% 80 %"), None);
        assert_eq!(steps("50% 80%"), Some(vec![50, 80]));
        assert_eq!(steps(""), Some(vec![]));
        assert_eq!(steps("half"), None);
    }
}
