//! Links for the traveller: made, copied, taken away.

use app::shares::{Error, Shared};
use axum::extract::{Path, State};
use axum::response::Response;
use domain::{ShareId, limits};
use maud::{Markup, html};

use super::one::About;
use crate::kit::form::{self, Field, Kind};
use crate::kit::table::{Head, Row, Table};
use crate::kit::{self, figures};
use crate::reseller::desk::Desk;
use crate::reseller::{Form, Trouble, Visit, done, refused};
use crate::words::esims as words;

pub(super) async fn section(desk: &Desk, visit: &Visit, about: &About) -> Result<Markup, Trouble> {
    let iccid = &about.esim().iccid;
    let links = match desk.app.shares(visit.member.org(), iccid).await {
        Ok(links) => links,
        Err(Error::Store(error)) => return Err(error.into()),
        Err(_) => return Err(Trouble::Missing),
    };
    let rows: Vec<Row> = links.iter().map(|one| row(desk, visit, about, one)).collect();
    let heads = words::SHARE_HEADS.map(Head::text);
    let days = limits::SHARE_DAYS.to_string();
    let days = Field::number("days", words::SHARE_DAYS)
        .value(&days)
        .bounds(Some(1), Some(limits::SHARE_DAYS_MAX))
        .hint(words::SHARE_DAYS_HINT)
        .required();
    let fields = html! {
        (days)
        (form::buttons(&[form::button(Kind::Main, words::SHARE_MAKE)]))
    };
    let make = form::form(&super::deed(iccid, "share"), &visit.csrf, None, fields);
    let body = html! {
        @if !rows.is_empty() { (Table::new(words::SHARES, &heads, &rows)) }
        (form::confirm(words::SHARE_MAKE, words::SHARES_SAY, make))
    };
    Ok(kit::section(words::SHARES, None, body))
}

fn row(desk: &Desk, visit: &Visit, about: &About, one: &Shared) -> Row {
    let url = format!("{}/share/{}", desk.public_url, one.token.expose());
    let fields = html! {
        input type="hidden" name="id" value=(one.share.id);
        (form::button(Kind::Danger, words::SHARE_REVOKE))
    };
    let action = super::deed(&about.esim().iccid, "unshare");
    Row::plain([
        html! {
            span.copyable {
                a href=(url) rel="noreferrer" title=(url) {
                    code.cut-short { "/share/" (one.token.expose()) }
                }
                (figures::copy_button(&url, words::LINK))
            }
        },
        figures::time(one.share.expires_at, visit.now),
        form::form(&action, &visit.csrf, None, fields),
    ])
}

/// Makes a link. The use-case notes it in the audit log itself.
pub(super) async fn make(
    State(desk): State<Desk>,
    visit: Visit,
    Path(iccid): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    let iccid = super::number(&iccid)?;
    let days = form.number("days").unwrap_or(0);
    let member = &visit.member;
    let made = desk.app.share(member.actor(), member.org(), &iccid, days).await;
    answered(made.map(|_| words::SHARE_MADE), &super::home(&iccid))
}

/// Takes one away.
pub(super) async fn revoke(
    State(desk): State<Desk>,
    visit: Visit,
    Path(iccid): Path<String>,
    form: Form,
) -> Result<Response, Trouble> {
    let iccid = super::number(&iccid)?;
    let id = ShareId::parse(form.text("id")).map_err(|_| Trouble::Missing)?;
    let member = &visit.member;
    let gone = desk.app.revoke_share(member.actor(), member.org(), id).await;
    answered(gone.map(|()| words::SHARE_REVOKED), &super::home(&iccid))
}

fn answered(outcome: Result<&'static str, Error>, home: &str) -> Result<Response, Trouble> {
    Ok(match outcome {
        Ok(says) => done(home, says),
        Err(Error::NotYourEsim) => return Err(Trouble::Missing),
        Err(Error::Store(error)) => return Err(error.into()),
        Err(Error::Days) => refused(home, words::SHARE_BAD_DAYS),
        Err(Error::TooMany) => refused(home, words::SHARE_TOO_MANY),
        Err(Error::Unknown) => refused(home, words::SHARE_UNKNOWN),
    })
}
