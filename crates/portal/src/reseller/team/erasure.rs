//! Erasure: an end user's data goes, after a look at what that is.

use app::erasure::{EndUser, Error};
use axum::extract::State;
use axum::response::Response;
use domain::{Iccid, Right};
use maud::{Markup, html};

use super::{Desk, Form, Routes, Trouble, Visit, done, pages, refused};
use crate::kit::form::{self, Field, Kind};
use crate::kit::table::{Head, Row, Table};
use crate::kit::{Area, figures};
use crate::words::team as words;

const HOME: &str = "/portal/team/erasure";

pub(super) fn routes(routes: Routes) -> Routes {
    routes.get(HOME, Right::Manage, page).post(HOME, Right::Manage, erase)
}

async fn page(State(desk): State<Desk>, visit: Visit) -> Result<Response, Trouble> {
    let who = visit.query.text("who").to_owned();
    let found = match visit.query.maybe("who") {
        Some(who) => Some(desk.app.end_user(visit.member.org(), who).await?),
        None => None,
    };
    let content = html! {
        (pages(HOME))
        section.part {
            p { (words::ERASURE_TEXT) }
            form.form method="get" action=(HOME) {
                (Field::text("who", words::WHO).value(&who).required().complete("off"))
                (form::buttons(&[form::button(Kind::Plain, words::LOOK)]))
            }
            @if let Some(found) = &found { (what(&visit, found)) }
        }
    };
    Ok(visit.page((Area::Team, words::ERASURE), None, content))
}

fn what(visit: &Visit, found: &EndUser) -> Markup {
    if found.esims.is_empty() {
        return html! { p role="status" { (words::NOBODY) } };
    }
    let row = |esim: &domain::esim::Esim| {
        // One that has left the organisation has no page any more.
        Row::plain([
            figures::iccid(esim.iccid.as_str()),
            html! { bdi { (esim.customer_ref) } },
            html! { (esim.msisdn.as_ref().map_or("", |msisdn| msisdn.as_str())) },
        ])
    };
    let rows: Vec<Row> = found.esims.iter().map(row).collect();
    let heads = words::FOUND_HEADS.map(Head::text);
    let erase = html! {
        @for esim in &found.esims { input type="hidden" name="iccid" value=(esim.iccid); }
        (form::button(Kind::Danger, words::ERASE))
    };
    let erase = form::form(HOME, &visit.csrf, None, erase);
    html! {
        (Table::new(words::ERASURE, &heads, &rows))
        @if found.is_more { p { (words::many(found.esims.len())) } }
        (form::confirm(words::ERASE, words::ERASE_SAYS, erase))
    }
}

async fn erase(State(desk): State<Desk>, visit: Visit, form: Form) -> Result<Response, Trouble> {
    let parsed: Result<Vec<Iccid>, _> = form.all("iccid").map(Iccid::parse).collect();
    let iccids = parsed.map_err(|_| Trouble::Malformed(words::NOBODY))?;
    let member = &visit.member;
    match desk.app.erase_end_user(member.actor(), member.org(), iccids).await {
        Ok(count) => Ok(done(HOME, words::erased(count))),
        Err(Error::Store(error)) => Err(error.into()),
        Err(Error::TooMany) => Ok(refused(HOME, words::TOO_MANY)),
        Err(Error::NotYourEsim) => Ok(refused(HOME, words::NOT_YOURS)),
    }
}
