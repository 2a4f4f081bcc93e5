//! Requests that failed: what was asked, what was answered, and by which name to find it in a log.

use std::collections::HashMap;

use app::failures::Failure;
use axum::extract::State;
use axum::response::Response;
use domain::{KeyId, Right};
use maud::{Markup, html};

use super::address::{Place, SIZE};
use super::{Page, Part, keys};
use crate::kit::form::{self, Kind};
use crate::kit::table::{self, Head, Pages, Row, Search, Table, nothing_found, results};
use crate::kit::{Mood, facts, figures, section};
use crate::reseller::desk::Desk;
use crate::reseller::{Routes, Trouble, Visit};
use crate::words::developers::requests as words;

pub(super) const HOME: &str = "/portal/developers/requests";

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get(HOME, Right::Develop, page)
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let (caller, name) = (visit.member.caller(), visit.query.text("q"));
    let place = Place::of(&visit);
    let found = match name {
        "" => desk.app.failed_requests(caller, place.before, SIZE).await?,
        name => desk.app.failed_requests_called(caller, name).await?,
    };
    if found.is_empty() && name.is_empty() && place.before.is_none() {
        let step = form::link_button(Kind::Plain, words::EMPTY_STEP, "/docs");
        let curl = format!("curl -i -H \"X-API-Key: $TERN_KEY\" {}/v2.5/no", desk.public_url);
        let empty = table::empty(words::EMPTY, words::EMPTY_SAYS, step, Some(&curl));
        return Ok(Page::of(Part::Requests).show(&visit, &html! { (empty) (meaning()) }));
    }
    let labels = labels(&desk, &visit).await?;
    let is_full = name.is_empty() && i64::try_from(found.len()) == Ok(SIZE);
    let next = found.last().filter(|_| is_full).map(|last| place.next(HOME, &[], last.id));
    let previous = place.previous(HOME, &[]);
    let pages = Pages { previous: previous.as_deref(), next: next.as_deref(), says: "" };
    let search = Search { action: HOME, value: name, hint: words::HINT, kept: &[], chips: &[] };
    let list = if found.is_empty() {
        nothing_found(words::NOTHING, HOME)
    } else {
        list(&found, &labels, &visit, pages)
    };
    let content = html! { p { (words::SAYS) } (search) (results(list)) (meaning()) };
    Ok(Page::of(Part::Requests).show(&visit, &content))
}

/// What the keys of the organisation are called.
async fn labels(desk: &Desk, visit: &Visit) -> Result<HashMap<KeyId, String>, Trouble> {
    let keys = desk.app.keys(visit.member.org()).await.map_err(keys::trouble)?;
    Ok(keys.iter().map(|key| (key.id, keys::label(key).to_owned())).collect())
}

fn list(found: &[Failure], labels: &HashMap<KeyId, String>, visit: &Visit, pages: Pages) -> Markup {
    let row = |one: &Failure| {
        let key = labels.get(&one.key).map_or(words::UNKNOWN_KEY, String::as_str);
        let mood = if one.status >= 500 { Mood::Bad } else { Mood::Warn };
        Row::plain([
            html! { code { (one.method) " " (one.route) } },
            html! {
                div {
                    (figures::badge(mood, &one.status.to_string())) " " code { (one.code) }
                    @if !one.message.is_empty() { br; small { (one.message) } }
                }
            },
            figures::copyable(&one.request, words::HINT),
            html! { div { (one.client) br; small { (words::with(key)) } } },
            figures::time(one.at, visit.now),
        ])
    };
    let rows: Vec<Row> = found.iter().map(row).collect();
    let heads = words::HEADS.map(Head::text);
    html! { (Table::new(super::words::REQUESTS, &heads, &rows).pages(pages)) }
}

fn meaning() -> Markup {
    let known: Vec<_> =
        words::MEANINGS.iter().map(|(status, says)| (*status, html! { (says) })).collect();
    let body = html! {
        p { (words::MEANING_SAYS) }
        (facts(&known))
        p { a href="/docs" { (words::REFERENCE) } }
    };
    section(words::MEANING, None, body)
}
